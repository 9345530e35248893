"""What a complaint names, whoever wrote its line: file, line, field, and a code for what is wrong.

Several faults of one file are listed, and a name that is misspelt is proposed as it should be.
"""

import ast
import json
import pickle
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator

import spikemark
from spikemark.core.errors import (
    MAX_PROBLEMS,
    BadInput,
    ending,
    proposal,
    unknown_name,
)
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.core.validation import PROBLEM_TYPES, invalid
from spikemark.core.yaml_file import lines_of_fields, read_yaml


def test_a_line_is_put_together_from_its_parts():
    error = BadInput(field="grid.ranks", value=0, expected="at least 1", file="a.yaml", line=3)
    assert str(error) == "a.yaml, line 3: grid.ranks=0; expected at least 1"
    assert (error.field, error.code) == ("grid.ranks", "value")
    assert BadInput("--out x: holds a run", field="--out").field == "out"
    assert BadInput("not found", file="results", code="file").field is None
    with pytest.raises(TypeError):
        BadInput("a=1", field="a", code="other")


def test_parts_are_named_within_what_holds_them():
    part = BadInput(field="ranks", value=0, expected="at least 1", code="range")
    whole = part.within(field="grid").within(line=2).within(file="a.yaml")
    assert str(whole) == "a.yaml, line 2: grid.ranks=0; expected at least 1"
    assert (whole.field, whole.code) == ("grid.ranks", "range")
    outer = whole.within(file="b.yaml", line=7)
    assert str(outer) == "b.yaml, line 7: a.yaml, line 2: grid.ranks=0; expected at least 1"
    assert outer.field == "grid.ranks"
    assert str(part.within(advice="mend it")) == "ranks=0; expected at least 1; mend it"


WRAPS = [{"file": "b.yaml"}, {"line": 3}, {"field": "grid"}, {"advice": "mend it"}]


@pytest.mark.parametrize("wrap", WRAPS, ids=lambda wrap: next(iter(wrap)))
def test_further_faults_stay_with_a_complaint_that_is_named_within_something(wrap):
    others = [BadInput(field=name, value=0, expected="at least 1") for name in ("threads", "seed")]
    error = BadInput(field="ranks", value=0, expected="at least 1", others=others).within(**wrap)
    prefix = f"{wrap['field']}." if "field" in wrap else ""
    assert [other.field for other in error.others] == [f"{prefix}threads", f"{prefix}seed"]
    assert len(error.problems) == 3 and error.problems[1].startswith(f"{prefix}threads=0")


class Inner(BaseModel, extra="forbid"):
    ranks: int = Field(ge=1)
    name: str = "x"

    @field_validator("name")
    @classmethod
    def known(cls, value: str) -> str:
        if value != "x":
            raise BadInput(field="name", value=value, expected="x", code="unknown")
        return value


class Outer(BaseModel):
    grid: Inner
    pair: tuple[int, int] = (1, 2)


@pytest.mark.parametrize(
    ("grid", "field", "code"),
    [
        ({}, "grid.ranks", "missing"),
        ({"ranks": 0}, "grid.ranks", "range"),
        ({"ranks": "many"}, "grid.ranks", "type"),
        ({"ranks": 1, "rank": 2}, "grid.rank", "unknown"),
        ({"ranks": 1, "name": "y"}, "grid.name", "unknown"),
        (3, "grid", "type"),
    ],
)
def test_field_and_code_of_pydantic_survive_files_that_name_others(grid, field, code):
    with pytest.raises(BadInput) as caught:
        try:
            checked(Outer, {"grid": grid}, "inner.yaml", "file")
        except BadInput as error:
            raise error.within(file="outer.yaml") from None
    assert str(caught.value).startswith("outer.yaml: inner.yaml: grid")
    assert (caught.value.field, caught.value.code) == (field, code)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.field, copy.code) == (str(caught.value), field, code)


def test_a_list_that_is_too_short_is_named():
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"grid": {"ranks": 1}, "pair": [1]})
    error = invalid(caught.value, "file", content={"grid": {"ranks": 1}, "pair": [1]})
    assert error.field.startswith("pair") and error.code == "missing"


class Limits(BaseModel, extra="forbid"):
    above: float = Field(1, gt=0.5)
    least: float = Field(1, ge=1)
    below: int = Field(1, lt=3)
    most: int = Field(1, le=3)
    text: str = Field("a", min_length=1, max_length=3, pattern="^a*$")
    items: list[int] = Field([1, 2], min_length=2, max_length=3)
    flag: bool = True
    finite: float = Field(1, allow_inf_nan=False)
    part: Inner | None = None
    either: int | list[int] = 1


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("above", 0.5, "above=0.5; expected above 0.5"),
        ("least", 0, "least=0; expected at least 1"),
        ("below", 3, "below=3; expected below 3"),
        ("most", 4, "most=4; expected at most 3"),
        ("most", "x", "most='x'; expected a valid integer"),
        ("most", 1.5, "most=1.5; expected a valid integer"),
        ("text", "", "text=''; expected text of at least 1 character"),
        ("text", "aaaa", "text='aaaa'; expected text of at most 3 characters"),
        ("text", "b", "text='b'; expected text that matches pattern '^a*$'"),
        ("text", 1, "text=1; expected a valid string"),
        ("items", [1], "items: expected a list of at least 2 items"),
        ("items", [1, 2, "x"], "items.2='x'; expected a valid integer"),
        ("items", 1, "items=1; expected a valid list"),
        ("flag", "maybe", "flag='maybe'; expected true or false"),
        ("finite", float("inf"), "finite=inf; expected a finite number"),
        ("part", 1, "part=1; expected a mapping of fields"),
        ("part", {"ranks": 0}, "part.ranks=0; expected at least 1"),
        ("either", "x", "either='x'; expected a valid integer or a valid list"),
        ("itemz", 1, "itemz=1: unknown; expected above, least, below, most, text, items, flag,"),
    ],
)
def test_what_pydantic_finds_is_said_in_words_of_ours(field, value, line):
    with pytest.raises(BadInput) as caught:
        checked(Limits, {field: value}, "a.json", "file")
    assert str(caught.value).startswith(f"a.json: {line}")


def test_the_types_of_problems_are_those_of_pydantic():
    from typing import get_args

    from pydantic_core.core_schema import ErrorType

    assert set(PROBLEM_TYPES) <= set(get_args(ErrorType))


@pytest.mark.parametrize("count", [1, 2, 3, MAX_PROBLEMS, MAX_PROBLEMS + 1, 40])
def test_planted_faults_of_a_file_are_counted_and_listed(tmp_path, count):
    """Each in its own line of the file, which it names."""
    lines = [f"field_{number}: x" for number in range(count)]
    path = tmp_path / "a.yaml"
    path.write_text("# a comment\n" + "\n".join(lines))
    with pytest.raises(BadInput) as caught:
        checked(Inner, {"ranks": 1} | read_yaml(path), path, "file")
    text, status = ending(caught.value)
    first, *others = text.splitlines()
    assert first.startswith(f"{path}, line 2: field_0='x': unknown") and status == 2
    assert str(caught.value) == first
    assert first.endswith(f" (and {count - 1} more)") == (count > 1)
    assert len(caught.value.problems) == min(count, MAX_PROBLEMS) == 1 + len(others)
    for number, line in enumerate(others, 1):
        assert line.startswith(f"  line {number + 2}: field_{number}='x': unknown; expected")


def test_others_keep_their_path_within_a_part():
    with pytest.raises(ValidationError) as caught:
        Inner.model_validate({"ranks": 0, "rank": 1})
    error = invalid(caught.value).within(field="grid").within(file="a.yaml")
    assert error.problems[1].startswith("grid.rank=1: unknown")
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


@pytest.mark.parametrize("value", ["misspelt", "other"])
@pytest.mark.parametrize("missing_first", [True, False])
def test_what_is_wrong_comes_before_what_is_missing(value, missing_first):
    fields = ["ranks", "name"] if missing_first else ["name", "ranks"]
    content = {field: value for field in fields if field != "ranks"}
    with pytest.raises(BadInput, match=r"^a: name=.*\(and 1 more\)"):
        checked(Inner, content, "a", "file")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: [1, 2\nc: 3", None, "not YAML at line 3, column 2: "),
        ("a: 1\n\tb: 2", None, "not YAML at line 2, column 1: "),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "the key 'c' is there twice"),
        ("a: 1\nb: !!int 0x1\n", 2, "'0x1'; expected a decimal number"),
        ("a: 1\nb:\n- 1\n- .inf\n", 4, "b.1=inf; expected a finite number"),
        (f"a: 1\n\nb: {'1' * 5000}\n", 3, "a number of 5000 digits"),
    ],
)
def test_errors_of_yaml_name_the_line(tmp_path, text, line, reason):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_yaml(path)
    place = str(path) if line is None else f"{path}, line {line}"
    assert str(caught.value).startswith(f"{place}: {reason}")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"a": 1,\n "b": [1, 2}', None, "truncated or not JSON at line 2, column 12: "),
        ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 2, "key 'c' is there twice"),
        ('{"a": 1,\n\n "a": 2}', 1, "key 'a' is there twice"),
        ('[{"a": 1},\n {"a": 1},\n {"a": 1, "a": 1}]', 3, "key 'a' is there twice"),
        ('{"a": 1,\n "b": ' + "1" * 5000 + "}", 2, "a number of 5000 digits"),
        ('{"a": 1, "a": 2}', None, "key 'a' is there twice"),
    ],
)
def test_errors_of_json_name_the_line(tmp_path, text, line, reason):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_json(path)
    place = str(path) if line is None else f"{path}, line {line}"
    assert str(caught.value).startswith(f"{place}: {reason}")


def test_lines_of_fields_are_those_of_the_file(tmp_path):
    """Each value is the number of its line."""
    path = tmp_path / "a.yaml"
    path.write_text("# head\na: 2\nb:\n  c: 4\n  d:\n  - 6\n  - e: 7\n    f: 8\n")
    lines = lines_of_fields(path)
    content = read_yaml(path)
    assert lines["a"] == content["a"] and lines["b.c"] == content["b"]["c"]
    assert lines["b.d.0"] == 6 and lines["b.d.1.e"] == 7 and lines["b.d.1.f"] == 8
    path.write_text(json.dumps({"a": [1, {"b": 2}]}, indent=0))  # JSON is YAML
    assert lines_of_fields(path)["a.1.b"] == path.read_text().splitlines().index('"b": 2') + 1
    path.write_text(yaml.dump({"a": "x" * 10}) + "b: [")
    assert lines_of_fields(path) == {}


def misspelt(name: str) -> str:
    """The name with two letters traded, or one left out where these are the same."""
    middle = len(name) // 2
    traded = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
    return traded if traded != name else name[:middle] + name[middle + 1 :]


NAMES = ["conventional", "structure_aware", "overlapped", "microcircuit", "alltoallv"]


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_name_is_proposed_as_it_should_be(name):
    for text in (misspelt(name), name.upper(), name.replace("_", "-") + "s"):
        error = unknown_name("schedule", text, NAMES, file="a.yaml")
        expected = f"expected one of {', '.join(NAMES)}; did you mean {name!r}?"
        assert str(error) == f"a.yaml: schedule={text!r}; {expected}"
        assert (error.field, error.code) == ("schedule", "unknown")
    assert proposal("xyzzy", NAMES) == proposal(3, NAMES) == proposal(name, []) == ""


@pytest.mark.parametrize("field", Limits.model_fields)
def test_a_misspelt_field_is_proposed_as_it_should_be(field):
    with pytest.raises(BadInput, match=f"; did you mean '{field}'\\?$"):
        checked(Limits, {misspelt(field) + "_": 1}, "a.json", "file")


def complaints() -> list[tuple[str, ast.Call]]:
    """Every call of BadInput in the packages, by its file and line."""
    calls = []
    for path in sorted(Path(spikemark.__file__).parents[1].glob("spikemark*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "BadInput":
                calls.append((f"{path.name}:{node.lineno}", node))
    return calls


def test_every_message_names_a_field_or_says_that_it_is_about_a_file():
    """Nothing is guessed from the words of a message."""
    calls = complaints()
    assert len(calls) > 200
    silent = []
    for place, call in calls:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        code = keywords.get("code")
        is_about_file = isinstance(code, ast.Constant) and code.value == "file"
        if call.args and "field" not in keywords and not is_about_file:
            silent.append(place)
    assert silent == []


def test_the_command_lists_the_faults_of_a_file(spikemark, tmp_path):
    """The first in the line, the others below it."""
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nrepetitions: 0\nseedz: [1]\ngrid: [{}]\npreset: {name: mam}\n")
    status, _, error = spikemark("sweep", path, "--dry-run")
    first, *others = error.splitlines()
    assert status == 2 and len(others) >= 1
    assert first.startswith(f"spikemark: {path}, line ")
    assert first.endswith(f" (and {len(others)} more)")
    assert others[0].startswith("  line 3: seedz: unknown; expected name,")
    assert all(line.startswith("  ") for line in others)
    assert "did you mean 'seeds'?" in error and "repetitions=0; expected at least 1" in error
