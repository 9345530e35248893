"""The row of numbers under the headline."""

import numpy as np

from .cases import View, ratio
from .elements import KeyFigure
from .headline import Headline, change, expected_fall, interval
from .sections import correctness
from .values import counted, number, percent, span


def key_figures(view: View, headline: Headline) -> list[KeyFigure]:
    """The compared numbers where two schedules can be compared, and always how far the sweep has come."""
    compared = _compared(view, headline) if view.comparable else []
    return [*compared, _runs(view), _checksums(view)]


def _compared(view: View, headline: Headline) -> list[KeyFigure]:
    where = counted(view.ranks, "rank")
    figures = []
    speed_up = headline.speed_up
    for configuration, factor in (
        (view.conventional, speed_up.first),
        (view.structure_aware, speed_up.second),
    ):
        runs = view.case.of(configuration, view.ranks)
        factors = [m.real_time_factor for m in runs]
        mean = "" if len(runs) == 1 else "geometric mean, "
        note = f"{where}, {mean}{span(factors)} in {counted(len(runs), 'run')}"
        label = f"Real-time factor, {configuration.label}"
        figures.append(KeyFigure(label, number(factor), "measured", note))
    figures.append(_speed_up(headline))
    figures.append(_waiting(view, headline))
    figures.append(_access(view))
    figures.append(_memory(view))
    return figures


def _speed_up(headline: Headline) -> KeyFigure:
    r = headline.speed_up
    note = f"95 % interval {interval(r)}" if r.low is not None else "one pair of runs: no interval"
    return KeyFigure("Speed-up, conventional over structure-aware", f"{number(r.value)}×", "measured", note)


def _waiting(view: View, headline: Headline) -> KeyFigure:
    label = "Waiting, structure-aware against conventional"
    if headline.waiting is None:
        reason = (
            "one rank waits for nobody"
            if view.ranks == 1
            else "not measured on its own (record.barrier is false)"
        )
        return _missing(label, reason)
    r, fall = headline.waiting, f"theory: fell by {percent(expected_fall(view))} (modelled)"
    note = fall if r.low is None else f"ratio {interval(r)} (95 %); {fall}"
    return KeyFigure(label, change(r), "measured", note)


def _access(view: View) -> KeyFigure:
    label = "First accesses, structure-aware against conventional"
    plain, aware = (view.case.of(c, view.ranks) for c in (view.conventional, view.structure_aware))
    r = ratio(aware, plain, _first_accesses)
    if r is None:
        return _missing(label, "no synaptic event occurred")
    return KeyFigure(label, change(r), "counted", "per synaptic event")


def _first_accesses(measured) -> float | None:
    totals = measured.run.record.totals
    return totals.first_accesses / totals.synaptic_events if totals.synaptic_events else None


def _memory(view: View) -> KeyFigure:
    label = "Memory per synapse, structure-aware"
    runs = view.case.of(view.structure_aware, view.ranks)
    values = [b for m in runs if (b := m.run.record.memory.bytes_per_synapse) is not None]
    if not values:
        return _missing(label, "unknown to the mini-app, or no synapses")
    return KeyFigure(
        label, f"{number(np.mean(values))} B", "measured", "resident high-water mark, all included"
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
    agreements = correctness.prepare(view.sweep)
    label = "Checksums of each network"
    if not agreements:
        return _missing(label, "no run is complete")
    if correctness.broken(view.sweep):
        return KeyFigure(label, "NOT EQUAL", "counted", "see Correctness; do not compare the times")
    if all(len(a.runs) == 1 for a in agreements):
        return _missing(label, "one run per network: nothing to compare")
    return KeyFigure(
        label,
        "equal",
        "counted",
        f"{counted(len(agreements), 'network')}, {counted(len(view.sweep.runs), 'run')}",
    )


def _missing(label: str, reason: str) -> KeyFigure:
    return KeyFigure(label, "missing", "", reason, missing=True)
