"""The files that Score-P leaves of a run: a profile (profile.cubex) and a trace (traces.otf2).

Both give, for each rank, the time and the visits of every region inside of the measured part, on
the first thread. A trace also tells how long a rank waited at barriers for the last one. Profiles
are read with pycubexr, traces with otf2 in O(events).
"""

import contextlib
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.extras import optional
from spikemark.core.reading import MAX_TEXT, check_file
from spikemark.records import otf2_trace

pycubexr = optional("pycubexr")
PROFILE, TRACE = "profile.cubex", "traces.otf2"
#: The region of the measured part; nothing outside of it counts.
MEASURED_REGION = "simulate"
BARRIER = "MPI_Barrier"
#: Longest time that a region may take, s.
MAX_REGION_S = 1e9


@dataclass
class RegionTimes:
    """What one file says about the first thread of a rank in the measured part."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))  #: by region
    visits: Counter[str] = field(default_factory=Counter)  #: by region
    waited_s: float | None = None  #: at barriers for the last rank; of traces only
    flushes: int = 0  #: how often a trace buffer was full and written out


def files(folder: Path) -> list[Path]:
    """All files that the folder has of those that are read, but for the run record.

    Example:
        >>> files(Path("nowhere"))
        []
    """
    trace = otf2_trace.parts(folder / TRACE)
    if (folder / PROFILE).is_file():
        return [folder / PROFILE, *trace]
    return trace


def read_profile(path: Path, ranks: int) -> list[RegionTimes]:
    """Times by rank, from a profile.

    Raises BadInput if the file is truncated, no profile, or of another number of ranks.

    Example:
        >>> read_profile(Path("nowhere/profile.cubex"), ranks=2)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/profile.cubex: not found
    """
    check_file(path, most=MAX_TEXT)
    with warnings.catch_warnings(), _parser(path) as parser:
        warnings.simplefilter("ignore")  # of writers whose check sums of headers are wrong
        try:
            with parser as cube:
                return _of_cube(cube, path, ranks)
        except BadInput:
            raise
        # pycubexr fails as it comes: AssertionError, KeyError, struct.error, …
        except Exception as error:
            reason = f"truncated, compressed, or no profile of Score-P: {_reason(error)}"
            raise BadInput(reason, file=path, code="file") from None


def _reason(error: Exception) -> str:
    """What an error says, or else its kind."""
    return str(error) or type(error).__name__


@contextlib.contextmanager
def _parser(path: Path) -> Iterator[Any]:
    """A parser whose file is closed even where it fails to begin."""
    parser = pycubexr.CubexParser(str(path))
    try:
        yield parser
    finally:
        file = getattr(parser, "_cubex_file", None)
        if file:
            file.close()


def _of_cube(cube: Any, path: Path, ranks: int) -> list[RegionTimes]:
    """Times by rank, from a profile that pycubexr has opened."""
    first_threads = _first_threads(cube)
    _check_ranks(path, list(first_threads), ranks)
    metrics = {metric.name: metric for metric in cube.all_metrics()}
    all_times = cube.get_metric_values(metrics["time"])
    all_visits = cube.get_metric_values(metrics["visits"])
    times_by_rank = [RegionTimes() for _ in range(ranks)]
    for call in cube.all_cnodes():
        if not _is_measured(call):
            continue
        region = call.region.name
        seconds = all_times.cnode_values(call, convert_to_inclusive=True)
        visits = all_visits.cnode_values(call)
        for rank, times in enumerate(times_by_rank):
            thread = first_threads[rank]
            times.seconds[region] += float(seconds[thread])
            times.visits[region] += int(visits[thread])
    return _checked(path, times_by_rank)


def _first_threads(cube: Any) -> dict[int, int]:
    """The location of the first thread of each rank that has threads."""
    first_threads = {}
    (root,) = cube._anchor_result.system_tree_nodes  # get_locations() does not tell the group
    for group in root.all_location_groups():
        threads = [location for location in group.all_locations() if location.type == "thread"]
        if threads:
            first = min(threads, key=lambda thread: int(thread.rank))
            first_threads[int(group.rank)] = first.id
    return first_threads


def _is_measured(call: Any) -> bool:
    """Whether a call is that of the measured part, or inside of it."""
    while call is not None:
        if call.region.name == MEASURED_REGION:
            return True
        call = call.parent
    return False


class BarrierStay(NamedTuple):
    """From when to when a rank was in a barrier, ticks."""

    begin: int
    end: int


class _MeasuredPart(otf2_trace.Follower):
    """Adds up times, in ticks, while the first thread of a rank is in the measured part."""

    def __init__(self, ranks: int):
        self.times = [RegionTimes() for _ in range(ranks)]
        self.depth = [0] * ranks  # of nested measured parts
        #: by communicator and rank
        self.barriers: dict[int | None, dict[int, list[BarrierStay]]] = {}

    def begin(self, path: Path, ranks: list[int]) -> None:
        _check_ranks(path, ranks, len(self.times))

    def enter(self, thread: otf2_trace.Thread, name: str, time: int) -> None:
        if thread.first and name == MEASURED_REGION:
            self.depth[thread.rank] += 1

    def leave(
        self,
        thread: otf2_trace.Thread,
        name: str,
        since: int,
        time: int,
    ) -> None:
        rank = thread.rank
        if not thread.first or not self.depth[rank]:
            return
        self.times[rank].seconds[name] += time - since
        self.times[rank].visits[name] += 1
        if name == MEASURED_REGION:
            self.depth[rank] -= 1
        if name == BARRIER:
            stays = self.barriers.setdefault(thread.communicator, {})
            stays.setdefault(rank, []).append(BarrierStay(since, time))

    def flush(self, thread: otf2_trace.Thread, since: int, time: int) -> None:
        if self.depth[thread.rank] > 0:
            self.times[thread.rank].flushes += 1


def read_trace(path: Path, ranks: int) -> list[RegionTimes]:
    """Times by rank, from a trace.

    The wait of a rank at a barrier lasts from its own entry to that of the last rank. Raises
    BadInput if a file is missing or truncated, or of another number of ranks.

    Example:
        >>> read_trace(Path("nowhere/traces.otf2"), ranks=2)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/traces.otf2: not found; Score-P writes it ...
    """
    measured = _MeasuredPart(ranks)
    tick_s = otf2_trace.follow(path, measured)
    for stays in measured.barriers.values():
        for rank, ticks in _waits(stays).items():
            waited_s = measured.times[rank].waited_s or 0.0
            measured.times[rank].waited_s = waited_s + ticks * tick_s
    for times in measured.times:
        for region, ticks in times.seconds.items():
            times.seconds[region] = ticks * tick_s
    return _checked(path, measured.times)


def _waits(stays: dict[int, list[BarrierStay]]) -> dict[int, float]:
    """How long each rank waited at the barriers of a communicator, ticks."""
    begins, ends = np.array(list(stays.values())).transpose(2, 0, 1)  # [rank, barrier]
    waits = np.minimum(begins.max(axis=0) - begins, ends - begins).sum(axis=1)
    return dict(zip(stays, waits.astype(float).tolist(), strict=True))


def _check_ranks(path: Path, trace_ranks: list[int], ranks: int) -> None:
    """Raises BadInput for a file that is not of these ranks."""
    if sorted(trace_ranks) != list(range(ranks)):
        listed = ", ".join(str(rank) for rank in sorted(trace_ranks))
        expected = f"0 to {ranks - 1}, of the run"
        raise BadInput(
            f"ranks {listed}; expected {expected}",
            file=path,
            field="ranks",
        )


def _checked(path: Path, times_by_rank: list[RegionTimes]) -> list[RegionTimes]:
    """The same times. Raises BadInput where they cannot be those of a run."""
    for times in times_by_rank:
        if not times.visits[MEASURED_REGION]:
            reason = f"no region {MEASURED_REGION!r}"
            expected = "a build with SPIKEMARK_SCOREP"
            raise BadInput(
                reason=reason,
                expected=expected,
                file=path,
                code="file",
            )
        for region, seconds in times.seconds.items():
            if not 0 <= seconds <= MAX_REGION_S:
                expected = f"0 to {MAX_REGION_S:g}"
                reason = f"{seconds} s"
                raise BadInput(
                    field=region,
                    reason=reason,
                    expected=expected,
                    file=path,
                )
    return times_by_rank
