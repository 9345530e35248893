"""Data sheets of processors: what is known of a node whose profile only names its processor.

The sheets are in processors.yaml beside this file, each value with its source. A profile with a
`processor` gets the values of its sheet that it does not state, for as many sockets as it has. A
value that it states is used, and a remark says so where the sheet has another one. Fewer channels
of memory than in the sheet have as much less of its peak bandwidth.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_yaml
from spikemark.quantities.words import counted, listed

from .fields import COUNT, FIELD, ORDERED
from .profile import Value

#: Paths of a profile by the names of a sheet.
PATH_OF = {
    "cores": "node.cores",
    "clock": "node.clock",
    "turbo": "node.clock_turbo",
    "l1d": "node.l1d",
    "l2": "node.l2",
    "l3": "node.l3",
    "l3_cores": "node.l3_cores",
    "memory_channels": "node.memory_channels",
    "bandwidth_peak": "node.bandwidth_peak",
    "tdp": "power.tdp",
}
#: Of a socket: a node has so many times as much.
OF_SOCKET = ("cores", "memory_channels", "bandwidth_peak", "tdp")
SOCKETS, CORES = "node.sockets", "node.cores"
CHANNELS, PEAK = "node.memory_channels", "node.bandwidth_peak"
#: Factor between a stated value and that of a sheet from which they contradict each other.
CONTRADICTS = 1.1
#: Words that vendors write and names of sheets do not have.
WORDS_OF_VENDORS = (
    *("amd", "ampere", "intel", "nvidia", "processor", "cpu", "r", "tm"),
    *("platinum", "gold", "silver", "bronze", "scalable"),
)
#: How much a word is like the name of a family of processors that may be meant.
SIMILAR_FAMILY = 0.7
#: No node has more sockets.
MOST_SOCKETS = 8
#: No core runs below this share of its base clock.
SLOWEST = 0.1


@dataclass(frozen=True)
class Sheet:
    """The data sheet of a processor."""

    processor: str  #: its id, such as epyc-7742
    values: Mapping[str, float]  #: by the names of PATH_OF
    sources: Mapping[str, str]  #: where each value is from, by the same names

    def of_node(self, sockets: int | None) -> dict[str, Value]:
        """The values of a node with so many of them, by path.

        `sockets`: None leaves out what depends on their number.

        Example:
            >>> sheet("epyc-7742").of_node(sockets=2)["node.cores"].value
            128
        """
        values = {}
        for name, number in self.values.items():
            path = PATH_OF[name]
            if path not in FIELD or (name in OF_SOCKET and sockets is None):
                continue
            count = sockets if name in OF_SOCKET and sockets else 1
            total = count * number
            if FIELD[path].allowed == COUNT:
                total = round(total)
            reference = f"data sheet of {self.processor}: {self.sources[name]}"
            if count > 1:
                reference = f"{reference}; {count} of them"
            values[path] = Value(total, FIELD[path].unit, "literature", reference)
        return values


@dataclass(frozen=True)
class Completed:
    """The values of a profile and of the sheet of its processor together."""

    values: dict[str, Value]  #: by path
    remarks: tuple[str, ...] = ()  #: where both contradict each other
    without_sheet: str = ""  #: why the sheet does not give all that it could; empty: it does


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    """The content of processors.yaml."""
    content: dict[str, Any] = read_yaml(Path(__file__).with_name("processors.yaml"))
    return content


def names() -> list[str]:
    """The processors that have a data sheet.

    Example:
        >>> "epyc-7742" in names()
        True
    """
    return list(_content()["processors"])


def called(text: str) -> str | None:
    """The processor that a vendor calls so; None where none of the data sheets is meant.

    Example:
        >>> called("AMD EPYC 9654"), called("Intel Xeon Platinum 8480+"), called("A64FX")
        ('epyc-9654', 'xeon-8480', None)
    """
    words = re.findall(r"[a-z0-9]+", text.lower().replace("(r)", " ").replace("(tm)", " "))
    name = "-".join(word for word in words if word not in WORDS_OF_VENDORS)
    return name if name in names() else None


def _hint(processor: str) -> str:
    """Which data sheet of the same family is meant, or is the nearest; else the families."""
    meant = called(processor)
    if meant is not None:
        return f"; {meant} is meant"
    families = list(dict.fromkeys(name.partition("-")[0] for name in names()))
    first_word = re.split(r"[^a-z]", processor.lower(), maxsplit=1)[0]
    for family in get_close_matches(first_word, families, 1, SIMILAR_FAMILY):
        relatives = [name for name in names() if name.partition("-")[0] == family]
        [nearest] = get_close_matches(processor.lower(), relatives, 1, cutoff=0)
        return f"; the nearest name is {nearest}"
    return f"; there are some of {listed(families)}"


def sheet(processor: str) -> Sheet | None:
    """The data sheet of a processor; None where there is none.

    Example:
        >>> sheet("epyc-7742").values["l3_cores"], sheet("a processor that nobody sells")
        (4, None)
    """
    row = _content()["processors"].get(processor)
    if row is None:
        return None
    sources = _content()["sources"]
    values = {name: number for name, (number, _) in row.items()}
    references = {name: sources[source] for name, (_, source) in row.items()}
    return Sheet(processor, values, references)


def completed(stated: Mapping[str, Value], processor: str, machine: str) -> Completed:
    """Values of a node with those of the data sheet of its processor where it states none.

    Args:
        stated: values of the profile, by path.
        processor: that it names.
        machine: its name, for remarks.

    Raises:
        BadInput: for a value that a node with this processor cannot have.

    Example:
        >>> sockets = Value(2, "1", "literature", "the offer")
        >>> offer = completed({"node.sockets": sockets}, "epyc-7742", "offer-a")
        >>> offer.values["power.tdp"].value, offer.remarks
        (450, ())
    """
    found = sheet(processor)
    if found is None:
        reason = f"processor {processor}: no data sheet{_hint(processor)}"
        return Completed(dict(stated), (f"{machine}: {reason}",), reason)
    _refuse_impossible(stated, found)
    sockets = _sockets(stated, found)
    of_node = _with_channels(found.of_node(sockets), stated)
    remarks = []
    contradicting = []
    for path, value in stated.items():
        if path in of_node and _contradicts(path, value, found, of_node):
            contradicting.append(path)
            remarks.append(_remark(path, value, of_node[path], machine))
    for path, against in _excluded(stated, of_node).items():
        if against not in contradicting:
            remarks.append(_left_out(path, of_node[path], against, stated[against], machine))
        del of_node[path]
    reason = ""
    if sockets is None:
        reason = f"the data sheet of {processor} gives it of a socket; {SOCKETS} is unknown"
    return Completed({**of_node, **stated}, tuple(remarks), reason)


def _with_channels(of_node: Mapping[str, Value], stated: Mapping[str, Value]) -> dict[str, Value]:
    """The values of a sheet, with the peak bandwidth of as many channels as are stated."""
    values = dict(of_node)
    if CHANNELS not in stated or CHANNELS not in values or PEAK not in values:
        return values
    number, of_sheet = stated[CHANNELS].value, values[CHANNELS].value
    if number != of_sheet:
        peak = values[PEAK]
        values[PEAK] = replace(
            peak,
            value=peak.value * number / of_sheet,
            reference=f"{peak.reference}; {number:g} of {of_sheet:g} channels",
        )
    return values


def _refuse_impossible(stated: Mapping[str, Value], found: Sheet) -> None:
    """Raises BadInput for more cores or channels than the sockets have, and impossible clocks.

    Fewer are possible: of a virtual machine, or of channels without memory.
    """
    sockets = MOST_SOCKETS
    of_sockets = f"up to {sockets} sockets"
    if SOCKETS in stated:
        sockets = int(stated[SOCKETS].value)
        of_sockets = counted(sockets, "socket")
    for name in ("cores", "memory_channels"):
        if name in found.values:
            most = sockets * found.values[name]
            expected = f"at most {most:g}, the number in {of_sockets} of {found.processor}"
            _refuse_outside(stated, PATH_OF[name], 0, most, expected)
    base = found.values["clock"]
    slowest = SLOWEST * base
    turbo = found.values.get("turbo")
    for path in ("node.clock", "node.clock_turbo"):
        if turbo is None:
            expected = f"at least a tenth of the {base:g} GHz of {found.processor}"
            _refuse_outside(stated, path, slowest, inf, expected)
        else:
            expected = f"{slowest:g} to {turbo:g} GHz, which {found.processor} reaches"
            _refuse_outside(stated, path, slowest, CONTRADICTS * turbo, expected)


def _refuse_outside(
    stated: Mapping[str, Value], path: str, low: float, high: float, expected: str
) -> None:
    """Raises BadInput for a stated value that surely is not between two limits."""
    if path not in stated:
        return
    value = stated[path]
    least, most = value.interval or (value.value, value.value)
    if most < low or least > high:
        raise BadInput(field=path, value=value.value, expected=expected, code="conflict")


def _excluded(stated: Mapping[str, Value], of_node: Mapping[str, Value]) -> dict[str, str]:
    """Values of a sheet that cannot be true beside a stated one, which is named by each path."""
    excluded = {}
    for small, large in ORDERED:
        for stated_path, path in ((small, large), (large, small)):
            if stated_path not in stated or path in stated or path not in of_node:
                continue
            values = {stated_path: stated[stated_path].value, path: of_node[path].value}
            if values[small] > values[large]:
                excluded[path] = stated_path
    return excluded


def _sockets(stated: Mapping[str, Value], found: Sheet) -> int | None:
    """The sockets of a node: stated, or as many as have its cores; None: unknown."""
    if SOCKETS in stated:
        return int(stated[SOCKETS].value)
    if CORES in stated:
        sockets, left = divmod(int(stated[CORES].value), int(found.values["cores"]))
        return sockets if sockets and not left else None
    return None


def _contradicts(path: str, value: Value, found: Sheet, of_node: Mapping[str, Value]) -> bool:
    """Whether a profile states a value that the data sheet excludes."""
    name = next(name for name, known in PATH_OF.items() if known == path)
    expected = of_node[path].value
    low, high = value.interval or (value.value, value.value)
    least, most = expected / CONTRADICTS, expected * CONTRADICTS
    if FIELD[path].allowed == COUNT:
        least = most = expected
    # Where it was not measured, it is the base clock.
    if name == "clock" and "turbo" in found.values and value.kind == "measured":
        most = found.values["turbo"] * CONTRADICTS
    return bool(high < least or low > most)


def _remark(path: str, value: Value, expected: Value, machine: str) -> str:
    """That a profile and a data sheet contradict each other, and what is used."""
    stated = _in_words(value, expected.unit)
    sheet_says = f"{_in_words(expected)} ({_sheet_of(expected)})"
    return f"{machine}: {path} is stated as {stated}, not {sheet_says}; {stated} is used."


def _left_out(path: str, expected: Value, against: str, value: Value, machine: str) -> str:
    """That a value of a data sheet cannot be true beside a stated one, and is not used."""
    sheet_says = f"{path} is {_in_words(expected)} ({_sheet_of(expected)})"
    stated = f"{against} is stated as {_in_words(value)}"
    return f"{machine}: {stated}, but {sheet_says}; {path} of the data sheet is not used."


def _in_words(value: Value, unit: str | None = None) -> str:
    """A value with its unit."""
    shown = unit or value.unit
    if shown in (None, "1"):
        return f"{value.value:g}"
    return f"{value.value:g} {shown}"


def _sheet_of(value: Value) -> str:
    """The data sheet that a value is from, without the sheet's own source.

    >>> _sheet_of(Value(450, "W", "literature", "data sheet of epyc-7742: AMD, a page; 2 of them"))
    'data sheet of epyc-7742'
    """
    return value.reference.partition(":")[0]
