"""The page beside other simulators: the table of peers.json, what to know about it, and its absence."""

import json

import pytest
from fake_peers import QUICK, Fake, busy_machine, experiment, figures, quiet_machine
from html_page import page
from planned import run, view_of
from printed import heads

from spikemark.bench.peers.compare import compare
from spikemark.report.sections import peers

pytestmark = pytest.mark.usefixtures("four_cores")


def compared(folder, busy=quiet_machine, rounds=2, **changes):
    """A comparison for the machine of `write_experiment`: speeds 10 and 2 per thread, beside the sweep."""
    ours = Fake("miniapp", lambda threads, _: figures(threads=threads, speed=10.0 * threads), title="Mini")
    theirs = Fake(
        "peer",
        lambda threads, _: figures(threads=threads, **{"speed": 2.0, "note": "drops its input", **changes}),
        title="Peer",
    )
    plan = experiment(folder / "experiment", repetitions=rounds)
    return compare(plan, folder / "peers" / "here", (ours, theirs), QUICK, lambda line: None, busy)


def section(folder):
    return peers.section(view_of(folder, [run(cycles=100)]))


def cells(found) -> dict:
    (table,) = found.tables
    return {(row[0], row[1]): dict(zip(heads(table)[2:], row[2:], strict=True)) for row in table.cells}


def test_the_table_holds_medians_factors_and_scaling(tmp_path):
    compared(tmp_path)
    found = section(tmp_path)
    table = cells(found)
    assert table["speed (simulated s / s)", "1"] == {
        "Mini": "10.0", "Peer": "2.00", "mini-app ahead by (factor)": "5.00 (5.00)",
    }  # fmt: skip
    assert table["speed (simulated s / s)", "2"]["mini-app ahead by (factor)"] == "10.0 (10.0)"
    assert table["memory (B / synapse)", "1"]["Peer"] == "10.0"
    assert len(table) == 4 * 2 + 1
    over = table["speed, over 1 thread", "2"]
    assert (over["Mini"], over["Peer"]) == ("2.00 (2.00)", "1.00 (1.00)")
    assert found.missing == [] and found.boxes == []
    text = " ".join(found.text)
    assert "Mean rates agree within 1\u202f%." in text and "Peer: drops its input" in text


def test_one_round_has_no_range(tmp_path):
    compared(tmp_path, rounds=1)
    assert cells(section(tmp_path))["build time (s)", "1"]["mini-app ahead by (factor)"] == "1.00"


def test_refused_comparisons_have_no_factor_and_a_reason(tmp_path):
    compared(tmp_path, spikes=210)
    found = section(tmp_path)
    assert {row["mini-app ahead by (factor)"] for row in cells(found).values()} == {"missing", "–"}
    assert any("mean rates do NOT agree" in line.replace("Mean", "mean") for line in found.text)
    assert any("mean rates differ" in line for line in found.missing)


def test_disturbed_trials_are_marked_and_named(tmp_path):
    compared(tmp_path, busy=busy_machine, rounds=1)
    found = section(tmp_path)
    assert "Peer, 2 threads: 1 of 1 round" in found.boxes[0].text
    assert cells(found)["speed (simulated s / s)", "1"]["mini-app ahead by (factor)"].endswith("*")


def test_without_a_comparison_one_line_says_how_to_get_it(tmp_path):
    found = section(tmp_path)
    assert found.tables == [] and len(found.missing) == 1 and "run `make peers`" in found.missing[0]


@pytest.mark.parametrize("spoil", ["{", "[]", '{"format_version": 99}', "factors"])
def test_a_spoiled_comparison_does_not_cost_the_page(tmp_path, spoil):
    compared(tmp_path)
    path = tmp_path / "peers" / "here" / "peers.json"
    if spoil == "factors":
        content = json.loads(path.read_text())
        del content["factors"][0]["low"]
        spoil = json.dumps(content)
    path.write_text(spoil)
    found = section(tmp_path)
    assert found.tables == [] and "peers.json" in found.missing[0]


def test_it_stands_on_the_page(tmp_path, undrawn):
    compared(tmp_path)
    words = page(tmp_path, [run(cycles=100)]).text
    assert "Speed beside other simulators" in words and "5.00 (5.00)" in words
