"""Units that vendors use and profiles do not: what a value is in the unit of its field."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .profile import Value

BANDWIDTH, FABRIC = "interconnect.bandwidth", "interconnect.fabric"
#: What one of a unit is in the first unit of its kind; only units of one kind convert.
KINDS_OF_UNITS = (
    {
        "B/s": 1.0,
        "MB/s": 1e6,
        "GB/s": 1e9,
        "TB/s": 1e12,
        "MiB/s": 2.0**20,
        "GiB/s": 2.0**30,
        "Mbit/s": 1.25e5,
        "Gbit/s": 1.25e8,
        "Gb/s": 1.25e8,
        "Gbps": 1.25e8,
        "Tbit/s": 1.25e11,
    },
    {
        "B": 1.0,
        "KB": 1e3,
        "kB": 1e3,
        "KiB": 2.0**10,
        "MB": 1e6,
        "MiB": 2.0**20,
        "GB": 1e9,
        "GiB": 2.0**30,
        "TB": 1e12,
        "TiB": 2.0**40,
    },
    {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    {"W": 1.0, "kW": 1e3, "MW": 1e6},
)
BITS = 8
FASTEST_GB = 100.0  #: no CPU node has more: one port of 800 Gbit/s, or two of 400
SAME_RATE = 0.1  #: how far a stated bandwidth may be from a rate to be that
#: Gbit/s of the generations of InfiniBand, without a number behind them.
GENERATIONS = {"QDR": 40, "FDR": 56, "EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
GENERATION = re.compile(r"\b(QDR|FDR|EDR|HDR|NDR|XDR)(\d+)?\b")
BITS_PER_S = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:Gbit/s|Gb/s|Gbps|GbE|Gbit|GigE)(?!\w)")


def converted(number: float, unit: str, into: str) -> float | None:
    """A number in another unit; None where one is no multiple of the other, or is not known.

    Example:
        >>> converted(200, "Gbit/s", "GB/s"), converted(200, "Gbit/s", "GHz")
        (25.0, None)
    """
    for factors in KINDS_OF_UNITS:
        if unit in factors and into in factors:
            return number * factors[unit] / factors[into]
    return None


def remarks_on_bandwidth(
    values: Mapping[str, "Value"], title: str, machine: str
) -> tuple[str, ...]:
    """That the bandwidth between nodes seems to be in Gbit/s, though it is stated in GB/s.

    Args:
        values: of the profile, by path.
        title: of the profile, which may name the rate of the network, such as NDR200.
        machine: its name, for remarks.

    Example:
        >>> from spikemark.machines import Value
        >>> stated = {BANDWIDTH: Value(200, "GB/s", "literature", "offer A: NDR200")}
        >>> len(remarks_on_bandwidth(stated, "Offer A", "offer-a"))
        1
    """
    bandwidth = values.get(BANDWIDTH)
    if bandwidth is None:
        return ()
    texts = [title, bandwidth.reference]
    if FABRIC in values:
        texts.append(values[FABRIC].reference)
    stated: Any = bandwidth.value
    named = []
    for rate in _rates(", ".join(texts)):
        if abs(stated / rate - 1) <= SAME_RATE:
            named.append(rate)
    if stated <= FASTEST_GB and not named:
        return ()
    reason = f"more than links of a CPU node have (up to {FASTEST_GB:g} GB/s)"
    if named:
        reason = f"the rate of the network in Gbit/s ({named[0]:g})"
    return (
        f"{machine}: {BANDWIDTH} is stated as {stated:g} GB/s, {reason}; {stated:g} Gbit/s are"
        f" {stated / BITS:g} GB/s; {stated:g} GB/s is used.",
    )


def _rates(text: str) -> list[float]:
    """The rates of networks that a text names, in Gbit/s.

    >>> _rates("2 x EPYC 9654, HDR100"), _rates("100 Gbit/s"), _rates("NDR"), _rates("EPYC 9654")
    ([100.0], [100.0], [400.0], [])
    """
    rates = [float(number) for number in BITS_PER_S.findall(text)]
    for generation, number in GENERATION.findall(text):
        rates.append(float(number or GENERATIONS[generation]))
    return rates
