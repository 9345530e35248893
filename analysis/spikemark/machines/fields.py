"""The fields of machine profiles, and pydantic models of the files in machines/.

fields.csv beside this file has a row for each value that a profile may state: path, unit, what is
expected, meaning. The models of groups of values (`node`, `interconnect`, ...) are made from it.
"""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    Strict,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from . import units

COUNT, AT_LEAST_ONE, TEXT, TABLE = "count", "at least one", "text", "table"
#: Limits of each kind of number, in its unit.
LIMITS = {
    COUNT: (1, 10**6),
    "positive": (1e-12, 1e12),
    "not negative": (0, 1e12),
    "share": (0, 1),
    AT_LEAST_ONE: (1, 1e12),
}
#: How a value is known.
Kind = Literal["measured", "literature", "assumed"]
KINDS: tuple[str, ...] = get_args(Kind)
#: End of paths below which values go by neuron model.
MODELS = ".update"
#: What vendors call kinds of networks: patterns of lower-case words with dashes.
CALLED = {
    "ethernet": r"\brocev?\d*\b|\d*gbe\b|\bgige\b|\bethernet\b|\biwarp\b",
    "infiniband": r"^ib$|infiniband|\b(qdr|fdr|edr|hdr|ndr|xdr)\d*\b",
    "omni-path": r"^opa\d*$|omni-?path",
    "slingshot": r"slingshot",
    "fat_tree": r"fat-?tree|\bclos\b|leaf-spine|spine-leaf",
    "dragonfly": r"dragonfly",
    "star": r"^(one|single)-switch$",
    "ompi": r"open-?mpi",
    "impi": r"intel-?mpi",
}
FABRIC, ACCELERATOR, NETWORK = "interconnect.fabric", "accelerator.", "interconnect"
#: Of a part: a factor of its kernel times.
SLOWER = "slower"
#: Tables of collectives, by how their ranks lie on nodes.
WITHIN, BETWEEN, FULL = "tables", "tables_between", "tables_full"
LAYOUTS = {
    WITHIN: "ranks of one node, or as the reference says",
    BETWEEN: "one rank on each node",
    FULL: "a rank on every core of each node",
}
#: Pairs of which the first must not be larger than the second.
ORDERED = (
    ("node.sockets", "node.cores"),
    ("node.clock", "node.clock_turbo"),
    ("node.l3_cores", "node.cores"),
    ("node.bandwidth_core", "node.bandwidth"),
    ("node.bandwidth", "node.bandwidth_peak"),
)
#: Meanings of groups of fields, by the last part of their path; others have none.
GROUPS = {
    "node": "cores, caches and memory of a node",
    "kernels": "times of the steps of a cycle",
    "one_core": "with one core at work",
    "full_node": "with all cores of the node at work",
    "update": "by neuron model",
    "jitter": "how compute times vary",
    "interconnect": "messages within nodes and between them",
    "power": "power of a node",
    "price": "what a node costs",
    "offer": "what a bidder offers",
    "software": "programs and libraries",
    "accelerator": "accelerators of a node",
} | {name: f"measured times of collectives: {layout}" for name, layout in LAYOUTS.items()}

Text = Annotated[str, Field(pattern=r"\S")]
#: Names of neuron models, and of parts.
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]


class ProfileFields(BaseModel, extra="forbid", defer_build=True):
    """A mapping that may have no other fields."""


class Leaf(ProfileFields):
    """A value of a file says how it is known, and where it comes from."""

    kind: Kind = Field(description="how the value is known")
    reference: Text = Field(description="how or where; for assumed values why")

    @model_validator(mode="before")
    @classmethod
    def _is_no_bare_value(cls, stated: object) -> object:
        if stated is None or isinstance(stated, dict | list):
            return stated
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        others = ", ".join(f"{name}: …" for name in required if name != "value")
        raise ValueError(f"expected {{value: {stated}, {others}}}")


Row = tuple[
    Annotated[int, Strict(), Field(ge=2, le=10**9)],
    Annotated[int, Strict(), Field(ge=0, le=10**15)],
    Annotated[float, Strict(), Field(ge=1e-12, le=1e12)],
]


class Rows(Leaf):
    """A table of times of a collective."""

    rows: list[Row] = Field(
        min_length=1,
        description="ranks, bytes from each rank to each other one, microseconds; ascending",
    )

    @field_validator("rows")
    @classmethod
    def _ascend(cls, rows: list[Row]) -> list[Row]:
        for before, row in pairwise(rows):
            if row[:2] <= before[:2]:
                raise ValueError(f"row {row}: expected rows sorted by ranks, then bytes, each once")
        return rows


class Number(Leaf):
    """A number in a unit, perhaps with the interval that holds it in 95 % of cases."""

    value: Any = Field(description="the number, in `unit`")
    unit: str = Field(description="unit of the value")
    interval: list[float] = Field([], description="95 % interval around the value")

    @field_validator("interval")
    @classmethod
    def _around(cls, ends: list[float], info: ValidationInfo) -> list[float]:
        if "value" in info.data and not ends[0] <= info.data["value"] <= ends[1]:
            raise ValueError(f"expected ends around the value {info.data['value']:g}")
        return ends


def _number(allowed: str, whole: bool = False) -> Any:
    """The type of a number.

    Args:
        allowed: one of LIMITS.
        whole: True for an integer.
    """
    low, high = LIMITS[allowed]
    return Annotated[int if whole else float, Strict(), Field(ge=low, le=high)]


def _pair(kind: Any) -> Any:
    """The type of a list of two."""
    return Annotated[list[kind], Field(min_length=2, max_length=2)]


def _unit(expected: str | None) -> Any:
    """The type of the unit of a number: another one is refused with the value in this unit."""

    def check(stated: object, info: ValidationInfo) -> Any:
        number = info.data.get("value")
        if isinstance(stated, str) and expected and number is not None and stated != expected:
            in_unit = units.converted(number, stated, expected)
            if in_unit is not None:
                same = f"{number:g} {stated} are {in_unit:.6g} {expected}"
                raise ValueError(f"expected {expected!r}: {same}")
        return stated

    return Annotated[Literal[expected], BeforeValidator(check)]


def _meant_choice(choices: tuple[str, ...]) -> Any:
    """A check of a text: what vendors call one of the choices is refused with that choice."""

    def check(stated: object) -> Any:
        if not isinstance(stated, str) or stated in choices:
            return stated
        words = re.sub(r"[\s_-]+", "-", stated.strip().lower())
        for choice in choices:
            pattern = CALLED.get(choice)
            if words == choice or (pattern is not None and re.search(pattern, words)):
                raise ValueError(f"expected {choice!r}, as this is called here")
        return stated

    return check


@lru_cache
def _leaf(allowed: str, unit: str | None = None, choices: tuple[str, ...] = ()) -> Any:
    """The model of a value in a file.

    Args:
        allowed: one of LIMITS, TEXT or TABLE.
        unit: of a number.
        choices: of a text, if only some are possible.
    """
    if allowed == TABLE:
        return Rows
    types: dict[str, Any] = {}
    if allowed == TEXT:
        text: Any = Text
        if choices:
            text = Annotated[Literal[choices], BeforeValidator(_meant_choice(choices))]
        types["value"] = (text, Field(description="the text"))
        return create_model(TEXT, __base__=Leaf, **types)
    is_whole = allowed == COUNT
    types["value"] = (_number(allowed, is_whole), Field(description="the number, in `unit`"))
    types["unit"] = (_unit(unit), Field(description="unit of the value"))
    interval: Any = Field([], description="95 % interval around the value")
    types["interval"] = (_pair(_number(allowed)), interval)
    return create_model(f"{allowed} in {unit}", __base__=Number, **types)


@dataclass(frozen=True)
class MachineField:
    """A value that a machine profile may state."""

    path: str  #: such as node.cores
    unit: str | None  #: None for texts
    allowed: str  #: one of LIMITS, TEXT or TABLE
    meaning: str  #: in words
    choices: tuple[str, ...] = ()  #: of a text, if only some are possible

    @property
    def models(self) -> bool:
        """True if the field has a value for every neuron model."""
        return self.path.endswith(MODELS)

    @property
    def leaf(self) -> Any:
        """The model of its value in a file."""
        return _leaf(self.allowed, self.unit, self.choices)


def _fields_of_table() -> dict[str, MachineField]:
    """The rows of fields.csv, by path."""
    fields = {}
    with Path(__file__).with_name("fields.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            choices: tuple[str, ...] = ()
            allowed = row["expected"]
            if "|" in allowed:
                choices = tuple(allowed.split("|"))
                allowed = TEXT
            path, unit = row["path"], row["unit"] or None
            fields[path] = MachineField(path, unit, allowed, row["meaning"], choices)
    return fields


#: The fields, by path.
FIELD = _fields_of_table()
FIELDS = list(FIELD.values())
PATHS = tuple(FIELD)


class Head(ProfileFields):
    """What every file in machines/ begins with."""

    format_version: Annotated[int, Strict()] = Field(ge=1, le=1, description="of this format: 1")
    name: str = Field(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$", description="as commands take it; the file's name"
    )
    title: Text = Field(description="for readers; up to a colon, it stands in tables")


def _by_name(kind: Any, min_length: int = 0) -> Any:
    """The type of a mapping of neuron models or parts by name."""
    no_others = Field(
        min_length=min_length or None, json_schema_extra={"additionalProperties": False}
    )
    return Annotated[dict[Name, kind], no_others]


@lru_cache  # networks stand in profiles, in parts and between these
def _group(name: str, base: Any = ProfileFields, within: str = "") -> Any:
    """The model of a group of fields.

    Args:
        name: of the group, such as `node`.
        base: the model that it extends.
        within: the start of its paths, with a dot; all fields by default.
    """
    types: dict[str, Any] = {}
    for path, field in FIELD.items():
        part, _, rest = path.removeprefix(within).partition(".")
        if not path.startswith(within) or part in types:
            continue
        if rest:
            kind = _group(part, within=f"{within}{part}.")
            description = GROUPS.get(part)
        else:
            kind = _by_name(field.leaf) if field.models else field.leaf
            description = field.meaning
        types[part] = (kind, Field(None, description=description))
    return create_model(name, __base__=base, **types)


Id = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class ProfileHead(Head):
    """What the file of a profile begins with: besides its name, what it is."""

    measured_as: Id | None = Field(
        None, description="the machine of machines/ that this is, so that its measured runs count"
    )
    processor: Id | None = Field(
        None, description="its processor; the kernels of machines with the same one are alike"
    )


ProfileFile = _group("profile", ProfileHead)
_Network = _group(NETWORK, within=f"{NETWORK}.")
_count_or_value: Any = _number(COUNT, whole=True) | _leaf(COUNT, "1")
_links: Any = GenericAlias(dict, (str, _Network))

PartFile: Any = create_model(
    "PartFile",
    __base__=ProfileFields,
    __doc__="A part of a machine: some nodes of a profile, perhaps slower or with another network.",
    profile=(str, Field(description="name of the profile, or its file beside this one")),
    nodes=(_count_or_value, Field(description="number of nodes")),
    slower=(_leaf(AT_LEAST_ONE, "1"), Field(None, description="factor of all kernel times")),
    interconnect=(_Network, Field(None, description="what differs here from the profile")),
)

MachineFile: Any = create_model(
    "MachineFile",
    __base__=Head,
    __doc__="A machine of parts, with links between all of them.",
    parts=(_by_name(PartFile, min_length=1), Field(description="in the order in which ranks fill")),
    links=(_links, Field({}, description="network between two parts, by FIRST-SECOND")),
)
