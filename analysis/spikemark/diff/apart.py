"""Differences of two runs: of networks, which must not differ, and of everything else in a record."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content
from spikemark.records.record import Run

#: Fields of a description that make the network and its cycles.
NETWORK = ("seed", "network", "time.resolution_ms", "time.cycle_ms")
MACHINE, CONFIGURATION, VERSIONS, BINDING = GROUPS = ("machine", "configuration", "versions", "binding")
HOST = (
    *("name", "system", "cpu", "cores", "threads_per_core", "sockets", "memory_bytes", "cache_bytes"),
    *("virtual_machine", "nodes", "node_names"),
)
NODE = ("governor", "frequency_min_hz", "frequency_max_hz")
LANE = ("period", "lag", "exchange", "composed", "wire", "ranks", "groups")
ALLOCATION = ("cluster", "partition", "modules")
ABSENT = "absent"


@dataclass(frozen=True)
class Differs:
    """A field, and its value on both sides; a field that one side lacks is `absent` there."""

    group: str
    field: str
    first: str
    second: str
    runs: int = 1  # pairs that differ so


def check_networks(first: Run, second: Run) -> None:
    """Raises BadInput, with the first field that differs, for runs of two networks or of two kinds.

    Also for runs that should have found the same spikes and did not.
    """
    ours, theirs = (with_content(run.record.description) for run in (first, second))
    flat = [{k: v for k, v in _flat(one).items() if f"{k}.".startswith(tuple(f"{n}." for n in NETWORK))}
            for one in (ours, theirs)]  # fmt: skip
    for field, one, other in _unequal(*flat):
        raise BadInput(
            f"{second.path}: {field}={other}; {first.path} has {one}: only runs of one network are compared"
        )
    kinds = first.record.kind, second.record.kind
    if kinds[0] != kinds[1]:
        raise BadInput(f"{second.path}: kind={kinds[1]!r}; {first.path} has {kinds[0]!r}; expected one kind")
    sums = first.record.checksum, second.record.checksum
    if ours.get("time") == theirs.get("time") and sums[0] != sums[1]:
        raise BadInput(
            f"{second.path}: checksum={sums[1]}; {first.path} has {sums[0]}: one network must give the same"
            " spikes, so one of the two programs is wrong"
        )


def differs(first: Run, second: Run) -> list[Differs]:
    """Everything but the network in which the records of two runs differ, by group."""
    sides = [_told(run) for run in (first, second)]
    return [
        Differs(group, *field)
        for group in GROUPS
        for field in _unequal(*(_flat(side[group]) for side in sides))
    ]


def together(found: list[list[Differs]]) -> list[Differs]:
    """The differences of several pairs, each once, with the number of pairs; groups stay in order."""
    count = Counter(one for pair in found for one in pair)
    return sorted((replace(one, runs=n) for one, n in count.items()), key=lambda x: GROUPS.index(x.group))


def _told(run: Run) -> dict[str, Any]:
    def some(of: Any, names: tuple[str, ...]) -> dict[str, Any]:
        found = {name: getattr(of, name, None) for name in names}
        return {n: ", ".join(map(str, x)) if isinstance(x, list) else x for n, x in found.items()}

    record, launched = run.record, run.launched
    description = {k: v for k, v in with_content(record.description).items() if k not in ("network", "seed")}
    host = record.host
    machine = some(host, HOST) | some(launched and launched.allocation, ALLOCATION)
    if host.per_node:
        machine["nodes"] = {str(i): some(node, NODE) for i, node in enumerate(host.per_node)}
    lanes = {lane.name: {name: getattr(lane, name) for name in LANE} for lane in record.lanes}
    return {
        MACHINE: machine,
        CONFIGURATION: {"ranks": record.ranks, "threads": record.threads, **description, "lanes": lanes},
        VERSIONS: record.provenance.model_dump(exclude={"started"}),
        BINDING: some(host, ("binding",)) | {
            "waiting": host.waiting.model_dump() if host.waiting else None,
            "environment": dict(launched.environment) if launched else {},
            "launcher": launched.launcher if launched else None,
        },
    }  # fmt: skip


def _flat(value: Any, where: str = "") -> dict[str, Any]:
    """Path -> leaf of what lies nested; parts of a path are joined by dots."""
    if isinstance(value, list) and value:
        value = dict(enumerate(value))
    if not isinstance(value, dict) or not value:
        return {where: value}
    parts = (_flat(part, f"{where}.{name}".lstrip(".")) for name, part in value.items())
    return {path: leaf for part in parts for path, leaf in part.items()}


def _unequal(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Field and both values, as text, wherever two values differ."""

    def text(side: dict[str, Any], path: str) -> str:
        value = side.get(path, ABSENT)
        return "unknown" if value is None else value if isinstance(value, str) and value else shown(value)

    both = ((path, text(first, path), text(second, path)) for path in dict.fromkeys((*first, *second)))
    return [(path, one, other) for path, one, other in both if one != other]
