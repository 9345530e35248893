import math

import pytest
from scipy import stats

from spikemark.quantities.quantity import KINDS, Quantity, difference, mean, missing, with_half
from spikemark.quantities.table import Column


def test_what_says_two_things_is_refused():
    for wrong in (
        {"value": None},
        *(
            {"value": 1.0, **one}
            for one in (
                {"reason": "why"},
                {"low": 0.5},
                {"high": 2.0},
                {"kind": "guessed"},
            )
        ),
    ):
        with pytest.raises(ValueError):
            Quantity(**wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_travels_through_arithmetic(kind):
    first, second = with_half(5.0, 0.3, "J", kind), with_half(2.0, 0.4, "J", kind)
    found = difference(first, second).times(1e3, "mJ")
    assert (found.kind, found.unit) == (kind, "mJ")
    assert found.value == pytest.approx(3000) and found.half == pytest.approx(500)


def test_what_is_missing_stays_missing_with_its_reason():
    nothing = missing("no meter", "J")
    assert not nothing and nothing.times(2.0) == nothing
    for found in (
        difference(nothing, with_half(1.0, None)),
        difference(with_half(1.0, None), nothing),
    ):
        assert found == nothing
    assert nothing.content() == {"value": None, "interval": None, "unit": "J", "reason": "no meter"}


def test_an_unknown_interval_is_not_an_interval_of_no_width():
    assert with_half(1.0, None).interval is None
    assert difference(with_half(3.0, 1.0), with_half(1.0, None)) == Quantity(2.0)
    assert Quantity(0.0)


def test_an_interval_widens_on_both_sides():
    assert Quantity(2.0, 1.0, 3.0).widened(0.5, 1.5).interval == (0.5, 4.5)
    assert Quantity(2.0).widened(0.5, 1.5).interval == (1.5, 3.5)


def test_mean_has_the_t_interval():
    values = [1.0, 2.0, 4.0, 5.0]
    found = mean(values, "s", "measured")
    low, high = stats.t.interval(0.95, 3, 3.0, stats.sem(values))
    assert found.value == 3.0 and found.interval == pytest.approx((max(low, 0), high))
    assert mean([-1.0, 0.0, 1.0]).low < -1
    assert mean([2.0]) == Quantity(2.0) and not mean([]) and math.isfinite(mean([1.0] * 3).high)


def test_two_repetitions_have_no_interval():
    """Student's t would give 1 to 2 an interval from 0 to 8."""
    found = mean([1.0, 2.0], "s", "measured")
    assert (found.value, found.interval) == (1.5, None)
    assert Column("time", "time").text(found) == "1.50"
    assert Column("time", "time").text(Quantity(1.5, 1.0, 2.0)) == "1.50 (1.00–2.00)"
    assert Column("time", "time").text(Quantity(0.0, 0.0, 0.0)) == "0"
