"""Predicted exchanges beside simulated ones: within 30 %, or algorithms.DIFFERENCES says why not."""

from pathlib import Path

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.machines import algorithms
from spikemark.machines.inputs import Inputs
from spikemark.network.composed import COMPOSED
from spikemark.network.description import read
from spikemark.prediction import exchange, rates
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Loads
from spikemark.prediction.predict import predict
from spikemark.presets import mam_benchmark
from spikemark.records import record
from spikemark.running import simulation
from spikemark.running.simulation import beside, congestion

ABSENT = "neighbor", "ineighbor", "persistent", "shared"  # SimGrid lacks what they need
EXCHANGES = [name for name in [*exchange.EXCHANGES, *COMPOSED] if name not in ABSENT]
#: What is said to differ, and a run in which it does: exchange, profile, ranks, ranks on a node, neurons.
DIFFERING = {
    "alltoall": ("alltoall", "dpsnn-westmere-eth", 8, 4, 4600),
    "allgather": ("allgather", "dpsnn-westmere-eth", 8, 4, 4600),
    "rma_put": ("rma_put", "jureca-dc", 8, 1, 200),
    "rma_doubling": ("rma_doubling", "jureca-dc", 8, 1, 200),
    "two_level": ("two_level", "jureca-dc", 17, 1, 200),
    "allgatherv": ("allgatherv", "jureca-dc", 32, 32, 200),
    algorithms.MEASURED: ("alltoallv", "grace", 8, 4, 200),
    algorithms.ROUTES: ("alltoallv", "jureca-dc", 8, 1, 20_000),
}
ELSEWHERE = "alltoall", "allgather"  # differ where a predicted buffer is twice as large as the real one
AGREEING = [name for name in EXCHANGES if name in ELSEWHERE or name not in algorithms.DIFFERENCES]
#: Profile, ranks, ranks on a node, neurons per area (200 send a pair of 8 ranks 80 bytes).
CASES = [("jureca-dc", 2, 1, 200), ("jureca-dc", 8, 4, 200)]
MORE = [
    ("supermuc-ng", 8, 2, 3000), ("dpsnn-westmere-ib", 8, 4, 3000), ("galileo", 8, 8, 200),
    ("jureca-dc", 8, 1, 3000), ("jureca-dc", 32, 4, 200),
]  # fmt: skip
DEAR = "sparse", "p2p", "ialltoallv"  # look for messages again and again: not simulated with 32 ranks
ROOT = Path(__file__).parents[3]
CYCLES, RATE_HZ = 30, 1000.0
SLACK = 1.3


def describe(name: str, ranks: int, neurons: int) -> dict:
    """Areas that send each other a tenth of their neurons' spikes in a cycle, in every cycle alike."""
    found = mam_benchmark.describe(areas=ranks, neurons_per_area=neurons, indegree=40, seed=1)
    found["time"] |= {"warmup_ms": 0, "simulate_ms": round(0.1 * CYCLES, 9)}
    for population in found["network"]["populations"]:
        population["neuron"]["rate_hz"] = RATE_HZ
    return found | {"schedule": "conventional", "exchange": name}


def predicted_s(description: dict, profile, ranks: int, each: int) -> float:
    described = read(description)
    loads = Loads.of(described, ranks, 1, rates.of(described, None).hz)
    net = Collectives.of(Inputs(machines.filled(profile)), -(-ranks // each))
    layout = Layout.of(profile, ranks, 1, each)
    return exchange.seconds(net, loads.lanes[0], exchange.groups(loads, 0, layout))


def ratio(
    folder: Path,
    machine: str,
    name: str,
    ranks: int,
    each: int = 1,
    neurons: int = 200,
    crowded: bool = False,
) -> float:
    """Predicted over simulated seconds of an exchange. `crowded`: with the congestion that is assumed, which
    simulations do not apply to links; otherwise without any.
    """
    description, profile = describe(name, ranks, neurons), machines.load(machine)
    if not crowded:
        profile = profile.assume(congestion.PATH, 1.0, "1", "a test")
    out = simulation.simulate(description, profile, ranks, folder / "out", cv=1e-6, ranks_per_node=each)
    simulated = beside.typical_s(record.load(out))["exchange"]
    return predicted_s(description, profile, ranks, each) / simulated


def close(found: float) -> bool:
    return 1 / SLACK <= found <= SLACK


@pytest.mark.parametrize(("machine", "ranks", "each", "neurons"), CASES)
@pytest.mark.parametrize("name", AGREEING)
def test_an_exchange_takes_as_long_as_predicted(tmp_path, machine, name, ranks, each, neurons):
    assert close(ratio(tmp_path, machine, name, ranks, each, neurons))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "ranks", "each", "neurons", "name"),
    [(*case, name) for case in MORE for name in AGREEING if case[1] <= 8 or name not in DEAR],
)
def test_so_it_does_with_more_ranks_and_bytes(tmp_path, machine, ranks, each, neurons, name):
    assert close(ratio(tmp_path, machine, name, ranks, each, neurons))


@pytest.mark.slow
@pytest.mark.parametrize("said", algorithms.DIFFERENCES | algorithms.PLACES)
def test_what_is_said_to_differ_does(tmp_path, said):
    name, *case = DIFFERING[said]
    found = ratio(tmp_path, case[0], name, *case[1:], crowded=said == algorithms.ROUTES)
    assert not close(found) and (0.5 < found < 2 or said in algorithms.PLACES)


@pytest.mark.slow
@pytest.mark.parametrize("name", algorithms.DIFFERENCES)
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
        ("alltoallv", 1, [algorithms.ROUTES]),
        ("alltoallv", 2, []),
        ("rma_put", 1, ["rma_put", algorithms.ROUTES]),
        ("two_level", 2, ["two_level"]),
        ({"name": "two_level", "inner": "rma_put"}, 1, ["two_level", "rma_put", algorithms.ROUTES]),
    ],
)
def test_both_commands_say_where_they_differ(tmp_path, name, each, told):
    profile, description = machines.load("jureca-dc"), describe(name, 4, 100)
    lines = predict(description, machines.filled(profile), 4, 1, ranks_per_node=each).assumptions
    out = simulation.simulate(description, profile, 4, tmp_path / "out", cv=1e-6, ranks_per_node=each)
    recorded = read_json(out / "simulation.json")["assumptions"]
    expected = [f"({of}): {(algorithms.DIFFERENCES | algorithms.PLACES)[of]}" for of in told]
    for said in lines, recorded:
        differing = [line for line in said if "may differ by over 30 %" in line]
        assert [line[line.index("(") :] for line in differing] == expected


def test_the_page_has_every_difference_and_its_reason():
    rows = [line for line in (ROOT / "docs/simulation.md").read_text().splitlines() if line.startswith("|")]
    for of, why in (algorithms.DIFFERENCES | algorithms.PLACES).items():
        assert any(of in row and why in row for row in rows), of
