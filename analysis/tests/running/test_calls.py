"""Predicted times of collective calls beside simulated ones: they use the same algorithms and messages."""

import numpy as np
import pytest
import simulated_program

from spikemark import machines
from spikemark.machines import algorithms
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.traffic import Traffic
from spikemark.running.simulation import congestion, networks, platform

MEASURED = [
    n for n in machines.names() if any(p.startswith(algorithms.TABLES) for p in machines.load(n).values)
]
PROFILES = [name for name in machines.names() if name not in MEASURED]
BYTES = 4, 600, 1024, 13_000, 65_536  # below and above the eager threshold, and where algorithms change
CALLS = {"c": "alltoall", "v": "alltoallv", "g": "allgather", "b": "barrier"}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A function that gives the simulated seconds of calls by (call, bytes)."""
    folder = tmp_path_factory.mktemp("calls")
    program = simulated_program.build(folder, "calls", "transport/all_to_all.c", "base/alloc.c")

    def run(network: Interconnect, ranks: int, each: int, calls: list[str]) -> dict[tuple[str, int], float]:
        rows = simulated_program.times(program, platform.build(network, ranks, each), 2, *calls)
        assert len(rows) == len(calls)
        return {(call, int(size)): 1e-6 * float(us) for call, size, us in rows}

    return run


def compared(simulated, name: str, ranks: int, each: int, sizes=BYTES) -> dict[tuple[str, int], float]:
    """Predicted over simulated seconds by (call, bytes), without congestion: few nodes have none to meet on
    simulated routes, and predictions would have that which is assumed (test_congestion.py).
    """
    profile = machines.filled(machines.load(name).assume(congestion.PATH, 1.0, "1", "a test"))
    inputs = Inputs(profile)
    net = Collectives.of(inputs, -(-ranks // each))
    other = 1 - np.eye(ranks)
    traffic = Traffic(other, other, np.arange(ranks) // each)
    asked = [f"{call}:{size}" for call in "cvg" for size in sizes] + ["b:0"]
    found = simulated(networks.of_nodes(profile, ranks, each), ranks, each, asked)

    def predicted(call: str, size: int) -> float:
        if call in "cv":
            return getattr(net, CALLS[call])(traffic.dense(size))
        return net.barrier(traffic) if call == "b" else net.allgather(traffic, size)

    return {(CALLS[c], size): predicted(c, size) / seconds for (c, size), seconds in found.items()}


def beyond(ratios: dict[tuple[str, int], float]) -> dict[tuple[str, int], float]:
    return {case: ratio for case, ratio in ratios.items() if not 1 / 1.3 <= ratio <= 1.3}


@pytest.mark.parametrize(("ranks", "each"), [(2, 1), (8, 1), (8, 4)])
@pytest.mark.parametrize("name", PROFILES)
def test_predicted_and_simulated_calls_agree_within_30_percent(simulated, name, ranks, each):
    assert not beyond(compared(simulated, name, ranks, each))


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "each"), [(2, 2), (8, 2), (8, 8), (32, 1), (32, 4), (32, 16)])
@pytest.mark.parametrize("name", ["jureca-dc", "supermuc-ng", "dpsnn-westmere-eth"])
def test_so_they_do_on_more_ranks_and_nodes(simulated, name, ranks, each):
    assert not beyond(compared(simulated, name, ranks, each))


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "each", "sizes"), [(64, 1, (4, 1024)), (64, 2, (1024,)), (128, 4, (4,))])
def test_so_they_do_with_many_ranks(simulated, ranks, each, sizes):
    assert not beyond(compared(simulated, "jureca-dc", ranks, each, sizes))


@pytest.mark.parametrize("selector", algorithms.RULES)
def test_the_last_row_that_fits_is_the_choice(selector):
    for call, rows in algorithms.rules(selector).items():
        assert list(rows) == sorted(rows) and rows[0][:2] == (2, 0)
        for ranks, size, name in rows:
            assert algorithms.chosen(selector, call, ranks, size) == name
        starts = [size for ranks, size, _ in rows if ranks == rows[-1][0]]
        assert starts[0] == 0  # else bytes of fewer ranks would count


@pytest.mark.parametrize(("ranks", "size"), [(8, 524288 // 8), (12, 6827), (13, 6302)])
def test_mpich_gathers_in_a_ring_by_the_bytes_of_all_ranks(ranks, size):
    for call in "allgather", "allgatherv":
        assert algorithms.chosen("mpich", call, ranks, size - 1) == algorithms.DOUBLING
        assert algorithms.chosen("impi", call, ranks, size) == algorithms.RING


def test_open_mpi_sends_one_after_another_between_64_and_127_ranks():
    asked = [
        algorithms.chosen("ompi", "alltoallv", ranks, 4) for ranks in (2, 4, 63, 64, 127, 128, 256, 1024)
    ]
    one, all_ = algorithms.PAIRWISE, algorithms.LINEAR
    assert asked == [one, all_, all_, one, one, all_, one, all_]


@pytest.mark.parametrize("call", algorithms.rules("ompi"))
@pytest.mark.parametrize("selector", algorithms.RULES)
def test_a_stretch_of_ranks_has_one_choice_and_its_neighbours_another(selector, call):
    for size in (0, 4, 600, 70_000):
        for ranks in (2, 3, 5, 8, 48, 64, 100, 127, 128, 255, 256, 1023, 1024, 5000):
            first, last = algorithms.stretch(selector, call, ranks, size)
            here = algorithms.chosen(selector, call, ranks, size)
            assert first <= ranks and (last is None or last >= ranks)
            if selector != "ompi":
                continue  # the rules of others depend on the ranks
            for at in {first, ranks, last or 10**6}:
                assert algorithms.chosen(selector, call, at, size) == here
            neighbours = [first - 1] if first > 2 else []
            for beyond in neighbours + ([] if last is None else [last + 1]):
                assert algorithms.chosen(selector, call, beyond, size) != here


def test_the_two_profiles_with_measured_tables_are_said_to_differ():
    assert MEASURED == ["epyc-vm", "grace"]
    for name in MEASURED:
        (line,) = algorithms.differences(["alltoallv"], machines.load(name).values)
        assert algorithms.PLACES[algorithms.MEASURED] in line
