"""Slow ranks: planted ones are named whatever befalls the others, and no others are."""

import numpy as np
import pytest
from drifting import EVENTS, befallen, noise

from spikemark.quantities.quantity import Quantity
from spikemark.waiting.answer import answer
from spikemark.waiting.ladder import Ladder, SlowestRank, ladder
from spikemark.waiting.sentences import slow_rank
from spikemark.waiting.trace import trace

TRIES = 40


def even(random, correlations, most) -> np.ndarray:
    """Times [rank, cycle] of ranks that are equally fast."""
    ranks = int(random.choice([5, 8, 16, 32]))
    cycles = int(random.choice([1000, 3000]))
    correlation, white = random.choice(correlations), random.choice([0, 0.5, 0.9])
    sd = random.choice([0.01, most])
    return np.maximum(1e-3 * (1 + sd * noise(random, ranks, cycles, correlation, white)), 1e-4)


def named(slowest: SlowestRank) -> set[int]:
    return {slowest.rank, *slowest.also} if slowest.certain else set()


def sentence(found: Ladder) -> str:
    cycle_s = found.computing.number + found.waiting.number
    return slow_rank(found.slowest, found.parts["imbalance"], cycle_s)


def test_no_rank_is_named_where_all_are_equally_fast():
    said = 0
    for seed in range(TRIES):
        random = np.random.default_rng([seed, 7])
        times = even(random, [0, 0.9, 0.97], most=0.1)
        befallen(random, times, 0, random.choice(["none", "one", "many"]))
        said += bool(sentence(ladder(trace(times))))
    assert said <= 0.05 * TRIES


@pytest.mark.parametrize("event", EVENTS)
def test_planted_slow_ranks_are_named_whatever_befalls_another(event):
    found = 0
    tries = TRIES // 2
    for seed in range(tries):
        random = np.random.default_rng([seed, 8])
        times = even(random, [0, 0.9], most=0.05)
        chosen = random.permutation(len(times))
        slow, other = chosen[: random.integers(1, 3)], int(chosen[-1])
        times[slow] *= random.uniform(1.08, 1.3, (len(slow), 1))
        befallen(random, times, other, event)
        slowest = ladder(trace(times)).slowest
        assert named(slowest) <= set(slow.tolist()) | {other}
        found += named(slowest) >= set(slow.tolist())
    assert found >= 0.9 * tries


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("event", EVENTS)
def test_not_all_of_a_few_ranks_are_slower_than_the_others(event):
    """Of two ranks, one is always slower, and what befalls the other one can take more time."""
    for seed in range(TRIES // 2):
        random = np.random.default_rng([seed, 9])
        ranks = int(random.choice([2, 3, 4]))
        times = 1e-3 * (1 + 0.01 * random.standard_normal((ranks, 1000)))
        times[1] *= random.uniform(1.02, 1.06)
        befallen(random, times, 0, event)
        lost = random.random(1000) < 0.01
        times[0, lost] += random.uniform(5e-3, 2e-2)
        slowest = ladder(trace(times)).slowest
        assert 1 + len(slowest.also) < ranks
        for quantity in (slowest.longer, slowest.share, slowest.change):
            assert np.isfinite([quantity.number, *quantity.limits]).all()


def test_slow_ranks_are_named_in_one_sentence():
    random = np.random.default_rng(3)
    times = random.normal(1e-3, 5e-5, (16, 2000))
    factors = {11: 1.12, 3: 1.08, 6: 1.2, 2: 1.16}
    for count in (1, 2, 3, 4):
        ranks = list(factors)[:count]
        slow = times.copy()
        slow[ranks] *= np.array([factors[rank] for rank in ranks])[:, None]
        explained = answer(trace(slow))
        slowest = explained.ladder.slowest
        assert [slowest.rank, *slowest.also] == sorted(ranks, key=lambda rank: -factors[rank])
        assert slowest.throughout and isinstance(slowest.longer, Quantity)
        (line,) = [line for line in explained.lines if line.startswith("Rank")]
        assert str(slowest.rank) in line and line.count(" more ") == (count > 2)


def test_a_rank_with_two_modes_is_named():
    random = np.random.default_rng(3)
    times = random.normal(1e-3, 2e-5, (8, 5000))
    times[3, random.random(5000) < 0.2] *= 1.4
    assert named(ladder(trace(times)).slowest) == {3}


@pytest.mark.parametrize("spell", [False, True])
def test_slow_spells_are_spoken_of_where_there_are_some(spell):
    times = 1e-3 * (1 + 0.03 * noise(np.random.default_rng(5), 8, 3000, 0.9, 0))
    if spell:
        times[2, 1000:1500] *= 1.5
    explained = answer(trace(times))
    assert bool(explained.ladder.spells) == spell
    parts = [line for line in explained.lines if line.startswith("  drift")]
    assert len(parts) == 1 and "spell" not in parts[0]
    assert any("spells" in line for line in explained.lines) == spell


@pytest.mark.parametrize(
    "first, last", [(3000, 5999), (5000, 5999), (0, 999)], ids=["half", "tail", "beginning"]
)
def test_a_rank_that_is_slow_until_or_from_a_cycle_on_is_named_once_with_the_cycle(first, last):
    times = 1.2e-3 * (1 + 0.03 * noise(np.random.default_rng(1), 4, 6000, 0.5, 0))
    times[2, first : last + 1] *= 1.1
    explained = answer(trace(times))
    content = explained.content()
    (spell,) = content["spells"]
    assert abs(spell["first"] - first) <= 20 and abs(spell["last"] - last) <= 20
    assert (spell["faster_before"], spell["faster_after"]) == (first > 0, last < 5999)
    assert spell["longer"] == pytest.approx(0.1, abs=0.01)
    assert not content["slowest"]["besides_spells"]
    (line,) = [line for line in explained.lines if "rank 2" in line.lower()]
    assert f"{spell['first'] or spell['last']:,}".replace(",", "\u202f") in line
    assert any("late on average" in line for line in explained.lines)


def test_a_rank_that_is_always_slow_is_named_beside_the_spell_of_another():
    times = 1.2e-3 * (1 + 0.02 * noise(np.random.default_rng(1), 8, 6000, 0.5, 0))
    times[5] *= 1.1
    times[2, 4000:] *= 1.4
    found = ladder(trace(times))
    assert [(spell.rank, spell.faster_after) for spell in found.spells] == [(2, False)]
    assert found.slowest.besides_spells and 5 in named(found.slowest)
    assert sentence(found)


def test_the_step_of_one_rank_does_not_make_others_change():
    """A mean over all ranks has the step, too."""
    times = 1.2e-3 * (1 + 0.01 * noise(np.random.default_rng(1), 8, 6000, 0.5, 0))
    times[5] *= 1.2
    times[2, 3000:] *= 1.12
    slowest = ladder(trace(times)).slowest
    assert named(slowest) == {5} and slowest.throughout


def test_each_slow_rank_has_its_own_percentage():
    times = np.random.default_rng(3).normal(1e-3, 5e-5, (16, 2000))
    factors = {11: 1.24, 3: 1.18, 6: 1.12}
    for count in (1, 2, 3):
        ranks = list(factors)[:count]
        slow = times.copy()
        slow[ranks] *= np.array([factors[rank] for rank in ranks])[:, None]
        explained = answer(trace(slow))
        slowest = explained.content()["slowest"]
        shares = [one["value"] for one in slowest["longer_of_each"]]
        assert shares == pytest.approx([factors[rank] - 1 for rank in ranks], abs=0.01)
        assert slowest["longer"]["value"] == pytest.approx(np.mean(shares))
        (line,) = [line for line in explained.lines if line.startswith("Rank")]
        for share in (shares[0], shares[-1]):
            assert f" {100 * share:.0f}\u202f%" in line
