"""Profiles as tables, and as JSON."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table

from .fields import KINDS
from .profile import Profile


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


def table(profile: Profile) -> Table:
    """One row per value of a profile: number or text, unit, interval, kind and reference."""
    rows = [
        {"path": path, "value": _text(value.value), "unit": value.unit or "", "kind": value.kind}
        | {"interval": "" if value.interval is None else "{:g} to {:g}".format(*value.interval)}
        | {"reference": value.reference}
        for path, value in profile.values.items()
    ]
    columns = [Column(name, name) for name in ("path", "value", "unit", "interval", "kind", "reference")]
    return Table(columns, rows, profile.title)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(profile: Profile) -> str:
    """What a profile does not know, in one line."""
    return f"unknown: {', '.join(profile.unknown()) or 'nothing'}"


def content(profile: Profile) -> dict[str, Any]:
    """A profile for JSON."""
    return {
        "name": profile.name,
        "title": profile.title,
        "values": {path: asdict(value) for path, value in profile.values.items()},
        "unknown": profile.unknown(),
    }
