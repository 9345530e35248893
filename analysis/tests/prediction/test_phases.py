"""Loads and compute times of ranks: against the access model, closed forms, and what must not matter."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark.core.errors import BadInput
from spikemark.machines import inputs
from spikemark.models import access
from spikemark.prediction import phases, rates
from spikemark.prediction.intervals import predicted
from spikemark.prediction.loads import Loads
from spikemark.prediction.predict import predict
from spikemark.presets import mam, mam_benchmark, microcircuit

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=600, indegree=40, delay_ratio=5)


def count(network, ranks, threads, schedule=None, placement=None):
    return Loads.of(network, ranks, threads, rates.of(network).hz, schedule, placement)


@pytest.mark.parametrize("schedule", ["conventional", "placement_only", "structure_aware", "hierarchical"])
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 3), (8, 2)])
def test_loads_add_up_to_the_access_model(schedule, ranks, threads):
    found = count(NETWORK, ranks, threads, schedule)
    known = access.expected(NETWORK, ranks, threads, schedule)
    lists = found.of_rank(found.lists).sum()
    assert lists / found.total_events == pytest.approx(known.ratio, rel=1e-12)
    per_cycle = 2.5 * 1e-4
    assert found.total_events == pytest.approx(8 * 600 * 40 * per_cycle, rel=1e-12)
    assert found.spikes.sum() == pytest.approx(8 * 600 * per_cycle, rel=1e-12)
    assert found.synapses.sum() == pytest.approx(8 * 600 * 40, rel=1e-12)


def test_unequal_areas_are_the_model_of_access_too():
    network = mam.describe(scale=0.02)
    hz = rates.of(network, 2.5).hz
    for schedule, placement in (("conventional", None), ("structure_aware", "area_group")):
        found = Loads.of(network, 40, 3, hz, schedule, placement) if placement else Loads.of(
            network, 32, 3, hz, schedule)  # fmt: skip
        known = access.expected(
            network, found.ranks, 3, schedule, placement,
            {p["name"]: 2.5 for p in network["network"]["populations"]},
        )  # fmt: skip
        assert found.of_rank(found.lists).sum() / found.total_events == pytest.approx(known.ratio, rel=1e-9)


def test_spikes_arrive_where_they_are_sent():
    found = count(NETWORK, 8, 2, "structure_aware")
    near, far = (lane.name for lane in found.lanes)
    assert (near, far) == ("near", "far")
    assert np.allclose(found.words[0], np.diag(np.diag(found.words[0])))  # a rank keeps its area's
    assert (np.diag(found.words[1]) == 0).all()
    assert found.words[1].sum(axis=1) == pytest.approx(found.words[1].sum(axis=0))
    assert (found.words[1] <= found.spikes[:, None] * (1 + 1e-12)).all()


def test_one_thread_by_hand():
    """One rank, one thread, one core: every term of the sum."""
    machine = Machine().with_(node__cores=1)  # its ring fits into the second cache
    found = phases.phase_times(NETWORK, machine, 1, 1)
    neurons, spikes = 4800, 4800 * 2.5e-4
    assert found.deliver_s[0] == pytest.approx(1e-9 * spikes * (40 + 2 + 40), rel=1e-3)
    assert found.update_s[0] == pytest.approx(1e-9 * neurons)
    assert found.collocate_s[0] == pytest.approx(1e-9 * 5 / 4 * spikes, rel=1e-3)


def test_a_full_node_is_slower_and_half_of_it_is_between():
    times = [
        phases.phase_times(NETWORK, Machine(), ranks, 1).update_s.sum() for ranks in (1, 4, 16)
    ]  # neurons / ranks, each of which is slower the more there are
    share = 3 / 15
    assert times[1] == pytest.approx(times[0] * (1 + share), rel=2e-3)
    assert times[2] == pytest.approx(times[0] * 2, rel=2e-3)
    found = phases.phase_times(NETWORK, Machine(), 4, 1)
    assert any("interpolated" in line for line in found.assumptions)
    apart = phases.phase_times(NETWORK, Machine(), 4, 1, ranks_per_node=1)
    assert apart.update_s.sum() == pytest.approx(times[0], rel=2e-3)


def test_equal_ranks_take_equal_times_and_a_larger_area_longer():
    equal = phases.phase_times(NETWORK, Machine(), 8, 2, "structure_aware")
    assert np.ptp(equal.compute_s) < 1e-9 * equal.compute_s[0]
    network = mam_benchmark.describe(areas=8, neurons_per_area=600, indegree=40, size_cv=0.3)
    sizes = np.array([p["size"] for p in network["network"]["populations"]])
    unequal = phases.phase_times(network, Machine(), 8, 2, "structure_aware").compute_s
    assert (np.argsort(unequal) == np.argsort(sizes)).all()


def test_a_cycle_takes_its_time_whatever_is_in_it():
    plain = Machine()
    half = plain.with_(kernels__one_core__cycle=Value(1000, "ns"))
    known = half.with_(kernels__full_node__cycle=Value(4000, "ns"))
    for ranks, threads, beside in (1, 1, 1e-6), (16, 1, 4e-6), (4, 1, 1.6e-6), (1, 16, 4e-6):
        before, after = (phases.phase_times(NETWORK, m, ranks, threads) for m in (plain, known))
        assert after.update_s - before.update_s == pytest.approx(beside)
        assert after.deliver_s == pytest.approx(before.deliver_s)
        assert phases.NO_CYCLE in before.assumptions and phases.NO_CYCLE not in after.assumptions
    assert phases.NO_CYCLE not in phases.phase_times(NETWORK, half, 1, 1).assumptions
    assert phases.NO_CYCLE in phases.phase_times(NETWORK, half, 4, 1).assumptions


def test_threads_wait_for_the_slowest_and_a_rank_computes_as_long_as_it():
    """Waiting of threads is neither delivery nor update, which are those of a mean thread."""
    network = mam_benchmark.describe(areas=3, neurons_per_area=5, indegree=40)
    loads = count(network, 1, 8)  # 15 neurons: one thread has one less than the others
    machine = Machine().with_(interconnect__latency_node=Value(0, "us"))
    found = phases.phase_times(network, machine, 1, 8)
    neurons = loads.neurons.sum(axis=0)[loads.column[0]]
    assert sorted(neurons) == [1, *[2] * 7]
    each = loads.neurons.sum(axis=0)[loads.column[0]].mean()
    one = phases.phase_times(network, machine, 1, 1)
    assert (one.thread_wait_s == 0).all() and found.thread_wait_s[0] > 0
    assert found.update_s[0] / each < one.update_s[0] / 15 * 2  # the node is busy, up to twice as slow
    with_barriers = phases.phase_times(network, Machine(), 1, 8)
    assert with_barriers.thread_wait_s[0] > found.thread_wait_s[0]
    assert with_barriers.update_s == pytest.approx(found.update_s)
    assert found.compute_s == pytest.approx(sum(found.parts))
    assert sum(found.of_one_thread) == pytest.approx(found.compute_s)


def test_times_scale_with_the_kernels():
    one = phases.phase_times(NETWORK, Machine(), 8, 1)
    doubled = {p: replace(v, value=2 * v.value) for p, v in Machine().values.items() if "kernels" in p}
    two = phases.phase_times(NETWORK, Machine(values=Machine().values | doubled), 8, 1)
    assert two.compute_s == pytest.approx(2 * one.compute_s)


def test_the_kind_is_the_worst_of_those_that_matter():
    machine = Machine().with_(kernels__full_node__t_next=Value(2, "ns", "assumed"))
    full, one = (predict(NETWORK, machine, ranks, 1) for ranks in (16, 1))
    assert full.figures["deliver"].kind == "assumed"
    assert one.figures["deliver"].kind == "measured"  # it is not used there


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_threads_keep_the_synapses_of_their_rank(schedule):
    loads = count(NETWORK, 8, 3, schedule)
    assert loads.of_rank(loads.kept) == pytest.approx(loads.synapses)


def test_published_rates_and_rates_as_asked():
    network = microcircuit.describe(scale=0.1)
    found = rates.of(network, preset="microcircuit")
    assert found.hz[0] == microcircuit.RATES.hz["L23E"] and "Potjans" in found.source
    assert (rates.of(network, 4.0).hz == 4).all()
    with pytest.raises(BadInput, match="rate: population 'L23E' has no rate of its own"):
        rates.of(network)
    with pytest.raises(BadInput, match="rate=-1: rates in Hz from 0 to 10000"):
        rates.of(network, -1.0)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((8, 17), "threads=17: a node of made-up has 16 cores"),
        ((0, 1), "ranks=0: "),
        ((9, 1, "structure_aware"), "ranks=9: placement 'area' cannot deal 8 areas"),
        ((8, 1, "fast"), "schedule='fast': known are"),
        ((8, 8, None, None, 3), "ranks_per_node=3: with 8 threads each, a node of made-up"),
    ],
)
def test_bad_questions_are_refused(arguments, complaint):
    with pytest.raises(BadInput) as refusal:
        phases.phase_times(NETWORK, Machine(), *arguments)
    assert complaint in str(refusal.value)


def test_windows_longer_than_the_shortest_delay_are_refused():
    network = {**NETWORK, "delay_ratio": 6}
    with pytest.raises(BadInput, match="lane far has windows of 6 cycles; its shortest delay allows 5"):
        phases.phase_times(network, Machine(), 8, 1, "structure_aware")
    with pytest.raises(BadInput, match="delay_ratio=5: with lag=1 a multiple of 2"):
        phases.phase_times(NETWORK, Machine(), 8, 1, "overlapped")


def test_an_unknown_value_is_named():
    with pytest.raises(BadInput, match=r"made-up: kernels.full_node.t_first is unknown"):
        phases.phase_times(NETWORK, Machine().with_(kernels__full_node__t_first=None), 16, 1)


def test_large_machines_take_seconds():
    """128 ranks with 128 threads, unequal areas of eight populations, without building anything."""
    network = mam.describe(full=True)
    machine = Machine().with_(node__cores=128)
    began = time.process_time()
    found = phases.phase_times(network, machine, 128, 128, "structure_aware", "area_group", hz=2.5)
    assert found.compute_s.shape == (128,) and (found.compute_s > 0).all()
    assert time.process_time() - began < 60  # twenty times what it takes


def test_intervals_add_squares():
    """Two independent values within 10 % each: a sum within sqrt(2) times as much as one."""
    known = {
        p: SimpleNamespace(value=1.0, unit="s", kind="measured", interval=(0.9, 1.1), follows=())
        for p in "ab"
    }
    profile = SimpleNamespace(need=lambda path, why: known[path], get=known.get)
    found, _ = predicted(
        inputs.Inputs(profile), lambda i: {"sum": i.need("a", "") + i.need("b", ""), "one": i.need("a", "")}
    )
    assert found["sum"].high == pytest.approx(2 + 0.1 * 2**0.5)
    assert found["sum"].low == pytest.approx(2 - 0.1 * 2**0.5)
    assert found["one"].depends == ("a",) and set(found["sum"].depends) == {"a", "b"}
    with pytest.raises(BadInput, match="unit='furlong'"):
        inputs.si("furlong")
