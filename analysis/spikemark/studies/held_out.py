"""Waiting predicted from the conventional run alone, beside what other schedules were measured to wait."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Box
from spikemark.quantities.words import number
from spikemark.studies.table import Column, Estimate, Missing, StudyTable
from spikemark.waiting import PREDICTORS, Predictor
from spikemark.waiting.predictor import asked
from spikemark.waiting.source import source

from .waits import Waits

GOALS = {"replay": 10, "correlated": 15}  # per cent, of setups where iid is off by at least
WRONG = 30
NOTE = (
    "Every predictor is fitted on the conventional runs of a serial correlation and has seen no other run. "
    "Predicted waiting holds what a barrier costs in those runs, as measured waiting does. Error: predicted "
    "over measured, minus 1. Intervals of predictions are of the expected waiting, those of measured values "
    "over blocks of cycles."
)


OF_SOME = "Fitted on every second rank of the conventional runs, asked for all ranks: twice as many."


def table(waits: list[Waits], every: int = 1) -> StudyTable:
    """One row per setup that the fit has not seen; `waits` of one spread, any correlation.

    Fitted on all ranks of the conventional runs, or on those by steps of `every`; then also the conventional
    setup is one that it has not seen.
    """
    correlations = sorted({w.setup.correlation for w in waits})
    rows = [row for correlation in correlations for row in _rows(waits, correlation, every)]
    columns = [
        Column("correlation", "serial correlation", "given", 2),
        Column("schedule", "schedule", "given"),
        Column("measured_us", "waiting (µs per cycle)", "measured"),
    ]
    for name in PREDICTORS:
        columns.append(Column(f"{name}_us", name, "modelled"))
        columns.append(Column(f"{name}_error", f"{name}, error (%)", "modelled", 2))
    if every == 1:
        return StudyTable("held_out", "Predicted from the conventional runs", columns, rows, [NOTE])
    return StudyTable("held_out_ranks", "Predicted from half of the ranks", columns, rows, [OF_SOME, NOTE])


def boxes(held_out: StudyTable) -> list[Box]:
    """Are the goals reached, where the published theory is wrong?"""
    errors = [
        {name: abs(row[f"{name}_error"]) for name in PREDICTORS}
        for row in held_out.rows
        if all(isinstance(row[f"{name}_error"], float) for name in PREDICTORS)
    ]
    wrong = [row for row in errors if row["iid"] >= WRONG]
    found = []
    for name, goal in GOALS.items():
        if not wrong:
            continue
        reached = sum(row[name] <= goal for row in wrong)
        median = number(float(np.median([row[name] for row in wrong])), 2)
        text = (
            f"{name}: within {goal} % of the measured waiting in {reached} of the {len(wrong)} setups where "
            f"iid is off by {WRONG} % or more; median error {median} %. The goal, all of them, is "
            f"{'reached' if reached == len(wrong) else 'NOT reached'}."
        )
        found.append(Box("good" if reached == len(wrong) else "bad", text))
    return found


def _rows(waits: list[Waits], correlation: float, every: int) -> Iterator[dict]:
    same = [w for w in waits if w.setup.correlation == correlation]
    fits = _fits([w for w in same if w.setup.configuration.schedule == "conventional"], every)
    for w in same:
        if w.setup.configuration.schedule == "conventional" and every == 1:
            continue
        row = {
            "correlation": correlation,
            "schedule": w.setup.configuration.label,
            "measured_us": w.measured,
        }
        for name in PREDICTORS:
            made = fits if isinstance(fits, Missing) else _predict(fits[name], w)
            row[f"{name}_us"] = row[f"{name}_error"] = made
            if isinstance(made, Estimate):
                row[f"{name}_error"] = _error(made, w.measured)
        yield row


def _fits(conventional: list[Waits], every: int) -> dict[str, Predictor] | Missing:
    if not conventional:
        return Missing("no conventional run to fit on")
    try:
        fitted = source([m.run for w in conventional for m in w.runs])
        fitted = replace(fitted, compute=np.ascontiguousarray(fitted.compute[::every]))
    except BadInput as reason:
        return Missing(f"no fit: {reason}")
    return {name: kind.fit(fitted) for name, kind in PREDICTORS.items()}


def _predict(predictor: Predictor, w: Waits) -> Estimate | Missing:
    try:
        made = predictor.predict(**asked(w.runs[0].run))
    except BadInput as reason:
        return Missing(f"not predicted: {reason}")
    return Estimate(*(1e6 * x / made.cycles for x in (made.waiting_s, *made.waiting.interval)))


def _error(made: Estimate, measured: Estimate | Missing) -> float | Missing:
    if isinstance(measured, Missing):
        return measured
    return 100 * (made.value / measured.value - 1) if measured.value > 0 else Missing("nobody waited")
