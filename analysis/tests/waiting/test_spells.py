"""Slow spells of a rank: planted ones are named with rank and cycles, and no others are."""

import numpy as np
import pytest
from drifting import noise

from spikemark.waiting.answer import answer
from spikemark.waiting.spells import spells
from spikemark.waiting.trace import trace


def calm(seed, most=0.2) -> np.ndarray:
    """Times [rank, cycle] of ranks that drift, but have no spells."""
    random = np.random.default_rng(seed)
    ranks = int(random.choice([2, 3, 4, 8, 16]))
    cycles = int(random.choice([600, 1000, 2000, 5000]))
    correlation, white = random.choice([0, 0.9, 0.97, 0.99]), random.choice([0, 0.5, 0.9])
    sd = random.choice([sd for sd in (0.01, 0.05, 0.1, 0.2) if sd <= most])
    lasting = 1 + 0.05 * random.standard_normal((ranks, 1))
    times = 1e-3 * lasting * (1 + sd * noise(random, ranks, cycles, correlation, white))
    return np.maximum(times, 1e-4)


@pytest.mark.slow
def test_drift_is_no_spell():
    named = [seed for seed in range(200) if spells(calm(seed))]
    assert not named


def test_interruptions_are_no_spells():
    for seed in range(60):
        times = calm(seed, most=0.05)
        random = np.random.default_rng(seed)
        lost = random.random(times.shape) < 0.02
        times[lost] += random.uniform(2e-3, 12e-3, int(lost.sum()))
        assert not spells(times)


@pytest.mark.parametrize("factor", [1.2, 1.5, 2, 3])
def test_planted_spells_are_named_with_rank_and_cycles(factor):
    most = 0.02 if factor < 1.5 else 0.05  # SD of the drift
    found = 0
    tries = 50
    for seed in range(tries):
        times = calm(1000 + seed, most)
        ranks, cycles = times.shape
        random = np.random.default_rng(seed)
        length = int(random.uniform(0.05, 0.5) * cycles)
        first = int(random.uniform(0.05, 0.9) * (cycles - length))
        rank = int(random.integers(ranks))
        times[rank, first : first + length] *= factor
        named = spells(times)
        assert {spell.row for spell in named} <= {rank}
        ends = [(spell.first - first, spell.last + 1 - first - length) for spell in named]
        found += any(max(abs(a), abs(b)) <= 0.03 * cycles for a, b in ends)
    assert found >= 0.9 * tries


@pytest.mark.parametrize("factor", [1.2, 1.5])
@pytest.mark.parametrize("begins", [True, False], ids=["from", "until"])
def test_a_planted_change_is_named_with_rank_and_cycle(factor, begins):
    """A rank that stays slow, or was slow at first; the last sixth of a run, too."""
    found = 0
    tries = 50
    for seed in range(tries):
        times = calm(2000 + seed, most=0.02)
        ranks, cycles = times.shape
        random = np.random.default_rng(seed)
        change = int(random.choice([1 / 6, 1 / 2, 5 / 6]) * cycles)
        rank = int(random.integers(ranks))
        slow = slice(change, cycles) if begins else slice(0, change)
        times[rank, slow] *= factor
        named = spells(times)
        assert {spell.row for spell in named} <= {rank}
        for spell in named:
            at = spell.first if begins else spell.last + 1
            whole = (spell.last == cycles - 1) if begins else (spell.first == 0)
            close = abs(spell.longer - (factor - 1)) <= 0.05
            found += whole and close and abs(at - change) <= 0.03 * cycles
    assert found >= 0.9 * tries


@pytest.mark.slow
def test_long_drift_is_hardly_ever_a_spell():
    named = 0
    tries = 300
    for seed in range(tries):
        random = np.random.default_rng([seed, 11])
        ranks, cycles = int(random.choice([2, 4, 8, 32])), int(random.choice([300, 1000, 6000]))
        white, sd = random.choice([0, 0.5, 0.9]), random.choice([0.01, 0.05, 0.1])
        correlation = random.choice([0.99, 0.995, 0.999])
        times = 1e-3 * (1 + sd * noise(random, ranks, cycles, correlation, white))
        named += bool(spells(np.maximum(times, 1e-4)))
    assert named < 0.02 * tries


def test_what_rises_slowly_has_no_cycle_from_which_on_it_is_slow():
    for seed in range(20):
        times = calm(seed, most=0.02)
        rise = np.linspace(1, 1.3, times.shape[1])
        times[0] *= rise
        assert not spells(times)


def test_a_slow_spell_is_in_the_answer():
    times = np.random.default_rng(1).normal(1e-3, 2e-5, (8, 2000))
    times[2, 800:1200] *= 2
    explained = answer(trace(times))
    (spell,) = explained.content()["spells"]
    assert (spell["rank"], spell["node"]) == (2, None)
    assert abs(spell["first"] - 800) <= 2 and abs(spell["last"] - 1199) <= 2
    assert spell["longer"] == pytest.approx(1, abs=0.05)
    calm_times = times.copy()
    calm_times[2, 800:1200] /= 2
    without = trace(calm_times)
    share = 1 - without.waits.sum() / trace(times).waits.sum()
    assert spell["share"] == pytest.approx(share, abs=0.03)
    shorter = calm_times.max(axis=0).sum() / times.max(axis=0).sum()
    assert spell["change"] == pytest.approx(shorter, abs=0.01)
    line = next(line for line in explained.lines if "before and after" in line)
    assert "rank 2" in line and "800" in line
    assert not any("interruptions" in line for line in explained.lines)
    assert not any("always" in line for line in explained.lines)
