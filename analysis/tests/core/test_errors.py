"""What a complaint names, whoever wrote its line: the field, and a code for what is wrong with it."""

import pickle

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator

from spikemark.core.errors import BadInput, invalid

LINES = {
    "grid.ranks=0; expected an integer of at least 1": "grid.ranks",
    "/tmp/a b/run.json: time.cycle_ms=-1: a number above 0": "time.cycle_ms",
    "run.json, line 3: node: missing": "node",
    "/tmp/a.csv: line 3: power_w='x': a number is needed": "power_w",
    "time.cycle: missing": "time.cycle",
    "--out: x is a folder": "out",
    "--out /tmp/x: holds a run": "out",
    "--at-wall=3; expected less": "at-wall",
    "part 'x'; expected a, b": "part",
    "/tmp/a.json: key 'ranks' is there twice": "ranks",
    "/tmp/a.json: nothing in it": None,
    "the nodes of this job are unknown": None,
}


@pytest.mark.parametrize("line", LINES)
def test_the_field_is_what_the_line_names_first(line):
    error = BadInput(line)
    assert (error.field, error.code) == (LINES[line], "value")


def test_what_is_given_counts():
    error = BadInput("a=1; expected 2", field="b.c", code="range")
    assert (error.field, error.code) == ("b.c", "range")
    assert BadInput("results: not found", code="file").field is None
    with pytest.raises(TypeError):
        BadInput("a=1", code="other")


class Inner(BaseModel, extra="forbid"):
    ranks: int = Field(ge=1)
    name: str = "x"

    @field_validator("name")
    @classmethod
    def known(cls, value: str) -> str:
        if value != "x":
            raise BadInput.of("name", value, "x", code="unknown")
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
            try:
                Outer.model_validate({"grid": grid})
            except ValidationError as error:
                raise invalid(error, "inner.yaml: ", "file") from None
        except BadInput as error:
            raise BadInput(f"outer.yaml: {error}") from None
    assert (caught.value.field, caught.value.code) == (field, code)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.field, copy.code) == (str(caught.value), field, code)


def test_another_error_that_is_being_handled_gives_nothing():
    try:
        raise BadInput("a=1", code="range")
    except BadInput:
        error = BadInput("b=1")
    assert (error.field, error.code) == ("b", "value")


def test_a_list_that_is_too_short_is_named():
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"grid": {"ranks": 1}, "pair": [1]})
    error = invalid(caught.value, "x.yaml: ", "file", {"grid": {"ranks": 1}, "pair": [1]})
    assert error.field.startswith("pair") and error.code == "missing"
