"""The mini-app on a machine: draws, sums, limits and what each part follows from."""

from dataclasses import replace

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import profile as profiles
from spikemark.machines.values import Values
from spikemark.models import recursion
from spikemark.models.exchange_times import EXCHANGES
from spikemark.network.description import read_description
from spikemark.network.placement import PLACEMENTS, neurons
from spikemark.network.presets import mam_benchmark, microcircuit
from spikemark.prediction import draws, question
from spikemark.prediction.draws import Recorder
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import PARTS, counted, kernel, performance
from spikemark.prediction.workload import Counting, Loads, rates_of

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=6000, indegree=400) | {
    "delay_ratio": "auto"
}


def made(machine=None, schedule="conventional", ranks=8, threads=16, drawn=True, **changed):
    machine = machine or Machine()
    loads = Loads.count(NETWORK | changed, ranks, threads, rates_of(NETWORK).hz, schedule)
    return performance(loads, machine, MachineLayout.from_machine(machine, ranks, threads), drawn)


@pytest.mark.parametrize(
    "schedule", ["conventional", "structure_aware", "overlapped", "hierarchical"]
)
def test_draws_have_the_median_of_the_medians(schedule):
    found, middle = made(schedule=schedule), made(schedule=schedule, drawn=False)
    assert set(found.parts) == set(PARTS)
    for part in ("deliver", "update", "collocate", "exchange"):
        assert np.median(found.parts[part]) == pytest.approx(
            middle.parts[part][0], rel=0.05, abs=1e-12
        )
    assert found.real_time_factor.shape == (draws.N,) and (found.real_time_factor > 0).all()


def test_a_value_without_doubt_adds_none_and_one_with_doubt_does():
    wide = Machine().with_(kernels__full_node__t_first=Value(80, "ns", interval=(20, 320)))
    narrow, doubtful = made(), made(wide)
    spans = [np.ptp(np.log(one.parts["deliver"])) for one in (narrow, doubtful)]
    assert spans[1] > 1.5 * spans[0]
    assert "made-up/kernels.full_node.t_first" in doubtful.inputs
    assert not any(name.startswith("made-up/") for name in narrow.inputs)
    ratio = (
        doubtful.real_time_factor / made(wide, "placement_only").real_time_factor
    )  # both share the draws
    assert np.std(np.log(ratio)) < 0.85 * np.std(np.log(doubtful.real_time_factor))


def test_a_cost_of_messages_of_0_that_may_be_more_is_drawn():
    """Messages of these runs are small: with a threshold of 0, all ask first."""
    exchanges = {}
    for high in (None, 64):
        eager = Value(0, "KiB", interval=high and (0, high))
        machine = Machine().with_(interconnect__eager=eager)
        exchanges[high] = made(machine, ranks=32, threads=16).parts["exchange"]
    ratios = exchanges[64] / exchanges[None]
    assert ratios.min() < 1 and ratios.max() == pytest.approx(1)


@pytest.mark.parametrize(("low", "high"), [(1.0, 4.0), (1.9, 8.0), (1.0, 2.0)])
def test_draws_have_the_stated_value_and_interval(low, high):
    value = machines.Value(2.0, "us", "literature", "a test", (low, high))
    found = Recorder()("m/interconnect.gap", 2e-6, low, high, value)
    assert np.quantile(found, [0.025, 0.5, 0.975]) == pytest.approx(
        [1e-6 * low, 2e-6, 1e-6 * high], rel=0.01
    )


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 4), (1, 8), (1, 16)])
def test_kernels_are_those_of_one_core_until_the_full_node_sets_the_limit(ranks, threads):
    values, layout = Values(Machine()), MachineLayout.from_machine(Machine(), ranks, threads)
    found = kernel(values, "t_next", layout.shares[0].node)
    assert found == pytest.approx(max(1e-9, 2e-9 * threads / 16))


@pytest.mark.parametrize("name", [n for n in EXCHANGES if n != "shared"])
def test_exchange_times_are_homogeneous_in_the_costs_of_messages(name):
    """Twice the latencies, gaps and times per byte: twice the time."""
    slow = Machine().with_(
        interconnect__latency=3.0,
        interconnect__latency_node=0.8,
        interconnect__gap=0.6,
        interconnect__bandwidth=6,
        interconnect__bandwidth_node=5,
    )
    one, two = (made(m, drawn=False, exchange=name).parts["exchange"][0] for m in (Machine(), slow))
    assert two == pytest.approx(2 * one, rel=1e-6)
    wide = Machine().with_(interconnect__latency=Value(1.5, "us", interval=(0.75, 3)))
    found = made(wide, exchange=name).parts["exchange"]
    assert np.median(found) == pytest.approx(one, rel=0.1)


@pytest.mark.parametrize("path", ["node.memory_channels", "node.l2", "node.l3"])
def test_memory_and_caches_that_are_not_stated_are_drawn_and_stated_ones_are_not(path):
    stated = machines.load("jureca-dc")
    bandwidths = ("node.bandwidth", "node.bandwidth_peak")
    values = {name: value for name, value in stated.values.items() if name not in bandwidths}
    for known in (True, False):
        kept = {name: value for name, value in values.items() if known or name != path}
        offer = machines.filled(machines.Profile("offer", "An offer", kept))
        inputs = made(offer, ranks=8, threads=64).inputs
        drawn = inputs.get(f"{offer.identity}/{path}", np.zeros(draws.N))
        assert bool(np.ptp(drawn) > 0) is not known


def test_offered_watts_replace_the_model():
    machine = machines.filled(machines.load("jureca-dc"))
    offered = machine.assume("offer.watts", 1000.0, "W", "an offer")
    loads = Loads.count(NETWORK, 8, 128, rates_of(NETWORK).hz)
    layout = MachineLayout.from_machine(machine, 8, 128)
    assert performance(loads, offered, layout).power_w == pytest.approx(8000)
    assert (performance(loads, machine, layout).power_w > 8 * 88).all()


def test_waiting_shrinks_with_longer_windows_of_independent_cycles():
    machine = Machine().with_(jitter__cv=0.1)
    conventional, aware = (
        made(machine, s, drawn=False).parts["waiting"][0]
        for s in ("placement_only", "structure_aware")
    )
    assert aware < 0.6 * conventional


@pytest.mark.parametrize("name", machines.names())
def test_every_profile_answers(name):
    """What a profile does not state is assumed, so that every machine has a time and an energy."""
    machine = machines.filled(machines.load(name))
    cores = round(machine.need("node.cores", "a test").value)
    loads = Loads.count(NETWORK, 2, cores, rates_of(NETWORK).hz)
    found = performance(loads, machine, MachineLayout.from_machine(machine, 2, cores))
    _, low, high = draws.interval(found.real_time_factor)
    assert 0 < low < high < 1e3 and (np.asarray(found.power_w) > 0).all()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_neurons_that_are_counted_are_those_that_are_placed(placement):
    networks = [mam_benchmark.describe(areas=5, neurons_per_area=61, indegree=4)]
    networks.append(microcircuit.describe(scale=0.003))
    counted = 0
    for network in networks:
        description = read_description(network)
        for ranks, threads in ((1, 3), (2, 1), (3, 2), (5, 4), (7, 3), (20, 2)):
            try:
                expected = neurons(description, placement, ranks, threads)
            except BadInput:
                continue  # areas cannot be dealt to so many ranks
            placed = Counting(network, np.ones(len(expected))).placed(placement, ranks, threads)
            assert (placed.in_column[:, placed.column] == expected).all()
            assert (placed.on_rank == expected.sum(axis=2)).all()
            different = np.unique(expected.reshape(len(expected), -1), axis=1)
            assert placed.in_column.shape == different.shape
            counted += 1
    assert counted


def test_assumed_kernels_move_with_the_bandwidth_that_limits_them():
    stated = machines.load("epyc-9654")
    others = {path: value for path, value in stated.values.items() if path != "node.bandwidth"}
    filled = machines.filled(replace(stated, values=others, measured_as=None))
    assumed = filled.values["node.bandwidth"]
    exact = replace(assumed, interval=None, kind="measured")
    known = filled.with_values({"node.bandwidth": exact})
    node = MachineLayout.from_machine(filled, ranks=1, threads=192).shares[0].node
    low, high = assumed.interval
    for name, moved in {
        "t_next": np.log(high / low),
        "t_first": np.log(high / low),
        "t_spike": 0,
    }.items():
        drawn, fixed = (
            kernel(Values(profile, Recorder()), name, node) for profile in (filled, known)
        )
        ends = np.quantile(np.log(drawn / fixed), [0.025, 0.975])
        assert ends[1] - ends[0] == pytest.approx(moved, rel=0.02)


def test_only_assumptions_of_priors_are_shared_by_nodes_of_a_processor():
    stated = machines.load("epyc-9654")  # whose file assumes a bandwidth
    others = {path: value for path, value in stated.values.items() if path != "node.bandwidth"}
    own, prior = (
        machines.filled(replace(stated, values=values, measured_as=None))
        for values in (stated.values, others)
    )
    names = [profile.draws_of("node.bandwidth") for profile in (own, prior)]
    assert names == [own.identity, "processor epyc-9654"]
    assert own.draws_of("jitter.cv") == names[1]


@pytest.mark.parametrize("known", [("node.l2", "node.l3", "node.l3_cores"), ("node.l3",), ()])
@pytest.mark.parametrize("name", ["jureca-dc", "supermuc-ng"])
def test_counts_in_several_settings_are_those_of_each(name, known):
    profile = machines.filled(machines.load(name))
    left_out = {"node.l2", "node.l3", "node.l3_cores"} - set(known)
    values = {path: value for path, value in profile.values.items() if path not in left_out}
    for path in (*known, "jitter.cv"):
        stated = values[path].value
        values[path] = replace(values[path], interval=(stated / 2, 2 * stated))
    machine = replace(profile, values=values)
    network = mam_benchmark.describe(areas=5, neurons_per_area=60_001, indegree=4000)
    loads = Loads.count(network, ranks=6, threads=8, hz=rates_of(network).hz)
    node = MachineLayout.from_machine(machine, ranks=6, threads=8, ranks_per_node=2).shares[0].node
    settings = [
        {"node.l2": 3e5, "node.l3": 2e6, "node.l3_cores": 4.0, "jitter.cv": 0.1},
        {"node.l2": 1e6, "node.l3": 1e8, "node.l3_cores": 1.5, "jitter.cv": 0.01},
        {"node.l2": 4e3, "node.l3": 1e5, "node.l3_cores": 99.0, "jitter.cv": 0.3},
    ]

    def of(chosen):
        def number(name, middle, low, high, stated):
            values = [setting.get(name.partition("/")[2], middle) for setting in chosen]
            return np.array(values)[:, None] if len(chosen) > 1 else values[0]

        return counted(loads, Values(machine, number), node)

    together = of(settings)
    moved = set()
    for position, setting in enumerate(settings):
        alone = of([setting])
        assert {part: list(kernels) for part, kernels in alone.items()} == {
            part: list(kernels) for part, kernels in together.items()
        }
        for part, kernels in alone.items():
            for kernel_name, count in kernels.items():
                found = np.broadcast_to(together[part][kernel_name], (3, 6))
                np.testing.assert_allclose(found[position], count, rtol=1e-12, atol=1e-9)
                if np.ptp(found, axis=0).any():
                    moved.add((part, kernel_name))
    assert ("thread_wait", "t_next") in moved
    has_caches = {"node.l3", "node.l3_cores"} <= set(known)
    assert (("deliver", "clock") in moved) == has_caches


@pytest.mark.parametrize("step", [1, 3, 10])
def test_steps_of_cycles_are_summed_and_the_last_may_be_shorter(step):
    times = np.random.default_rng(1).random((10, 2, 5))
    expected = [times[begin : begin + step].sum(axis=0) for begin in range(0, 10, step)]
    np.testing.assert_allclose(recursion._sums_of_steps(times, step), expected, rtol=1e-15)


def test_draws_that_are_kept_cannot_be_changed():
    kept = draws.normal("an input of this test")
    copy = kept.copy()
    with pytest.raises(ValueError, match="read-only"):
        kept += 1.0
    with pytest.raises(ValueError, match="read-only"):
        Recorder().normal("an input of this test")[0] = 1.0
    np.testing.assert_array_equal(draws.normal("an input of this test"), copy)


@pytest.mark.parametrize("threads", [1, 2, 16, 192])
def test_threads_that_meet_take_as_long_as_their_number_makes_likely(threads):
    """What a meeting takes is assumed where nobody measured it, and drawn."""
    profile = machines.load("epyc-9654")
    network = question.of_preset(
        "mam-benchmark", options=["areas=2", "neurons_per_area=500", "indegree=50"]
    )
    loads = network.counting.loads(1, threads, "conventional", None)
    waits = {}
    for ns in (None, 0.0, 1000.0):
        values = dict(profile.values)
        if ns is not None:
            values["kernels.full_node.meet"] = profiles.Value(ns, "ns", "measured", "a test")
        machine = machines.filled(replace(profile, values=values))
        layout = MachineLayout.from_machine(machine, 1, threads)
        at_medians = performance(loads, machine, layout, drawn=False).parts["thread_wait"]
        waits[ns] = float(at_medians[0])
        drawn = performance(loads, machine, layout).parts["thread_wait"]
        assert (np.ptp(drawn) > 0) == (threads > 1)
    of_meetings_s = 1e-6 * np.log2(threads) / loads.cycle_s
    assert waits[1000.0] - waits[0.0] == pytest.approx(of_meetings_s, abs=1e-12)
    assert waits[None] - waits[0.0] == pytest.approx(0.75 * of_meetings_s, abs=1e-12)
