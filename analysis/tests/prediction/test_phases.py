"""Loads and compute times of ranks: against the access model, closed forms, and what must not matter."""

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark.core.errors import BadInput
from spikemark.machines import inputs
from spikemark.models import access
from spikemark.prediction import cache, phases, rates
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


def test_a_ring_beyond_the_second_cache_costs_more():
    """Nothing more than t_next where it fits, as in the kernel that t_next is measured with."""
    small, large = (
        mam_benchmark.describe(areas=1, neurons_per_area=n, indegree=400) for n in (5000, 200_000)
    )

    def more(network, machine):
        return float(cache.miss_s(count(network, 1, 1), inputs.Inputs(machine))[0])

    assert more(small, Machine()) == 0
    missed, far = (1 - size * 2**20 / (200_000 * 2 * 21) for size in (0.5, 4))
    clocks = missed * cache.MISS + far * cache.FAR
    assert more(large, Machine()) == pytest.approx(clocks / cache.CLOCK_HZ)
    assert more(large, Machine().with_(node__l3=None)) == pytest.approx(missed * cache.MISS / cache.CLOCK_HZ)
    quick = Machine().with_(node__clock=Value(7.3, "GHz"))
    assert more(large, quick) == pytest.approx(more(large, Machine()) / 2)
    assert more(large, Machine().with_(node__l2=None, node__l3=None)) == 0  # no cache is known
    one = Machine().with_(node__cores=1)
    visits = 200_000 * 400 * 2.5e-4
    near, far = (
        phases.phase_times(large, m, 1, 1).deliver_s[0] for m in (one.with_(node__l2=1e6, node__l3=None), one)
    )
    assert far - near == pytest.approx(visits * more(large, one), rel=1e-3)


@pytest.mark.parametrize(
    ("neurons", "ns", "within"), [(190_476, 1.48, 1e-3), (957_143, 6.13, 0.05), (1_914_286, 7.26, 0.05)]
)
def test_rings_that_were_measured_take_as_long_as_then(neurons, ns, within):
    """0.97 ns where the ring, 42 bytes a neuron, fits; caches of 1 and 16 MiB a core, 3.65 GHz."""
    network = mam_benchmark.describe(areas=1, neurons_per_area=neurons, indegree=400)
    machine = Machine().with_(node__l2=1024, node__l3=32768, node__l3_cores=2)
    more = cache.miss_s(count(network, 1, 1), inputs.Inputs(machine))[0]
    assert 0.97e-9 + more == pytest.approx(ns * 1e-9, rel=within)


def test_measured_times_of_large_rings_count_instead_of_those_of_one_machine():
    """0 up to 0.2 MB, the measured times at 1.3, 8.4 and 67 MB, in between by the logarithm."""
    times = {"t_ring_1": 1.0, "t_ring_8": 2.0, "t_ring_67": 8.0}
    paths = {
        f"kernels__{group}__{name}": Value(ns, "ns")
        for group in ("one_core", "full_node")
        for name, ns in times.items()
    }
    machine = Machine().with_(node__cores=1, **paths)

    def one(machine, neurons):
        network = mam_benchmark.describe(areas=1, neurons_per_area=neurons, indegree=400)
        return phases.phase_times(network, machine, 1, 1)

    bare = Machine().with_(node__cores=1, node__l2=1e6, node__l3=None)
    for neurons, more in (5000, 0), (30_000, 1.0), (200_000, 2.0), (565_685, 5.0), (1_600_000, 8.0):
        with_times, without = one(machine, neurons), one(bare, neurons)
        visits = neurons * 400 * 2.5e-4
        assert with_times.deliver_s[0] - without.deliver_s[0] == pytest.approx(visits * more * 1e-9, abs=1e-9)
        assert with_times.update_s[0] == without.update_s[0]
        assert cache.ASSUMED in without.assumptions and cache.ASSUMED not in with_times.assumptions


def calibrated(**times) -> Machine:
    """A machine of one core whose profile has these kernel times, ns."""
    paths = {
        f"kernels__{group}__{name}": Value(ns, "ns")
        for group in ("one_core", "full_node")
        for name, ns in times.items()
    }
    return Machine().with_(node__cores=1, **paths)


FAR = {"t_far_16": 30.0, "t_far_64": 100.0, "t_far_512": 200.0}


@pytest.mark.parametrize(
    ("neurons", "indegree", "each"),
    [
        (40_000, 500, 0.0),  # 80 MB of synapses, as in the kernel that t_first is measured with
        (512_000, 512, 200.0),  # 1.05 GB in lists of 512
        (100_000, 2848, 200.0 + 2336 * 100 / 448),  # as from 64 to 512
        (128_000, 512, 200.0 * math.log(128_000 * 512 * 4 / 80e6) / math.log(1.04e9 / 80e6)),
    ],
)
def test_lists_of_a_thread_with_many_synapses_take_longer(neurons, indegree, each):
    network = mam_benchmark.describe(areas=1, neurons_per_area=neurons, indegree=indegree)
    more, plain = (phases.phase_times(network, m, 1, 1) for m in (calibrated(**FAR), calibrated()))
    entered = count(network, 1, 1).lists.sum()
    assert more.deliver_s[0] - plain.deliver_s[0] == pytest.approx(1e-9 * each * entered, rel=1e-3, abs=1e-12)
    assert (cache.NOT_FAR in plain.assumptions) == (each > 0) and cache.NOT_FAR not in more.assumptions


CLOSE = {"t_close_16": 4.0, "t_close_64": 6.0, "t_close_512": 6.0}


@pytest.mark.parametrize(
    ("neurons", "each"),
    [
        (40_000, 0.0),  # 80 MB, as in the kernel that t_first is measured with
        (1_000, 6.0),  # 2 MB, taken for 8
        (20_000, 6.0 * math.log(2) / math.log(10)),
    ],
)
def test_lists_of_a_thread_with_few_synapses_take_less(neurons, each):
    network = mam_benchmark.describe(areas=1, neurons_per_area=neurons, indegree=500)
    machines = calibrated(**CLOSE), calibrated(), calibrated(t_close_16=1e6, t_close_64=1e6, t_close_512=1e6)
    less, plain, none = (phases.phase_times(network, m, 1, 1).deliver_s[0] for m in machines)
    entered = count(network, 1, 1).lists.sum()
    assert plain - less == pytest.approx(1e-9 * each * entered, rel=1e-3, abs=1e-12)
    assert none > 0, "no list takes less than nothing"


@pytest.mark.parametrize(("threads", "share"), [(4, 0.0), (1, 1.0)])
def test_threads_share_the_synapses_of_a_rank(threads, share):
    """320 MB on a rank are 80 MB on each of four threads."""
    network = mam_benchmark.describe(areas=1, neurons_per_area=160_000, indegree=500)
    machines = [calibrated(**times).with_(node__cores=4) for times in (FAR, {})]
    more, plain = (phases.phase_times(network, m, 1, threads).deliver_s[0] for m in machines)
    assert (more > plain * 1.0001) == bool(share)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_threads_keep_the_synapses_of_their_rank(schedule):
    loads = count(NETWORK, 8, 3, schedule)
    assert loads.of_rank(loads.kept) == pytest.approx(loads.synapses)


def row_ns(neurons: int, events: float, times: dict[str, float], steps: int = 1) -> float:
    """What the steps of a cycle take a neuron longer after so many events of each neuron, ns."""
    indegree = round(events * 4000 / steps)
    network = mam_benchmark.describe(areas=1, neurons_per_area=neurons, indegree=indegree)
    network["time"]["cycle_ms"] = 0.1 * steps
    for projection in network["network"]["projections"]:
        projection["delay"] = {"distribution": "constant", "mean": 2.0}
    machines = calibrated(**times), calibrated()
    with_times, none = (phases.phase_times(network, m, 1, 1).update_s[0] for m in machines)
    return 1e9 * (with_times - none) / neurons


ROWS = {"t_row_1": 0.1, "t_row_3": 0.3, "t_row_8": 0.4}


@pytest.mark.parametrize(("neurons", "ns"), [(30_000, 0.1), (64_000, 0.3), (200_000, 0.4), (1_000_000, 0.4)])
def test_neurons_take_longer_after_a_delivery(neurons, ns):
    """As long as was measured where each receives 1.5 events, from lists that are longer here."""
    assert row_ns(neurons, 1.5, ROWS) == pytest.approx(ns, rel=0.05)


#: ns per neuron and step: `update_between` with so many thousand neurons and events of each, medians of 300
#: cycles, on a busy Xeon machine of two cores, 2026-11-23.
MEASURED = [
    (15, 0.75, 0.25), (15, 3, 0.286), (30, 0.375, 0.236), (30, 0.75, 0.273), (30, 3, 0.442), (48, 0.75, 0.38),
    (48, 1.5, 0.455), (64, 0.05, 0.238), (64, 0.375, 0.337), (64, 0.75, 0.435), (64, 3, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("thousand", "events", "ns"), MEASURED)
def test_fewer_events_leave_more_of_the_neurons_in_the_caches(thousand, events, ns):
    measured = {"t_row_1": 0.117, "t_row_3": 0.26, "t_row_8": 0.29}  # with 1.5 events, above 0.206 ns
    assert 0.206 + row_ns(1000 * thousand, events, measured) == pytest.approx(ns, rel=0.24)


def test_only_the_first_step_of_a_cycle_follows_a_delivery():
    ten, one = row_ns(64_000, 1.5, ROWS, steps=10), row_ns(64_000, 1.5, ROWS)
    assert one < ten < 5 * one


@pytest.mark.parametrize("ranks", [2, 8])
def test_collocation_counts_spikes_and_the_ranks_they_go_to(ranks):
    loads = count(NETWORK, ranks, 1)
    known = calibrated(t_leave=90.0, t_route=6.0).with_(node__cores=8)
    found = phases.phase_times(NETWORK, known, ranks, 1)
    assert found.collocate_s == pytest.approx(1e-9 * (90 * loads.spikes + 6 * loads.collocated))
    assert phases.NOT_BETWEEN not in found.assumptions
    before = phases.phase_times(NETWORK, Machine(), ranks, 1)
    assert phases.NOT_BETWEEN in before.assumptions and (before.collocate_s > 0).all()


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
        ((9, 1, "structure_aware"), "ranks=9: placement 'area' has 8 areas"),
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
