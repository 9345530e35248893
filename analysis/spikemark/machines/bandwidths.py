"""Bandwidths between nodes that seem to be in Gbit/s, though profiles have GB/s."""

import re
from collections.abc import Mapping
from typing import Any

from .profile import Value

BANDWIDTH, FABRIC = "interconnect.bandwidth", "interconnect.fabric"
BITS = 8
FASTEST_GB = 100.0  #: no CPU node has more: one port of 800 Gbit/s, or two of 400
SAME_RATE = 0.1  #: how far a stated bandwidth may be from a rate to be that
#: Gbit/s of the generations of InfiniBand, without a number behind them.
GENERATIONS = {"QDR": 40, "FDR": 56, "EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
GENERATION = re.compile(r"\b(QDR|FDR|EDR|HDR|NDR|XDR)(\d+)?\b")
BITS_PER_S = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:Gbit/s|Gb/s|Gbps|GbE|Gbit|GigE)(?!\w)")


def remarks_on_bandwidth(values: Mapping[str, Value], title: str, machine: str) -> tuple[str, ...]:
    """That the bandwidth between nodes seems to be in Gbit/s, though it is stated in GB/s.

    Args:
        values: of the profile, by path.
        title: of the profile, which may name the rate of the network, such as NDR200.
        machine: its name, for remarks.

    Example:
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
