"""Follows an event trace, `traces.otf2` and what belongs to it, as Score-P writes it, with otf2.

A `Follower` says what is done with the events. Times are ticks of the trace's clock.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import otf2
from otf2 import events

from spikemark.core import sha256
from spikemark.core.errors import BadInput

#: Each file of definitions or events ends so: end of file, end of chunk.
END_MARKS = b"\x02\x01"


class Thread:
    """Follows one location: `stack` has the regions that it is in and when it entered them."""

    def __init__(self, rank: int, first: bool):
        self.rank, self.first, self.stack = rank, first, []
        self.events, self.communicator, self.time = 0, None, 0


class Follower:
    """Does nothing with the events of a trace; what is wanted of them is done in a subclass."""

    def begin(self, path: Path, ranks: list[int]) -> None:
        """Is called before all events, with the ranks that the trace has. May raise BadInput."""

    def enter(self, thread: Thread, name: str, time: int) -> None:
        """Is called after a thread entered a region, which is the last of its stack."""

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        """Is called after a thread left a region, which is no longer in its stack."""

    def flush(self, thread: Thread, since: int, time: int) -> None:
        """Is called where a thread wrote its full buffer out in between, from `since` on."""

    def count(self, thread: Thread, metric, values: list) -> None:
        """Is called for values of a metric."""


def parts(path: Path) -> list[Path]:
    """The files of a trace that are there: `path`, its definitions, and those of its threads."""
    found = [path, path.with_suffix(".def"), *sorted(path.with_suffix("").glob("*"))]
    return [file for file in found if file.is_file()]


def follow(path: Path, follower: Follower) -> float:
    """Hands all events to the follower, in the order of time. Returns the length of a tick in s.

    Raises BadInput if a file is missing or truncated, or has other bytes than SHA256SUMS beside it says, if
    regions are not left as they were entered, or if the clock of a thread runs backwards.
    """
    if not path.is_file():
        raise BadInput(f"{path}: not found; Score-P writes it with SCOREP_ENABLE_TRACING=true")
    sha256.check(path.parent, parts(path))
    _check_ends(path)
    said: list[str] = []
    try:
        with _complaints(said), otf2.reader.open(str(path)) as trace:
            threads = _threads(path, trace, follower)
            _hand_over(path, trace, threads, follower)
            tick_s = 1 / trace.timer_resolution
    except BadInput:
        raise
    except Exception as error:  # those of otf2 share no class
        raise BadInput(
            f"{path}: truncated, or a file of {path.stem}/ is: {said[0] if said else error}"
        ) from None
    if said:
        raise BadInput(f"{path}: truncated, or a file of {path.stem}/ is: {said[0]}")
    return tick_s


def _check_ends(path: Path) -> None:
    """Raises BadInput for a file without its end, where otf2 would read on in foreign memory."""
    for file in parts(path):
        if file.suffix in (".def", ".evt") and not _ends(file).endswith(END_MARKS):
            raise BadInput(f"{file}: truncated: it does not end with the marks of OTF2")


def _ends(file: Path) -> bytes:
    with file.open("rb") as opened:
        opened.seek(-min(len(END_MARKS), file.stat().st_size), os.SEEK_END)
        return opened.read()


def _threads(path: Path, trace, follower: Follower) -> dict:
    """{location: Thread}. The rank is the number at the end of the name of the process, `MPI Rank 3`."""
    groups = defaultdict(list)
    for location in trace.definitions.locations:
        if location.type == otf2.LocationType.CPU_THREAD:
            number = re.search(r"(\d+)$", location.group.name)
            if number is None:
                raise BadInput(f"{path}: the process {location.group.name!r} has no MPI rank in its name")
            groups[int(number[1])].append(location)
    follower.begin(path, list(groups))
    first = {rank: min(locations, key=lambda one: one._ref) for rank, locations in groups.items()}
    return {one: Thread(rank, one is first[rank]) for rank, locations in groups.items() for one in locations}


def _hand_over(path: Path, trace, threads: dict, follower: Follower) -> None:
    """Takes in all events in the order of time."""
    for location, event in trace.events:
        thread = threads.get(location)
        if thread is None:  # of a device, or of a recorder of metrics
            continue
        if event.time < thread.time:
            raise BadInput(
                f"{path}: the clock of rank {thread.rank} runs backwards, from {thread.time} to {event.time}"
            )
        thread.events, thread.time = thread.events + 1, event.time
        if isinstance(event, events.Enter):
            thread.stack.append((event.region.name, event.time))
            follower.enter(thread, event.region.name, event.time)
        elif isinstance(event, events.Leave):
            name = event.region.name
            entered, since = thread.stack.pop() if thread.stack else (None, event.time)
            if entered != name:
                raise BadInput(f"{path}: rank {thread.rank} leaves {name!r} within {entered!r}")
            follower.leave(thread, name, since, event.time)
        elif isinstance(event, events.Metric):
            follower.count(thread, event.metric, event.values)
        elif isinstance(event, events.BufferFlush):
            follower.flush(thread, event.time, event.stop_time)
        elif isinstance(event, events.MpiCollectiveEnd):
            thread.communicator = event.communicator
    for location, thread in threads.items():
        if thread.events != location.number_of_events or thread.stack:
            raise BadInput(
                f"{path}: rank {thread.rank} has {thread.events} of {location.number_of_events}"
                f" events and has not left {len(thread.stack)} regions"
            )


@contextlib.contextmanager
def _complaints(said: list[str]) -> Iterator[None]:
    """Adds what otf2 prints on standard error, which is all that it says of some files.

    Its C library writes to the descriptor, its Python callbacks write tracebacks to `sys.stderr`.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file, contextlib.redirect_stderr(io.StringIO()) as traceback:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text = file.read().decode(errors="replace")
            said += traceback.getvalue().splitlines()[-1:]
            said += [line.split("error: ", 1)[-1] for line in text.splitlines() if "error: " in line]
