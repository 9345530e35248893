"""The simulated network, measured with messages there and back: latency and bandwidth are the profile's."""

from dataclasses import replace

import pytest
import simulated_program

from spikemark.core.errors import BadInput
from spikemark.machines.interconnect import Interconnect
from spikemark.machines.profile import FIELD
from spikemark.running.simulation import platform

NETWORK = Interconnect(1.6e-6, 0.9e-6, 12.5e9, 20e9, 0.6e-6, 65536, "star", 4, "ompi")
WITHIN = 0.03
LARGE = 10_000_000
SELECTORS = FIELD["interconnect.selector"].choices


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """A function that runs messages.c on a platform: us of half a round trip, and of a send to a rank that
    receives a millisecond later, by (rank, bytes)."""
    program = simulated_program.build(tmp_path_factory.mktemp("messages"), "messages")

    def run(
        built: platform.Platform, cases: list[tuple[int, int]]
    ) -> dict[tuple[int, int], tuple[float, float]]:
        rows = simulated_program.times(program, built, *(number for case in cases for number in case))
        assert len(rows) == len(cases)
        return {(int(rank), int(size)): (float(half), float(late)) for rank, size, half, late in rows}

    return run


@pytest.fixture
def ping_pong(messages):
    """Half the time of a round trip."""
    return lambda *asked: {case: half for case, (half, _) in messages(*asked).items()}


@pytest.fixture
def late_receiver(messages):
    """The time of a send whose receiver is a millisecond late."""
    return lambda *asked: {case: late for case, (_, late) in messages(*asked).items()}


@pytest.mark.parametrize(("ranks", "ranks_per_node"), [(2, 1), (13, 1), (40, 2)])
@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
def test_latency_and_bandwidth_are_the_profiles(ping_pong, topology, ranks, ranks_per_node):
    network = replace(NETWORK, topology=topology)
    far = ranks - 1
    found = ping_pong(
        platform.build(network, ranks, ranks_per_node), [(far, 0), (far, LARGE), (1, 0), (1, LARGE)]
    )
    assert found[far, 0] == pytest.approx(1e6 * network.latency_s, rel=WITHIN)
    assert found[far, LARGE] == pytest.approx(1e6 * LARGE / network.bandwidth, rel=WITHIN)
    if ranks_per_node > 1:
        assert found[1, 0] == pytest.approx(1e6 * network.latency_node_s, rel=WITHIN)
        assert found[1, LARGE] == pytest.approx(1e6 * LARGE / network.bandwidth_node, rel=WITHIN)
    else:  # nodes of one leaf are nearer
        assert 1e6 * network.gap_s < found[1, 0] < (1 + WITHIN) * 1e6 * network.latency_s


def test_a_gap_above_the_latency_leaves_the_latency(ping_pong):
    network = replace(NETWORK, gap_s=2e-6)
    found = ping_pong(platform.build(network, 4, 2), [(1, 0), (3, 0)])
    assert found[1, 0] == pytest.approx(0.9, rel=WITHIN)
    assert found[3, 0] == pytest.approx(1.6, rel=WITHIN)


@pytest.mark.parametrize("eager", [12 * 1024, 64 * 1024])
def test_messages_beyond_the_eager_threshold_wait_for_their_receiver(late_receiver, eager):
    built = platform.build(replace(NETWORK, eager=eager), 3)
    found = late_receiver(built, [(2, eager // 2), (2, 2 * eager)])
    assert found[2, eager // 2] < 100 < 1000 < found[2, 2 * eager]


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_of_a_profile_is_one_that_simgrid_has(ping_pong, selector):
    ping_pong(platform.build(replace(NETWORK, selector=selector), 2), [(1, 0)])


def test_another_selector_is_refused():
    with pytest.raises(BadInput, match=r"interconnect\.selector='openmpi': allowed are ompi, mpich, impi"):
        platform.build(replace(NETWORK, selector="openmpi"), 2)


@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
@pytest.mark.parametrize("ranks", [1, 3, 17, 128, 1000])
def test_there_is_a_node_for_every_rank(topology, ranks):
    built = platform.build(replace(NETWORK, topology=topology), ranks)
    hosts = built.hosts.split()
    assert hosts == [f"node-{rank}" for rank in range(ranks)]
    last = int(built.xml.split('radical="0-')[1].split('"')[0])
    assert ranks - 1 <= last < 2 * ranks + 8


def test_ranks_fill_nodes_one_after_another():
    hosts = platform.build(NETWORK, 5, 2).hosts.split()
    assert hosts == ["node-0", "node-0", "node-1", "node-1", "node-2"]


def test_an_unknown_topology_is_refused():
    with pytest.raises(
        BadInput, match=r"interconnect\.topology='torus': allowed are star, fat_tree, dragonfly"
    ):
        platform.build(replace(NETWORK, topology="torus"), 4)


@pytest.mark.parametrize("ranks", [platform.MANY - 1, platform.MANY])
def test_broadcasts_of_many_ranks_send_no_messages_between_all_pairs(ranks):
    flags = platform.build(NETWORK, ranks).flags
    assert ("--cfg=smpi/bcast:binomial_tree" in flags) == (ranks >= platform.MANY)
