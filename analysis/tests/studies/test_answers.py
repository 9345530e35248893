"""Answers that need no run: numbers of the papers' equations and tables, and how frames become quantities."""

import numpy as np
import pandas as pd
import pytest

from spikemark.quantities.quantity import Quantity, missing
from spikemark.studies import beyond, lober, pick, simula
from spikemark.studies.study import Runs


@pytest.fixture
def nothing(tmp_path) -> Runs:
    return Runs(tmp_path, quick=True)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (lober.theory_saved, 68.38),  # 1 - 1 / sqrt(10)
        (lober.maxima_above, 94.91),  # 1 - 0.977 ** 128
        (lober.expected_maximum, 2.595),
        (lober.irregular_48, 37.17),  # eqs 13 to 17, evaluated elsewhere
        (lober.irregular_128, 42.99),
        (lober.area_neurons, 129_068),
        (lober.indegree, 5842),
        (lober.size_spread, 0.198),
        (lober.share_between, 18.5),
        (simula.products_x86, 10),
        (simula.products_arm, 3),
        (simula.less_power, 27.1),
        (simula.event_arm, 1.11),
        (simula.event_x86, 3.44),
    ],
)
def test_numbers_of_equations_and_tables(nothing, answer, value):
    assert answer(nothing).value.value == pytest.approx(value, rel=5e-3)


def test_one_long_exchange_takes_less_than_ten_short_ones(nothing):
    assert 10 < lober.d_fold_exchange(nothing).value.value < 100


def test_the_busiest_area_computes_longer_and_says_what_it_fires(nothing):
    slow, fast = (answer(nothing).value.value for answer in (lober.busiest_supermuc, lober.busiest_jureca))
    assert slow > 20 and fast > 20


def test_the_fastest_exchanges_are_among_those_compared(nothing):
    table = beyond.best_exchanges(nothing).tables[0]
    assert len(table.rows) == 8
    cells = [cell.split()[0] for row in table.rows for key, cell in row.items() if key.endswith(" B")]
    assert set(cells) <= set(beyond.COMPARED) and len(set(cells)) > 1


def frame(**columns) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    fixed = {
        "network": ["x"] * size,
        "ranks": [2] * size,
        "threads": [1] * size,
        "kind": ["simulated"] * size,
    }
    fixed |= {"repetition": [1] * size, "oversubscribed": [False] * size}
    return pd.DataFrame({**fixed, **columns})


def test_pick_and_mean():
    runs = frame(schedule=["a", "a", "b"], t=[1.0, 3.0, np.nan], **{"swept.cv": [0.1, None, 0.1]})
    assert len(pick.pick(runs, schedule="a")) == 2
    assert len(pick.pick(runs, schedule=["a", "b"], cv=0.1)) == 2
    assert len(pick.pick(runs, nowhere=1)) == 0
    assert pick.mean(pick.pick(runs, schedule="a"), "t").value == 2
    assert not pick.mean(pick.pick(runs, schedule="b"), "t")
    assert not pick.mean(pick.pick(runs, schedule="c"), "t")
    assert not pick.mean(runs.assign(oversubscribed=True), "t")


def test_reduction_pairs_networks():
    base = frame(network=["x", "y", "z"], ranks=[2] * 3, t=[1.0, 2.0, 4.0])
    other = base.assign(t=0.75 * base["t"])
    found = pick.reduction(base, other, "t")
    assert (found.value, found.low, found.high) == pytest.approx((25, 25, 25))
    assert found.unit == "%"
    assert not pick.reduction(base, other.assign(network="w"), "t")
    assert not pick.reduction(base.iloc[:0], other, "t")


def test_order_is_largest_first_and_lacks_what_one_lacks():
    assert pick.order({"a": Quantity(1), "b": Quantity(3), "c": Quantity(2)}) == ["b", "c", "a"]
    assert pick.order({"a": Quantity(1), "b": missing("no run")}).reason == "no run"
