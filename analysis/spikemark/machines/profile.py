"""A machine profile in memory: values by path, each with its kind and reference."""

import copy
from dataclasses import dataclass, replace
from dataclasses import field as member
from typing import Any

from pydantic import ValidationError

from spikemark.core.errors import BadInput
from spikemark.core.fields import assign

from .accelerated import GROUP
from .complaint import impossible, one_line
from .fields import FIELDS, MODELS, TABLE, Field
from .schema import ProfileFile

HEAD = ("format_version", "name", "title")
FIELD = {field.path: field for field in FIELDS}
PATHS = tuple(FIELD)


class UnknownValue(BadInput):
    """A value is needed that the profile does not know."""


@dataclass(frozen=True)
class Value:
    """A leaf of a profile: `value` in `unit` (None for texts), or the rows (ranks, bytes, us) of a table.

    `kind`: measured | literature | assumed. `reference` says how or where, for assumed values why. `follows`:
    (path, "low" or "high", what this value is where the value at that path is at that limit). `open`: nobody
    stated this text, so that predictions take the worst of all choices.
    """

    value: Any
    unit: str | None
    kind: str
    reference: str
    interval: tuple[float, float] | None = None
    follows: tuple[tuple[str, str, float], ...] = ()
    open: bool = False


@dataclass(frozen=True)
class Profile:
    """A checked profile, made by `load`, `checked` or `assume`. Unknown quantities have no value."""

    name: str
    title: str
    values: dict[str, Value]
    content: dict[str, Any] = member(repr=False)  #: as in the file
    where: str = ""  #: the file, for complaints
    #: Of its stated values, one line each (plausible.py); known once it is filled.
    implausible: tuple[str, ...] = ()  #: what no machine is likely to have
    odd: tuple[str, ...] = ()  #: these, and what may be in a wrong unit

    def get(self, path: str) -> Value | None:
        """The value at a path such as node.cores; None if unknown. Raises BadInput for a wrong path."""
        if path not in self.values:
            field_of(path)
        return self.values.get(path)

    def need(self, path: str, purpose: str) -> Value:
        """The value at a path. Raises UnknownValue, naming the purpose, where there is none."""
        found = self.get(path)
        if found is None:
            raise UnknownValue(f"{self.name}: {path} is unknown, needed for {purpose}")
        return found

    def unknown(self) -> list[str]:
        """Paths without a value, in the order of the table of fields; those of accelerators only where the
        profile states anything of them.
        """
        known = {field_of(path).path for path in self.values}
        has = any(path.startswith(GROUP) for path in known)
        return [path for path in PATHS if path not in known and (has or not path.startswith(GROUP))]

    @property
    def assumptions(self) -> dict[str, Value]:
        """The assumed values by path; the reference of each says why."""
        return {path: value for path, value in self.values.items() if value.kind == "assumed"}

    def assume(self, path: str, value: Any, unit: str | None, why: str) -> "Profile":
        """This profile with another value at `path`, of the kind assumed. `unit`: None for texts.

        Raises BadInput for anything that a file must not contain either.
        """
        return self._with({path: _leaf(path, value, unit, why, self.name)})

    def assume_all(self, found: dict[str, tuple]) -> "Profile":
        """This profile with several assumed values: path -> value, in the unit of its field, why, and
        perhaps an interval.
        """
        leaves = {}
        for path, (value, why, *limits) in found.items():
            leaves[path] = _leaf(path, value, field_of(path).unit, why, self.name)
            if limits and limits[0]:
                leaves[path]["interval"] = list(limits[0])
        return self._with(leaves)

    def _with(self, leaves: dict[str, dict[str, Any]]) -> "Profile":
        if not leaves:
            return self
        content = copy.deepcopy(self.content)
        for path, leaf in leaves.items():
            assign(content, path, leaf)
        made = checked(content, f"{self.name}, assumed")
        kept = {path: value for path, value in self.values.items() if path not in leaves}
        values = {path: kept.get(path, value) for path, value in made.values.items()}
        return replace(made, values=values, implausible=self.implausible, odd=self.odd)


def field_of(path: str) -> Field:
    """The field of a path, including those of a neuron model's update.

    Raises BadInput where there is no such path.
    """
    group = path.rpartition(".")[0]
    listed = group if group.endswith(f".{MODELS}") else path
    if listed not in FIELD:
        raise BadInput(f"path {path!r}; allowed: {', '.join(PATHS)}")
    return FIELD[listed]


def _leaf(path: str, value: Any, given: str | None, why: str, name: str) -> dict[str, Any]:
    field = field_of(path)
    if field.allowed == TABLE:
        if given != field.unit:
            raise BadInput(f"{name}, assumed: {path}: unit={given!r}; allowed: {field.unit!r}")
        return {"rows": [list(row) for row in value], "kind": "assumed", "reference": why}
    leaf = {"value": value, "kind": "assumed", "reference": why}
    return leaf if given is None else {**leaf, "unit": given}


def checked(content: Any, where: str) -> Profile:
    """A profile from the content of a file. Raises BadInput naming `where`, the path, the value and what is
    allowed.
    """
    if not isinstance(content, dict):
        raise BadInput(f"{where}: a mapping of fields is needed: {', '.join(ProfileFile.model_fields)}")
    try:
        ProfileFile.model_validate(content)
    except ValidationError as error:
        raise BadInput(f"{where}: {one_line(error)}") from None
    values = dict(_leaves({k: v for k, v in content.items() if k not in HEAD}, ""))
    if complaint := impossible(values):
        raise BadInput(f"{where}: {complaint}")
    order = sorted(values, key=place)
    return Profile(content["name"], content["title"], {p: values[p] for p in order}, content, where)


def _leaves(group: dict[str, Any], path: str):
    for name, part in group.items():
        inside = f"{path}.{name}".lstrip(".")
        if not isinstance(part.get("kind"), str):  # a group, in which a model may have that name
            yield from _leaves(part, inside)
            continue
        value = tuple(map(tuple, part["rows"])) if "rows" in part else part["value"]
        interval = tuple(part["interval"]) if "interval" in part else None
        yield inside, Value(value, field_of(inside).unit, part["kind"], part["reference"], interval)


def place(path: str) -> int:
    """Where a path stands in the table of fields."""
    return PATHS.index(field_of(path).path)
