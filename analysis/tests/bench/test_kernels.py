"""Times of kernels from the output of Google Benchmark: units, what is dropped, bounds."""

import numpy as np
import pandas as pd
import pytest
from fake_bench import NANOSECONDS, content, entry

from spikemark.bench import kernels
from spikemark.core.errors import BadInput


def table(*entries, raw="kernels-1.json") -> pd.DataFrame:
    return kernels.aggregate(kernels.repetitions(content(*entries))[0], raw)


def delivery(lengths, raw="kernels-1.json", slower=2.0) -> pd.DataFrame:
    entries = [entry(kernels.BOUND, n, 10 / n + 1) for n in lengths]
    return table(*entries, *(entry(kernels.DELIVER, n, slower * (10 / n + 1)) for n in lengths), raw=raw)


@pytest.mark.parametrize("unit", NANOSECONDS)
@pytest.mark.parametrize(
    ("options", "clock"), [("", "cpu"), ("/real_time", "real"), ("/manual_time", "real")]
)
def test_times_per_item_in_every_unit_and_by_every_clock(unit, options, clock):
    rows, dropped = kernels.repetitions(content(entry("random", 7, 3.5, 4.5, unit=unit, options=options)))
    assert dropped == []
    (row,) = rows.to_dict("records")
    assert (row["kernel"], row["size"], row["item"], row["clock"]) == ("random", 7, "synapse", clock)
    assert row["ns"] == pytest.approx(4.5 if clock == "real" else 3.5)
    assert row["real_ns"] == pytest.approx(4.5)


def test_median_and_quartiles_are_those_of_the_raw_repetitions():
    times = [5.0, 1.0, 2.0, 4.0, 8.0]
    made = table(*(entry("random", 1, ns, 2 * ns) for ns in times), entry("random", 2, 3.0))
    first, second = made.to_dict("records")
    assert (first["repetitions"], second["repetitions"]) == (5, 1)
    assert [first[q] for q in ("q1_ns", "median_ns", "q3_ns")] == pytest.approx(
        np.percentile(times, [25, 50, 75])
    )
    assert first["real_median_ns"] == pytest.approx(8.0)
    assert second["q1_ns"] == second["median_ns"] == second["q3_ns"] == pytest.approx(3.0)


def test_aggregates_of_the_program_are_passed_over():
    rows, dropped = kernels.repetitions(
        content(entry("random", 1, 2.0), {**entry("random", 1, 99.0), "run_type": "aggregate"})
    )
    assert rows["ns"].tolist() == pytest.approx([2.0]) and dropped == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"error_occurred": True, "error_message": "no memory", "real_time": 0, "cpu_time": 0}, "no memory"),
        ({"skipped": True, "skip_message": "no huge pages"}, "no huge pages"),
        ({"error_occurred": True}, "failed without a reason"),
        ({"items_per_second": None}, "items_per_second=None"),
        ({"items_per_second": 0.0}, "items_per_second=0.0"),
        ({"cpu_time": 0.0}, "it took no time"),
        ({"run_name": "random"}, "its name is not KERNEL/size:N"),
    ],
)
def test_what_cannot_be_used_is_dropped_and_named_once(change, reason):
    bad = {**entry("random", 1, 2.0), **change}
    rows, (line,) = kernels.repetitions(content(bad, entry("random", 2, 3.0), bad))
    assert rows["size"].tolist() == [2]
    assert line.startswith(bad["run_name"] + ": 2 repetitions dropped: ") and reason in line


def test_a_repetition_that_failed_does_not_cost_the_others():
    bad = {**entry("random", 1, 2.0), "error_occurred": True, "error_message": "no memory"}
    rows, (line,) = kernels.repetitions(content(entry("random", 1, 2.0), bad))
    assert len(rows) == 1 and line == "random/size:1: 1 repetition dropped: no memory"


@pytest.mark.parametrize("wrong", [[], {}, {"benchmarks": None}, {"benchmarks": [1]}, "text", None])
def test_other_json_is_refused(wrong):
    with pytest.raises(BadInput, match="not the output of Google Benchmark"):
        kernels.repetitions(wrong)


def test_ratios_are_of_medians_at_lengths_both_have():
    made = pd.concat([delivery([1, 8, 64]), table(entry(kernels.DELIVER, 2, 5.0))])
    ratios = kernels.ratios(made)
    assert ratios["size"].tolist() == [1, 8, 64]
    assert ratios["ratio"].tolist() == pytest.approx([2.0, 2.0, 2.0])
    assert ratios["bound_ns"].tolist() == pytest.approx([11.0, 2.25, 1.15625])


def test_only_what_was_interleaved_is_compared():
    bound, deliver = table(entry(kernels.BOUND, 8, 1.0)), table(entry(kernels.DELIVER, 8, 2.0), raw="other")
    assert len(kernels.ratios(kernels.update(bound, deliver))) == 0


def test_a_later_run_replaces_what_it_measured_again_and_nothing_else():
    old, new = delivery([1, 8]), delivery([8, 64], raw="kernels-2.json", slower=3.0)
    both = kernels.update(old, new)
    raw = both.set_index(["kernel", "size"])["raw"].to_dict()
    assert raw == {
        (kernel, size): "kernels-1.json" if size == 1 else "kernels-2.json"
        for kernel in (kernels.BOUND, kernels.DELIVER)
        for size in (1, 8, 64)
    }
    assert kernels.ratios(both)["ratio"].tolist() == pytest.approx([2.0, 3.0, 3.0])
    pd.testing.assert_frame_equal(kernels.update(None, new), new)


def test_the_bound_is_interpolated_in_the_logarithm_of_the_length():
    made = table(*(entry(kernels.BOUND, n, ns) for n, ns in [(4, 8.0), (16, 4.0), (64, 1.0)]))
    assert kernels.bound_ns(made, 16) == pytest.approx(4.0)
    assert kernels.bound_ns(made, 8) == pytest.approx(6.0)
    assert kernels.bound_ns(made, 32) == pytest.approx(2.5)


@pytest.mark.parametrize("length", [3.9, 65])
def test_the_bound_is_not_made_up(length):
    made = table(entry(kernels.BOUND, 4, 8.0), entry(kernels.BOUND, 64, 1.0))
    with pytest.raises(BadInput, match=f"mean list length {length}: .* 4 to 64"):
        kernels.bound_ns(made, length)
    with pytest.raises(BadInput, match="spikemark bench"):
        kernels.bound_ns(made[:0], 8)
