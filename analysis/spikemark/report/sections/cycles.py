"""Cycle times: their distribution, what lumping makes of it, and their course in time (L26, fig. 12)."""

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.models import serial
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.records.record import Run
from spikemark.report import plots
from spikemark.report.answer import Answer
from spikemark.waiting import theory
from spikemark.waiting.trace import trace

TITLE = "Cycle times: how do they vary?"
MOST_RANKS = 4  # shown
BINS = 200  # of the course in time
LUMPS = (2, 5, 10, 20)
LAGS = 100  # drawn


def section(found: Answer) -> Section:
    """One run of the base: cycle times by rank, CV after lumping beside 1 / sqrt(D), and their course."""
    runs = found.runs[found.runs["configuration"] == found.base] if found.base else found.runs
    runs = [one for one in runs["id"] if found.frames.records[one].cycles is not None]
    if not runs:
        return Section(
            "cycles", TITLE, missing=["Cycle times: no compared run recorded them (`record.cycles`)."]
        )
    record = found.frames.records[runs[0]]
    slowest = maxima(record)
    return of_times(1e6 * record.compute(), found.base or "the run", [slowest] if slowest else [])


def of_times(times: np.ndarray, name: str, tables: list[Table]) -> Section:
    """The section of cycle times [rank, cycle] in µs, of what is called `name`."""
    frame = pd.DataFrame(
        {"rank": np.repeat(np.arange(len(times)), times.shape[1]), "cycle_us": times.ravel()}
    )
    frame = frame[frame["rank"] < MOST_RANKS]
    lumped = lumping(times)
    mean, cv = times.mean(), times.std(axis=1).mean() / times.mean()
    text = [
        f"A cycle of {name} takes {number(mean)}\u202fµs, with a CV of {number(cv, 2)}."
        f" Lumping {lumped['delay_ratio'].iloc[-1]} cycles leaves"
        f" {number(lumped['cv_ratio'].iloc[-1], 2)} of it; independent cycles would leave"
        f" {number(lumped['theory'].iloc[-1], 2)}."
    ]
    figures = [
        plots.histogram(
            frame, "cycle_us", "cycle-times", "Distribution of cycle times",
            "Compute time of a cycle (deliver, update, collocate) by rank; the longest 0.1 % are cut off.",
            hue="rank", xlabel="cycle time (µs)",
        ),
        plots.lines(
            lumped.melt("delay_ratio", ["cv_ratio", "theory"], "item", "cv_ratio_of")
            .assign(item=lambda f: f["item"].map({"cv_ratio": "measured", "theory": "independent cycles"}))
            .rename(columns={"cv_ratio_of": "cv_ratio"}),
            "delay_ratio", "cv_ratio", "lumping", "What lumping saves",
            "CV of the sum of D cycles over that of one, measured and 1 / sqrt(D) (eq. 7).",
            hue="item", xlabel="D", ylabel="CV over that of one cycle", log="xy",
        ),
        plots.lines(
            course(times), "cycle", "cycle_us", "course", "Cycle times over the run",
            "Means over stretches of the run, by rank (as L26, fig. 12).", hue="rank",
            xlabel="cycle", ylabel="cycle time (µs)", markers=False,
        ),
    ]  # fmt: skip
    correlated, said = correlation(times)
    figures[2:2] = [correlated] if correlated else []
    return Section("cycles", TITLE, [text[0] + said], figures=figures, tables=tables)


def correlation(times: np.ndarray) -> tuple[Figure | None, str]:
    """Autocorrelation of cycle times about each rank's mean, ranks pooled, and what follows from it."""
    rho = serial.pooled_autocorrelation(times, max(1, times.shape[1] // 4))
    if not np.isfinite(rho).all():
        return None, ""
    tau = serial.integrated_time(rho)
    noise = 1.96 / times.size**0.5
    frame = pd.DataFrame({"lag_cycles": np.arange(len(rho)), "autocorrelation": rho})[1 : LAGS + 1]
    frame = frame.assign(low=frame["autocorrelation"] - noise, high=frame["autocorrelation"] + noise)
    caption = f"Autocorrelation of cycle times; band: ±{number(noise, 2)}, as of independent cycles."
    return plots.lines(
        frame, "lag_cycles", "autocorrelation", "correlation", "Serial correlation", caption,
        low="low", high="high", line=0.0, xlabel="lag (cycles)", ylabel="correlation", markers=False,
    ), f" {number(max(tau, 1.0), 2)} cycles count as one independent cycle."  # fmt: skip


def maxima(run: Run) -> Table | None:
    """Eq. 12: how often the slowest rank's time is above a quantile; None for runs without a trace."""
    try:
        one = trace(run)
    except BadInput:
        return None
    rows = [
        {"delay_ratio": x.delay_ratio, "expected": x.nominal, "share": x.found}
        for x in theory.maxima(one, one.separating)
    ]
    title = "Slowest rank's times above the quantile of eq. 12"
    return plots.tabulated(pd.DataFrame(rows), title)


def lumping(times: np.ndarray) -> pd.DataFrame:
    """CV of sums of D cycles over the CV of one, mean over ranks; times [rank, cycle]."""
    one = times.std(axis=1) / times.mean(axis=1)
    rows = []
    for d in (d for d in (1, *LUMPS) if times.shape[1] // d >= 20):
        sums = times[:, : times.shape[1] // d * d].reshape(len(times), -1, d).sum(axis=2)
        ratio = (sums.std(axis=1) / sums.mean(axis=1) / one).mean()
        rows.append({"delay_ratio": d, "cv_ratio": float(ratio), "theory": d**-0.5})
    return pd.DataFrame(rows)


def course(times: np.ndarray) -> pd.DataFrame:
    """Means over at most BINS stretches of equal length, for the first ranks."""
    length = -(-times.shape[1] // BINS)
    kept = times[:MOST_RANKS, : times.shape[1] // length * length]
    means = kept.reshape(len(kept), -1, length).mean(axis=2)
    rows = [
        {"rank": str(r), "cycle": (i + 0.5) * length, "cycle_us": value}
        for r, row in enumerate(means)
        for i, value in enumerate(row)
    ]
    return pd.DataFrame(rows)
