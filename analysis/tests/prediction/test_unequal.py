"""Predictions for machines of unequal parts: what equal parts must give, energy by hand, one slow node."""

import json

import numpy as np
import pytest
from machine_parts import halves, machine, part, without_tables
from small_machine import Machine as Equal

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.models import recursion
from spikemark.network.schedules import SCHEDULES
from spikemark.prediction import by_part, model_error, phases, show, times
from spikemark.prediction.layout import Layout
from spikemark.prediction.networks import ACROSS
from spikemark.prediction.predict import FIGURES, PARTS, predict
from spikemark.presets import dpsnn, mam_benchmark

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=6000, indegree=400)
UNEVEN = {"jitter__node_spread": 0.04, "jitter__minor_share": 0.02, "jitter__minor_factor": 3.0}
PROFILES = {
    "plain": Equal(),
    "uneven nodes": Equal().with_(**UNEVEN),
    "no price": Equal().with_(price__node_hour=None, node__memory=None),
    **{name: machines.filled(machines.load(name)) for name in ("jureca-dc", "jetson-tx1")},
}
FAST, SLOW = Equal(), Equal().with_(kernels__full_node__t_next=20, kernels__one_core__t_next=10)
MIXED = machine(fast=part(2, FAST), slow=part(4, SLOW))


def value(prediction, name):
    return prediction.figures[name].value


def of_part(prediction, name):
    """The figures of one part."""
    return next(p for p in prediction.by_part if p.share.part == name)


@pytest.mark.parametrize(("profile", "each"), [("plain", 1), *((name, 2) for name in PROFILES)])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_equal_parts_are_an_equal_machine(profile, schedule, each):
    """All figures, their intervals and their kinds, if the link is the network of the profile."""
    one = without_tables(PROFILES[profile])
    how = NETWORK, 8, 2, schedule, None, each
    whole = predict(how[0], one, *how[1:])
    split = predict(how[0], halves(one, 8 // each), *how[1:])
    assert split.nodes == whole.nodes and len(split.by_part) == 2
    for name, figure in whole.figures.items():
        found = split.figures[name]
        assert (found.kind, found.unit, bool(found)) == (figure.kind, figure.unit, bool(figure)), name
        if figure:
            limits = figure.value, figure.low, figure.high
            assert (found.value, found.low, found.high) == pytest.approx(limits, rel=1e-5, abs=1e-12), name
    assert (split.fits, split.roomy, split.slowest) == (whole.fits, whole.roomy, whole.slowest)


def test_ranks_on_one_part_are_an_equal_machine():
    """Its measured tables count, and the other part does not."""
    profile = machines.filled(machines.load("epyc-vm"))
    whole = predict(NETWORK, profile, 4, 1)
    made = machine(SLOW, other=part(1, SLOW), own=part(2, profile))
    found = predict(NETWORK, made, 4, 1, on={"own": 4})
    assert ".tables." in "".join(found.moves) and ACROSS not in found.assumptions
    for name, figure in whole.figures.items():
        assert found.figures[name].value == figure.value, name
    assert [p.share.part for p in found.by_part] == ["own"]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_parts_add_up(schedule):
    found = predict(NETWORK, MIXED, 8, 8, schedule, on={"fast": 4, "slow": 4})
    ranks = {p.share.part: p.share.ranks for p in found.by_part}
    assert ranks == {"fast": 4, "slow": 4} and found.nodes == 4
    assert value(found, "real_time_factor") == pytest.approx(sum(value(found, part) for part in PARTS))
    means = {
        name: sum(p.figures[name].value * p.share.ranks for p in found.by_part) / 8
        for name in ("compute", "waiting")
    }
    assert means["waiting"] == pytest.approx(value(found, "waiting"))
    assert means["compute"] == pytest.approx(sum(value(found, part) for part in PARTS[:-2]))
    for name in by_part.POWER, by_part.ENERGY:
        assert sum(p.figures[name].value for p in found.by_part) == pytest.approx(value(found, name))
    for p in found.by_part:
        for figure in p.figures.values():
            assert figure.low <= figure.value <= figure.high


def test_a_slow_part_computes_longer_and_waits_less():
    found = predict(NETWORK, MIXED, 8, 8, on={"fast": 4, "slow": 4})
    fast, slow = (of_part(found, name).figures for name in ("fast", "slow"))
    assert slow["compute"].value > 1.2 * fast["compute"].value
    inputs, layout = Inputs(MIXED), Layout.of(MIXED, 8, 8, on={"fast": 4, "slow": 4})
    ((_, traffic),) = times.meeting(found.loads, layout)
    barrier = times.network_of(found.loads, inputs, layout).barrier_s(traffic) / found.loads.cycle_s
    longer = fast["waiting"].value - slow["waiting"].value
    longer -= slow["compute"].value - fast["compute"].value
    assert 0 < longer < barrier  # the slow ranks, which come last, leave the barrier first
    assert slow["compute_share"].value == pytest.approx(
        slow["compute"].value / value(found, "real_time_factor")
    )
    throttled = machine(fast=part(2, FAST), slow=part(4, FAST, slower=1.3))
    found = predict(NETWORK, throttled, 8, 8, on={"fast": 4, "slow": 4})
    own, usual = (of_part(found, name).figures["compute"].value for name in ("slow", "fast"))
    assert usual < own < 1.3 * usual  # barriers of threads take as long as elsewhere
    assert "parts.slow.slower" in found.figures["real_time_factor"].depends
    assert "parts.slow.slower = 1.3: made up" in found.assumptions


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware", "overlapped"])
def test_one_slow_node_in_128_is_waited_for(schedule):
    """As the recursion says with times that are drawn here."""
    network = mam_benchmark.describe(areas=128, neurons_per_area=20000, indegree=2000)
    node = Equal().with_(jitter__cv=0.05)
    made = machine(node, usual=part(127, node), slow=part(1, node, slower=1.5))
    found = predict(network, made, 128, 1, schedule, ranks_per_node=1)
    even = predict(network, node, 128, 1, schedule, ranks_per_node=1)
    layout, inputs = Layout.of(made, 128, 1, 1), Inputs(made)
    compute = phases.phase_times(network, made, 128, 1, schedule, ranks_per_node=1).compute_s
    assert compute[127] == pytest.approx(1.5 * compute[:127].mean(), rel=0.05)
    drawn = compute[:, None] * (1 + 0.05 * np.random.default_rng(7).standard_normal((128, 4000)))
    nets = times.network_of(found.loads, inputs, layout)
    lanes, after = [], np.zeros(128)  # of each rank, the barriers from the arrival of the last rank on
    for lane, traffic in times.meeting(found.loads, layout):
        seconds = nets.exchange_s(lane, traffic)
        lanes.append(recursion.Lane(lane.period, lane.lag, tuple(lane.group), seconds))
        if not lane.lag:
            came = drawn.reshape(128, -1, lane.period).sum(axis=2).T
            after += nets.whole.barrier_after(traffic[0], came) / lane.period
    settled = recursion.evaluate(drawn, lanes).waiting_s[:, 1000:3000]
    expected = (settled.mean(axis=1) + after) / found.loads.cycle_s
    assert value(found, "waiting") == pytest.approx(expected.mean(), rel=0.03)
    assert value(found, "waiting") > 1.5 * value(even, "waiting")
    usual, slow = (of_part(found, name).figures["waiting"].value for name in ("usual", "slow"))
    assert usual == pytest.approx(expected[:127].mean(), rel=0.03)
    assert slow - after[127] / found.loads.cycle_s < 0.05 * usual


def test_energy_of_parts_by_hand():
    thrifty = SLOW.with_(power__idle=3, power__core=1, power__card=0.5)
    made = machine(fast=part(2, FAST), slow=part(4, thrifty))
    found = predict(NETWORK, made, 8, 8, on={"fast": 4, "slow": 4})
    factor, events = value(found, "real_time_factor"), 8 * 6000 * 400 * 2.5 / 2
    watts = {"fast": 2 * (100 + 16 * 10 + 5), "slow": 2 * (3 + 16 * 1 + 0.5)}
    for name, power in watts.items():
        figures = of_part(found, name).figures
        assert figures["power_w"].value == pytest.approx(power)
        assert figures["energy_j"].value == pytest.approx(power * factor)
        assert figures["energy_per_event_uj"].value == pytest.approx(1e6 * power * factor / events, rel=1e-3)
    assert value(found, "power_w") == pytest.approx(sum(watts.values()))
    assert value(found, "cost_eur") == pytest.approx(4 * 2 * factor)


def test_events_from_outside_belong_to_the_neurons_of_a_part():
    found = predict(dpsnn.describe(), MIXED, 8, 4, hz=3.2, on={"fast": 4, "slow": 4})
    counted = by_part.events(found.loads, found.layout)
    loads = found.loads
    assert sum(counted.values()) == pytest.approx((loads.total_events + loads.external) / loads.cycle_s)


def test_energy_of_a_part_without_power_is_unknown_with_the_reason():
    made = machine(fast=part(2, FAST), slow=part(4, SLOW.with_(power__idle=None, price__node_hour=None)))
    found = predict(NETWORK, made, 8, 8, on={"fast": 4, "slow": 4})
    reason = "part slow: made-up: power.idle is unknown, needed for energy"
    assert found.reasons["energy_j"] == of_part(found, "slow").reasons["energy_j"] == reason
    assert found.reasons["cost_eur"].startswith("part slow: made-up: price.node_hour is unknown")
    assert of_part(found, "fast").figures["energy_j"].value > 0
    assert reason in show.lines([found])
    content = json.loads(json.dumps(show.content([found])))[0]["parts"]
    assert content[1]["figures"]["energy_j"] is None and content[1]["reasons"]["energy_j"] == reason
    with pytest.raises(BadInput, match=r"part slow: made-up: jitter.cv is unknown, needed for waiting"):
        lacking = machine(fast=part(2, FAST), slow=part(4, SLOW.with_(jitter__cv=None)))
        predict(NETWORK, lacking, 8, 8, on={"fast": 4, "slow": 4})


def test_memory_is_that_of_each_part():
    small = machine(fast=part(2, FAST), slow=part(4, SLOW.with_(node__memory=1e-3)))
    found = predict(NETWORK, small, 8, 8, on={"fast": 4, "slow": 4})
    assert found.fits is False and [p.fits for p in found.by_part] == [True, False]
    assert "8 ranks: does not fit into the memory of the nodes of slow" in show.lines([found])
    unknown = machine(fast=part(2, FAST), slow=part(4, SLOW.with_(node__memory=None)))
    assert predict(NETWORK, unknown, 8, 8, on={"fast": 4, "slow": 4}).fits is None
    uneven = predict(NETWORK, machine(fast=part(2), slow=part(4)), 6, 8, on={"fast": 4, "slow": 2})
    assert value(uneven, "memory_gb") == max(p.figures["memory_gb"].value for p in uneven.by_part)


WORSE = {"latency": 15.0, "bandwidth": 0.001, "gap": 1.4}


@pytest.mark.parametrize("name", WORSE)
@pytest.mark.parametrize("where", ["link", "part"])
def test_ranks_of_several_parts_exchange_as_on_the_worst_network(name, where):
    bad = Equal().with_(**{f"interconnect__{name}": WORSE[name]})
    asked = {"ranks": 8, "threads": 8, "on": {"one": 4, "two": 4}}
    plain = predict(NETWORK, machine(one=part(2), two=part(2)), **asked)
    link, two = (bad, Equal()) if where == "link" else (Equal(), bad)
    worse = predict(NETWORK, machine(link, one=part(2), two=part(2, two)), **asked)
    everywhere = predict(NETWORK, bad, 8, 8)
    assert value(worse, "exchange") > 1.05 * value(plain, "exchange")
    assert value(worse, "exchange") == pytest.approx(value(everywhere, "exchange"))
    path = f"interconnect.{name}"
    assert any(path in moved for moved in worse.figures["exchange"].depends)
    assert ACROSS in worse.assumptions and ACROSS not in everywhere.assumptions


def test_ranks_that_meet_within_a_part_have_its_network():
    """The lane of an area on each part, whose ranks exchange within it only."""
    network = mam_benchmark.describe(areas=2, neurons_per_area=6000, indegree=400)
    network |= {"schedule": "structure_aware", "placement": "area_group"}
    slow = Equal().with_(interconnect__latency=500.0)
    made = machine(slow, one=part(4), two=part(4))
    asked = {"ranks": 8, "threads": 16, "on": {"one": 4, "two": 4}}
    found = predict(network, made, **asked)
    layout, inputs = found.layout, Inputs(made)
    nets = times.network_of(found.loads, inputs, layout)
    own = times.network_of(found.loads, Inputs(Equal()), Layout.of(Equal(), 8, 16))
    near, far = times.meeting(found.loads, layout)
    assert nets.exchange_s(*near) == pytest.approx(own.exchange_s(*near))
    assert nets.exchange_s(*far) > 10 * own.exchange_s(*far)


def test_values_that_parts_have_in_common_move_together():
    made = machine(one=part(2), two=part(2), other=part(2, Equal("other")))
    found = predict(NETWORK, made, 12, 8)
    moved = [path for path in found.moves if path.endswith("kernels.full_node.t_next")]
    assert moved == ["parts.one.kernels.full_node.t_next", "parts.other.kernels.full_node.t_next"]
    assert len([path for path in found.moves if path.endswith("interconnect.latency")]) == 1


def test_the_error_of_the_model_widens_parts_too():
    made = predict(NETWORK, MIXED, 8, 8, on={"fast": 4, "slow": 4})
    wide = model_error.widened(made)
    for before, after in zip(made.by_part, wide.by_part, strict=True):
        for name, figure in before.figures.items():
            low, high = after.figures[name].interval
            known = name in (by_part.POWER, by_part.MEMORY)
            assert (low == figure.low and high == figure.high) if known else low < figure.low, name
            assert high <= 1 or name != by_part.SHARE


@pytest.mark.parametrize("simulator", ["mini_app", "nest"])
def test_what_a_simulator_does_not_give_of_parts_has_a_reason(simulator):
    network = mam_benchmark.describe(areas=8, neurons_per_area=6000, indegree=400, schedule="conventional")
    found = predict(network, MIXED, 8, 8, simulator=simulator, on={"fast": 4, "slow": 4})
    for p in found.by_part:
        without = {"compute", "compute_share", "waiting", "memory_gb"} if simulator == "nest" else set()
        assert set(p.reasons) == without
        assert p.figures["energy_j"].value > 0
    assert set(found.figures) == set(FIGURES)


def test_tables_and_json_have_a_row_for_each_part():
    found = predict(NETWORK, MIXED, 8, 8, on={"fast": 4, "slow": 4})
    _, parts = show.tables([found])
    assert [row["part"] for row in parts.rows] == ["fast", "slow"]
    assert {*by_part.FIGURES} < {column.name for column in parts.columns}
    content = show.content([found])[0]
    assert content["ranks_per_node"] is None and content["nodes"] == 4
    assert [(p["part"], p["ranks"], p["nodes"]) for p in content["parts"]] == [("fast", 4, 2), ("slow", 4, 2)]
    assert "parts" not in show.content([predict(NETWORK, FAST, 8, 8)])[0]
    assert len(show.tables([predict(NETWORK, FAST, 8, 8)])) == 1
