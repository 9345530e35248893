"""Tells from the names of the columns in a CSV of power what they contain."""

import re
from dataclasses import dataclass

from spikemark.core.errors import BadInput, shown

WATTS = {"mW": 1e-3, "W": 1.0, "kW": 1e3}
#: As people write them; not MW, which is no power of anything measured here, and mW in all likelihood.
SPELLINGS = WATTS | {
    "mw": 1e-3,
    "w": 1.0,
    "kw": 1e3,
    **dict.fromkeys(("watt", "watts", "Watt", "Watts"), 1.0),
}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
TIMES = ("time", "timestamp", "datetime", "date_time", "date", "epoch", "epochtime", "elapsed", "t")
#: A column of this name surely holds power, so that a missing unit is an error and not another quantity.
POWER = re.compile(r"power|watt", re.IGNORECASE)
#: A column of this name tells the rows of several meters apart.
LABELS = ("node", "host", "outlet", "sensor", "channel")
_UNIT = re.compile(r"(?P<base>.*?)(?:\s*[\[(]\s*(?P<bracket>\w+)\s*[\])]|[_\s](?P<bare>\w+))?\s*")


@dataclass(frozen=True)
class Column:
    """A column; `factor` turns its numbers into seconds or watts."""

    index: int
    name: str
    factor: float


@dataclass(frozen=True)
class Header:
    """The columns that are used; `ignored` are the names of the others."""

    time: Column
    power: list[Column]
    ignored: list[str]


def row_label(names: list[str]) -> int | None:
    """Place of the column that says which meter a row is of; None where there is none."""
    return next((i for i, name in enumerate(names) if name.strip().lower() in LABELS), None)


def read_header(
    names: list[str], where: str, channels: list[str] | None = None, meters: list[str] | None = None
) -> Header:
    """Reads a header; `where` names file and line, `channels` the only columns to use, with or without unit.

    `meters`: what else a channel may be called, by the rows.

    Raises BadInput if there is no column of time or power, for power without a unit, and for unknown
    channels.
    """
    names = [name.strip() for name in names]
    if len({*names}) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"{where}: column {twice!r} occurs twice; every column needs its own name")
    time = next((found for i, name in enumerate(names) if (found := _time(i, name))), None)
    if time is None:
        raise BadInput(
            f"{where}: no column of time in {shown(', '.join(names))}; allowed: {', '.join(TIMES)}, also"
            f" with a unit ({', '.join(SECONDS)}), commas between columns"
        )
    power = [column for i, name in enumerate(names) if i != time.index and (column := _power(i, name))]
    found = [column.name for column in power]
    wanted = _chosen(power, names, where, channels, meters or []) if channels else power
    bare = [n for n in names if n not in found and n != time.name and POWER.search(n)]
    if not wanted or (bare and not channels):
        name = (bare or [n for n in names if n != time.name] or ["power"])[0]
        raise BadInput(
            f"{where}: column {name!r} has no unit of power; allowed: {', '.join(WATTS)}, as in 'power [W]'"
        )
    used = {time.name, *(column.name for column in wanted)} | ({names[row_label(names)]} if meters else set())
    return Header(time, wanted, [name for name in names if name not in used])


def base(name: str) -> str:
    """A column's name without its unit."""
    return _UNIT.fullmatch(name)["base"].strip()


def _parts(name: str) -> tuple[str, str]:
    found = _UNIT.fullmatch(name)
    return found["base"].strip(), found["bracket"] or found["bare"] or ""


def _time(index: int, name: str) -> Column | None:
    stem, unit = _parts(name)
    for word, factor in ((name, 1.0), (stem, SECONDS.get(unit))):
        if factor is not None and word.lower() in TIMES:
            return Column(index, name, factor)
    return None


def _power(index: int, name: str) -> Column | None:
    stem, unit = _parts(name)
    factor = SPELLINGS.get(unit if stem and unit else name)
    return None if factor is None else Column(index, name, factor)


def _chosen(
    power: list[Column], names: list[str], where: str, channels: list[str], meters: list[str]
) -> list[Column]:
    chosen = []
    for wanted in channels:
        matching = [c for c in power if wanted in (c.name, base(c.name))]
        if not matching:
            without = f", which has no unit ({', '.join(WATTS)})" if wanted in names else ""
            known = ", ".join(c.name for c in power) or "none"
            known += f"; rows of: {', '.join(meters)}" if meters else ""
            raise BadInput(f"{where}: channel {wanted!r}{without}; columns of power: {known}")
        chosen += [column for column in matching if column not in chosen]
    return chosen
