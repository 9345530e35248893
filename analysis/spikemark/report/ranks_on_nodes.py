"""The nodes of the ranks of a run, in words."""

from itertools import pairwise

from spikemark.records.record import Run

MOST = 8  # nodes that are named


def ranks_on_nodes(run: Run) -> str:
    """The node of each rank, such as `block: n1, n2`; `unknown` in older records of several nodes."""
    names = run.node_of_rank
    if names is None:
        return "unknown"
    nodes = list(dict.fromkeys(names))
    if len(nodes) == 1:
        return nodes[0]
    if sum(one != other for one, other in pairwise(names)) == len(nodes) - 1:
        return f"block: {_named(nodes)}"
    if all(name == nodes[rank % len(nodes)] for rank, name in enumerate(names)):
        return f"cyclic: {_named(nodes)}"
    ranks = {node: [rank for rank, name in enumerate(names) if name == node] for node in nodes}
    return _named([f"{node} ({_ranges(held)})" for node, held in ranks.items()], "; ")


def _named(words: list[str], between: str = ", ") -> str:
    shown = between.join(words[:MOST])
    return shown if len(words) <= MOST else f"{shown} and {len(words) - MOST} more"


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers with ranges, such as 0–3, 8."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in parts)
