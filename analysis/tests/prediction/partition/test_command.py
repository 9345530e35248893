"""`spikemark partition` from end to end, and what it refuses."""

import json

import numpy as np
import pytest

from spikemark.network import placement_file
from spikemark.network.presets import mam_benchmark, voxels
from spikemark.prediction.partition.methods import METHODS


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(voxels.describe(voxels=12, neurons=1200, regions=3)))
    return path


def asked(spikemark, *words) -> dict:
    status, output, errors = spikemark("partition", *words, "--json")
    assert status == 0, errors
    return json.loads(output)


def test_all_methods_are_compared_on_one_screen(spikemark, run, tmp_path):
    out = tmp_path / "p.json"
    found = asked(spikemark, run, "--ranks", 4, "--out", out)
    rows = found["methods"]
    assert set(rows) == {n for n, m in METHODS.items() if m.here}
    best = next(iter(rows.values()))
    even = [row for row in rows.values() if row["neurons_max_over_mean"] <= 1.1]
    assert best["peak"] == min(row["peak"] for row in even) == found["loads"]["sent"]["peak"]
    assert placement_file.read_placement(out, 1200).method == best["method"] == found["method"]
    status, output, _ = spikemark("partition", run, "--ranks", 4)
    lines = output.splitlines()
    assert status == 0 and best["method"] in lines[0] and len(lines) < 30


def test_one_method_its_placement_and_its_levels(spikemark, run, tmp_path):
    out, table = tmp_path / "p.json", tmp_path / "t.json"
    placed = asked(spikemark, run, "--ranks", 6, "--method", "greedy_swap", "--out", out)["loads"]
    ways = ("--levels", "2x3", "--delay-ratio", 10, "--out-table", table)
    found = asked(spikemark, run, "--placement", out, *ways)
    assert found["method"] == "greedy_swap" and found["levels"] == [2, 3]
    loads = found["loads"]
    assert loads["sent"]["peak"] == placed["sent"]["peak"]
    assert loads["sent"]["words"] == pytest.approx(10 * placed["sent"]["words"])
    assert loads["sent"]["bytes"] == pytest.approx(4 * loads["sent"]["words"])
    assert loads["level_connections"]["peak"] == 3
    assert loads["level_2_forwarded"]["peak"] == pytest.approx(found["forwarded_peak_before"])
    assert found["forwarded_peak"] <= found["forwarded_peak_before"]
    assert np.array(json.loads(table.read_text())["bridge"]).shape == (3, 6)
    grouped = asked(spikemark, run, "--ranks", 6, "--method", "greedy_swap", "--group", 2)["loads"]
    assert grouped["sent"]["peak"] == pytest.approx(placed["sent"]["peak"])
    merged = asked(spikemark, run, "--placement", out, "--levels", "2x3", "--merged")["loads"]
    assert merged["level_1_sent"]["mean"] < loads["level_1_sent"]["mean"]


def test_the_placement_that_a_description_names_is_read(spikemark, run, tmp_path):
    found = asked(spikemark, run, "--ranks", 4, "--method", "random", "--out", tmp_path / "p.json")
    described = json.loads(run.read_text())
    described["placement"] = {"name": "from_file", "file": "p.json"}
    run.write_text(json.dumps(described))
    again = asked(spikemark, run, "--placement", tmp_path / "p.json")
    assert again["loads"]["sent"] == found["loads"]["sent"]


def test_rates_that_nobody_states_are_called_assumed(spikemark, run):
    words = (run, "--placement", "round_robin", "--ranks", 4)
    assert asked(spikemark, *words)["assumed"] == []
    unknown = json.loads(run.read_text())
    unknown["network"]["populations"][0]["neuron"] = {"model": "lif_delta"}
    run.write_text(json.dumps(unknown))
    assert len(asked(spikemark, *words)["assumed"]) == 1


METHOD = ("RUN", "--ranks", 4, "--method", "random")
BAD = [
    (("RUN", "--ranks", 4, "--method", "magic"), "--method='magic'"),
    (("RUN", "--method", "random"), "--ranks"),
    ((*METHOD, "--out", "p.txt"), "p.txt"),
    (("RUN", "--ranks", 5000, "--method", "random"), "--ranks=5000"),
    (("nowhere.json", "--ranks", 2), "nowhere.json"),
    ((*METHOD, "--group", 3), "--group=3"),
    (("RUN", "--ranks", 4, "--method", "round_robin", "--group", 2), "--group=2"),
    ((*METHOD, "--placement", "area"), "--placement='area'"),
    (("RUN", "--placement", "area"), "--ranks"),
    (("RUN", "--ranks", 4, "--placement", "alphabetic"), "alphabetic"),
    (("COARSE", "--ranks", 400, "--placement", "area"), "area"),
    ((*METHOD, "--levels", "3x3"), "--levels=3x3"),
    ((*METHOD, "--levels", "2x"), "--levels=2x"),
    ((*METHOD, "--levels", "2x2", "--side", "left"), "left"),
    ((*METHOD, "--merged"), "--merged"),
    ((*METHOD, "--out-table", "t.json"), "--out-table"),
    ((*METHOD, "--levels", "4", "--out-table", "t.json"), "--levels=4"),
    ((*METHOD, "--weights", "1,2"), "weights: 2 of them"),
    ((*METHOD, "--weights", "1x4", "--weights-from", "out"), "--weights-from"),
    ((*METHOD, "--on", "a=1"), "--on"),
    (("COARSE", "--ranks", 4, "--method", "random", "--machine", "jureca-dc"), "--machine"),
]


@pytest.mark.parametrize(
    ("words", "field"), BAD, ids=[" ".join(map(str, words)) for words, _ in BAD]
)
def test_bad_input_is_one_line_and_leaves_nothing(
    spikemark, run, coarse, tmp_path, words, field, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    files = {"RUN": run, "COARSE": coarse}
    status, output, errors = spikemark("partition", *(files.get(word, word) for word in words))
    assert (status, output) == (2, "")
    assert field in errors and errors.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "voxel graph", "format_version": 2, "options": {}}, "format_version=2"),
        ({"kind": "voxel graph", "format_version": 1}, "options"),
        (
            {"kind": "voxel graph", "format_version": 1, "options": {"voxels": 0}},
            "options.voxels=0",
        ),
        ({"kind": "voxel graph", "format_version": 1, "options": {}, "x": 1}, "x=1"),
        ({"format_version": 1, "network": {}, "time": {"simulate_ms": 1}}, "network.populations"),
    ],
)
def test_bad_graphs(spikemark, tmp_path, given, field):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(given))
    status, output, errors = spikemark("partition", path, "--ranks", 2)
    assert (status, output) == (2, "") and field in errors and str(path) in errors


@pytest.mark.parametrize("rates", [(4, 20), (4, 4)])
def test_the_screen_says_that_routes_hold_no_rates_where_these_differ(spikemark, tmp_path, rates):
    description = mam_benchmark.describe(areas=2, neurons_per_area=100, indegree=10)
    for population, rate_hz in zip(description["network"]["populations"], rates, strict=True):
        population["neuron"]["rate_hz"] = rate_hz
    path = tmp_path / "rates.json"
    path.write_text(json.dumps(description))
    status, output, _ = spikemark("partition", path, "--ranks", 2)
    assert status == 0
    assert ("4 to 20 spikes/s" in output) == (rates == (4, 20))
