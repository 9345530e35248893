"""What is usual: values that are possible, but look like a slip, get a remark and are used.

The limits are in usual.yaml beside this file, each with its source. A remark names the value, what
is usual, and what the value would be in the unit that was probably meant: an offer in kW or
thousands of EUR, a latency in ns, a bandwidth in Gbit/s, a price of all nodes.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core.yaml_file import read_yaml

from . import units
from .profile import Value

BANDWIDTH, FABRIC, NODES = "interconnect.bandwidth", "interconnect.fabric", "offer.nodes"
SAME_RATE = 0.1  #: how far a stated bandwidth may be from a rate to be that
#: Gbit/s of the generations of InfiniBand, without a number behind them.
GENERATIONS = {"QDR": 40, "FDR": 56, "EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
GENERATION = re.compile(r"\b(QDR|FDR|EDR|HDR|NDR|XDR)(\d+)?\b")
BITS_PER_S = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:Gbit/s|Gb/s|Gbps|GbE|Gbit|GigE)(?!\w)")
#: Units in which a value may be that is stated in the first one.
MEANT = {
    "W": ("kW", "MW"),
    "GB": ("TB", "MB"),
    "GB/s": ("Gbit/s", "MB/s", "TB/s"),
    "KiB": ("MiB", "B"),
    "GHz": ("MHz",),
    "us": ("ns", "ms", "s"),
    "EUR": ("kEUR",),
    "EUR/h": ("ct/h",),
    "EUR/kWh": ("ct/kWh",),
}
#: Values of a node that may have been stated of all nodes.
OF_ALL_NODES = ("node.cores", "node.memory", "power.tdp", "offer.watts", "offer.price")


@lru_cache(maxsize=1)
def _rows() -> list[dict[str, Any]]:
    """The rows of usual.yaml."""
    rows: list[dict[str, Any]] = read_yaml(Path(__file__).with_name("usual.yaml"))["rows"]
    return rows


def remarks(
    stated: Mapping[str, Value],
    machine: str,
    known: Mapping[str, Value] | None = None,
    title: str = "",
) -> tuple[str, ...]:
    """A line for each stated value that is not usual.

    Args:
        stated: the values that a profile states, by path.
        machine: its name, for remarks.
        known: all that is known of it, with what its data sheet says; `stated` by default.
        title: of the profile, which may name the rate of the network, such as NDR200.

    Example:
        >>> watts = {"offer.watts": Value(1.05, "W", "literature", "offer A")}
        >>> [remark] = remarks(watts, "offer-a")
        >>> "1.05 kW are 1050 W" in remark
        True
    """
    known = stated if known is None else known
    lines = []
    for path, value in stated.items():
        rows = [row for row in _rows() if row["path"] == path and _applies(row, known)]
        reason = ""
        if path == BANDWIDTH:
            reason = _named_rate(value, title, known)
        for row in rows:
            if not reason and not _is_within(row, value.value, known):
                reason = f"{_usual(row, value, known)}{_meant(rows, value, known)}"
        if reason:
            number = _in_words(value)
            lines.append(f"{machine}: {path} is stated as {number}; {reason}; {number} is used.")
    return tuple(lines)


def _applies(row: Mapping[str, Any], known: Mapping[str, Value]) -> bool:
    """Whether a row holds for a machine with these values."""
    if "per" in row and row["per"] not in known:
        return False
    for path, texts in row.get("when", {}).items():
        if path not in known or known[path].value not in texts:
            return False
    return True


def _limits(row: Mapping[str, Any], known: Mapping[str, Value]) -> tuple[float, float]:
    """The limits of a row for a machine with these values."""
    scale = known[row["per"]].value if "per" in row else 1.0
    return scale * row["low"], scale * row["high"]


def _is_within(row: Mapping[str, Any], number: float, known: Mapping[str, Value]) -> bool:
    """Whether a number is usual by a row."""
    low, high = _limits(row, known)
    return low <= number <= high


def _usual(row: Mapping[str, Any], value: Value, known: Mapping[str, Value]) -> str:
    """What is usual by a row, and from where that is known."""
    source = row["source"]
    if "per" in row:
        other = known[row["per"]]
        of_sheet = ""
        if other.reference.startswith("data sheet"):
            of_sheet = f", {other.reference.partition(':')[0]}"
        times = _range(row["low"], row["high"])
        source = f"{times} times {row['per']} of {_in_words(other)}{of_sheet}; {source}"
    return f"usual are {_range(*_limits(row, known))}{_unit(value)} ({source})"


def _range(low: float, high: float) -> str:
    """Limits in words.

    >>> _range(0.0, 1.2), _range(500.0, 2e5)
    ('up to 1.2', '500 to 200000')
    """
    if low == 0:
        return f"up to {high:.10g}"
    return f"{low:.10g} to {high:.10g}"


def _meant(rows: Sequence[Mapping[str, Any]], value: Value, known: Mapping[str, Value]) -> str:
    """In which unit, or of how many nodes, a value would be usual; empty for none."""
    unit = _unit(value)
    for meant in MEANT.get(value.unit or "", ()):
        converted = units.converted(value.value, meant, value.unit or "")
        if converted is not None and all(_is_within(row, converted, known) for row in rows):
            return f"; {value.value:.10g} {meant} are {converted:.6g}{unit}"
    nodes = known.get(NODES)
    if nodes is not None and rows[0]["path"] in OF_ALL_NODES:
        of_one = value.value / nodes.value
        if all(_is_within(row, of_one, known) for row in rows):
            return f"; of {nodes.value:g} nodes together, each has {of_one:.6g}{unit}"
    return ""


def _named_rate(value: Value, title: str, known: Mapping[str, Value]) -> str:
    """That a bandwidth is the rate of the network in Gbit/s, which a text names; else empty."""
    texts = [title, value.reference]
    if FABRIC in known:
        texts.append(known[FABRIC].reference)
    for rate in _rates(", ".join(texts)):
        if abs(value.value / rate - 1) <= SAME_RATE:
            in_gb = units.converted(value.value, "Gbit/s", "GB/s")
            return (
                f"the rate of the network is {rate:g} Gbit/s; {value.value:g} Gbit/s are"
                f" {in_gb:g} GB/s"
            )
    return ""


def _rates(text: str) -> list[float]:
    """The rates of networks that a text names, in Gbit/s.

    >>> _rates("2 x EPYC 9654, HDR100"), _rates("100 Gbit/s"), _rates("NDR"), _rates("EPYC 9654")
    ([100.0], [100.0], [400.0], [])
    """
    rates = [float(number) for number in BITS_PER_S.findall(text)]
    for generation, number in GENERATION.findall(text):
        rates.append(float(number or GENERATIONS[generation]))
    return rates


def _in_words(value: Value) -> str:
    """A value with its unit.

    >>> _in_words(Value(450, "W", "literature", "a page")), _in_words(Value(2, "1", "", ""))
    ('450 W', '2')
    """
    return f"{value.value:.10g}{_unit(value)}"


def _unit(value: Value) -> str:
    """The unit of a value behind its number; empty for a count."""
    return "" if value.unit in (None, "1") else f" {value.unit}"
