"""What large rings, long lists and deliveries add to the times of kernels, against closed forms."""

import math

import pytest
from small_machine import Machine, Value

from spikemark.machines import inputs
from spikemark.prediction import cache, phases, rates
from spikemark.prediction.loads import Loads
from spikemark.presets.mam_benchmark import describe


def one_area(neurons, indegree=400):
    return describe(areas=1, neurons_per_area=neurons, indegree=indegree)


def loads(network):
    return Loads.of(network, 1, 1, rates.of(network).hz)


def calibrated(**times) -> Machine:
    """A machine of one core whose profile has these kernel times, ns."""
    groups = "one_core", "full_node"
    paths = {f"kernels__{group}__{name}": Value(ns, "ns") for group in groups for name, ns in times.items()}
    return Machine().with_(node__cores=1, **paths)


def test_a_ring_beyond_the_second_cache_costs_more():
    """Nothing more than t_next where it fits, as in the kernel that t_next is measured with."""
    small, large = one_area(5000), one_area(200_000)

    def more(network, machine):
        return float(cache.miss_s(loads(network), inputs.Inputs(machine))[0])

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
    machine = Machine().with_(node__l2=1024, node__l3=32768, node__l3_cores=2)
    more = cache.miss_s(loads(one_area(neurons)), inputs.Inputs(machine))[0]
    assert 0.97e-9 + more == pytest.approx(ns * 1e-9, rel=within)


@pytest.mark.parametrize(
    ("neurons", "ns"), [(5000, 0.0), (30_000, 1.0), (200_000, 2.0), (565_685, 5.0), (1_600_000, 8.0)]
)
def test_measured_times_of_large_rings_count_instead_of_those_of_one_machine(neurons, ns):
    """0 up to 0.2 MB, the measured times at 1.3, 8.4 and 67 MB, in between by the logarithm."""
    rings = calibrated(t_ring_1=1.0, t_ring_8=2.0, t_ring_67=8.0)
    machines = rings, calibrated().with_(node__l2=1e6, node__l3=None)
    known, bare = (phases.phase_times(one_area(neurons), m, 1, 1) for m in machines)
    visits = neurons * 400 * 2.5e-4
    assert known.deliver_s[0] - bare.deliver_s[0] == pytest.approx(visits * ns * 1e-9, abs=1e-9)
    assert cache.ASSUMED in bare.assumptions and cache.ASSUMED not in known.assumptions


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
    network = one_area(neurons, indegree)
    more, plain = (phases.phase_times(network, m, 1, 1) for m in (calibrated(**FAR), calibrated()))
    entered = loads(network).lists.sum()
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
    network = one_area(neurons, 500)
    machines = calibrated(**CLOSE), calibrated(), calibrated(t_close_16=1e6, t_close_64=1e6, t_close_512=1e6)
    less, plain, none = (phases.phase_times(network, m, 1, 1).deliver_s[0] for m in machines)
    entered = loads(network).lists.sum()
    assert plain - less == pytest.approx(1e-9 * each * entered, rel=1e-3, abs=1e-12)
    assert none > 0, "no list takes less than nothing"


@pytest.mark.parametrize(("threads", "share"), [(4, 0.0), (1, 1.0)])
def test_threads_share_the_synapses_of_a_rank(threads, share):
    """320 MB on a rank are 80 MB on each of four threads."""
    machines = [calibrated(**times).with_(node__cores=4) for times in (FAR, {})]
    network = one_area(160_000, 500)
    more, plain = (phases.phase_times(network, m, 1, threads).deliver_s[0] for m in machines)
    assert (more > plain * 1.0001) == bool(share)


def row_ns(neurons: int, events: float, times: dict[str, float], steps: int = 1) -> float:
    """What the steps of a cycle take a neuron longer after so many events of each neuron, ns."""
    indegree = round(events * 4000 / steps)
    network = one_area(neurons, indegree)
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
    network = describe(areas=8, neurons_per_area=600, indegree=40)
    of = Loads.of(network, ranks, 1, rates.of(network).hz)
    known = calibrated(t_leave=90.0, t_route=6.0).with_(node__cores=8)
    found = phases.phase_times(network, known, ranks, 1)
    assert found.collocate_s == pytest.approx(1e-9 * (90 * of.spikes + 6 * of.collocated))
    assert phases.NOT_BETWEEN not in found.assumptions
    before = phases.phase_times(network, Machine(), ranks, 1)
    assert phases.NOT_BETWEEN in before.assumptions and (before.collocate_s > 0).all()
