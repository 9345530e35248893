"""Irregular memory access: the mini-app's counts against the expectation from the run description."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.models import access
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, geometric_mean, number, percent
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration, Measured
from spikemark.report.columns import LABEL, RANKS, known, share

from . import drawing, published

TITLE = "Irregular memory access"
NO_EXPECTATION = "no expectation"
EXPLAINED = (
    "How irregular is delivery? When a spike is delivered, the first synapse of its list lies anywhere in "
    "memory; the next ones follow one another. The share of first accesses among all synaptic events "
    "therefore says how irregular delivery is. The mini-app counts both. The expectation follows from the "
    "run description alone (Lober et al. 2026, eqs 13–17, extended to unequal areas)."
)
COUNTED_RATES = "The rates of these neurons depend on their input, so the expectation uses the counted rates."
ALL = 0.999  # from this share on, all lists count as non-empty


@dataclass(frozen=True)
class Share:
    """First accesses per synaptic event, one entry per run; `reasons` says why an expectation is missing."""

    configuration: Configuration
    ranks: int
    counted: list[float]
    expected: list[float]
    reasons: list[str]
    filled: list[float]  # of all lists that could hold a synapse, the share expected to

    @property
    def expectation(self) -> float | None:
        """Typical over the runs that have one."""
        return geometric_mean(self.expected) if self.expected else None

    @property
    def difference(self) -> float | None:
        """What was counted over what was expected, less 1."""
        return geometric_mean(self.counted) / self.expectation - 1 if self.expected else None


def prepare(case: Case) -> list[Share]:
    """Returns one entry per configuration and number of ranks with at least one synaptic event."""
    shares = []
    for ranks in case.ranks:
        for configuration in case.configurations(ranks):
            runs = [m for m in case.of(configuration, ranks) if m.run.record.totals.synaptic_events]
            if runs:
                counts = [
                    m.run.record.totals.first_accesses / m.run.record.totals.synaptic_events for m in runs
                ]
                expected, reasons = _expectations(runs)
                shares.append(Share(configuration, ranks, counts, expected, reasons, filled(runs)))
    return shares


def _expectations(runs: list[Measured]) -> tuple[list[float], list[str]]:
    expected, reasons = [], set()
    for m in runs:
        try:
            ratio = _expected(m).ratio
        except BadInput as error:
            reasons.add(str(error))
            continue
        if ratio is None:
            reasons.add("no spike meets a synapse")
        else:
            expected.append(ratio)
    return expected, sorted(reasons)


def _expected(m: Measured) -> access.Access:
    """Returns what theory expects. Raises BadInput if there is no theory, or if the rates are not known."""
    record = m.run.record
    return access.expected(m.description, record.ranks, record.threads, rates_hz=m.rates_hz)


def filled(runs: list[Measured]) -> list[float]:
    """Returns the expected share of non-empty lists for every run that has an expectation."""
    found = []
    for m in runs:
        try:
            expected = _expected(m)
        except BadInput:
            continue
        if expected.possible_lists:
            found.append(expected.lists / expected.possible_lists)
    return found


def section(view: View) -> Section:
    """Shows what was counted and what was expected in all runs of the figures."""
    if view.case is None:
        return Section("access", TITLE, missing=["Irregular access: no run is complete."])
    shares = prepare(view.case)
    if not shares:
        return Section("access", TITLE, missing=["Irregular access: no synaptic event occurred in any run."])
    reasons = sorted({r for s in shares for r in s.reasons})
    lacking = [f"The expectation for some runs: {reason}." for reason in reasons]
    text = [EXPLAINED, *_rates(view.case), *_equal(shares), *_two_lists(view.case)]
    figures = [_figure(view.case, shares), published.figure()]
    return Section("access", TITLE, text=text, figures=figures, missing=lacking)


def _rates(case: Case) -> list[str]:
    """Says where the rates come from if the description does not give them."""
    for m in case.runs:
        try:
            if m.rates_hz is not None:
                return [COUNTED_RATES]
        except BadInput:
            continue
    return []


def _equal(shares: list[Share]) -> list[str]:
    """Says why schedules do not differ where no list is empty."""
    least = min((x for s in shares for x in s.filled), default=0.0)
    if least <= ALL:
        return []
    return [
        f"Here hardly any list is empty ({percent(least, 1)} of them are expected to hold a synapse), since "
        "a source has many synapses on every thread. With any placement, a spike then enters one list per "
        "thread of every rank. So the schedules are equal if each rank holds one area. They differ in "
        "networks so large that many lists are empty."
    ]


def _two_lists(case: Case) -> list[str]:
    """Says why the structure-aware schedule has more lists where a rank holds several areas."""
    areas = max(len(m.run.record.described.network.areas) for m in case.runs)
    crowded = sorted(
        {
            m.run.record.ranks
            for m in case.runs
            if m.run.schedule == "structure_aware" and m.run.record.ranks < areas
        }
    )
    if not crowded:
        return []
    ranks = " and ".join(counted(r, "rank") for r in crowded)
    return [
        f"With several areas on a rank (here {areas} areas on {ranks}), the structure-aware schedule has "
        "two lists per source on a rank, one for the targets in its own area and one for those in other "
        "areas. A "
        "spike enters both, which adds first accesses."
    ]


def _figure(case: Case, shares: list[Share]) -> Figure:
    alt = "First accesses per synaptic event. " + " ".join(
        f"{s.configuration.label} on {counted(s.ranks, 'rank')}: {number(geometric_mean(s.counted))} counted"
        + (f", {number(s.expectation)} expected." if s.expected else ".")
        for s in shares
    )
    errors = [abs(s.difference) for s in shares if s.expected]
    caption = (
        f"First accesses per synaptic event, {counted(case.threads, 'thread')} per rank; geometric mean "
        "over runs. Dots: counted exactly by the mini-app. Rings: expected from the run description "
        "(modelled)."
    )
    if errors:
        caption += f" Largest difference: {percent(max(errors), 1)} of the expected value."
    columns = {
        **LABEL,
        RANKS: lambda s: s.ranks,
        Column("counted", "first accesses per event", "counted", digits=4): lambda s: geometric_mean(
            s.counted
        ),
        Column("expected", "expected", "modelled", digits=4): lambda s: known(s.expectation, NO_EXPECTATION),
        share("difference", "difference", "", digits=2): lambda s: known(s.difference, NO_EXPECTATION),
    }
    svg = drawing.draw(shares, "access", alt)
    return Figure("access-figure", "First accesses", svg, alt, caption, Table.of(columns, shares))
