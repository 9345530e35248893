"""Cycle times: their distribution, what lumping makes of it, and their course in time (L26, fig.
12).
"""

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.models import serial
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Table
from spikemark.quantities.words import listed, number
from spikemark.records.record import Run
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer
from spikemark.waiting import theory
from spikemark.waiting.trace import trace

TITLE = "Cycle times: how do they vary?"
MAX_RANKS_SHOWN = 4
MAX_STRETCHES = 200  # of the course in time
LUMPS = (2, 5, 10, 20)
MIN_WINDOWS = 20  # of lumped cycles
MAX_LAGS = 100  # drawn


def section(sweep: SweepAnswer) -> Section:
    """One run of the base: cycle times by rank, CV after lumping beside 1 / sqrt(D), and their
    course.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).title
        'Cycle times: how do they vary?'
    """
    runs = sweep.runs[sweep.runs["configuration"] == sweep.base] if sweep.base else sweep.runs
    ids = [id for id in runs["id"] if sweep.frames.records[id].cycles is not None]
    if not ids:
        reason = "Cycle times: no compared run recorded them (`record.cycles`)."
        return Section("cycles", TITLE, missing=[reason])
    run = sweep.frames.records[ids[0]]
    slowest = _maxima(run)
    tables = [] if slowest is None else [slowest]
    return of_times(1e6 * run.compute(), sweep.base or "the run", tables)


def of_times(times: np.ndarray, name: str, tables: list[Table], first_rank: int = 0) -> Section:
    """The section of cycle times [rank, cycle] in µs, of what is called `name`.

    `first_rank`: what the first rank is called.

    Example:
        >>> times_us = np.random.default_rng(1).normal(100.0, 5.0, size=(4, 1000))
        >>> of_times(times_us, "an example", []).title
        'Cycle times: how do they vary?'
    """
    if not times.std(axis=1).any():
        text = f"Every cycle of a rank of {name} took equally long."
        return Section(
            "cycles", TITLE, [text], figures=[_distribution(times, first_rank)], tables=tables
        )
    lumped = _lumping(times)
    correlated, independent = _correlation(times)
    figures = [_distribution(times, first_rank), _lumping_figure(lumped)]
    if correlated is not None:
        figures.append(correlated)
    figures.append(_course_figure(times, first_rank))
    text = f"{_sentence(times, name, lumped)}{independent}"
    return Section("cycles", TITLE, [text], figures=figures, tables=tables)


def _sentence(times: np.ndarray, name: str, lumped: pd.DataFrame) -> str:
    """Mean and CV of cycle times, and what lumping leaves of the CV."""
    mean = times.mean()
    cv = times.std(axis=1).mean() / mean
    most = lumped.iloc[-1]
    return (
        f"In a cycle, {name} computes for {number(mean)}\u202fµs, with a CV of {number(cv, 2)}."
        f" Lumping {int(most['delay_ratio'])} cycles leaves {number(most['cv_ratio'], 2)} of it;"
        f" independent cycles would leave {number(most['theory'], 2)}."
    )


def _distribution(times: np.ndarray, first_rank: int) -> Figure:
    """Histograms of the cycle times [rank, cycle] of some ranks, in µs."""
    chosen = shown_ranks(times)
    ranks = np.repeat([first_rank + rank for rank in chosen], times.shape[1])
    frame = pd.DataFrame({"rank": ranks, "cycle_us": times[chosen].ravel()})
    return plots.histogram(
        frame,
        "cycle_us",
        "cycle-times",
        "Distribution of cycle times",
        "Compute time of a cycle (deliver, update, collocate) by rank; the longest 0.1 % are cut"
        f" off.{_ranks_in_words(times, first_rank)}",
        hue="rank",
        xlabel="cycle time (µs)",
    )


def shown_ranks(times: np.ndarray) -> list[int]:
    """At most MAX_RANKS_SHOWN ranks, from the fastest to the slowest on average, in their order.

    Example:
        >>> shown_ranks(np.array([[3.0], [1.0], [9.0], [2.0], [4.0], [5.0]]))
        [0, 1, 2, 4]
    """
    by_mean = np.argsort(times.mean(axis=1), kind="stable")
    places = np.linspace(0, len(times) - 1, min(MAX_RANKS_SHOWN, len(times))).round().astype(int)
    return sorted(int(rank) for rank in by_mean[places])


def _ranks_in_words(times: np.ndarray, first_rank: int) -> str:
    """Which ranks are drawn, where that is not all of them."""
    chosen = shown_ranks(times)
    if len(chosen) == len(times):
        return ""
    by_mean = sorted(chosen, key=lambda rank: float(times[rank].mean()))
    names = listed(str(first_rank + rank) for rank in by_mean)
    return f" Drawn: {len(chosen)} of {len(times)} ranks, from the fastest to the slowest: {names}."


def _lumping_figure(lumped: pd.DataFrame) -> Figure:
    """The CV of lumped cycles, measured and as of independent ones; `lumped`: of `_lumping`."""
    long = lumped.melt("delay_ratio", ["cv_ratio", "theory"], "item", "cv_ratio_of")
    long["item"] = long["item"].map({"cv_ratio": "measured", "theory": "independent cycles"})
    return plots.lines(
        long.rename(columns={"cv_ratio_of": "cv_ratio"}),
        "delay_ratio",
        "cv_ratio",
        "lumping",
        "What lumping saves",
        "CV of the sum of D cycles over that of one, measured and 1 / sqrt(D) (Lober et al. 2026,"
        " eq. 7).",
        hue="item",
        xlabel="D",
        ylabel="CV over that of one cycle",
        log="xy",
    )


def _course_figure(times: np.ndarray, first_rank: int) -> Figure:
    """Cycle times [rank, cycle] over the run, in µs."""
    return plots.lines(
        _course(times, first_rank),
        "cycle",
        "cycle_us",
        "course",
        "Cycle times over the run",
        "Means over stretches of the run, by rank (as Lober et al. 2026, fig. 12)."
        f"{_ranks_in_words(times, first_rank)}",
        hue="rank",
        xlabel="cycle",
        ylabel="cycle time (µs)",
        markers=False,
        split=True,
    )


def _correlation(times: np.ndarray) -> tuple[Figure | None, str]:
    """Autocorrelation of cycle times about each rank's mean, ranks pooled, and what follows from
    it.
    """
    rho = serial.pooled_autocorrelation(times, max(1, times.shape[1] // 4))
    if not np.isfinite(rho).all():
        return None, ""
    tau = serial.integrated_time(rho)
    noise = 1.96 / times.size**0.5
    frame = pd.DataFrame({"lag_cycles": np.arange(len(rho)), "autocorrelation": rho})
    frame = frame[1 : MAX_LAGS + 1].assign(low=rho[1 : MAX_LAGS + 1] - noise)
    frame = frame.assign(high=frame["autocorrelation"] + noise)
    caption = (
        f"Autocorrelation of cycle times; band: ±{number(noise, 2)}, as of independent cycles."
    )
    figure = plots.lines(
        frame,
        "lag_cycles",
        "autocorrelation",
        "correlation",
        "Serial correlation",
        caption,
        low="low",
        high="high",
        line=0.0,
        xlabel="lag (cycles)",
        ylabel="correlation",
        markers=False,
    )
    return figure, f" {number(max(tau, 1.0), 2)} cycles count as one independent cycle."


def _maxima(run: Run) -> Table | None:
    """Eq. 12: how often the slowest rank's time is above a quantile; None for runs without a
    trace.
    """
    try:
        one = trace(run)
    except BadInput:
        return None
    rows = [
        {"delay_ratio": x.delay_ratio, "expected": x.nominal, "share": x.measured}
        for x in theory.maxima(one, one.jitter_cycles)
    ]
    title = "How often the slowest rank exceeds a quantile of the theory (Lober et al. 2026)"
    return plots.tabulated(pd.DataFrame(rows), title)


def _lumping(times: np.ndarray) -> pd.DataFrame:
    """CV of sums of D cycles over the CV of one; times [rank, cycle].

    The mean over ranks, without those whose cycles all took equally long; there has to be another.
    """
    times = times[times.std(axis=1) > 0]
    cv_of_one = times.std(axis=1) / times.mean(axis=1)
    ranks, cycles = times.shape
    rows = []
    for d in (1, *LUMPS):
        windows = cycles // d
        if windows < MIN_WINDOWS:
            continue
        sums = times[:, : windows * d].reshape(ranks, -1, d).sum(axis=2)
        ratio = (sums.std(axis=1) / sums.mean(axis=1) / cv_of_one).mean()
        rows.append({"delay_ratio": d, "cv_ratio": float(ratio), "theory": d**-0.5})
    return pd.DataFrame(rows)


def _course(times: np.ndarray, first_rank: int) -> pd.DataFrame:
    """Means over at most MAX_STRETCHES stretches of equal length, for some ranks."""
    cycles = times.shape[1]
    length = -(-cycles // MAX_STRETCHES)
    chosen = shown_ranks(times)
    shown = times[chosen, : cycles // length * length]
    means = shown.reshape(len(shown), -1, length).mean(axis=2)
    middle = (np.arange(means.shape[1]) + 0.5) * length
    return pd.DataFrame(
        {
            "rank": np.repeat([str(first_rank + rank) for rank in chosen], means.shape[1]),
            "cycle": np.tile(middle, len(means)),
            "cycle_us": means.ravel(),
        }
    )
