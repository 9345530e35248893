"""Predicted misses of delivery against caches that are simulated here, line by line."""

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.models import caches as model

LINE = 64
NOTHING = model.Delivery(
    steps=1000,
    before=1000,
    events=0,
    first_accesses=0,
    spikes=0,
    neurons=0,
    synapse=4,
    synapses=0,
    starts=0,
    ring=0,
    profile=np.ones(1),
)


class Lru:
    """The cache of the model: any line anywhere, the least recently used one leaves."""

    def __init__(self, lines: int):
        self.lines, self.held = lines, OrderedDict()

    def miss(self, line) -> bool:
        if line in self.held:
            self.held.move_to_end(line)
            return False
        self.held[line] = None
        if len(self.held) > self.lines:
            self.held.popitem(last=False)
        return True


def without_starts(d: model.Delivery) -> model._Touched:
    """The array of list starts takes no room."""
    touched = model._Touched(d, LINE)
    touched.starts.lines = 0
    return touched


def test_lines_of_lists_that_lie_one_behind_the_other():
    rng = np.random.default_rng(1)
    lengths = rng.poisson(rng.choice([1, 7, 60, 900], 4000))
    ends = np.cumsum(lengths)
    first, last = 4 * (ends - lengths) // LINE, (4 * ends - 1) // LINE
    entered = lengths > 0
    d = replace(
        NOTHING,
        events=lengths.sum(),
        first_accesses=entered.sum(),
        synapses=4.0 * ends[-1],
        starts=16000,
    )
    assert model.prediction(d, 1 << 20)["lists"].visits == pytest.approx(
        (last - first + 1)[entered].sum(), rel=0.01
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_of_one_region_at_random_a_cache_holds_its_share(share):
    lines = 10_000  # each a list of its own, entered once in the run, at random
    d = replace(
        NOTHING,
        events=1e5,
        first_accesses=1e5,
        synapse=LINE,
        synapses=LINE * lines,
        starts=4 * lines,
    )
    d = replace(d, starts=4.0)  # found without an array to speak of
    found = model.prediction(d, round(share * lines) * LINE)
    assert found["lists"].misses / found["lists"].visits == pytest.approx(1 - share, abs=0.01)


def lists_at_intervals(share: int, period: int, steps: int, held: int, rng) -> float:
    """Share of misses where `share` lists lie on a line and every list is entered once in a
    period.
    """
    lines = 3000
    phase = rng.integers(period, size=lines * share)
    lru, misses, visits = Lru(held), 0, 0
    for step in range(2 * period + steps):
        for source in rng.permutation(np.flatnonzero(phase == step % period)):
            missed = lru.miss(source // share)
            if step >= 2 * period:
                misses, visits = misses + missed, visits + 1
    return misses / visits


@pytest.mark.parametrize("share, held", [(1, 1500), (4, 1500), (16, 1000), (16, 2500), (4, 3001)])
def test_neurons_that_fire_at_intervals(share, held):
    period, steps, lines = 200, 200, 3000
    simulated = lists_at_intervals(share, period, steps, held, np.random.default_rng(2))
    n = lines * share
    d = replace(
        NOTHING,
        steps=steps,
        before=2 * period,
        events=n,
        first_accesses=n,
        synapse=LINE // share,
        synapses=LINE * lines,
        starts=4 * n,
        regular=True,
    )
    touched = without_starts(d)
    assert touched.lists.missed(touched.time(held)) == pytest.approx(simulated, abs=0.02)


def ring_of_rows(
    profile: np.ndarray, rows_lines: int, per_step: int, held: int, steps: int, rng
) -> float:
    """Share of misses in a ring whose rows are emptied when used, with deliveries ahead by
    `profile`.
    """
    slots, lru, misses, visits = len(profile), Lru(held), 0, 0
    for step in range(steps):
        ahead = rng.choice(slots, size=per_step, p=profile)
        for row, line in zip(
            (step + ahead) % slots, rng.integers(rows_lines, size=per_step), strict=True
        ):
            missed = lru.miss((row, line))
            if step >= 4 * slots:
                misses, visits = misses + missed, visits + 1
        for line in range(rows_lines):
            lru.miss((step % slots, line))
    return misses / visits


@pytest.mark.parametrize("held", [600, 1200, 1700, 3000])
@pytest.mark.parametrize("shape", ["even", "near"])
def test_ring_inside_and_outside_the_cache(held, shape):
    slots, rows_lines, per_step, steps = 40, 50, 150, 800  # 2000 lines
    profile = np.ones(slots) if shape == "even" else np.exp(-np.arange(slots) / 8)
    profile /= profile.sum()
    simulated = ring_of_rows(profile, rows_lines, per_step, held, steps, np.random.default_rng(3))
    d = replace(
        NOTHING,
        steps=steps,
        events=steps * per_step,
        ring=slots * rows_lines * LINE,
        profile=profile,
    )
    found = model.prediction(d, held * LINE)["ring"]
    assert found.misses / found.visits == pytest.approx(simulated, abs=0.02)


@pytest.mark.parametrize("regular", [True, False])
def test_a_cache_that_holds_all_that_was_built_misses_nothing(regular):
    d = replace(
        NOTHING,
        steps=100,
        before=0,
        events=5000,
        first_accesses=500,
        synapses=4e5,
        starts=4e4,
        ring=4e4,
        neurons=500,
        spikes=100,
        regular=regular,
    )
    assert sum(term.misses for term in model.prediction(d, 1 << 20).values()) < 1e-6
    assert sum(term.misses for term in model.prediction(NOTHING, 1 << 20).values()) == 0


def test_what_a_run_has_not_met_before_is_a_miss():
    d = replace(
        NOTHING,
        steps=100,
        before=0,
        events=5000,
        first_accesses=500,
        synapses=4e5,
        starts=4e4,
        regular=True,
    )
    everything = model.prediction(d, 430_000)  # but a tenth of the starts
    assert (
        everything["lists"].misses > 0.9 * everything["lists"].visits
    )  # each list once, neighbours later
    warm = model.prediction(replace(d, before=10**6), 1 << 30)
    assert sum(term.misses for term in warm.values()) == 0


def test_a_larger_cache_misses_less():
    d = replace(
        NOTHING, events=8e5, first_accesses=8e4, synapses=4e6, starts=4e4, spikes=1000, neurons=4000
    )
    d = replace(d, ring=4e5, profile=np.ones(20) / 20, routes=64e3, others=48e3, before=10**6)
    misses = [
        sum(t.misses for t in model.prediction(d, size).values()) for size in 2 ** np.arange(12, 26)
    ]
    assert (np.diff(misses) <= 1e-6).all() and misses[-1] < 1 < misses[0]


def test_misses_that_a_first_access_has_more():
    shares = np.array([0.1, 0.2, 0.5])
    assert model.fit(shares, 0.2 + 3 * shares) == pytest.approx(3)
    with pytest.raises(BadInput, match="2 different values"):
        model.fit(np.array([0.1, 0.1, 0.5]), shares)
