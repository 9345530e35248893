"""Maxima of normals: published check values, exact cases, Monte Carlo."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.models import order_statistics as model


def blom(m: int) -> float:
    """Blom's approximation of x_M, 5 % high at m = 2."""
    return special.ndtri((m - 0.375) / (m + 0.25))


@pytest.fixture
def published(data):
    return pd.read_csv(data / "lober_order_statistics.csv")


def test_published_values(published):
    for row in published.to_dict("records"):
        m = int(row["M"])
        assert model.expected_maximum(m) == pytest.approx(row["xi_M_exact"], abs=6e-6)
        assert blom(m) == pytest.approx(row["xi_M_blom_a0.375"], abs=6e-6)
        for level in (95, 99):  # the maximum lies above the low end of the interval with this probability
            low, _ = model.interval_of_maxima(0, 1, m, 1 - 2 * (1 - level / 100))
            assert special.ndtr(-low) == pytest.approx(row[f"p_needed_for_{level}pct"], abs=6e-6)


def test_closed_forms():
    assert model.expected_maximum(1) == 0
    assert model.expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-9)
    assert model.expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)


def test_many_ranks_follow_bloms_approximation():
    for m in (1_000, 100_000, 10_000_000):
        assert model.expected_maximum(m) == pytest.approx(blom(m), rel=0.02)


def test_interval_holds_the_maxima_of_a_simulation():
    rng = np.random.default_rng(1)
    for m in (1, 2, 8, 64):
        maxima = rng.normal(3.0, 0.5, (40_000, m)).max(axis=1)
        low, high = model.interval_of_maxima(3.0, 0.5, m, 0.9)
        assert np.mean(maxima < low) == pytest.approx(0.05, abs=0.005)
        assert np.mean(maxima > high) == pytest.approx(0.05, abs=0.005)


@given(m=st.integers(1, 10_000))
def test_more_ranks_wait_longer(m):
    assert model.expected_maximum(m) < model.expected_maximum(m + 1)


@pytest.mark.parametrize("m", [0, -1, 1.5])
def test_impossible_ranks(m):
    with pytest.raises(BadInput, match=f"m={m}"):
        model.expected_maximum(m)


def test_impossible_probabilities():
    with pytest.raises(BadInput, match="level=1"):
        model.interval_of_maxima(0, 1, 2, 1)
    with pytest.raises(BadInput, match="sd=-1"):
        model.interval_of_maxima(0, -1, 2)
