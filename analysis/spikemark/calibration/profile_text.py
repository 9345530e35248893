"""The YAML of a calibrated profile, or machine of parts (docs/machines.md states the fields)."""

from typing import Any, NamedTuple

import yaml

from spikemark.core.fields import assign
from spikemark.machines.fields import AT_LEAST_ONE, SHARE, TABLE
from spikemark.machines.parts import LINKS, NODES, PARTS
from spikemark.machines.profile import Value, field_of, place

ANY, POSSIBLE = (0.0, float("inf")), {SHARE: (0.0, 1.0), AT_LEAST_ONE: (1.0, float("inf"))}


class Head(NamedTuple):
    """What a file says of itself. `unknown`, by path, and `warnings` become comments."""

    name: str
    title: str
    reference: str
    unknown: dict[str, str]
    warnings: list[str]


class PartLine(NamedTuple):
    """A part: the file of its profile, its nodes in words, and their number."""

    name: str
    file: str
    nodes: str
    number: int


def text(head: Head, values: dict[str, Value]) -> str:
    """The text of the file. `values` go by path."""
    return _whole(head, _tree(head, values))


def of_parts(head: Head, parts: list[PartLine], links: dict[str, dict[str, Value]]) -> str:
    """The same of a machine of parts, whose profiles lie beside it. `links`: values by path, of each link."""
    tree: dict[str, Any] = {PARTS: {}, LINKS: {}}
    for part in parts:
        nodes = Value(part.number, "1", "measured", part.nodes)
        leaf = _leaf("node.sockets", nodes, head.reference)
        tree[PARTS][part.name] = {"profile": part.file, NODES: leaf}
    for link, values in links.items():
        tree[LINKS][link] = _tree(head, values).get("interconnect", {})
    return _whole(head, tree)


def _tree(head: Head, values: dict[str, Value]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in sorted(values, key=place):
        assign(tree, path, _leaf(path, values[path], head.reference))
    return tree


def _whole(head: Head, tree: dict[str, Any]) -> str:
    lines = [f"# {head.reference}. Intervals: where one more repetition is expected (95 %)."]
    lines += [f"# Warning: {warning}" for warning in head.warnings]
    lines += [f"# Unknown: {path}: {reason}" for path, reason in sorted(head.unknown.items())]
    lines += ["format_version: 1", f"name: {head.name}", f"title: {_flow(head.title)}"]
    return "\n".join(lines + _lines(tree, "")) + "\n"


def _leaf(path: str, value: Value, reference: str) -> dict[str, Any]:
    """A value as written to the file; `reference` comes before what is special about this value."""
    origin = {"kind": value.kind, "reference": ": ".join(filter(None, (reference, value.reference)))}
    if field_of(path).allowed == TABLE:
        return origin | {"rows": [[ranks, size, _rounded(us)] for ranks, size, us in value.value]}
    leaf = {"value": _rounded(value.value)} | ({"unit": value.unit} if value.unit else {}) | origin
    if value.interval:
        low, high = POSSIBLE.get(field_of(path).allowed, ANY)
        leaf["interval"] = [_rounded(min(max(end, low), high)) for end in value.interval]
    return leaf


def _rounded(value: float | int | str) -> float | int | str:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _lines(branch: dict[str, Any], indent: str) -> list[str]:
    """Lines of YAML: branches are indented, each leaf has a line."""
    lines = []
    for name, value in branch.items():
        if isinstance(value, dict) and value and not {"value", "rows"} & set(value):
            lines += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=float("inf"), allow_unicode=True
    )
    return text.removesuffix("\n...\n").rstrip("\n")
