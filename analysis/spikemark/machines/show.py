"""Profiles as tables for the terminal, and as JSON."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from .fields import KINDS
from .profile import Profile

LONGEST = 16  # characters of a value beside its reference


def overview(profiles: list[Profile]):
    """A rich table of all profiles: how many values are known, by kind."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=None, pad_edge=False)
    for head in ("name", *KINDS, "unknown"):
        made.add_column(head, justify="left" if head == "name" else "right", no_wrap=True)
    made.add_column("machine")
    for profile in profiles:
        kinds = Counter(value.kind for value in profile.values.values())
        made.add_row(
            profile.name, *(str(kinds[k]) for k in KINDS), str(len(profile.unknown())), escape(profile.title)
        )
    return made


def table(profile: Profile):
    """A rich table of one profile: every value with unit, interval, kind and reference."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=escape(profile.title), title_justify="left", box=None, pad_edge=False)
    made.add_column("value", no_wrap=True)
    made.add_column(justify="right", overflow="fold", max_width=LONGEST)
    for head in ("unit", "interval", "kind"):
        made.add_column(head, no_wrap=True)
    made.add_column("reference", overflow="fold")
    for path, value in profile.values.items():
        interval = "" if value.interval is None else "{:g} to {:g}".format(*value.interval)
        cells = (path, _text(value.value), value.unit or "", interval, value.kind, escape(value.reference))
        made.add_row(*cells)
    return made


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} rows"
    return value if isinstance(value, str) else f"{value:.6g}"


def unknown(profile: Profile) -> str:
    """One line."""
    return f"unknown: {', '.join(profile.unknown()) or 'nothing'}"


def content(profile: Profile) -> dict[str, Any]:
    """For JSON."""
    return {
        "name": profile.name,
        "title": profile.title,
        "values": {path: asdict(value) for path, value in profile.values.items()},
        "unknown": profile.unknown(),
    }
