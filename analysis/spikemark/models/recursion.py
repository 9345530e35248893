"""When ranks with given compute times meet in given lanes, and how long they wait.

Lober et al. 2026 (L26, section 2.2) treat ranks that all meet at the end of a window (eqs 3-5).
This module generalises it to any list of lanes, each with its groups of ranks, its period P and its
lag L. In one lane of all ranks the time F[m, k] at which rank m has computed window k is

    F[m, k] = max(F[m, k-1], max_j F[j, k-1-L] + t_exchange) + C[m, k],

C being the sums of the compute times over the P cycles of a window. With L = 0 these are eqs 3-5;
with a lag a rank waits only for ranks that are more than a window behind.

All times are in seconds. Compute times are c[m, s] of shape [..., rank, cycle]; leading axes, if
any, are independent runs.

Cost: one step of NumPy for each cycle in which a lane may exchange. Where all ranks meet in the
longest windows, without a lag, these are evaluated side by side.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from spikemark.core.errors import BadInput

from . import statistics

#: Compute times that are evaluated side by side, to bound memory.
MAX_TIMES_AT_ONCE = 1 << 22
#: Compute times that are looked at together (1 MB), while they lie in a cache.
TIMES_IN_CACHE = 1 << 17
#: Ranks of a group up to which its members are compared one by one, which takes half as long as
#: `np.maximum.reduceat`.
SMALL_GROUP = 8


@dataclass(frozen=True)
class LaneMeetings:
    """Ranks that exchange every `period` cycles what is due `lag` windows later."""

    period: int  #: P, cycles
    lag: int = 0  #: L, windows
    #: An integer per rank, equal for ranks that exchange with each other; None: all ranks do.
    group: tuple[int, ...] | None = None
    #: How long an exchange takes once its last rank has begun it; with a lag, also one for each
    #: run, [run].
    exchange_s: float | np.ndarray = 0.0


@dataclass(frozen=True)
class Course:
    """The course of a run."""

    waiting_s: np.ndarray  #: [..., rank, cycle] waiting at the end of each cycle
    end_s: np.ndarray  #: [..., rank] when each rank ends

    @property
    def waiting_per_cycle_s(self) -> float:
        """Mean over ranks and cycles."""
        return float(self.waiting_s.mean())


class _Meeting:
    """A lane while a run is evaluated."""

    def __init__(self, lane: LaneMeetings, ranks: int):
        self.lane = lane
        self.exchange_s = np.asarray(lane.exchange_s)[..., np.newaxis]  # [..., rank]
        #: When the exchanges that are under way will arrive, [..., rank] each.
        self.arrivals: list[np.ndarray] = []
        group = np.zeros(ranks) if lane.group is None else np.asarray(lane.group)
        _, self.place = np.unique(group, return_inverse=True)  # group of each rank, from 0
        order = np.argsort(self.place, kind="stable")  # ranks by group
        self.first = np.searchsorted(self.place[order], np.arange(self.place.max() + 1))
        #: Ranks by group; None where they are already, which saves a copy in every window.
        self.order = None if (order == np.arange(ranks)).all() else order
        size = np.diff(self.first, append=ranks)  # of each group
        #: The first rank of each group, the second one, ..., [group] each; of smaller groups, the
        #: last one again. None where groups are large.
        self.members: list[np.ndarray] | None = None
        if size.max() <= SMALL_GROUP:
            self.members = [
                order[self.first + np.minimum(number, size - 1)] for number in range(size.max())
            ]

    @property
    def groups(self) -> int:
        """Number of groups of ranks."""
        return len(self.first)

    def last_of_group(self, times: np.ndarray) -> np.ndarray:
        """The latest of the times [..., rank] in the group of each rank."""
        if self.groups == 1:
            return self.last_by_group(times)
        return np.asarray(self.last_by_group(times).take(self.place, axis=-1))

    def last_by_group(self, times: np.ndarray) -> np.ndarray:
        """The latest of the times [..., rank] in each group, [..., group]."""
        if self.groups == 1:
            return np.asarray(np.maximum.reduce(times, axis=-1, keepdims=True))
        if self.members is not None:
            times = np.ascontiguousarray(times)  # else each `take` would copy them
            latest = times.take(self.members[0], axis=-1)
            for members in self.members[1:]:
                np.maximum(latest, times.take(members, axis=-1), out=latest)
            return latest
        by_group = times if self.order is None else times[..., self.order]
        return np.asarray(np.maximum.reduceat(by_group, self.first, axis=-1))

    def of_groups(self, other: "_Meeting") -> "_Meeting | None":
        """This lane between the groups of another one; None where it divides one of them."""
        member = np.unique(other.place, return_index=True)[1]  # of each group
        group = self.place[member]
        if (group[other.place] != self.place).any():
            return None
        return _Meeting(replace(self.lane, group=tuple(group.tolist())), other.groups)

    def end_window(self, times: np.ndarray, drain: bool) -> np.ndarray:
        """When ranks that computed until `times` may go on.

        With `drain`, they wait for everything that is under way.
        """
        self.arrivals.append(self.last_of_group(times) + self.exchange_s)
        stay = 0 if drain else self.lane.lag
        while len(self.arrivals) > stay:
            times = np.maximum(times, self.arrivals.pop(0))
        return times


def evaluate(compute: np.ndarray, lanes: Sequence[LaneMeetings]) -> Course:
    """Run ranks with given compute times through lanes (L26, eqs 3-5, with groups and lags).

    All ranks begin together, and the last cycle ends by exchanging whatever is under way, as in a
    run of the mini-app. The exchange of a lane without a lag takes `exchange_s` after the last rank
    has arrived, which is not waiting; with a lag, waiting includes the part of the exchange that is
    not hidden.

    Args:
        compute: c in s, shape [..., rank, cycle].
        lanes: in the order in which they exchange.

    Raises:
        BadInput: for compute times of another shape.

    Example:
        Two ranks that meet in every cycle wait for the slower one in each.

        >>> compute = np.array([[1.0, 3.0], [2.0, 1.0]])
        >>> evaluate(compute, [LaneMeetings(period=1)]).waiting_s
        array([[1., 0.],
               [0., 2.]])
        >>> evaluate(compute, [LaneMeetings(period=2)]).waiting_s
        array([[0., 0.],
               [0., 1.]])
    """
    c = statistics.times(compute)
    ranks, cycles = c.shape[-2:]
    meetings = [_Meeting(lane, ranks) for lane in lanes]
    meetings = [meeting for meeting in meetings if meeting.groups < ranks]
    span = _independent_span(meetings)
    side_by_side = cycles - cycles % span if span else 0
    waiting = np.moveaxis(np.zeros((cycles, *c.shape[:-1])), 0, -1)
    if not side_by_side:
        end = _cycle_by_cycle(c, meetings, waiting)
    else:
        end = np.zeros(c.shape[:-1])
        times_per_window = c[..., 0].size * span
        block = max(1, MAX_TIMES_AT_ONCE // max(1, times_per_window)) * span
        for first in range(0, side_by_side, block):
            part = slice(first, min(first + block, side_by_side))
            windows = _windows(c[..., part], span)
            ended = _cycle_by_cycle(windows, meetings, _windows(waiting[..., part], span))
            end += ended.sum(axis=-2)
        if side_by_side < cycles:
            rest = slice(side_by_side, cycles)
            end += _cycle_by_cycle(c[..., rest], meetings, waiting[..., rest])
    waiting -= _transport(meetings, cycles)
    np.maximum(waiting, 0.0, out=waiting)  # rounding may have left less
    return Course(waiting, end)


def _windows(times: np.ndarray, span: int) -> np.ndarray:
    """Times [..., rank, cycle] in windows of `span` cycles, a view [..., window, rank, cycle]."""
    return times.reshape(*times.shape[:-1], -1, span).swapaxes(-3, -2)


def _transport(meetings: list[_Meeting], cycles: int) -> np.ndarray:
    """Seconds of each cycle in which exchanges of lanes without a lag travel, [cycle]."""
    transport = np.zeros(cycles)
    for meeting in meetings:
        lane = meeting.lane
        if lane.lag:
            continue
        transport[lane.period - 1 :: lane.period] += lane.exchange_s
        if cycles % lane.period:
            transport[-1] += lane.exchange_s
    return transport


def _independent_span(meetings: list[_Meeting]) -> int:
    """Cycles after which all ranks go on together, or 0.

    Windows of so many cycles do not depend on each other and are evaluated side by side.
    """
    longest = max((meeting.lane.period for meeting in meetings), default=1)
    everyone_meets = any(
        meeting.groups == 1 and meeting.lane.period == longest for meeting in meetings
    )
    if not everyone_meets:
        return 0
    if any(meeting.lane.lag or longest % meeting.lane.period for meeting in meetings):
        return 0
    return longest


def _cycle_by_cycle(
    compute: np.ndarray, meetings: list[_Meeting], waiting: np.ndarray
) -> np.ndarray:
    """The recursion: puts waiting with exchanges into `waiting`, [..., rank, cycle], where that is
    not 0; returns when ranks end, [..., rank].
    """
    cycles = compute.shape[-1]
    step = cycles
    if meetings:
        step = int(np.gcd.reduce([meeting.lane.period for meeting in meetings]))
    starts = np.arange(0, cycles, step)
    last_cycles = [*(starts[1:] - 1), cycles - 1]
    by_cycle = np.moveaxis(compute, -1, 0)
    if by_cycle.strides[-1] > by_cycle.itemsize:  # ranks do not lie side by side in memory
        by_cycle = np.ascontiguousarray(by_cycle)
    compute_by_step = by_cycle if step == 1 else _sums_of_steps(by_cycle, step)
    waiting_by_cycle = np.moveaxis(waiting, -1, 0)
    if step == 1:
        return _step_by_step(compute_by_step, last_cycles, meetings, waiting_by_cycle)
    waiting_at_ends = np.empty(compute_by_step.shape)
    times = _step_by_step(compute_by_step, last_cycles, meetings, waiting_at_ends)
    waiting_by_cycle[last_cycles] = waiting_at_ends
    return times


def _step_by_step(
    compute: np.ndarray, last_cycles: list[int], meetings: list[_Meeting], waiting: np.ndarray
) -> np.ndarray:
    """The recursion over steps, at whose ends alone ranks meet.

    Args:
        compute: seconds, [step, ..., rank].
        last_cycles: the last cycle of each step.
        meetings: the lanes.
        waiting: takes the waiting with exchanges at the end of each step, [step, ..., rank].

    Returns:
        When ranks end, [..., rank].
    """
    if meetings and not meetings[0].lane.lag and meetings[0].lane.period == last_cycles[0] + 1:
        first, *others = meetings
        of_groups = [other.of_groups(first) for other in others]
        between_groups = [other for other in of_groups if other is not None]
        if len(between_groups) == len(others):
            return _group_by_group(compute, last_cycles, first, between_groups, waiting)
    times = np.zeros(compute.shape[1:])
    last = last_cycles[-1]
    for s, computed, waited in zip(last_cycles, compute, waiting, strict=True):
        arrived = times + computed
        times = arrived
        for meeting in meetings:
            if (s + 1) % meeting.lane.period == 0 or s == last:
                times = meeting.end_window(times, drain=s == last)
        np.subtract(times, arrived, out=waited)
    return times


def _sums_of_steps(by_cycle: np.ndarray, step: int) -> np.ndarray:
    """Sums over `step` cycles each, [step, ..., rank], of times [cycle, ..., rank]; the last step
    may have fewer. `np.add.reduceat` would take eight times as long.
    """
    whole = len(by_cycle) // step
    sums = by_cycle[: whole * step].reshape(whole, step, *by_cycle.shape[1:]).sum(axis=1)
    if whole * step == len(by_cycle):
        return np.asarray(sums)
    rest = by_cycle[whole * step :].sum(axis=0, keepdims=True)
    return np.concatenate([sums, rest])


def _group_by_group(
    compute: np.ndarray,
    last_cycles: list[int],
    first: _Meeting,
    others: list[_Meeting],
    waiting: np.ndarray,
) -> np.ndarray:
    """The recursion where the ranks of a lane meet at the end of each step, and so go on together:
    only the slowest one of each group counts.

    Args:
        compute: seconds, [step, ..., rank].
        last_cycles: the last cycle of each step.
        first: the lane whose ranks meet in each step, before others do.
        others: the other lanes, between groups of the first one.
        waiting: takes the waiting with exchanges at the end of each step, [step, ..., rank].

    Returns:
        When ranks end, [..., rank].
    """
    times = np.zeros((*compute.shape[1:-1], first.groups))
    at_once = max(1, TIMES_IN_CACHE // max(1, compute[0].size))
    for begin in range(0, len(compute), at_once):
        part = slice(begin, begin + at_once)
        slowest = first.last_by_group(compute[part]) + first.exchange_s  # [step, ..., group]
        took = np.empty(slowest.shape)
        for s, computed, took_in_step in zip(last_cycles[part], slowest, took, strict=True):
            began = times
            times = began + computed
            for meeting in others:
                if (s + 1) % meeting.lane.period == 0 or s == last_cycles[-1]:
                    times = meeting.end_window(times, drain=s == last_cycles[-1])
            np.subtract(times, began, out=took_in_step)
        of_ranks = took.take(first.place, axis=-1, mode="clip")
        np.subtract(of_ranks, compute[part], out=waiting[part])
    return times.take(first.place, axis=-1)


class RecordedLane(Protocol):
    """A lane in the record of a run."""

    @property
    def name(self) -> str: ...  #: of the lane
    @property
    def period(self) -> int: ...  #: cycles
    @property
    def lag(self) -> int: ...  #: windows
    @property
    def ranks(self) -> int: ...  #: in the largest group
    @property
    def groups(self) -> int: ...  #: number of groups


class _RunRecord(Protocol):
    @property
    def ranks(self) -> int: ...
    @property
    def lanes(self) -> Iterable[RecordedLane]: ...


class RecordedRun(Protocol):
    """What `lanes_of` needs to know of a run."""

    @property
    def path(self) -> Path: ...  #: folder of the run
    @property
    def record(self) -> _RunRecord: ...  #: number of ranks, and the lanes


def lanes_of(run: RecordedRun) -> list[LaneMeetings]:
    """The lanes of a `Run`, whose record gives the largest group and the number of groups.

    Raises:
        BadInput: where these do not tell the groups: they must be equal blocks of ranks, as those
            of a lane between given areas are only where it connects all ranks.

    Example:
        >>> from spikemark.records.record import load_run
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> [(lane.period, lane.lag, lane.group) for lane in lanes_of(run)]
        [(1, 0, (0, 1, 2, 3)), (10, 0, (0, 0, 0, 0))]
    """
    ranks = run.record.ranks
    meetings = []
    for lane in run.record.lanes:
        if lane.ranks * lane.groups != ranks:
            raise BadInput(
                f"lane {lane.name} has {lane.groups} groups of up to {lane.ranks} of"
                f" {ranks} ranks: groups of equal size are needed",
                file=run.path,
                code="file",
            )
        group = tuple(rank // lane.ranks for rank in range(ranks))
        meetings.append(LaneMeetings(lane.period, lane.lag, group))
    return meetings
