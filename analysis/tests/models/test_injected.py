"""Injected compute times: their moments, and what a run description says of them."""

import numpy as np
import pytest

from spikemark.models.injected import Truth


def test_drawn_times_have_the_moments_asked_for():
    truth = Truth(2.0, 0.2, 0.8, rank_sd_s=0.5)
    c = truth.draw(np.random.default_rng(1), 200, 2000)
    deviation = c - c.mean(axis=1, keepdims=True)
    assert c.mean() == pytest.approx(2.0, abs=0.12)
    assert c.mean(axis=1).std() == pytest.approx(0.5, rel=0.15)
    assert deviation.std() == pytest.approx(0.2, rel=0.03)
    assert c[:, 0].std() == pytest.approx(np.hypot(0.5, 0.2), rel=0.15)  # stationary from the first cycle
    assert (deviation[:, 1:] * deviation[:, :-1]).mean() / deviation.var() == pytest.approx(0.8, abs=0.02)


def test_truth_of_a_description():
    inject = {"mean_us": 1500, "sd_us": 150, "correlation": 0.9, "rank_sd_us": 20, "wait": "sleep"}
    given = {"inject": {**inject, "minor_mode": {"share": 0.25, "factor": 3}}}
    truth = Truth.of(given)
    assert truth == Truth(1.5e-3, pytest.approx(1.5e-4), 0.9, pytest.approx(2e-5), 0.25, 3)
    c = Truth(1.0, 0.0, minor_share=0.25, minor_factor=3).draw(np.random.default_rng(1), 10, 4000)
    assert set(np.unique(c)) == {1.0, 3.0}
    assert (c == 3).mean() == pytest.approx(0.25, abs=0.02)
    assert Truth.of({}) == Truth(0, 0)
