"""Serial correlation of cycle times, and what it does to the spread of lumped times."""

from dataclasses import dataclass

import numpy as np

from spikemark.models import serial
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, integer, number, percent, typical
from spikemark.records.cases import View
from spikemark.records.gather import Measured
from spikemark.report.figures import autocorrelation as drawing

TITLE = "Serial correlation"
LAGS = 100
EXPLAINED = (
    "If cycle times were independent, the spread of sums over D cycles would shrink with the square root of "
    "D, and the waiting with it (Lober et al. 2026, eq 7). If a slow cycle is followed by slow ones, it "
    "shrinks less."
)


@dataclass(frozen=True)
class Correlation:
    """Of one conventional run, about each rank's own mean. `rho` [lag], pooled over ranks."""

    seed: int
    repetition: int
    cycles: int
    rho: np.ndarray
    integrated_time: float  # cycles that count as one independent cycle
    lumping: serial.Lumping


def prepare(measured: Measured, windows: tuple[int, ...]) -> Correlation:
    """Autocorrelation up to LAGS or a quarter of the run, and the spread of sums over `windows` cycles."""
    compute = measured.run.compute()
    cycles = compute.shape[1]
    # The integrated time needs more lags than are drawn: strong correlation outlasts the drawn ones.
    rho = serial.pooled_autocorrelation(compute, max(1, cycles // 4))
    lumping = serial.lumping(compute, windows)
    planned = measured.planned
    return Correlation(
        *(planned.seed, planned.repetition, cycles), rho[: LAGS + 1], serial.integrated_time(rho), lumping
    )


def section(view: View) -> Section:
    """Of the conventional runs on the ranks the headline speaks of."""
    if view.case is None:
        return Section("correlation", TITLE, missing=["Serial correlation: no run is complete."])
    configurations = [c for c in view.case.configurations(view.ranks) if c.schedule == "conventional"]
    if not configurations:
        return Section("correlation", TITLE, missing=["Serial correlation: no conventional run is complete."])
    runs = view.case.of(view.conventional or configurations[0], view.ranks)
    runs = [m for m in runs if m.run.cycles is not None and m.run.record.timing.cycles >= 8]
    if not runs:
        reason = "Serial correlation: no run recorded its cycles (record.cycles is false), or fewer than 8."
        return Section("correlation", TITLE, missing=[reason])
    ratios = [c.delay_ratio for c in view.case.configurations() if c.uses_delay_ratio]
    windows = tuple(sorted({1, 2, 5, 10, 20, 50, 100, *ratios}))
    correlations = [prepare(m, windows) for m in runs]
    correlations = [c for c in correlations if np.isfinite(c.rho).all()]
    if not correlations:
        return Section("correlation", TITLE, missing=["Serial correlation: the cycle times do not vary."])
    figures = [_lags(view.ranks, correlations), _spread(view.ranks, correlations)]
    return Section("correlation", TITLE, text=[EXPLAINED], figures=figures)


def _lags(ranks: int, correlations: list[Correlation]) -> Figure:
    mean = np.mean([c.rho[: _shortest(correlations)] for c in correlations], axis=0)
    noise = drawing.noise_level(correlations)
    taus = [c.integrated_time for c in correlations]
    alt = (
        f"Autocorrelation of cycle times against the lag: {number(mean[1], 2)} at a lag of one cycle, "
        f"{number(mean[-1], 2)} at {len(mean) - 1} cycles."
    )
    caption = (
        f"Autocorrelation of the compute time per cycle, conventional schedule on {counted(ranks, 'rank')} "
        "(measured; about each rank's own mean, ranks pooled; thin: each run, thick: their arithmetic mean). "
        f"Shaded: ±{number(noise, 2)}, where 95 % of the values of independent cycles would lie. "
        f"{number(np.mean(taus), 2)} cycles count as one independent cycle (integrated autocorrelation time)."
    )
    lags = [k for k in (1, 2, 5, 10, 20, 50, 100) if k < len(mean)]
    rows = [
        [
            str(c.seed),
            str(c.repetition),
            integer(c.cycles),
            *(number(c.rho[k], 2) for k in lags),
            number(c.integrated_time),
        ]
        for c in correlations
    ]
    table = Table(
        ["seed", "repetition", "cycles", *(f"lag {k}" for k in lags), "integrated time (cycles)"],
        rows,
        ["given", "given", "counted", *["measured"] * (len(lags) + 1)],
    )
    title = f"Autocorrelation, {counted(ranks, 'rank')}"
    return Figure("autocorrelation", title, drawing.lags(correlations, "acf", alt), alt, caption, table)


def _spread(ranks: int, correlations: list[Correlation]) -> Figure:
    lumpings = [c.lumping for c in correlations]
    windows = lumpings[0].windows
    measured = [typical(column) for column in zip(*(x.measured for x in lumpings), strict=True)]
    implied = [typical(column) for column in zip(*(x.correlated for x in lumpings), strict=True)]
    last = len(windows) - 1
    alt = (
        f"Relative spread of sums over D cycles against D, both axes logarithmic. At D = {windows[last]}: "
        f"measured {number(measured[last], 2)}, independent cycles "
        f"{number(lumpings[0].independent[last], 2)}."
    )
    caption = (
        "How the coefficient of variation (CV) of times summed over D cycles compares with that of single "
        "cycles. Dots: lumping the measured cycles of the conventional runs, one per run. Solid: what the "
        "autocorrelation implies (modelled). Dashed: independent cycles, 1/√D (modelled, eq 7). "
        + _remark(windows, measured, lumpings[0].independent)
    )
    rows = [
        [str(d), number(measured[i]), number(implied[i]), number(lumpings[0].independent[i])]
        for i, d in enumerate(windows)
    ]
    table = Table(
        ["D", "CV ratio, lumped cycles", "from autocorrelation", "1/√D"],
        rows,
        ["given", "measured", "modelled", "modelled"],
    )
    svg = drawing.spread(lumpings, "lumping", alt)
    return Figure(
        "lumped-spread", f"Spread of lumped times, {counted(ranks, 'rank')}", svg, alt, caption, table
    )


def _remark(windows: np.ndarray, measured: list[float], independent: np.ndarray) -> str:
    at = int(np.argmin(np.abs(windows - 10)))
    if windows[at] == 1:
        return ""
    return (
        f"Over {windows[at]} cycles the spread shrinks by {percent(1 - measured[at])} (measured); "
        f"independent cycles would give {percent(1 - independent[at])}."
    )


def _shortest(correlations: list[Correlation]) -> int:
    return min(len(c.rho) for c in correlations)
