"""Times of exchanges from the JSON of bench_exchange: what is kept, refused, replaced; curves and ratios."""

import numpy as np
import pandas as pd
import pytest
from fake_exchanges import LINES, SIZES, content

from spikemark.bench import exchange_times
from spikemark.core.errors import BadInput


def table(raw="exchanges-1.json", **options) -> pd.DataFrame:
    return exchange_times.repetitions(content(**options), raw)[0]


def test_every_repetition_is_a_row_and_what_was_left_out_a_line():
    given = content(targets=("all", "ring"), skews=(0.0, 5.0))
    made, skipped = exchange_times.repetitions(given, "raw.json")
    assert skipped == ["self: left out: serves at most 1 rank(s)"]
    assert len(made) == len(given["measurements"])
    for m in given["measurements"][:20]:
        case = given["cases"][m["case"]]
        keys = {k: case[k] for k in ("exchange", "bytes", "targets", "skew_us", "partners")}
        keys |= {"repetition": m["repetition"], "ranks": 2}
        (row,) = made[np.logical_and.reduce([made[k] == v for k, v in keys.items()])].to_dict("records")
        assert [row[k] for k in ("rounds", "barrier_s", "exchange_s", "exchange_mean_s")] == [
            m[k] for k in ("rounds", "barrier_s", "exchange_s", "exchange_mean_s")
        ]
        assert row["raw"] == "raw.json" and row["mpi_library"] == "MPI of the tests"


def spoil(change):
    given = content()
    change(given)
    return given


SPOILED = {
    "another kind": (lambda c: c.update(kind="record"), "kind is not"),
    "another version": (lambda c: c.update(format_version=2), "format_version=2: allowed is 1"),
    "a measurement is gone": (lambda c: c["measurements"].pop(), "some are missing"),
    "one is twice": (lambda c: c["measurements"].__setitem__(0, c["measurements"][1]), "not the output"),
    "a time of 0": (lambda c: c["measurements"][0].update(exchange_s=0.0), "exchange_s"),
    "a time that is none": (lambda c: c["measurements"][0].update(exchange_s=None), "exchange_s"),
    "no ranks": (lambda c: c.pop("ranks"), "KeyError: 'ranks'"),
    "no cases": (lambda c: c.update(cases=None), "some are missing"),
    "a case without a name": (lambda c: c["cases"][0].pop("exchange"), "exchange"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_other_json_is_refused(case):
    change, message = SPOILED[case]
    with pytest.raises(BadInput, match=message):
        exchange_times.repetitions(spoil(change), "raw.json")


@pytest.mark.parametrize("wrong", [[], {}, "text", None])
def test_what_is_no_object_is_refused(wrong):
    with pytest.raises(BadInput, match="not the output of bench_exchange"):
        exchange_times.repetitions(wrong, "raw.json")


def test_only_left_out_exchanges_are_an_empty_table():
    made, skipped = exchange_times.repetitions(content(lines={}), "raw.json")
    assert len(made) == 0 and len(skipped) == 1


def test_a_later_run_replaces_whole_curves_and_nothing_else():
    old = pd.concat([table(), table(ranks=4)])
    new = table("exchanges-2.json", lines={"shared": LINES["shared"]}, sizes=(4, 8))
    both = exchange_times.update(old, new)
    found = {(c.exchange, c.ranks): len(c.sizes) for c in exchange_times.curves(both)}
    assert found == {("alltoall", 2): 10, ("shared", 2): 2, ("alltoall", 4): 10, ("shared", 4): 10}
    assert both.groupby(exchange_times.CURVE)["raw"].nunique().max() == 1
    pd.testing.assert_frame_equal(exchange_times.update(None, new), new)


def test_curves_hold_the_times_by_repetition_and_size():
    given = content(targets=("all", "ring"), skews=(0.0, 5.0))
    found = list(exchange_times.curves(exchange_times.repetitions(given, "raw.json")[0]))
    assert len(found) == 8 and sum(c.plain for c in found) == 2
    for curve in found:
        assert curve.sizes.tolist() == list(SIZES) and curve.barrier_s == 5e-7
        for m in given["measurements"]:
            case = given["cases"][m["case"]]
            if all(case[k] == getattr(curve, k) for k in ("exchange", "targets", "skew_us")):
                place = m["repetition"], SIZES.index(case["bytes"])
                assert curve.times_s[place] == m["exchange_s"]


def test_a_fit_finds_the_line_and_needs_three_sizes():
    for curve in exchange_times.curves(table(noise=0)):
        (piece,) = curve.fit.pieces
        found = piece.latency_s.value, piece.seconds_per_byte.value
        assert found == pytest.approx(LINES[curve.exchange], rel=1e-6)
    assert [c.fit for c in exchange_times.curves(table(sizes=(4, 8)))] == [None, None]


@pytest.mark.parametrize("window", exchange_times.WINDOWS)
def test_ratios_of_one_large_exchange_to_d_small_ones(window):
    alpha, beta = LINES["alltoall"]
    curve = next(exchange_times.curves(table(noise=0)))
    found = curve.ratios(window)
    assert [r.bytes for r in found] == [n for n in SIZES if window * n in SIZES] != []
    for r in found:
        expected = (alpha + beta * window * r.bytes) / (window * (alpha + beta * r.bytes))
        assert (r.low, r.value, r.high) == pytest.approx((expected,) * 3)
        assert 1 / window < r.value < 1
    for r in next(exchange_times.curves(table(noise=0.1))).ratios(window):
        assert r.low < r.value < r.high
