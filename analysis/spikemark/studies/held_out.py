"""Waiting predicted from the conventional runs alone, beside how long ranks waited with other schedules."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import number
from spikemark.waiting import PREDICTORS, Predictor
from spikemark.waiting.predictor import asked
from spikemark.waiting.source import source

from .waits import SETUP, Waits

GOALS = {"replay": 10, "correlated": 15}  # per cent, of setups where iid is off by at least
WRONG = 30
NOTE = (
    "Every predictor is fitted on the conventional runs of one serial correlation and has seen no other run. "
    "Predicted waiting includes what a barrier costs in those runs, as the waiting of the runs does. Error: "
    "predicted over actual waiting, minus 1. The interval of a prediction is for the expected waiting; that "
    "of the runs comes from blocks of cycles."
)
OF_SOME = (
    "The predictors are fitted on every second rank of the conventional runs and asked about all ranks, "
    "twice as many."
)


def section(waits: list[Waits], kind: str) -> Section:
    """Predictions from all ranks of the conventional runs and from half of them.

    All `waits` have one spread. `kind` is that of the runs' times.
    """
    predicted = _table(waits, kind)
    return Section("held-out", "Predicted from one schedule", boxes=_boxes(predicted),
                   tables=[predicted, _table(waits, kind, every=2)])  # fmt: skip


def _table(waits: list[Waits], kind: str, every: int = 1) -> Table:
    """One row per setup that the fit has not seen.

    The predictors are fitted on all ranks of the conventional runs, or on every `every`-th; then they have
    not seen the conventional setup either.
    """
    correlations = sorted({w.setup.correlation for w in waits})
    rows = [row for correlation in correlations for row in _rows(waits, correlation, every)]
    columns = [*SETUP, Column("measured_us", "waiting (µs per cycle)", kind)]
    for name in PREDICTORS:
        columns.append(Column(f"{name}_us", name, "modelled"))
        columns.append(Column(f"{name}_error", f"{name}, error (%)", "modelled", 2))
    if every == 1:
        return Table(columns, rows, "Predicted from the conventional runs", "held_out", [NOTE])
    return Table(columns, rows, "Predicted from half of the ranks", "held_out_ranks", [OF_SOME])


def _boxes(held_out: Table) -> list[Box]:
    """Says whether the goals are reached where the published theory is wrong."""
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
            f"{name}: within {goal} % of the actual waiting in {reached} of the {len(wrong)} setups where "
            f"iid is off by {WRONG} % or more; the median error is {median} %. The goal, all of them, is "
            f"{'reached' if reached == len(wrong) else 'NOT reached'}."
        )
        found.append(Box("good" if reached == len(wrong) else "bad", text))
    return found


def _rows(waits: list[Waits], correlation: float, every: int) -> Iterator[dict[str, Cell]]:
    same = [w for w in waits if w.setup.correlation == correlation]
    fits = _fits([w for w in same if w.setup.configuration.schedule == "conventional"], every)
    for w in same:
        if w.setup.configuration.schedule == "conventional" and every == 1:
            continue
        actual = w.measured
        row = {column.name: cell(w) for column, cell in SETUP.items()} | {"measured_us": actual}
        for name in PREDICTORS:
            made = fits if isinstance(fits, Quantity) else _predict(fits[name], w)
            row[f"{name}_us"] = made
            row[f"{name}_error"] = _error(made, actual)
        yield row


def _fits(conventional: list[Waits], every: int) -> dict[str, Predictor] | Quantity:
    """The predictors by name, or why there are none."""
    if not conventional:
        return missing("no conventional run to fit on")
    try:
        fitted = source([m.run for w in conventional for m in w.runs])
        fitted = replace(fitted, compute=np.ascontiguousarray(fitted.compute[::every]))
    except BadInput as reason:
        return missing(f"no fit: {reason}")
    return {name: kind.fit(fitted) for name, kind in PREDICTORS.items()}


def _predict(predictor: Predictor, w: Waits) -> Quantity:
    try:
        made = predictor.predict(**asked(w.runs[0].run))
    except BadInput as reason:
        return missing(f"not predicted: {reason}")
    return made.waiting.times(1e6 / made.cycles, "us")


def _error(made: Quantity, actual: Quantity) -> float | Quantity:
    """Predicted over actual waiting, minus 1, per cent."""
    for side in (made, actual):
        if not side:
            return side
    return 100 * (made.value / actual.value - 1) if actual.value > 0 else missing("nobody waited")
