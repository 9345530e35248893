"""Reads the event trace of Score-P, `traces.otf2` and what belongs to it, with otf2."""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import otf2
from otf2 import events

from spikemark.core.errors import BadInput

from .seen import BARRIER, COUNTS, MEASURED, Seen, check_measured, check_ranks

#: Each file of definitions or events ends so: end of file, end of chunk.
END_MARKS = b"\x02\x01"


class _Thread:
    """Follows one location: `stack` has the regions that it is in and when it entered them."""

    def __init__(self, rank: int, first: bool):
        self.rank, self.first, self.stack = rank, first, []
        self.events, self.communicator = 0, None


class _Reading:
    def __init__(self, path: Path, ranks: int):
        self.path = path
        self.seen = [Seen() for _ in range(ranks)]
        self.measured = [0] * ranks  # depth of MEASURED of the first thread
        self.barriers = defaultdict(
            lambda: [[] for _ in range(ranks)]
        )  # by communicator and rank, (begin, end)

    def enter(self, thread: _Thread, name: str, time: int) -> None:
        self.measured[thread.rank] += thread.first and name == MEASURED
        thread.stack.append((name, time))

    def leave(self, thread: _Thread, name: str, time: int) -> None:
        entered, since = thread.stack.pop() if thread.stack else (None, time)
        if entered != name:
            raise BadInput(f"{self.path}: rank {thread.rank} leaves {name!r} within {entered!r}")
        if thread.first and self.measured[thread.rank]:
            self.seen[thread.rank].seconds[name] += time - since
            self.seen[thread.rank].visits[name] += 1
            self.measured[thread.rank] -= name == MEASURED
            if name == BARRIER:
                self.barriers[thread.communicator][thread.rank].append((since, time))

    def count(self, thread: _Thread, metric, values: list) -> None:
        if self.measured[thread.rank]:
            for member, value in zip(getattr(metric, "metric_class", metric).members, values, strict=True):
                if member.name in COUNTS:
                    self.seen[thread.rank].counts[member.name] += value


def read(path: Path, ranks: int) -> tuple[list[Seen], np.ndarray]:
    """What the trace says about each of the `ranks` ranks, and how long each waits at barriers, s.

    The wait of a rank at a barrier lasts from its own entry to that of the last rank of the communicator.
    Raises BadInput if a file is missing or truncated, or of another number of ranks, or without the regions
    of Spikemark.
    """
    if not path.is_file():
        raise BadInput(f"{path}: not found; Score-P writes it with SCOREP_ENABLE_TRACING=true")
    _check_ends(path)
    reading = _Reading(path, ranks)
    said: list[str] = []
    try:
        with _complaints(said), otf2.reader.open(str(path)) as trace:
            threads = _threads(path, trace, ranks)
            _follow(reading, trace, threads)
            tick_s = 1 / trace.timer_resolution
    except BadInput:
        raise
    except Exception as error:  # those of otf2 share no class
        raise BadInput(
            f"{path}: truncated, or a file of {path.stem}/ is: {said[0] if said else error}"
        ) from None
    if said:
        raise BadInput(f"{path}: truncated, or a file of {path.stem}/ is: {said[0]}")
    check_measured(path, reading.seen)
    for seen in reading.seen:
        for name in seen.seconds:
            seen.seconds[name] *= tick_s
    return reading.seen, _waits(path, reading) * tick_s


def _check_ends(path: Path) -> None:
    """Raises BadInput for a file without its end, where otf2 would read on in foreign memory."""
    folder = path.with_suffix("")
    for file in (path.with_suffix(".def"), *sorted(folder.glob("*.def")), *sorted(folder.glob("*.evt"))):
        if file.is_file() and not _ends(file).endswith(END_MARKS):
            raise BadInput(f"{file}: truncated: it does not end with the marks of OTF2")


def _ends(file: Path) -> bytes:
    with file.open("rb") as opened:
        opened.seek(-min(len(END_MARKS), file.stat().st_size), os.SEEK_END)
        return opened.read()


def _threads(path: Path, trace, ranks: int) -> dict:
    """{location: _Thread}. The rank is the number at the end of the name of the process, `MPI Rank 3`."""
    groups = defaultdict(list)
    for location in trace.definitions.locations:
        if location.type == otf2.LocationType.CPU_THREAD:
            number = re.search(r"(\d+)$", location.group.name)
            if number is None:
                raise BadInput(f"{path}: the process {location.group.name!r} has no MPI rank in its name")
            groups[int(number[1])].append(location)
    check_ranks(path, list(groups), ranks)
    first = {rank: min(locations, key=lambda one: one._ref) for rank, locations in groups.items()}
    return {one: _Thread(rank, one is first[rank]) for rank, locations in groups.items() for one in locations}


def _follow(reading: _Reading, trace, threads: dict) -> None:
    """Takes in all events in the order of time."""
    for location, event in trace.events:
        thread = threads.get(location)
        if thread is None:  # of a device, or of a recorder of metrics
            continue
        thread.events += 1
        if isinstance(event, events.Enter):
            reading.enter(thread, event.region.name, event.time)
        elif isinstance(event, events.Leave):
            reading.leave(thread, event.region.name, event.time)
        elif isinstance(event, events.Metric):
            reading.count(thread, event.metric, event.values)
        elif isinstance(event, events.MpiCollectiveEnd):
            thread.communicator = event.communicator
    for location, thread in threads.items():
        if thread.events != location.number_of_events or thread.stack:
            raise BadInput(
                f"{reading.path}: rank {thread.rank} has {thread.events} of {location.number_of_events}"
                f" events and has not left {len(thread.stack)} regions"
            )


def _waits(path: Path, reading: _Reading) -> np.ndarray:
    """Ticks that each rank waits for the last one."""
    waits = np.zeros(len(reading.seen))
    for by_rank in reading.barriers.values():
        taking_part = [rank for rank, barriers in enumerate(by_rank) if barriers]
        if len({len(by_rank[rank]) for rank in taking_part}) > 1:
            raise BadInput(f"{path}: the ranks of a communicator differ in their number of barriers")
        begins, ends = np.array([by_rank[rank] for rank in taking_part]).transpose(2, 0, 1)
        waits[taking_part] += np.minimum(begins.max(axis=0) - begins, ends - begins).sum(axis=1)
    return waits


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
