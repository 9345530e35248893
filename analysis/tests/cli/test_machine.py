"""`spikemark machine`."""

import json

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
    every = [*machines.names(), *machines.accelerated_names()]
    assert list(shown) == every
    for name in every:
        profile = machines.load(name)
        assert shown[name][-2:] == [str(len(profile.unknown())), "".join(profile.title.split())]
        assert sum(map(int, shown[name][:3])) == len(profile.values)


@pytest.mark.parametrize("name", [*machines.names(), *machines.accelerated_names()])
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


def test_what_is_assumed_can_be_shown(spikemark):
    plain = json.loads(spikemark("machine", "grace", "--json")[1])
    filled = json.loads(spikemark("machine", "grace", "--filled", "--json")[1])
    more = {path for path in filled["values"] if path not in plain["values"]}
    assert "interconnect.gap" in more
    assert {filled["values"][path]["kind"] for path in more} == {"assumed"}


def test_schema_and_list_as_json(spikemark):
    assert json.loads(spikemark("machine", "--schema")[1]) == json.loads(json.dumps(machines.json_schema()))
    every = [*machines.names(), *machines.accelerated_names()]
    assert [p["name"] for p in json.loads(spikemark("machine", "--json")[1])] == every
