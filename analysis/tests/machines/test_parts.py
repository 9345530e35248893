"""Machines of parts in memory: values by path, ranks on parts, filling, digest, what models take of
them.
"""

from dataclasses import replace

import pytest
import yaml
from leaves import leaf
from machine_file import write

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.values import Values


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
        content["parts"] = {
            name: content["parts"][name] | {"nodes": nodes} for name, nodes in parts
        }
        content["parts"]["arm"]["slower"] = leaf(
            slower, "1", interval=[1, 2], reference=f"a test{note}"
        )
        (tmp_path / "bath.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return machines.load_any(tmp_path / "bath.yaml")

    return load


def test_values_by_path(bath):
    made = bath()
    assert (
        made.get("parts.x86.node.cores").value == 16 and made.get("parts.arm.node.cores").value == 4
    )
    assert made.get("parts.arm.slower").value == 1.5 and made.get("parts.x86.slower") is None
    assert made.get("parts.arm.nodes") == machines.Value(
        4, "1", "assumed", "the file states no source"
    )
    assert made.get("links.x86-arm.interconnect.latency").value == 35
    assert made.get("parts.arm.interconnect.gap") is None
    with pytest.raises(
        machines.UnknownValue, match=r"parts\.arm\.interconnect\.gap is unknown, needed for a"
    ):
        made.need("parts.arm.interconnect.gap", "a test")
    for path in (
        "node.cores",
        "parts.gpu.node.cores",
        "links.arm-x86.interconnect.gap",
        "parts",
        "",
    ):
        with pytest.raises(BadInput, match=f"bath: path '{path}'; expected one such as [pl]"):
            made.get(path)
    with pytest.raises(BadInput, match=r"such as parts\.arm\.node\.cores"):
        made.get("parts.arm.node.cors")


def test_every_value_is_found_by_its_path_and_none_is_both_known_and_unknown(bath):
    made = bath()
    assert all(made.get(path) == value for path, value in made.values.items())
    assert all(made.get(path) is None for path in made.unknown() if not path.endswith(".update"))
    assert not {*made.values} & {*made.unknown()}
    assert "links.x86-arm.interconnect.bandwidth" in made.unknown()
    assert not any(
        "_node" in path or ".node." in path for path in made.unknown() if path.startswith("links")
    )


def test_ranks_fill_the_parts_in_the_order_of_the_file(bath):
    found = machines.shares(bath(), 40, threads=1)
    assert [(s.part, s.first, s.ranks, s.node.nodes) for s in found] == [
        ("x86", 0, 32, 2),
        ("arm", 32, 8, 2),
    ]
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
    assert [s.part for s in machines.shares(bath(), 4, threads=8, on={"x86": 4, "arm": 0})] == [
        "x86"
    ]


BAD_SHARES = [
    ({"ranks": 49, "threads": 1}, "ranks"),
    ({"ranks": 0}, "ranks"),
    ({"ranks": 4, "on": {"x86": 2, "arm": 1}}, "ranks"),
    ({"ranks": 4, "on": {"gpu": 4}}, "on"),
    ({"ranks": 4, "on": {"x86": 8, "arm": -4}}, "on"),
    ({"ranks": 5, "on": {"arm": 5}}, "on"),
    ({"ranks": 4, "threads": 8, "on": {"arm": 4}}, "threads"),
]


@pytest.mark.parametrize(
    ("asked", "field"), BAD_SHARES, ids=[str(asked) for asked, _ in BAD_SHARES]
)
def test_ranks_that_the_parts_do_not_take_are_refused(bath, asked, field):
    with pytest.raises(BadInput) as bad:
        machines.shares(bath(), **asked)
    assert bad.value.field == field


def test_a_profile_is_one_part(bath, tmp_path):
    (only,) = machines.shares(machines.load(write(tmp_path / "equal.yaml")), 40, threads=1)
    assert (only.part, only.first, only.ranks, only.node.nodes) == (None, 0, 40, 3)
    with pytest.raises(BadInput, match="part 'x86'"):
        machines.shares(machines.load(tmp_path / "equal.yaml"), 4, on={"x86": 4})


def test_every_part_and_link_is_filled(bath):
    made = machines.filled(bath())
    assert made.get("parts.arm.interconnect.gap").kind == "assumed"
    assert made.get("links.x86-arm.interconnect.bandwidth").kind == "assumed"
    assert made.get("parts.arm.slower") == bath().get("parts.arm.slower")
    assert {*bath().values} < {*made.values} and made.parts.keys() == bath().parts.keys()


def test_what_is_assumed_of_a_network_depends_on_its_fabric_and_topology():
    profile = machines.checked({"format_version": 1, "name": "x", "title": "x"}, "x")
    found = {}
    for fabric, topology in (
        ("ethernet", "star"),
        ("infiniband", "fat_tree"),
        ("other", "fat_tree"),
    ):
        made = profile.assume("interconnect.fabric", fabric, None, "a test")
        made = machines.filled(made.assume("interconnect.topology", topology, None, "a test"))
        latency, congestion = (
            made.get(f"interconnect.{name}") for name in ("latency", "congestion")
        )
        found[fabric] = latency.value, latency.interval, congestion.value
    assert found == {
        "ethernet": (35, (5, 70), 1),
        "infiniband": (1.5, (0.9, 4), 1.74),
        "other": (1.5, (0.9, 35), 1.74),
    }


def test_kernels_of_a_slower_part_take_longer(bath):
    made = bath()
    inputs = Values(made)
    x86, arm = (
        inputs.of_part(name).need("kernels.full_node.t_next", "a test") for name in ("x86", "arm")
    )
    assert arm == pytest.approx(1.5 * x86)
    link = inputs.of_link("arm", "x86")
    assert link.need("interconnect.latency", "a test") == pytest.approx(35e-6)


def test_the_digest_changes_with_everything_that_answers_depend_on(bath):
    first = machines.digest(bath())
    assert machines.digest(bath(note=", said otherwise")) == first
    others = [
        bath((("arm", 4), ("x86", 2))),
        bath((("x86", 3), ("arm", 4))),
        bath(slower=1.6),
        bath(latency=36),
        replace(bath(), parts={name: replace(p, slower=None) for name, p in bath().parts.items()}),
    ]
    others.append(profile := bath().parts["arm"].profile)
    assert machines.digest(profile.assume("power.tdp", 200, "W", "a test")) == machines.digest(
        profile
    )
    assert len({first, *map(machines.digest, others)}) == 1 + len(others)
