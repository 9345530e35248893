"""Is the prediction right: theory and replay, fitted to conventional runs alone, against the other
runs.
"""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import FEWEST, Quantity, student
from spikemark.quantities.table import Table
from spikemark.quantities.terms import columns
from spikemark.quantities.words import counted, percent
from spikemark.records.runs_table import PART
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer
from spikemark.waiting.replay import Setting, waiting_without_interval
from spikemark.waiting.sentences import MICRO
from spikemark.waiting.trace import CycleTrace

from .waiting import Pair, independent_us, pairs, plan_of, waited_us

TITLE = "Prediction: is the theory right?"
NEEDED = "it takes conventional runs with cycle times and runs of another schedule"
#: Pairs of a configuration on some ranks that are predicted: replay under another placement takes
#: far longer than all else of a page.
MAX_PAIRS = 50
NOTE = (
    "Errors: predicted over waiting, minus 1; geometric means over pairs with 95 % intervals."
    f" At most {MAX_PAIRS} pairs of a configuration are predicted, evenly chosen."
)
PREDICTORS = {"iid": "theory", "replay": "replay"}
HEADS = {"waited": "waited", **PREDICTORS}


def section(sweep: SweepAnswer) -> Section:
    """Waiting predicted from conventional runs beside the waiting of every other configuration.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).title
        'Prediction: is the theory right?'
    """
    predictions, reasons = _prepare(sweep)
    if predictions.empty:
        why = "; ".join(reasons) or NEEDED
        return Section("prediction", TITLE, missing=[f"Prediction: {why}."])
    rows = _summary(predictions, waited_us(sweep))
    long = (
        pd.DataFrame(rows)
        .melt(["ranks", "configuration"], list(HEADS), "predictor", "waiting_us")
        .dropna()
    )
    long["waiting_us"] = long["waiting_us"].astype(float)
    kind = sweep.runs["kind"].iloc[0]
    long["predictor"] = long["predictor"].map(HEADS | {"waited": kind})
    figure = plots.points(
        long,
        "waiting_us",
        "configuration",
        "prediction-waiting",
        "Waiting and its predictions",
        "Means over runs; predicted from the conventional run of the same network.",
        hue="predictor",
        panel=plots.if_several(long, "ranks"),
        xlabel="waiting (µs per cycle)",
    )
    lacking = [f"Prediction for some runs: {reason}." for reason in reasons]
    return Section(
        "prediction",
        TITLE,
        [_sentence(rows)],
        figures=[figure],
        tables=[_table(rows, kind)],
        missing=lacking,
    )


def _sentence(rows: list[dict[str, Any]]) -> str:
    """How much the theory and replay miss the waiting by; `rows`: of `_summary`."""
    missed = {name: _extent([row[f"{name}_error"] for row in rows]) for name in PREDICTORS}
    return (
        f"The theory of independent cycle times misses the waiting by {missed['iid']}, replay"
        f" misses it by {missed['replay']} ({counted(len(rows), 'configuration')}). Both know only"
        " the conventional runs of the same network. Where a schedule places neurons elsewhere,"
        " replay computes the work of each rank from the network; the theory takes it to stay as it"
        " was."
    )


def _table(rows: list[dict[str, Any]], kind: str) -> Table:
    """The rows of `_summary`, without columns in which nothing is known."""
    shown = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    heads = []
    for column in columns(pd.DataFrame(columns=shown)):
        if column.name == "waited":
            column = replace(column, kind=kind)
        heads.append(column)
    cells = [{name: row[name] for name in shown} for row in rows]
    return Table(heads, cells, "Waiting (µs per cycle)", notes=[NOTE])


def _prepare(sweep: SweepAnswer) -> tuple[pd.DataFrame, list[str]]:
    """A row per pair: configuration, ranks, and waiting (µs per cycle) measured, by theory, by
    replay.
    """
    rows = []
    reasons: dict[str, None] = {}
    for pair in _evenly_chosen(pairs(sweep)):
        row = pair.row
        predicted = {"iid": independent_us(pair)}
        try:
            predicted["replay"] = _replayed_us(row, pair.trace)
        except BadInput as error:
            reasons[str(error).removeprefix(f"{pair.run.path}: ")] = None
        if all(value is None for value in predicted.values()):
            continue
        rows.append(
            {
                "configuration": row["configuration"],
                "ranks": row["ranks"],
                "waited": MICRO * row[f"{PART}waiting"] * row["model_s"] / row["cycles"],
                **predicted,
            }
        )
    frame = pd.DataFrame(rows, columns=["configuration", "ranks", *HEADS])
    return frame.astype(dict.fromkeys(HEADS, float)), list(reasons)


def _evenly_chosen(pairs: list[Pair]) -> list[Pair]:
    """At most MAX_PAIRS pairs of each configuration and number of ranks, evenly over all of them.

    Conventional runs are left out: they are what the predictions are fitted to.
    """
    of_configuration: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        if pair.row["schedule"] != "conventional":
            key = str(pair.row["configuration"]), int(pair.row["ranks"])
            of_configuration.setdefault(key, []).append(pair)
    chosen = []
    for alike in of_configuration.values():
        every = -(-len(alike) // MAX_PAIRS)
        chosen += alike[::every]
    return chosen


def _replayed_us(row: dict[Hashable, Any], trace: CycleTrace) -> float:
    """Waiting in µs per cycle if the ranks of a conventional run met as another run's schedule
    says.

    `row`: of the other run. Raises BadInput where the trace cannot tell.
    """
    plan = plan_of(row)
    lag = {"lag": plan.lag} if plan.lag else {}
    setting = Setting.from_run(
        trace, row["schedule"], row["delay_ratio"], ranks=row["ranks"], **lag
    )
    waiting = waiting_without_interval(trace, setting)
    if waiting.value is None:
        raise BadInput(field="replay", reason=waiting.reason)
    return waiting.value * MICRO / trace.cycles


def _summary(
    predictions: pd.DataFrame, waited: dict[tuple[int, str], float]
) -> list[dict[str, Any]]:
    """A row per configuration and ranks: means, and the error of each predictor over pairs.

    `waited`: as `waiting.waited_us`.
    """
    rows = []
    for key, group in predictions.groupby(["ranks", "configuration"], sort=False):
        ranks, name = cast("tuple[int, str]", key)
        row: dict[str, Any] = {
            "configuration": str(name),
            "ranks": int(ranks),
            "waited": waited[ranks, name],
        }
        for predictor in PREDICTORS:
            values = group[predictor]
            positive = group[(values > 0) & (group["waited"] > 0)]
            row[predictor] = float(values.mean()) if values.notna().any() else None
            row[f"{predictor}_error"] = None
            if len(positive):
                factors = positive[predictor] / positive["waited"]
                row[f"{predictor}_error"] = _error(factors.map(np.log))
        row["pairs"] = len(group)
        rows.append(row)
    return rows


def _error(logs: pd.Series) -> Quantity:
    """Geometric mean of predicted over measured, minus 1, from the logarithms of pairs."""
    value = float(np.expm1(logs.mean()))
    if len(logs) < FEWEST:
        return Quantity(value)
    half = student(len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
    low, high = np.expm1([logs.mean() - half, logs.mean() + half]).tolist()
    return Quantity(value, low, high)


def _extent(errors: list[Quantity | None]) -> str:
    """The smallest and the largest of errors."""
    sizes = [abs(error.value) for error in errors if error is not None and error.value is not None]
    if not sizes:
        return "an unknown share"
    ends = [percent(min(sizes)), percent(max(sizes))]
    return " to ".join(dict.fromkeys(ends))
