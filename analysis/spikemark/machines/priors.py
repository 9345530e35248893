"""What is assumed where a profile does not state a value.

The assumptions are the rows of priors.yaml beside this file, whose head says what a row means.
Kernel times are those of a reference profile.
"""

from collections.abc import Container, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from spikemark.core.yaml_file import read_yaml

from .fields import COUNT, FIELD, ORDERED
from .loader import exists, load
from .parts import Link, MachineOfParts, MachinePart
from .profile import ASSUMED, Assumption, Profile, Value

#: Bytes of a synapse and its cell of the ring, which every event moves.
SYNAPSE_BYTES = 8.0
#: Bytes of a line of the caches where the profile does not state them.
LINE_BYTES = 64
KERNELS = "kernels."
FULL_NODE = ".full_node."  #: in paths of kernels with all cores at work

_Group = TypeVar("_Group", MachinePart, Link)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    """The content of priors.yaml."""
    content: dict[str, Any] = read_yaml(Path(__file__).with_name("priors.yaml"))
    return content


def spread(path: str, known: Mapping[str, Any] | None = None) -> float:
    """Factor between the ends of the 95 % interval of a value that is assumed without one.

    Args:
        path: of the value.
        known: the machine's values by path, which say what row applies to it: else a latency that
            is assumed on InfiniBand would be as uncertain as one of any network, and leaving it out
            would make the machine surer. Without them, the widest row counts.

    Returns:
        1 where none is known.

    Example:
        >>> round(spread("power.card"), 2)  # from 3 to 14 W
        4.67
        >>> round(spread("interconnect.latency", {"interconnect.fabric": "infiniband"}), 2)
        4.44
    """
    if path.startswith(KERNELS):
        low, high = _table()["kernels"]["interval"]
        return float(high / low)
    rows = [row for row in _table()["rows"] if row["path"] == path and "interval" in row]
    if known is not None:
        rows = [row for row in rows if _applies(row, known)][:1] or rows
    return max((float(row["interval"][1] / row["interval"][0]) for row in rows), default=1.0)


@overload
def filled(machine: Profile) -> Profile: ...
@overload
def filled(machine: MachineOfParts) -> MachineOfParts: ...
def filled(machine: Profile | MachineOfParts) -> Profile | MachineOfParts:
    """The machine with assumed values where it states none.

    The reference of each says where it comes from. Values that the table does not give either stay
    unknown.

    Raises:
        BadInput: for nodes with accelerators.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.load("jureca-dc")
        >>> "jitter.cv" in jureca.values, filled(jureca).values["jitter.cv"].kind
        (False, 'assumed')
    """
    if isinstance(machine, MachineOfParts):
        return replace(
            machine, parts=_filled_groups(machine.parts), links=_filled_groups(machine.links)
        )
    machine.refuse_accelerators()
    known = {path: value.value for path, value in machine.values.items()}
    measured = {path for path, value in machine.values.items() if value.kind == "measured"}
    assumptions = {}
    for row in _table()["rows"]:
        path = row["path"]
        if path not in known and _applies(row, known, measured):
            assumptions[path] = _assumption(row, known)
            known[path] = assumptions[path].value
    return machine.assume_all(assumptions | _kernels(machine, known))


def _filled_groups(groups: Mapping[str, _Group]) -> dict[str, _Group]:
    """Parts or links with assumed values, by name."""
    return {name: replace(group, profile=filled(group.profile)) for name, group in groups.items()}


def _applies(
    row: Mapping[str, Any], known: Mapping[str, Any], measured: Container[str] = ()
) -> bool:
    """True if a row holds for a machine with these values, by path; `measured`: paths of those that
    are measured.
    """
    if "measured" in row and row["measured"] not in measured:
        return False
    conditions = row.get("when", {}).items()
    if not all(known.get(path) in texts for path, texts in conditions):
        return False
    return all(path in known for path in _scale_paths(row))


def _scale_paths(row: Mapping[str, Any]) -> list[str]:
    """The paths of the value, or of the ratio of two, of which a row is a multiple."""
    return row["per"].split("/") if row.get("per") else []


def _assumption(row: Mapping[str, Any], known: Mapping[str, Any]) -> Assumption:
    """What a row assumes of a machine with these values, by path."""
    path, value, limits = row["path"], row["value"], row.get("interval")
    scale_paths = _scale_paths(row)
    if scale_paths:
        scale = known[scale_paths[0]]
        if len(scale_paths) > 1:
            scale = scale / known[scale_paths[1]]
        value = float(f"{value * scale:.4g}")
        limits = limits and [scale * end for end in limits]
    if not isinstance(value, str):
        value = _in_order(path, value, known)
    if FIELD[path].allowed == COUNT:
        value = max(1, round(value))
    interval = None
    if limits:
        interval = (min(limits[0], value), max(limits[1], value))
    return Assumption(value, f"{ASSUMED}{row['reference']}", interval)


def _in_order(path: str, value: float, known: Mapping[str, Any]) -> float:
    """The value, moved between those that may not be larger or smaller."""
    larger = [known[large] for small, large in ORDERED if small == path and large in known]
    smaller = [known[small] for small, large in ORDERED if large == path and small in known]
    most = min(larger, default=value)
    least = max(smaller, default=0)
    return max(min(value, most), least)


def _kernels(machine: Profile, known: Mapping[str, Any]) -> dict[str, Assumption]:
    """Kernel times of the reference profile by the ratio of clocks, by path.

    A synapse and a list take no less than their bytes do at the core's share of the bandwidth of
    the memory.
    """
    name = _table()["reference"]
    if machine.identity == name or not exists(name):
        return {}
    low, high = _table()["kernels"]["interval"]
    assumptions = {}
    for path in _reference_values():
        if not path.startswith(KERNELS) or path in known:
            continue
        busy_cores = known.get("node.cores", 1) if FULL_NODE in path else 1
        bandwidth = known["node.bandwidth" if busy_cores > 1 else "node.bandwidth_core"]
        time = by_clock(path, known)
        if path.endswith(".t_next"):
            time = max(time, SYNAPSE_BYTES * busy_cores / bandwidth)
        if path.endswith(".t_first"):  # a list takes a line
            line_bytes = known.get("node.line", LINE_BYTES)
            time = max(time, line_bytes * busy_cores / bandwidth)
        interval = (low * time, high * time) if time else None
        why = f"{ASSUMED}that of {name} by the ratio of clocks"
        assumptions[path] = Assumption(float(f"{time:.4g}"), why, interval)
    return assumptions


def clock_at_work(clock: Any, turbo: Any, share: Any, busy: float = 1.0) -> Any:
    """Clock of cores at work, in the unit of both clocks; a number, or draws.

    Data sheets state the base clock, which all cores keep even at the worst load, and the turbo
    clock of one core. All cores at once run between both, and fewer of them faster.

    Args:
        clock: base clock.
        turbo: turbo clock; one below the base clock is none.
        share: of the step between both that all cores reach.
        busy: share of the cores that are at work.

    Example:
        >>> float(clock_at_work(clock=2.0, turbo=3.0, share=0.5))
        2.5
        >>> float(clock_at_work(clock=2.0, turbo=3.0, share=0.5, busy=0.5))
        2.75
    """
    lost = (1 - np.minimum(share, 1.0)) * busy
    return clock + np.maximum(turbo - clock, 0.0) * (1 - lost)


def by_clock(path: str, known: Mapping[str, Any]) -> Any:
    """Time of a kernel in ns, if the clock of cores at work were all that differs from the
    reference machine. The latency of the memory, in `t_first`, is much the same everywhere.

    `known`: values of a filled machine, by path; numbers, or draws of clocks.

    Example:
        >>> slow = {"node.clock": 2.0, "node.clock_turbo": 3.0, "node.clock_share": 0.5}
        >>> fast = {"node.clock": 5.0, "node.clock_turbo": 5.0, "node.clock_share": 0.5}
        >>> times = [by_clock("kernels.full_node.t_next", clocks) for clocks in (slow, fast)]
        >>> round(float(times[0] / times[1]), 6)
        2.0
    """
    reference_ns, reference_ghz = _reference_time(path)
    if path.endswith(".t_first"):
        return reference_ns
    busy = 1.0 if FULL_NODE in path else 1 / known.get("node.cores", 1)
    clock_ghz = clock_at_work(
        known["node.clock"], known["node.clock_turbo"], known["node.clock_share"], busy
    )
    return reference_ns * reference_ghz / clock_ghz


@cache
def _reference_values() -> dict[str, Value]:
    """The values of the reference machine, by path."""
    return load(_table()["reference"]).values


def _reference_time(path: str) -> tuple[float, float]:
    """Time of a kernel of the reference machine, in ns, and the clock of its cores, in GHz."""
    values = _reference_values()
    return float(values[path].value), float(values["node.clock"].value)
