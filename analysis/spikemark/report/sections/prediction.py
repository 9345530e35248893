"""Is the prediction right: theory and replay, fitted to conventional runs alone, against the other runs."""

from dataclasses import replace

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import FEWEST, Quantity, student
from spikemark.quantities.table import Table
from spikemark.quantities.terms import columns
from spikemark.quantities.words import counted, percent
from spikemark.records.frames import PART
from spikemark.report import plots
from spikemark.report.answer import Answer, compared
from spikemark.waiting import theory
from spikemark.waiting.answer import MICRO
from spikemark.waiting.replay import Setting, predict

from .waiting import conventional, per_cycle, plan_of

NOTE = "Errors: predicted over waiting, minus 1; geometric means over pairs with 95 % intervals."
TITLE = "Prediction: is the theory right?"
PREDICTORS = {"iid": "theory", "replay": "replay"}
HEADS = {"waited": "waited", **PREDICTORS}


def section(found: Answer) -> Section:
    """Waiting predicted from conventional runs beside the waiting of every other configuration."""
    pairs, reasons = prepare(found)
    if pairs.empty:
        why = "; ".join(reasons) or "it takes conventional runs with cycle times and runs of another schedule"
        return Section("prediction", TITLE, missing=[f"Prediction: {why}."])
    rows = summary(pairs)
    said = {name: _extent([row[f"{name}_error"] for row in rows]) for name in PREDICTORS}
    text = [
        f"The theory of independent cycle times misses the waiting by {said['iid']}, replay"
        f" misses it by {said['replay']} ({counted(len(rows), 'configuration')}). Both know only the"
        " conventional runs of the same network, so other placements of neurons count as errors."
    ]
    drawn = pairs.groupby(["ranks", "configuration"], sort=False)[list(HEADS)].mean().reset_index()
    long = drawn.melt(["ranks", "configuration"], list(HEADS), "predictor", "waiting_us").dropna()
    kind = found.runs["kind"].iloc[0]
    long["predictor"] = long["predictor"].map(HEADS | {"waited": kind})
    figure = plots.points(
        long, "waiting_us", "configuration", "prediction-waiting", "Waiting and its predictions",
        "Means over pairs of a conventional run and another one of the same network.", hue="predictor",
        panel="ranks" if long["ranks"].nunique() > 1 else None, xlabel="waiting (µs per cycle)",
    )  # fmt: skip
    shown = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    heads = columns(pd.DataFrame(columns=shown))
    heads = [replace(c, kind=kind) if c.name == "waited" else c for c in heads]
    table = Table(heads, [{n: row[n] for n in shown} for row in rows], "Waiting (µs per cycle)", notes=[NOTE])
    lacking = [f"Prediction for some runs: {one}." for one in reasons]
    return Section("prediction", TITLE, text, figures=[figure], tables=[table], missing=lacking)


def prepare(found: Answer) -> tuple[pd.DataFrame, list[str]]:
    """A row per pair: configuration, ranks, and waiting (µs per cycle) measured, by theory, by replay."""
    plain, rows, reasons = conventional(found), [], {}
    runs = compared(found)
    for row in runs[(runs["schedule"] != "conventional") & runs[f"{PART}waiting"].notna()].to_dict("records"):
        known = plain.get((row["network"], row["ranks"]), [])
        pair = next((one for one in known if one[0]["repetition"] == row["repetition"]), None)
        if pair is None:
            continue
        _, run, trace = pair
        made = {}
        try:
            plan = plan_of(row)
            scale = MICRO / trace.cycles
            made["iid"] = iid.value * scale if (iid := theory.iid(trace, plan)) else None
            how = {"lag": plan.lag} if plan.lag else {}
            setting = Setting.of(trace, row["schedule"], row["delay_ratio"], ranks=row["ranks"], **how)
            made["replay"] = predict(trace, setting).waiting.value * scale
        except BadInput as error:
            reasons[str(error).removeprefix(f"{run.path}: ")] = None
        if made:
            same = {name: row[name] for name in ("configuration", "ranks")}
            rows.append({**same, "waited": row[f"{PART}waiting"] * per_cycle(run), **made})
    frame = pd.DataFrame(rows, columns=["configuration", "ranks", *HEADS])
    return frame.astype(dict.fromkeys(HEADS, float)), list(reasons)


def summary(pairs: pd.DataFrame) -> list[dict]:
    """A row per configuration and ranks: means, and the error of each predictor over pairs."""
    rows = []
    for (ranks, name), own in pairs.groupby(["ranks", "configuration"], sort=False):
        row = {"configuration": str(name), "ranks": int(ranks), "waited": float(own["waited"].mean())}
        for one in PREDICTORS:
            known = own[(own[one] > 0) & (own["waited"] > 0)]
            row[one] = float(known[one].mean()) if len(known) else None
            row[f"{one}_error"] = error(np.log(known[one] / known["waited"])) if len(known) else None
        rows.append(row | {"pairs": len(own)})
    return rows


def error(logs: pd.Series) -> Quantity:
    """Geometric mean of predicted over measured, minus 1, from the logarithms of pairs."""
    value = float(np.expm1(logs.mean()))
    if len(logs) < FEWEST:
        return Quantity(value)
    half = student(len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
    return Quantity(value, *map(float, np.expm1([logs.mean() - half, logs.mean() + half])))


def _extent(errors: list[Quantity | None]) -> str:
    known = [abs(one.value) for one in errors if one]
    ends = [percent(x) for x in (min(known), max(known))] if known else ["an unknown share"]
    return " to ".join(dict.fromkeys(ends))
