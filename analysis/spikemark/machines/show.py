"""Machines as tables and as JSON; their fields as a table of the docs and as a JSON Schema."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic.json_schema import models_json_schema

from spikemark.quantities.table import Column, Table

from .fields import FIELDS, KINDS, MachineFile, ProfileFile
from .parts import LINKS, PARTS, MachineOfParts
from .profile import Profile, ProfileValues, Value


def _table(rows: list[dict[str, Any]], caption: str, **headings: str) -> Table:
    """A table whose columns are the keys of the rows, which are the headings, too.

    `headings`: others, by key.
    """
    columns = [Column(name, headings.get(name, name)) for name in rows[0]]
    return Table(columns, rows, caption)


def overview(machines: Sequence[Profile | MachineOfParts]) -> Table:
    """One row per machine: how many values are known, by kind, and how many are not.

    Example:
        >>> from spikemark import machines
        >>> overview([machines.load("jureca-dc")]).rows[0]["literature"]
        22
    """
    rows = []
    for machine in machines:
        row: dict[str, Any] = {"name": machine.name}
        kinds = [value.kind for value in machine.values.values()]
        for kind in KINDS:
            row[kind] = kinds.count(kind)
        row["unknown"] = len(machine.unknown())
        row["title"] = machine.title
        rows.append(row)
    return _table(rows, "", title="machine")


def tables(machine: Profile | MachineOfParts) -> list[Table]:
    """A table of the values of a machine.

    Of a machine of parts, one for its parts, and one for each part and link.

    Example:
        >>> from spikemark import machines
        >>> table = tables(machines.load("jureca-dc"))[0]
        >>> [row["value"] for row in table.rows if row["path"] == "node.cores"]
        ['128']
    """
    result = []
    if isinstance(machine, MachineOfParts):
        rows = []
        for part in machine.parts.values():
            profile = {"profile": part.profile.name, "title": part.profile.title}
            rows.append({"part": part.name, "nodes": part.nodes, **profile})
        result.append(_table(rows, machine.title))
    for start, group in machine.groups.items():
        rows = [_row(path, value) for path, value in group.values.items()]
        result.append(_table(rows, f"{start}.…" if start else machine.title))
    return result


def _row(path: str, value: Value) -> dict[str, Any]:
    """A value as a row of a table."""
    return {
        "path": path,
        "value": _text(value.value),
        "unit": value.unit or "",
        "interval": _interval(value),
        "kind": value.kind,
        "reference": value.reference,
    }


def _interval(value: Value) -> str:
    """The interval of a value in words; empty where it has none."""
    if value.interval is None:
        return ""
    low, high = value.interval
    return f"{low:g} to {high:g}"


def beside(first: Profile | MachineOfParts, second: Profile | MachineOfParts) -> Table:
    """The values of two machines side by side; a word marks each row in which they differ.

    Example:
        >>> from spikemark import machines
        >>> table = beside(machines.load("jureca-dc"), machines.load("supermuc-ng"))
        >>> [row["differs"] for row in table.rows if row["path"] == "node.cores"]
        ['0.375 times']
    """
    left, right = _by_path(first), _by_path(second)
    rows: list[dict[str, Any]] = []
    for path in dict.fromkeys([*left, *right]):
        value, other = left.get(path), right.get(path)
        unit = (left | right)[path].unit
        if value is not None:
            unit = value.unit
        row = {"path": path, "unit": unit or "", "first": _cell(value), "second": _cell(other)}
        rows.append(row | {"differs": _difference(value, other)})
    heads = [first.name, second.name]
    if first.name == second.name:
        heads = [f"{first.name} (first)", f"{second.name} (second)"]
    columns = [Column("path", "path"), Column("unit", "unit"), Column("first", heads[0])]
    columns += [Column("second", heads[1]), Column("differs", "differs")]
    return Table(columns, rows, f"{first.title}, and {second.title}")


def _by_path(machine: Profile | MachineOfParts) -> dict[str, Value]:
    """All values of a machine; paths of a part or a link begin with its own."""
    values = {}
    for start, group in machine.groups.items():
        for path, value in group.values.items():
            values[f"{start}.{path}" if start else path] = value
    return values


def _cell(value: Value | None) -> str:
    """A value, its interval and its kind; nothing where it is unknown."""
    if value is None:
        return ""
    return f"{value_text(value)}, {value.kind}"


def value_text(value: Value) -> str:
    """A value, and its interval where it has one.

    Example:
        >>> from spikemark import machines
        >>> value_text(machines.load("jureca-dc").need("node.cores", "an example"))
        '128'
    """
    interval = f" ({_interval(value)})" if value.interval else ""
    return f"{_text(value.value)}{interval}"


def _difference(first: Value | None, second: Value | None) -> str:
    """How two values of one path differ; nothing where value, interval and kind are the same."""
    if first is None or second is None:
        return "one is unknown"
    if first.unit != second.unit:
        return "in the unit"
    if first.value != second.value:
        numbers = [value.value for value in (first, second)]
        if all(isinstance(number, int | float) and number > 0 for number in numbers):
            return f"{numbers[1] / numbers[0]:.3g} times"
        return "yes"
    if first.interval != second.interval:
        return "in the interval"
    return "" if first.kind == second.kind else "in the kind"


def _text(value: object) -> str:
    """A value for a table: a number, a text, or how many rows a table has."""
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(machine: Profile | MachineOfParts) -> str:
    """Unknown values, in one line; for a machine of parts, a line for each part and link.

    Example:
        >>> from spikemark import machines
        >>> "jitter.cv" in unknown(machines.load("jureca-dc"))
        True
    """
    lines = []
    for name, group in machine.groups.items():
        subject = f"unknown of {name}" if name else "unknown"
        lines.append(f"{subject}: {', '.join(group.unknown()) or 'nothing'}")
    return "\n".join(lines)


def machine_json(machine: Profile | MachineOfParts) -> dict[str, Any]:
    """A machine for JSON: what is known by path, and the paths of what is not.

    Example:
        >>> from spikemark import machines
        >>> cores = machine_json(machines.load("jureca-dc"))["values"]["node.cores"]
        >>> cores["value"], cores["kind"]
        (128, 'literature')
    """
    head = {"name": machine.name, "title": machine.title}
    if not isinstance(machine, MachineOfParts):
        return head | _known(machine)
    parts = {}
    for name, part in machine.parts.items():
        parts[name] = {"profile": part.profile.name, "nodes": part.nodes, **_known(part)}
    links = {name: _known(link) for name, link in machine.links.items()}
    return head | {PARTS: parts, LINKS: links}


def _known(group: ProfileValues) -> dict[str, Any]:
    """The values of equal nodes or a link for JSON, and the paths of what is unknown."""
    values = {path: asdict(value) for path, value in group.values.items()}
    return {"values": values, "unknown": group.unknown()}


def markdown() -> str:
    """All fields as a table of docs/machine-profile.md.

    Example:
        >>> markdown().splitlines()[0]
        '| path | unit | possible | meaning |'
    """
    lines = ["| path | unit | possible | meaning |", "| --- | --- | --- | --- |"]
    for field in FIELDS:
        path = f"{field.path}.MODEL" if field.models else field.path
        possible = ", ".join(f"`{choice}`" for choice in field.choices) or field.allowed
        lines.append(f"| `{path}` | {field.unit or ''} | {possible} | {field.meaning} |")
    return "\n".join(lines) + "\n"


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of files in machines/.

    A file with `parts` is a machine of parts, any other a profile. The schema cannot say that an
    interval contains its value, or that rows are sorted.

    Example:
        >>> json_schema()["title"]
        'Machine profile, or machine of parts'
    """
    kinds, shared = models_json_schema([(ProfileFile, "validation"), (MachineFile, "validation")])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Machine profile, or machine of parts",
        "if": {"required": [PARTS]},
        "then": kinds[MachineFile, "validation"],
        "else": kinds[ProfileFile, "validation"],
        **shared,
    }
