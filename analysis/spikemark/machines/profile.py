"""A machine profile in memory: values by path, each with its unit, kind and reference; and its checks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spikemark.core.errors import BadInput

from .fields import FIELD, FIELDS, KINDS, ORDERED, PATHS, TABLE, Field

NAME, MODEL = r"[A-Za-z0-9][A-Za-z0-9._-]*", r"[a-z][a-z0-9_]*"
#: Kernel times that 0.2 wrote and no model uses; a file that states them stays readable.
RETIRED = re.compile(r"kernels\.\w+\.(t_(ring|row|far|close)_\d+|t_row|t_leave|t_route)")
ACCELERATOR = "accelerator."  # the start of paths of nodes with accelerators, such as GPUs
Tree = dict[str, Any]


class UnknownValue(BadInput):
    """A value is needed that the profile does not know."""


@dataclass(frozen=True)
class Value:
    """A leaf of a profile: `value` in `unit` (None for texts), or the rows (ranks, bytes, us) of a table.

    `kind`: measured | literature | assumed. `reference` says how or where, for assumed values why.
    """

    value: Any
    unit: str | None
    kind: str
    reference: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Profile:
    """A checked profile, made by `load`, `checked` or `assume`. What is unknown has no value."""

    name: str
    title: str
    values: dict[str, Value]
    where: str = ""  #: the file, for complaints

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
        """Paths without a value, in the order of the fields; those of accelerators where there are some."""
        known = {field_of(path).path for path in self.values}
        return [p for p in PATHS if p not in known and (self.accelerated or not p.startswith(ACCELERATOR))]

    @property
    def accelerated(self) -> bool:
        """True if the profile states anything of accelerators."""
        return any(path.startswith(ACCELERATOR) for path in self.values)

    def refuse_accelerators(self) -> None:
        """Raises BadInput for a node with accelerators, where only CPU cores can be predicted."""
        if self.accelerated:
            raise BadInput(
                f"machine {self.name} has accelerators; expected CPU cores alone, of which predictions and"
                " simulations are. docs/machine-profile.md has published runs"
            )

    @property
    def assumptions(self) -> dict[str, Value]:
        """The assumed values by path; the reference of each says why."""
        return {path: value for path, value in self.values.items() if value.kind == "assumed"}

    def assume(self, path: str, value: Any, unit: str | None, why: str) -> "Profile":
        """This profile with another value at `path`, of the kind assumed. `unit`: None for texts.

        Raises BadInput for anything that a file must not contain either.
        """
        field = field_of(path)
        leaf = {"kind": "assumed", "reference": why}
        leaf |= {"rows": value} if field.allowed == TABLE else {"value": value}
        if unit is not None and (field.allowed != TABLE or unit != field.unit):
            leaf["unit"] = unit
        return self.with_values({path: value_of(leaf, field, path, f"{self.name}, assumed")})

    def assume_all(self, found: dict[str, tuple]) -> "Profile":
        """This profile with assumed values: path -> value, in its unit, why, and maybe an interval."""
        return self.with_values({
            path: Value(value, field_of(path).unit, "assumed", why, *interval)
            for path, (value, why, *interval) in found.items()
        })  # fmt: skip

    def with_values(self, changed: Mapping[str, Value]) -> "Profile":
        """This profile with other values. Raises BadInput for values that cannot be true together."""
        values = self.values | dict(changed)
        check_order(values, f"{self.name}, assumed")
        return replace(self, values={path: values[path] for path in sorted(values, key=place)})


def field_of(path: str) -> Field:
    """The field of a path, including those of a neuron model's update. Raises BadInput for a wrong path."""
    group = path.rpartition(".")[0]
    listed = group if group in FIELD and FIELD[group].models else path
    if listed not in FIELD:
        raise BadInput(f"path {path!r}; expected one of {', '.join(PATHS)}", field=path, code="unknown")
    return FIELD[listed]


def place(path: str) -> int:
    """Where a path stands among the fields."""
    return PATHS.index(field_of(path).path)


def tree() -> Tree:
    """The fields as groups of groups, as in a file."""
    found: Tree = {}
    for field in FIELDS:
        *groups, last = field.path.split(".")
        at = found
        for group in groups:
            at = at.setdefault(group, {})
        at[last] = field
    return found


TREE = tree()


def checked(content: Any, where: str) -> Profile:
    """A profile from the content of a file. Raises BadInput naming `where`, the path, its value and what is
    expected."""
    groups = check_head(content, where, TREE)
    values = dict(read_group(groups, TREE, "", where))
    check_order(values, where)
    order = sorted(values, key=place)
    return Profile(content["name"], content["title"], {p: values[p] for p in order}, where)


def check_head(content: Any, where: str, groups: Mapping[str, Any]) -> dict[str, Any]:
    """Checks version, name and title of a file, and that it has no other groups; returns the groups."""
    if not isinstance(content, dict):
        raise BadInput(f"{where}: expected a mapping of format_version, name, title, {', '.join(groups)}")
    head = {
        "format_version": (lambda v: v == 1 and type(v) is int, "1"),
        "name": (lambda v: _text(v) and re.fullmatch(NAME, v), "letters, digits, '.', '_' or '-'"),
        "title": (_text, "a text"),
    }
    for name, (fits, expected) in head.items():
        if name not in content:
            raise BadInput(f"{where}: {name}: missing; expected {expected}", field=name, code="missing")
        if not fits(content[name]):
            raise BadInput.of(name, content[name], expected, file=where)
    known_only(content, [*head, *groups], "", where)
    return {name: part for name, part in content.items() if name not in head}


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def known_only(content: dict, names: Iterator[str] | list[str], path: str, where: str) -> None:
    """Raises BadInput for a key that is not among the names."""
    for name in content:
        if name not in names:
            at = f"{path}.{name}".lstrip(".")
            line = f"{where}: {at}: unknown field; expected one of {', '.join(names)}"
            raise BadInput(line, field=at, code="unknown")


def read_group(content: Any, fields: Tree, path: str, where: str) -> Iterator[tuple[str, Value]]:
    """The values by path of a group such as `node`, or of `interconnect` alone."""
    if not isinstance(content, dict):
        raise BadInput.of(path, content, f"a mapping of {', '.join(fields)}", file=where, code="type")
    content = {name: part for name, part in content.items() if not RETIRED.fullmatch(f"{path}.{name}")}
    known_only(content, list(fields), path, where)
    for name, part in content.items():
        field, at = fields[name], f"{path}.{name}".lstrip(".")
        if isinstance(field, dict):
            yield from read_group(part, field, at, where)
        elif not field.models:
            yield at, value_of(part, field, at, where)
        else:
            if not isinstance(part, dict):
                raise BadInput.of(at, part, "a mapping of neuron models", file=where, code="type")
            for model, leaf in part.items():
                if not re.fullmatch(MODEL, str(model)):
                    expected = "a name of lower-case letters, digits and '_'"
                    raise BadInput.of(f"{at}.{model}", model, expected, file=where)
                yield f"{at}.{model}", value_of(leaf, field, f"{at}.{model}", where)


def value_of(leaf: Any, field: Field, path: str, where: str) -> Value:
    """The value of a leaf. Raises BadInput naming the part of it that is wrong."""

    def wrong(part: str, expected: str, code: str = "value") -> BadInput:
        return BadInput.of(f"{path}.{part}", leaf.get(part), expected, file=where, code=code)

    own = "rows" if field.allowed == TABLE else "value"
    has_unit = field.unit is not None and own == "value"
    needed = [own, *["unit"] * has_unit, "kind", "reference"]
    if not isinstance(leaf, dict):
        raise BadInput.of(path, leaf, f"a mapping with {', '.join(needed)}", file=where, code="type")
    known_only(leaf, [*needed, *["interval"] * has_unit], path, where)
    for part in needed:
        if part not in leaf:
            line = f"{where}: {path}.{part}: missing; expected a mapping with {', '.join(needed)}"
            raise BadInput(line, field=f"{path}.{part}", code="missing")
    if leaf["kind"] not in KINDS:
        raise wrong("kind", f"one of {', '.join(KINDS)}", "unknown")
    if not _text(leaf["reference"]):
        raise wrong("reference", "a text")
    if has_unit and leaf["unit"] != field.unit:
        raise wrong("unit", f"{field.unit!r}{' in quotes' * (field.unit == '1')}")
    if own == "rows":
        _check_rows(leaf["rows"], f"{path}.rows", where)
        rows = tuple(map(tuple, leaf["rows"]))
        return Value(rows, field.unit, leaf["kind"], leaf["reference"])
    if not field.holds(leaf["value"]):
        raise wrong("value", field.expected, "range")
    interval = leaf.get("interval")
    if "interval" in leaf:
        if not isinstance(interval, list | tuple) or len(interval) != 2:
            raise wrong("interval", "two numbers")
        if not all(field.holds(end, end=True) for end in interval):
            raise wrong("interval", f"two numbers, each {field.expected}", "range")
        if not interval[0] <= leaf["value"] <= interval[1]:
            raise wrong("interval", f"ends around the value {leaf['value']:g}", "range")
        interval = tuple(interval)
    return Value(leaf["value"], field.unit, leaf["kind"], leaf["reference"], interval)


def _check_rows(rows: Any, path: str, where: str) -> None:
    """Rows of a table are ranks, bytes and microseconds, sorted by ranks, then bytes, each once."""
    if not isinstance(rows, list | tuple) or not rows:
        raise BadInput.of(path, rows, "at least one row", file=where)
    before = (0, 0)
    for number, row in enumerate(rows):
        fits = isinstance(row, list | tuple) and len(row) == 3
        ranks, size, duration = row if fits else (0, 0, 0)
        fits = (
            fits and type(ranks) is int and 2 <= ranks <= 10**9 and type(size) is int and 0 <= size <= 10**15
        )
        if not fits or not FIELD["interconnect.latency"].holds(duration):
            expected = "ranks (2 or more), bytes and microseconds above 0"
            raise BadInput.of(f"{path}.{number}", row, expected, file=where)
        if (ranks, size) <= before:
            expected = "rows sorted by ranks, then bytes, each once"
            raise BadInput.of(f"{path}.{number}", row, expected, file=where)
        before = (ranks, size)


def check_order(values: Mapping[str, Value], where: str) -> None:
    """Raises BadInput for values that cannot be true together."""
    for small, large in ORDERED:
        if small in values and large in values and values[small].value > values[large].value:
            both = ", ".join(f"{path}={values[path].value:g}" for path in (small, large))
            raise BadInput(f"{where}: {both}; expected {small} up to {large}", field=small, code="conflict")
