"""`spikemark machine`."""

import json

import pytest

from spikemark import machines
from spikemark.machines import show


def test_all_profiles_are_listed(spikemark):
    status, output, _ = spikemark("machine")
    assert status == 0
    for name in machines.names():
        assert f"\n{name} " in output and machines.load(name).title in output


@pytest.mark.parametrize("name", machines.names())
def test_every_value_is_shown_with_its_reference(spikemark, name):
    profile = machines.load(name)
    status, output, _ = spikemark("machine", name)
    assert status == 0
    lines = {line.split()[0]: line for line in output.splitlines() if line.strip()}
    for path, value in profile.values.items():
        assert value.kind in lines[path]
        if len(str(value.value)) <= show.LONGEST:  # else it is wrapped between the lines of its reference
            assert "".join(value.reference.split()) in "".join(output.split())
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
    assert [p["name"] for p in json.loads(spikemark("machine", "--json")[1])] == machines.names()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "machine 'nowhere' not found: give the path of a .yaml file or one of "),
        (["nowhere.yaml"], "nowhere.yaml: not found"),
        (["--filled"], "--filled: only with the name of a profile"),
        (["grace", "--schema"], "--schema: the schema is the same for all profiles"),
    ],
)
def test_bad_input_gets_one_line(spikemark, arguments, complaint):
    status, output, errors = spikemark("machine", *arguments)
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1
