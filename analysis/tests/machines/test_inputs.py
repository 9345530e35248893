"""What models take from a profile: SI units, limits, interconnect, nodes, digest."""

import numpy as np
import pytest
from machine_file import write
from small_machine import Machine, Value

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs, quantity
from spikemark.machines.interconnect import UNLIMITED, Interconnect
from spikemark.machines.node import Node


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Value(2.0, "us", interval=(1.0, 5.0)), (2e-6, 1e-6, 5e-6)),
        (Value(3.0, "GHz"), (3e9, 3e9 / 1.1, 3.3e9)),
        (Value(4.0, "KiB", "literature"), (4096, 4096 / 1.25, 5120)),
        (Value(5.0, "1", "assumed"), (5, 2.5, 10)),
    ],
)
def test_values_are_in_si_units_with_limits(value, expected):
    found = quantity(value)
    assert (found.value, found.low, found.high) == pytest.approx(expected) and found.kind == value.kind
    for side, limit in zip(("low", "high"), expected[1:], strict=True):
        inputs = Inputs(Machine("moved", {"a": value}), moved={"a": side}, factors={"a": 3.0, "b": 5.0})
        assert inputs.need("a", "a test") == pytest.approx(3 * limit)


def test_a_table_is_moved_as_a_whole():
    machine = Machine("tables", {"t": Value(((2, 4, 10.0), (2, 8, 20.0)), "us", "literature")})
    plain, high = (Inputs(machine, moved=moved).table("t") for moved in ({}, {"t": "high"}))
    assert plain == pytest.approx(np.array([[2, 4, 1e-5], [2, 8, 2e-5]]))
    assert high[:, 2] == pytest.approx(1.25 * plain[:, 2]) and (high[:, :2] == plain[:, :2]).all()
    assert Inputs(machine).table("other") is None


def test_an_interconnect_in_si_units(tmp_path):
    profile = machines.load(write(tmp_path / "made-up.yaml"))
    found = Interconnect.whole(Inputs(profile), "a test")
    assert found.latency_s == pytest.approx(1.5e-6) and found.bandwidth == pytest.approx(12e9)
    assert found.gap_s == pytest.approx(0.3e-6) and found.eager == 8192
    assert (found.topology, found.nodes_per_leaf, found.selector) == ("fat_tree", 4, "ompi")
    star = machines.load(write(tmp_path / "made-up.yaml", interconnect__topology="star"))
    assert Interconnect.whole(Inputs(star), "a test").nodes_per_leaf == 1


def test_one_node_asks_for_nothing_between_nodes():
    alone = dict.fromkeys(("latency", "bandwidth", "gap", "eager"))
    machine = Machine().with_(**{f"interconnect__{name}": None for name in alone})
    found = Interconnect.of(Inputs(machine), "a test", nodes=1)
    assert found.latency_s == found.latency_node_s == 2 * found.gap_s and found.eager == UNLIMITED
    for ask in (Interconnect.of, Interconnect.whole):
        with pytest.raises(machines.UnknownValue, match="is unknown, needed for a test"):
            ask(Inputs(machine), "a test")


@pytest.mark.parametrize(
    ("asked", "node"),
    [
        ((8, 2), (8, 2, 1)),  # ranks and threads of a node, nodes
        ((9, 2), (8, 2, 2)),
        ((9, 4, 3), (3, 4, 3)),
        ((3,), (1, 16, 3)),
        ((8, None, 4), (4, 4, 2)),
        ((1, None, 5), (1, 3, 1)),
    ],
)
def test_ranks_fill_nodes(asked, node):
    found = Node.of(Machine(), *asked)
    assert (found.ranks, found.threads, found.nodes) == node
    assert found.busy == node[0] * node[1] <= found.cores == 16


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ((0, 1), "ranks=0: at least 1"),
        ((1, 0), "threads=0: at least 1"),
        ((1, 1, 0), "ranks_per_node=0: at least 1"),
        ((1, 17), "threads=17: a node of made-up has 16 cores"),
        ((1, None, 17), "ranks_per_node=17: a node of made-up has 16 cores"),
        ((8, 8, 3), "ranks_per_node=3: with 8 threads each, a node of made-up (16 cores) takes 1 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(asked, complaint):
    with pytest.raises(BadInput) as refusal:
        Node.of(Machine(), *asked)
    assert str(refusal.value) == complaint


def test_a_digest_stands_for_values_and_units_alone(tmp_path):
    profile = machines.load(write(tmp_path / "made-up.yaml"))
    changed = write(tmp_path / "made-up.yaml").read_text().replace("reference: made up", "reference: else")
    (tmp_path / "made-up.yaml").write_text(changed.replace("title: made up", "title: else"))
    same = machines.load(tmp_path / "made-up.yaml")
    assert same.title == "else" and digest(same) == digest(profile)
    assert digest(profile.assume("node.clock", 3.0, "GHz", "a test")) != digest(profile)
