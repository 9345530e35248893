"""Growth over nodes with delivery as measured: the parts add up, and longer deliveries steepen the slope."""

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.documents import scaling
from spikemark.documents.modelled import TABLES

LENGTHS = np.array([0.35, 1.4, 5.8, 23.0])
NOW = np.array([24.0, 10.0, 4.0, 1.4])


def made(factor: float) -> scaling.Delivered:
    """Lists that took `factor` times as long before."""
    return scaling.Delivered(LENGTHS, {"before": factor * NOW, "now": NOW})


@pytest.fixture
def few(monkeypatch):
    """Two sizes of each network."""
    monkeypatch.setattr(scaling.growth, "SIZES", (4, 32))
    monkeypatch.setattr(scaling, "MODEL_RANKS", (16, 32))
    return monkeypatch


def test_between_lengths_times_are_linear_in_logarithms():
    assert made(2).at(1.4, "before") == pytest.approx(20)
    assert made(2).at(0.7, "now") == pytest.approx((24 * 10) ** 0.5, rel=0.01)
    with pytest.raises(BadInput, match=r"lists of 100 synapses were not measured; allowed: 0\.35 to 23"):
        made(2).at(100, "now")


def test_delivery_takes_what_was_measured(few):
    few.setattr(scaling, "measure", lambda: made(3))
    table, slopes = scaling.tables()
    assert [(row["network"], row["ranks"]) for row in table.rows] == [
        ("MAM-benchmark", 4), ("MAM-benchmark", 32), ("multi-area model", 16), ("multi-area model", 32)
    ]  # fmt: skip
    for row in table.rows:
        areas = row["network"] == "MAM-benchmark"
        per_second = 129068 * 5842 * 2.5 / 128 if areas else 24.2e9 * 2.5 / row["ranks"] / 128  # of a thread
        longer = row["share_before"] - row["share_now"]  # what a large ring takes is in both
        assert longer == pytest.approx(2e-9 * row["ns_now"] * per_second, rel=1e-2)
        assert row["factor_before"] - row["factor_now"] > 0.99 * (row["share_before"] - row["share_now"])
    first = table.rows[0]
    assert first["share_before"] == pytest.approx(3 * first["share_now"])  # with no large ring
    for row in slopes.rows:
        assert row["gone"] == pytest.approx(100 * (1 - row["now"] / row["before"]))


def test_equal_lists_change_nothing(few):
    few.setattr(scaling, "measure", lambda: made(1))
    _, slopes = scaling.tables()
    assert [row["gone"] for row in slopes.rows] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.slow
def test_both_kinds_of_lists_are_measured(few):
    few.setattr(scaling.growth, "SIZES", (2, 128))
    few.setattr(scaling, "TURNS", 1)
    found = scaling.measure()
    assert (found.lengths[:1] < 0.4).all() and (found.lengths[1:] > 20).all()
    assert all((ns > 0).all() for ns in found.ns.values())
    assert found.ns["before"][0] > found.ns["now"][0]  # 128 x 128: a miss for every spike


def test_scaling_is_one_of_the_families():
    assert TABLES["scaling"].kind == "modelled"
