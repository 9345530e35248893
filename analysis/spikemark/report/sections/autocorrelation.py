"""Serial correlation of cycle times, and its effect on the spread of summed times."""

from dataclasses import dataclass

import numpy as np

from spikemark.models import serial
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, geometric_mean, number, percent
from spikemark.records.cases import View
from spikemark.records.gather import Measured, Planned
from spikemark.report.columns import REPETITION, SEED
from spikemark.report.look import between, tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour

TITLE = "Serial correlation"
LAGS = 100
EXPLAINED = (
    "Does a slow cycle come alone? If cycle times were independent, the spread of sums over D cycles would "
    "shrink with the square root of D, and the waiting with it (Lober et al. 2026, eq 7). If slow cycles "
    "follow slow ones, the spread shrinks less."
)
FEWEST = 8  # cycles


@dataclass(frozen=True)
class Correlation:
    """Correlation in one conventional run about each rank's own mean. `rho` [lag] is pooled over ranks."""

    planned: Planned
    cycles: int
    rho: np.ndarray
    integrated_time: float  # cycles that count as one independent cycle
    lumping: serial.Lumping


def prepare(measured: Measured, windows: tuple[int, ...]) -> Correlation:
    """Correlates up to LAGS or a quarter of the run, and sums over each of `windows` cycles."""
    compute = measured.run.compute()
    cycles = compute.shape[1]
    # The integrated time needs more lags than are drawn: strong correlation outlasts the drawn ones.
    rho = serial.pooled_autocorrelation(compute, max(1, cycles // 4))
    lumping = serial.lumping(compute, windows)
    return Correlation(measured.planned, cycles, rho[: LAGS + 1], serial.integrated_time(rho), lumping)


def section(view: View) -> Section:
    """Shows the conventional runs on the number of ranks that the headline is about."""
    if view.case is None:
        return Section("correlation", TITLE, missing=["Serial correlation: no run is complete."])
    configurations = [c for c in view.case.configurations(view.ranks) if c.schedule == "conventional"]
    if not configurations:
        return Section("correlation", TITLE, missing=["Serial correlation: no conventional run is complete."])
    runs = view.case.of(configurations[0], view.ranks)
    runs = [m for m in runs if m.run.cycles is not None and m.run.record.timing.cycles >= FEWEST]
    if not runs:
        reason = f"Serial correlation: no run recorded at least {FEWEST} of its cycles (record.cycles)."
        return Section("correlation", TITLE, missing=[reason])
    ratios = [c.delay_ratio for c in view.case.configurations() if c.uses_delay_ratio]
    windows = tuple(sorted({1, 2, 5, 10, 20, 50, 100, *ratios}))
    correlations = [prepare(m, windows) for m in runs]
    correlations = [c for c in correlations if np.isfinite(c.rho).all()]
    if not correlations:
        return Section("correlation", TITLE, missing=["Serial correlation: the cycle times do not vary."])
    figures = [make(view.ranks, correlations, view.kind) for make in (_lags_figure, _spread_figure)]
    return Section("correlation", TITLE, text=[EXPLAINED], figures=figures)


def _lags_figure(ranks: int, correlations: list[Correlation], kind: str) -> Figure:
    mean, noise = _mean(correlations), noise_level(correlations)
    taus = [c.integrated_time for c in correlations]
    alt = (
        f"Autocorrelation of cycle times against the lag: {number(mean[1], 2)} at a lag of one cycle, "
        f"{number(mean[-1], 2)} at {len(mean) - 1} cycles."
    )
    caption = (
        f"Autocorrelation of the compute time per cycle, conventional schedule on {counted(ranks, 'rank')} "
        f"({kind}; about each rank's own mean, ranks pooled). Thin: each run; thick: their arithmetic mean. "
        f"Shaded: ±{number(noise, 2)}, the range of 95 % of the values if cycles were independent. "
        f"{number(np.mean(taus), 2)} cycles count as one independent cycle (integrated autocorrelation time)."
    )
    lags = [k for k in (1, 2, 5, 10, 20, 50, 100) if k < len(mean)]
    columns = {
        SEED: lambda c: c.planned.seed,
        REPETITION: lambda c: c.planned.repetition,
        Column("cycles", "cycles", "counted"): lambda c: c.cycles,
        **{Column(f"lag_{k}", f"lag {k}", kind, digits=2): lambda c, k=k: float(c.rho[k]) for k in lags},
        Column("time", "integrated time (cycles)", kind): lambda c: c.integrated_time,
    }
    title = f"Autocorrelation, {counted(ranks, 'rank')}"
    svg = draw_lags(correlations, kind, "acf", alt)
    return Figure("autocorrelation", title, svg, alt, caption, Table.of(columns, correlations))


def _spread_figure(ranks: int, correlations: list[Correlation], kind: str) -> Figure:
    lumpings = [c.lumping for c in correlations]
    windows = lumpings[0].windows
    found = [geometric_mean(column) for column in zip(*(x.measured for x in lumpings), strict=True)]
    implied = [geometric_mean(column) for column in zip(*(x.correlated for x in lumpings), strict=True)]
    last = len(windows) - 1
    alt = (
        f"Relative spread of sums over D cycles against D, both axes logarithmic. At D = {windows[last]}: "
        f"{kind} {number(found[last], 2)}, independent cycles "
        f"{number(lumpings[0].independent[last], 2)}."
    )
    caption = (
        f"How the coefficient of variation (CV) of times summed over D cycles compares with that of single "
        f"cycles. Dots: the cycles of the conventional runs summed ({kind}), one per run. Solid: what the "
        "autocorrelation implies (modelled). Dashed: independent cycles, 1/√D (modelled, eq 7). "
        + _remark(windows, found, lumpings[0].independent, kind)
    )
    columns = {
        Column("d", "D", "given"): lambda i: int(windows[i]),
        Column("ratio", "CV ratio, summed cycles", kind): lambda i: found[i],
        Column("implied", "from autocorrelation", "modelled"): lambda i: implied[i],
        Column("independent", "1/√D", "modelled"): lambda i: float(lumpings[0].independent[i]),
    }
    title = f"Spread of summed times, {counted(ranks, 'rank')}"
    svg = draw_spread(lumpings, kind, "lumping", alt)
    return Figure("lumped-spread", title, svg, alt, caption, Table.of(columns, range(len(windows))))


def _remark(windows: np.ndarray, found: list[float], independent: np.ndarray, kind: str) -> str:
    at = int(np.argmin(np.abs(windows - 10)))
    if windows[at] == 1:
        return ""
    return (
        f"Over {windows[at]} cycles the spread shrinks by {percent(1 - found[at])} ({kind}); "
        f"independent cycles would give {percent(1 - independent[at])}."
    )


def _mean(correlations: list[Correlation]) -> np.ndarray:
    """Returns the arithmetic mean over runs, [lag], as far as all runs go."""
    shortest = min(len(c.rho) for c in correlations)
    return np.mean([c.rho[:shortest] for c in correlations], axis=0)


def noise_level(correlations: list[Correlation]) -> float:
    """Half-width of the range that contains 95 % of the autocorrelations of independent cycles."""
    return 1.96 / min(c.cycles for c in correlations) ** 0.5


def draw_lags(correlations: list[Correlation], kind: str, name: str, alt: str) -> str:
    """Draws the autocorrelation against the lag, one line per run."""
    colour = schedule_colour("conventional")
    mean, noise = _mean(correlations), noise_level(correlations)
    with drawing(height=2.9) as (figure, (axes,)):
        axes.axhspan(-noise, noise, color=COLOUR["band"], linewidth=0)
        axes.axhline(0, color=COLOUR["muted"], linewidth=0.8)
        if len(correlations) > 1:
            for c in correlations:
                axes.plot(np.arange(1, len(c.rho)), c.rho[1:], color=colour, linewidth=0.8, alpha=0.55)
        lags = np.arange(1, len(mean))
        axes.plot(lags, mean[1:], color=COLOUR["ink"], linewidth=1.8)
        every = np.array([c.rho[1:] for c in correlations])
        among = between(mean[1:], every.min(axis=0), every.max(axis=0))
        tell(axes, "mean (lowest to highest run)", lags, among, kind, [str(lag) for lag in lags])
        axes.set_xlim(0, len(mean))
        axes.set_ylim(*limits([c.rho[1:] for c in correlations], noise))
        axes.grid(axis="y")
        axes.set(xlabel="lag (cycles)", ylabel="autocorrelation")
        return markup(figure, name, alt, zoom=axes)


def limits(values: list[np.ndarray], noise: float) -> tuple[float, float]:
    """Returns the limits of an axis that fits the values, with 0 and the noise band on it."""
    low = min(-noise, *(v.min() for v in values))
    high = max(noise, *(v.max() for v in values))
    return max(-1.0, 1.15 * low), min(1.0, 1.15 * high)


def draw_spread(lumpings: list[serial.Lumping], kind: str, name: str, alt: str) -> str:
    """Draws the spread of summed times against D, one lumping per run."""
    windows = lumpings[0].windows
    with drawing(height=3.2) as (figure, (axes,)):
        (independent,) = axes.plot(
            windows, lumpings[0].independent, "--", color=COLOUR["muted"], label="independent, 1/√D"
        )
        implied = np.array([geometric_mean(x) for x in zip(*(y.correlated for y in lumpings), strict=True)])
        (model,) = axes.plot(windows, implied, color=COLOUR["model"], label="from autocorrelation")
        cycles = [str(d) for d in windows]
        tell(axes, independent.get_label(), windows, lumpings[0].independent, "modelled", cycles)
        tell(axes, model.get_label(), windows, implied, "modelled", cycles)
        for x in lumpings:
            tell(axes, "run", x.windows, x.measured, kind, [str(d) for d in x.windows])
            (dots,) = axes.plot(
                x.windows, x.measured, "o", markersize=5, color=schedule_colour("conventional"), alpha=0.75,
                markeredgewidth=0, label=kind,
            )  # fmt: skip
        axes.set(xscale="log", yscale="log")
        axes.set_xticks(windows, [str(d) for d in windows])
        ticks = [
            t
            for t in (1, 0.5, 0.2, 0.1, 0.05, 0.02)
            if t >= 0.7 * min(lumpings[0].independent.min(), implied.min())
        ]
        axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        axes.grid()
        axes.set(xlabel="D (cycles summed)", ylabel="CV of sums / CV of cycles")
        legend_above(figure, [dots, model, independent], columns=3)
        return markup(figure, name, alt, zoom=axes)
