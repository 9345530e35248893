"""When ranks with given compute times meet in given lanes, and how long they wait.

Lober et al. 2026 (L26, section 2.2) treat ranks that all meet at the end of a window (eqs 3-5). This module
generalises it to any list of lanes, each with its groups of ranks, its period P and its lag L. In one lane of
all ranks the time F[m, k] at which rank m has computed window k is

    F[m, k] = max(F[m, k-1], max_j F[j, k-1-L] + t_exchange) + C[m, k],

C being the sums of the compute times over the P cycles of a window. With L = 0 these are eqs 3-5; with a lag
a rank waits only for ranks that are more than a window behind.

`evaluate` gives the waiting of every rank in every cycle, `waits` its mean over ranks for long traces and
many runs. All times are in seconds. Compute times are c[m, s] of shape
[..., rank, cycle]; leading axes, if any, are independent runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spikemark.core.errors import BadInput

from .statistics import lump

BLOCK = 256  # windows at a time, so that they stay in a cache
MANY = 256  # ranks: single cycles of more are as fast one after another as side by side
SETTLED = 8  # the mean lead at the end is taken from the last eighth of the windows


@dataclass(frozen=True)
class Lane:
    """Ranks that exchange every `period` cycles what is due `lag` windows later; `group` gives their groups.

    `group`: an integer per rank, equal for ranks that exchange with each other; None: all ranks do.
    """

    period: int
    lag: int = 0
    group: tuple[int, ...] | None = None
    exchange_s: float = 0.0  # how long an exchange takes once its last rank has begun it

    def __post_init__(self) -> None:
        if self.period < 1 or self.lag < 0 or not self.exchange_s >= 0:
            raise BadInput(
                f"lane of period={self.period}, lag={self.lag}, exchange_s={self.exchange_s}:"
                " allowed are a period of at least 1, the others at least 0"
            )


@dataclass(frozen=True)
class Course:
    """The course of a run: `waiting_s` [..., rank, cycle] at the end of each cycle, `end_s` [..., rank]."""

    waiting_s: np.ndarray
    end_s: np.ndarray

    @property
    def waiting_per_cycle_s(self) -> float:
        return float(self.waiting_s.mean())


@dataclass
class _Meeting:
    """A lane while a run is evaluated; `begun` holds when the exchanges that are under way will arrive."""

    lane: Lane
    order: np.ndarray  # ranks sorted by group
    first: np.ndarray  # where each group begins in that order
    place: np.ndarray  # the group of each rank, counted from 0
    begun: list[np.ndarray] = field(default_factory=list)

    def due(self, cycle: int, last: int) -> bool:
        """Tells whether a window of the lane, or the run, ends with this cycle; the first cycle is 0."""
        return (cycle + 1) % self.lane.period == 0 or cycle == last

    def last_of_group(self, at: np.ndarray) -> np.ndarray:
        """The latest of the times `at` [..., rank] in the group of each rank."""
        if len(self.first) == 1:
            return at.max(axis=-1, keepdims=True)
        return np.maximum.reduceat(at[..., self.order], self.first, axis=-1)[..., self.place]

    def end_window(self, at: np.ndarray, drain: bool) -> np.ndarray:
        """When ranks that have finished computing at `at` may go on.

        With `drain`, nothing may remain on its way.
        """
        self.begun.append(self.last_of_group(at) + self.lane.exchange_s)
        while len(self.begun) > (0 if drain else self.lane.lag):
            at = np.maximum(at, self.begun.pop(0))
        return at


def evaluate(compute: np.ndarray, lanes: Sequence[Lane]) -> Course:
    """Run ranks with the compute times c [..., rank, cycle] through `lanes`, in their order.

    All ranks begin together, and the last cycle ends by exchanging whatever is on its way, as in a run of the
    mini-app. The exchange of a lane without a lag takes `exchange_s` after the last rank has arrived, which
    is not waiting; with a lag, waiting includes the part of the exchange that is not hidden. Raises BadInput
    for times of another shape and for groups of another number of ranks.
    """
    c = np.asarray(compute, dtype=np.float64)
    if c.ndim < 2 or c.size == 0:
        raise BadInput(f"cycle times of shape {list(c.shape)}: expected [rank, cycle], neither of them empty")
    ranks, cycles = c.shape[-2:]
    meetings = [m for m in (_meeting(lane, ranks) for lane in lanes) if len(m.first) < ranks]
    waiting, transport = np.empty(c.shape), np.zeros(cycles)
    for lane in (m.lane for m in meetings if not m.lane.lag):
        transport[lane.period - 1 :: lane.period] += lane.exchange_s
        transport[-1] += lane.exchange_s * (cycles % lane.period > 0)
    period, inner, outer = _repeated(meetings, cycles)
    apart = cycles - cycles % period if period else 0
    took, end = _by_window(c[..., :apart], inner, period, waiting[..., :apart]), np.zeros(c.shape[:-1])
    if outer is None:
        end += took.sum(axis=-1)
    else:
        for some, arrived, left in _passed(took, [outer], last=took.shape[-1] - 1):
            waiting[..., period - 1 :: period][..., some] += np.moveaxis(left - arrived, 0, -1)
        end += left[-1]
    for some, arrived, left in _passed(c[..., apart:], meetings, last=cycles - apart - 1):
        waiting[..., apart:][..., some] = np.moveaxis(left - arrived, 0, -1)
        last = left[-1]
    end += last if apart < cycles else 0.0
    np.maximum(np.subtract(waiting, transport, out=waiting), 0.0, out=waiting)  # not below, by rounding
    return Course(waiting, end)


@dataclass(frozen=True)
class Waits:
    """Mean over ranks of the time waited, in the unit of the compute times; leading axes as these had."""

    series: np.ndarray  # [..., window]
    drain: np.ndarray  # [...], waited beyond that at the end of a run, when the last must catch up
    drain_error: np.ndarray  # [...], spread of the lead over time

    def per_window(self, windows: int) -> np.ndarray:
        """Mean without the drain over a run of so many windows, [...]; further windows are as the last."""
        ran = self.series.shape[-1]
        later = self.series[..., ran // 2 :].mean(axis=-1)
        return later + (self.series.mean(axis=-1) - later) * min(ran / windows, 1.0)


def waits(
    compute: np.ndarray, lag: int = 0, exchange_s: float = 0.0, group: int = 1, per_window: int = 1
) -> Waits:
    """The waiting in one lane of all ranks from sums over windows, [..., rank, window].

    With a lag, an exchange starts when the last rank has finished a window and takes `exchange_s`, and the
    drain at the end of a run is the mean lead over the last rank. Without a lag, blocks of `group` ranks may
    meet more often, `per_window` times in a window; the sums are then those between two such meetings.
    """
    if not lag:
        nothing = np.zeros(compute.shape[:-2])
        return Waits(_together(compute, group, per_window), nothing, nothing)
    *runs, ranks, windows = compute.shape
    flat = compute.reshape(-1, ranks, windows)
    series, lead = np.empty((2, windows, len(flat)))
    lane = _meeting(Lane(1, lag, exchange_s=exchange_s), ranks)
    for some, arrived, left in _passed(flat, [lane]):
        series[some] = (left - arrived).mean(axis=-1)
        lead[some] = left.max(axis=-1) + exchange_s - left.mean(axis=-1)
    lead = lead[windows // 2 :]
    drain = lead[-max(1, windows // SETTLED) :].mean(axis=0)
    return Waits(series.T.reshape(*runs, windows), drain.reshape(runs), lead.std(axis=0).reshape(runs))


def _together(compute: np.ndarray, group: int, per_window: int) -> np.ndarray:
    """Eqs 3-5 for windows whose end all ranks leave together: mean over ranks, [..., window]."""
    *runs, ranks, steps = compute.shape
    slowest, mean = compute, compute.mean(axis=-2, dtype=np.float64)
    if per_window > 1:
        slowest = lump(compute.reshape(*runs, ranks // group, group, steps).max(axis=-2), per_window)
        mean = lump(mean, per_window)
    return np.maximum(slowest.max(axis=-2) - mean, 0.0)


def _repeated(meetings: list[_Meeting], cycles: int) -> tuple[int, list[_Meeting], _Meeting | None]:
    """The cycles of windows that may be evaluated side by side, what meets in them, and what couples them.

    They may, if all ranks go on together after each; or if the second of two lanes, of all ranks, has a lag:
    ranks that meet in a window then begin it together, and windows differ by when they begin. Windows are the
    cycles of that lane, with a period of 1. 0 cycles where it is not so, or a block holds no two windows.
    """
    longest = max((m.lane.period for m in meetings), default=1)
    everyone = [m for m in meetings if len(m.first) == 1 and m.lane.period == longest]
    if not everyone or 2 * longest > BLOCK or any(longest % m.lane.period for m in meetings):
        return 0, meetings, None
    if longest == 1 and len(everyone[0].order) > MANY:
        return 0, meetings, None
    *inner, outer = meetings
    if not any(m.lane.lag for m in meetings):
        return longest, meetings, None
    if (
        all(outer is not m for m in everyone)
        or len(inner) > 1
        or any(m.lane.lag for m in inner)
        or cycles % longest
    ):
        return 0, meetings, None
    return longest, inner, replace(outer, lane=replace(outer.lane, period=1))


def _by_window(compute: np.ndarray, meetings: list[_Meeting], period: int, waiting: np.ndarray) -> np.ndarray:
    """The recursion for windows of `period` cycles that all begin at 0; none if there are no cycles.

    Writes the waiting [..., rank, cycle], exchanges included; returns when windows end, [..., rank, window].
    """
    *runs, cycles = compute.shape
    took = np.empty((*runs, cycles // period if period else 0))
    block = BLOCK // period * period if period else 1
    for first in range(0, cycles, block):
        some = slice(first, first + block)
        windows = compute[..., some].reshape(*runs, -1, period).swapaxes(-3, -2)
        ((_, arrived, left),) = _passed(windows, meetings)
        waited = np.moveaxis(left - arrived, (-1, -2, 0), (-3, -2, -1))  # [..., rank, window, cycle]
        waiting[..., some] = waited.reshape(*runs, -1)
        took[..., first // period : first // period + windows.shape[-3]] = left[-1].swapaxes(-1, -2)
    return took


def _passed(
    compute: np.ndarray, meetings: list[_Meeting], last: int = -1
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The recursion, a block of cycles at a time.

    Yields the cycles, when each rank has computed them, and when it goes on, both [cycle, ..., rank]. After
    the cycle `last`, nothing may remain on its way.
    """
    at = np.zeros(compute.shape[:-1])
    for first in range(0, compute.shape[-1], BLOCK):
        some = slice(first, first + BLOCK)
        arrived = np.array(np.moveaxis(compute[..., some], -1, 0), dtype=np.float64, order="C")
        left = np.empty_like(arrived)
        for s, (done, onward) in enumerate(zip(arrived, left, strict=True), first):
            at = np.add(done, at, out=done)  # before: compute times; after: the times at which they end
            for meeting in meetings:
                if meeting.due(s, last):
                    at = meeting.end_window(at, drain=s == last)
            onward[:] = at
        yield some, arrived, left


def _meeting(lane: Lane, ranks: int) -> _Meeting:
    group = np.zeros(ranks, dtype=int) if lane.group is None else np.asarray(lane.group)
    if group.shape != (ranks,):
        raise BadInput(f"lane.group of {group.size} ranks: the compute times have {ranks}")
    order = np.argsort(group, kind="stable")
    _, first, place = np.unique(group[order], return_index=True, return_inverse=True)
    back = np.empty(ranks, dtype=int)
    back[order] = place
    return _Meeting(lane, order, first, back)


def lanes_of(run) -> list[Lane]:
    """The lanes of a `Run`, whose record gives the largest group and the number of groups.

    Raises BadInput where these do not tell the groups: they must be equal blocks of ranks, as those of a lane
    between given areas are only where it connects all ranks.
    """
    ranks, lanes = run.record.ranks, []
    for lane in run.record.lanes:
        if lane.ranks * lane.groups != ranks:
            raise BadInput(
                f"{run.path}: lane {lane.name} has {lane.groups} groups of up to {lane.ranks} of {ranks}"
                " ranks: groups of equal size are needed"
            )
        group = tuple(rank // lane.ranks for rank in range(ranks))
        lanes.append(Lane(lane.period, lane.lag, group))
    return lanes
