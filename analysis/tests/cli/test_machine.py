"""`spikemark machine`."""

import json
import re

import pytest

from spikemark import machines


def rows(output: str) -> dict[str, list[str]]:
    """The cells of a table on a terminal by the first one of each row, without what wrapping adds."""
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("│"):
            first, *others = (cell.strip() for cell in line.strip("│").split("│"))
            cells = found.setdefault(first or list(found)[-1], [""] * len(others))
            cells[:] = [cell + "".join(more.split()) for cell, more in zip(cells, others, strict=True)]
    return found


def test_all_profiles_are_listed(spikemark):
    status, output, _ = spikemark("machine")
    assert status == 0
    shown = rows(output)
    assert list(shown) == machines.all_names() and machines.names_of_parted()
    for name in machines.profile_names():
        profile = machines.load(name)
        assert shown[name][-2:] == [str(len(profile.unknown())), "".join(profile.title.split())]
        assert sum(map(int, shown[name][:3])) == len(profile.values)
    for name in machines.names_of_parted():
        machine = machines.load_any(name)
        assert shown[name][-2:] == [str(len(machine.unknown())), "".join(machine.title.split())]
        for part in machine.parts.values():
            assert f"{part.name}:{part.nodes}of{part.profile.name}" in shown[name][0]


@pytest.mark.parametrize("name", machines.profile_names())
def test_every_value_is_shown_with_its_reference(spikemark, name):
    profile = machines.load(name)
    status, output, _ = spikemark("machine", name)
    assert status == 0
    shown = rows(output)
    assert list(shown) == list(profile.values)
    for path, value in profile.values.items():
        assert shown[path][-2:] == [value.kind, "".join(value.reference.split())]
    assert f"unknown: {', '.join(profile.unknown())}" in output
    content = json.loads(spikemark("machine", name, "--json")[1])
    assert content["unknown"] == profile.unknown()
    assert {p: v["reference"] for p, v in content["values"].items()} == {
        p: v.reference for p, v in profile.values.items()
    }


@pytest.mark.parametrize("name", machines.names_of_parted())
def test_parts_and_links_are_shown_with_every_value(spikemark, name):
    machine = machines.load_any(name)
    status, output, _ = spikemark("machine", name)
    assert status == 0
    parts, *groups = re.split(r"^\S+\.…$", output, flags=re.MULTILINE)
    for part, (first, cells) in zip(machine.parts.values(), rows(parts).items(), strict=True):
        assert [first, *cells[:2]] == [part.name, str(part.nodes), part.profile.name]
    for (start, group), text in zip(machine.groups.items(), groups, strict=True):
        assert f"\n{start}.…\n" in output
        shown = rows(text)
        assert list(shown) == [*group.values]
        for path, value in group.values.items():
            assert shown[path][-2:] == [value.kind, "".join(value.reference.split())]
        assert f"unknown of {start}: {', '.join(group.unknown())}\n" in output
    content = json.loads(spikemark("machine", name, "--json")[1])
    groups = {f"{kind}.{n}": group for kind in ("parts", "links") for n, group in content[kind].items()}
    assert [f"{start}.{p}" for start, group in groups.items() for p in group["values"]] == [*machine.values]
    assert [f"{start}.{p}" for start, group in groups.items() for p in group["unknown"]] == machine.unknown()
    for part in machine.parts.values():
        found = content["parts"][part.name]
        assert (found["nodes"], found["profile"]) == (part.nodes, part.profile.name)


def test_what_is_assumed_of_parts_and_links_can_be_shown(spikemark):
    plain, filled = (
        json.loads(spikemark("machine", "simula-bath", *more, "--json")[1]) for more in ((), ("--filled",))
    )
    for kind, name in (("parts", "x86"), ("parts", "arm"), ("links", "x86-arm")):
        values = filled[kind][name]["values"]
        more = {*values} - {*plain[kind][name]["values"]}
        assert "interconnect.gap" in more and {values[path]["kind"] for path in more} == {"assumed"}


def test_a_bad_machine_of_parts_gets_one_line(refusal, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(
        "{format_version: 1, name: bad, title: b, parts: {a: {profile: grace, nodes: 2}, b: {profile: grace,"
        " nodes: 1}}}"
    )
    assert refusal("machine", path) == f"{path}: links.a-b is missing: the parts a and b are not linked"


def test_a_command_for_equal_nodes_refuses_a_machine_of_parts(refusal):
    said = refusal("compare", "simula-bath", "jureca-dc", "--preset", "mam-benchmark")
    assert said == (
        "machine simula-bath has unequal parts; allowed here: a profile, such as dpsnn-westmere-ib or"
        " jetson-tx1"
    )


def test_what_is_assumed_can_be_shown(spikemark):
    plain = json.loads(spikemark("machine", "grace", "--json")[1])
    filled = json.loads(spikemark("machine", "grace", "--filled", "--json")[1])
    more = {path for path in filled["values"] if path not in plain["values"]}
    assert "interconnect.gap" in more
    assert {filled["values"][path]["kind"] for path in more} == {"assumed"}


def test_schema_and_list_as_json(spikemark):
    assert json.loads(spikemark("machine", "--schema")[1]) == json.loads(json.dumps(machines.json_schema()))
    assert [p["name"] for p in json.loads(spikemark("machine", "--json")[1])] == machines.all_names()
