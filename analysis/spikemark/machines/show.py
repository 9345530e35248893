"""Machines as tables and as JSON; their fields as a table of the docs and as a JSON Schema for editors."""

from dataclasses import asdict
from typing import Any

from pydantic.json_schema import models_json_schema

from spikemark.quantities.table import Column, Table

from .fields import FIELDS, KINDS, MachineFile, ProfileFile
from .parts import LINKS, PARTS, Machine
from .profile import Group, Profile


def _table(rows: list[dict[str, Any]], caption: str, **headings: str) -> Table:
    """The keys of the rows are the headings, but for `headings`."""
    return Table([Column(name, headings.get(name, name)) for name in rows[0]], rows, caption)


def overview(found: list[Profile | Machine]) -> Table:
    """One row per machine: how many values are known, by kind, and how many are not."""
    rows = [
        {"name": one.name, **{kind: sum(v.kind == kind for v in one.values.values()) for kind in KINDS},
         "unknown": len(one.unknown()), "title": one.title}
        for one in found
    ]  # fmt: skip
    return _table(rows, "", title="machine")


def tables(machine: Profile | Machine) -> list[Table]:
    """A table of the values of a machine; of a machine of parts, one for its parts and each part and link."""
    found = []
    if isinstance(machine, Machine):
        each = [(part, part.profile) for part in machine.parts.values()]
        rows = [{"part": p.name, "nodes": p.nodes, "profile": of.name, "title": of.title} for p, of in each]
        found.append(_table(rows, machine.title))
    for start, group in machine.groups.items():
        rows = [
            {"path": path, "value": _text(v.value), "unit": v.unit or "",
             "interval": "" if v.interval is None else "{:g} to {:g}".format(*v.interval),
             "kind": v.kind, "reference": v.reference}
            for path, v in group.values.items()
        ]  # fmt: skip
        found.append(_table(rows, f"{start}.…" if start else machine.title))
    return found


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(machine: Profile | Machine) -> str:
    """Unknown values, in one line; for a machine of parts, a line for each part and link."""
    return "\n".join(
        f"unknown{f' of {name}' if name else ''}: {', '.join(group.unknown()) or 'nothing'}"
        for name, group in machine.groups.items()
    )


def content(machine: Profile | Machine) -> dict[str, Any]:
    """A machine for JSON: what is known by path, and the paths of what is not."""
    head = {"name": machine.name, "title": machine.title}
    if not isinstance(machine, Machine):
        return head | _known(machine)
    parts = {name: {"profile": part.profile.name, "nodes": part.nodes, **_known(part)}
             for name, part in machine.parts.items()}  # fmt: skip
    return head | {PARTS: parts, LINKS: {name: _known(link) for name, link in machine.links.items()}}


def _known(group: Group) -> dict[str, Any]:
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
    kinds, shared = models_json_schema([(ProfileFile, "validation"), (MachineFile, "validation")])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "title": "Machine profile, or machine of parts", "if": {"required": [PARTS]},
            "then": kinds[MachineFile, "validation"], "else": kinds[ProfileFile, "validation"],
            **shared}  # fmt: skip
