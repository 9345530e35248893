"""A budget as a table and as JSON."""

from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent

from . import verdicts
from .budget import Budget
from .node_share import BetweenNodes
from .show import nodes_content, nodes_lines
from .show_causes import NOT_KEPT, NOT_OURS
from .units import in_us

MEANING = {
    "persistent": "lasting differences between ranks",
    "jitter": "averages out over {d} cycles, as 1/√{d}",
    "drift": "does not average out over {d} cycles",
    "rare": "rare long cycles of single ranks",
    "barrier": "beyond what the compute times explain",
}
#: Why a part is not what its removal would save.
SHARED = (
    "A change saves another amount than the part that it removes, since what one part no longer delays,"
    " another still does; `spikemark whatif` computes what changes save."
)
COMMON = "common mode"
#: What this row is: `budget._common_mode`.
TOGETHER = (
    f"{COMMON}: how much longer a mean cycle is than a usual one (the median), in what all ranks share,"
    " because in some cycles all of them are slow at once. It makes the run longer, but nobody waits for"
    " it, so it is not part of the waiting. It is 0 where chance explains as much."
)


def budget(found: Budget, cycles: int) -> Table:
    """One line per part, and the efficiencies below; times in microseconds per cycle.

    The title is the sentence of `verdicts.cause`.
    """
    derived = "; not timed: derived, with its limits" if found.waiting_kind == "modelled" else ""
    rows = [("waiting", found.waiting, None, f"mean over ranks{derived}")]
    for name, part in found.parts.items():
        share = (
            percent(round(part.share_of(found.waiting).value, 6)) if part and found.waiting_s > 0 else None
        )
        rows.append((f"  {name}", part, share, MEANING[name].format(d=found.delay_ratio)))
    if found.transport is not None:
        rows.append(("transport", found.transport, None, "exchanging data, no waiting"))
    rows.append((COMMON, found.common_mode, None, "all ranks slow at once: mean minus median, no waiting"))
    columns = [
        Column("part", ""),
        Column("us_per_cycle", "µs per cycle, with 95 % interval"),
        Column("kind", "kind"),
        Column("share", "share"),
        Column("meaning", "what it is"),
    ]
    lines = [
        {
            "part": part,
            "us_per_cycle": in_us(value, cycles),
            "kind": value.kind,
            "share": share,
            "meaning": words,
        }
        for part, value, share, words in rows
    ]
    notes = [verdicts.apart(found), SHARED, TOGETHER]
    if found.efficiency is not None:
        names = ", ".join(f"{name} {number(value)}" for name, value in found.efficiency.items())
        notes.append(f"POP efficiencies: {names}")
    if found.nodes is not None:
        notes += between_nodes_lines(found.nodes)
    if found.causes is None and found.parts["rare"].value > 0:
        notes.append(NOT_KEPT if found.of_record else NOT_OURS)
    notes += [f"{name}: {part.reason}" for name, part in found.parts.items() if not part]
    return Table(columns, lines, verdicts.cause(found), notes=notes)


def between_nodes_lines(found: BetweenNodes) -> list[str]:
    """How much of the waiting is due to differences between nodes, and which are slow, in sentences."""
    low, high = found.share.interval
    words = f"{percent(found.share.value)} of the waiting ({percent(low)} to {percent(high)})"
    return [
        f"lasting differences between nodes: {words}, which is part of persistent",
        *nodes_lines(found.nodes),
    ]


def budget_content(found: Budget) -> dict[str, Any]:
    """The content for JSON: times in seconds over the run, means over ranks."""
    content = {"sentence": verdicts.cause(found)} | asdict(found)
    if found.slowest is not None:
        ours = {name: getattr(found.slowest, name).content() for name in ("longer", "share")}
        content["slowest"] = content["slowest"] | ours
    content["causes"] = None if found.causes is None else found.causes.content()
    content["parts"] = {name: part.content() for name, part in found.parts.items()}
    if found.nodes is not None:
        ours = {"waiting": found.nodes.waiting.content(), "share": found.nodes.share.content()}
        content["nodes"] = ours | nodes_content(found.nodes.nodes)
    for name in ("common_mode", "transport"):
        value = getattr(found, name)
        content[name] = None if value is None else value.content()
    return content
