"""Profiles and machines of parts as tables, and as JSON."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table

from .fields import KINDS
from .parts import Link, Machine, Part
from .profile import Profile, Value


def overview(profiles: list[Profile]) -> Table:
    """One row per profile: how many values are known, by kind, and how many are not."""
    counts = [Column(kind, kind) for kind in (*KINDS, "unknown")]
    rows = []
    for profile in profiles:
        kinds = Counter(value.kind for value in profile.values.values())
        known = {kind: kinds[kind] for kind in KINDS}
        rows.append(
            {"name": profile.name, **known, "unknown": len(profile.unknown()), "title": profile.title}
        )
    return Table([Column("name", "name"), *counts, Column("title", "machine")], rows)


def of_parts(found: list[Machine]) -> Table:
    """One row per machine of parts: how many nodes of which profile it has, and what is not known."""
    rows = [
        {"name": machine.name, "parts": ", ".join(map(_part, machine.parts.values()))}
        | {"unknown": len(machine.unknown()), "title": machine.title}
        for machine in found
    ]
    heads = {"name": "name", "parts": "nodes of each part", "unknown": "unknown", "title": "machine of parts"}
    return Table([Column(name, head) for name, head in heads.items()], rows)


def _part(part: Part) -> str:
    slower = "" if part.slower is None else f", {part.slower.value:g} times as slow"
    return f"{part.name}: {part.nodes} of {part.profile.name}{slower}"


def tables(machine: Profile | Machine) -> list[Table]:
    """Tables of a machine: its values; for a machine of parts, first its parts, and then
    one of each part and each link.
    """
    if not isinstance(machine, Machine):
        return [table(machine)]
    rows = [
        {"part": part.name, "nodes": part.nodes, "profile": part.profile.name, "title": part.profile.title}
        for part in machine.parts.values()
    ]
    heads = {"part": "part", "nodes": "nodes", "profile": "profile", "title": "title of the profile"}
    parts = Table([Column(name, head) for name, head in heads.items()], rows, machine.title)
    return [parts, *(table(group, f"{start}.…") for start, group in machine.groups.items())]


def table(group: Profile | Part | Link, title: str | None = None) -> Table:
    """One row per value: number or text, unit, interval, kind and reference. `title`: that of the profile."""
    rows = [
        {"path": path, "value": _text(value.value), "unit": value.unit or "", "kind": value.kind}
        | {"interval": "" if value.interval is None else "{:g} to {:g}".format(*value.interval)}
        | {"reference": value.reference}
        for path, value in group.values.items()
    ]
    columns = [Column(name, name) for name in ("path", "value", "unit", "interval", "kind", "reference")]
    return Table(columns, rows, group.title if title is None else title)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(profile: Profile | Machine) -> str:
    """Unknown values of a profile, in one line; for a machine of parts, a line for each part and link."""
    groups = profile.groups if isinstance(profile, Machine) else {"": profile}
    return "\n".join(
        f"unknown{f' of {name}' if name else ''}: {', '.join(group.unknown()) or 'nothing'}"
        for name, group in groups.items()
    )


def content(machine: Profile | Machine) -> dict[str, Any]:
    """A profile or a machine of parts for JSON: what is known by path, and the paths of what is not."""
    head = {"name": machine.name, "title": machine.title}
    if not isinstance(machine, Machine):
        return head | _known(machine)
    parts = {
        name: {"profile": part.profile.name, "nodes": part.nodes, **_known(part)}
        for name, part in machine.parts.items()
    }
    return head | {"parts": parts, "links": {name: _known(link) for name, link in machine.links.items()}}


def _known(group: Profile | Part | Link) -> dict[str, Any]:
    values: dict[str, Value] = group.values
    return {"values": {path: asdict(value) for path, value in values.items()}, "unknown": group.unknown()}
