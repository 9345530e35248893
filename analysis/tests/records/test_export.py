"""`spikemark export`: what Extra-P would read of a results folder."""

import io
import json

import pandas as pd
import pytest
import swept

from spikemark.core.errors import BadInput
from spikemark.records.export import extra_p
from spikemark.records.frames import load_folder
from spikemark.records.results import Results, load_planned


def exported(results, only=()):
    """The lines and complaints for a results folder."""
    return extra_p(load_folder(results.path), only)


def results_of(folder, grid, **experiment) -> Results:
    """Synthetic records of all runs of a grid."""
    results, runs = swept.planned(folder, grid=grid, **{"ranks": 1, **experiment})
    for run in runs:
        swept.write(results, run)
    return results


def read(text: str) -> dict:
    """As the documentation of the format says: {(callpath, metric): {coordinate:
    [repetitions]}}.
    """
    assert text.endswith("\n")
    lines = [json.loads(line) for line in text.splitlines()]
    parameters = list(lines[0]["params"])
    found = {}
    for line in lines:
        assert set(line) == {"params", "callpath", "metric", "value"}
        assert set(line["params"]) == set(parameters)
        assert all(
            type(value) in (int, float) for value in (*line["params"].values(), line["value"])
        )
        coordinate = tuple(line["params"][name] for name in parameters)
        found.setdefault((line["callpath"], line["metric"]), {}).setdefault(coordinate, []).append(
            line["value"]
        )
    (_,) = {frozenset(points) for points in found.values()}  # its reader refuses anything else
    return parameters, found


def test_every_measurement_is_found_again(tmp_path):
    """Ranks and in-degree vary; two repetitions of each."""
    grid = [{"schedule": "conventional", "preset.indegree": [10, 20], "ranks": [1, 2, 3]}]
    results = results_of(tmp_path, grid, repetitions=2)
    text, complaints = exported(results)
    parameters, found = read(text)
    assert (parameters, complaints) == (["ranks", "indegree"], [])
    plan = results.read_plan()
    expected = {}
    for planned in plan.runs:
        run = load_planned(results, planned)
        timing, mean_s = run.record.timing, run.ranks["simulate_s"].mean()
        values = {
            ("simulate", "time"): mean_s,
            ("simulate", "time_max"): timing.simulate_s,
            ("simulate", "real_time_factor"): timing.real_time_factor,
        }
        for name, times in timing.phases.items():
            values[f"simulate->{name}", "time"] = times.mean_s
            values[f"simulate->{name}", "time_max"] = times.max_s
        for key, value in values.items():
            point = (planned.ranks, planned.fields["preset.indegree"])
            expected.setdefault(key, {}).setdefault(point, []).append(value)
    assert found == expected
    assert all(len(values) == 2 for points in found.values() for values in points.values())


def test_call_paths_at_different_points_are_refused_or_chosen(tmp_path):
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]
    results = results_of(tmp_path, grid, ranks=[1, 2])
    with pytest.raises(BadInput, match="same points; schedule=conventional->simulate lacks some"):
        exported(results)
    parameters, found = read(exported(results, ("schedule=structure_aware",))[0])
    assert parameters == ["ranks", "D"]
    assert len(found["simulate->update", "time"]) == 4
    parameters, found = read(exported(results, ("schedule=structure_aware", "D=5"))[0])
    assert parameters == ["ranks"]
    for only, allowed in (
        ("schedule=none", "schedule=conventional or structure_aware"),
        ("colour=red", "NAME=VALUE, with one of ranks, threads, D, neurons, indegree, schedule"),
    ):
        with pytest.raises(BadInput, match=f"only: '{only}'; expected {allowed}"):
            exported(results, (only,))


def test_command(tmp_path, spikemark, refusal):
    results = results_of(tmp_path, [{}], ranks=[1, 2])
    text, _ = exported(results)
    command = ("export", tmp_path, "--format")
    caution = f"warning: {load_folder(results.path).cautions[0]}\n"  # these runs are short
    assert spikemark(*command, "extra-p") == (0, text, caution)
    assert spikemark(*command, "extra-p", "--output", tmp_path / "x.jsonl") == (0, "", caution)
    assert (tmp_path / "x.jsonl").read_text() == text
    assert refusal(*command, "xls").startswith("--format: 'xls'")
    (results.run(results.read_plan().runs[0].id) / "record.json").write_text("{")
    status, output, errors = spikemark(*command, "extra-p")
    assert (status, len(read(output)[1]["simulate", "time_max"]), len(errors.splitlines())) == (
        1,
        1,
        2,
    )


def test_csv_has_all_columns_and_says_their_units(tmp_path, spikemark):
    results = results_of(tmp_path, [{"preset.indegree": [10, 20]}], ranks=[1, 2], repetitions=2)
    status, text, errors = spikemark("export", tmp_path, "--format", "csv")
    assert (status, len(errors.splitlines())) == (0, 1)  # that these runs are short
    runs = load_folder(results.path).runs
    read_back = pd.read_csv(io.StringIO(text), comment="#")
    assert list(read_back.columns) == list(runs.columns) and len(read_back) == len(runs) == 8
    assert read_back["id"].tolist() == runs["id"].tolist()
    assert read_back["simulate_s"].tolist() == pytest.approx(runs["simulate_s"].tolist())
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert len(heads) == len(runs.columns)
    assert any(line.startswith("# simulate_s [s]: ") for line in heads)
    one = spikemark("export", tmp_path, "--format", "csv", "--only", "ranks=2")[1]
    assert pd.read_csv(io.StringIO(one), comment="#")["ranks"].unique().tolist() == [2]


def test_folder_without_runs_gets_one_line(tmp_path):
    results = results_of(tmp_path, [{}])
    (results.run(results.read_plan().runs[0].id) / "record.json").unlink()
    with pytest.raises(BadInput, match="no record that can be exported"):
        exported(results)


def test_all_faults_of_a_planned_run_are_named(tmp_path):
    results = results_of(tmp_path, [{"schedule": "conventional"}])
    (planned,) = results.read_plan().runs
    path = results.run(planned.id) / "record.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"ranks": 0, "threads": 0}))
    with pytest.raises(BadInput) as caught:
        load_planned(results, planned)
    assert {caught.value.field, caught.value.others[0].field} == {"ranks", "threads"}
