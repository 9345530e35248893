"""Autocorrelation against the lag, and the spread of lumped times against D."""

import numpy as np

from spikemark.quantities.words import typical

from .style import COLOUR, drawing, legend_above, markup, schedule_colour


def noise_level(correlations: list) -> float:
    """Half-width of the range of 95 % of the autocorrelations of independent cycles, for the shortest run."""
    return 1.96 / min(c.cycles for c in correlations) ** 0.5


def lags(correlations: list, name: str, alt: str) -> str:
    """`correlations`: sections.autocorrelation.Correlation, one per run."""
    colour = schedule_colour("conventional")
    shortest = min(len(c.rho) for c in correlations)
    mean = np.mean([c.rho[:shortest] for c in correlations], axis=0)
    noise = noise_level(correlations)
    with drawing(height=2.9) as (figure, (axes,)):
        axes.axhspan(-noise, noise, color=COLOUR["band"], linewidth=0)
        axes.axhline(0, color=COLOUR["muted"], linewidth=0.8)
        if len(correlations) > 1:
            for c in correlations:
                axes.plot(np.arange(1, len(c.rho)), c.rho[1:], color=colour, linewidth=0.8, alpha=0.55)
        axes.plot(np.arange(1, shortest), mean[1:], color=COLOUR["ink"], linewidth=1.8)
        axes.set_xlim(0, shortest)
        axes.set_ylim(*limits([c.rho[1:] for c in correlations], noise))
        axes.grid(axis="y")
        axes.set_xlabel("lag (cycles)")
        axes.set_ylabel("autocorrelation")
        return markup(figure, name, alt)


def limits(values: list[np.ndarray], noise: float) -> tuple[float, float]:
    """An axis that fits the values, with 0 and the noise band on it."""
    low = min(-noise, *(v.min() for v in values))
    high = max(noise, *(v.max() for v in values))
    return max(-1.0, 1.15 * low), min(1.0, 1.15 * high)


def spread(lumpings: list, name: str, alt: str) -> str:
    """`lumpings`: models.serial.Lumping, one per run."""
    windows = lumpings[0].windows
    with drawing(height=3.2) as (figure, (axes,)):
        (independent,) = axes.plot(
            windows, lumpings[0].independent, "--", color=COLOUR["muted"], label="independent, 1/√D"
        )
        implied = np.array([typical(x) for x in zip(*(y.correlated for y in lumpings), strict=True)])
        (model,) = axes.plot(windows, implied, color=COLOUR["model"], label="from autocorrelation")
        for x in lumpings:
            (dots,) = axes.plot(
                x.windows, x.measured, "o", markersize=5, color=schedule_colour("conventional"), alpha=0.75,
                markeredgewidth=0, label="measured",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(windows, [str(d) for d in windows])
        ticks = [
            t
            for t in (1, 0.5, 0.2, 0.1, 0.05, 0.02)
            if t >= 0.7 * min(lumpings[0].independent.min(), implied.min())
        ]
        axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        axes.grid()
        axes.set_xlabel("D (cycles summed)")
        axes.set_ylabel("CV of sums / CV of cycles")
        legend_above(figure, [dots, model, independent], columns=3)
        return markup(figure, name, alt)
