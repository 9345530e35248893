"""`spikemark schema`."""

import json

import pytest

from spikemark.records.answer_schema import verbs_by_format
from spikemark.records.json_schema import FILE_FORMATS, json_schema


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_schema_is_printed(spikemark, name):
    status, output, _ = spikemark("schema", name)
    assert status == 0 and json.loads(output) == json.loads(json.dumps(json_schema(name)))


def test_without_a_name_all_are_listed(spikemark):
    status, output, _ = spikemark("schema")
    files, answers = output.split("\n\n")
    assert status == 0 and [line.split()[0] for line in files.splitlines()] == [*FILE_FORMATS]
    assert set(verbs_by_format()) <= set(answers.replace(",", "").split())


def test_an_unknown_name_is_refused(refusal):
    assert refusal("schema", "plan").startswith("NAME='plan'; expected one of description,")
