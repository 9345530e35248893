"""`spikemark partition` and `spikemark traffic` from end to end, and what they refuse."""

import json
import shlex

import numpy as np
import pytest

from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import voxels


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(voxels.describe(voxels=12, neurons=1200, regions=3)))
    return path


def test_without_a_method_the_methods_are_listed(spikemark, run):
    status, output, _ = spikemark("partition", run)
    assert status == 0
    assert [line.split()[0] for line in output.splitlines()] == list(METHODS)


def test_a_placement_and_its_traffic(spikemark, run, tmp_path):
    out, matrix = tmp_path / "p.json", tmp_path / "m.npy"
    ranked = ("--ranks", 4, "--method", "greedy_swap", "--out", out, "--json")
    status, output, errors = spikemark("partition", run, *ranked)
    assert status == 0, errors
    placed = json.loads(output)
    status, output, errors = spikemark(
        "traffic",
        run,
        "--placement",
        out,
        "--levels",
        "2x2",
        "--delay-ratio",
        10,
        "--matrix",
        matrix,
        "--json",
    )
    assert status == 0, errors
    found = json.loads(output)
    assert found["method"] == "greedy_swap" and found["levels"] == [2, 2]
    assert found["loads"]["sent"]["peak"] == placed["loads"]["sent"]["peak"]
    assert found["loads"]["sent"]["words"] == pytest.approx(10 * placed["loads"]["sent"]["words"])
    assert found["loads"]["sent"]["bytes"] == pytest.approx(4 * found["loads"]["sent"]["words"])
    assert found["loads"]["level_connections"]["peak"] == 2
    words = np.load(matrix)
    assert words.shape == (4, 4)
    assert 10 * words.sum(axis=1).max() == pytest.approx(found["loads"]["sent"]["words"])
    status, output, _ = spikemark("traffic", run, "--placement", out, "--levels", "2x2", "--merged")
    assert "level 2, sent on for others" in output and "a spike goes to a bridge once." in output
    assert [path.name for path in tmp_path.iterdir() if "state" in path.name] == []


def test_the_placement_that_a_description_names_is_read(spikemark, run, tmp_path):
    """`partition` says how to run its file, and `traffic` reads it from the description."""
    out = tmp_path / "placed" / "p.json"
    out.parent.mkdir()
    status, output, errors = spikemark(
        "partition", run, "--ranks", 4, "--method", "greedy_swap", "--out", out
    )
    assert status == 0, errors
    words = shlex.split(output.splitlines()[-1].removeprefix("to run it: "))
    assert words[:5] == ["mpirun", "-n", "4", "miniapp", str(run)]
    field, value = words[-1].split("=", 1)
    placed = json.loads(value)
    assert (field, placed) == ("placement", {"name": "from_file", "file": "placed/p.json"})
    run.write_text(json.dumps(json.loads(run.read_text()) | {"placement": placed}))
    named, given = (spikemark("traffic", run, *more, "--json")[1] for more in ((), ("--placement", out)))
    assert json.loads(named) == json.loads(given)
    status, _, errors = spikemark("traffic", run, "--ranks", 3)
    assert status == 2 and "ranks=3" in errors and "is for 4" in errors
    _, output, _ = spikemark(
        "partition", run, "--ranks", 4, "--method", "random", "--out", tmp_path / "p.npz"
    )
    assert output.splitlines()[-1] == "to run it: write it as .json, which is what the mini-app reads"


def test_whole_numbers_of_ranks_are_shown_as_such(spikemark, run):
    _, output, _ = spikemark("traffic", run, "--ranks", 4, "--placement", "round_robin")
    (row,) = (line for line in output.splitlines() if line.startswith("│ ranks sent to"))
    assert row.split("│")[2].strip() == "3"


def test_a_forwarding_table_of_two_levels(spikemark, run, tmp_path):
    out = tmp_path / "table.json"
    asked = ("traffic", run, "--placement", "area_group", "--ranks", 6, "--levels", "2x3", "--out-table", out)
    status, output, errors = spikemark(*asked, "--json")
    assert status == 0, errors
    found = json.loads(output)
    assert found["loads"]["level_2_forwarded"]["peak"] == pytest.approx(
        found["table"]["forwarded_peak_before"]
    )
    assert found["table"]["forwarded_peak"] <= found["table"]["forwarded_peak_before"]
    assert np.array(json.loads(out.read_text())["bridge"]).shape == (3, 6)
    status, output, _ = spikemark(*asked, "--cap", 4)
    assert status == 0 and "level-2 peak, modelled: " in output


def test_groups_hold_ranks_that_exchange_much(spikemark, coarse, tmp_path):
    second = []
    for number, more in enumerate(((), ("--group", 10))):
        out = tmp_path / f"{number}.npz"
        asked = ("--ranks", 100, "--method", "greedy_affinity", "--out", out, *more)
        assert spikemark("partition", coarse, *asked)[0] == 0
        _, output, _ = spikemark("traffic", coarse, "--placement", out, "--levels", "10x10", "--json")
        loads = json.loads(output)["loads"]
        second.append((loads["level_2_sent"]["mean"], loads["sent"]["peak"]))
    assert second[1][0] < 0.98 * second[0][0]  # fewer words leave their group
    assert second[1][1] == pytest.approx(second[0][1])  # ranks have only other numbers


def test_a_coarse_graph_is_dealt_or_divided(spikemark, coarse, tmp_path):
    status, output, errors = spikemark("traffic", coarse, "--ranks", 8, "--json")
    assert status == 0, errors
    dealt = json.loads(output)["loads"]
    out = tmp_path / "p.npz"
    status, output, errors = spikemark(
        "partition", coarse, "--ranks", 8, "--method", "space_filling", "--out", out, "--json"
    )
    assert status == 0, errors
    assert json.loads(output)["loads"]["sent"]["mean"] < 0.7 * dealt["sent"]["mean"]


BAD = [
    (("partition", "RUN", "--method", "magic"), "method='magic': one of round_robin"),
    (("partition", "RUN", "--method", "random"), "--ranks: missing"),
    (("partition", "RUN", "--method", "random", "--ranks", 2), "--out: missing"),
    (("partition", "RUN", "--method", "random", "--ranks", 2, "--out", "p.txt"), "written as .json or .npz"),
    (("partition", "RUN", "--method", "random", "--ranks", 5000, "--out", "p.json"), "ranks=5000: 1 to 1200"),
    (("partition", "nowhere.json", "--method", "random", "--ranks", 2, "--out", "p.json"), "not found"),
    (
        ("partition", "RUN", "--method", "random", "--ranks", 4, "--out", "p.json", "--group", 3),
        "group=3: 4 ranks are to be divided into groups of equal size",
    ),
    (
        ("partition", "RUN", "--method", "round_robin", "--ranks", 4, "--out", "p.json", "--group", 2),
        "placement='round_robin': neurons that are dealt to ranks cannot be grouped",
    ),
    (("traffic", "RUN"), "ranks: missing; placement 'round_robin' needs their number"),
    (("traffic", "RUN", "--placement", "alphabetic"), "placement='alphabetic': a file"),
    (("traffic", "RUN", "--ranks", 4, "--levels", "3x3"), "levels='3x3': 9 ranks; the placement has 4"),
    (("traffic", "RUN", "--ranks", 4, "--side", "left"), "side='left': sender or receiver"),
    (("traffic", "RUN", "--ranks", 4, "--side", "receiver"), "--side=receiver: only with --levels"),
    (("traffic", "RUN", "--ranks", 4, "--merged"), "--merged: only with --levels"),
    (
        ("partition", "RUN", "--method", "metis", "--ranks", 4, "--out", "p.json", "--time-limit", 9),
        "--time-limit=9: method 'metis' ends by itself; allowed: genetic, greedy_swap, peak_search",
    ),
    (
        ("traffic", "RUN", "--ranks", 4, "--out-table", "t.json"),
        "levels=none: a forwarding table is for two levels",
    ),
    (
        ("traffic", "RUN", "--ranks", 4, "--levels", "2x2", "--out-table", "t.json", "--cap", 0),
        "cap",
    ),
    (("traffic", "RUN", "--ranks", 4, "--levels", "2x2", "--cap", 2), "--cap=2: only with --out-table"),
    (("traffic", "COARSE", "--ranks", 4, "--placement", "area"), "placement='area': a coarse graph has"),
]


@pytest.mark.parametrize(("arguments", "complaint"), BAD, ids=[c for _, c in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(
    spikemark, run, coarse, tmp_path, arguments, complaint, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    files = {"RUN": run, "COARSE": coarse}
    status, output, errors = spikemark(*(files.get(part, part) for part in arguments))
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_bad_graphs(spikemark, tmp_path):
    path = tmp_path / "g.json"
    for given, complaint in (
        ({"kind": "voxel graph", "format_version": 2, "options": {}}, "format_version=2: 1 is known"),
        ({"kind": "voxel graph", "format_version": 1}, "options: missing"),
        ({"kind": "voxel graph", "format_version": 1, "options": {"voxels": 0}}, "options: voxels=0"),
        ({"kind": "voxel graph", "format_version": 1, "options": {}, "x": 1}, "x=1: Extra inputs"),
        ({"network": {}, "time": {"simulate_ms": 1}}, "network.populations: missing"),
    ):
        path.write_text(json.dumps(given))
        status, output, errors = spikemark("traffic", path, "--ranks", 2)
        assert (status, output) == (2, "") and complaint in errors and str(path) in errors


def test_rates_that_nobody_states_are_called_assumed(spikemark, run):
    words = ("traffic", run, "--placement", "round_robin", "--ranks", 4)
    assert "assumed" not in spikemark(*words)[1]
    assert json.loads(spikemark(*words, "--json")[1])["assumed"] == []
    unknown = json.loads(run.read_text())
    unknown["network"]["populations"][0]["neuron"] = {"model": "iaf_psc_delta"}
    run.write_text(json.dumps(unknown))
    (line,) = json.loads(spikemark(*words, "--json")[1])["assumed"]
    assert line.startswith("rates of 1 of 24 populations: 2.5 spikes/s")
    assert "Words and bytes rest on assumed rates of 1 of 24" in " ".join(spikemark(*words)[1].split())
