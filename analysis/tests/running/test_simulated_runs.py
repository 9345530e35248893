"""Experiments on simulated machines: their fields, their runs, and pages that never call them measured."""

import json
import re
import time
from pathlib import Path

import pytest
import swept
from fake_simulation import write
from html_page import Page
from pydantic import ValidationError
from synthetic import write_run

from spikemark import report
from spikemark.core.errors import BadInput
from spikemark.records import collect, record
from spikemark.records.experiment_fields import one_line
from spikemark.records.gather import gather
from spikemark.records.results import Results
from spikemark.running import sweeps
from spikemark.running.carry_out import RunFailed
from spikemark.running.experiments import Experiment, expand
from spikemark.running.measure import measure
from spikemark.running.progress import Progress
from spikemark.running.simulate import simulate
from spikemark.running.simulation.smpirun import SimulationFailed

OVERSUBSCRIBED = "oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"


def experiment(machine: dict | None = None, **changes) -> Experiment:
    content = {
        "machine": {"profile": "jureca-dc", **(machine or {})},
        "set": {"time.simulate_ms": 20, "time.warmup_ms": 0},
        "grid": [{"schedule": ["conventional", "structure_aware"], "delay_ratio": 10}],
        "ranks": 4,
        "seeds": [1, 2],
    }
    return Experiment.model_validate({**swept.PLAIN, **content, **changes})


def at_hand() -> Experiment:
    """The same on this machine."""
    return experiment().model_copy(update={"machine": None})


def planned(folder: Path, chosen: Experiment) -> tuple[Results, list[str]]:
    results, runs = swept.planned(folder, chosen)
    return results, [run.id for run in runs]


def test_an_axis_of_the_machine_changes_the_run_and_not_its_description(fake):
    chosen = experiment(grid=[{"machine.correlation": [0, 0.9], "machine.cv": 0.1}], seeds=1)
    runs = expand(chosen)
    assert sorted(run.machine.correlation for run in runs) == [0, 0.9]
    assert {run.machine.cv for run in runs} == {0.1}
    assert runs[0].description == runs[1].description
    assert "machine" not in runs[0].description
    assert {run.label for run in runs} == {f"correlation={c} cv=0.1 ranks=4 seed=1" for c in (0, 0.9)}


def test_identity_follows_the_values_of_the_profile(fake):
    before = {run.id for run in expand(experiment())}
    assert {run.id for run in expand(experiment())} == before
    fake.latency = 2.0
    assert not before & {run.id for run in expand(experiment())}
    plain = expand(at_hand())
    assert not before & {run.id for run in plain}


def test_compute_times_may_be_those_of_a_larger_network(fake, tmp_path):
    chosen = experiment({"compute_of": {"preset.neurons_per_area": 5000}}, seeds=1)
    results, ids = planned(tmp_path, chosen)
    simulate(results, ids[0])
    (call,) = fake.calls
    assert {p["size"] for p in call["description"]["network"]["populations"]} == {60}
    assert {p["size"] for p in call["compute_of"]["network"]["populations"]} == {5000}
    assert call["compute_of"]["schedule"] == call["description"]["schedule"]


def test_results_lie_under_the_name_of_the_profile(fake):
    assert sweeps.folder(experiment(), None, None).path.name == "jureca-dc"
    assert sweeps.folder(experiment({"profile": "a/b/mine.yaml"}), None, None).path.name == "mine"
    several = experiment(grid=[{"machine.profile": ["jureca-dc", "supermuc-ng"]}])
    assert sweeps.folder(several, None, None).path.name == "simulated"
    assert sweeps.folder(several, "named", None).path.name == "named"


@pytest.mark.parametrize(
    ("machine", "grid", "named"),
    [
        ({"compute": "guess"}, {}, "machine.compute: 'guess'"),
        ({"nodes": 3}, {}, "unknown field 'machine.nodes': allowed are profile"),
        ({"cv": True}, {}, "machine.cv: True"),
        ({"correlation": 1}, {}, "machine.correlation: 1"),
        ({}, {"machine.speed": 1}, "'machine.speed' cannot be set: allowed are machine.profile"),
        (None, {"machine.cv": 1}, "'machine.cv' cannot be set"),
        ({"compute_of": {"ranks": 3}}, {}, "'ranks' cannot be set"),
    ],
)
def test_bad_input_names_the_field(machine, grid, named):
    content = experiment().model_dump(exclude={"description"}) | ({"grid": [grid]} if grid else {})
    with pytest.raises(ValidationError) as error:
        Experiment.model_validate(
            content | {"machine": None if machine is None else {"profile": "jureca-dc", **machine}}
        )
    assert named in one_line(error.value)


@pytest.mark.parametrize(
    ("machine", "named"),
    [
        ({"machine.cv": -1}, r"grid: machine\.cv=-1"),
        ({"machine.profile": "nowhere"}, "machine 'nowhere' not found"),
    ],
)
def test_bad_values_of_an_axis(machine, named, fake):
    with pytest.raises(BadInput, match=named):
        expand(experiment(grid=[machine]))


def test_a_run_is_simulated_once_and_kept(fake, tmp_path):
    results, ids = planned(tmp_path, experiment({"ranks_per_node": 2}))
    path = simulate(results, ids[0])
    assert {p.name for p in path.iterdir()} >= {"record.json", "simulation.json", "launch.json"}
    (call,) = fake.calls
    assert (call["machine"], call["ranks"], call["ranks_per_node"]) == ("jureca-dc", 4, 2)
    assert json.loads((path / "launch.json").read_text())["machine"] == "jureca-dc"
    with pytest.raises(BadInput, match="measured already"):
        simulate(results, ids[0])
    seeds = {simulate(results, id) and fake.calls[-1]["seed"] for id in ids[1:]}
    assert len(seeds) == 2  # equal for all schedules of a seed, so that these meet the same jitter


@pytest.mark.parametrize(
    "error", [BadInput("SimGrid is missing"), SimulationFailed("deadlock"), OSError("disk full")]
)
def test_what_cannot_be_simulated_leaves_a_reason(error, fake, tmp_path):
    results, ids = planned(tmp_path, experiment())
    fake.fails = error
    with pytest.raises(RunFailed, match=str(error)):
        simulate(results, ids[0])
    assert results.failure(ids[0]).read_text().startswith(f"{error}\n")
    assert not results.run(ids[0]).exists()


@pytest.mark.parametrize("fault", [ValueError("no array"), RuntimeError("a fault"), KeyError("gone")])
def test_a_fault_of_the_program_keeps_its_trace(fault, fake, tmp_path):
    results, ids = planned(tmp_path, experiment())
    fake.fails = fault
    with pytest.raises(type(fault)):
        simulate(results, ids[0])
    log = results.failure(ids[0]).read_text()
    assert log.startswith(f"{type(fault).__name__}: ") and "Traceback" in log
    assert not results.run(ids[0]).exists()


def test_a_run_is_only_carried_out_where_it_is_planned(fake, tmp_path):
    results, ids = planned(tmp_path / "simulated", experiment())
    with pytest.raises(BadInput, match="planned on the simulated machine jureca-dc"):
        measure(results, ids[0])
    results, ids = planned(tmp_path / "measured", at_hand())
    with pytest.raises(BadInput, match="planned on this machine"):
        simulate(results, ids[0])


@pytest.mark.parametrize("simulated", [True, False])
def test_the_command_carries_out_a_run_where_it_is_planned(simulated, fake, spikemark, tmp_path, monkeypatch):
    monkeypatch.setenv("SPIKEMARK_MINIAPP", "/nowhere/miniapp")
    results, ids = planned(tmp_path, experiment() if simulated else at_hand())
    status, output, errors = spikemark("run", results.path, ids[0])
    if simulated:
        assert (status, output, errors) == (0, f"{results.run(ids[0])}\n", "")
    else:
        assert status == 2 and "/nowhere/miniapp is not an executable file" in errors


@pytest.mark.parametrize(
    ("variable", "missing"), [("PATH", "libsimgrid-dev"), ("SPIKEMARK_MINIAPP_SMPI", "must name an exec")]
)
def test_what_is_missing_is_said_once_before_anything_is_simulated(
    variable, missing, fake, tmp_path, monkeypatch
):
    monkeypatch.setenv(variable, "/nowhere")
    chosen = experiment()
    with pytest.raises(BadInput, match=missing):
        sweeps.sweep(chosen, expand(chosen), Results(tmp_path / "results"), report.conclude)
    assert not (tmp_path / "results").exists()


def test_a_simulation_ends_at_the_time_limit(fake, tmp_path, monkeypatch):
    results, ids = planned(tmp_path, experiment(time_limit_s=0.2))
    monkeypatch.setattr("spikemark.running.simulation.run.simulate", lambda *_, **__: time.sleep(60))
    with pytest.raises(RunFailed, match=r"time limit of 0\.2 s"):
        simulate(results, ids[0])


@pytest.mark.parametrize("simulated", [True, False])
def test_measured_and_simulated_records_do_not_mix(simulated, fake, tmp_path):
    """A record of the other kind in the place of a run is named and left out."""
    results, ids = planned(tmp_path, experiment() if simulated else at_hand())
    runs = [results.read_plan().run(id) for id in ids]
    for run in runs:
        description = results.read_description(run.id)
        write(results.run(run.id), description, 4, "jureca-dc", "measured" if simulated else "simulated")
    found = collect.collect(gather(results.path))
    assert len(found.runs) == 0 and len(found.complaints) == len(ids)
    assert all("record.kind" in line and "the plan says" in line for line in found.complaints)
    report.build(gather(results.path), results.report)
    assert f"0 of {len(ids)}" in Page(results.report.read_text()).text


@pytest.fixture
def page(fake, tmp_path) -> Page:
    """Of four simulated runs, whose records warn of more ranks than cores here."""
    results, ids = planned(tmp_path / "jureca-dc", experiment())
    for id in ids:
        path = simulate(results, id)
        content = json.loads((path / "record.json").read_text())
        (path / "record.json").write_text(json.dumps({**content, "warnings": [OVERSUBSCRIBED]}))
    headline = str(report.build(gather(results.path), results.report))
    assert "On the simulated machine" in headline and "measured" not in headline
    return Page(results.report.read_text(encoding="utf-8"))


def test_the_page_says_simulated_and_nowhere_measured(page):
    shown, glossary = page.text.split("given (kind of number)")  # which explains every kind on every page
    assert not re.search(r"\b[Mm]easured\b", shown) and "measured (kind of number)" in glossary
    assert "simulated: spikes and messages are those of the real program" in page.text
    assert "profile JURECA-DC" in page.text
    assert page.loads == []


def test_the_page_shows_what_simulating_cost_and_assumed(page):
    assert "10.0 s for 4 runs, 2.50 s each" in page.text
    assert "gap: 0.3 us" in page.text and "SimGrid 3.32" in page.text


def test_more_ranks_than_cores_here_do_not_matter(page):
    """The real-time factors are shown, not withheld."""
    assert "with more ranks × threads than cores, which are" not in page.text
    assert re.search(r"real-time factor of [\d.]+ against [\d.]+ for conventional on 4 ranks", page.text)


def test_progress_tells_the_cost(fake, tmp_path, capsys):
    results, ids = planned(tmp_path, experiment())
    with Progress(results, results.read_plan().runs) as progress:
        simulate(results, ids[0])
        progress.look()
    assert "simulated in 2.5 s" in capsys.readouterr().out


def test_a_record_from_before_the_field_is_measured(tmp_path):
    assert record.load(write_run(tmp_path / "run")).record.kind == "measured"
