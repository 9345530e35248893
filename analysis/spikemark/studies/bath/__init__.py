"""Unequal nodes in one run: a slow node in many, and x86 and ARM nodes in one bath (Simula et al. 2019)."""

from typing import Any

from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.words import change
from spikemark.records.gather import Sweep
from spikemark.studies.study import Findings, Study

from . import injected, slow_node, slow_tables

EXPLAINED = (
    "Every rank waits for the slowest one. But a node that is a little slower hides behind the fluctuations"
    " of all others, as long as ranks meet often: somebody is late anyway. Schedules that wait less have less"
    " to hide it behind. So what does one slow node cost each of them?"
)
SOURCE = (
    f"The full benchmark of the multi-area model with {slow_node.RANKS} areas, an area on each rank and a"
    f" rank on each node of {slow_node.MACHINE}. The kernels of the last node take longer; its network does"
    " not."
)


def read(sweep: Sweep) -> Findings:
    """What has been computed and run so far."""
    slow = slow_node.load(sweep.path)
    kind = "extrapolated" if any(kept["outside"] for kept in slow.values()) else "modelled"
    parts = [
        Section("slow-node", "One slow node", [EXPLAINED, SOURCE], tables=[slow_tables.costs(slow, kind)]),
        Section("whatif", "What equal nodes tell", tables=[slow_tables.beside(slow, kind)]),
        Section("injected", "Real ranks", tables=[injected.table(sweep)]),
    ]
    said = slow_tables.sentence(slow) or "Nothing to compare yet: no machine of unequal nodes was computed."
    return Findings(said, _key_figures(slow, kind), parts)


def _key_figures(slow: dict[str, Any], kind: str) -> list[KeyFigure]:
    found = []
    for way in slow_node.WAYS[0], slow_node.Way("structure_aware", 10), slow_node.Way("overlapped", 10, 1):
        head = f"A node that takes 1.2 times as long, {way.words}"
        if way.words not in slow:
            found.append(KeyFigure.lacking(head, "not computed yet"))
            continue
        cost = slow_node.quantity(slow[way.words]["model"], "cost", 1.2)
        found.append(KeyFigure(head, cost, kind, "of the run time", words=lambda x: change(1 + x)))
    return found


def prepare(sweep: Sweep) -> list[str]:
    """Compute what is missing, and say what cannot be."""
    return list(slow_node.compute(sweep.path))


STUDY = Study(
    "bath",
    "unequal nodes in one run: what one slow node costs each schedule, and mixes of x86 and ARM nodes",
    "bath",
    read,
    prepare,
    "about two minutes of a core",
)
