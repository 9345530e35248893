"""The fields of machine profiles, a row of fields.csv for each; pydantic models of the files in machines/."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Strict, ValidationInfo, create_model, field_validator
from pydantic import Field as Of

COUNT, AT_LEAST_ONE, TEXT, TABLE = "count", "at least one", "text", "table"
#: Limits of each kind of number, in its unit.
LIMITS = {COUNT: (1, 10**9), "positive": (1e-12, 1e12), "not negative": (0, 1e12), "share": (0, 1),
          AT_LEAST_ONE: (1, 1e12)}  # fmt: skip
KINDS = ("measured", "literature", "assumed")
MODELS = ".update"  # the end of paths below which values go by neuron model
FABRIC, ACCELERATOR, NETWORK = "interconnect.fabric", "accelerator.", "interconnect"
SLOWER = "slower"  # of a part: a factor of its kernel times
#: Tables of collectives, by how their ranks lie on nodes.
WITHIN, BETWEEN, FULL = "tables", "tables_between", "tables_full"
LAYOUTS = {
    WITHIN: "ranks of one node, or as the reference says",
    BETWEEN: "one rank on each node",
    FULL: "a rank on every core of each node",
}
#: Pairs of which the first must not be larger than the second.
ORDERED = (("node.sockets", "node.cores"), ("node.l3_cores", "node.cores"),
           ("node.bandwidth_core", "node.bandwidth"), ("node.bandwidth", "node.bandwidth_peak"))  # fmt: skip

Text = Annotated[str, Of(pattern=r"\S")]
Model = Annotated[str, Of(pattern="^[a-z][a-z0-9_]*$")]  # names of neuron models, and of parts


class Fields(BaseModel, extra="forbid"):
    """A mapping that may have no other fields."""


class Leaf(Fields):
    """A value of a file says how it is known, and where it comes from."""

    kind: Literal[KINDS]
    reference: Text


Row = tuple[
    Annotated[int, Strict(), Of(ge=2, le=10**9)],
    Annotated[int, Strict(), Of(ge=0, le=10**15)],
    Annotated[float, Strict(), Of(ge=1e-12, le=1e12)],
]


class Rows(Leaf):
    """A table: rows of ranks, bytes (from each rank to each other one) and microseconds."""

    rows: list[Row] = Of(min_length=1)

    @field_validator("rows")
    @classmethod
    def _ascend(cls, rows: list[tuple]) -> list[tuple]:
        for before, row in pairwise(rows):
            if row[:2] <= before[:2]:
                raise ValueError(f"row {row}: expected rows sorted by ranks, then bytes, each once")
        return rows


class Number(Leaf):
    """A number in a unit, perhaps with the interval that holds it in 95 % of cases."""

    value: Any
    unit: str
    interval: list[float] = []

    @field_validator("interval")
    @classmethod
    def _around(cls, ends: list[float], info: ValidationInfo) -> list[float]:
        if "value" in info.data and not ends[0] <= info.data["value"] <= ends[1]:
            raise ValueError(f"expected ends around the value {info.data['value']:g}")
        return ends


def number(allowed: str, whole: bool = False) -> Any:
    """The type of a number of one of LIMITS."""
    low, high = LIMITS[allowed]
    return Annotated[int if whole else float, Strict(), Of(ge=low, le=high)]


@lru_cache
def leaf(allowed: str, unit: str | None = None, choices: tuple[str, ...] = ()) -> Any:
    """The model of a value in a file."""
    if allowed == TABLE:
        return Rows
    if allowed == TEXT:
        return create_model(TEXT, __base__=Leaf, value=Literal[choices] if choices else Text)
    ends = Annotated[list[number(allowed)], Of(min_length=2, max_length=2)]  # type: ignore[misc]
    own = {"value": number(allowed, allowed == COUNT), "unit": Literal[unit], "interval": (ends, [])}
    return create_model(f"{allowed} in {unit}", __base__=Number, **own)


@dataclass(frozen=True)
class Field:
    """A value at `path`. Texts have no unit; `choices` of a text, if only some are possible."""

    path: str
    unit: str | None
    allowed: str
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def models(self) -> bool:
        """True if the field has a value for every neuron model."""
        return self.path.endswith(MODELS)

    @property
    def leaf(self) -> Any:
        """The model of its value in a file."""
        return leaf(self.allowed, self.unit, self.choices)


def _field(path: str, unit: str, expected: str, meaning: str) -> Field:
    choices = tuple(expected.split("|")) if "|" in expected else ()
    return Field(path, unit or None, TEXT if choices else expected, meaning, choices)


with Path(__file__).with_name("fields.csv").open(newline="") as file:
    FIELD = {row["path"]: _field(**row) for row in csv.DictReader(file)}
FIELDS, PATHS = list(FIELD.values()), tuple(FIELD)


class Head(Fields):
    """What every file in machines/ begins with."""

    format_version: Annotated[int, Strict()] = Of(ge=1, le=1)
    name: str = Of(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: Text


def named(of: Any, **limits: int) -> Any:
    """The type of a mapping of neuron models or parts by name."""
    return Annotated[dict[Model, of], Of(json_schema_extra={"additionalProperties": False}, **limits)]


def _group(name: str, base: Any = Fields, within: str = "") -> Any:
    """The model of a group of fields, such as `node`; or, as `base` a head, of all of them."""
    made: dict[str, Any] = {}
    for path, field in FIELD.items():
        part, _, more = path.removeprefix(within).partition(".")
        if path.startswith(within) and part not in made:
            one = _group(part, within=f"{within}{part}.") if more else field.leaf
            made[part] = (named(one) if field.models and not more else one,
                          Of(None, description=None if more else field.meaning))  # fmt: skip
    return create_model(name, __base__=base, **made)


ProfileFile = _group("profile", Head)
Network = _group(NETWORK, within=f"{NETWORK}.")


class PartFile(Fields):
    """A part of a machine: so many nodes of a profile, perhaps slower, perhaps with another network."""

    profile: str
    nodes: number(COUNT, whole=True) | leaf(COUNT, "1")  # type: ignore[valid-type]
    slower: leaf(AT_LEAST_ONE, "1") = None  # type: ignore[valid-type]
    interconnect: Network = None


class MachineFile(Head):
    """A machine of parts, with links between all of them."""

    parts: named(PartFile, min_length=1)  # type: ignore[valid-type]
    links: dict[str, Network] = {}
