"""Serial correlation: against statsmodels, planted AR(1) truth, and the published ratios."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.tsa.stattools import acf
from synthetic import compute_times

from spikemark.core.errors import BadInput
from spikemark.models import serial


def ar1_times(phi: float, ranks: int = 4, cycles: int = 50_000) -> np.ndarray:
    return compute_times(ranks, cycles, mean_s=50e-6, cv=0.1, ar1=phi, rank_sd=0.2, seed=3)


def test_agrees_with_statsmodels():
    compute = ar1_times(0.7, ranks=3, cycles=501)
    for rank in compute:
        rho = serial.pooled_autocorrelation(rank[None], 50)
        np.testing.assert_allclose(rho, acf(rank, nlags=50, fft=False), atol=1e-12)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_planted_correlation_is_found(phi):
    compute = ar1_times(phi)
    rho = serial.pooled_autocorrelation(compute, 1000)
    np.testing.assert_allclose(rho[:6], phi ** np.arange(6), atol=0.02)
    time = (1 + phi) / (1 - phi)
    assert serial.integrated_time(rho) == pytest.approx(time, rel=0.1)


def test_published_ratios_of_equally_correlated_cycles(data):
    table = pd.read_csv(data / "lober_sync_ratio.csv").set_index("D")
    columns = {0.0: "CV_ratio=1/sqrt(D)", 0.05: "CV_ratio_with_rho=0.05"}
    columns |= {float(name.split("=")[1]): name for name in table.columns if name.startswith("rho=")}
    assert len(columns) == 5
    for rho, name in columns.items():
        correlation = np.r_[1.0, np.full(100, rho)]
        for d, value in table[name].items():
            assert serial.lumped_cv_ratio(correlation, d) == pytest.approx(value, abs=6e-6)


def test_rank_differences_do_not_pass_for_correlation():
    compute = np.random.default_rng(1).normal(0, 1, (3, 20_000)) + np.array([[0.0], [50.0], [100.0]])
    assert abs(serial.pooled_autocorrelation(compute, 10)[1:]).max() < 0.02


@settings(max_examples=50)
@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 4), st.integers(2, 60)), elements=st.floats(0, 1, width=16)
    )
)
def test_autocorrelation_is_bounded_and_starts_at_one(compute):
    rho = serial.pooled_autocorrelation(compute)
    if (np.ptp(compute, axis=1) > 0).any():
        assert rho[0] == pytest.approx(1)
        assert (abs(rho) <= 1 + 1e-9).all()
    else:
        assert np.isnan(rho).all()


def test_constant_times_have_no_correlation():
    compute = np.full((2, 100), 0.1)
    assert np.isnan(serial.pooled_autocorrelation(compute)).all()


def test_bad_input():
    compute = np.ones((2, 10))
    with pytest.raises(BadInput, match="max_lag=10: allowed are 0 to 9"):
        serial.autocovariance(compute, 10)
    with pytest.raises(BadInput, match="shape"):
        serial.pooled_autocorrelation(np.ones(10))
    with pytest.raises(BadInput, match="window=0"):
        serial.lumped_cv_ratio(np.ones(3), 0)
    with pytest.raises(BadInput, match="shape"):
        serial.integrated_time(np.ones((2, 2)))
