"""Experiments on simulated machines: their fields, their runs, and pages that never call them
measured.
"""

import json
from pathlib import Path

import pytest
import simulated_parts
import swept
from fake_simulation import write
from html_page import Page
from synthetic import write_run

from spikemark import report
from spikemark.core.errors import BadInput
from spikemark.launch.process import ProgramFailed
from spikemark.records import collect, export, record
from spikemark.records.frames import load_folder
from spikemark.records.plan import SimulatedOn
from spikemark.records.results import Results
from spikemark.report import machine_parts, sweep_page
from spikemark.running import experiments, possible, sweeps
from spikemark.running.experiments import Experiment, expand
from spikemark.running.measure import measure
from spikemark.running.simulation.run import simulate_planned

pytestmark = pytest.mark.slow

OVERSUBSCRIBED = (
    "oversubscribed: 4 ranks x 1 thread on 2 cores of a node; times are no evidence of speed"
)
ON = {"fast": 3, "slow": 1}


def content(machine: dict | None = None, **changes) -> dict:
    given = {
        "machine": {"profile": "jureca-dc", **(machine or {})},
        "set": {"time.simulate_ms": 20, "time.warmup_ms": 0},
        "grid": [{"schedule": ["conventional", "structure_aware"], "delay_ratio": 10}],
        "ranks": 4,
        "seeds": [1, 2],
    }
    return {name: v for name, v in {**swept.PLAIN, **given, **changes}.items() if v is not None}


def experiment(machine: dict | None = None, **changes) -> Experiment:
    return Experiment.model_validate(content(machine, **changes))


def on_parts(machine: Path, given: dict | None = None, **changes) -> Experiment:
    """Of one run on a machine of parts, with changes."""
    return experiment(
        {"profile": str(machine), **(given or {})}, **{"grid": [{}], "seeds": 1, **changes}
    )


def at_hand() -> Experiment:
    """The same on this machine."""
    return experiment().model_copy(update={"machine": None})


def planned(folder: Path, chosen: Experiment) -> tuple[Results, list[str]]:
    results, runs = swept.planned(folder, chosen)
    return results, [run.id for run in runs]


@pytest.fixture
def parts(tmp_path) -> Path:
    """Eight fast nodes and two slow ones of 16 cores."""
    simulated_parts.load(tmp_path)
    return tmp_path / "parts.yaml"


# --- fields and identity


def test_an_axis_of_the_machine_changes_the_run_and_not_its_description(fake):
    runs = expand(experiment(grid=[{"machine.correlation": [0, 0.9], "machine.cv": 0.1}], seeds=1))
    assert sorted((run.machine.correlation, run.machine.cv) for run in runs) == [
        (0, 0.1),
        (0.9, 0.1),
    ]
    assert runs[0].description == runs[1].description and "machine" not in runs[0].description
    assert {run.label for run in runs} == {
        f"correlation={c} cv=0.1 ranks=4 seed=1" for c in (0, 0.9)
    }


def test_identity_follows_the_values_of_the_profile(fake):
    before = {run.id for run in expand(experiment())}
    assert {run.id for run in expand(experiment())} == before
    fake.latency = 2.0
    for other in experiment(), at_hand():
        assert not before & {run.id for run in expand(other)}
    # New fields without a value are no part of it.
    plain = ["profile", "compute", "ranks_per_node", "compute_of", "correlation", "cv", "rate_hz"]
    assert list(SimulatedOn(profile="jureca-dc").identity) == plain
    assert {*SimulatedOn(profile="x", on=ON, threads=2).identity} >= {"on", "threads"}


def test_results_lie_under_the_name_of_the_profile(fake):
    for machine, changes, name in (
        ({}, {}, "jureca-dc"),
        ({"profile": "a/b/mine.yaml"}, {}, "mine"),
        ({}, {"grid": [{"machine.profile": ["jureca-dc", "supermuc-ng"]}]}, "simulated"),
    ):
        assert sweeps.folder(experiment(machine, **changes), None, None).path.name == name
        assert sweeps.folder(experiment(machine, **changes), "named", None).path.name == "named"


def test_ranks_by_part_are_a_mapping_or_the_words_of_the_command_line(parts, tmp_path):
    (one,), (same,), (other,) = (
        expand(on_parts(parts, {"on": on})) for on in (ON, "fast=3,slow=1", "fast=2,slow=2")
    )
    assert (one.id, one.machine.on) == (same.id, ON) and other.id != one.id
    runs = expand(on_parts(parts, grid=[{"machine.on": [ON, {"fast": 1, "slow": 3}]}]))
    assert {run.label.split("=", 1)[1].split()[0] for run in runs} == {
        "fast=3,slow=1",
        "fast=1,slow=3",
    }
    assert [run.machine.ranks_per_node for run in runs] == [None, None]
    lines = "\n".join(f"{name}: {json.dumps(value)}" for name, value in swept.PLAIN.items())
    (tmp_path / "x.yaml").write_text(f"{lines}\nmachine: {{profile: x, on: {{no: 1, off: 1}}}}\n")
    assert experiments.load_experiment(tmp_path / "x.yaml").machine.on == {
        "no": 1,
        "off": 1,
    }  # YAML's true and false


@pytest.mark.parametrize(
    ("given", "each"),
    [
        ({}, 1),
        ({"on": ON}, None),
        ({"on": ON, "ranks_per_node": 1}, 1),
        ({"ranks_per_node": None}, 1),
    ],
)
def test_ranks_of_a_node(given, each):
    found = SimulatedOn(profile="x", **given)
    assert found.ranks_per_node == each
    assert SimulatedOn.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("machine", "changes", "named"),
    [
        ({"compute": "guess"}, {}, "machine.compute='guess'"),
        ({"nodes": 3}, {}, "machine.nodes"),
        ({"cv": True}, {}, "machine.cv=True"),
        ({"correlation": 1}, {}, "machine.correlation=1"),
        ({}, {"grid": [{"machine.speed": 1}]}, "'machine.speed' cannot be set"),
        ({}, {"grid": [{"machine.cv": 1}], "machine": None}, "'machine.cv' cannot be set"),
        ({"compute_of": {"ranks": 3}}, {}, "'ranks' cannot be set"),
        ({}, {"grid": [{"machine.cv": -1}]}, "machine.cv=-1"),
        ({}, {"grid": [{"machine.profile": "nowhere"}]}, "machine='nowhere'"),
        *(
            ({"on": on}, {}, f"machine.on='{on}'")
            for on in ("fast", "fast=2,fast=2", "fast=-1,slow=5")
        ),
        ({"on": {"fast": 0}}, {}, "machine.on.fast=0"),
        ({"on": {"fast": True}}, {}, "machine.on.fast=True"),
        ({"on": {}}, {}, "machine.on"),
        ({"on": ["fast"]}, {}, "machine.on"),
        ({"threads": 0}, {}, "machine.threads=0"),
        ({"ranks_per_node": 0}, {}, "machine.ranks_per_node=0"),
        ({"on": {"fast": 3}}, {}, "machine: ranks=4; "),
        ({"on": {"arm": 4}}, {}, "machine: part 'arm'"),
        ({"on": {"slow": 4}, "threads": 16}, {}, "machine: part slow: 4 ranks; "),
        ({}, {"ranks": 11}, "machine: ranks=11; "),
        ({"threads": 17}, {}, "machine: threads=17; "),
        ({}, {"threads": 2}, "threads=2: "),
        ({"profile": "jureca-dc", "on": ON}, {}, "part 'fast': "),
        (
            {"profile": "simula-bath", "on": "x86=4"},
            {"preset": {"name": "dpsnn"}},
            "machine.rate_hz=None",
        ),
        ({"rate_hz": 5e5}, {"preset": {"name": "dpsnn"}}, "machine.rate_hz=500000.0"),
        (
            {"rate_hz": "by population"},
            {"preset": {"name": "dpsnn"}},
            "machine.rate_hz='by population'",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_line_before_anything_is(
    parts, machine, changes, named
):
    given = content({"profile": str(parts), "ranks_per_node": None, **machine})
    given = {
        name: value
        for name, value in {**given, "grid": [{}], **changes}.items()
        if value is not None
    }
    with pytest.raises(BadInput) as error:
        chosen = experiments.checked(given, Path("x.yaml"))
        possible.sift(chosen, expand(chosen))
    assert named in str(error.value) and "\n" not in str(error.value)


def test_impossible_mixes_are_left_out_where_that_is_wanted(parts):
    grid = [{"machine.on": ["fast=4", "slow=4"], "machine.threads": 16}]
    chosen = on_parts(parts, grid=grid, skip_impossible=True)
    found = possible.sift(chosen, expand(chosen))
    assert [run.machine.on for run in found.runs] == [{"fast": 4}]
    assert "slow=4" in found.lines[0] and "part slow: 4 r" in found.lines[0]


# --- runs


def test_a_run_is_simulated_once_and_kept(fake, tmp_path):
    larger = {"compute_of": {"preset.neurons_per_area": 5000}}
    results, ids = planned(tmp_path, experiment({"ranks_per_node": 2, **larger}))
    path = simulate_planned(results, ids[0])
    assert {p.name for p in path.iterdir()} >= {"record.json", "simulation.json", "launch.json"}
    (call,) = fake.calls
    assert (call["machine"], call["ranks"], call["ranks_per_node"]) == ("jureca-dc", 4, 2)
    for name, size in (("description", 60), ("compute_of", 5000)):
        network = call[name] if name == "compute_of" else call["description"]
        assert {p["size"] for p in network["network"]["populations"]} == {size}
    assert call["compute_of"]["schedule"] == call["description"]["schedule"]
    assert json.loads((path / "launch.json").read_text())["machine"] == "jureca-dc"
    with pytest.raises(BadInput, match="measured already"):
        simulate_planned(results, ids[0])
    seeds = {simulate_planned(results, id) and fake.calls[-1]["seed"] for id in ids[1:]}
    assert len(seeds) == 2  # equal for all schedules of a seed, so that these meet the same jitter


def test_programs_are_an_axis_and_the_mini_app_keeps_its_ids(fake, tmp_path):
    grid = [{"machine.program": ["mini-app", "nest", None]}]
    runs = expand(experiment(grid=grid, seeds=1))
    of_program = {run.machine.program: run.id for run in runs}
    assert len({*of_program.values()}) == len(of_program) == 3
    assert expand(experiment(seeds=1))[0].id == of_program[None]
    results, ids = planned(tmp_path, experiment({"program": "nest"}))
    simulate_planned(results, ids[0])
    assert fake.calls[-1]["program"] == "nest"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (BadInput("no array"), ProgramFailed),
        (ProgramFailed("deadlock"), ProgramFailed),
        (OSError("disk full"), ProgramFailed),
        (ValueError("no array"), ValueError),
    ],
)
def test_what_cannot_be_simulated_leaves_a_reason_and_a_fault_its_trace(
    fault, raised, fake, tmp_path
):
    results, ids = planned(tmp_path, experiment(time_limit_s=60))
    fake.fails = fault
    with pytest.raises(raised):
        simulate_planned(results, ids[0])
    log = results.failure(ids[0]).read_text()
    assert log.startswith(f"{fault}\n" if raised is ProgramFailed else f"{raised.__name__}: ")
    assert ("Traceback" in log) == (raised is not ProgramFailed)
    assert not results.run(ids[0]).exists()


@pytest.mark.parametrize("simulated", [True, False])
def test_a_run_is_only_carried_out_where_it_is_planned(
    simulated, fake, spikemark, tmp_path, monkeypatch
):
    monkeypatch.setenv("SPIKEMARK_MINIAPP", "/nowhere/miniapp")
    results, ids = planned(tmp_path, experiment() if simulated else at_hand())
    with pytest.raises(BadInput, match="planned on"):
        (measure if simulated else simulate_planned)(results, ids[0])
    status, output, errors = spikemark("run", results.path, ids[0])
    if simulated:
        assert (status, errors) == (0, "") and ids[0] in output and results.measured(ids[0])
    else:
        assert status == 2 and "/nowhere/miniapp is not an executable file" in errors


@pytest.mark.parametrize(
    ("variable", "missing"),
    [("PATH", "libsimgrid-dev"), ("SPIKEMARK_MINIAPP_SMPI", "must name an exec")],
)
def test_what_is_missing_is_said_once_before_anything_is_simulated(
    variable, missing, fake, tmp_path, monkeypatch
):
    monkeypatch.setenv(variable, "/nowhere")
    chosen = experiment()
    with pytest.raises(BadInput, match=missing):
        sweeps.sweep(chosen, expand(chosen), Results(tmp_path / "results"), report.conclude)
    assert not (tmp_path / "results").exists()


# --- pages


@pytest.mark.parametrize("simulated", [True, False])
def test_measured_and_simulated_records_do_not_mix(simulated, fake, tmp_path):
    """A record of the other kind in the place of a run is named and left out."""
    results, ids = planned(tmp_path, experiment() if simulated else at_hand())
    for id in ids:
        other = "measured" if simulated else "simulated"
        write(results.run(id), results.read_description(id), 4, "jureca-dc", other)
    frames = load_folder(results.path)
    assert frames.runs.empty and set(frames.unreadable) == set(ids)
    assert all(": kind='" in line for line in collect.collect(frames))
    assert (
        record.load_run(write_run(tmp_path / "old")).record.kind == "measured"
    )  # from before the field


def test_the_page_says_simulated_and_what_was_assumed(fake, tmp_path):
    """Of four simulated runs, whose records warn of more ranks than cores here, which do not
    matter.
    """
    results, ids = planned(tmp_path / "jureca-dc", experiment())
    for id in ids:
        path = simulate_planned(results, id) / "record.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "warnings": [OVERSUBSCRIBED]}))
    made = sweep_page.write(load_folder(results.path), results.report)
    assert set(made.frames.runs["kind"]) == {"simulated"}
    page = Page(results.report.read_text(encoding="utf-8"))
    assert "simulated" in page.text and "measured on" not in page.text
    assert "gap: 0.3 us" in page.text and "3.32" in page.text and "10.0 s for 4 runs" in page.text
    assert "no evidence of speed" not in page.text and page.loads == []


def test_a_sweep_on_parts_and_its_page(parts, tmp_path):
    grid = [{"schedule": "conventional", "machine.on": [ON, {"fast": 2, "slow": 2}]}]
    grid[0] |= {
        "preset.neurons_per_area": 30_000
    }  # so that computing, not the barrier, makes ranks wait
    chosen = on_parts(parts, {"ranks_per_node": 1, "cv": 1e-3}, grid=grid)
    results, runs = swept.planned(tmp_path / "results", chosen)
    for run in runs:
        about = record.load_run(simulate_planned(results, run.id)).simulation
        assert {name: own["ranks"] for name, own in about["parts"].items()} == run.machine.on
    sweep = load_folder(results.path)
    by_run = machine_parts.table(sweep).rows
    expected = [(part, ranks) for run in sweep.planned for part, ranks in run.machine.on.items()]
    assert [(row["part"], row["ranks"]) for row in by_run] == expected
    assert all(row["computing_s"] > 0 for row in by_run)
    fast, slow = by_run[:2]
    assert slow["computing_s"] > fast["computing_s"] and slow["waiting_s"] < fast["waiting_s"]
    words = export._described(sweep)["machine.on"]
    assert [json.loads(word) for word in words] == [run.machine.on for run in sweep.planned]
    sweep_page.write(sweep, results.report)
    page = Page(results.report.read_text(encoding="utf-8"))
    assert "3 ranks on fast" in page.text and machine_parts.TITLE in page.text
