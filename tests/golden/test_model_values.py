"""Numbers of the models that follow from a closed form, exact arithmetic, a count or a publication.

analysis/values.csv has each number, its tolerance and why it is right; analysis/commands.csv says how it is
asked. A command or a function that gets another name changes only the latter.
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


def at(content, path):
    """What lies at `path`: fields, numbers in lists, or name=value of an item of a list, joined by `/`."""
    for part in path.split("/") if path else ():
        if isinstance(content, list) and "=" in part:
            name, _, value = part.partition("=")
            content = next(item for item in content if str(item[name]) == value)
        else:
            content = content[int(part) if isinstance(content, list) else part]
    return content


def found(where, output):
    """The value, and its interval or None."""
    path, _, ends = where.partition("; ")
    content = json.loads(output)
    if path == "length":
        return len(content), None
    value = at(content, path)
    if isinstance(value, dict) and "value" in value:
        return value["value"], value.get("interval")
    return value, at(content, ends) if ends else None


@pytest.mark.parametrize("name", VALUES)
def test_value(name, tmp_path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    row, (how, _, number) = VALUES[name], VALUES[name]["tolerance"].partition(" ")
    status, output, errors = asked(COMMANDS[name]["command"], tmp_path)
    if how == "refused":
        wanted, _, field = row["value"].partition(" ")
        assert status == int(wanted) and field in errors, errors
        return
    assert status == 0, errors
    value, interval = found(COMMANDS[name]["where"], output)
    if row["tolerance"] == "in interval":
        assert interval[0] <= float(row["value"]) <= interval[1]
    elif how == "exact":
        assert (value if isinstance(value, str) else json.dumps(value)) == row["value"]
    elif how == "most":
        assert value <= float(row["value"]) * float(number)
    else:
        limits = {"rel_tol": float(number)} if how == "rel" else {"rel_tol": 0, "abs_tol": float(number)}
        assert math.isclose(value, float(row["value"]), **limits)
    if row["ends"] and row["tolerance"] != "in interval":
        low, high = float(row["low"]), float(row["high"])
        assert interval == pytest.approx([low, high], rel=0, abs=float(row["ends"]) * (high - low))


def test_tables_have_the_same_values():
    assert list(VALUES) == list(COMMANDS)
