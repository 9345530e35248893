"""Values of a profile that no machine is likely to have, such as a bandwidth in bits instead of bytes."""

from .comparable import known_range
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


def implausible(profile: Profile) -> tuple[str, ...]:
    """One line for each value that is more than `FAR` times above or below those of all known machines."""
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
