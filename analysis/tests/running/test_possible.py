"""Points of a grid that the mini-app would refuse are found before anything is measured."""

import pytest
import yaml

from spikemark.core.errors import BadInput
from spikemark.records.experiment_fields import Experiment
from spikemark.running import possible
from spikemark.running.experiments import expand, load_experiment

SMALL = {"name": "mam-benchmark", "options": {"areas": 4, "neurons_per_area": 100, "indegree": 20}}


def experiment(grid: dict, **changes) -> Experiment:
    """An experiment of four areas on four ranks, with two seeds."""
    fields = {
        "name": "x",
        "title": "x",
        "preset": SMALL,
        "ranks": 4,
        "seeds": [1, 2],
        "shuffle_seed": 1,
    }
    return Experiment.model_validate({**fields, "grid": [grid], **changes})


def sift(*arguments, **changes) -> possible.PossibleRuns:
    made = experiment(*arguments, **changes)
    return possible.sift(made, expand(made))


LARGE_D = {"schedule": "structure_aware", "delay_ratio": [10, 20]}


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (LARGE_D, ["x: structure_aware D=20 ranks=4: ", "windows of 20 cycles", "allows 10"]),
        ({"schedule": "overlapped", "delay_ratio": 5}, ["overlapped D=5 ranks=4: ", "delay_ratio"]),
        (
            {"schedule": [[{"name": "near", "group": 3}, {"name": "world"}]]},
            ["schedule.0.group=3; "],
        ),
        (
            {"schedule": "structure_aware", "placement": "area", "ranks": [2, 8]},
            ["placement=area ranks=8: ", "'area': cannot deal 4 areas"],
        ),
        ({"schedule": "round"}, ["round ranks=4: ", "conventional"]),
        ({"exchange": "pigeon"}, ["exchange=pigeon ranks=4: ", "alltoallv"]),
        ({"threads": 5000}, ["threads=5000", "at most 4096"]),
        (
            {"network.populations.0.neuron.model": "lif"},
            ["network.populations.0.neuron.model='lif'; expected ignore_and_fire"],
        ),
        ({"time.simulate_ms": "long"}, ["simulate_ms=long ranks=4: ", "'long'"]),
    ],
)
def test_one_line_names_the_point_and_the_reason(grid, words):
    with pytest.raises(BadInput) as refusal:
        sift(grid)
    message = str(refusal.value)
    assert "\n" not in message and "seed=" not in message
    assert [word for word in words if word not in message] == [], message


def test_impossible_points_are_left_out_where_the_experiment_says_so():
    found = sift(LARGE_D, skip_impossible=True)
    assert {(run.description["delay_ratio"], run.seed) for run in found.runs} == {(10, 1), (10, 2)}
    (line,) = found.lines
    assert line.startswith("left out: structure_aware D=20 ranks=4: delay_ratio=20: lane far ")
    with pytest.raises(BadInput, match="structure_aware D=20 ranks=4"):
        sift({"schedule": "structure_aware", "delay_ratio": 20}, skip_impossible=True)
    with pytest.raises(
        BadInput, match=r"\(1 of 2 points cannot be run\); 'skip_impossible: true' leaves such"
    ):
        sift(LARGE_D)


def test_large_grids_are_checked_once_for_each_point(monkeypatch):
    asked, refusal = [], possible.refusal
    monkeypatch.setattr(possible, "refusal", lambda *run: asked.append(run) or refusal(*run))
    found = sift(
        {"record.cycles": [True, False]}, ranks=[1, 2], seeds=list(range(20)), repetitions=5
    )
    assert len(found.runs) == 2 * 2 * 20 * 5
    assert len(asked) == 2 * 2  # seeds and repetitions do not matter


#: Medians of whole runs on a virtual machine with two EPYC cores, s, by experiment, ranks and
#: simulated time (2026-11-22), and of their measured parts, where these were kept (2026-11-28).
TOOK_S = {
    ("smoke", 1, 100): 0.8,
    ("smoke", 2, 100): 0.9,
    ("demo", 1, 5000): 1.3,
    ("demo", 2, 5000): 0.95,
}
MEASURED_S = {("smoke", 1, 100): 0.00013, ("demo", 1, 5000): 0.61, ("demo", 1, 10000): 1.1}


@pytest.mark.parametrize(("name", "ranks", "simulate_ms"), TOOK_S | MEASURED_S)
def test_a_guess_is_what_runs_took_within_a_factor_of_two(name, ranks, simulate_ms):
    chosen = load_experiment(name)
    chosen = chosen.model_copy(update={"set": {**chosen.set, "time.simulate_ms": simulate_ms}})
    run = next(run for run in possible.sift(chosen, expand(chosen)).runs if run.ranks == ranks)
    for took, guess_s in ((TOOK_S, run.guess_s), (MEASURED_S, run.simulate_guess_s)):
        if (name, ranks, simulate_ms) in took:
            assert 0.5 < took[name, ranks, simulate_ms] / guess_s < 2


def test_the_command_refuses_before_anything_is_written(refusal, spikemark, tmp_path):
    path, words = tmp_path / "x.yaml", ("--results", tmp_path / "results")
    content = experiment(LARGE_D).model_dump(mode="json", exclude_defaults=True)
    path.write_text(yaml.safe_dump(content))
    line = refusal("sweep", path, *words)
    assert line.startswith("x: structure_aware D=20 ranks=4: delay_ratio=20: lane far has windows ")
    path.write_text(yaml.safe_dump({**content, "skip_impossible": True}))
    status, output, errors = spikemark("sweep", path, *words, "--dry-run")
    assert status == 0 and "2 runs, 0 done, 2 missing" in output
    assert errors.startswith("left out: structure_aware D=20 ranks=4: ")
    assert not (tmp_path / "results").exists()
