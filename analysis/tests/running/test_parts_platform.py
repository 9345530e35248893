"""The simulated network between unequal parts, measured with messages there and back."""

import re
from dataclasses import replace

import pytest
import simulated_program

from spikemark.core.errors import BadInput
from spikemark.machines.interconnect import Interconnect
from spikemark.machines.node import Node
from spikemark.machines.parts import Share
from spikemark.prediction.layout import Layout
from spikemark.running.simulation import parts_platform, platform
from spikemark.running.simulation.networks import Networks

FAST = Interconnect(1.6e-6, 0.9e-6, 12.5e9, 20e9, 0.6e-6, 65536, "star", 4, "ompi")
SLOW = Interconnect(35e-6, 1.4e-6, 0.11e9, 4e9, 6e-6, 12288, "star", 1, "ompi")
LINK = Interconnect(40e-6, 0, 0.1e9, float("inf"), 8e-6, 12288)
WITHIN = 0.03
LARGE = 10_000_000


def layout(**ranks: tuple[int, int]) -> Layout:
    """Shares of so many ranks, so many of them on a node, by part."""
    shares, first = [], 0
    for part, (own, each) in ranks.items():
        shares.append(Share(part, Node(16, each, 1, -(-own // each)), first, own))
        first += own
    return Layout(tuple(shares))


def networks(fast: Interconnect = FAST, slow: Interconnect = SLOW, link: Interconnect = LINK) -> Networks:
    return Networks({"x86": fast, "arm": slow}, {("x86", "arm"): link}, False)


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """A function that gives the us of half a round trip from rank 0 to ranks, by (rank, bytes)."""
    program = simulated_program.build(tmp_path_factory.mktemp("messages"), "messages")

    def run(built: platform.Platform, *cases: tuple[int, int]) -> dict[tuple[int, int], float]:
        rows = simulated_program.times(program, built, *(number for case in cases for number in case))
        assert len(rows) == len(cases)
        return {(int(rank), int(size)): float(half) for rank, size, half, _ in rows}

    return run


@pytest.mark.parametrize("order", [("x86", "arm"), ("arm", "x86")])
@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
def test_latency_and_bandwidth_between_parts_are_those_of_the_link(messages, topology, order):
    where = layout(**dict.fromkeys(order, (8, 2)))
    nets = networks(fast=replace(FAST, topology=topology))
    nets = replace(nets, parts={name: nets.parts[name] for name in order}, links={order: LINK})
    found = messages(parts_platform.build(nets, where, 2), (8, 0), (15, 0), (8, LARGE), (15, LARGE))
    for rank in 8, 15:
        assert found[rank, 0] == pytest.approx(1e6 * LINK.latency_s, rel=WITHIN)
        assert found[rank, LARGE] == pytest.approx(1e6 * LARGE / LINK.bandwidth, rel=WITHIN)


@pytest.mark.parametrize(("order", "own"), [(("x86", "arm"), FAST), (("arm", "x86"), SLOW)])
def test_within_a_part_they_are_those_of_the_part(messages, order, own):
    nets = replace(networks(), parts={name: networks().parts[name] for name in order}, links={order: LINK})
    built = parts_platform.build(nets, layout(**dict.fromkeys(order, (8, 2))), 2)
    found = messages(built, (1, 0), (1, LARGE), (7, 0), (7, LARGE))
    assert found[1, 0] == pytest.approx(1e6 * own.latency_node_s, rel=WITHIN)
    assert found[1, LARGE] == pytest.approx(1e6 * LARGE / own.bandwidth_node, rel=WITHIN)
    assert found[7, 0] == pytest.approx(1e6 * own.latency_s, rel=WITHIN)
    assert found[7, LARGE] == pytest.approx(1e6 * LARGE / own.bandwidth, rel=WITHIN)


@pytest.mark.parametrize("of", ["x86", "arm", "link"])
def test_the_bandwidth_between_parts_is_the_least_on_the_way(messages, of):
    parts = {"x86": FAST, "arm": SLOW, "link": LINK}
    parts[of] = replace(parts[of], bandwidth=0.02e9)
    built = parts_platform.build(networks(*parts.values()), layout(x86=(1, 1), arm=(1, 1)), 1)
    assert messages(built, (1, LARGE))[1, LARGE] == pytest.approx(1e6 * LARGE / 0.02e9, rel=WITHIN)


def test_a_link_below_half_of_the_latencies_within_is_said_to_take_longer(messages):
    nets = networks(link=replace(LINK, latency_s=10e-6))
    built = parts_platform.build(nets, layout(x86=(1, 1), arm=(1, 1)), 1)
    least = nets.links["x86", "arm"].busy_s + (FAST.latency_s - FAST.gap_s + SLOW.latency_s - SLOW.gap_s) / 2
    assert messages(built, (1, 0))[1, 0] == pytest.approx(1e6 * least, rel=WITHIN)
    (line,) = [one for one in parts_platform.assumptions(nets, built) if "x86 to arm" in one]
    assert f"{1e6 * least:.3g} us instead of 10" in line


def test_three_parts_have_three_links(messages):
    third = replace(FAST, latency_s=3e-6)
    links = {
        ("x86", "arm"): LINK,
        ("x86", "old"): replace(LINK, latency_s=50e-6),
        ("arm", "old"): replace(LINK, latency_s=60e-6),
    }
    nets = Networks({"x86": FAST, "arm": SLOW, "old": third}, links, False)
    built = parts_platform.build(nets, layout(x86=(2, 1), arm=(2, 1), old=(2, 1)), 1)
    found = messages(built, (1, 0), (2, 0), (4, 0))
    assert [found[rank, 0] for rank in (1, 2, 4)] == pytest.approx([1.6, 40, 50], rel=WITHIN)


def test_all_nodes_together_have_as_many_ports_as_the_smaller_part_has_nodes(tmp_path):
    """All ranks send each other so much that the links between the parts are busy nearly all the time."""
    program = simulated_program.build(tmp_path, "calls", "transport/all_to_all.c", "base/alloc.c")
    built = parts_platform.build(networks(slow=FAST), layout(x86=(4, 1), arm=(2, 1)), 1)
    ((_, _, us),) = simulated_program.times(program, built, 2, "v:1000000")
    assert float(us) == pytest.approx(1e6 * 4 * 2 * 1e6 / (2 * LINK.bandwidth), rel=0.1)


@pytest.mark.parametrize("topology", platform.TOPOLOGIES)
def test_where_networks_are_alike_all_nodes_are_on_one(topology):
    one = replace(FAST, topology=topology)
    nets = Networks({"new": one, "old": one}, {("new", "old"): one}, True)
    found = parts_platform.build(nets, layout(new=(10, 2), old=(3, 1)), 2)
    alone = platform.build(one, 8, 1)
    assert found.hosts.split() == [f"node-{n}" for n in (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7)]
    assert found.xml == alone.xml.replace('core="1"', 'core="2"')
    assert not parts_platform.assumptions(nets, found)


def test_a_machine_of_equal_nodes_has_the_platform_that_it_always_had():
    """Down to the last byte; figures in docs/ depend on it."""
    one = Layout((Share(None, Node(16, 2, 8, 7), 0, 13),))
    net = replace(FAST, topology="fat_tree")
    found = parts_platform.build(Networks({None: net}, {}, True), one, 2, {None: "1Gf"})
    assert found == platform.build(net, 13, 2)
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


def test_hosts_have_the_speeds_of_their_parts():
    where = layout(x86=(1, 1), arm=(1, 1))
    speeds = {"x86": "1Gf", "arm": "0.25Gf"}
    for alike in True, False:
        built = parts_platform.build(replace(networks(), alike=alike), where, 1, speeds)
        assert re.findall(r'speed="(\S+)"', built.xml) == ["1Gf", "0.25Gf"]


def test_what_can_only_be_one_for_all_ranks_is_said():
    nets = networks(slow=replace(SLOW, selector="mpich"))
    built = parts_platform.build(nets, layout(x86=(1, 1), arm=(1, 1)), 1)
    assert nets.common.selector == "ompi" and "--cfg=smpi/async-small-thresh:12288" in built.flags
    library, eager = parts_platform.assumptions(nets, built)
    assert "that of part x86, ompi" in library and "12288 bytes" in eager


def test_a_topology_that_nobody_has_is_refused():
    nets = networks(slow=replace(SLOW, topology="torus"))
    with pytest.raises(BadInput, match=r"part arm: interconnect\.topology='torus': allowed are star, fat_"):
        parts_platform.build(nets, layout(x86=(1, 1), arm=(1, 1)), 1)


def test_a_receive_after_its_message_has_come_costs_what_its_sender_says(tmp_path):
    """In every way to receive: little from the same node, more from another one, most from another part."""
    program = simulated_program.build(tmp_path, "late_receives")
    nets = networks(fast=replace(FAST, latency_node_s=0.2e-6))
    built = parts_platform.build(nets, layout(x86=(4, 2), arm=(2, 2)), 2)
    near, far, other = (
        1e6 * busy_s / 2 for busy_s in (nets.parts["x86"].busy_node_s, nets.parts["x86"].busy_s, LINK.busy_s)
    )
    rows = simulated_program.times(program, built)
    assert near < 0.5 * far < 0.5 * other and len({way for way, *_ in rows}) == 5
    for way in dict.fromkeys(way for way, *_ in rows):
        own = {int(sender): float(us) for name, sender, us in rows if name == way}
        assert own == pytest.approx({1: near, 2: far, 3: far, 4: other, 5: other}, abs=2e-3), way
