"""Machines of parts in memory: values by path, ranks on parts, filling, digest, what models take of them."""

from dataclasses import replace

import pytest
import yaml
from leaves import leaf
from machine_file import write

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs


@pytest.fixture
def bath(tmp_path):
    """Returns a function that loads a machine of two parts; its arguments change the file."""
    write(tmp_path / "quick.yaml")
    write(tmp_path / "small.yaml", node__cores=4, node__l3_cores=4, interconnect__gap=None)

    def load(parts=(("x86", 2), ("arm", 4)), slower=1.5, latency=35, note=""):
        content = {
            "format_version": 1,
            "name": "bath",
            "title": "A bath",
            "parts": {n: {"profile": f"{p}.yaml"} for n, p in (("x86", "quick"), ("arm", "small"))},
            "links": {"x86-arm": {"fabric": leaf("ethernet"), "latency": leaf(latency, "us")}},
        }
        content["parts"] = {name: content["parts"][name] | {"nodes": nodes} for name, nodes in parts}
        content["parts"]["arm"]["slower"] = leaf(slower, "1", interval=[1, 2], reference=f"a test{note}")
        (tmp_path / "bath.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return machines.load_any(tmp_path / "bath.yaml")

    return load


def test_values_by_path(bath):
    made = bath()
    assert made.get("parts.x86.node.cores").value == 16 and made.get("parts.arm.node.cores").value == 4
    assert made.get("parts.arm.slower").value == 1.5 and made.get("parts.x86.slower") is None
    assert made.get("parts.arm.nodes") == machines.Value(4, "1", "assumed", "the file states no source")
    assert made.get("links.x86-arm.interconnect.latency").value == 35
    assert made.get("parts.arm.interconnect.gap") is None
    with pytest.raises(
        machines.UnknownValue, match=r"parts\.arm\.interconnect\.gap is unknown, needed for a"
    ):
        made.need("parts.arm.interconnect.gap", "a test")
    for path in ("node.cores", "parts.gpu.node.cores", "links.arm-x86.interconnect.gap", "parts", ""):
        with pytest.raises(BadInput, match=r"allowed: paths of parts\.x86, parts\.arm, links\.x86-arm"):
            made.get(path)
    with pytest.raises(BadInput, match=r"path 'node\.cors'; allowed"):
        made.get("parts.arm.node.cors")


def test_every_value_is_found_by_its_path_and_none_is_both_known_and_unknown(bath):
    made = bath()
    assert all(made.get(path) == value for path, value in made.values.items())
    assert all(made.get(path) is None for path in made.unknown() if not path.endswith(".update"))
    assert not {*made.values} & {*made.unknown()}
    assert "links.x86-arm.interconnect.bandwidth" in made.unknown()
    assert not any("_node" in path or ".node." in path for path in made.unknown() if path.startswith("links"))


def test_ranks_fill_the_parts_in_the_order_of_the_file(bath):
    found = machines.shares(bath(), 40, threads=1)
    assert [(s.part, s.first, s.ranks, s.node.nodes) for s in found] == [("x86", 0, 32, 2), ("arm", 32, 8, 2)]
    assert [s.part for s in machines.shares(bath(), 32, threads=1)] == ["x86"]
    found = machines.shares(bath((("arm", 4), ("x86", 2))), 40, threads=1)
    assert [(s.part, s.ranks) for s in found] == [("arm", 16), ("x86", 24)]
    found = machines.shares(bath(), 6)  # one rank on each node, with all of its cores
    assert [(s.part, s.ranks, s.node.threads) for s in found] == [("x86", 2, 16), ("arm", 4, 4)]
    assert found[1].slice == slice(2, 6)


def test_ranks_by_part_can_be_stated(bath):
    found = machines.shares(bath(), 5, threads=1, on={"arm": 3, "x86": 2})
    assert [(s.part, s.first, s.ranks) for s in found] == [("x86", 0, 2), ("arm", 2, 3)]
    # threads that a part without ranks has no cores for
    assert [s.part for s in machines.shares(bath(), 4, threads=8, on={"x86": 4, "arm": 0})] == ["x86"]


BAD_SHARES = [
    ({"ranks": 49, "threads": 1}, "ranks=49; allowed: up to 48, which the parts of bath take"),
    ({"ranks": 0}, "ranks=0: at least 1"),
    ({"ranks": 4, "on": {"x86": 2, "arm": 1}}, "ranks of the parts: 3 in all; allowed: ranks=4"),
    ({"ranks": 4, "on": {"gpu": 4}}, "part 'gpu'; allowed: x86, arm"),
    ({"ranks": 4, "on": {"x86": 8, "arm": -4}}, "part arm: -4 ranks; allowed: 0 or more"),
    ({"ranks": 5, "on": {"arm": 5}}, "part arm: 5 ranks; allowed: up to 4, 1 on each of its 4 nodes, with 4"),
    ({"ranks": 4, "threads": 8, "on": {"arm": 4}}, "threads=8: a node of small has 4 cores"),
]


@pytest.mark.parametrize(("asked", "complaint"), BAD_SHARES, ids=[str(asked) for asked, _ in BAD_SHARES])
def test_ranks_that_the_parts_do_not_take_are_refused(bath, asked, complaint):
    with pytest.raises(BadInput) as bad:
        machines.shares(bath(), **asked)
    assert complaint in str(bad.value)


def test_a_profile_is_one_part(bath, tmp_path):
    (only,) = machines.shares(machines.load(write(tmp_path / "equal.yaml")), 40, threads=1)
    assert (only.part, only.first, only.ranks, only.node.nodes) == (None, 0, 40, 3)
    with pytest.raises(BadInput, match="part 'x86': all nodes of equal are equal: it has no parts"):
        machines.shares(machines.load(tmp_path / "equal.yaml"), 4, on={"x86": 4})


def test_every_part_and_link_is_filled(bath):
    made = machines.filled(bath())
    assert made.get("parts.arm.interconnect.gap").kind == "assumed"
    assert made.get("links.x86-arm.interconnect.bandwidth").kind == "assumed"
    assert made.get("parts.arm.slower") == bath().get("parts.arm.slower")
    assert {*bath().values} < {*made.values} and made.parts.keys() == bath().parts.keys()


def test_odd_values_are_named_by_the_part_or_link_that_has_them(bath):
    (line,) = machines.odd(bath(latency=35_000))
    assert line.startswith("links.x86-arm.interconnect.latency: 35000 us is ")
    assert machines.filled(bath(latency=35_000)).odd == (line,) and machines.odd(bath()) == ()


def test_kernels_of_a_slower_part_take_longer_and_are_moved_apart(bath):
    made = bath()
    inputs = Inputs(made)
    x86, arm = (inputs.of_part(name).need("kernels.full_node.t_next", "a test") for name in ("x86", "arm"))
    assert arm == pytest.approx(1.5 * x86)
    assert {"parts.x86.kernels.full_node.t_next", "parts.arm.slower"} < {*inputs.used}
    assert all(made.get(path) is not None for path in inputs.used)
    moved = Inputs(made, moved={"parts.arm.slower": "high"}).of_part("arm")
    assert moved.need("kernels.full_node.t_next", "a test") == pytest.approx(2 * x86)
    assert moved.need("node.cores", "a test") == 4
    link = inputs.of_link("arm", "x86")
    assert link.need("interconnect.latency", "a test") == pytest.approx(35e-6)
    assert "links.x86-arm.interconnect.latency" in inputs.used


def test_the_digest_changes_with_everything_that_answers_depend_on(bath):
    first = digest(bath())
    assert digest(bath(note=", said otherwise")) == first
    others = [
        bath((("arm", 4), ("x86", 2))), bath((("x86", 3), ("arm", 4))), bath(slower=1.6), bath(latency=36),
        replace(bath(), parts={name: replace(p, slower=None) for name, p in bath().parts.items()}),
    ]  # fmt: skip
    assert len({first, digest(bath().parts["arm"].profile), *map(digest, others)}) == 2 + len(others)
