"""Predicted and simulated waiting where cycles are so short that half of it is the barrier."""

import pytest
from four_areas import describe
from simulated_parts import full, load

from spikemark import machines
from spikemark.machines.inputs import Inputs
from spikemark.prediction import times
from spikemark.prediction.layout import Layout
from spikemark.prediction.predict import Prediction, predict
from spikemark.presets import PRESETS
from spikemark.records import record
from spikemark.running import simulation

LARGER = 200  # times as many neurons as are simulated: what a cycle computes for


def simulated(
    folder, ranks: int, each: int = 1, cycles: int = 200, on: dict | None = None, **changes
) -> tuple[record.Run, machines.Machine, Prediction]:
    """A run of `each` ranks on each area, on a node each, its machine, and its prediction."""
    one = load(folder, slower=1.2, fast=max(8, ranks), **changes)
    schedule = "conventional" if each == 1 else "structure-aware"
    areas = PRESETS["mam-benchmark"].describe(
        areas=ranks // each, neurons_per_area=100, indegree=20, delay_ratio=10, seed=1
    )
    description = {**describe(schedule, cycles=cycles), "network": areas["network"]}
    if each > 1:
        description["placement"] = "area_group"
    of = {**description, "network": full(description, LARGER)["network"]}
    how = {"on": on or {"fast": ranks}, "ranks_per_node": 1}
    out = simulation.simulate(description, one, ranks, folder / "out", compute_of=of, threads=4, **how)
    return record.load(out), one, predict(of, machines.filled(one), ranks, 4, **how)


def waited(run: record.Run) -> float:
    """Seconds per simulated second, mean over ranks."""
    return run.spent_s("waiting") / run.record.timing.model_s


@pytest.mark.parametrize("on", [{"fast": 8}, {"fast": 7, "slow": 1}])
@pytest.mark.parametrize("cv", [1e-9, 0.05, 0.3])
def test_waiting_is_what_is_predicted_where_barriers_take_as_long(tmp_path, cv, on):
    """Ranks leave a barrier at different times, unless they come together."""
    run, _, predicted = simulated(tmp_path, 8, on=on, jitter__cv=cv, interconnect__topology="star")
    assert waited(run) == pytest.approx(predicted.figures["waiting"].value, rel=0.05)


@pytest.mark.parametrize("each", [2, 4])
@pytest.mark.parametrize("cv", [1e-9, 0.05, 0.3])
def test_waiting_in_groups_is_what_is_predicted_where_barriers_take_as_long(tmp_path, cv, each):
    """Ranks that share an area meet in every cycle, and come to the meeting of all of them together."""
    net = {"interconnect__topology": "star", "interconnect__selector": "mpich"}
    run, _, predicted = simulated(tmp_path, 8, each, 400, jitter__cv=cv, **net)
    assert [lane.ranks for lane in run.record.lanes] == [each, 8]
    assert waited(run) == pytest.approx(predicted.figures["waiting"].value, rel=0.05)


@pytest.mark.parametrize("cv", [1e-9, 0.05, 0.3])
@pytest.mark.parametrize(("ranks", "leaf"), [(10, 2), (12, 4)])
def test_waiting_of_ranks_that_are_no_power_of_two(tmp_path, ranks, leaf, cv):
    net = {"interconnect__topology": "fat_tree", "interconnect__nodes_per_leaf": leaf}
    run, _, predicted = simulated(tmp_path, ranks, jitter__cv=cv, **net)
    assert waited(run) == pytest.approx(predicted.figures["waiting"].value, rel=0.05)


@pytest.mark.parametrize("cv", [1e-9, 0.05])
@pytest.mark.parametrize(("ranks", "topology"), [(16, "star"), (16, "fat_tree"), (32, "fat_tree")])
def test_waiting_follows_from_when_ranks_come(tmp_path, ranks, topology, cv):
    """Predictions leave out that ranks leave an exchange, and so come to the next barrier, up to a
    microsecond apart. With the simulated times at which they come, waiting is as simulated.
    """
    net = {"interconnect__topology": topology, "interconnect__nodes_per_leaf": 4}
    run, one, predicted = simulated(tmp_path, ranks, jitter__cv=cv, **net)
    cycles = run.cycles.astype(float).sum(axis=2)
    came = (cycles.cumsum(axis=1) - cycles + run.compute()).T[20:]
    filled = machines.filled(one)
    layout = Layout.of(filled, ranks, 4, 1, {"fast": ranks})
    ((_, (traffic,)),) = times.meeting(predicted.loads, layout)
    nets = times.network_of(predicted.loads, Inputs(filled), layout)
    after = nets.whole.barrier_after(traffic, came).mean()
    found = run.waiting()[:, 20:].mean()
    assert found == pytest.approx((came.max(axis=1) - came.mean(axis=1)).mean() + after, rel=0.04)
    said = predicted.figures["waiting"].value * predicted.loads.cycle_s
    assert found == pytest.approx(said, abs=1e-6)
