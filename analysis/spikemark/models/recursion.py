"""When ranks that compute for given times meet in given lanes: waiting, cycle by cycle and rank by rank.

Lober et al. 2026 (L26, section 2.2) treat ranks that all meet at the end of a window (eqs 3-5). This is
the same for any list of lanes, each with its groups of ranks, its period P and its lag L. In one lane of all
ranks the time F[m, k] at which rank m is done with window k is

    F[m, k] = max(F[m, k-1], max_j F[j, k-1-L] + t_exchange) + C[m, k],

C being the sums of the compute times over the P cycles of a window. With L = 0 these are eqs 3-5; with a
lag a rank waits only for ranks that are more than a window behind. All times are in seconds. Compute times
are c[m, s] of shape [..., rank, cycle]; leading axes, if any, are independent runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput


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
    """What became of a run: `waiting_s` [..., rank, cycle] at the end of each cycle, `end_s` [..., rank]."""

    waiting_s: np.ndarray
    end_s: np.ndarray
    compute_s: float  # mean compute time per cycle

    @property
    def waiting_per_cycle_s(self) -> float:
        return float(self.waiting_s.mean())

    @property
    def excess(self) -> float:
        """Time beyond the mean compute time, as a share of it: of the slowest rank, mean over runs."""
        cycles = self.waiting_s.shape[-1]
        return float(self.end_s.max(axis=-1).mean() / (cycles * self.compute_s) - 1)


@dataclass
class _Meeting:
    """A lane while a run is evaluated. `begun`: when each rank's group had begun each of the last windows."""

    lane: Lane
    order: np.ndarray  # ranks sorted by group
    first: np.ndarray  # where each group begins in that order
    place: np.ndarray  # the group of each rank, counted from 0
    begun: list[np.ndarray] = field(default_factory=list)

    def last_of_group(self, at: np.ndarray) -> np.ndarray:
        """Latest of the times `at` [..., rank] in the group of each rank."""
        return np.maximum.reduceat(at[..., self.order], self.first, axis=-1)[..., self.place]

    def end_window(self, at: np.ndarray, drain: bool) -> np.ndarray:
        """When the ranks, done at `at`, may go on; `drain`: nothing may stay on its way."""
        self.begun.append(self.last_of_group(at) + self.lane.exchange_s)
        while len(self.begun) > (0 if drain else self.lane.lag):
            at = np.maximum(at, self.begun.pop(0))
        return at


def evaluate(compute: np.ndarray, lanes: Sequence[Lane]) -> Course:
    """Run ranks with the compute times c [..., rank, cycle] through `lanes`, in their order.

    All ranks begin together, and the last cycle ends by exchanging whatever is on its way, as a run of the
    mini-app does. The exchange of a lane without a lag takes `exchange_s` after the last rank has come, which
    is not waiting; with a lag, waiting includes what of the exchange is not hidden. Raises BadInput for times
    of another shape and for groups of another number of ranks.
    """
    c = np.asarray(compute, dtype=np.float64)
    if c.ndim < 2 or c.size == 0:
        raise BadInput(f"cycle times of shape {list(c.shape)}: expected [rank, cycle], neither of them empty")
    ranks, cycles = c.shape[-2:]
    meetings = [m for m in (_meeting(lane, ranks) for lane in lanes) if len(m.first) < ranks]
    at = np.zeros(c.shape[:-1])
    waiting = np.zeros(c.shape)
    for s in range(cycles):
        at = at + c[..., s]
        last = s + 1 == cycles
        for meeting in meetings:
            if (s + 1) % meeting.lane.period and not last:
                continue
            transport = 0.0 if meeting.lane.lag else meeting.lane.exchange_s
            onward = meeting.end_window(at, last)
            waiting[..., s] += np.maximum(onward - at - transport, 0.0)  # not below, by rounding
            at = onward
    return Course(waiting, at, float(c.mean()))


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


def ar1(correlation: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Autoregressive series of first order along the last axis; normal, mean 0, variance 1."""
    from scipy import signal

    noise = rng.standard_normal(shape)
    noise[..., 1:] *= np.sqrt(1 - correlation**2)
    return signal.lfilter([1.0], [1.0, -correlation], noise, axis=-1)


@dataclass(frozen=True)
class Truth:
    """Compute times as the mini-app injects them (field `inject` of a run description), in seconds.

    Normal about the rank's own mean, autoregressive of first order from cycle to cycle, with probability
    `minor_share` `minor_factor` times as long, and not below 0.
    """

    mean_s: float
    sd_s: float
    correlation: float = 0.0
    rank_sd_s: float = 0.0
    minor_share: float = 0.0
    minor_factor: float = 1.0

    @classmethod
    def of(cls, description: dict[str, Any]) -> "Truth":
        """What a run description injects; nothing where it has no field `inject`."""
        given = description.get("inject") or {}
        minor = given.get("minor_mode") or {}
        return cls(
            mean_s=1e-6 * given.get("mean_us", 0),
            sd_s=1e-6 * given.get("sd_us", 0),
            correlation=given.get("correlation", 0.0),
            rank_sd_s=1e-6 * given.get("rank_sd_us", 0),
            minor_share=minor.get("share", 0.0),
            minor_factor=minor.get("factor", 1.0),
        )

    def draw(self, rng: np.random.Generator, ranks: int, cycles: int, runs: int | None = None) -> np.ndarray:
        """Compute times [rank, cycle], or [run, rank, cycle] for a number of `runs`."""
        shape = (ranks, cycles) if runs is None else (runs, ranks, cycles)
        deviation = ar1(self.correlation, shape, rng)
        means = self.mean_s + self.rank_sd_s * rng.standard_normal((*shape[:-1], 1))
        times = means + self.sd_s * deviation
        if self.minor_share > 0:
            times[rng.random(shape) < self.minor_share] *= self.minor_factor
        return np.maximum(times, 0.0)
