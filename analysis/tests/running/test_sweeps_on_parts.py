"""Experiments on simulated machines of unequal parts: which ranks are on which part, and the pages."""

import json
from pathlib import Path

import pytest
import simulated_parts
import swept
from html_page import Page
from pydantic import ValidationError

from spikemark import machines, report
from spikemark.core.errors import BadInput
from spikemark.records import export, record
from spikemark.records.experiment_fields import one_line
from spikemark.records.gather import gather
from spikemark.records.plan import SimulatedOn
from spikemark.report import machine_parts
from spikemark.running import experiments, possible, sweeps
from spikemark.running.edited import edited
from spikemark.running.experiments import Experiment, expand
from spikemark.running.simulate import simulate

ON = {"fast": 3, "slow": 1}
SHORT = {"time.simulate_ms": 50, "time.warmup_ms": 0}


@pytest.fixture
def machine(tmp_path) -> Path:
    """Eight fast nodes and two slow ones of 16 cores."""
    simulated_parts.load(tmp_path)
    return tmp_path / "parts.yaml"


def experiment(profile: object, machine: dict | None = None, **changes) -> Experiment:
    content = {"machine": {"profile": str(profile), **(machine or {})}, "set": SHORT, "ranks": 4}
    return Experiment.model_validate({**swept.PLAIN, **content, **changes})


def test_ranks_by_part_are_a_mapping_or_the_words_of_the_command_line(machine):
    (one,), (same,) = (
        expand(experiment(machine, {"on": on})) for on in (ON, "fast=3,slow=1")
    )  # fmt: skip
    assert (one.id, one.machine.on) == (same.id, ON)
    assert expand(experiment(machine, {"on": {"fast": 2, "slow": 2}}))[0].id != one.id


@pytest.mark.parametrize("name", machines.names_of_parted())
def test_every_machine_of_parts_is_planned(name):
    on = dict.fromkeys(machines.load_any(name).parts, 1)
    chosen = experiment(name, {"on": on}, ranks=len(on))
    assert len(possible.sift(chosen, expand(chosen)).runs) == 1
    assert sweeps.folder(chosen, None, None).path.name == name


def test_keys_that_yaml_once_took_for_true_and_false(tmp_path):
    """`on`, and parts of such names."""
    plain = "\n".join(f"{name}: {json.dumps(value)}" for name, value in swept.PLAIN.items())
    file = tmp_path / "experiment.yaml"
    file.write_text(f"{plain}\nmachine: {{profile: x, on: {{no: 1, off: 1}}}}\n")
    assert experiments.load(file).machine.on == {"no": 1, "off": 1}


@pytest.mark.parametrize(
    ("given", "each"),
    [({}, 1), ({"on": ON}, None), ({"on": ON, "ranks_per_node": 1}, 1), ({"ranks_per_node": None}, 1)],
)
def test_ranks_of_a_node(given, each):
    found = SimulatedOn(profile="x", **given)
    assert found.ranks_per_node == each
    assert SimulatedOn.model_validate_json(found.model_dump_json()) == found


def test_the_ids_of_runs_on_equal_nodes_are_what_they_were():
    """New fields without a value are no part of them."""
    assert list(SimulatedOn(profile="jureca-dc").identity) == [
        "profile", "compute", "ranks_per_node", "compute_of", "correlation", "cv", "rate_hz",
    ]  # fmt: skip
    assert set(SimulatedOn(profile="x", on=ON, threads=2).identity) >= {"on", "threads"}


def test_an_axis_of_mixes(machine):
    mixes = [ON, {"fast": 1, "slow": 3}]
    chosen = experiment(machine, grid=[{"schedule": "conventional", "machine.on": mixes}])
    runs = expand(chosen)
    assert {run.label.split("=", 1)[1].split()[0] for run in runs} == {"fast=3,slow=1", "fast=1,slow=3"}
    assert [run.machine.ranks_per_node for run in runs] == [None, None]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"on": "fast"}, "machine.on: 'fast' is not allowed: each part once with its ranks is needed"),
        ({"on": {"fast": 0}}, "machine.on.fast: 0 is not allowed"),
        ({"on": {"fast": True}}, "machine.on.fast: True is not allowed"),
        ({"on": {}}, "machine.on: {} is not allowed"),
        ({"on": ["fast"]}, "machine.on: ['fast'] is not allowed"),
        ({"threads": 0}, "machine.threads: 0 is not allowed"),
        ({"ranks_per_node": 0}, "machine.ranks_per_node: 0 is not allowed"),
    ],
)
def test_impossible_fields_are_refused_in_one_line(given, complaint):
    with pytest.raises(ValidationError) as error:
        experiment("jureca-dc", given)
    assert one_line(error.value).startswith(complaint)


@pytest.mark.parametrize(
    ("given", "changes", "complaint"),
    [
        ({"on": {"fast": 3}}, {}, "machine: ranks of the parts: 3 in all; allowed: ranks=4"),
        ({"on": {"arm": 4}}, {}, "machine: part 'arm'; allowed: fast, slow"),
        ({"on": {"slow": 4}, "threads": 16}, {}, "machine: part slow: 4 ranks; allowed: up to 2, 1 on each"),
        ({}, {"ranks": 11}, "machine: ranks=11; allowed: up to 10, which the parts of parts take"),
        ({"threads": 17}, {}, "machine: threads=17: a node of fast has 16 cores"),
        ({"threads": 2, "compute": "execute"}, {}, "machine: threads=2: allowed is 1 where compute times"),
        ({}, {"threads": 2}, "threads=2: allowed with the field 'machine' is 1; machine.threads says more"),
    ],
)
def test_what_a_machine_cannot_take_is_refused_before_anything_is_simulated(
    machine, given, changes, complaint
):
    chosen = experiment(machine, given, **changes)
    with pytest.raises(BadInput) as error:
        possible.sift(chosen, expand(chosen))
    assert complaint in str(error.value)


def test_a_rate_that_nobody_states_is_asked_for_before_anything_is_simulated():
    silent = {"preset": {"name": "dpsnn"}, "description": None}
    chosen = experiment("simula-bath", {"on": "x86=4"}, **silent)
    with pytest.raises(BadInput, match=r"machine\.rate_hz=None: population 'network-F' has no rate"):
        possible.sift(chosen, expand(chosen))
    told = experiment("simula-bath", {"on": "x86=4", "rate_hz": 3}, **silent)
    assert len(possible.sift(told, expand(told)).runs) == 1
    wild = experiment("simula-bath", {"on": "x86=4", "rate_hz": 5e5}, **silent)
    with pytest.raises(BadInput, match=r"machine\.rate_hz=500000\.0: rates in Hz from 0 to"):
        possible.sift(wild, expand(wild))


def test_parts_of_a_machine_of_equal_nodes():
    chosen = experiment("jureca-dc", {"on": ON})
    with pytest.raises(BadInput, match=r"part 'fast': all nodes of jureca-dc are equal: it has no parts"):
        possible.sift(chosen, expand(chosen))


def test_impossible_mixes_are_left_out_where_that_is_wanted(machine):
    grid = [{"schedule": "conventional", "machine.on": ["fast=4", "slow=4"], "machine.threads": 16}]
    chosen = experiment(machine, grid=grid, skip_impossible=True)
    found = possible.sift(chosen, expand(chosen))
    assert [run.machine.on for run in found.runs] == [{"fast": 4}]
    assert "left out: conventional on=slow=4 threads=16 ranks=4: machine: part slow: 4 r" in found.lines[0]


def test_a_sweep_and_its_page(machine, tmp_path):
    grid = [{"schedule": "conventional", "machine.on": [ON, {"fast": 2, "slow": 2}]}]
    chosen = experiment(machine, {"ranks_per_node": 1}, grid=grid)
    results, runs = swept.planned(tmp_path / "results", chosen)
    assert edited(chosen, results.read_plan()) == ""
    for run in runs:
        about = record.load(simulate(results, run.id)).simulation
        assert {name: own["ranks"] for name, own in about["parts"].items()} == run.machine.on
    sweep = gather(results.path)
    by_run = machine_parts.table(sweep.runs).rows
    assert [(row["part"], row["ranks"]) for row in by_run] == [
        (part, ranks) for m in sweep.runs for part, ranks in m.planned.machine.on.items()
    ]
    assert all(row["computing_s"] > 0 and row["power_w"] and row["energy_per_event_uj"] for row in by_run)
    fast, slow = by_run[:2]
    assert slow["computing_s"] > fast["computing_s"] and slow["waiting_s"] < fast["waiting_s"]
    words = [word["machine.on"] for word in export.chosen(sweep.runs, ())[2]]
    assert [json.loads(word) for word in words] == [m.planned.machine.on for m in sweep.runs]
    report.build(gather(results.path), results.report)
    page = Page(results.report.read_text(encoding="utf-8"))
    assert "ranks by part of the machine" in page.text and "3 ranks on 3 nodes of fast" in page.text
    assert machine_parts.TITLE in page.text
