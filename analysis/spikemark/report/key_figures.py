"""The row of numbers under the headline."""

from dataclasses import replace

from spikemark.quantities.elements import KeyFigure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import change, counted, geometric_mean, number, span
from spikemark.records.agreement import agreements, broken
from spikemark.records.cases import Ratio, View, ratio
from spikemark.records.record import NOT_TIMED

from .headline import Headline, expected_waiting, interval
from .sections.access import ALL, filled

EQUAL = 5e-4  # relative difference of counts below which they are called equal


def key_figures(view: View, headline: Headline) -> list[KeyFigure]:
    """Returns the comparison of two schedules, if there is one, and always how far the sweep has come."""
    compared = _compared(view, headline) if headline.speed_up else []
    return [*compared, _runs(view), _checksums(view)]


def _compared(view: View, headline: Headline) -> list[KeyFigure]:
    where = counted(view.ranks, "rank")
    figures, speed_up = [], headline.speed_up
    compared = {view.conventional: speed_up.first, view.structure_aware: speed_up.second}
    for configuration, factor in compared.items():
        runs = view.case.of(configuration, view.ranks)
        paired = len(speed_up.pairs)
        if len(runs) > paired:
            mean = f"geometric mean of the {paired} of {len(runs)} runs that have a partner"
        else:
            mean = "one run" if paired == 1 else f"geometric mean of {paired} runs"
        note = f"{where}, {mean}" + (f", {span([m.real_time_factor for m in runs])}" if len(runs) > 1 else "")
        label = f"Real-time factor, {configuration.label}"
        figures.append(KeyFigure(label, factor, view.kind, note))
    label = "Speed-up, conventional over structure-aware"
    figures.append(KeyFigure(label, speed_up.quantity, view.kind, _certainty(speed_up), _times))
    return [*figures, _waiting(view, headline), _access(view), _memory(view)]


def _waiting(view: View, headline: Headline) -> KeyFigure:
    label = "Waiting, structure-aware against conventional"
    if headline.waiting is None:
        return KeyFigure.lacking(label, "one rank waits for nobody" if view.ranks == 1 else NOT_TIMED)
    return _changed(label, headline.waiting, view.kind, expected_waiting(view))


def _changed(label: str, r: Ratio, kind: str, theory: float | None = None) -> KeyFigure:
    """Shows a change in per cent if the runs resolve one, else the ratio; the theory in the same unit."""
    words = change if r.resolved else number
    note = _certainty(r, f"{words(r.low)} to {words(r.high)}" if r.resolved else "")
    if theory is not None:
        note += f"; theory {words(theory)} (modelled)"
    return KeyFigure(label, r.quantity, kind, note, change if r.resolved else _times)


def _certainty(r: Ratio, limits: str = "") -> str:
    if r.verdict == "single":
        return "not resolved: one pair of runs has no interval"
    return f"{'' if r.resolved else 'not resolved: '}95 % interval {limits or interval(r)}"


def _access(view: View) -> KeyFigure:
    label = "First accesses, structure-aware against conventional"
    plain, aware = (view.case.of(c, view.ranks) for c in (view.conventional, view.structure_aware))
    r = ratio(aware, plain, _first_accesses)
    if r is None:
        return KeyFigure.lacking(label, "no synaptic event occurred")
    if max(abs(pair - 1) for pair in r.pairs) > EQUAL:
        found = _changed(label, r, "counted")
        return replace(found, note=f"per synaptic event; {found.note}")
    note = "per synaptic event"
    if min(filled(plain + aware), default=0) > ALL:
        note += ": hardly any list is empty, so a spike enters equally many lists with both schedules"
    return KeyFigure(label, "equal", "counted", note)


def _first_accesses(measured) -> float | None:
    totals = measured.run.record.totals
    return totals.first_accesses / totals.synaptic_events if totals.synaptic_events else None


def _memory(view: View) -> KeyFigure:
    label = "Memory per synapse, structure-aware"
    runs = view.case.of(view.structure_aware, view.ranks)
    values = [b for m in runs if (b := m.run.record.memory.bytes_per_synapse) is not None]
    if not values:
        return KeyFigure.lacking(label, "unknown to the mini-app, or no synapses")
    note = "peak memory of all ranks, MPI and program included, divided by synapses"
    return KeyFigure(
        label, Quantity(geometric_mean(values), unit="B"), view.kind, note, lambda b: f"{number(b)} B"
    )


def _runs(view: View) -> KeyFigure:
    sweep = view.sweep
    note = ", ".join(
        f"{count} {what}"
        for count, what in (
            (len(sweep.failed), "failed"),
            (len(sweep.unreadable), "unreadable"),
            (len(sweep.not_run), "not run yet"),
        )
        if count
    )
    return KeyFigure(
        "Runs complete", f"{len(sweep.runs)} of {len(sweep.planned)}", "counted", note or "none failed"
    )


def _checksums(view: View) -> KeyFigure:
    found = agreements(view.sweep)
    label = "Checksums of each network"
    if not found:
        return KeyFigure.lacking(label, "no run is complete")
    if broken(view.sweep):
        return KeyFigure(label, "NOT EQUAL", "counted", "see Correctness; do not compare the times")
    if all(len(a.runs) == 1 for a in found):
        return KeyFigure.lacking(label, "one run per network, so there is nothing to compare")
    note = f"{counted(len(found), 'network')}, {counted(len(view.sweep.runs), 'run')}"
    return KeyFigure(label, "equal", "counted", note)


def _times(factor: float) -> str:
    return f"{number(factor)}×"
