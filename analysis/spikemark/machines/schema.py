"""The schema of machines/NAME.yaml, made from the table of fields, and its export as JSON Schema."""

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, create_model, model_validator
from pydantic import Field as Limits

from spikemark.core.fields import assign, no_boolean

from .fields import AT_LEAST_ONE, COUNT, FIELDS, KINDS, MODELS, NOT_NEGATIVE, POSITIVE, SHARE, TABLE, Field

Text = Annotated[str, Limits(strict=True, min_length=1, pattern=r"\S")]
Count = Annotated[int, Limits(strict=True, ge=1, le=10**9)]


def _number(**limits: float) -> Any:
    return Annotated[float, Limits(strict=True, allow_inf_nan=False, **limits)]


def _not_next_to_nothing(value: float) -> float:
    if value < LEAST:
        raise ValueError(f"{value:g}; allowed: at least {LEAST:g}")
    return value


MOST, LEAST = 1e12, 1e-12  # limits of any value in its unit; the least of a value that must not be 0
NUMBERS = {
    COUNT: Count,
    POSITIVE: Annotated[_number(gt=0, le=MOST), AfterValidator(_not_next_to_nothing)],
    NOT_NEGATIVE: _number(ge=0, le=MOST),
    SHARE: _number(ge=0, le=1),
    AT_LEAST_ONE: _number(ge=1, le=MOST),
}
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


Ranks = Annotated[int, Limits(strict=True, ge=2, le=10**9)]  # ranks that exchange something


class Strict(BaseModel):
    """A group that allows no fields but those of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Leaf(Strict):
    """One value, and where it comes from."""

    kind: Literal[KINDS]
    reference: Text


class Number(Leaf):
    """A number, and the range in which it is expected."""

    @model_validator(mode="after")
    def _inside(self) -> "Number":
        low, high = self.interval or (self.value, self.value)
        if not low <= self.value <= high:
            raise ValueError(f"interval [{low:g}, {high:g}] must contain the value {self.value:g}")
        return self


class Table(Leaf):
    """Rows of ranks, bytes from each rank to each other rank, and microseconds."""

    rows: Annotated[
        list[tuple[Ranks, Annotated[int, Limits(strict=True, ge=0)], NUMBERS[POSITIVE]]],
        Limits(min_length=1),
    ]

    @model_validator(mode="after")
    def _in_order(self) -> "Table":
        for before, row in pairwise(self.rows):
            if row[:2] <= before[:2]:
                raise ValueError(
                    f"the row of {row[0]} ranks and {row[1]} bytes comes after that of {before[0]} and"
                    f" {before[1]}: rows are sorted by ranks, then bytes, each once"
                )
        return self


def _leaf(field: Field) -> Any:
    if field.unit is None:
        text = Literal[field.choices] if field.choices else Text
        return create_model(f"Text {field.path}", __base__=Leaf, value=(text, ...))
    if field.allowed == TABLE:
        return Table
    number = NUMBERS[field.allowed]
    bounds = (number if field.allowed != COUNT else NUMBERS[AT_LEAST_ONE],) * 2
    made = create_model(
        f"{field.allowed}, {field.unit}", __base__=Number, value=(number, ...),
        unit=(Literal[field.unit], ...), interval=(tuple[bounds], None),
    )  # fmt: skip
    if field.path.endswith(f".{MODELS}"):
        return dict[Annotated[str, Limits(pattern=r"^[a-z][a-z0-9_]*$")], made]
    return made


def _group(name: str, parts: dict[str, Any]) -> type[BaseModel]:
    fields = {
        key: (_group(f"{name}.{key}".lstrip("."), part), None) if isinstance(part, dict) else part
        for key, part in parts.items()
    }
    return create_model(name or "Profile", __base__=Strict, **fields)


def _schema() -> type[BaseModel]:
    tree: dict[str, Any] = {
        "format_version": (Annotated[Literal[1], BeforeValidator(no_boolean)], ...),
        "name": (Annotated[str, Limits(strict=True, pattern=NAME)], ...),
        "title": (Text, ...),
    }
    for field in FIELDS:
        assign(tree, field.path, (Annotated[_leaf(field), Limits(description=field.meaning)], None))
    return _group("", tree)


#: pydantic's model of a whole file. What is unknown is absent, never null.
ProfileFile = _schema()
