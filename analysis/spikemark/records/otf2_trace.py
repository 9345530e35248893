"""Event traces, `traces.otf2` and what belongs to it, as Score-P writes them, read with otf2.

`follow` hands all events to a `Follower`, which says what is done with them, in O(events). It reads
in a process of its own, since the C library of OTF2 ends the process on some damaged files. Times
are ticks of the trace's clock.

`cycles` reads the cycles of any MPI program with one collective call per cycle: a cycle of a rank
ends when its first thread leaves the region that `communicate` names. All other time since the
cycle before is computing. Durations are those of the clock of a rank, so that clocks need not
agree.
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
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.core.extras import optional
from spikemark.core.reading import check_file

otf2 = optional("otf2")
events = optional("otf2.events")
#: Each file of definitions or events ends so: end of file, end of chunk.
END_MARKS = b"\x02\x01"
MAX_REGIONS_NAMED = 8  # in a complaint
NO_CYCLE = "what a rank does before the first whole cycle and after the last is no cycle"


class OpenRegion(NamedTuple):
    """A region that a thread is in, and when it entered it."""

    name: str
    since: int


@dataclass
class Thread:
    """A location of the trace, and where it is while its events are followed."""

    rank: int
    #: Whether it is the first thread of its rank.
    first: bool
    #: The regions that it is in, the innermost last.
    stack: list[OpenRegion] = field(default_factory=list)
    #: How many events were followed.
    events: int = 0
    #: That of the last collective call that ended.
    communicator: int | None = None
    #: Of the last event, in ticks.
    time: int = 0


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
    """The files of a trace that are there: `path`, its definitions, and those of its threads.

    Raises BadInput for what is there and is no file, which OTF2 would wait for.

    Example:
        >>> parts(Path("nowhere/traces.otf2"))
        []
    """
    paths = [path, path.with_suffix(".def"), *sorted(path.with_suffix("").glob("*"))]
    files = [file for file in paths if file.exists()]
    for file in files:
        check_file(file)
    return files


def follow(path: Path, follower: Follower) -> float:
    """Hands all events to the follower, in the order of time. Returns the length of a tick in s.

    Raises BadInput if a file is missing or truncated, or has other bytes than SHA256SUMS beside it
    says, if regions are not left as they were entered, or if the clock of a thread runs backwards.

    Example:
        >>> follow(Path("nowhere/traces.otf2"), Follower())
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/traces.otf2: not found; Score-P writes it ...
    """
    if not path.is_file():
        reason = "not found; Score-P writes it with SCOREP_ENABLE_TRACING=true"
        raise BadInput(reason=reason, file=path, code="file")
    sha256.check(path.parent, parts(path))
    for file in parts(path):
        if file.suffix in (".def", ".evt"):
            _check_end(file)
    with warnings.catch_warnings(), ProcessPoolExecutor(1, get_context("fork")) as pool:
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        try:
            tick_s, state = pool.submit(_read, path, follower).result()
        except BrokenProcessPool:  # the C library aborts on some damaged files
            raise _damaged(path, "OTF2 fails on it") from None
    vars(follower).update(state)
    return tick_s


def _check_end(file: Path) -> None:
    """Raises BadInput for a file without its end, behind which otf2 would read foreign memory."""
    with file.open("rb") as stream:
        stream.seek(-min(len(END_MARKS), file.stat().st_size), os.SEEK_END)
        if stream.read() != END_MARKS:
            reason = "truncated: it does not end with the marks of OTF2"
            raise BadInput(reason=reason, file=file, code="file")


def _damaged(path: Path, reason: object) -> BadInput:
    """The complaint about a trace of which one file is damaged, nobody knows which."""
    text = f"truncated, or a file of {path.stem}/ is: {reason}"
    return BadInput(reason=text, file=path, code="file")


def _read(path: Path, follower: Follower) -> tuple[float, dict[str, Any]]:
    """The length of a tick in s, and the attributes of the follower after all events.

    Runs in a process of its own.
    """
    complaints: list[object] = []
    tick_s = 0.0
    try:
        with _complaints_of_otf2(complaints), otf2.reader.open(str(path)) as trace:
            threads = _threads_of(path, trace, follower)
            _hand_over(path, trace, threads, follower)
            tick_s = 1 / trace.timer_resolution
    except BadInput:
        raise
    except Exception as error:  # those of otf2 share no class
        complaints.append(error)
    if complaints:
        raise _damaged(path, complaints[0])
    return tick_s, vars(follower)


def _threads_of(path: Path, trace: Any, follower: Follower) -> dict[Any, Thread]:
    """The thread of each location of a processor.

    The rank is the number at the end of the name of the process, `MPI Rank 3`. Raises BadInput for
    a process without one.
    """
    locations_of_rank: dict[int, list[Any]] = defaultdict(list)
    for location in trace.definitions.locations:
        if location.type == otf2.LocationType.CPU_THREAD:
            process = location.group.name
            number = re.search(r"(\d+)$", process)
            if number is None:
                reason = f"the process {process!r} has no MPI rank in its name"
                raise BadInput(reason=reason, file=path, code="file")
            locations_of_rank[int(number[1])].append(location)
    follower.begin(path, list(locations_of_rank))
    threads = {}
    for rank, locations in locations_of_rank.items():
        first = min(locations, key=lambda location: location._ref)
        for location in locations:
            threads[location] = Thread(rank, location is first)
    return threads


def _hand_over(
    path: Path,
    trace: Any,
    threads: dict[Any, Thread],
    follower: Follower,
) -> None:
    """Hands all events to the follower in the order of time. Raises BadInput as `follow`."""
    for location, event in trace.events:
        thread = threads.get(location)
        if thread is not None:  # else of a device, or of a recorder of metrics
            _hand_over_event(path, event, thread, follower)
    for location, thread in threads.items():
        if thread.events != location.number_of_events or thread.stack:
            reason = (
                f"rank {thread.rank} has {thread.events} of {location.number_of_events} events and"
                f" has not left {len(thread.stack)} regions"
            )
            raise BadInput(reason=reason, file=path, code="file")


def _hand_over_event(path: Path, event: Any, thread: Thread, follower: Follower) -> None:
    """Keeps account of the regions of a thread, and calls the follower."""
    if event.time < thread.time:
        reason = (
            f"the clock of rank {thread.rank} runs backwards, from {thread.time} to {event.time}"
        )
        raise BadInput(reason=reason, file=path, code="file")
    thread.events += 1
    thread.time = event.time
    if isinstance(event, events.Enter):
        region = OpenRegion(event.region.name, event.time)
        thread.stack.append(region)
        follower.enter(thread, region.name, event.time)
    elif isinstance(event, events.Leave):
        name = event.region.name
        innermost = thread.stack.pop() if thread.stack else None
        if innermost is None or innermost.name != name:
            entered = innermost.name if innermost else None
            reason = f"rank {thread.rank} leaves {name!r} within {entered!r}"
            raise BadInput(reason=reason, file=path, code="file")
        follower.leave(thread, name, innermost.since, event.time)
    elif isinstance(event, events.BufferFlush):
        follower.flush(thread, event.time, event.stop_time)
    elif isinstance(event, events.MpiCollectiveEnd):
        thread.communicator = event.communicator._ref


@contextlib.contextmanager
def _complaints_of_otf2(complaints: list[object]) -> Iterator[None]:
    """Adds what otf2 prints on standard error, which is all that it says of some files.

    Its C library writes to the descriptor, its Python callbacks write tracebacks to `sys.stderr`.
    """
    sys.stderr.flush()
    standard_error = os.dup(2)
    with tempfile.TemporaryFile() as file, contextlib.redirect_stderr(io.StringIO()) as traceback:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(standard_error, 2)
            os.close(standard_error)
            file.seek(0)
            text = file.read().decode(errors="replace")
            complaints += traceback.getvalue().splitlines()[-1:]
            for line in text.splitlines():
                if "error: " in line:
                    complaints.append(line.split("error: ", 1)[-1])


def cycles(path: Path, communicate: str, wait: str, within: str) -> dict[int, np.ndarray]:
    """Times of cycles by rank, float64 [cycle, (computing, communication, waiting)] in s.

    Args:
        path: the trace.
        communicate: names of regions, several with commas: the collective call of a cycle.
        wait: the regions whose time is waiting, within that call or before it.
        within: the regions in which cycles count; empty: all count.

    Raises BadInput naming the file or region and what is wrong.

    Example:
        >>> cycles(Path("traces.otf2"), "MPI_Alltoall", "MPI_Barrier", "")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: traces.otf2: not found; Score-P writes it with ...
    """
    follower = _Cycles(_names(communicate), _names(wait), _names(within))
    tick_s = follow(path, follower)
    if not follower.communicate or not any(follower.cycles.values()):
        raise _no_cycles(path, communicate, follower.visits)
    seconds_of_rank = {}
    for rank, ticks in sorted(follower.cycles.items()):
        seconds_of_rank[rank] = tick_s * np.array(ticks, dtype=np.float64)
    return seconds_of_rank


def _names(text: str) -> set[str]:
    """The names in a text, with commas between."""
    return {*text.split(",")} - {""}


def _no_cycles(path: Path, communicate: str, visits: Counter[str]) -> BadInput:
    """The complaint about a trace without a cycle, with the regions that it has; MPI's first."""
    by_use = sorted(visits.items(), key=lambda visit: (not visit[0].startswith("MPI_"), -visit[1]))
    regions = [f"{name} ({count})" for name, count in by_use[:MAX_REGIONS_NAMED]]
    return BadInput(
        f"--column communicate={communicate or 'missing'}; the trace has the regions"
        f" {', '.join(regions)}",
        field="column",
        file=path,
    )


class Ticks(NamedTuple):
    """Times of a cycle of a rank, in ticks."""

    computing: int
    communicating: int  #: with waiting
    waiting: int


@dataclass
class _OpenCycle:
    """The cycle that a rank is in."""

    #: When it began; None before the first whole cycle.
    begin: int | None = None
    communicating: int = 0
    waiting: int = 0


class _Cycles(Follower):
    """Collects the cycles of all ranks; see `cycles` for the three sets of regions."""

    def __init__(
        self,
        communicate: set[str],
        wait: set[str],
        within: set[str],
    ):
        self.communicate = communicate
        self.wait = wait
        self.within = within
        #: Each region that a rank was in -> how often the lowest rank was.
        self.visits: Counter[str] = Counter()
        #: By rank.
        self.cycles: dict[int, list[Ticks]] = {}
        #: By rank, how many regions of `within` it is in.
        self.inside: dict[int, int] = {}
        #: By rank.
        self.open_cycle: dict[int, _OpenCycle] = {}

    def begin(self, path: Path, ranks: list[int]) -> None:
        self.cycles = {rank: [] for rank in ranks}
        self.inside = dict.fromkeys(ranks, 0)
        self.open_cycle = {rank: _OpenCycle() for rank in ranks}

    def enter(self, thread: Thread, name: str, time: int) -> None:
        if thread.first and name in self.within:
            self.inside[thread.rank] += 1
            self.open_cycle[thread.rank] = _OpenCycle(time)

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        if not thread.first:
            return
        rank = thread.rank
        self.visits[name] += int(rank == min(self.cycles))
        outer = {region.name for region in thread.stack}
        cycle = self.open_cycle[rank]
        waits = name in self.wait
        communicates = name in self.communicate
        if waits and not outer & self.wait:
            cycle.waiting += time - since
        if (waits or communicates) and not outer & (self.wait | self.communicate):
            cycle.communicating += time - since
        counts = not self.within or self.inside[rank] > 0
        if communicates and counts and not outer & self.communicate:
            self._end_cycle(rank, time)
        if name in self.within:
            self.inside[rank] -= 1
            self.open_cycle[rank] = _OpenCycle()

    def _end_cycle(self, rank: int, time: int) -> None:
        """Ends the cycle of a rank, if it was whole, and begins the next one."""
        cycle = self.open_cycle[rank]
        if cycle.begin is not None:
            computing = time - cycle.begin - cycle.communicating
            self.cycles[rank].append(Ticks(computing, cycle.communicating, cycle.waiting))
        self.open_cycle[rank] = _OpenCycle(time)
