"""`spikemark export`: what Extra-P would read of a results folder."""

import json
from collections import Counter

import numpy as np
import pytest
import swept
from edited_record import set_times
from synthetic_record import PHASES

from spikemark.core.errors import BadInput
from spikemark.records.export import extra_p
from spikemark.records.gather import gather
from spikemark.records.matching import load_planned
from spikemark.records.results import Results
from spikemark.running.experiments import expand, load


def exported(results, only=()):
    """The lines and complaints for a results folder."""
    return extra_p(gather(results.path), only)


def results_of(folder, grid, **experiment) -> Results:
    """Synthetic records of all runs of a grid."""
    results, runs = swept.planned(folder, grid=grid, **{"ranks": 1, **experiment})
    for run in runs:
        swept.write(results, run)
    return results


def read(text: str) -> dict:
    """As the documentation of the format says: {(callpath, metric): {coordinate: [repetitions]}}."""
    assert text.endswith("\n")
    lines = [json.loads(line) for line in text.splitlines()]
    parameters = list(lines[0]["params"])
    found = {}
    for line in lines:
        assert set(line) == {"params", "callpath", "metric", "value"}
        assert set(line["params"]) == set(parameters)
        assert all(type(value) in (int, float) for value in (*line["params"].values(), line["value"]))
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


def test_what_is_no_number_stands_in_the_call_path(tmp_path):
    grid = [{"schedule": ["conventional", "structure_aware"], "delay_ratio": [5, 10]}]
    parameters, found = read(exported(results_of(tmp_path, grid, ranks=[1, 2]))[0])
    assert parameters == ["ranks", "D"]
    assert set(found["schedule=structure_aware->simulate->update", "time"]) == {
        (1, 5),
        (1, 10),
        (2, 5),
        (2, 10),
    }
    assert {path.split("->")[0] for path, _ in found} == {"schedule=conventional", "schedule=structure_aware"}


def test_call_paths_at_different_points_are_refused_or_chosen(tmp_path):
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]
    results = results_of(tmp_path, grid, ranks=[1, 2])
    with pytest.raises(
        BadInput, match="of 4 points: schedule=conventional at 2, schedule=structure_aware at 4"
    ):
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
        with pytest.raises(BadInput, match=f"--only: '{only}'; allowed: {allowed}"):
            exported(results, (only,))


@pytest.mark.parametrize("value", ["20", "20.0", "2e1"])
def test_a_number_may_be_written_in_any_way(tmp_path, value):
    results = results_of(tmp_path, [{"preset.indegree": [10, 20], "ranks": [1, 2]}])
    parameters, found = read(exported(results, (f"indegree={value}",))[0])
    assert parameters == ["ranks"] and len(found["simulate", "time"]) == 2
    with pytest.raises(BadInput, match=r"--only: 'indegree=30'; allowed: indegree=(10 or 20|20 or 10)"):
        exported(results, ("indegree=30",))


def test_a_phase_that_lacks_a_point_is_left_out(tmp_path):
    grid = [{"record.barrier": True, "ranks": 1}, {"record.barrier": False, "ranks": 2}]
    results = results_of(tmp_path, grid)
    with pytest.raises(BadInput, match="to be measured at the same points"):
        exported(results)
    results = results_of(tmp_path / "b", [{"ranks": [1, 2]}])
    path = results.run(results.read_plan().runs[0].id)
    times = np.load(path / "cycles.npy")
    times[:, :, PHASES.index("synchronise")] = np.nan
    set_times(path, times)
    text, complaints = exported(results)
    assert ("simulate->synchronise", "time") not in read(text)[1]
    assert len(complaints) == 2
    assert complaints[0] == "simulate->synchronise, time: not measured at every point; left out"


def test_number_of_the_description_is_a_parameter(tmp_path):
    """Also in runs whose entry of the grid does not name it, since the record does."""
    grid = [{"inject.mean_us": [5, 10]}, {"inject.sd_us": 2}]
    results = results_of(tmp_path, grid, threads=[1, 2], set={"inject.mean_us": 1, "inject.sd_us": 0})
    parameters, found = read(exported(results)[0])
    assert parameters == ["threads", "inject.mean_us", "inject.sd_us"]
    assert set(found["simulate", "time_max"]) == {(t, *i) for t in (1, 2) for i in ((5, 0), (10, 0), (1, 2))}


def test_the_layout_on_nodes_tells_runs_apart(tmp_path):
    """Although no description holds it."""
    grid = [{"ranks_per_node": [1, 2], "distribution": ["block", "cyclic"]}]
    parameters, found = read(exported(results_of(tmp_path, grid, ranks=2))[0])
    assert parameters == ["ranks_per_node"]
    assert {path.split("->")[0] for path, _ in found} == {"distribution=block", "distribution=cyclic"}


def test_option_that_is_no_size_is_a_parameter(tmp_path):
    grid = [{"preset.rate": [5, 10]}]
    assert read(exported(results_of(tmp_path, grid))[0])[0] == ["preset.rate"]


def test_where_nothing_varies_there_are_ranks(tmp_path):
    parameters, found = read(exported(results_of(tmp_path, [{}], ranks=2))[0])
    assert parameters == ["ranks"]
    assert len(found["simulate", "time_max"][2,]) == 1


def test_phase_without_a_time_has_no_line(tmp_path):
    _, found = read(exported(results_of(tmp_path, [{"record.barrier": False}]))[0])
    assert ("simulate->exchange", "time") in found
    assert ("simulate->synchronise", "time") not in found


def test_command(tmp_path, spikemark, refusal):
    results = results_of(tmp_path, [{}], ranks=[1, 2])
    text, _ = exported(results)
    command = ("export", tmp_path, "--format")
    assert spikemark(*command, "extra-p") == (0, text, "")
    assert spikemark(*command, "extra-p", "--output", tmp_path / "x.jsonl") == (0, "", "")
    assert (tmp_path / "x.jsonl").read_text() == text
    assert refusal(*command, "csv") == "--format: 'csv' is not allowed: one of figures, extra-p"
    (results.run(results.read_plan().runs[0].id) / "record.json").write_text("{")
    status, output, errors = spikemark(*command, "extra-p")
    assert (status, len(read(output)[1]["simulate", "time_max"]), len(errors.splitlines())) == (1, 1, 1)


def test_folder_without_runs_gets_one_line(tmp_path):
    results = results_of(tmp_path, [{}])
    (results.run(results.read_plan().runs[0].id) / "record.json").unlink()
    with pytest.raises(BadInput, match="no record that can be exported"):
        exported(results)


def test_an_experiment_has_the_five_values_that_extra_p_asks_for():
    runs = expand(load("scaling"))
    points = Counter((run.ranks, run.threads, *sorted(run.fields.items())) for run in runs)
    assert len(points) >= 5 and len({*points.values()}) == 1
