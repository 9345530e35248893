"""What a run would be if something about it were different.

CHANGES has a function of `Setting` for each change that has a name; `slow_rank` takes a rank and a
factor besides. `outcomes` replays a run after each of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spikemark.core.errors import BadInput, unknown_name
from spikemark.models.statistics import lump
from spikemark.network.schedules import SCHEDULES, plan

from .interruptions import Interruptions, evenly, interruptions, put_back, without
from .ladder import clipped, course_of, drift_share, in_cycles, means_of_stretches
from .replay import ReplayedWaiting, Setting, check_exact, predict
from .trace import CycleTrace
from .work import blocks_of_ranks

SLOW_RANK = "slow-rank"
MAX_SLOW_FACTOR = 1000.0
#: Whether fluctuations, and the chance of interruptions, go with the work of a rank; without
#: interruptions, the first two are all.
LEVEL_READINGS = ((False, False), (True, True), (False, True), (True, False))
FIRST = "double-delay-ratio"  #: of several changes, since it may place neurons elsewhere


def _effects(compute: np.ndarray) -> np.ndarray:
    """Lasting differences of ranks from the mean, [rank, 1]."""
    means = compute.mean(axis=1, keepdims=True, dtype=np.float64)
    return np.asarray(means - means.mean())


def halve_jitter(setting: Setting, run: CycleTrace) -> Setting:
    """Fluctuations that average out over D cycles are half as large.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> halved = halve_jitter(Setting.from_run(run), run)
        >>> bool(halved.readings[0].std() < run.compute.std())
        True
    """
    d = run.jitter_cycles

    def halved(compute: np.ndarray) -> Iterator[np.ndarray]:
        ordinary = without(compute, _interrupted(compute, run))
        short = clipped(ordinary, run.window_cycles)  # long cycles stay
        fluctuations = short - short.mean(axis=0, dtype=np.float64) - _effects(short)
        share = drift_share(short, d)
        cycles = short.shape[1]
        slow = np.repeat(lump(fluctuations, d) / d, d, axis=1)
        slow = np.pad(slow, ((0, 0), (0, cycles - slow.shape[1])), mode="edge")
        # Of the variance of these means, `share` is drift, which stays, and the rest is jitter that
        # D cycles leave, a fourth of which stays. Half of each mean stays anyway.
        slow_factor = (share + 0.25 * (1 - share)) ** 0.5 - 0.5
        half = 0.5 * fluctuations + slow_factor * slow
        yield np.asarray(np.maximum(compute - fluctuations + half, 0))

    return setting.with_times(halved)


def _interrupted(compute: np.ndarray, run: CycleTrace) -> list[Interruptions]:
    """The interruptions of each rank, in the times of a run or in what became of them."""
    if compute is run.compute:
        return run.interrupted
    return interruptions(compute, run.window_cycles)


def _never_interrupted(setting: Setting, run: CycleTrace) -> bool:
    """Whether the times are those of the run, and no rank was interrupted: all readings of how
    interruptions change are the same.
    """
    unchanged = setting.compute is run.compute and setting.moved is None
    if not unchanged or setting.readings is not None:
        return False
    return not any(len(one.cycles) for one in run.interrupted)


def _levelled(
    compute: np.ndarray,
    run: CycleTrace,
    *,
    scaled: bool,
    evened: bool,
    stretches: bool = False,
) -> Iterator[np.ndarray]:
    """Compute times [rank, cycle] without lasting differences, in the precision that they have, of
    some ranks after the other.

    Args:
        compute: times in s, [rank, cycle].
        run: that was measured.
        scaled: fluctuations grow with the work of a rank; else they stay as they are.
        evened: all ranks are interrupted as often; else interruptions stay where they fell.
        stretches: ranks are equal in each stretch of the run, not only on average.
    """
    cycles = compute.shape[1]
    of_ranks = _interrupted(compute, run)
    means = []
    in_stretches = []
    for ranks in blocks_of_ranks(compute):
        ordinary = without(compute[ranks], of_ranks[ranks])
        means.append(ordinary.mean(axis=1, keepdims=True, dtype=np.float64))
        in_stretches.append(means_of_stretches(ordinary))
    mean_s = np.concatenate(means)
    effects_s = mean_s - mean_s.mean()
    factors = np.where(mean_s > 0, mean_s.mean() / np.maximum(mean_s, 1e-300), 1)
    course = course_of(np.concatenate(in_stretches)) if stretches else None
    back = evenly(of_ranks, cycles) if evened else of_ranks
    for ranks in blocks_of_ranks(compute):
        level = without(compute[ranks], of_ranks[ranks])
        if course is not None:
            level -= in_cycles(course[ranks], cycles).astype(level.dtype)
        elif scaled:
            level *= factors[ranks].astype(level.dtype)
        else:
            level -= effects_s[ranks].astype(level.dtype)
        np.maximum(level, 0, out=level)
        yield put_back(level, back[ranks])


def level_ranks(setting: Setting, run: CycleTrace) -> Setting:
    """Ranks no longer differ lastingly, as if all had equal work.

    Nothing says whether fluctuations and the chance of an interruption go with the work, so both
    are replayed: with it, and without. Where a rank became slower in the course of the run, ranks
    are also made equal in each stretch of it.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal([[1e-3], [2e-3]], 1e-5, (2, 1000)))
        >>> level_ranks(Setting.from_run(run), run).readings[0].mean(axis=1).round(6).tolist()
        [0.0015, 0.0015]
    """
    readings = []
    for scaled, evened in LEVEL_READINGS:
        readings.append(partial(_levelled, run=run, scaled=scaled, evened=evened))
    if _never_interrupted(setting, run):
        readings = readings[:2]
    if course_of(means_of_stretches(run.compute)) is not None:
        in_stretches = partial(_levelled, run=run, scaled=False, evened=False, stretches=True)
        readings.append(in_stretches)
    return setting.with_times(*readings)


def double_delay_ratio(setting: Setting, run: CycleTrace) -> Setting:
    """All ranks meet half as often; groups that meet in between do so as often as before.

    A schedule without D becomes structure-aware with D = 2, placement included.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> double_delay_ratio(Setting.from_run(run, "structure_aware", 5), run).plan.delay_ratio
        10
    """
    meetings = setting.plan
    if not SCHEDULES[meetings.schedule].uses_delay_ratio:
        rarely = Setting.from_run(run, "structure_aware", 2, ranks=meetings.ranks)
        return replace(rarely, cost=setting.cost)
    doubled = plan(
        meetings.schedule,
        2 * meetings.delay_ratio,
        meetings.ranks,
        meetings.lag,
        meetings.base or None,
    )
    return replace(setting, plan=replace(doubled, near=meetings.near))


def halve_latency(setting: Setting, run: CycleTrace) -> Setting:
    """An exchange and its barrier take half the time.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> halve_latency(Setting.from_run(run), run).cost
        0.5
    """
    return replace(setting, cost=setting.cost / 2)


def double_ranks(setting: Setting, run: CycleTrace) -> Setting:
    """There are twice as many ranks, each with as much to compute as before.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> double_ranks(Setting.from_run(run), run).plan.ranks
        8
    """
    meetings = setting.plan
    ranks = 2 * meetings.ranks
    if meetings.near:
        line = f"ranks={ranks}: expected the {meetings.ranks} of the run, where areas share ranks"
        raise BadInput(line, field="ranks", code="conflict")
    doubled = plan(
        meetings.schedule, meetings.delay_ratio, ranks, meetings.lag, meetings.base or None
    )
    return replace(setting, plan=doubled).checked()


CHANGES: dict[str, Callable[[Setting, CycleTrace], Setting]] = {
    "halve-jitter": halve_jitter,
    "level-ranks": level_ranks,
    "double-delay-ratio": double_delay_ratio,
    "halve-latency": halve_latency,
    "double-ranks": double_ranks,
}


def slow_rank(setting: Setting, run: CycleTrace, rank_and_factor: str) -> Setting:
    """One rank takes so many times as long in every cycle, as on a slower or a faster node.

    Interruptions either stay as they are, or become as many times as long, or as rare.

    Args:
        setting: with the ranks that were measured.
        run: that was measured.
        rank_and_factor: such as "3:1.2": rank 3 takes 1.2 times as long; below 1, it is faster.

    Raises:
        BadInput: for other ranks than the measured ones, and a factor below 0.001 or above 1000.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.full((2, 100), 1e-3))
        >>> slower = slow_rank(Setting.from_run(run), run, "1:1.2")
        >>> slower.readings[0].mean(axis=1).round(6).tolist()
        [0.001, 0.0012]
    """
    measured = len(setting.compute)
    if setting.plan.ranks != measured:
        line = f"ranks={setting.plan.ranks}: expected the {measured} measured ranks"
        raise BadInput(line, field="ranks", code="conflict")
    number, _, factor = rank_and_factor.partition(":")
    try:
        rank = int(number) - run.first_rank
        times = float(factor)
    except ValueError:
        rank = -1
        times = 0.0
    if not (0 <= rank < measured and 1 / MAX_SLOW_FACTOR <= times <= MAX_SLOW_FACTOR):
        line = (
            f"change={SLOW_RANK}={rank_and_factor}: expected RANK:FACTOR, a rank from"
            f" {run.first_rank} to {run.first_rank + measured - 1} and a factor from"
            f" {1 / MAX_SLOW_FACTOR:g} to {MAX_SLOW_FACTOR:g}, such as 3:1.2"
        )
        raise BadInput(line, field="change")

    def changed(compute: np.ndarray, too: bool) -> Iterator[np.ndarray]:
        of_ranks = _interrupted(compute, run)
        back = list(of_ranks)
        events = of_ranks[rank]
        if too and times < 1:
            back[rank] = events.kept(times)
        elif too:
            back[rank] = Interruptions(events.cycles, times * events.seconds)
        factors = np.ones((measured, 1), np.float32)
        factors[rank] = times
        for ranks in blocks_of_ranks(compute):
            ordinary = without(compute[ranks], of_ranks[ranks])
            ordinary *= factors[ranks]
            yield put_back(ordinary, back[ranks])

    readings = [partial(changed, too=False), partial(changed, too=True)]
    if _never_interrupted(setting, run):
        readings = readings[:1]
    return setting.with_times(*readings)


@dataclass(frozen=True)
class ChangeOutcome:
    """What something makes of a run."""

    name: str
    prediction: ReplayedWaiting


def outcomes(
    run: CycleTrace, names: Iterable[str], base: Setting | None = None
) -> list[ChangeOutcome]:
    """What changes make of a run.

    Args:
        run: a conventional run.
        names: keys of CHANGES, or slow-rank=RANK:FACTOR, or several of them joined by `+`.
        base: what is changed; the conventional schedule by default.

    Returns:
        The outcome without any change, called `base`, then one for each name.

    Raises:
        BadInput: for unknown names, and for a change that the run cannot answer.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> [outcome.name for outcome in outcomes(run, ["halve-jitter"])]
        ['base', 'halve-jitter']
    """
    names = list(names)
    for name in names:
        _check(name)
    if base is None:
        base = Setting.from_run(run)
    results = [ChangeOutcome("base", predict(run, base))]
    for name in names:
        try:
            setting = _changed(base, run, name)
        except BadInput as reason:
            if reason.field == "change":
                raise
            line = f"change={name}: {reason}"
            raise BadInput(
                line,
                field="change",
                code="conflict",
            ) from None
        results.append(ChangeOutcome(name, predict(run, setting)))
    return results


def _check(name: str) -> None:
    """Raises BadInput for a change that is not known."""
    for change in name.split("+"):
        if change not in CHANGES and not change.startswith(f"{SLOW_RANK}="):
            names = ", ".join([*CHANGES, f"{SLOW_RANK}=RANK:FACTOR"])
            expected = f"one of {names}, or several joined by +"
            raise unknown_name("change", change, CHANGES, expected=expected)


def _changed(base: Setting, run: CycleTrace, name: str) -> Setting:
    """A setting after the changes that `name` joins by `+`."""
    setting = base
    for change in sorted(name.split("+"), key=lambda change: change != FIRST):
        kind, _, rank_and_factor = change.partition("=")
        if kind == SLOW_RANK:
            setting = slow_rank(setting, run, rank_and_factor)
        else:
            setting = CHANGES[kind](setting, run)
    meetings = setting.plan
    check_exact(run, meetings)
    run.check(meetings.window, f"delay_ratio={meetings.delay_ratio} needs more:")
    return setting
