"""Machines as tables and as JSON; their fields as a table of the docs and as a JSON Schema for editors."""

from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table

from .fields import COUNT, FIELDS, KINDS, LIMITS, TABLE, TEXT, Field
from .parts import LINKS, OF_PARTS, PARTS, Link, Machine, Part
from .profile import MODEL, NAME, TREE, Profile


def overview(found: list[Profile | Machine]) -> Table:
    """One row per machine: how many values are known, by kind, and how many are not."""
    rows = [
        {"name": one.name, **{kind: sum(v.kind == kind for v in one.values.values()) for kind in KINDS},
         "unknown": len(one.unknown()), "title": one.title}
        for one in found
    ]  # fmt: skip
    return Table([Column(n, n) for n in ("name", *KINDS, "unknown")] + [Column("title", "machine")], rows)


def tables(machine: Profile | Machine) -> list[Table]:
    """A table of the values of a machine; of a machine of parts, one for its parts and each part and link."""
    if not isinstance(machine, Machine):
        return [table(machine, machine.title)]
    rows = [{"part": p.name, "nodes": p.nodes, "profile": p.profile.name, "title": p.profile.title}
            for p in machine.parts.values()]  # fmt: skip
    parts = Table([Column(name, name) for name in rows[0]], rows, machine.title)
    return [parts, *(table(group, f"{start}.…") for start, group in machine.groups.items())]


def table(group: Profile | Part | Link, title: str) -> Table:
    """One row per value: number or text, unit, interval, kind and reference."""
    rows = [
        {"path": path, "value": _text(v.value), "unit": v.unit or "", "kind": v.kind,
         "interval": "" if v.interval is None else "{:g} to {:g}".format(*v.interval),
         "reference": v.reference}
        for path, v in group.values.items()
    ]  # fmt: skip
    heads = ("path", "value", "unit", "interval", "kind", "reference")
    return Table([Column(name, name) for name in heads], rows, title)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(machine: Profile | Machine) -> str:
    """Unknown values, in one line; for a machine of parts, a line for each part and link."""
    groups = machine.groups if isinstance(machine, Machine) else {"": machine}
    return "\n".join(
        f"unknown{f' of {name}' if name else ''}: {', '.join(group.unknown()) or 'nothing'}"
        for name, group in groups.items()
    )


def content(machine: Profile | Machine) -> dict[str, Any]:
    """A machine for JSON: what is known by path, and the paths of what is not."""
    head = {"name": machine.name, "title": machine.title}
    if not isinstance(machine, Machine):
        return head | _known(machine)
    parts = {name: {"profile": part.profile.name, "nodes": part.nodes, **_known(part)}
             for name, part in machine.parts.items()}  # fmt: skip
    return head | {PARTS: parts, LINKS: {name: _known(link) for name, link in machine.links.items()}}


def _known(group: Profile | Part | Link) -> dict[str, Any]:
    return {"values": {p: asdict(value) for p, value in group.values.items()}, "unknown": group.unknown()}


def markdown() -> str:
    """All fields as a table of docs/machine-profile.md."""
    lines = ["| path | unit | possible | meaning |", "| --- | --- | --- | --- |"]
    for f in FIELDS:
        path = f"{f.path}.MODEL" if f.models else f.path
        possible = ", ".join(f"`{choice}`" for choice in f.choices) or f.allowed
        lines.append(f"| `{path}` | {f.unit or ''} | {possible} | {f.meaning} |")
    return "\n".join(lines) + "\n"


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of files in machines/: a file with `parts` is a machine of parts, any other a
    profile. It cannot say that an interval contains its value, or that rows are sorted."""
    head = {"format_version": {"const": 1}, "name": {"type": "string", "pattern": f"^{NAME}$"},
            "title": {"type": "string", "pattern": r"\S"}}  # fmt: skip
    profile = _group(TREE) | {"required": list(head)}
    profile["properties"] = head | profile["properties"]
    network = _group(TREE["interconnect"])
    nodes = {"anyOf": [{"type": "integer", "minimum": 1}, _leaf(OF_PARTS["nodes"])]}
    part = {"profile": {"type": "string"}, "nodes": nodes, "slower": _leaf(OF_PARTS["slower"]),
            "interconnect": network}  # fmt: skip
    of_part = _object(part, ["profile", "nodes"])
    parts = {"type": "object", "minProperties": 1, "additionalProperties": False,
             "patternProperties": {f"^{MODEL}$": of_part}}  # fmt: skip
    links = {"type": "object", "additionalProperties": network}
    machine = _object({**head, PARTS: parts, LINKS: links}, [*head, PARTS])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "title": "Machine profile, or machine of parts", "if": {"required": [PARTS]},
            "then": machine, "else": profile}  # fmt: skip


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": required}


def _group(tree: dict[str, Any]) -> dict[str, Any]:
    return _object({n: _group(f) if isinstance(f, dict) else _leaf(f) for n, f in tree.items()}, [])


def _leaf(field: Field) -> dict[str, Any]:
    origin = {"kind": {"enum": list(KINDS)}, "reference": {"type": "string", "pattern": r"\S"}}
    if field.allowed == TABLE:
        row = [{"type": "integer", "minimum": 2}, {"type": "integer", "minimum": 0},
               {"type": "number", "exclusiveMinimum": 0}]  # fmt: skip
        rows = {"type": "array", "minItems": 1,
                "items": {"type": "array", "prefixItems": row, "minItems": 3, "items": False}}  # fmt: skip
        made = _object({"rows": rows, **origin}, ["rows", *origin])
    elif field.allowed == TEXT:
        value = {"enum": list(field.choices)} if field.choices else {"type": "string", "pattern": r"\S"}
        made = _object({"value": value, **origin}, ["value", *origin])
    else:
        low, high = LIMITS[field.allowed]
        number = {"type": "number", "minimum": low, "maximum": high}
        value = number | ({"type": "integer"} if field.allowed == COUNT else {})
        interval = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
        own = {"value": value, "unit": {"const": field.unit}}
        made = _object({**own, **origin, "interval": interval}, [*own, *origin])
    made["description"] = field.meaning
    if field.models:
        return {"type": "object", "additionalProperties": False, "description": field.meaning,
                "patternProperties": {f"^{MODEL}$": made}}  # fmt: skip
    return made
