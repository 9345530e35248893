"""Drift of a machine from repetition to repetition."""

import numpy as np
import pytest

from spikemark.studies import blocks


def test_planted_drift_is_found_whatever_single_runs_say():
    drift = {1: 1.0, 2: 1.3, 3: 0.9, 4: 1.0, 5: 2.0}
    runs = [(setup, block, (setup + 1) * slower) for setup in range(20) for block, slower in drift.items()]
    runs = [(s, b, 10 * t if (s, b) == (3, 4) else t) for s, b, t in runs if (s, b) != (7, 1)]
    assert blocks.slower(runs) == pytest.approx(drift)


def test_without_drift_nothing_changes():
    rng = np.random.default_rng(1)
    runs = [(s, b, np.exp(s + 0.01 * rng.standard_normal())) for s in range(50) for b in range(9)]
    assert all(abs(factor - 1) < 0.01 for factor in blocks.slower(runs).values())
    assert blocks.slower([]) == {} and blocks.slower([("a", 1, 3.0)]) == {1: 1.0}
