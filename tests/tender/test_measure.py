"""How a run is measured: which model time is taken, and what jobs of Slurm do besides."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from spikemark.core.layout import Layout
from spikemark.running.campaign import Campaign
from spikemark.running.slurm_profile import SlurmProfile
from spikemark.running.ways import Here, Slurm
from spikemark.tender import answering, measure
from spikemark.tender.measure import Chosen

TIMES = [800.0, 400.0, 200.0, 100.0]


@dataclass
class Machine:
    """Runs last model time x `factor`, and the n-th sweep of a run `slower[n]` times as long."""

    factor: float
    slower: list[float]
    asked: list = None

    def sweep(self, bundle, rule, chosen, ms, work, way, probe=False):
        self.asked = [*(self.asked or []), (ms, probe)]
        longer = 1.0 if probe else self.slower[len(self.asked) - 2]
        timing = SimpleNamespace(simulate_s=1e-3 * ms * self.factor * longer)
        run = SimpleNamespace(record=SimpleNamespace(timing=timing))
        return [SimpleNamespace(real_time_factor=self.factor, run=run)] * (1 if probe else 2)


def taken(machine, monkeypatch, minimum_s) -> tuple[list, float]:
    monkeypatch.setattr(measure, "_sweep", machine.sweep)
    rule = SimpleNamespace(name="x", model_ms=TIMES, minimum_seconds=minimum_s)
    found = measure.take(None, rule, Chosen(Layout(1)), None, Here(), lambda line: None)
    return machine.asked, found.model_ms


CASES = {
    "fast enough for the shortest": (1.0, 0.05, 100.0),
    "just not long enough with the reserve": (1.0, 0.09, 200.0),
    "needs the longest": (1.0, 0.5, 800.0),
    "shorter than asked for even with the longest": (0.01, 1.0, 800.0),
}


@pytest.mark.parametrize("case", CASES)
def test_the_shortest_model_time_that_is_long_enough_is_taken(monkeypatch, case):
    factor, minimum_s, wanted = CASES[case]
    asked, found = taken(Machine(factor, [1.0]), monkeypatch, minimum_s)
    assert asked == [(100.0, True), (wanted, False)] and found == wanted


def test_a_run_that_was_too_short_is_measured_with_the_next_longer_time(monkeypatch):
    asked, found = taken(Machine(1.0, [0.5, 1.0]), monkeypatch, 0.15)
    assert asked == [(100.0, True), (200.0, False), (400.0, False)] and found == 400.0


def test_jobs_of_slurm_read_the_environment_of_their_nodes_and_go_on_without(tmp_path):
    profile = SlurmProfile(setup=["module load x"])
    way = answering._reading(Slurm(Campaign(profile)), tmp_path)
    first, line = way.campaign.profile.setup
    assert first == "module load x"
    assert "srun --ntasks-per-node=1" in line and "tender environment" in line and line.endswith("|| true")
    assert str(tmp_path / answering.NODES) in line
    here = Here()
    assert answering._reading(here, tmp_path) is here


def test_a_node_that_was_not_read_is_disclosed_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(answering, "_read_here", lambda *_: None)
    host = SimpleNamespace(node_names=["n1", "n2.example"], name="n1")
    run = SimpleNamespace(run=SimpleNamespace(record=SimpleNamespace(host=host)))
    answering.write_json(tmp_path / answering.NODES / "n2.json", {"host": {"value": "n2.example"}})
    found = answering._nodes(tmp_path, [SimpleNamespace(runs=[run])])
    assert found[0]["host"] == {"value": "n1"} and found[0]["all"]["reason"]
    assert found[1] == {"host": {"value": "n2.example"}}
