"""Changes of runs whose ranks are interrupted: rarely, for long, and not as part of the work."""

from dataclasses import replace

import numpy as np
import pytest
from by_day import more_by_night

from spikemark.quantities.quantity import Quantity
from spikemark.waiting.answer import NO_INTERRUPTIONS, answer, helps
from spikemark.waiting.changes import outcomes
from spikemark.waiting.interruptions import evenly, interruptions, put_back, without
from spikemark.waiting.ladder import ladder
from spikemark.waiting.replay import Setting, _widened_to, predict
from spikemark.waiting.trace import CycleTrace, trace

CYCLES = 4000
TRUTH_CYCLES = 100_000
BASE_S = 1e-5
MILLISECOND = 1e-3
SEEDS = range(60)


class Process:
    """Ranks with unequal work and rare interruptions, drawn from a seed."""

    def __init__(self, seed: int):
        random = np.random.default_rng([seed, 7])
        self.seed = seed
        self.ranks = int(random.choice([2, 3, 4, 8, 16]))
        self.work = np.ones(self.ranks)
        if random.random() < 0.5:
            self.work[0] = random.uniform(1.1, 3)
        else:
            self.work = np.sort(random.uniform(1, 3, self.ranks))[::-1]
        self.by_work = bool(random.random() < 0.5)
        share = random.uniform(0.01, 0.9)
        times = random.uniform(30, 1000)  # usual cycles that an interruption takes
        self.length_s = times * BASE_S
        self.chance = min(share / (1 - share) * self.work.mean() / times, 0.05)

    def times(self, work: np.ndarray, cycles: int, stream: int) -> np.ndarray:
        """Times [rank, cycle] with this work, relative to BASE_S."""
        random = np.random.default_rng([self.seed, stream])
        shape = (self.ranks, cycles)
        made = BASE_S * work[:, None] * (1 + 0.05 * random.standard_normal(shape))
        chance = np.full(self.ranks, self.chance)
        if self.by_work:
            chance = self.chance * work / self.work.mean()
        return made + self.length_s * (random.random(shape) < chance[:, None])

    def truth(self, work: np.ndarray) -> tuple[float, float]:
        """Run time with other work, over that with this, and the share of the waiting that goes."""
        before = self.times(self.work, TRUTH_CYCLES, 2)
        after = self.times(work, TRUTH_CYCLES, 2)
        waits = [float((one.max(axis=0) - one.mean(axis=0)).mean()) for one in (before, after)]
        change = after.max(axis=0).mean() / before.max(axis=0).mean()
        return float(change), 1 - waits[1] / waits[0]


def held(quantity, truth: float) -> bool:
    """Whether an interval holds a truth, but for what the truth itself is uncertain."""
    low, high = quantity.limits
    return low - 2e-3 <= truth <= high + 2e-3


@pytest.mark.parametrize("seeds", more_by_night(SEEDS, number=5))
@pytest.mark.slow
def test_intervals_hold_what_a_change_makes_of_the_process(seeds):
    level = []
    faster = []
    slow = []
    for seed in seeds:
        process = Process(seed)
        run = trace(process.times(process.work, CYCLES, 1))
        as_others = process.work.copy()
        as_others[0] = process.work[1:].mean()
        factor = as_others[0] / process.work[0]
        _, levelled, made_faster = outcomes(run, ["level-ranks", f"slow-rank=0:{factor}"])
        equal = np.full(process.ranks, process.work.mean())
        level.append(held(levelled.prediction.change, process.truth(equal)[0]))
        change, share = process.truth(as_others)
        faster.append(held(made_faster.prediction.change, change))
        slowest = ladder(run).slowest
        if slowest.rank == 0:
            slow.append(held(slowest.change, change) and held(slowest.share, max(share, 0)))
    for found in (level, faster, slow):
        assert len(found) > len(seeds) / 2 and np.mean(found) >= 0.9


def test_interruptions_are_found_and_put_back():
    process = Process(9)
    times = process.times(process.work, CYCLES, 1)
    found = interruptions(times)
    counts = [len(one.cycles) for one in found]
    assert counts == (times > 0.5 * process.length_s).sum(axis=1).tolist() and sum(counts) > 20
    ordinary = without(times, found)
    assert ordinary.max() < 1.4 * BASE_S * process.work.max()
    assert np.allclose(put_back(ordinary, found), times)
    evened = [len(one.cycles) for one in evenly(found, CYCLES)]
    assert sum(evened) == sum(counts) and max(evened) - min(evened) <= max(counts) - min(counts)


@pytest.mark.parametrize("ranks", [2, 16])
def test_clean_times_have_no_interruptions_that_could_go(ranks):
    clean = np.random.default_rng(ranks).normal(1e-3, 5e-5, (ranks, CYCLES))
    assert not any(len(one.cycles) for one in interruptions(clean))
    assert NO_INTERRUPTIONS not in [one.name for one in helps(trace(clean))]


@pytest.mark.parametrize("chance", [0.001, 0.01, 0.03])
def test_without_interruptions_a_run_is_as_fast_as_one_that_has_none(chance):
    random = np.random.default_rng(5)
    clean = random.normal(1e-5, 5e-7, (4, CYCLES))
    hit = clean + 8e-3 * (random.random(clean.shape) < chance)
    found = {one.name: one.prediction.change for one in answer(trace(hit)).helps}
    truth = clean.max(axis=0).mean() / hit.max(axis=0).mean()
    assert found[NO_INTERRUPTIONS].value == pytest.approx(truth, rel=0.01)


def test_a_rank_as_fast_as_the_others_shortens_the_run_as_planted():
    random = np.random.default_rng(4)
    even = random.normal(1e-3, 5e-5, (8, CYCLES))
    slow = even.copy()
    slow[3] *= 1.15
    truth = even.max(axis=0).mean() / slow.max(axis=0).mean()
    (faster,) = outcomes(trace(slow), [f"slow-rank=3:{1 / 1.15}"])[1:]
    assert faster.prediction.change.value == pytest.approx(truth, abs=1e-3)
    slowest = ladder(trace(slow)).slowest
    assert slowest.rank == 3 and held(slowest.change, truth)


def slow_process(seed: int, course: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Times [rank, cycle] in which few ranks are slow, the same if they were as the others and if
    all ranks were as slow as their mean, and which ranks these are.

    `course`: "always", or "late" where they are slow in a part of the run only.
    """
    random = np.random.default_rng([seed, 13])
    ranks = int(random.choice([5, 8, 16]))
    count = 1
    if course == "always":
        count = 2
    slow = random.choice(ranks, count, replace=False)
    even = MILLISECOND * (1 + random.uniform(0.02, 0.08) * random.standard_normal((ranks, CYCLES)))
    more = np.zeros_like(even)
    begin = 0
    if course == "late":
        begin = int(random.uniform(0.3, 0.7) * CYCLES)
    factor = random.uniform(0.1, 0.4)
    more[slow, begin:] = factor
    mean = more.mean(axis=0)
    numbers = sorted(int(rank) for rank in slow)
    if random.random() < 0.5:
        return even * (1 + more), even, even * (1 + mean), numbers
    return even + MILLISECOND * more, even, even + MILLISECOND * mean, numbers


def run_over(after: np.ndarray, before: np.ndarray) -> float:
    """The run time of ranks with these times over that of others."""
    return float(after.max(axis=0).mean() / before.max(axis=0).mean())


@pytest.mark.parametrize("course", ["always", "late"])
@pytest.mark.parametrize("seeds", more_by_night(SEEDS, number=5))
@pytest.mark.slow
def test_two_slow_ranks_and_one_that_becomes_slow(seeds, course):
    named = []
    gain = []
    level = []
    for seed in seeds:
        slow, even, mean, ranks = slow_process(seed, course)
        run = trace(slow)
        slowest = ladder(run).slowest
        _, levelled = outcomes(run, ["level-ranks"])
        named.append(sorted([slowest.rank, *slowest.also]) == ranks and slowest.certain)
        assert slowest.throughout == (course == "always")
        gain.append(held(slowest.change, run_over(even, slow)))
        level.append(held(levelled.prediction.change, run_over(mean, slow)))
    for shares in (named, gain, level):
        assert np.mean(shares) >= 0.9


@pytest.mark.parametrize("seeds", more_by_night(SEEDS, number=5))
def test_a_factor_below_one_is_held_as_planted(seeds):
    found = []
    for seed in seeds:
        slow, even, _, (rank,) = slow_process(seed, "once")
        factor = float(even[rank].mean() / slow[rank].mean())
        (faster,) = outcomes(trace(slow), [f"slow-rank={rank}:{factor}"])[1:]
        found.append(held(faster.prediction.change, run_over(even, slow)))
    assert np.mean(found) >= 0.9


class Disturbed:
    """Equal ranks with cores that other programs take now and then, drawn from a seed."""

    def __init__(self, seed: int):
        random = np.random.default_rng([seed, 11])
        self.seed = seed
        self.ranks = int(random.choice([2, 4, 8]))
        self.sd_s = random.uniform(0.02, 0.2) * MILLISECOND
        self.length_s = random.uniform(2, 12) * MILLISECOND
        self.chance = 10 ** random.uniform(-4, -1.7)
        self.at_barriers = 10 ** random.uniform(-4, -1.7)

    def run(self, every: int, cycles: int, stream: int, times_as_often: float) -> CycleTrace:
        """A run whose ranks meet every so many cycles, with its cores lost so often."""
        random = np.random.default_rng([self.seed, stream])
        shape = (self.ranks, cycles)
        times = random.normal(MILLISECOND, self.sd_s, shape)
        times += self.length_s * (random.random(shape) < times_as_often * self.chance)
        lost = self.length_s * (random.random(cycles) < times_as_often * self.at_barriers)
        sums = times.reshape(self.ranks, -1, every).sum(axis=2)
        waited = sums.max(axis=0) - sums.mean(axis=0) + lost.reshape(-1, every).sum(axis=1)
        return CycleTrace(times, every, waited + 1e-5, disturbed="other processes")


def run_s(run: CycleTrace) -> float:
    """Mean time of a cycle."""
    return float((run.compute.mean() * run.cycles + run.waits.sum()) / run.cycles)


@pytest.mark.parametrize("times_as_often", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("seeds", more_by_night(SEEDS, number=5))
def test_intervals_of_disturbed_runs_hold_quieter_runs_and_busier_ones(seeds, times_as_often):
    waiting = []
    runtime = []
    narrow = []
    for seed in seeds:
        process = Disturbed(seed)
        seen = process.run(1, CYCLES, 1, 1.0)
        other = process.run(10, TRUTH_CYCLES, 2, times_as_often)
        setting = Setting.from_run(seen, "structure_aware", 10)
        found = predict(seen, setting)
        waited = float(other.waits.sum()) / other.cycles
        waiting.append(held(found.waiting.times(1e3 / seen.cycles), 1e3 * waited))
        runtime.append(held(found.runtime.times(1e3 / seen.cycles), 1e3 * run_s(other)))
        undisturbed = predict(replace(seen, disturbed=""), setting)
        narrow.append(held(undisturbed.runtime.times(1e3 / seen.cycles), 1e3 * run_s(other)))
    assert np.mean(waiting) >= 0.9 and np.mean(runtime) >= 0.9
    assert np.mean(narrow) < 0.9


def test_a_disturbed_run_that_lost_nothing_keeps_its_intervals():
    times = np.random.default_rng(4).normal(MILLISECOND, 0.2 * MILLISECOND, (4, CYCLES))
    found = []
    for run in (CycleTrace(times), CycleTrace(times, disturbed="other processes")):
        found.append(predict(run, Setting.from_run(run, "structure_aware", 10)))
    sure, unsure = found
    assert unsure.change.interval == pytest.approx(sure.change.interval)
    assert unsure.waiting.interval == pytest.approx(sure.waiting.interval)


@pytest.mark.parametrize("lost", [{"disturbed": "other processes"}, {"shares_cores": True}])
def test_where_lost_cores_do_not_show_no_run_is_surely_shorter(lost):
    mean_s = MILLISECOND
    if "disturbed" in lost:
        mean_s = 30 * MILLISECOND  # longer than a time slice
    times = np.random.default_rng(4).normal(mean_s, 0.2 * mean_s, (4, CYCLES))
    sure = CycleTrace(times)
    unsure = CycleTrace(times, **lost)
    found = [predict(run, Setting.from_run(run, "structure_aware", 10)) for run in (sure, unsure)]
    assert found[0].change.high < 1 <= found[1].change.high
    assert found[1].change.low < found[0].change.low
    assert found[0].change.value == found[1].change.value
    assert found[1].saved.low <= 0


@pytest.mark.parametrize("by_chance", [1.0, 1.5, 3.0])
def test_an_interval_reaches_as_far_beyond_a_disturbed_run_as_chance_allows(by_chance):
    """Quiet, it would take 2 less: with twice the losses, 2 more, or by chance times as much."""
    disturbed, quiet = Quantity(10.0, 9.5, 10.5), Quantity(8.0, 7.5, 8.5)
    reaching = _widened_to(disturbed, [quiet], by_chance, more=0.25, less=0.125)
    assert reaching.limits == pytest.approx((7.5, 10.75 + 2 * by_chance))
    faster = _widened_to(quiet, [disturbed], by_chance, more=0.0)
    assert faster.limits == pytest.approx((7.5 - 2 * by_chance, 10.5))
