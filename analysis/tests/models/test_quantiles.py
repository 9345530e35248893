"""Quantiles of values in blocks are those of all values together."""

from functools import partial

import numpy as np
import pytest

from spikemark.models import quantiles

RNG = np.random.default_rng(1)
DRAWN = {
    "normal": RNG.normal(size=(7, 3001)),
    "correlated": np.cumsum(RNG.normal(size=(7, 3001)), axis=1),
    "sorted": np.sort(RNG.normal(size=7 * 3001)).reshape(7, 3001),
    "period of the sample": np.tile(np.arange(quantiles.SAMPLED), 700).reshape(7, -1) + 0.0,
    "few values": RNG.integers(3, size=(7, 3001)) * 1e-3,
    "one value": np.full((7, 3001), 1e-3),
    "single precision": RNG.normal(1e-3, 1e-5, size=(7, 3001)).astype(np.float32),
    "short ranks": RNG.normal(size=(3000, 2)),
}


@pytest.mark.parametrize("held", [1, 1 << 20])
@pytest.mark.parametrize("name", DRAWN)
def test_as_of_all_values(monkeypatch, name, held):
    monkeypatch.setattr(quantiles, "MAX_HELD", held)
    values = DRAWN[name]
    for some in (values, values[:-1], values[:, :-1]):
        exact = some.astype(np.float64)
        blocks = partial(iter, some)
        assert quantiles.median(blocks) == np.median(exact)
        for share in (0.0, 1e-3, 0.3, 0.5, 0.9987, 1.0):
            assert quantiles.quantile(blocks, share) == np.quantile(exact, share)


def test_of_no_values():
    assert np.isnan(quantiles.median(lambda: ()))
    assert np.isnan(quantiles.quantile(lambda: (), 0.5))
