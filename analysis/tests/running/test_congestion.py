"""Congestion in simulated networks: what calibration measured is simulated, and nothing counts twice."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from spikemark import machines
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import CROWD
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.layout import Layout
from spikemark.prediction.partition import routed
from spikemark.running.simulation import congestion, networks, platform
from spikemark.running.simulation.replay import Messages, replay

BYTES, LEAF = 4_000_000, 4
NODES = 64  # in a dragonfly, groups of 16, so that all messages between halves take equally long


def profile(topology: str = "fat_tree", stated: float | None = None, fabric: str = "infiniband"):
    """JURECA-DC with another topology, and perhaps a congestion."""
    found = machines.load("jureca-dc").assume("interconnect.nodes_per_leaf", LEAF, "1", "a test")
    found = found.assume("interconnect.topology", topology, None, "a test")
    found = found.assume("interconnect.fabric", fabric, None, "a test")
    return found if stated is None else found.assume(congestion.PATH, stated, "1", "a test")


def between_halves(filled, nodes: int = NODES) -> float:
    """Each node of the first half sends to one of the second: time over that of the profile's bandwidth."""
    half = nodes // 2
    size = sparse.csr_array((np.full(half, BYTES), (np.arange(half), half + np.arange(half))), (nodes, nodes))
    found = replay([Messages(size, 1, nodes)], networks.of_nodes(filled, nodes))
    return found.last_s[0] * Inputs(filled).need("interconnect.bandwidth", "a test") / BYTES


def own(topology: str, nodes: int = NODES) -> float:
    network = networks.of_nodes(machines.filled(profile(topology)), nodes)
    return congestion.OWN[topology](network, nodes)


@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
def test_without_a_stated_congestion_only_the_simulated_links_slow_messages(topology):
    found = between_halves(machines.filled(profile(topology)))
    assert found == pytest.approx(own(topology), rel=0.02)
    assert (found > 2) == (topology == "dragonfly")


@pytest.mark.parametrize("stated", [1.5, 4.0])
@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
def test_a_simulated_calibration_finds_the_congestion_that_is_stated(topology, stated):
    found = between_halves(machines.filled(profile(topology, stated)))
    assert found == pytest.approx(max(stated, own(topology)), rel=0.02)


@pytest.mark.parametrize("nodes", [4, 10, 37, 100])
@pytest.mark.parametrize("topology", ["star", "fat_tree"])
def test_between_halves_of_a_star_or_fat_tree_nothing_meets(topology, nodes):
    assert between_halves(machines.filled(profile(topology)), nodes) == pytest.approx(1, rel=0.02)


def test_the_congestion_that_is_assumed_for_ethernet_stays():
    filled = machines.filled(profile(fabric="ethernet"))
    assert between_halves(filled) == pytest.approx(filled.need(congestion.PATH, "a test").value, rel=0.02)


def test_a_pair_of_nodes_meets_no_congestion():
    alone = [networks.of_nodes(machines.filled(profile("star", 4.0)), n).bandwidth for n in (2, CROWD)]
    assert alone[0] == 4 * alone[1]


@pytest.mark.parametrize("alike", [True, False])
def test_parts_that_are_simulated_as_stars_and_their_links_keep_what_is_assumed(alike):
    found = machines.load_any("two-generations")
    if not alike:
        slow = {n: replace(link, profile=link.profile.assume("interconnect.latency", 9.0, "us", "a test"))
                for n, link in found.links.items()}  # fmt: skip
        found = replace(found, links=slow)
    filled = machines.filled(found)
    layout = Layout.of(filled, 8 * len(filled.parts), 1, 1, dict.fromkeys(filled.parts, 8))
    found = networks.Networks.of(filled, layout)
    assert found.alike == alike
    inputs = Inputs(filled)
    for part, network in found.parts.items():
        stated = inputs.of_part(part).need("interconnect.bandwidth", "a test")
        assumed = inputs.of_part(part).need(congestion.PATH, "a test")
        assert assumed > 2 and network.bandwidth == pytest.approx(stated / (1 if alike else assumed))
    for pair, link in found.links.items():
        assert link.bandwidth < inputs.of_link(*pair).need("interconnect.bandwidth", "a test") / 2


@pytest.mark.parametrize("size", [2000, 30_000])
def test_a_replay_on_a_fat_tree_is_within_the_interval_of_the_model(size):
    """64 ranks on 16 leaves send each other messages of many sizes, which meet on static routes."""
    filled, half = machines.filled(profile()), np.random.default_rng(1).exponential(size, (NODES, NODES))
    flow = half * (1 - np.eye(NODES))
    sums = routed.Busiest(NODES - 1, flow.sum(axis=1).max(), flow.max())
    low, high = (
        Collectives.of(Inputs(filled, moved=moved), NODES).messages(sums)
        for moved in ({congestion.PATH: "low"}, {})
    )
    found = replay([Messages(sparse.csr_array(flow), 1, NODES)], networks.of_nodes(filled, NODES)).last_s[0]
    assert low < found < high


@pytest.mark.parametrize(
    ("topology", "stated", "said"),
    [
        ("star", 2.0, None),
        ("fat_tree", None, "is not applied: it is assumed for static routes"),
        ("fat_tree", 2.0, "links have 1/2 of the bandwidth"),
        ("dragonfly", 2.0, "the simulated dragonfly has 2.67"),
        ("dragonfly", 4.0, "links have 1/1.5 of the bandwidth"),
    ],
)
def test_assumptions_say_what_becomes_of_the_congestion(topology, stated, said):
    filled = machines.filled(profile(topology, stated))
    found = networks.Networks.of(filled, Layout.of(filled, NODES, 1, 1)).assumptions
    lines = [line for line in found if line.startswith(congestion.PATH)]
    assert len(lines) == (said is not None) and all(said in line for line in lines)
