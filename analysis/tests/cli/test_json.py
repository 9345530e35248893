"""--json: every command has it, and its format, version and schema.

Fixtures hold whatever any test has a command print with --json against the schema of the command.
"""

import json
from pathlib import Path

import jsonschema
import pytest
import typer.main

from spikemark import machines
from spikemark.cli import main, output
from spikemark.measuring import cachesim
from spikemark.measuring.calibrated_profile import CalibratedProfile
from spikemark.quantities.answer import ANSWER_VERSION, as_json
from spikemark.records import answer_schema
from spikemark.records.answer_schema import _answer_shapes, verbs_by_format
from spikemark.records.json_schema import FILE_FORMATS, json_schema

#: Commands without --json, and why.
WITHOUT = {
    "preset": "prints a run description, which is JSON",
    "schema": "prints a schema, which is JSON",
    "export": "prints the formats of other tools",
    "run": "carried out by the workflow; the record is the answer",
    "tender environment": "hidden: each node of a run carries it out",
}


def commands(group=None, words="") -> dict:
    """All commands by their words; presets count as one."""
    found = {}
    for name, command in (group or typer.main.get_command(main.app)).commands.items():
        inner = hasattr(command, "commands") and name != "preset"
        found |= commands(command, f"{words}{name} ") if inner else {f"{words}{name}": command}
    return found


def test_every_command_prints_json_or_says_why_not():
    has = {
        words: any("--json" in parameter.opts for parameter in command.params)
        for words, command in commands().items()
    }
    assert {words for words, json_there in has.items() if not json_there} == WITHOUT.keys()
    assert {words for words, json_there in has.items() if json_there} == _answer_shapes().keys()


@pytest.mark.parametrize("name", verbs_by_format())
def test_schemas_of_answers_are_schemas_and_name_format_and_version(name, spikemark):
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    for shape in schema.get("oneOf", [schema]):
        assert {"format", "version"} <= set(shape["required"])
        assert shape["properties"]["format"] == {"const": name}
        assert shape["properties"]["version"] == {"const": ANSWER_VERSION}
    status, printed, _ = spikemark("schema", name)
    assert status == 0 and json.loads(printed) == json.loads(json.dumps(schema))


#: Parts that have formats of their own, or hold values of any field: (answer, name).
OPEN = {
    ("predict-answer", "description"),
    ("simulate-answer", "simulation"),
    ("tender-accept-answer", "set"),
    ("tender-answer-answer", "set"),
    ("diff-answer", "first"),
    ("diff-answer", "second"),
    ("machine-answer", "value"),
    ("calibrate-answer", "value"),
}


def open_parts(schema: object, name: str = "") -> set[str]:
    """Names of the fields of a schema whose content may be anything."""
    if isinstance(schema, list):
        return set().union(*(open_parts(part, name) for part in schema))
    if not isinstance(schema, dict):
        return set()
    names = set()
    says_nothing = not schema.keys() - {"title", "description", "default"}
    is_open_object = schema.get("type") == "object" and "properties" not in schema
    if says_nothing or (is_open_object and schema.get("additionalProperties", True) is True):
        names.add(name)
    for group in ("properties", "$defs"):
        for field, part in schema.get(group, {}).items():
            names |= open_parts(part, field)
    for within in ("items", "prefixItems", "anyOf", "oneOf", "additionalProperties"):
        names |= open_parts(schema.get(within, []), name)
    return names


def test_no_other_part_of_an_answer_is_open():
    found = set()
    for name in verbs_by_format():
        found |= {(name, part) for part in open_parts(json_schema(name))}
    assert found == OPEN


def test_open_parts_are_found():
    row = {"type": "object", "additionalProperties": True}
    rows = {"type": "array", "items": row}
    assert open_parts({"properties": {"rows": rows}}) == {"rows"}
    assert open_parts({"properties": {"closed": row | {"additionalProperties": False}}}) == set()
    assert open_parts({"$defs": {"A": {"properties": {"any": {"title": "Any"}}}}}) == {"any"}


def test_names_of_formats_are_unique():
    assert len(verbs_by_format()) == len(_answer_shapes())
    assert not verbs_by_format().keys() & FILE_FORMATS.keys()


def test_an_answer_with_another_field_is_no_answer_of_the_schema():
    """The fixture that holds all others against their schemas can fail, and names the class."""
    content = {"runs": 1, "file": "summary.parquet", "complaints": []}
    output.print_answer("collect", content)
    for wrong, field in (
        (content | {"more": 1}, "more"),
        ({"runs": 1}, "file"),
        (content | {"runs": "one"}, "runs"),
    ):
        with pytest.raises(AssertionError) as refused:
            output.print_answer("collect", wrong)
        first, *others = str(refused.value).splitlines()
        assert "Collected of answer_schema.py" in first
        assert others and all("$" in line for line in others)
        assert any(field in line for line in others)


def test_of_several_kinds_of_answers_the_one_meant_is_named():
    sums = {"kind": "measured", "reader": "nest", "runs": [], "remarks": []}
    output.print_answer("waiting", sums)
    with pytest.raises(AssertionError, match=r"WaitingOfSums of .*\n.*'skipped'"):
        output.print_answer("waiting", sums | {"skipped": 3})


def test_a_number_that_json_cannot_hold_is_no_answer():
    with pytest.raises(ValueError, match="JSON"):
        as_json("collect", {"runs": float("nan")})


def test_answers_of_commands_that_measure_for_minutes_have_the_fields_of_their_schemas():
    """Nothing is measured here."""
    values = machines.load("epyc-vm").values
    measured = CalibratedProfile(Path("here.yaml"), values, {"power.idle": "no meter"}, ["busy"])
    output.print_answer("calibrate", json.loads(json.dumps(measured.content())))
    stated = answer_schema.SimulatedCachesContent.model_fields
    assert stated.keys() == cachesim.SimulatedCaches.model_fields.keys()
