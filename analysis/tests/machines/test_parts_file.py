"""Files of machines of parts: every kind of bad input, and the machines of the project."""

import json
import re
import textwrap
from pathlib import Path

import jsonschema
import pytest
import yaml
from leaves import leaf, put
from machine_file import write

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.fields import KINDS

PARTS = ("x86", "arm", "old")
SLOWER = leaf(1.1, "1", interval=[1, 2])


@pytest.fixture
def folder(tmp_path):
    """A folder with the profiles `quick` and `slow`, and the machine of parts `other`."""
    write(tmp_path / "quick.yaml")
    write(tmp_path / "slow.yaml", node__cores=8, node__l3_cores=4)
    other = {"format_version": 1, "name": "other", "title": "Another", "parts": {"a": part("quick.yaml")}}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(other))
    return tmp_path


def part(profile: str, nodes=2) -> dict:
    return {"profile": profile, "nodes": nodes}


def content(parts=("x86", "arm")) -> dict:
    """A machine with one value of every kind."""
    made = {
        "format_version": 1,
        "name": "bath",
        "title": "A bath",
        "parts": {"x86": part("quick.yaml", leaf(2, "1", interval=[1, 4])), "arm": part("slow.yaml", 4)},
        "links": {"x86-arm": {"fabric": leaf("ethernet"), "latency": leaf(35, "us", kind="assumed")}},
    }
    made["parts"]["arm"] |= {"slower": dict(SLOWER), "interconnect": {"latency": leaf(30, "us")}}
    for name in parts[2:]:
        made["parts"][name] = part("quick.yaml")
    return made


def loaded(folder: Path, given: dict):
    (folder / "bath.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    return machines.load_any(folder / "bath.yaml")


LINK = "links/x86-arm"
BAD = [  # path, what is put there (None: taken away), what the complaint says
    ("title", None, "title is missing"),
    ("format_version", 2, "format_version=2; allowed: 1"),
    ("node", {}, "node: unknown field; allowed: format_version, name, title, parts, links"),
    ("parts", {}, "parts={}; allowed: at least one"),
    ("parts", [], "parts: []; allowed: a mapping of names"),
    ("parts/x86", 4, "parts.x86: 4; allowed: a mapping with profile, nodes, slower, interconnect"),
    ("parts/x86/profile", None, "parts.x86.profile is missing"),
    ("parts/x86/profile", 5, "parts.x86.profile=5; allowed: a valid string"),
    ("parts/x86/profile", "nowhere", "parts.x86.profile='nowhere': machine 'nowhere' not found: give the"),
    ("parts/x86/profile", "no.yaml", "parts.x86.profile='no.yaml': "),
    ("parts/x86/profile", "a\0.yaml", "parts.x86.profile='a\\x00.yaml': "),
    ("parts/x86/profile", "x" * 5000, "…: File name too long"),
    ("parts/x86/profile", "other.yaml", "parts.x86.profile='other.yaml': machine other has unequal parts"),
    ("parts/x86/profile", "bath.yaml", "parts.x86.profile='bath.yaml': machine bath has unequal parts"),
    ("parts/x86/nodes", None, "parts.x86.nodes is missing"),
    ("parts/x86/nodes", 0, "parts.x86.nodes=0; allowed: greater than or equal to 1"),
    ("parts/x86/nodes", 1.5, "parts.x86.nodes=1.5; allowed: a whole number"),
    ("parts/x86/nodes", True, "parts.x86.nodes=True; allowed: a whole number"),
    ("parts/x86/nodes", "2", "parts.x86.nodes='2'; allowed: a whole number"),
    ("parts/x86/nodes", leaf(0, "1"), "parts.x86.nodes.value=0; allowed: greater than or equal to 1"),
    ("parts/x86/nodes", {"value": 2}, "parts.x86.nodes.kind is missing"),
    ("parts/x86/nodes", leaf(2, "1", interval=[3, 4]), "parts.x86.nodes: interval [3, 4] must contain"),
    ("parts/x86/nods", 2, "parts.x86.nods: unknown field; allowed: profile, nodes, slower, interconnect"),
    ("parts/X86", part("quick.yaml"), "parts.X86: allowed: names of lower-case letters"),
    ("parts/a-b", part("quick.yaml"), "parts.a-b: allowed: names of lower-case letters"),
    ("parts/arm/slower", 1.1, "parts.arm.slower: 1.1; allowed: a mapping with value, unit, kind and"),
    ("parts/arm/slower/value", 0.9, "parts.arm.slower.value=0.9; allowed: greater than or equal to 1"),
    ("parts/arm/slower/unit", "x", "parts.arm.slower.unit='x'; allowed: '1'"),
    ("parts/arm/slower/value", 3, "parts.arm.slower: interval [1, 2] must contain the value 3"),
    ("parts/arm/slower/interval", [0.5, 2], "parts.arm.slower.interval.0=0.5; allowed: greater than"),
    ("parts/arm/slower/kind", "guessed", "slower.kind='guessed'; allowed: 'measured', 'literature' or"),
    ("parts/arm/slower/why", 1, "parts.arm.slower.why: unknown field; allowed: kind, reference, value, unit"),
    ("parts/arm/interconnect/speed", 1, "parts.arm.interconnect.speed: unknown field; allowed: fabric"),
    ("parts/arm/interconnect/latency/unit", "ns", "parts.arm.interconnect.latency.unit='ns'; allowed: 'us'"),
    ("links", None, "links.x86-arm is missing: the parts x86 and arm are not linked"),
    ("links", [], "links: []; allowed: a mapping of names"),
    (LINK, 5, "links.x86-arm: 5; allowed: a mapping with value"),
    ("links/x86-gpu", {}, "links.x86-gpu: 'gpu' is no part; allowed: x86-arm"),
    ("links/x86", {}, "links.x86: a part is not linked with itself; allowed: x86-arm"),
    ("links/x86-x86", {}, "links.x86-x86: a part is not linked with itself; allowed: x86-arm"),
    ("links/x86-arm-x86", {}, "links.x86-arm-x86: "),
    ("links/arm-x86", {}, "links.arm-x86: x86-arm links these parts already; allowed: one link of two"),
    (f"{LINK}/speed", 1, "links.x86-arm.speed: unknown field; allowed: fabric, topology"),
    (f"{LINK}/latency/unit", "ns", "links.x86-arm.latency.unit='ns'; allowed: 'us'"),
    (f"{LINK}/latency/value", -1, "links.x86-arm.latency.value=-1; allowed: greater than 0"),
    (f"{LINK}/latency/why", 1, "links.x86-arm.latency.why: unknown field; allowed: kind, reference, value"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "complaint"), BAD, ids=[f"{p}={v}"[:80] for p, v, _ in BAD])
def test_what_is_wrong_is_named_with_its_path(folder, path, value, complaint):
    assert isinstance(loaded(folder, content()), machines.Machine)
    with pytest.raises(BadInput) as bad:
        loaded(folder, put(content(), path, value))
    assert str(bad.value).startswith(f"{folder / 'bath.yaml'}: ")
    assert complaint in str(bad.value)
    assert "\n" not in str(bad.value)


def test_every_pair_of_parts_is_linked(folder):
    three = content(PARTS)
    with pytest.raises(BadInput, match=r"links\.x86-old is missing: the parts x86 and old are not linked"):
        loaded(folder, three)
    three["links"] |= {"old-x86": {}, "arm-old": {}}
    made = loaded(folder, three)
    assert list(made.links) == ["x86-arm", "old-x86", "arm-old"]
    assert made.link("x86", "old") is made.link("old", "x86") is made.links["old-x86"]


def test_one_part_alone_has_no_links(folder):
    alone = content()
    del alone["parts"]["arm"], alone["links"]
    assert list(loaded(folder, alone).parts) == ["x86"]
    alone["links"] = {"x86-arm": {}}
    with pytest.raises(BadInput, match=r"links\.x86-arm: 'arm' is no part; allowed: none"):
        loaded(folder, alone)


def test_the_file_is_named_like_the_machine(folder):
    with pytest.raises(BadInput, match=r"bath\.yaml: name='other'; allowed: the name of the file, 'bath'"):
        loaded(folder, put(content(), "name", "other"))


def test_commands_for_equal_nodes_refuse_a_machine_of_parts_and_name_its_profiles(folder):
    loaded(folder, content())
    with pytest.raises(BadInput, match=r"machine bath has unequal parts; allowed here: a profile, such as"):
        machines.load(folder / "bath.yaml")


def test_what_a_part_states_of_its_network_replaces_what_its_profile_says(folder):
    made = loaded(folder, content())
    assert made.get("parts.arm.interconnect.latency").value == 30
    assert made.get("parts.x86.interconnect.latency").value == 1.5
    assert made.get("parts.arm.interconnect.bandwidth").value == 12
    assert machines.load(folder / "slow.yaml").get("interconnect.latency").value == 1.5


def test_the_json_schema_says_the_same():
    schema = json.loads(json.dumps(machines.json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(content())
    # what JSON Schema cannot say
    apart = (
        "must contain",
        ": machine ",
        "no.yaml",
        "x00",
        "too long",
        "missing: the parts",
        "is no part",
        "itself",
        "already",
    )
    apart += ("links.x86-arm-x86",)
    for path, value, complaint in BAD:
        if not any(words in complaint for words in apart) or "unknown field" in complaint:
            assert not check.is_valid(put(content(), path, value)), (path, value)


@pytest.mark.parametrize("name", machines.names_of_parted())
def test_machines_of_the_project(name):
    made = machines.load_any(name)
    assert made.name == name and name not in machines.names()
    for path, value in made.values.items():
        assert value.kind in KINDS and len(value.reference) > 8, path
    assert all(part.counted is not None for part in made.parts.values())  # every number has a source
    assert all(path.split(".")[2] == "interconnect" for path in made.values if path.startswith("links."))
    assert machines.odd(made) == ()
    for path in ("fabric", "latency", "bandwidth"):
        for link in made.links:
            made.need(f"links.{link}.interconnect.{path}", "any run on two parts")
        for each in made.parts.values():
            if path == "fabric":
                each.profile.need("interconnect.fabric", "any run on two nodes")


def test_the_project_has_machines_of_parts():
    assert {"simula-bath", "slow-nodes", "two-generations"} <= {*machines.names_of_parted()}
    slow = machines.load_any("slow-nodes").parts
    assert slow["slow"].nodes == 0.05 * sum(part.nodes for part in slow.values())
    assert slow["slow"].slower.value > 1 and slow["slow"].slower.interval is not None
    net = machines.load_any("two-generations")
    assert (
        net.get("parts.newer.interconnect.latency").value == net.get("parts.older.interconnect.latency").value
    )


def test_a_file_that_cannot_be_read_hides_no_profile(tmp_path, monkeypatch):
    write(tmp_path / "good.yaml")
    (tmp_path / "broken.yaml").write_text("parts: [")
    (tmp_path / "listed.yaml").write_text("- parts")
    (tmp_path / "one.yaml").write_text("{name: one, parts: {a: {profile: good.yaml, nodes: 1}}}")
    (tmp_path / "folder.yaml").mkdir()
    monkeypatch.setattr(machines.loader, "folder", lambda: tmp_path)
    assert machines.names() == ["broken", "good", "listed"]
    assert machines.names_of_parted() == ["one"] and machines.all_names()[-1] == "one"
    (tmp_path / "one.yaml").unlink()
    assert machines.all_names() == ["broken", "good", "listed"]


class TestDocs:
    TEXT = (Path(__file__).parents[3] / "docs" / "own-machine.md").read_text()

    def test_every_machine_of_parts_is_in_the_list(self):
        assert {*machines.names_of_parted()} <= set(re.findall(r"`([a-z0-9-]+)`", self.TEXT))

    def test_the_example_is_a_machine_of_parts(self, tmp_path):
        example = textwrap.dedent(self.TEXT.split("of the older network:")[1].split("\n- `profile`")[0])
        (tmp_path / "mine.yaml").write_text(example)
        made = machines.load_any(tmp_path / "mine.yaml")
        assert list(made.parts) == ["old", "new"] and made.parts["new"].nodes == 24
