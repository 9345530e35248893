"""Rare long cycles: of the whole machine, of one rank; and what is no waiting at all."""

import numpy as np
import pytest

from spikemark.models.injected import Truth
from spikemark.waiting import PREDICTORS

REALISTIC = ("correlated", "replay")


def times(seed: int, ranks: int, cycles: int) -> np.ndarray:
    return Truth(mean_s=50e-6, sd_s=5e-6).draw(np.random.default_rng(seed), ranks, cycles)


@pytest.mark.parametrize("plan", [("conventional", 1, 0), ("structure_aware", 10, 0), ("overlapped", 10, 1)])
def test_a_stall_of_all_ranks_is_no_long_tail(plan):
    """One cycle in which the whole machine stood still for hundreds of cycles changes little."""
    c = times(7, 8, 10_000)
    stalled = c.copy()
    stalled[:, 4321] += 20e-3 + 10e-6 * np.arange(8)
    for name in REALISTIC:
        fits = [PREDICTORS[name].fit(x) for x in (c, stalled)]
        usual, found = (fit.predict(plan[0], plan[1], lag=plan[2]) for fit in fits)
        assert found.waiting_s == pytest.approx(usual.waiting_s, rel=0.05)


def test_rounding_is_no_waiting():
    """Two ranks that never met in a run waited 1e-18 s here and there, of which an interval was made."""
    c = times(22, 4, 800)
    shuffled = 1e3 * np.random.default_rng(22).permutation(c)
    a, b = (PREDICTORS["correlated"].fit(x).predict("overlapped", 4, ranks=2) for x in (c, shuffled))
    assert 1e3 * np.array(a.waiting.interval) == pytest.approx(np.array(b.waiting.interval), rel=1e-6)


def test_a_stall_of_one_rank_is_waited_for():
    c = times(8, 8, 10_000)
    stalled = c.copy()
    stalled[3, 4321] += 20e-3
    for name in REALISTIC:
        usual, found = (PREDICTORS[name].fit(x).predict("conventional").waiting_s for x in (c, stalled))
        assert found - usual == pytest.approx(7 / 8 * 20e-3, rel=0.1)
