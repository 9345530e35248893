"""Numbers of the models that follow from a closed form, exact arithmetic, a count or a publication.

analysis/values.csv has each number, its tolerance and why it is right; analysis/commands.csv says
how it is asked. A command or a function that gets another name changes only the latter.
"""

import csv
import json
import math
from pathlib import Path

import pytest
from golden.asking import asked

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "analysis"


def rows(name):
    with open(FOLDER / name, newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


VALUES, COMMANDS = rows("values.csv"), rows("commands.csv")


def part(content, path):
    """The part of JSON at a path: fields, numbers in lists, name=value of an item, joined by /."""
    for word in path.split("/") if path else ():
        if isinstance(content, dict):
            content = content[word]
        elif "=" in word:
            name, _, value = word.partition("=")
            content = next(item for item in content if str(item[name]) == value)
        else:
            content = content[int(word)]
    return content


def value_and_interval(where, output):
    """The value, and its interval or None."""
    path, _, interval_path = where.partition("; ")
    content = json.loads(output)
    if path == "length":
        return len(content), None
    value = part(content, path)
    if isinstance(value, dict) and "value" in value:
        return value["value"], value.get("interval")
    return value, part(content, interval_path) if interval_path else None


@pytest.mark.parametrize("name", VALUES)
def test_value(name, tmp_path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    row = VALUES[name]
    rule, _, tolerance = row["tolerance"].partition(" ")
    status, output, errors = asked(COMMANDS[name]["command"], tmp_path)
    if rule == "refused":
        expected_status, _, field = row["value"].partition(" ")
        assert status == int(expected_status) and field in errors, errors
        return
    assert status == 0, errors
    value, interval = value_and_interval(COMMANDS[name]["where"], output)
    if row["tolerance"] == "in interval":
        assert interval[0] <= float(row["value"]) <= interval[1]
        return
    if rule == "exact":
        assert (value if isinstance(value, str) else json.dumps(value)) == row["value"]
    elif rule == "most":
        assert value <= float(row["value"]) * float(tolerance)
    elif rule == "rel":
        assert math.isclose(value, float(row["value"]), rel_tol=float(tolerance))
    else:
        assert math.isclose(value, float(row["value"]), rel_tol=0, abs_tol=float(tolerance))
    if row["ends"]:
        low, high = float(row["low"]), float(row["high"])
        assert interval == pytest.approx([low, high], rel=0, abs=float(row["ends"]) * (high - low))


def test_tables_have_the_same_values():
    assert list(VALUES) == list(COMMANDS)
