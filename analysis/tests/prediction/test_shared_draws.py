"""What two offers have in common is no reason to prefer one: they share its draws."""

import numpy as np
import pytest
import yaml
from leaves import leaf

import spikemark
from spikemark import machines
from spikemark.machines import identity
from spikemark.machines.profile import Profile, Value
from spikemark.prediction import programs

ALIKE = 0.02  #: how far the ratio of equal offers may be from 1
RARELY = 0.1  #: share of the draws in which a slower network may be the faster one
FAST = {"fabric": leaf("infiniband"), "latency": leaf(1.2, "us"), "bandwidth": leaf(25, "GB/s")}
ETHERNET = {"fabric": leaf("ethernet")}
SLOW = {"fabric": leaf("infiniband"), "latency": leaf(10, "us"), "bandwidth": leaf(3, "GB/s")}
#: Programs, and what offers state of who they are: nothing, a processor that nobody measured, one
#: of a machine that was measured, as which alone DPSNN is predicted for any network.
ASKED = [
    ("mini-app", None),
    ("mini-app", "epyc-9554"),
    ("nest", None),
    ("nest", "epyc-9554"),
    ("nest", "epyc-7742"),
    ("dpsnn", "xeon-e5-2630-v2"),
]
WITH_AN_INTERVAL = {"kind": "measured", "interval": [2.0, 2.6]}


def offer(folder, name, processor=None, network=FAST, **node):
    """The file of an offer of 128 nodes."""
    content = {
        "format_version": 1,
        "name": name,
        "title": f"Offer {name}",
        "node": {
            "sockets": leaf(2, "1"),
            "cores": leaf(128, "1"),
            "memory": leaf(1024, "GB"),
            "clock": leaf(2.25, "GHz") | WITH_AN_INTERVAL,
            **node,
        },
        "interconnect": network,
        "offer": {"nodes": leaf(128, "1")},
    }
    if processor is not None:
        content["processor"] = processor
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def network_of(program):
    """A network that the program can be predicted for."""
    if program == "nest":
        return spikemark.network("mam", full=True)
    return spikemark.network("mam-benchmark", areas=32, indegree=200)


def ratio(program, files, nodes):
    """The second offer's time over the first one's, and the answer."""
    fixed = {"schedule": "conventional"} if program == "mini-app" else {}
    answer = spikemark.compare(network_of(program), files, program=program, nodes=nodes, **fixed)
    first, second = answer.best.values()
    return second.rtf / first.rtf, answer


def test_all_programs_are_asked_about():
    assert {program for program, _ in ASKED} == set(programs.PROGRAMS)


@pytest.mark.parametrize(("program", "processor"), ASKED)
def test_equal_offers_are_as_fast(program, processor, tmp_path):
    files = [offer(tmp_path, name, processor) for name in ("one", "other")]
    for nodes in (1, 16):
        found, answer = ratio(program, files, nodes)
        assert np.quantile(found, [0.025, 0.975]) == pytest.approx([1, 1], abs=ALIKE)
        told = [line for line in answer.best["other"].remarks if "one" in line]
        assert bool(told) == (processor is None)


@pytest.mark.parametrize("network", [ETHERNET, SLOW], ids=["ethernet", "slow"])
@pytest.mark.parametrize(("program", "processor"), ASKED)
def test_a_slower_network_is_no_better(program, processor, network, tmp_path):
    files = [
        offer(tmp_path, "fast", processor),
        offer(tmp_path, "slow", processor, network=network),
    ]
    for nodes in (8, 64):
        found, _ = ratio(program, files, nodes)
        assert np.quantile(found, 0.975) > 1 and np.median(found) > 1
        assert (found < 1).mean() < RARELY


def profiles(processor, other_processor, **other_node):
    """Two profiles of equal networks, the second with some other values of its nodes."""
    stated = machines.load("jureca-dc").values
    first = Profile("first", "First", stated, processor=processor)
    changed = {path.replace("__", "."): value for path, value in other_node.items()}
    second = Profile("second", "Second", stated | changed, processor=other_processor)
    return identity.sharing_draws([machines.filled(first), machines.filled(second)])


CLOCK = Value(3.0, "GHz", "literature", "a test")


@pytest.mark.parametrize(
    ("processors", "changed", "shares"),
    [
        ((None, None), {}, True),
        ((None, None), {"node__clock": CLOCK}, False),
        (("a", "a"), {"node__clock": CLOCK}, True),
        (("a", "b"), {}, False),
        (("a", "b"), {"node__clock": CLOCK}, False),
    ],
)
def test_what_is_assumed_of_a_node_is_that_of_its_processor_or_of_equal_nodes(
    processors, changed, shares
):
    first, second = profiles(*processors, **changed)
    path = "kernels.full_node.t_next"
    assert first.values[path].kind == "assumed"
    assert (first.draws_of(path) == second.draws_of(path)) == shares
    assert (first.node_identity == second.node_identity) == shares
    assert first.draws_of("interconnect.gap") == second.draws_of("interconnect.gap")
    assert first.identity != second.identity


def test_a_machine_of_the_same_processor_shares_its_kernels(tmp_path):
    measured = machines.filled(machines.load("jureca-dc"))
    offered = machines.filled(machines.load(offer(tmp_path, "offered", measured.processor)))
    path = "kernels.full_node.t_next"
    assert measured.draws_of(path) == offered.draws_of(path)
    assert measured.network_identity != offered.network_identity


def test_on_one_node_nothing_between_nodes_moves_the_exchange_of_nest(tmp_path):
    for networks in ((FAST, ETHERNET), (FAST, SLOW)):
        files = [
            offer(tmp_path, name, network=network)
            for name, network in zip(("one", "other"), networks, strict=True)
        ]
        _, answer = ratio("nest", files, nodes=1)
        first, second = answer.best.values()
        assert np.array_equal(first.parts["exchange"], second.parts["exchange"])
        _, answer = ratio("nest", files, nodes=2)
        first, second = answer.best.values()
        assert np.median(second.parts["exchange"]) > np.median(first.parts["exchange"])
