"""What is assumed where a profile does not state a value: one table, priors.yaml beside this file."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core.yaml_file import read_yaml

from .fields import COUNT, FIELD, ORDERED
from .loader import exists, load
from .parts import Machine
from .profile import Profile

ASSUMED = "assumed: "  # what the reference of a value from here begins with
SYNAPSE_BYTES = 8.0  # of a synapse and its cell of the ring, which every event moves


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The content of priors.yaml."""
    return read_yaml(Path(__file__).with_name("priors.yaml"))


def spread(path: str) -> float:
    """Factor between the ends of the 95 % interval of a value that is assumed without one; 1: none known."""
    if path.startswith("kernels."):
        low, high = table()["kernels"]["interval"]
        return high / low
    found = [row["interval"] for row in table()["rows"] if row["path"] == path and "interval" in row]
    return max((high / low for low, high in found), default=1.0)


def filled(machine: Profile | Machine) -> Profile | Machine:
    """The machine with assumed values where it states none; the reference of each says where it comes from.

    Values that the table does not give either stay unknown. Raises BadInput for nodes with accelerators.
    """
    if isinstance(machine, Machine):
        parts = {name: replace(one, profile=filled(one.profile)) for name, one in machine.parts.items()}
        links = {name: replace(one, profile=filled(one.profile)) for name, one in machine.links.items()}
        return replace(machine, parts=parts, links=links)
    machine.refuse_accelerators()
    found: dict[str, tuple] = {}
    known = {path: value.value for path, value in machine.values.items()}
    for row in table()["rows"]:
        path, per = row["path"], [p for p in row.get("per", "").split("/") if p]
        fits = all(known.get(text) in among for text, among in row.get("when", {}).items())
        if path in known or not fits or not known.keys() >= {*per}:
            continue
        value, limits = row["value"], row.get("interval")
        if per:
            scale = known[per[0]] / known[per[1]] if per[1:] else known[per[0]]
            value, limits = float(f"{value * scale:.4g}"), limits and [scale * end for end in limits]
        if not isinstance(value, str):
            most = min((known[b] for a, b in ORDERED if a == path and b in known), default=value)
            least = max((known[a] for a, b in ORDERED if b == path and a in known), default=0)
            value = max(min(value, most), least)
        if FIELD[path].allowed == COUNT:
            value = max(1, round(value))
        known[path] = value
        limits = limits and (min(limits[0], value), max(limits[1], value))
        found[path] = value, f"{ASSUMED}{row['reference']}", limits
    return machine.assume_all(found | _kernels(machine, known))


def _kernels(machine: Profile, known: dict[str, Any]) -> dict[str, tuple]:
    """Kernel times of the reference profile by the ratio of clocks; a synapse and a list take no less than
    their bytes do at the core's share of the bandwidth of the memory."""
    name, found = table()["reference"], {}
    if machine.name == name or not exists(name):
        return {}
    reference, (low, high) = load(name), table()["kernels"]["interval"]
    clock = reference.values["node.clock"].value / known["node.clock"]
    for path, value in reference.values.items():
        if not path.startswith("kernels.") or path in known:
            continue
        time, busy = value.value * clock, known.get("node.cores", 1) if ".full_node." in path else 1
        bandwidth = known["node.bandwidth" if busy > 1 else "node.bandwidth_core"]
        if path.endswith(".t_next"):
            time = max(time, SYNAPSE_BYTES * busy / bandwidth)
        if path.endswith(".t_first"):  # latency is much the same everywhere; a list takes a line of memory
            time = max(value.value, known.get("node.line", 64) * busy / bandwidth)
        why, limits = (
            f"{ASSUMED}that of {name} by the ratio of clocks",
            (low * time, high * time) if time else None,
        )
        found[path] = float(f"{time:.4g}"), why, limits
    return found
