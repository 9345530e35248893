"""Files of machines of parts: every kind of bad input, and the machines of the project."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from leaves import leaf, put
from machine_file import write

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import show
from spikemark.machines.fields import KINDS

PARTS = ("x86", "arm", "old")
SLOWER = leaf(1.1, "1", interval=[1, 2])


@pytest.fixture
def folder(tmp_path):
    """A folder with the profiles `quick` and `slow`, and the machine of parts `other`."""
    write(tmp_path / "quick.yaml")
    write(tmp_path / "slow.yaml", node__cores=8, node__l3_cores=4)
    back = {"format_version": 1, "name": "back", "title": "Back", "parts": {"a": part("bath.yaml")}}
    (tmp_path / "back.yaml").write_text(yaml.safe_dump(back))
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
X86, ARM = "parts/x86", "parts/arm"
BAD = [  # path, what is put there (None: taken away), the field that the complaint names
    ("title", None, "title"),
    ("format_version", 2, "format_version"),
    ("node", {}, "node"),
    ("parts", {}, "parts"),
    ("parts", [], "parts"),
    (X86, 4, "parts.x86"),
    (f"{X86}/profile", None, "parts.x86.profile"),
    (f"{X86}/profile", 5, "parts.x86.profile"),
    (f"{X86}/nodes", None, "parts.x86.nodes"),
    *((f"{X86}/nodes", bad, "parts.x86.nodes") for bad in (0, 1.5, True, "2")),
    (f"{X86}/nodes", leaf(0, "1"), "parts.x86.nodes.value"),
    (f"{X86}/nodes", {"value": 2}, "parts.x86.nodes.unit"),
    (f"{X86}/nods", 2, "parts.x86.nods"),
    ("parts/X86", part("quick.yaml"), "parts.X86"),
    ("parts/a-b", part("quick.yaml"), "parts.a-b"),
    (f"{ARM}/slower", 1.1, "parts.arm.slower"),
    (f"{ARM}/slower/value", 0.9, "parts.arm.slower.value"),
    (f"{ARM}/slower/unit", "x", "parts.arm.slower.unit"),
    (f"{ARM}/slower/interval", [0.5, 2], "parts.arm.slower.interval"),
    (f"{ARM}/interconnect/speed", 1, "parts.arm.interconnect.speed"),
    (f"{ARM}/interconnect/latency/unit", "ns", "parts.arm.interconnect.latency.unit"),
    ("links", [], "links"),
    (LINK, 5, "links.x86-arm"),
    (f"{LINK}/speed", 1, "links.x86-arm.speed"),
    (f"{LINK}/latency/value", -1, "links.x86-arm.latency.value"),
    (f"{LINK}/latency/why", 1, "links.x86-arm.latency.why"),
]
#: What a JSON Schema cannot say.
TOGETHER = [
    *((f"{X86}/profile", bad, "parts.x86.profile")
      for bad in ("nowhere", "no.yaml", "a\0.yaml", "x" * 5000, "other.yaml", "bath.yaml", "back.yaml")),
    (f"{X86}/nodes", leaf(2, "1", interval=[3, 4]), "parts.x86.nodes.interval"),
    ("links", None, "links.x86-arm"),
    *((f"links/{bad}", {}, f"links.{bad}") for bad in ("x86-gpu", "x86-x86", "x86-arm-x86", "arm-x86")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "field"), [*BAD, *TOGETHER], ids=lambda v: str(v)[:40])
def test_what_is_wrong_is_named_with_its_path(folder, path, value, field):
    assert isinstance(loaded(folder, content()), machines.Machine)
    with pytest.raises(BadInput) as bad:
        loaded(folder, put(content(), path, value))
    assert str(bad.value).startswith(f"{folder / 'bath.yaml'}: ") and "\n" not in str(bad.value)
    assert bad.value.field == field


def test_every_pair_of_parts_is_linked(folder):
    three = content(PARTS)
    with pytest.raises(BadInput, match=r"links\.x86-old: "):
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
    with pytest.raises(BadInput, match=r"links\.x86-arm: "):
        loaded(folder, alone)


def test_the_file_is_named_like_the_machine(folder):
    with pytest.raises(BadInput, match=r"bath\.yaml: name='other'"):
        loaded(folder, put(content(), "name", "other"))


def test_commands_for_equal_nodes_refuse_a_machine_of_parts_and_name_its_profiles(folder):
    loaded(folder, content())
    with pytest.raises(BadInput, match=r"machine bath .* quick.yaml or slow.yaml"):
        machines.load(folder / "bath.yaml")


def test_what_a_part_states_of_its_network_replaces_what_its_profile_says(folder):
    made = loaded(folder, content())
    assert made.get("parts.arm.interconnect.latency").value == 30
    assert made.get("parts.x86.interconnect.latency").value == 1.5
    assert made.get("parts.arm.interconnect.bandwidth").value == 12
    assert machines.load(folder / "slow.yaml").get("interconnect.latency").value == 1.5


def test_the_json_schema_says_the_same():
    schema = json.loads(json.dumps(show.json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(content())
    for path, value, _ in BAD:
        assert not check.is_valid(put(content(), path, value)), (path, value)


@pytest.mark.parametrize("name", machines.names("parts"))
def test_machines_of_the_project(name):
    made = machines.load_any(name)
    assert made.name == name and name not in machines.names()
    for path, value in made.values.items():
        assert value.kind in KINDS and len(value.reference) > 8, path
    assert all(part.counted is not None for part in made.parts.values())  # every number has a source
    assert all(path.split(".")[2] == "interconnect" for path in made.values if path.startswith("links."))
    for path in ("fabric", "latency", "bandwidth"):
        for link in made.links:
            made.need(f"links.{link}.interconnect.{path}", "any run on two parts")
        for each in made.parts.values():
            if path == "fabric":
                each.profile.need("interconnect.fabric", "any run on two nodes")


def test_the_project_has_machines_of_parts():
    assert {"simula-bath", "slow-nodes", "two-generations"} <= {*machines.names("parts")}
    slow = machines.load_any("slow-nodes").parts
    assert slow["slow"].nodes == 0.05 * sum(part.nodes for part in slow.values())
    assert slow["slow"].slower.value > 1 and slow["slow"].slower.interval is not None
    net = machines.load_any("two-generations")
    assert (
        net.get("parts.newer.interconnect.latency").value == net.get("parts.older.interconnect.latency").value
    )


def test_a_file_that_cannot_be_read_hides_no_profile(tmp_path, monkeypatch):
    write(tmp_path / "good.yaml")
    (tmp_path / "broken.yaml").write_text("node: [")
    (tmp_path / "listed.yaml").write_text("- parts")
    (tmp_path / "one.yaml").write_text("name: one\nparts: {a: {profile: good.yaml, nodes: 1}}\n")
    (tmp_path / "folder.yaml").mkdir()
    monkeypatch.setattr(machines.loader, "folder", lambda: tmp_path)
    assert machines.names() == ["broken", "good", "listed"]
    assert machines.names("parts") == ["one"] and machines.names(*machines.ALL)[-1] == "one"
    (tmp_path / "one.yaml").unlink()
    assert machines.names(*machines.ALL) == ["broken", "good", "listed"]


@pytest.mark.parametrize("name", machines.names("accelerator"))
def test_a_part_with_accelerators_is_refused_by_its_path(tmp_path, name):
    part = {"profile": name, "nodes": 1}
    content = {"format_version": 1, "name": "mine", "title": "x", "parts": {"gpu": part}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(BadInput, match=rf"mine\.yaml: parts\.gpu\.profile='{name}': machine {name} has"):
        machines.load_any(tmp_path / "mine.yaml")
