"""Differences of two runs: of networks, which must not differ, and of everything else in a record."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content
from spikemark.records.record import Run

#: Fields of a description that make the network and its cycles.
NETWORK = ("seed", "network", "time.resolution_ms", "time.cycle_ms")
MACHINE, CONFIGURATION, VERSIONS, BINDING = "machine", "configuration", "versions", "binding"
GROUPS = (MACHINE, CONFIGURATION, VERSIONS, BINDING)
HOST = (
    *("name", "system", "cpu", "cores", "threads_per_core", "sockets", "memory_bytes", "cache_bytes"),
    *("virtual_machine", "nodes", "node_names"),
)
NODE = ("governor", "frequency_min_hz", "frequency_max_hz")
LANE = ("name", "period", "lag", "exchange", "composed", "wire", "ranks", "groups")
ALLOCATION = ("cluster", "partition", "modules")


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
    for name in NETWORK:
        for field, one, other in _leaves(_at(ours, name), _at(theirs, name), name):
            raise BadInput(
                f"{second.path}: {field}={other}; {first.path} has {one}: only runs of one network are"
                " compared"
            )
    kinds = first.record.kind, second.record.kind
    if kinds[0] != kinds[1]:
        raise BadInput(
            f"{second.path}: kind={kinds[1]!r}; {first.path} has {kinds[0]!r}: allowed is one kind"
        )
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
        Differs(group, field, one, other)
        for group in GROUPS
        for field, one, other in _leaves(sides[0][group], sides[1][group], "")
    ]


def together(found: list[list[Differs]]) -> list[Differs]:
    """The differences of several pairs, each once, with the number of pairs; groups stay in order."""
    count: dict[Differs, int] = {}
    for one in (one for pair in found for one in pair):
        count[one] = count.get(one, 0) + 1
    same = [Differs(one.group, one.field, one.first, one.second, runs) for one, runs in count.items()]
    return sorted(same, key=lambda one: GROUPS.index(one.group))


def _told(run: Run) -> dict[str, Any]:
    record, launched = run.record, run.launched
    description = {k: v for k, v in with_content(record.description).items() if k not in ("network", "seed")}
    host, nodes = record.host, record.host.per_node or []
    allocation = launched.allocation if launched else None
    lanes = {lane.name: {name: getattr(lane, name) for name in LANE[1:]} for lane in record.lanes}
    return {
        MACHINE: {name: _plain(getattr(host, name)) for name in HOST}
        | {f"nodes.{i}": {n: getattr(node, n) for n in NODE} for i, node in enumerate(nodes)}
        | {name: _plain(getattr(allocation, name, None)) for name in ALLOCATION},
        CONFIGURATION: {"ranks": record.ranks, "threads": record.threads, **description, "lanes": lanes},
        VERSIONS: record.provenance.model_dump(exclude={"started"}),
        BINDING: {
            "binding": _plain(host.binding),
            "waiting": host.waiting.model_dump() if host.waiting else None,
            "environment": dict(launched.environment) if launched else {},
            "launcher": launched.launcher if launched else None,
        },
    }


def _plain(value: Any) -> Any:
    """Lists as text: what is longer on one side is one difference, not many."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _at(content: Any, path: str) -> Any:
    for name in path.split("."):
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _leaves(first: Any, second: Any, where: str) -> Iterator[tuple[str, str, str]]:
    """Field and both values, as text, wherever two values differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in dict.fromkeys((*first, *second)):
            at = f"{where}.{name}".lstrip(".")
            yield from _leaves(first.get(name, ABSENT), second.get(name, ABSENT), at)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for i, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _leaves(one, other, f"{where}.{i}")
    elif first != second:
        yield where, _text(first), _text(second)


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    return value if isinstance(value, str) and value else shown(value)
