"""Irregular memory access: what the mini-app counted against what the run description lets one expect."""

from dataclasses import dataclass

import numpy as np

from spikemark.errors import BadInput
from spikemark.models import access

from ..cases import Case, View
from ..elements import Figure, Section, Table
from ..figures import access as drawing
from ..gather import Configuration, Measured
from ..values import counted, number, percent

TITLE = "Irregular memory access"
EXPLAINED = (
    "When a spike is delivered, the first synapse of its list lies anywhere in memory, the next ones follow "
    "one another. The share of first accesses among all synaptic events therefore says how irregular "
    "delivery is. The mini-app counts both; the expectation follows from the run description alone (Lober et "
    "al. 2026, eqs 13–17, extended to unequal areas)."
)


@dataclass(frozen=True)
class Share:
    """First accesses per synaptic event, one entry per run; `reasons` says why an expectation is missing."""

    configuration: Configuration
    ranks: int
    counted: list[float]
    expected: list[float]
    reasons: list[str]


def prepare(case: Case) -> list[Share]:
    """One entry per configuration and number of ranks with at least one synaptic event."""
    shares = []
    for ranks in case.ranks:
        for configuration in case.configurations(ranks):
            runs = [m for m in case.of(configuration, ranks) if m.run.record.totals.synaptic_events]
            if runs:
                counts = [
                    m.run.record.totals.first_accesses / m.run.record.totals.synaptic_events for m in runs
                ]
                expected, reasons = _expectations(runs)
                shares.append(Share(configuration, ranks, counts, expected, reasons))
    return shares


def _expectations(runs: list[Measured]) -> tuple[list[float], list[str]]:
    expected, reasons = [], set()
    for m in runs:
        try:
            ratio = access.expected(m.description, m.run.record.ranks, m.run.record.threads).ratio
        except BadInput as error:
            reasons.add(str(error))
            continue
        if ratio is None:
            reasons.add("no spike meets a synapse")
        else:
            expected.append(ratio)
    return expected, sorted(reasons)


def section(view: View) -> Section:
    """What was counted and what was expected, of all runs in the figures."""
    if view.case is None:
        return Section("access", TITLE, missing=["Irregular access: no run is complete."])
    shares = prepare(view.case)
    if not shares:
        return Section("access", TITLE, missing=["Irregular access: no synaptic event occurred in any run."])
    reasons = sorted({r for s in shares for r in s.reasons})
    missing = [f"The expectation for some runs: {reason}." for reason in reasons]
    return Section("access", TITLE, text=[EXPLAINED], figures=[_figure(view.case, shares)], missing=missing)


def _figure(case: Case, shares: list[Share]) -> Figure:
    alt = "First accesses per synaptic event. " + " ".join(
        f"{s.configuration.label} on {counted(s.ranks, 'rank')}: {number(np.mean(s.counted))} counted"
        + (f", {number(np.mean(s.expected))} expected." if s.expected else ".")
        for s in shares
    )
    errors = [abs(np.mean(s.counted) / np.mean(s.expected) - 1) for s in shares if s.expected]
    caption = (
        f"First accesses per synaptic event, {counted(case.threads, 'thread')} per rank; mean over seeds. "
        "Dots: counted exactly by the mini-app. Rings: expected from the run description (modelled)."
    )
    if errors:
        caption += f" Largest difference: {percent(max(errors), 1)} of the expected value."
    rows = [
        [
            s.configuration.label,
            str(s.ranks),
            number(np.mean(s.counted), 4),
            number(np.mean(s.expected), 4) if s.expected else "missing",
            percent(np.mean(s.counted) / np.mean(s.expected) - 1, 2) if s.expected else "missing",
        ]
        for s in shares
    ]
    table = Table(
        ["schedule", "ranks", "first accesses per event", "expected", "difference"],
        rows,
        ["given", "given", "counted", "modelled", ""],
    )
    return Figure("access-figure", "First accesses", drawing.draw(shares, "access", alt), alt, caption, table)
