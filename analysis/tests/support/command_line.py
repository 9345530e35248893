"""The command line as tests use it: fixtures for every conftest.py that wants them."""

import json
import re
from functools import cache
from typing import Any

import jsonschema
import pytest
from jsonschema.exceptions import relevance

from spikemark.cli import main, output
from spikemark.quantities.answer import as_json
from spikemark.records.json_schema import json_schema

MAX_COMPLAINTS = 5  #: of an answer
MAX_CHARACTERS = 200  #: of a complaint, which may quote a whole table


def complaints(answer: dict[str, Any], schema: dict[str, Any]) -> str:
    """What an answer has that its class in answer_schema.py lacks, and the other way round.

    Of a command with several kinds of answers, that which is most like this one; nothing where an
    answer is as the schema says.
    """
    validator = jsonschema.Draft202012Validator(schema)
    if validator.is_valid(answer):
        return ""
    shapes = schema.get("oneOf", [schema])
    shape = max(shapes, key=lambda one: len(one["properties"].keys() & answer.keys()))
    errors = validator.evolve(schema=shape | {"$defs": schema.get("$defs", {})}).iter_errors(answer)
    lines = [f"{shape['title']} of answer_schema.py does not fit what {answer['format']} prints:"]
    for error in sorted(errors, key=relevance, reverse=True)[:MAX_COMPLAINTS]:
        lines.append(f"  {error.json_path}: {error.message[:MAX_CHARACTERS]}")
    return "\n".join(lines)


@cache
def schema_of(format_of_answer: str) -> dict[str, Any]:
    """Made once for all tests of a process."""
    return json_schema(format_of_answer)


@pytest.fixture(autouse=True)
def answers_have_their_schema(monkeypatch):
    """Whatever a test has a command print with --json is as `spikemark schema` says."""
    print_answer = output.print_answer

    def checked(verb, content):
        answer = json.loads(as_json(verb, content))
        wrong = complaints(answer, schema_of(answer["format"]))
        assert not wrong, wrong
        print_answer(verb, content)

    monkeypatch.setattr(output, "print_answer", checked)


@pytest.fixture
def spikemark(capsys):
    """Runs the command line in this process: (status, output, errors)."""

    def run(*arguments) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run


@pytest.fixture
def refusal(spikemark):
    """Runs a command line that is bad input, and returns the one line that it prints.

    Below the line, further faults of the same file may have an indented line each.
    """

    def run(*arguments) -> str:
        status, output, errors = spikemark(*arguments)
        line, *others = errors.splitlines()
        assert (status, output) == (2, ""), errors
        assert line.startswith("spikemark: ")
        assert all(other.startswith("  ") for other in others), errors
        assert bool(others) == (re.search(r" \(and \d+ more\)$", line) is not None), errors
        return line.removeprefix("spikemark: ")

    return run


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are composed but not rendered, which takes most of their time: for tests of their
    tables.
    """
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda _, buffer, **__: buffer.write(drawing)
    )
