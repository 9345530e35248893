"""When ranks with given compute times meet in given lanes, and how long they wait.

Lober et al. 2026 (L26, section 2.2) treat ranks that all meet at the end of a window (eqs 3-5). This module
generalises it to any list of lanes, each with its groups of ranks, its period P and its lag L. In one lane of
all ranks the time F[m, k] at which rank m has computed window k is

    F[m, k] = max(F[m, k-1], max_j F[j, k-1-L] + t_exchange) + C[m, k],

C being the sums of the compute times over the P cycles of a window. With L = 0 these are eqs 3-5; with a lag
a rank waits only for ranks that are more than a window behind.

All times are in seconds. Compute times are c[m, s] of shape [..., rank, cycle]; leading axes, if any, are
independent runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput

from . import statistics

AT_ONCE = 1 << 22  # times that are evaluated side by side


@dataclass(frozen=True)
class Lane:
    """Ranks that exchange every `period` cycles what is due `lag` windows later; `group` gives their groups.

    `group`: an integer per rank, equal for ranks that exchange with each other; None: all ranks do.
    """

    period: int
    lag: int = 0
    group: tuple[int, ...] | None = None
    exchange_s: float = 0.0  # how long an exchange takes once its last rank has begun it


@dataclass(frozen=True)
class Course:
    """The course of a run: `waiting_s` [..., rank, cycle] at the end of each cycle, `end_s` [..., rank]."""

    waiting_s: np.ndarray
    end_s: np.ndarray

    @property
    def waiting_per_cycle_s(self) -> float:
        """Mean over ranks and cycles."""
        return float(self.waiting_s.mean())


class _Meeting:
    """A lane while a run is evaluated; `begun` holds when the exchanges that are under way will arrive."""

    def __init__(self, lane: Lane, ranks: int):
        self.lane, self.begun = lane, []
        group = np.zeros(ranks) if lane.group is None else np.asarray(lane.group)
        self.place = np.unique(group, return_inverse=True)[1]  # the group of each rank, counted from 0
        self.order = np.argsort(self.place, kind="stable")  # ranks by group
        self.first = np.searchsorted(self.place[self.order], np.arange(self.place.max() + 1))

    def last_of_group(self, at: np.ndarray) -> np.ndarray:
        """The latest of the times `at` [..., rank] in the group of each rank."""
        if len(self.first) == 1:
            return at.max(axis=-1, keepdims=True)
        return np.maximum.reduceat(at[..., self.order], self.first, axis=-1)[..., self.place]

    def end_window(self, at: np.ndarray, drain: bool) -> np.ndarray:
        """When ranks that computed until `at` may go on; with `drain`, nothing may remain on its way."""
        self.begun.append(self.last_of_group(at) + self.lane.exchange_s)
        while len(self.begun) > (0 if drain else self.lane.lag):
            at = np.maximum(at, self.begun.pop(0))
        return at


def evaluate(compute: np.ndarray, lanes: Sequence[Lane]) -> Course:
    """Run ranks with the compute times c [..., rank, cycle] through `lanes`, in their order.

    All ranks begin together, and the last cycle ends by exchanging whatever is on its way, as in a run of the
    mini-app. The exchange of a lane without a lag takes `exchange_s` after the last rank has arrived, which
    is not waiting; with a lag, waiting includes the part of the exchange that is not hidden.
    """
    c = statistics.times(compute)
    *runs, ranks, cycles = c.shape
    meetings = [m for m in (_Meeting(lane, ranks) for lane in lanes) if len(m.first) < ranks]
    transport = np.zeros(cycles)
    for lane in (m.lane for m in meetings if not m.lane.lag):
        transport[lane.period - 1 :: lane.period] += lane.exchange_s
        transport[-1] += lane.exchange_s * (cycles % lane.period > 0)
    waiting, end = np.empty(c.shape), np.zeros(c.shape[:-1])
    span = _together(meetings)
    apart = cycles - cycles % span if span else 0
    block = max(1, AT_ONCE // max(1, c[..., 0].size * max(span, 1))) * span
    for first in range(0, apart, block or 1):
        some = slice(first, min(first + block, apart))
        windows = c[..., some].reshape(*runs, ranks, -1, span).swapaxes(-3, -2)  # [..., window, rank, cycle]
        waited, ended = _passed(windows, meetings)
        waiting[..., some] = waited.swapaxes(-3, -2).reshape(*runs, ranks, -1)
        end += ended.sum(axis=-2)
    if apart < cycles:
        waiting[..., apart:], ended = _passed(c[..., apart:], meetings)
        end += ended
    np.maximum(np.subtract(waiting, transport, out=waiting), 0.0, out=waiting)  # not below, by rounding
    return Course(waiting, end)


def _together(meetings: list[_Meeting]) -> int:
    """Cycles after which all ranks go on together, so that such windows are evaluated side by side; or 0."""
    longest = max((m.lane.period for m in meetings), default=1)
    everyone = any(len(m.first) == 1 and m.lane.period == longest for m in meetings)
    if not everyone or any(m.lane.lag or longest % m.lane.period for m in meetings):
        return 0
    return longest


def _passed(compute: np.ndarray, meetings: list[_Meeting]) -> tuple[np.ndarray, np.ndarray]:
    """The recursion, cycle by cycle: waiting with exchanges [..., rank, cycle], and when ranks end."""
    cycles, waiting = compute.shape[-1], np.zeros(compute.shape)
    at = np.zeros(compute.shape[:-1])
    step = int(np.gcd.reduce([m.lane.period for m in meetings])) if meetings else cycles
    starts = np.arange(0, cycles, step)
    sums = np.ascontiguousarray(np.moveaxis(np.add.reduceat(compute, starts, axis=-1), -1, 0))
    for s, took in zip([*(starts[1:] - 1), cycles - 1], sums, strict=True):
        at = onward = at + took
        for meeting in meetings:
            if (s + 1) % meeting.lane.period == 0 or s == cycles - 1:
                onward = meeting.end_window(onward, drain=s == cycles - 1)
        waiting[..., s] = onward - at
        at = onward
    return waiting, at


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
