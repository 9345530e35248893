"""Predicted exchanges, calls and messages beside simulated ones: within 30 %, or it is said why
not.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import simulated_program
from by_day import half_by_night
from scipy import sparse

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.machines.values import Values
from spikemark.models import mpi_rules
from spikemark.models.exchange_times import (
    DIFFERENCES,
    LIKE_MEASURED,
    PLACES,
    ROUTES,
    TABLES,
    differences,
)
from spikemark.models.loggp import Collectives, Interconnect, Traffic
from spikemark.network.description import read_description
from spikemark.network.exchanges import COMPOSED
from spikemark.network.presets import mam_benchmark
from spikemark.prediction import exchange
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.partition import routed
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records import record
from spikemark.running import simulation
from spikemark.running.simulation import platform
from spikemark.running.simulation.smpirun import Messages, replay

pytestmark = pytest.mark.slow  # starts the mini-app

SLACK = 1.3


def close(found: float) -> bool:
    return 1 / SLACK <= found <= SLACK


# --- exchanges of the mini-app

ABSENT = "neighbor", "ineighbor", "persistent", "shared"  # SimGrid lacks what they need
EXCHANGES = [name for name in [*exchange.EXCHANGES, *COMPOSED] if name not in ABSENT]
#: What is said to differ, and a run in which it does: exchange, profile, ranks, ranks on a node,
#: neurons.
DIFFERING = {
    "alltoall": ("alltoall", "dpsnn-westmere-eth", 8, 4, 4600),
    "allgather": ("allgather", "dpsnn-westmere-eth", 8, 4, 4600),
    "p2p": ("p2p", "galileo", 8, 8, 200),
    "rma_put": ("rma_put", "jureca-dc", 8, 1, 200),
    "rma_doubling": ("rma_doubling", "jureca-dc", 8, 1, 200),
    "rma_bruck": ("rma_bruck", "jureca-dc", 8, 1, 200),
    "two_level": ("two_level", "jureca-dc", 17, 1, 200),
    "allgatherv": ("allgatherv", "jureca-dc", 32, 32, 200),
    LIKE_MEASURED: ("alltoallv", "grace", 8, 4, 200),
    ROUTES: ("alltoallv", "jureca-dc", 8, 1, 40_000),
}
#: Those that differ only where a predicted buffer is twice as large as the real one, or where many
#: ranks share a node.
ELSEWHERE = "alltoall", "allgather", "p2p"
AGREEING = [name for name in EXCHANGES if name in ELSEWHERE or name not in DIFFERENCES]
#: Profile, ranks, ranks on a node, neurons per area (200 send a pair of 8 ranks 80 bytes).
CASES = [("jureca-dc", 2, 1, 200), ("jureca-dc", 8, 4, 200)]
MORE = [
    ("supermuc-ng", 8, 2, 3000),
    ("dpsnn-westmere-ib", 8, 4, 3000),
    ("galileo", 8, 8, 200),
    ("jureca-dc", 8, 1, 3000),
    ("jureca-dc", 32, 4, 200),
]
DEAR = (
    "sparse",
    "p2p",
    "ialltoallv",
)  # look for messages again and again: not simulated with 32 ranks
CYCLES, RATE_HZ = 30, 1000.0


def describe(name: str, ranks: int, neurons: int) -> dict:
    """Areas that send each other a tenth of their neurons' spikes in a cycle, in every cycle
    alike.
    """
    found = mam_benchmark.describe(areas=ranks, neurons_per_area=neurons, indegree=40, seed=1)
    found["time"] |= {"warmup_ms": 0, "simulate_ms": round(0.1 * CYCLES, 9)}
    for population in found["network"]["populations"]:
        population["neuron"]["rate_hz"] = RATE_HZ
    return found | {"schedule": "conventional", "exchange": name}


def ratio(
    folder: Path, machine: str, name: str, ranks: int, each=1, neurons=200, crowded=False
) -> float:
    """Predicted over simulated seconds of an exchange, the latter as the median over windows.
    `crowded`: with the congestion that is assumed, which simulations do not apply to links;
    otherwise without any.
    """
    description, profile = describe(name, ranks, neurons), machines.load(machine)
    profile = profile.assume(
        "jitter.node_spread", 0.0, "1", "a test"
    )  # as little as cycles scatter here
    if not crowded:
        profile = profile.assume(platform.CONGESTION, 1.0, "1", "a test")
    out = simulation.simulate(
        description, profile, ranks, folder / "out", cv=1e-6, ranks_per_node=each
    )
    run, described = record.load_run(out), read_description(description)
    simulated = np.median(run.phase("exchange").astype(float).mean(axis=0))
    loads = Loads.count(described, ranks, 1, rates_of(described, None).hz)
    net = Collectives.from_values(Values(machines.filled(profile)), -(-ranks // each))
    layout = MachineLayout.from_machine(profile, ranks, 1, each)
    return exchange.seconds(net, loads.lanes[0], exchange.groups(loads, 0, layout)) / simulated


def is_simulated(case, name: str) -> bool:
    """Whether they are held against each other here: not where they are said to differ."""
    _, ranks, _, _ = case
    if (name, *case) in DIFFERING.values():
        return False
    return ranks <= 8 or name not in DEAR


@pytest.mark.parametrize(
    ("case", "name"),
    [one for one in half_by_night(CASES + MORE, AGREEING) if is_simulated(*one.values)],
)
def test_an_exchange_takes_as_long_as_predicted(tmp_path, case, name):
    machine, ranks, each, neurons = case
    assert close(ratio(tmp_path, machine, name, ranks, each, neurons))


@pytest.mark.slow
@pytest.mark.parametrize("said", DIFFERENCES | PLACES)
def test_what_is_said_to_differ_does(tmp_path, said):
    name, *case = DIFFERING[said]
    found = ratio(tmp_path, case[0], name, *case[1:], crowded=said == ROUTES)
    assert not close(found) and (0.5 < found < 2 or said in PLACES)


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENCES)
def test_those_that_are_said_to_differ_are_within_a_factor_of_two(tmp_path, name):
    for each in 1, 2:
        assert 0.5 < ratio(tmp_path / str(each), "jureca-dc", name, 8, each) < 2


def test_what_simgrid_cannot_do_is_refused_in_a_line(tmp_path):
    with pytest.raises(BadInput, match=r'"shared".*(SimGrid|MPI)') as refused:
        ratio(tmp_path, "jureca-dc", "shared", 4)
    assert "\n" not in str(refused.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "each", "told"),
    [
        ("alltoallv", 1, [ROUTES]),
        ("alltoallv", 2, []),
        ({"name": "two_level", "inner": "rma_put"}, 1, ["two_level", "rma_put", ROUTES]),
    ],
)
def test_a_simulation_says_where_predictions_differ(tmp_path, name, each, told):
    profile, description = machines.load("jureca-dc"), describe(name, 4, 100)
    out = simulation.simulate(
        description, profile, 4, tmp_path / "out", cv=1e-6, ranks_per_node=each
    )
    recorded = read_json(out / "simulation.json")["assumptions"]
    expected = [f"({of}): {(DIFFERENCES | PLACES)[of]}" for of in told]
    differing = [line for line in recorded if "may differ by over 30 %" in line]
    assert [line[line.index("(") :] for line in differing] == expected


# --- collective calls

MEASURED = [
    n for n in machines.names() if any(p.startswith(TABLES) for p in machines.load(n).values)
]
BYTES = (
    4,
    600,
    1024,
    13_000,
    65_536,
)  # below and above the eager threshold, and where algorithms change
CALLS = {"c": "alltoall", "v": "alltoallv", "g": "allgather", "b": "barrier"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    files = "simulated/all_to_all.c", "src/base/alloc.c", "src/base/fatal.c"
    return simulated_program.build(tmp_path_factory.mktemp("calls"), "calls", *files)


def beyond(program, name: str, ranks: int, each: int, sizes=BYTES) -> dict[tuple[str, int], float]:
    """Predicted over simulated seconds by (call, bytes) where they differ, without congestion: few
    nodes have none to meet on simulated routes, and predictions would have that which is assumed.
    """
    profile = machines.filled(machines.load(name).assume(platform.CONGESTION, 1.0, "1", "a test"))
    net, other = Collectives.from_values(Values(profile), -(-ranks // each)), 1 - np.eye(ranks)
    traffic = Traffic(other, other, np.arange(ranks) // each)
    asked = [f"{call}:{size}" for call in "cvg" for size in sizes] + ["b:0"]
    built = platform.build(platform.of_nodes(profile, ranks, each), ranks, each)
    rows, found = simulated_program.times(program, built, 2, *asked), {}
    assert len(rows) == len(asked)
    for call, size, us in rows:
        if call in "cv":
            predicted = getattr(net, CALLS[call])(traffic.dense(int(size)))
        else:
            predicted = net.barrier(traffic) if call == "b" else net.allgather(traffic, int(size))
        if not close(predicted / (1e-6 * float(us))):
            found[CALLS[call], size] = predicted / (1e-6 * float(us))
    return found


FEW, MANY = [(2, 1), (8, 1), (8, 4)], [(2, 2), (8, 2), (8, 8), (32, 1), (32, 4), (32, 16)]
THREE = "jureca-dc", "supermuc-ng", "dpsnn-westmere-eth"
UNMEASURED = [name for name in machines.names() if name not in MEASURED]
LARGE = [(64, 1, (4, 1024)), (64, 2, (1024,)), (128, 4, (4,))]


@pytest.mark.parametrize(
    ("way", "name"), half_by_night(FEW, UNMEASURED) + half_by_night(MANY, THREE)
)
def test_predicted_and_simulated_calls_agree(program, way, name):
    assert not beyond(program, name, *way)


@pytest.mark.parametrize("way", half_by_night(LARGE))
def test_predicted_and_simulated_calls_of_many_ranks_agree(program, way):
    assert not beyond(program, "jureca-dc", *way)


@pytest.mark.parametrize("selector", mpi_rules.RULES)
def test_the_last_row_that_fits_is_the_choice(selector):
    for call, rows in mpi_rules.rules(selector).items():
        assert list(rows) == sorted(rows) and rows[0][:2] == (2, 0)
        for ranks, size, name in rows:
            assert mpi_rules.algorithm_of(selector, call, ranks, size) == name
        starts = [size for ranks, size, _ in rows if ranks == rows[-1][0]]
        assert starts[0] == 0  # else bytes of fewer ranks would count


def test_choices_that_the_libraries_are_known_for():
    for ranks, size in (8, 524288 // 8), (12, 6827), (13, 6302):  # bytes of all ranks together
        for call in "allgather", "allgatherv":
            assert mpi_rules.algorithm_of("mpich", call, ranks, size - 1) == mpi_rules.DOUBLING
            assert mpi_rules.algorithm_of("impi", call, ranks, size) == mpi_rules.RING
    asked = [
        mpi_rules.algorithm_of("ompi", "alltoallv", ranks, 4)
        for ranks in (2, 4, 63, 64, 127, 128, 256, 1024)
    ]
    one, all_ = mpi_rules.PAIRWISE, mpi_rules.LINEAR  # one after another from 64 to 127 ranks
    assert asked == [one, all_, all_, one, one, all_, one, all_]


def test_the_profiles_with_measured_tables_are_said_to_differ():
    assert {"epyc-vm", "grace"} <= {*MEASURED}
    for name in MEASURED:
        (line,) = differences(["alltoallv"], machines.load(name).values)
        assert PLACES[LIKE_MEASURED] in line


# --- messages alone

INPUTS = Values(machines.filled(machines.load("jureca-dc")))


def network(ranks: int) -> Interconnect:
    """With one switch, and the congestion of the model, which knows no leaves on which nodes are
    nearer.
    """
    bandwidth = Collectives.from_values(INPUTS, ranks).net.bandwidth
    whole = Interconnect.from_complete_values(INPUTS, "a test")
    return replace(whole, bandwidth=bandwidth, topology="star", nodes_per_leaf=1)


def one(matrix) -> list[Messages]:
    found = sparse.csr_array(np.array(matrix, dtype=float))
    return [Messages(found, 1, found.shape[0])]


def test_a_message_takes_latency_and_bytes_over_bandwidth():
    net, empty = network(2), sparse.csr_array(([0.0], ([0], [1])), shape=(2, 2))
    for message, size in ((one([[0, 1000], [0, 0]]), 1000), ([Messages(empty, 1, 2)], 0)):
        assert replay(message, net)[0] == pytest.approx(
            net.latency_s + size / net.bandwidth, rel=0.03
        )


@pytest.mark.parametrize("sizes", [(32,), (4, 8), (2, 4, 4)])
@pytest.mark.parametrize("size", [4, 400])
def test_hops_take_as_long_as_the_model_says(sizes, size):
    """Hops follow one another."""
    ranks = 32
    hops = Grid(ranks, sizes).hops(size * (1.0 - np.eye(ranks)))
    strides = np.cumprod([1, *sizes[:-1]])
    messages = [Messages(h.flow, int(s), g) for h, s, g in zip(hops, strides, sizes, strict=True)]
    found, net = replay(messages, network(ranks)), Collectives.from_values(INPUTS, ranks)
    assert (np.diff(found) > 0).all()
    assert close(sum(net.messages(routed.alone(**hop.busiest)) for hop in hops) / found[-1])


def test_a_replay_on_a_fat_tree_is_between_no_congestion_and_the_assumed():
    """64 ranks on 16 leaves send each other messages of many sizes, which meet on static routes."""
    nodes, filled = (
        64,
        machines.filled(
            machines.load("jureca-dc").assume("interconnect.nodes_per_leaf", 4, "1", "a test")
        ),
    )
    flow = np.random.default_rng(1).exponential(30_000, (nodes, nodes)) * (1 - np.eye(nodes))
    sums = routed.alone(nodes - 1, flow.sum(axis=1).max(), flow.max())
    low, high = (
        Collectives.from_values(
            Values(filled.assume(platform.CONGESTION, end, "1", "a test")), nodes
        ).messages(sums)
        for end in (1.0, filled.get(platform.CONGESTION).value)
    )
    assert low < replay(one(flow), platform.of_nodes(filled, nodes))[0] < high
