"""Event traces, `traces.otf2` and what belongs to it, as Score-P writes them, read with otf2.

A `Follower` says what is done with the events. Times are ticks of the trace's clock. `cycles` reads those of
any MPI program with one collective call per cycle: a cycle of a rank ends when its first thread leaves the
region that `communicate` names. All other time since the cycle before is computing. Durations are those of
the clock of a rank, so that clocks need not agree.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import otf2
from otf2 import events

from spikemark.core import sha256
from spikemark.core.errors import BadInput

#: Each file of definitions or events ends so: end of file, end of chunk.
END_MARKS = b"\x02\x01"
MOST = 8  # regions named in a complaint
NO_CYCLE = "what a rank does before the first whole cycle and after the last is no cycle"
_DAMAGED = "{0}: truncated, or a file of {0.stem}/ is: {1}"


class Thread:
    """Follows one location: `stack` has the regions that it is in and when it entered them."""

    def __init__(self, rank: int, first: bool):
        self.rank, self.first, self.stack = rank, first, []
        self.events, self.communicator, self.time = 0, None, 0


class Follower:
    """Does nothing with the events of a trace; what is wanted of them is done in a subclass.

    Its attributes are filled in another process, and sent back.
    """

    def begin(self, path: Path, ranks: list[int]) -> None:
        """Is called before all events, with the ranks that the trace has. May raise BadInput."""

    def enter(self, thread: Thread, name: str, time: int) -> None:
        """Is called after a thread entered a region, which is the last of its stack."""

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        """Is called after a thread left a region, which is no longer in its stack."""

    def flush(self, thread: Thread, since: int, time: int) -> None:
        """Is called where a thread wrote its full buffer out in between, from `since` on."""


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
    for file in (file for file in parts(path) if file.suffix in (".def", ".evt")):
        with file.open("rb") as opened:  # without its end, otf2 would read on in foreign memory
            opened.seek(-min(len(END_MARKS), file.stat().st_size), os.SEEK_END)
            if opened.read() != END_MARKS:
                raise BadInput(f"{file}: truncated: it does not end with the marks of OTF2")
    with warnings.catch_warnings(), ProcessPoolExecutor(1, get_context("fork")) as pool:
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        try:
            tick_s, state = pool.submit(_read, path, follower).result()
        except BrokenProcessPool:  # the C library aborts on some damaged files
            raise BadInput(_DAMAGED.format(path, "OTF2 fails on it")) from None
    vars(follower).update(state)
    return tick_s


def _read(path: Path, follower: Follower) -> tuple[float, dict]:
    """The length of a tick and the state of the follower after all events; runs in a process of its own."""
    said: list = []
    try:
        with _complaints(said), otf2.reader.open(str(path)) as trace:
            _hand_over(path, trace, _threads(path, trace, follower), follower)
            tick_s = 1 / trace.timer_resolution
    except BadInput:
        raise
    except Exception as error:  # those of otf2 share no class
        said.append(error)
    if said:
        raise BadInput(_DAMAGED.format(path, said[0]))
    return tick_s, vars(follower)


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
        elif isinstance(event, events.BufferFlush):
            follower.flush(thread, event.time, event.stop_time)
        elif isinstance(event, events.MpiCollectiveEnd):
            thread.communicator = event.communicator._ref
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


def cycles(path: Path, talk: str, wait: str, within: str) -> dict[int, np.ndarray]:
    """By rank, [cycle, (computing, communication, waiting)] in s.

    Names of regions, several with commas: `talk` is the collective call of a cycle, `wait` that whose time is
    waiting, within it or before it; only cycles in `within` count. Raises BadInput naming the file or region
    and what is wrong.
    """
    reading = _Cycles(*({*names.split(",")} - {""} for names in (talk, wait, within)))
    tick_s = follow(path, reading)
    if not reading.talk or not any(reading.cycles.values()):
        most = sorted(reading.visits.items(), key=lambda one: (not one[0].startswith("MPI_"), -one[1]))[:MOST]
        raise BadInput(
            f"{path}: --column communicate={talk or 'missing'}; the trace has the regions"
            f" {', '.join(f'{name} ({count})' for name, count in most)}"
        )
    return {rank: tick_s * np.array(own, dtype=np.float64) for rank, own in sorted(reading.cycles.items())}


class _Cycles(Follower):
    """`cycles` by rank: ticks of computing, communication with waiting, waiting."""

    def __init__(self, talk: set[str], wait: set[str], within: set[str]):
        self.talk, self.wait, self.within, self.visits = talk, wait, within, Counter()
        self.cycles, self.inside, self.now = {}, {}, {}

    def begin(self, path: Path, ranks: list[int]) -> None:
        self.cycles, self.inside = {rank: [] for rank in ranks}, dict.fromkeys(ranks, 0)
        self.now = dict.fromkeys(ranks, (None, 0, 0))  # begin of the cycle, communication and waiting in it

    def enter(self, thread: Thread, name: str, time: int) -> None:
        if thread.first and name in self.within:
            self.inside[thread.rank] += 1
            self.now[thread.rank] = (time, 0, 0)

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        if not thread.first:
            return
        rank, waits, talks = thread.rank, name in self.wait, name in self.talk
        self.visits[name] += rank == min(self.cycles)
        outer, (begun, spent, waited) = {region for region, _ in thread.stack}, self.now[rank]
        if waits and not outer & self.wait:
            waited += time - since
        if (waits or talks) and not outer & (self.wait | self.talk):
            spent += time - since
        self.now[rank] = begun, spent, waited
        if talks and not outer & self.talk and (self.inside[rank] or not self.within):
            if begun is not None:
                self.cycles[rank].append((time - begun - spent, spent, waited))
            self.now[rank] = (time, 0, 0)
        if name in self.within:
            self.inside[rank] -= 1
            self.now[rank] = (None, 0, 0)
