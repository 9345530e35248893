"""Partitions of a brain of 1e10 and 2e10 neurons on 2000 and 4000 ranks, beside Du et al. (2022)."""

from functools import partial
from typing import Any

from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import number
from spikemark.records.gather import Sweep
from spikemark.studies.study import Findings, Full, Study

from . import counted, tables
from .figures import figures
from .placements import RANKS, compute, load

EXPLAINED = (
    "Which rank should hold which voxels, so that no rank sends more than the others, and what do two levels"
    " of routing change? Du et al. answer for 2000 and 4000 GPUs. Their connectivity is not public. Here, a"
    " parametric brain has as many voxels, neurons and synapses per neuron. No network is drawn: traffic is"
    " an expectation over all networks of that brain."
)
WORTH = (
    "Two published numbers were used to choose the brain's parameters, and one follows from the number of"
    " ranks alone. They confirm nothing. The column status says so."
)


def read(sweep: Sweep) -> Findings:
    """What placements do, as far as they have been computed, and what small runs counted."""
    results = list(load(sweep.path).values())
    main = tables.peaks(results)
    parts = [
        Section("peaks", "Peak traffic by method", [EXPLAINED], boxes=_boxes(results),
                figures=[f for ranks in RANKS for f in figures(results, ranks, main)],
                tables=[main, tables.others(results)]),
        Section("published", "Beside Du et al.", [WORTH], tables=[tables.published(results)]),
        Section("levels", "Two levels", tables=[tables.two_levels(results)]),
        Section("sensitivity", "Other brains", tables=[tables.sensitivity(results)]),
        Section("counted", "Small brains, run", tables=[counted.table(sweep.runs)]),
    ]  # fmt: skip
    return Findings(_sentence(results), _key_figures(results), parts)


def _best(results: list[dict[str, Any]], ranks: int) -> tuple[str, Quantity] | None:
    """The method with the lowest peak, and its change against random; of a search the longest one."""
    found = []
    for method in {r["method"] for r in results}:
        own = _longest(results, ranks, method)
        change = tables.against(own, tables.of(results, ranks, "random"))
        if change:
            found.append((change.value, method, change))
    return min(found)[1:] if found else None


def _longest(results: list[dict[str, Any]], ranks: int, method: str) -> list[dict[str, Any]]:
    found = list(tables.by_limit(tables.of(results, ranks, method)).values())
    return found[-1] if found else []


def _sentence(results: list[dict[str, Any]]) -> str:
    best = _best(results, RANKS[0])
    swapped = tables.of(results, RANKS[0], tables.PROPOSED)
    if best is None or not swapped:
        return "Nothing to compare yet: no placements of the full brain have been computed."
    change = tables.against(swapped, tables.of(results, RANKS[0], "random"))
    return (
        f"On {RANKS[0]} ranks, {best[0]} has the lowest peak: {number(best[1].value)} % against random"
        f" voxels; greedy_swap: {number(change.value)} %, published: -31.2 %, for which the brain was tuned."
    )


def _boxes(results: list[dict[str, Any]]) -> list[Box]:
    boxes = []
    for ranks in RANKS:
        swapped, best = tables.of(results, ranks, tables.PROPOSED), _best(results, ranks)
        if swapped and best and best[0] != tables.PROPOSED:
            less = tables.against(_longest(results, ranks, best[0]), swapped)
            text = f"{ranks} ranks: {best[0]} has a peak {number(less.value)} % against greedy_swap."
            boxes.append(Box("plain", text))
    return boxes


def _key_figures(results: list[dict[str, Any]]) -> list[KeyFigure]:
    wanted = {
        f"Peak on {RANKS[0]} ranks, {method} against random": tables.against(
            _longest(results, RANKS[0], method), tables.of(results, RANKS[0], "random")
        )
        for method in (tables.PROPOSED, "genetic", "peak_search")
    }
    return [
        KeyFigure(head, value, "modelled", words=lambda x: f"{number(x)} %")
        if value
        else KeyFigure.lacking(head, value.reason)
        for head, value in wanted.items()
    ]


STUDY = Study(
    "partition-du",
    "partitions of a brain of 1e10 neurons on 2000 and 4000 ranks, and two levels, beside Du et al. 2023",
    "partition-du",
    read,
    compute,
    "about ten minutes of a core",
    Full(partial(compute, full=True), "about half an hour of a core"),
)
