"""Shares by coincidence: planted causes are found with their share, others are not, and shares add up."""

import numpy as np
import pytest

from spikemark.waiting import coincidence
from spikemark.waiting.coincidence import BLOCKS, Intervals

N, LENGTH_S = 4000, 0.01
CAUSE, TWIN, OTHER, RARE = (
    ("softirqs", "NET_RX"),
    ("interrupts", "eth0"),
    ("softirqs", "RCU"),
    ("stat", "steal"),
)


def planted(seed: int, share: float, many: int = 0) -> Intervals:
    """A tenth of the intervals holds packets, each an interrupt and a softirq, which cost time.

    `share` of the lost time is theirs; the rest falls on any interval. RCU and `many` others mean nothing.
    """
    rng = np.random.default_rng(seed)
    packets = np.where(rng.random(N) < 0.04, rng.poisson(50, N), 0)
    ordinary = {name: rng.poisson(3, N) for name in [OTHER, *(("interrupts", str(i)) for i in range(many))]}
    counts = {CAUSE: packets + rng.poisson(1, N), TWIN: packets, RARE: (rng.random(N) < 0.002), **ordinary}
    lost = 1e-5 * packets
    elsewhere = np.where(rng.random(N) < 0.03, rng.exponential(1.0, N), 0.0)
    if share < 1:
        lost = lost + elsewhere * (lost.sum() / elsewhere.sum()) * (1 - share) / share if share else elsewhere
    rates = {name: count / LENGTH_S for name, count in counts.items()}
    exposed = {name: coincidence.exposed(rate, lost) for name, rate in rates.items()}
    block = (BLOCKS * np.arange(N) / N).astype(int)
    return Intervals(lost, np.full(N, LENGTH_S), block, exposed, rates)


@pytest.mark.parametrize("share", [1.0, 0.7, 0.3])
def test_the_share_of_a_planted_cause_lies_in_its_interval(share):
    inside = 0
    for seed in range(40):
        found = {(c.source, c.name): c for c in coincidence.coincidences(planted(seed, share))}
        assert CAUSE in found and found[CAUSE].with_loss > found[CAUSE].without
        low, high = found[CAUSE].share.interval
        inside += low - 1e-9 <= share <= high + 1e-9
    assert inside >= 36  # the intervals are of 95 % for all causes together


def test_what_means_nothing_is_hardly_ever_named():
    named = [c for seed in range(60) for c in coincidence.coincidences(planted(seed, 0.0, many=20))]
    assert len(named) <= 6  # 5 % of 60, with room for chance


def test_causes_that_come_together_share_what_they_explain_together():
    found = planted(1, 0.7)
    alone = coincidence.divided(found, [CAUSE])[CAUSE].value
    both = coincidence.divided(found, [CAUSE, TWIN])
    assert sum(one.value for one in both.values()) == pytest.approx(alone, abs=0.03)
    assert both[CAUSE].value == pytest.approx(both[TWIN].value, abs=0.05)
    assert coincidence.divided(found, []) == {}


def test_a_cause_of_every_interval_explains_nothing():
    always, lost = np.full(N, 100.0), np.zeros(N)
    lost[::7] = 1.0
    assert not coincidence.exposed(always, lost).any()


def test_too_few_ordinary_intervals_say_nothing_of_what_is_usual():
    assert coincidence.exposed(np.arange(40.0), np.ones(40)) is None
