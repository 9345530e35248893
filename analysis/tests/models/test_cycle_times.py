"""Statistics of cycle times: maxima of normals, serial correlation, sums over windows, injected
times.
"""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special
from synthetic import compute_times

from spikemark.core.errors import BadInput
from spikemark.models import order_statistics, serial, statistics
from spikemark.models.injected import Truth
from spikemark.models.order_statistics import expected_maximum, interval_of_maxima

COMPUTE = np.array([[1.0, 2.0, 3.0, 4.0, 9.0], [2.0, 2.0, 1.0, 1.0, 9.0]])


def blom(m: int) -> float:
    """Blom's approximation of x_M, 5 % high at m = 2."""
    return special.ndtri((m - 0.375) / (m + 0.25))


def test_published_maxima(data):
    for row in pd.read_csv(data / "lober_order_statistics.csv").to_dict("records"):
        m = int(row["M"])
        assert expected_maximum(m) == pytest.approx(row["xi_M_exact"], abs=6e-6)
        assert blom(m) == pytest.approx(row["xi_M_blom_a0.375"], abs=6e-6)
        for level in (
            95,
            99,
        ):  # the maximum lies above the low end of the interval with this probability
            low, _ = interval_of_maxima(0, 1, m, 1 - 2 * (1 - level / 100))
            assert special.ndtr(-low) == pytest.approx(row[f"p_needed_for_{level}pct"], abs=6e-6)


def test_closed_forms_of_maxima_and_many_ranks():
    assert expected_maximum(1) == 0
    assert expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-9)
    assert expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)
    for m in (1_000, 100_000, 10_000_000):
        assert expected_maximum(m) == pytest.approx(blom(m), rel=0.02)


def test_interval_holds_the_maxima_of_a_simulation():
    rng = np.random.default_rng(1)
    for m in (1, 2, 8, 64):
        maxima = rng.normal(3.0, 0.5, (40_000, m)).max(axis=1)
        low, high = interval_of_maxima(3.0, 0.5, m, 0.9)
        assert np.mean(maxima < low) == pytest.approx(0.05, abs=0.005)
        assert np.mean(maxima > high) == pytest.approx(0.05, abs=0.005)


@given(m=st.integers(1, 10_000))
def test_more_ranks_wait_longer(m):
    assert expected_maximum(m) < expected_maximum(m + 1)


def ar1_times(phi: float, ranks: int = 4, cycles: int = 50_000) -> np.ndarray:
    return compute_times(ranks, cycles, mean_s=50e-6, cv=0.1, ar1=phi, rank_sd=0.2, seed=3)


def test_autocorrelation_is_that_of_the_definition():
    for rank in ar1_times(0.7, ranks=3, cycles=501):
        deviation = rank - rank.mean()
        products = np.correlate(deviation, deviation, "full")[500:551]
        rho = serial.pooled_autocorrelation(rank[None], 50)
        np.testing.assert_allclose(rho, products / products[0], atol=1e-12)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_planted_correlation_is_found(phi):
    rho = serial.pooled_autocorrelation(ar1_times(phi), 1000)
    np.testing.assert_allclose(rho[:6], phi ** np.arange(6), atol=0.02)
    assert serial.integrated_time(rho) == pytest.approx((1 + phi) / (1 - phi), rel=0.1)


def test_published_ratios_of_equally_correlated_cycles(data):
    table = pd.read_csv(data / "lober_sync_ratio.csv").set_index("D")
    columns = {0.0: "CV_ratio=1/sqrt(D)", 0.05: "CV_ratio_with_rho=0.05"}
    columns |= {
        float(name.split("=")[1]): name for name in table.columns if name.startswith("rho=")
    }
    assert len(columns) == 5
    for rho, name in columns.items():
        correlation = np.r_[1.0, np.full(100, rho)]
        for d, value in table[name].items():
            assert serial.lumped_cv_ratio(correlation, d) == pytest.approx(value, abs=6e-6)


def test_rank_differences_do_not_pass_for_correlation():
    compute = np.random.default_rng(1).normal(0, 1, (3, 20_000)) + np.array(
        [[0.0], [50.0], [100.0]]
    )
    assert abs(serial.pooled_autocorrelation(compute, 10)[1:]).max() < 0.02
    assert np.isnan(serial.pooled_autocorrelation(np.full((2, 100), 0.1))).all()


SHAPES = st.tuples(st.integers(1, 4), st.integers(2, 60))


@settings(max_examples=50)
@given(hnp.arrays(np.float64, SHAPES, elements=st.floats(0, 1, width=16)))
def test_autocorrelation_is_bounded_and_starts_at_one(compute):
    rho = serial.pooled_autocorrelation(compute)
    if (np.ptp(compute, axis=1) > 0).any():
        assert rho[0] == pytest.approx(1) and (abs(rho) <= 1 + 1e-9).all()
    else:
        assert np.isnan(rho).all() and np.isnan(serial.integrated_time(rho))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lumping_keeps_leading_axes_and_the_precision(kind):
    runs = np.arange(24, dtype=kind).reshape(2, 3, 4)
    found = statistics.lump(runs, 2)
    assert found.dtype == kind and found.shape == (2, 3, 2)
    np.testing.assert_array_equal(found, runs[..., ::2] + runs[..., 1::2])
    np.testing.assert_array_equal(statistics.lump(runs[0, 0], 3), [3])
    np.testing.assert_array_equal(statistics.lump(runs, 1), runs)
    np.testing.assert_array_equal(
        statistics.lump(COMPUTE, 2), [[3, 7], [4, 2]]
    )  # the fifth cycle left out


def test_injected_times_have_the_moments_asked_for():
    truth = Truth(2.0, 0.2, 0.8, rank_sd_s=0.5)
    c = truth.draw(np.random.default_rng(1), 200, 2000)
    deviation = c - c.mean(axis=1, keepdims=True)
    assert c.mean() == pytest.approx(2.0, abs=0.12)
    assert c.mean(axis=1).std() == pytest.approx(0.5, rel=0.15)
    assert deviation.std() == pytest.approx(0.2, rel=0.03)
    assert c[:, 0].std() == pytest.approx(
        np.hypot(0.5, 0.2), rel=0.15
    )  # stationary from the first cycle
    assert (deviation[:, 1:] * deviation[:, :-1]).mean() / deviation.var() == pytest.approx(
        0.8, abs=0.02
    )


def test_what_a_description_injects():
    inject = {"mean_us": 1500, "sd_us": 150, "correlation": 0.9, "rank_sd_us": 20, "wait": "sleep"}
    truth = Truth.from_description(
        {"inject": {**inject, "minor_mode": {"share": 0.25, "factor": 3}}}
    )
    assert truth == Truth(1.5e-3, pytest.approx(1.5e-4), 0.9, pytest.approx(2e-5), 0.25, 3)
    c = Truth(1.0, 0.0, minor_share=0.25, minor_factor=3).draw(np.random.default_rng(1), 10, 4000)
    assert set(np.unique(c)) == {1.0, 3.0} and (c == 3).mean() == pytest.approx(0.25, abs=0.02)
    assert Truth.from_description({}) == Truth(0, 0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        *((lambda m=m: order_statistics.expected_maximum(m), f"m={m}") for m in (0, -1, 1.5)),
        (lambda: serial.pooled_autocorrelation(np.ones(10)), "shape"),
        *(
            (lambda shape=s: statistics.times(np.zeros(shape)), "shape")
            for s in ((3,), (0, 5), (2, 0))
        ),
        *(
            (lambda w=w: statistics.lump(COMPUTE, w), f"window={w}; expected 1 to 5")
            for w in (0, 6, -1)
        ),
    ],
)
def test_bad_input(call, named):
    with pytest.raises(BadInput, match=named):
        call()
