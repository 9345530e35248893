"""How ranks with given compute times wait under a schedule: the max-plus recursion on a measured trace.

No distribution is assumed, so serial correlation, lasting differences and what ranks share are all kept. A
meeting costs what it cost in the run (measured waiting beyond what the compute times explain); with a lag
there is no barrier. For fewer ranks without a lag it is the exact mean over all choices of ranks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.models.recursion import Lane, evaluate
from spikemark.models.statistics import lump
from spikemark.network.schedules import Plan, plan
from spikemark.quantities.quantity import Quantity, student

from .bootstrap import means
from .trace import Trace

SEED, CHOICES, FURTHER, PIECES = 1, 4, 21, 8
MOST_TIMES, FEWEST_RANKS = 4, 4


@dataclass(frozen=True)
class Setting:
    """Ranks of compute times [rank, cycle] in s that meet by a plan; `cost`: of a meeting, over the run's."""

    plan: Plan
    compute: np.ndarray
    cost: float = 1.0

    @classmethod
    def of(cls, run: Trace, schedule: str = "conventional", delay_ratio: int = 1, **how) -> "Setting":
        """The run under a schedule of the mini-app; `how`: ranks, lag, group_period of `schedules.plan`."""
        if run.period > 1:
            met = f"ranks meet every {run.period} cycles; expected a run whose ranks meet in each"
            raise BadInput(f"{run.path}: schedule={run.schedule}: {met}")
        wanted = plan(schedule, delay_ratio, how.pop("ranks", None) or run.ranks, **how)
        run.check(wanted.window, f"delay_ratio={delay_ratio} of {schedule} needs more:")
        return cls(wanted, run.compute).checked()

    def checked(self) -> "Setting":
        """Raises BadInput for more ranks than the measured ones can represent."""
        measured, ranks = len(self.compute), self.plan.ranks
        if ranks > measured and (measured < FEWEST_RANKS or ranks > MOST_TIMES * measured):
            raise BadInput(
                f"ranks={ranks}: expected at most {MOST_TIMES} times the {measured} of the run, which must"
                f" have {FEWEST_RANKS} or more to show how ranks differ"
            )
        return self


@dataclass(frozen=True)
class Waits:
    """Mean over ranks in s: `series` [window], and `drain` at the end of the run, with its error."""

    series: np.ndarray
    drain: float = 0.0
    drain_error: float = 0.0


def waits(run: Trace, now: Setting) -> list[Waits]:
    """How ranks wait: one answer, or one for each choice of other ranks."""
    p, measured = now.plan, len(now.compute)
    overhead, exchange_s = now.cost * lump(run.overhead, p.window) / p.window, now.cost * run.exchange_s
    if p.ranks < measured and p.lockstep:
        return [Waits(_of_all_choices(lump(now.compute, p.window), p.ranks) + overhead)]
    sets = [now.compute]
    if p.ranks < measured:
        rng = np.random.default_rng(SEED)
        chosen = (np.sort(rng.choice(measured, p.ranks, replace=False)) for _ in range(CHOICES))
        sets = [now.compute[one] for one in chosen]
    elif p.ranks > measured:
        sets = further(now.compute, p.ranks, run.nodes, run.place)
    return [_met(one, p, exchange_s, overhead) for one in sets]


def _met(compute: np.ndarray, p: Plan, exchange_s: float, overhead: np.ndarray) -> Waits:
    sums = lump(compute, p.window)
    if p.lockstep:
        return Waits(sums.max(axis=0) - sums.mean(axis=0, dtype=np.float64) + overhead)
    if not p.lag:
        blocks = tuple(np.arange(p.ranks) // p.group)
        whole = compute[:, : sums.shape[1] * p.window]
        course = evaluate(whole, [Lane(p.base, group=blocks), Lane(p.window)])
        return Waits(lump(course.waiting_s.mean(axis=0), p.window) + overhead)
    lanes = [Lane(1, p.lag, exchange_s=exchange_s)]
    course = evaluate(sums, lanes).waiting_s.mean(axis=0)
    length = sums.shape[1] // PIECES
    pieces = sums[:, : PIECES * length].reshape(p.ranks, PIECES, length).swapaxes(0, 1)
    drains = evaluate(pieces, lanes).waiting_s[..., -1].mean(axis=1)
    return Waits(course[:-1], float(course[-1]), float(drains.std(ddof=1)))


def _of_all_choices(times: np.ndarray, ranks: int) -> np.ndarray:
    """Mean over all sets of `ranks`: the i-th smallest of M is the slowest in C(i-1, m-1) of C(M, m) sets."""
    i = np.arange(1, len(times) + 1)
    weights = np.where(i >= ranks, special.binom(i - 1, ranks - 1) / special.binom(len(times), ranks), 0.0)
    return np.maximum(weights @ np.sort(times, axis=0) - times.mean(axis=0, dtype=np.float64), 0.0)


def further(compute: np.ndarray, ranks: int, nodes=None, place: int = 1) -> list[np.ndarray]:
    """Sets of times of `ranks` ranks: the measured ones, and others like them.

    c = shared by all ranks + lasting effect + own. A further rank has the same shared part in every cycle,
    an effect drawn with what few ranks leave unknown, and the own part of a measured rank, begun at another
    cycle (`place` apart). Where nodes have several ranks each, whole nodes are added: an effect of the node
    and one of the rank, and the own parts of a node stay in step. The measured ranks' own parts have no mean
    over ranks, so further ones get a common one back, as drawn from the same rows.
    """
    measured, cycles = compute.shape
    units = _units(measured, ranks, nodes)
    u, size = units.shape
    shared, effects = compute.mean(axis=0, dtype=np.float64), compute.mean(axis=1, dtype=np.float64)
    own = compute - shared - (effects - effects.mean())[:, None]
    of_unit = own[units].mean(axis=1)
    own = own[units] + ((u / (u - 1)) ** 0.5 - 1) * of_unit[:, None]  # [unit, rank of it, cycle]
    levels = effects[units] - effects.mean()
    variance, within = levels.mean(axis=1).var(ddof=1), levels - levels.mean(axis=1, keepdims=True)
    within_sd = (np.square(within).sum() / max(u * (size - 1), 1)) ** 0.5
    rng, sets = np.random.default_rng(SEED), []

    def turned(unit: np.ndarray) -> np.ndarray:
        return np.roll(unit, place * rng.integers(cycles // place), axis=-1)

    for _ in range(FURTHER):
        sd = (variance * (u - 1) / rng.chisquare(u - 1)) ** 0.5
        common = shared + np.mean([turned(one.mean(axis=0)) for one in own], axis=0)
        common = common + sd * rng.standard_normal() / u**0.5
        rows = [compute]
        for _ in range((ranks - measured) // size):
            level = within_sd * rng.standard_normal((size, 1)) if size > 1 else np.zeros((1, 1))
            effect = sd * rng.standard_normal() + level - level.mean()
            rows.append(common + turned(own[rng.integers(u)]) + effect)
        sets.append(np.maximum(np.concatenate(rows), 0.0))
    return sets


def _units(measured: int, ranks: int, nodes: tuple[str, ...] | None) -> np.ndarray:
    """Ranks [unit, rank of it]: those of each node, if all have as many and whole nodes are added."""
    names = list(dict.fromkeys(nodes or ()))
    of = [[m for m in range(measured) if nodes[m] == name] for name in names]
    if len(of) > 1 and len({*map(len, of)}) == 1 and (ranks - measured) % len(of[0]) == 0:
        return np.array(of)
    return np.arange(measured)[:, None]


@dataclass(frozen=True)
class Prediction:
    """Waiting and run time of a setting, in s over as many cycles as the run has, with 95 % intervals.

    `change`: its run time over that of the run as it was, `saved`: waiting less than in the run, both from
    common draws.
    """

    plan: Plan
    cycles: int
    waiting: Quantity
    runtime: Quantity
    change: Quantity
    saved: Quantity


def predict(run: Trace, now: Setting) -> Prediction:
    """What `now` makes of a conventional run. Raises BadInput as `Setting.of` does."""
    p, cycles, found = now.plan, run.cycles, waits(run, now)
    windows = cycles / p.window
    totals = [one.series.mean() * (windows - (p.lag > 0)) + one.drain for one in found]
    if p.ranks > len(now.compute):
        middle = int(np.argsort(totals)[len(totals) // 2])
        series, value = found[middle].series, float(totals[middle])
    else:
        series, value = np.mean([one.series for one in found], axis=0), float(np.mean(totals))
    was = [lump(x, p.window)[: len(series)] for x in (run.waits, run.exchanges)]
    draws = means(np.stack([series, *was], axis=1) / p.window)
    rest = value / cycles - draws.value[0]  # the drain
    less, more = (now.cost * x * windows for x in run.doubt_s or (0.0, 0.0))  # waiting that was derived
    if p.lag:
        drain = student(PIECES - 1) * max(one.drain_error for one in found)
        less, more = drain, drain + less
    if len(found) > 1:  # other ranks
        less, more = less + value - min(totals), more + max(totals) - value
    scale = now.cost / p.window if run.exchange_s and not p.lag else 0.0

    def runtime(x: np.ndarray) -> np.ndarray:
        return now.compute.mean(dtype=np.float64) + x[..., 0] + rest + scale * x[..., 2]

    def before(x: np.ndarray) -> np.ndarray:
        return run.compute.mean(dtype=np.float64) + x[..., 1] + x[..., 2]

    def quantity(of: Callable, unit: str = "s", times: float = cycles, least: float = 0.0) -> Quantity:
        one, per = draws(lambda x: of(x) * times, unit, least=least), times / cycles
        return replace(one, low=max(one.low - less * per, least), high=one.high + more * per)

    whole = float(before(draws.value))
    change = quantity(lambda x: whole * runtime(x) / before(x), "", 1 / whole)
    saved = quantity(lambda x: x[..., 1] - x[..., 0] - rest, least=-np.inf)
    return Prediction(p, cycles, quantity(lambda x: x[..., 0] + rest), quantity(runtime), change, saved)
