"""Profiles and machines of parts as tables, and as JSON."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table

from .fields import KINDS
from .parts import Link, Machine, Part
from .profile import Profile, Value


def overview(profiles: list[Profile]) -> Table:
    """One row per profile: how many values are known, by kind, and how many are not."""

    def of(kind: str) -> Callable[[Profile], int]:
        return lambda profile: sum(value.kind == kind for value in profile.values.values())

    columns = {
        Column("name", "name"): lambda profile: profile.name,
        **{Column(kind, kind): of(kind) for kind in KINDS},
        Column("unknown", "unknown"): lambda profile: len(profile.unknown()),
        Column("title", "machine"): lambda profile: profile.title,
    }
    return Table.of(columns, profiles)


def of_parts(found: list[Machine]) -> Table:
    """One row per machine of parts: how many nodes of which profile it has, and what is not known."""
    columns = {
        Column("name", "name"): lambda machine: machine.name,
        Column("parts", "nodes of each part"): lambda machine: ", ".join(map(_part, machine.parts.values())),
        Column("unknown", "unknown"): lambda machine: len(machine.unknown()),
        Column("title", "machine of parts"): lambda machine: machine.title,
    }
    return Table.of(columns, found)


def _part(part: Part) -> str:
    slower = "" if part.slower is None else f", {part.slower.value:g} times as slow"
    return f"{part.name}: {part.nodes} of {part.profile.name}{slower}"


def tables(machine: Profile | Machine) -> list[Table]:
    """Tables of a machine: its values; for a machine of parts, first its parts, and then
    one of each part and each link.
    """
    if not isinstance(machine, Machine):
        return [table(machine)]
    columns = {
        Column("part", "part"): lambda part: part.name,
        Column("nodes", "nodes"): lambda part: part.nodes,
        Column("profile", "profile"): lambda part: part.profile.name,
        Column("title", "title of the profile"): lambda part: part.profile.title,
    }
    parts = Table.of(columns, machine.parts.values(), machine.title)
    return [parts, *(table(group, f"{start}.…") for start, group in machine.groups.items())]


def table(group: Profile | Part | Link, title: str | None = None) -> Table:
    """One row per value: number or text, unit, interval, kind and reference. `title`: that of the profile."""
    columns = {
        Column("path", "path"): lambda row: row[0],
        Column("value", "value"): lambda row: _text(row[1].value),
        Column("unit", "unit"): lambda row: row[1].unit or "",
        Column("interval", "interval"): lambda row: (
            "" if row[1].interval is None else "{:g} to {:g}".format(*row[1].interval)
        ),
        Column("kind", "kind"): lambda row: row[1].kind,
        Column("reference", "reference"): lambda row: row[1].reference,
    }
    return Table.of(columns, group.values.items(), group.title if title is None else title)


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
