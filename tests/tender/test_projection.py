"""Figures of runs that were not measured: methods, intervals, and what is no run of the bundle."""

import json
from types import SimpleNamespace

import dry_folder
import fake_simulation
import pytest

from spikemark.core.errors import BadInput
from spikemark.machines import filled, load
from spikemark.running.dry_run import carry_out as carrying
from spikemark.tender import projection
from spikemark.tender.fields import HELD
from spikemark.tender.projection import Question, project

RULE = SimpleNamespace(name="target")
FACTOR, ENERGY = "real_time_factor", "joules_per_synaptic_event"


@pytest.fixture
def description():
    return dry_folder.description(seed=3)


@pytest.fixture
def bundle(tmp_path, description):
    """Stands in for a bundle with one run."""
    path = tmp_path / "target.json"
    path.write_text(json.dumps(description))
    rules = [SimpleNamespace(name=name) for name in ("small", "large")]
    return SimpleNamespace(
        description=lambda rule: path,
        read_expected=lambda rule: {},
        rules=lambda names: [rule for rule in rules if rule.name in names],
    )


@pytest.fixture
def simulated(tmp_path, description):
    """Writes a simulated run; `about` changes its simulation.json, `options` its record."""

    def write(number, mean_s=50e-6, about=None, changed=None, **options):
        out = tmp_path / f"simulated-{number}"
        given = {**description, **(changed or {})}
        fake_simulation.write(out, given, 4, "jureca-dc", mean_s=mean_s, **options)
        path = out / "simulation.json"
        content = json.loads(path.read_text()) | {"seed": number, **(about or {})}
        path.write_text(json.dumps(content))
        return out

    return write


def by_figure(found) -> dict:
    return {one["figure"]: one for one in found.entries}


def measured(name: str, value: float | None, ranks: int = 2) -> dict:
    """A run of answer.json."""
    figure = {FACTOR: None if value is None else {"value": value}}
    return {
        "name": name, "layout": {"ranks": ranks, "threads": 1, "nodes": 1}, "set": {}, "figure": figure,
    }  # fmt: skip


def test_a_profile_is_held_against_what_was_measured(bundle):
    profile = filled(load("epyc-vm"))

    def said(*runs: dict) -> list[str]:
        found = project(bundle, RULE, Question(profile, ranks=2, threads=1, measured=runs))
        lines = by_figure(found)[FACTOR]["assumes"]
        return [line for line in lines if line.startswith((HELD, "not held", "small on", "large on"))]

    value = by_figure(project(bundle, RULE, Question(profile, ranks=2, threads=1, ranks_per_node=2)))[FACTOR]
    fits = measured("small", value["value"])
    assert said(fits, measured("large", None)) == [f"{HELD} 1 of 1 measured run"]
    first, other = said(fits, measured("large", 100 * value["high"]))
    assert first == f"{HELD} 1 of 2 measured runs" and other.startswith(
        "large on 2 ranks of 1 thread: measured"
    )
    (line,) = said(measured("large", 1.0, ranks=64))
    assert line.startswith("not held against the measured large on 64 ranks of 1 thread: ")
    assert said() == []


def test_simulations_give_a_mean_with_its_interval_over_seeds(bundle, simulated):
    runs = tuple(simulated(n, mean_s=(50 + n) * 1e-6) for n in (1, 2, 3))
    found = project(bundle, RULE, Question(simulated=runs))
    factor, energy = by_figure(found)[FACTOR], by_figure(found)[ENERGY]
    assert factor["method"] == "simulation" and factor["low"] < factor["value"] < factor["high"]
    assert projection.SEEDS in factor["assumes"] and "4 ranks of 128 threads" in factor["assumes"]
    assert energy["value"] is None and energy["reason"]
    assert found.nodes == 4


WRONG = {
    "2 runs; allowed: 3 or more": lambda write: [write(1), write(2)],
    "seed 1; allowed: as many ranks": lambda write: [write(1), write(2), write(2, about={"seed": 1})],
    "threads differs": lambda write: [write(1), write(2), write(3, about={"threads": 2})],
    "network": lambda write: [
        write(n, changed={"network": dry_folder.describe(areas=4)["network"]}) for n in (1, 2, 3)
    ],
    "seed=3 (there 9)": lambda write: [write(n, seed=9) for n in (1, 2, 3)],
    "structure_aware with placement area; allowed: conventional": lambda write: [
        write(n, changed={"schedule": "structure_aware"}) for n in (1, 2, 3)
    ],
}


@pytest.mark.parametrize("said", WRONG)
def test_simulations_of_something_else_are_refused(bundle, simulated, said):
    runs = tuple(WRONG[said](simulated))
    with pytest.raises(BadInput) as refused:
        project(bundle, RULE, Question(simulated=runs))
    assert said in str(refused.value) and "allowed:" in str(refused.value)


def test_a_measured_run_is_no_simulation(bundle, simulated):
    runs = tuple(simulated(n) for n in (1, 2, 3))
    record = json.loads((runs[2] / "record.json").read_text())
    (runs[2] / "record.json").write_text(json.dumps(record | {"kind": "measured"}))
    with pytest.raises(BadInput, match="was measured; allowed: a folder that `spikemark simulate` wrote"):
        project(bundle, RULE, Question(simulated=runs))


@pytest.fixture
def dry(tmp_path, monkeypatch, description):
    """A dry run of two of eight ranks."""
    dry_folder.in_process(monkeypatch)
    wanted = dry_folder.plan(description, 8, 1, 1, 2, 1, None)
    return carrying.carry_out(wanted, tmp_path / "dry", lambda *_: None).path


def test_a_dry_run_gives_ranks_and_threads_and_its_own_method(bundle, dry):
    profile = filled(load("jureca-dc"))
    found = project(bundle, RULE, Question(profile, ranks_per_node=2, dry_run=dry))
    factor = by_figure(found)[FACTOR]
    assert factor["method"] == "dry_run+profile" and "8 ranks of 1 thread" in factor["assumes"]
    assert factor["low"] < factor["value"] < factor["high"]
    assert found.nodes == 4 and found.power_w


def test_a_model_gives_energy_per_recurrent_event_in_joules(bundle):
    profile = filled(load("jureca-dc"))
    found = project(bundle, RULE, Question(profile, ranks=8, ranks_per_node=2))
    energy = by_figure(found)[ENERGY]
    assert energy["method"] == "model" and 0 < energy["low"] < energy["value"] < energy["high"]
    assert set(projection.METHODS) == {"model", "dry_run+profile", "simulation"}


def test_rates_of_the_bundle_reach_the_model(bundle, description):
    """Neurons that fire in response to their input have no rate in the description."""
    for population in description["network"]["populations"]:
        population["neuron"] = {"model": "lif_exp"}
    bundle.description(RULE).write_text(json.dumps(description))
    asked = Question(filled(load("jureca-dc")), ranks=8, ranks_per_node=2)
    factors = []
    for hz in (2.0, 20.0):
        rates = {population["name"]: hz for population in description["network"]["populations"]}
        bundle.read_expected = lambda rule, rates=rates: {"rates_hz": rates}
        factors.append(by_figure(project(bundle, RULE, asked))[FACTOR]["value"])
    assert factors[0] < factors[1]


def test_settings_of_the_bidder_reach_the_model(bundle):
    profile = filled(load("jureca-dc"))
    how = {"ranks": 8, "ranks_per_node": 2}
    first = project(bundle, RULE, Question(profile, **how))
    other = project(bundle, RULE, Question(profile, **how, set={"exchange": "allgather"}))
    assert by_figure(first)[FACTOR]["value"] != by_figure(other)[FACTOR]["value"]


def test_without_ranks_and_dry_run_nothing_is_projected(bundle):
    with pytest.raises(BadInput, match="--ranks: missing; allowed:"):
        project(bundle, RULE, Question(filled(load("jureca-dc"))))


def test_a_dry_run_of_another_network_is_refused(bundle, dry, description):
    path = bundle.description(RULE)
    path.write_text(json.dumps(description | {"seed": 4}))
    with pytest.raises(BadInput, match="seed=4"):
        project(bundle, RULE, Question(filled(load("jureca-dc")), dry_run=dry))
