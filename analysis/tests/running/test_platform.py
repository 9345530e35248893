"""The simulated network, measured with messages there and back: latency and bandwidth are the
profile's.
"""

from dataclasses import replace

import numpy as np
import pytest
import simulated_program
from by_day import half_by_night
from scipy import sparse

from spikemark import machines
from spikemark.machines.fields import FIELD
from spikemark.machines.parts import Node, RanksOfPart
from spikemark.machines.values import Values
from spikemark.models.loggp import LINKS, Interconnect
from spikemark.prediction.layout import MachineLayout
from spikemark.running.simulation import platform
from spikemark.running.simulation.platform import CONGESTION, Networks
from spikemark.running.simulation.smpirun import Messages, replay

FAST = Interconnect(1.6e-6, 0.9e-6, 12.5e9, 20e9, 0.6e-6, 65536, "star", 4, "ompi")
SLOW = Interconnect(35e-6, 1.4e-6, 0.11e9, 4e9, 6e-6, 12288, "star", 1, "ompi")
LINK = Interconnect(40e-6, 0, 0.1e9, float("inf"), 8e-6, 12288)
WITHIN, LARGE = 0.03, 10_000_000
PAIR = "x86", "arm"


def layout(**ranks: tuple[int, int]) -> MachineLayout:
    """Shares of so many ranks, so many of them on a node, by part."""
    shares, first = [], 0
    for part, (own, each) in ranks.items():
        shares.append(RanksOfPart(part, Node(16, each, 1, -(-own // each)), first, own))
        first += own
    return MachineLayout(tuple(shares))


def networks(order=PAIR, fast=FAST, slow=SLOW, link=LINK) -> Networks:
    parts = {"x86": fast, "arm": slow}
    return Networks({name: parts[name] for name in order}, {order: link}, False)


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """A function that runs messages.c on a platform: us of half a round trip from rank 0, and of a
    send to a rank that receives a millisecond later, by (rank, bytes).
    """
    program = simulated_program.build(tmp_path_factory.mktemp("messages"), "messages")

    def run(built: platform.Platform, *cases: tuple[int, int]) -> dict[tuple[int, int], tuple]:
        rows = simulated_program.times(
            program, built, *(number for case in cases for number in case)
        )
        assert len(rows) == len(cases)
        return {
            (int(rank), int(size)): (float(half), float(late)) for rank, size, half, late in rows
        }

    return run


@pytest.fixture
def trip(timed):
    """Half the time of a round trip."""
    return lambda *asked: {case: half for case, (half, _) in timed(*asked).items()}


def is_of(found: dict, rank: int, latency_s: float, bandwidth: float) -> None:
    assert found[rank, 0] == pytest.approx(1e6 * latency_s, rel=WITHIN)
    assert found[rank, LARGE] == pytest.approx(1e6 * LARGE / bandwidth, rel=WITHIN)


@pytest.mark.parametrize(("topology", "way"), half_by_night(LINKS, [(2, 1), (13, 1), (40, 2)]))
def test_latency_and_bandwidth_are_the_profiles(trip, topology, way):
    ranks, each = way
    network, far = replace(FAST, topology=topology), ranks - 1
    found = trip(platform.build(network, ranks, each), (far, 0), (far, LARGE), (1, 0), (1, LARGE))
    is_of(found, far, network.latency_s, network.bandwidth)
    if each > 1:
        is_of(found, 1, network.latency_node_s, network.bandwidth_node)
    else:  # nodes of one leaf are nearer
        assert 1e6 * network.gap_s < found[1, 0] < (1 + WITHIN) * 1e6 * network.latency_s


def test_a_gap_above_the_latency_leaves_the_latency_with_every_selector_of_a_profile(trip):
    for selector in FIELD["interconnect.selector"].choices:
        found = trip(
            platform.build(replace(FAST, gap_s=2e-6, selector=selector), 4, 2), (1, 0), (3, 0)
        )
        assert list(found.values()) == pytest.approx([0.9, 1.6], rel=WITHIN)


@pytest.mark.parametrize("eager", [12 * 1024, 64 * 1024])
def test_messages_beyond_the_eager_threshold_wait_for_their_receiver(timed, eager):
    found = timed(platform.build(replace(FAST, eager=eager), 3), (2, eager // 2), (2, 2 * eager))
    assert found[2, eager // 2][1] < 100 < 1000 < found[2, 2 * eager][1]


@pytest.mark.parametrize("topology", LINKS)
@pytest.mark.parametrize("ranks", [1, 3, 17, 128, 1000])
def test_there_is_a_node_for_every_rank(topology, ranks):
    built = platform.build(replace(FAST, topology=topology), ranks)
    assert built.hosts.split() == [f"node-{rank}" for rank in range(ranks)]
    assert ranks - 1 <= int(built.xml.split('radical="0-')[1].split('"')[0]) < 2 * ranks + 8
    # whose broadcasts send no messages between all pairs
    many = ranks >= platform.BINOMIAL_FROM_RANKS
    assert ("--cfg=smpi/bcast:binomial_tree" in built.flags) == many


def test_a_machine_of_equal_nodes_has_the_platform_that_it_always_had():
    """Down to the last byte; results in docs/ depend on it."""
    one = MachineLayout((RanksOfPart(None, Node(16, 2, 8, 7), 0, 13),))
    net = replace(FAST, topology="fat_tree")
    found = platform.build_parts(Networks({None: net}, {}, True), one)
    assert found == platform.build(net, 13, 2)
    assert found.hosts.split() == [f"node-{rank // 2}" for rank in range(13)]
    assert found.xml == (
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        ' <zone id="world" routing="Full">\n'
        '  <cluster id="machine" prefix="node-" suffix="" radical="0-7"\n'
        '           speed="1Gf" core="2" sharing_policy="SPLITDUPLEX"\n'
        '           bw="1.25e+10Bps" lat="2.5e-07s"\n'
        '           loopback_bw="1e+15Bps" loopback_lat="3e-07s"'
        ' topology="FAT_TREE" topo_parameters="2;4,2;1,4;1,1"/>\n'
        " </zone>\n"
        "</platform>\n"
    )
    assert found.environment[platform.MESSAGE_COST] == "3e-07 3e-07 5e-11"


# --- parts of a machine


@pytest.mark.slow
@pytest.mark.parametrize("order", [PAIR, PAIR[::-1]])
@pytest.mark.parametrize("topology", LINKS)
def test_between_parts_latency_and_bandwidth_are_those_of_the_link(trip, topology, order):
    nets = networks(order, fast=replace(FAST, topology=topology))
    built = platform.build_parts(nets, layout(**dict.fromkeys(order, (8, 2))))
    found = trip(built, *((rank, size) for rank in (1, 7, 8, 15) for size in (0, LARGE)))
    own = nets.parts[order[0]]
    is_of(found, 1, own.latency_node_s, own.bandwidth_node)
    is_of(found, 7, own.latency_s, own.bandwidth)
    for rank in 8, 15:
        is_of(found, rank, LINK.latency_s, LINK.bandwidth)


@pytest.mark.parametrize("of", ["fast", "slow", "link"])
def test_the_bandwidth_between_parts_is_the_least_on_the_way(trip, of):
    given = {"fast": FAST, "slow": SLOW, "link": LINK}
    nets = networks(**{of: replace(given[of], bandwidth=0.02e9)})
    found = trip(platform.build_parts(nets, layout(x86=(1, 1), arm=(1, 1))), (1, LARGE))
    assert found[1, LARGE] == pytest.approx(1e6 * LARGE / 0.02e9, rel=WITHIN)


def test_a_link_below_half_of_the_latencies_within_is_said_to_take_longer(trip):
    nets = networks(link=replace(LINK, latency_s=10e-6))
    least = (
        nets.links[PAIR].busy_s + (FAST.latency_s - FAST.gap_s + SLOW.latency_s - SLOW.gap_s) / 2
    )
    found = trip(platform.build_parts(nets, layout(x86=(1, 1), arm=(1, 1))), (1, 0))
    assert found[1, 0] == pytest.approx(1e6 * least, rel=WITHIN)
    (line,) = [one for one in nets.assumptions if "x86 to arm" in one]
    assert f"{1e6 * least:.3g} µs" in line


def test_three_parts_have_three_links(trip):
    parts = {"x86": FAST, "arm": SLOW, "old": replace(FAST, latency_s=3e-6)}
    far = {
        ("x86", "old"): replace(LINK, latency_s=50e-6),
        ("arm", "old"): replace(LINK, latency_s=60e-6),
    }
    nets = Networks(parts, {PAIR: LINK, **far}, False)
    found = trip(
        platform.build_parts(nets, layout(x86=(2, 1), arm=(2, 1), old=(2, 1))),
        (1, 0),
        (2, 0),
        (4, 0),
    )
    assert list(found.values()) == pytest.approx([1.6, 40, 50], rel=WITHIN)


@pytest.mark.slow
def test_all_nodes_together_have_as_many_ports_as_the_smaller_part_has_nodes(tmp_path):
    """All ranks send each other so much that the links between the parts are busy nearly all the
    time.
    """
    files = "simulated/all_to_all.c", "src/base/alloc.c", "src/base/fatal.c"
    program = simulated_program.build(tmp_path, "calls", *files)
    built = platform.build_parts(networks(slow=FAST), layout(x86=(4, 1), arm=(2, 1)))
    ((_, _, us),) = simulated_program.times(program, built, 2, "v:1000000")
    assert float(us) == pytest.approx(1e6 * 4 * 2 * 1e6 / (2 * LINK.bandwidth), rel=0.1)


@pytest.mark.slow
def test_a_receive_after_its_message_has_come_costs_what_its_sender_says(tmp_path):
    """In every way to receive: little from the same node, more from another one, most from another
    part.
    """
    program = simulated_program.build(tmp_path, "late_receives")
    nets = networks(fast=replace(FAST, latency_node_s=0.2e-6))
    x86 = nets.parts["x86"]
    near, far, other = (1e6 * busy_s / 2 for busy_s in (x86.busy_node_s, x86.busy_s, LINK.busy_s))
    rows = simulated_program.times(
        program, platform.build_parts(nets, layout(x86=(4, 2), arm=(2, 2)))
    )
    assert near < 0.5 * far < 0.5 * other and len({way for way, *_ in rows}) == 5
    for way in dict.fromkeys(way for way, *_ in rows):
        own = {int(sender): float(us) for name, sender, us in rows if name == way}
        assert own == pytest.approx({1: near, 2: far, 3: far, 4: other, 5: other}, abs=2e-3), way


@pytest.mark.parametrize("topology", LINKS)
def test_where_networks_are_alike_all_nodes_are_on_one(topology):
    one = replace(FAST, topology=topology)
    nets = Networks({"new": one, "old": one}, {("new", "old"): one}, True)
    found = platform.build_parts(nets, layout(new=(10, 2), old=(3, 1)))
    assert found.hosts.split() == [f"node-{n}" for n in (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7)]
    assert found.xml == platform.build(one, 8, 1).xml.replace('core="1"', 'core="2"')
    assert not nets.assumptions


def test_what_can_only_be_one_for_all_ranks_is_said():
    nets = networks(slow=replace(SLOW, selector="mpich"))
    built = platform.build_parts(nets, layout(x86=(1, 1), arm=(1, 1)))
    assert nets.common.selector == "ompi" and "--cfg=smpi/async-small-thresh:12288" in built.flags
    library, eager = nets.assumptions
    assert "x86, ompi" in library and "12288 bytes" in eager


# --- congestion, in the pattern by which calibration measures it

NODES, BYTES = 64, 4_000_000


def profile(topology: str = "fat_tree", stated: float | None = None, fabric: str = "infiniband"):
    """JURECA-DC with another topology and perhaps a congestion, filled."""
    found = machines.load("jureca-dc").assume("interconnect.nodes_per_leaf", 4, "1", "a test")
    found = found.assume("interconnect.topology", topology, None, "a test")
    found = found.assume("interconnect.fabric", fabric, None, "a test")
    return machines.filled(
        found if stated is None else found.assume(CONGESTION, stated, "1", "a test")
    )


def between_halves(filled, nodes: int = NODES) -> float:
    """Each node of the first half sends to one of the second: time over that of the profile's
    bandwidth.
    """
    half = nodes // 2
    size = sparse.csr_array(
        (np.full(half, BYTES), (np.arange(half), half + np.arange(half))), (nodes, nodes)
    )
    (found,) = replay([Messages(size, 1, nodes)], platform.of_nodes(filled, nodes))
    return found * Values(filled).need("interconnect.bandwidth", "a test") / BYTES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "stated", "fabric", "expected", "said"),
    [
        ("star", None, "infiniband", 1.0, False),
        ("fat_tree", None, "infiniband", 1.0, True),  # that for static routes is not applied
        ("star", 4.0, "infiniband", 4.0, False),
        ("fat_tree", 4.0, "infiniband", 4.0, True),
        ("dragonfly", 4.0, "infiniband", 2.67, True),  # its links alone
        ("fat_tree", None, "ethernet", None, True),  # that of the profile
    ],
)
def test_a_simulated_calibration_finds_the_congestion_that_is_stated(
    topology, stated, fabric, expected, said
):
    filled = profile(topology, stated, fabric)
    expected = expected or filled.need(CONGESTION, "a test").value
    assert between_halves(filled) == pytest.approx(expected, rel=0.02)
    lines = Networks.from_machine(
        filled, MachineLayout.from_machine(filled, NODES, 1, 1)
    ).assumptions
    assert any(line.startswith(CONGESTION) for line in lines) == said


def test_a_pair_of_nodes_meets_no_congestion():
    alone = [platform.of_nodes(profile("star", 4.0), n).bandwidth for n in (2, platform.CROWD)]
    assert alone[0] == 4 * alone[1]


@pytest.mark.parametrize("alike", [True, False])
def test_parts_that_are_simulated_as_stars_and_their_links_keep_what_is_assumed(alike):
    found = machines.load_any("two-generations")
    if not alike:
        slow = {
            name: replace(
                link, profile=link.profile.assume("interconnect.latency", 9.0, "us", "a test")
            )
            for name, link in found.links.items()
        }
        found = replace(found, links=slow)
    filled = machines.filled(found)
    where = MachineLayout.from_machine(
        filled, 8 * len(filled.parts), 1, 1, dict.fromkeys(filled.parts, 8)
    )
    nets, inputs = Networks.from_machine(filled, where), Values(filled)
    assert nets.alike == alike
    for part, network in nets.parts.items():
        stated, assumed = (
            inputs.of_part(part).need(p, "a test") for p in ("interconnect.bandwidth", CONGESTION)
        )
        assert assumed > 1.5 and network.bandwidth == pytest.approx(
            stated / (1 if alike else assumed)
        )
    for pair, link in nets.links.items():
        assert link.bandwidth < inputs.of_link(*pair).need("interconnect.bandwidth", "a test") / 1.5
