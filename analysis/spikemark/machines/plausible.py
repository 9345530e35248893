"""Values of a profile that no machine is likely to have, such as a bandwidth in bits instead of bytes.

Commands warn of all of them (`odd`). Those that are far beyond all known machines (`implausible`) are not
judged either. A bandwidth between nodes that is too large by the factor of 8 between bits and bytes need not
be that far off; it is `doubtful` if the number is a rate by which links of its fabric are named.
"""

from collections.abc import Callable

from .comparable import known_range
from .fields import ETHERNET, FABRIC, OTHER
from .parts import Machine
from .profile import Profile

FAR = 10.0  # times above or below all known machines, from where on a value is taken for a mistake
CORES = "node.cores"
#: Values that are compared, and over what: whole nodes have as much more as they have cores.
COMPARED = {
    CORES: None, "node.clock": None, "node.memory": CORES, "node.l2": None, "node.l3": None,
    "node.bandwidth": CORES, "node.bandwidth_peak": CORES, "node.bandwidth_core": None,
    "interconnect.latency": None, "interconnect.latency_node": None,
    "interconnect.bandwidth": None, "interconnect.bandwidth_node": None,
    "power.tdp": CORES, "power.idle": CORES, "power.core": None,
}  # fmt: skip
#: What a value that is far too large may be, by the unit that is asked for; and one that is far too small.
LARGE = {
    "GB/s": "are these Gbit/s?",
    "GHz": "are these MHz?",
    "us": "are these ns?",
    "KiB": "are these B?",
}
SMALL = {"W": "is this of the whole node?", "us": "are these ms?", "GHz": "are these THz?"}

BITS = 8  # of a byte
LINK = "interconnect.bandwidth"
#: Rates in Gbit/s by which the links of a fabric are named. Sources: IEEE 802.3; the InfiniBand Trade
#: Association's roadmap (SDR to XDR, four lanes); the vendors' data sheets of Omni-Path and Slingshot.
RATES = {
    ETHERNET: (10, 25, 40, 50, 100, 200, 400, 800),
    "infiniband": (10, 20, 40, 56, 100, 200, 400, 800),
    "omni-path": (100, 400),
    "slingshot": (200, 400),
}
ABOVE = 3.0  # times the fastest known network, from where on a node is likely to have a slower one


def odd(profile: Profile | Machine) -> tuple[str, ...]:
    """What a command warns of, one line for each value: those of `implausible`, then those of `doubtful`."""
    return implausible(profile) + doubtful(profile)


def _of_groups(machine: Machine, judge: Callable[[Profile], tuple[str, ...]]) -> tuple[str, ...]:
    """The lines of all parts and links, each with the start of its path."""
    return tuple(f"{at}.{line}" for at, group in machine.groups.items() for line in judge(group.profile))


def doubtful(profile: Profile | Machine) -> tuple[str, ...]:
    """A line if the bandwidth between nodes is a link's rate in Gbit/s, and not one in GB/s; else none.

    A rate that is also one in GB/s, such as 100, is one in Gbit/s if it is `ABOVE` times the fastest known. A
    measured value is not doubted, nor one that is implausible.
    """
    if isinstance(profile, Machine):
        return _of_groups(profile, doubtful)
    value, known = profile.values.get(LINK), known_range(LINK)
    if value is None or value.kind == "measured" or known is None or value.value > FAR * known[1]:
        return ()
    fabric = profile.values[FABRIC].value if FABRIC in profile.values else OTHER
    rates = RATES.get(fabric) or {rate for of_one in RATES.values() for rate in of_one}
    in_bytes = {rate / BITS for rate in rates}
    if value.value not in rates or (value.value in in_bytes and value.value <= ABOVE * known[1]):
        return ()
    links = "links" if fabric == OTHER else f"links of {fabric}"
    return (
        f"{LINK}: {value.value:g} GB/s is {value.value / known[1]:.2g} times the highest known,"
        f" {known[1]:.3g} GB/s; {links} are named in Gbit/s: if these are Gbit/s, write"
        f" {value.value / BITS:g} GB/s",
    )


def implausible(profile: Profile | Machine) -> tuple[str, ...]:
    """One line for each value that is more than `FAR` times above or below those of all known machines."""
    if isinstance(profile, Machine):
        return _of_groups(profile, implausible)
    found = (_line(profile, path, per) for path, per in COMPARED.items() if path in profile.values)
    return tuple(line for line in found if line)


def _line(profile: Profile, path: str, per: str | None) -> str | None:
    value, known = profile.values[path], known_range(path, per)
    if known is None or (per and per not in profile.values):
        return None
    here = value.value / (profile.values[per].value if per else 1)
    unit, (low, high) = "" if value.unit == "1" else f" {value.unit}", known
    each = f"{unit} per core" if per else unit
    if here > FAR * high:
        words, hint = f"{here / high:.0f} times the highest known, {high:.3g}{each}", LARGE.get(value.unit)
    elif here < low / FAR:
        words, hint = f"1/{low / here:.0f} of the lowest known, {low:.3g}{each}", SMALL.get(value.unit)
    else:
        return None
    said = f"{path}: {value.value:g}{unit}" + (f" ({here:.3g}{each})" if per else "")
    return f"{said} is {words}" + (f"; {hint}" if hint else "")
