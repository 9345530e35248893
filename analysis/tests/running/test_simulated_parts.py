"""Runs on a simulated machine of unequal parts: spikes, compute times and waiting of each part."""

from dataclasses import replace

import machine_file
import numpy as np
import pytest
from four_areas import SCHEDULES, describe
from simulated_parts import FAR, ON, SLOWER, full, load, simulate

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.models import recursion
from spikemark.network.presets import PRESETS
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import compute_s, performance
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records import record
from spikemark.running import simulation
from spikemark.running.simulation.platform import POLL_S, Networks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> machines.MachineOfParts:
    """Two fast nodes and one that is slower by half, all on one network."""
    return load(tmp_path_factory.mktemp("alike"))


@pytest.fixture(scope="module")
def apart(tmp_path_factory) -> machines.MachineOfParts:
    """The same, with a slow network between the parts."""
    return load(tmp_path_factory.mktemp("apart"), link=FAR)


@pytest.fixture(scope="module")
def equal(tmp_path_factory) -> machines.Profile:
    return machines.load(machine_file.write(tmp_path_factory.mktemp("equal") / "made-up.yaml"))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_spikes_are_those_of_the_machine_of_equal_nodes(tmp_path, apart, equal, schedule):
    expected = simulate(tmp_path / "equal", equal, schedule).record.checksum
    for on in {"fast": 2, "slow": 2}, ON:
        found = simulate(tmp_path / "out", apart, schedule, on)
        assert found.record.checksum == expected
    about, alone = found.simulation, {"ranks_per_node": 1}
    assert about["parts"] == {part: {"ranks": n, "nodes": n, **alone} for part, n in ON.items()}
    assert set(about["interconnect"]) == {"fast", "slow", "fast-slow"}
    assert about["machine"] == "parts" and "fast to slow: 40 µs" in about["facts"]
    again = simulation.simulate(
        describe(schedule), apart, 4, tmp_path / "again", found.path, on=ON, **alone
    )
    # Replayed; where an exchange goes on meanwhile, with a poll more or less at either end.
    assert record.load_run(again).compute() == pytest.approx(
        found.compute(), rel=1e-3, abs=2 * POLL_S
    )


@pytest.mark.parametrize("name", machines.names("parts"))
def test_every_machine_of_parts_is_simulated(tmp_path, equal, name):
    one = machines.load_any(name)
    on = dict.fromkeys(one.parts, 4 // len(one.parts))
    found = simulate(tmp_path / "out", one, on=on, threads=None, ranks_per_node=None)
    assert found.record.checksum == simulate(tmp_path / "equal", equal).record.checksum
    about = found.simulation
    assert {part: own["ranks"] for part, own in about["parts"].items()} == on


def test_ranks_of_each_part_compute_as_long_as_its_model_says(tmp_path, machine):
    found = simulate(tmp_path / "out", machine, on=ON, cv=1e-6, compute_of=full(describe()))
    description = {**full(describe()), "schedule": "conventional"}
    loads = Loads.count(description, 4, 4, rates_of(description).hz)
    layout = MachineLayout.from_machine(machine, 4, 4, 1, ON)
    expected = sum(compute_s(loads, machines.filled(machine), layout).values())
    mean_s = found.compute().mean(axis=1)
    assert mean_s == pytest.approx(expected, rel=1e-4)
    assert 0.9 * SLOWER < mean_s[3] / mean_s[:3].mean() < SLOWER  # caches and barriers are as fast


def test_every_part_has_its_own_jitter(tmp_path):
    parts = {"fast": {"nodes": 8, "jitter__cv": 0.05}, "slow": {"nodes": 8, "jitter__cv": 0.2}}
    two = machines.load_any(machine_file.write_parts(tmp_path / "parts.yaml", **parts))
    found = simulate(tmp_path / "out", two, on=ON, compute_of=full(describe()), seed=3)
    compute = found.compute()
    cv = compute.std(axis=1) / compute.mean(axis=1)
    assert cv == pytest.approx([0.05, 0.05, 0.05, 0.2], rel=0.2)
    jitter = found.simulation["jitter"]
    assert {name: one["cv"] for name, one in jitter.items()} == {"fast": 0.05, "slow": 0.2}


def test_a_ranks_times_do_not_depend_on_how_parts_are_numbered(tmp_path, equal):
    """Parts that are equal but in name, and joined as their nodes are, meet the jitter of the
    equal machine.
    """
    parts = {
        "one": {"nodes": 2, "jitter__node_spread": 0.1},
        "two": {"nodes": 2, "jitter__node_spread": 0.1},
    }
    congestion = machines.filled(equal).get("interconnect.congestion").value
    link = {"congestion": (congestion, "1")}
    file = machine_file.write_parts(tmp_path / "parts.yaml", link, **parts)
    two = machines.load_any(file)
    alone = machines.load(tmp_path / "one.yaml")
    runs = simulate(tmp_path / "a", two, on={"one": 2, "two": 2}), simulate(tmp_path / "b", alone)
    assert np.array_equal(*(run.compute() for run in runs))
    assert np.array_equal(*(run.cycles for run in runs))  # one network, too


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_others_wait_for_the_slow_part_as_the_recursion_says(tmp_path, machine, schedule):
    found = simulate(tmp_path / "out", machine, schedule, ON, compute_of=full(describe(schedule)))
    waiting = sum(
        found.phase(name).astype(float)
        for name in ("synchronise", "overlap_wait")
        if name in found.record.phases
    )
    course = recursion.evaluate(found.compute(), recursion.lanes_of(found))
    expected = course.waiting_s.mean(axis=1)
    own = found.compute().mean(axis=1)
    assert expected[:3].min() > 0.8 * (own[3] - own[:3].max())
    assert waiting.mean(axis=1) == pytest.approx(expected, rel=0.02, abs=0.01 * own.mean())


@pytest.mark.parametrize("schedule", ["conventional", "structure-aware"])
def test_one_slow_node_of_eight_costs_what_is_predicted(tmp_path, schedule):
    """Simulated waiting beside the predicted one, for all ranks together."""
    one = load(tmp_path, slower=1.2, fast=7)
    on = {"fast": 7, "slow": 1}
    eight = PRESETS["mam-benchmark"].describe(
        areas=8, neurons_per_area=100, indegree=20, delay_ratio=10, seed=1
    )
    description = {**describe(schedule, cycles=1000), "network": eight["network"]}
    options = {"on": on, "ranks_per_node": 1, "threads": 4, "compute_of": full(description)}
    out = simulation.simulate(description, one, 8, tmp_path / "out", **options)
    found = record.load_run(out)
    waited = found.spent_s("waiting") / found.record.timing.model_s
    loads = Loads.count(full(description), 8, 4, rates_of(description).hz)
    layout = MachineLayout.from_machine(one, 8, 4, 1, on)
    expected = performance(loads, machines.filled(one), layout, drawn=False).parts["waiting"][0]
    assert waited == pytest.approx(expected, rel=0.05)


def test_a_part_whose_network_lacks_a_value_is_named(tmp_path, machine):
    profile = machine.parts["slow"].profile  # not filled
    lacking = {**profile.values}
    del lacking["interconnect.topology"]
    slow = replace(machine.parts["slow"], profile=replace(profile, values=lacking))
    parts = machine.parts | {"slow": slow}
    layout = MachineLayout.from_machine(machine, 4, 4, 1, ON)
    with pytest.raises(
        BadInput, match=r"part slow: .*interconnect\.topology is unknown, needed for the sim"
    ):
        Networks.from_machine(replace(machine, parts=parts), layout)
