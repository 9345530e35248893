"""partition, anchor, diff, history, energy, sweep and score answer as their commands do."""

import json

import pandas as pd
import pytest
from compared import sweep
from small_network import describe
from synthetic import write_run

import spikemark as sm

RUNS = "nodes,ranks,threads,real_time_factor\n1,2,64,20\n2,4,64,11\n4,8,64,6.5\n"


def check(answer, command, words, status=0) -> None:
    """What the command prints is the answer; all faces of it are there."""
    found, printed, errors = command(*words, "--json")
    assert found == status, errors
    assert answer.to_json() == printed.rstrip("\n")
    assert isinstance(answer.table, pd.DataFrame) and answer.sentence
    assert answer._repr_html_().startswith("<p>")
    _, screen, _ = command(*words)
    for line in answer.screen().lines:
        assert line in screen


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "network.json"
    path.write_text(json.dumps(describe(areas=4)))
    return path


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({"method": "sequential"}, 5),
        ({"placement": "round_robin"}, 5),
        ({"method": "random", "levels": "2x2", "merged": True}, 10),
        ({"method": "sequential", "weights": "1,2,1,1"}, 6),
        ({"seed": 3}, None),
    ],
)
def test_partition(file, spikemark, arguments, rows):
    answer = sm.partition(file, 4, **arguments)
    words = ["partition", file, "--ranks", 4]
    for name, value in arguments.items():
        words += [f"--{name}"] if value is True else [f"--{name}", value]
    check(answer, spikemark, words)
    if rows is None:
        assert answer.table["method"].is_unique and len(answer.methods) == len(answer.table)
    else:
        assert len(answer.table) == rows
    assert answer.placement.ranks == 4


def test_partition_writes_what_it_answers(file, tmp_path, spikemark):
    out = tmp_path / "placement.json"
    answer = sm.partition(file, 4, method="sequential", out=out)
    assert json.loads(out.read_text())["ranks"] == 4 and answer.file == out
    assert sm.partition(file, placement=out).content()["loads"] == answer.content()["loads"]
    with pytest.raises(sm.BadInput) as error:
        sm.partition(file, 4, machine="epyc-vm")
    assert error.value.field == "machine"


def test_anchor(tmp_path, spikemark):
    mam = sm.network("mam-benchmark", full=True)
    folder = tmp_path / "anchors"
    answer = sm.anchor(mam, "jureca-dc", out=folder, nodes=[1, 2])
    assert answer.table["nodes"].tolist() == [1, 2]
    assert set(answer.files) == {path.name for path in folder.iterdir()}
    words = ["anchor", "mam-benchmark", "--full", "--machine", "jureca-dc"]
    check(answer, spikemark, [*words, "--nodes", "1,2", "--out", folder])
    (folder / "runs.csv").write_text(RUNS)
    read = sm.anchor(mam, "jureca-dc", runs=folder / "runs.csv", nodes=8)
    check(read, spikemark, [*words, "--runs", folder / "runs.csv", "--nodes", 8])
    assert read.table["nodes"].tolist() == [2, 4, 8]
    assert read.table["measured"].isna().tolist() == [False, False, True]
    inside = read.table["low"] <= read.table["predicted"]
    assert inside.all() and (read.table["predicted"] <= read.table["high"]).all()
    with pytest.raises(sm.BadInput) as error:
        sm.anchor(mam, "jureca-dc", runs=folder / "runs.csv", threads=4)
    assert error.value.field == "threads"


@pytest.mark.slow
def test_diff_and_history(tmp_path, spikemark):
    first = sweep(tmp_path / "a")
    second = sweep(tmp_path / "b", 1.1, seed=1)
    answer = sm.diff(first, second, fail_above="5%")
    assert answer.failed == (answer.decision.state == "fail") and answer.failed
    check(answer, spikemark, ["diff", first, second, "--fail-above", "5%"], status=1)
    (change,) = answer.table["change"]
    assert change == pytest.approx(0.1, abs=0.03)
    assert answer.table["change_low"].item() < change < answer.table["change_high"].item()
    folder = tmp_path / "times"
    added = sm.history(folder, add=[first, second])
    assert sum(added.appended.values()) == 2 and added.table["entries"].tolist() == [2]
    check(sm.history(folder), spikemark, ["diff", "--history", folder])
    assert sm.history(folder, add=[first]).content()["appended"] == {}
    with pytest.raises(sm.BadInput):
        sm.history(tmp_path / "nothing")


def test_energy(tmp_path, spikemark):
    path = write_run(tmp_path / "run", ranks=2, cycles=100)
    modelled = sm.energy(path, machine="epyc-vm", nodes=1)
    check(modelled, spikemark, ["energy", path, "--machine", "epyc-vm", "--nodes", 1])
    assert modelled.table["unit"].tolist()[0] == "J" and modelled.energy.kind == "modelled"
    unknown = sm.energy(path)
    check(unknown, spikemark, ["energy", path])
    assert unknown.table["value"].isna().all() and "no energy" in unknown.sentence
    for arguments, field in (
        ({"nodes": 2}, "nodes"),
        ({"offset": 1.0}, "offset"),
        ({"machine": "epyc-vm", "keep": True}, "keep"),
    ):
        with pytest.raises(sm.BadInput) as error:
            sm.energy(path, **arguments)
        assert error.value.field == field


@pytest.mark.slow
def test_sweep_lists_its_runs(spikemark, tmp_path):
    plan = sm.sweep("demo", dry_run=True, results=tmp_path)
    check(plan, spikemark, ["sweep", "demo", "--dry-run", "--results", tmp_path])
    assert plan.table["id"].is_unique and not plan.table["done"].any()
    *runs, _ = spikemark("sweep", "demo", "--dry-run", "--results", tmp_path)[1].splitlines()
    assert all(run["id"] in line for run, line in zip(plan.content()["runs"], runs, strict=False))
    assert not any(id in plan.sentence for id in plan.table["id"])  # what they take comes last
    with pytest.raises(sm.BadInput) as error:
        sm.sweep("demo", dry_run=True, again=1)
    assert error.value.field == "again"


def test_the_outcome_of_a_sweep_has_its_failures(tmp_path):
    from spikemark.records.results import Results
    from spikemark.running.sweeps import SweepOutcome

    outcome = SweepOutcome(Results(tmp_path), 3, {"ranks=2": "killed"}, headline="All is well.")
    assert outcome.status == 1 and outcome.table.to_dict("records") == [
        {"label": "ranks=2", "reason": "killed"}
    ]
    content = outcome.content()
    assert content["planned"] == 3 and content["failed"] == {"ranks=2": "killed"}
    assert outcome.sentence.endswith("All is well.")
    assert any("killed" in line for line in outcome.screen().warnings)


def test_score(tmp_path, spikemark):
    from spikemark_studies.score import score

    mam = sm.network("mam-benchmark", full=True)
    runs = tmp_path / "runs.csv"
    runs.write_text(RUNS)
    predictions = tmp_path / "predictions.json"
    sm.anchor(mam, "jureca-dc", runs=runs, keep=predictions)
    answer = score(runs, predictions)
    check(answer, spikemark, ["score", runs, predictions])
    with pytest.raises(sm.BadInput) as error:
        score(predictions=predictions)
    assert error.value.field == "predictions"
