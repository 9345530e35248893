"""Where the time goes: phases by schedule, as parts of the real-time factor."""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, geometric_mean, number
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration
from spikemark.report.columns import LABEL, RUNS, extent, known
from spikemark.report.style import (
    COLOUR,
    axis_end,
    drawing,
    legend_above,
    markup,
    phase_colour,
    rows_height,
    stacked,
)

TITLE = "Where the time goes"
WAITING = "synchronise"
EXPLAINED = (
    "Each bar is the real-time factor of a schedule: seconds of wall-clock time per second of simulated "
    "time. Below 1 the simulation is faster than real time. Means of times and ratios over runs are "
    "geometric on the whole page. So the bars show the numbers at the top, and the ratio of two means is the "
    "mean of the ratios."
)
DOT = {"markersize": 4.2, "color": COLOUR["paper"], "markeredgecolor": COLOUR["ink"], "markeredgewidth": 1}


@dataclass(frozen=True)
class Bar:
    """One configuration: the real-time factor of every run, and its geometric mean split into the phases.

    The phases divide the mean in proportion to their times; None for a phase that was not timed.
    """

    configuration: Configuration
    phases: dict[str, float | None]
    real_time_factors: list[float]

    @property
    def mean(self) -> float:
        return geometric_mean(self.real_time_factors)


def prepare(case: Case, ranks: int) -> list[Bar]:
    """Returns bars in the order of configurations. One rank waits for nobody."""
    bars = []
    for configuration in case.configurations(ranks):
        runs = case.of(configuration, ranks)
        factors = [m.real_time_factor for m in runs]
        per_run = [m.phases() for m in runs]
        whole = [sum(t for t in p.values() if t is not None) or 1.0 for p in per_run]
        phases = {}
        for name in per_run[0]:
            shares = [p[name] / w for p, w in zip(per_run, whole, strict=True) if p.get(name) is not None]
            timed = len(shares) == len(per_run) and not (ranks == 1 and name == WAITING)
            phases[name] = float(np.mean(shares)) * geometric_mean(factors) if timed else None
        bars.append(Bar(configuration, phases, factors))
    return [Bar(b.configuration, _occurring(b.phases, bars), b.real_time_factors) for b in bars]


def _occurring(phases: dict[str, float | None], bars: list[Bar]) -> dict[str, float | None]:
    """Leaves out phases that took no time in any bar, such as injected waits if none were requested."""
    return {n: v for n, v in phases.items() if any(bar.phases.get(n) != 0 for bar in bars)}


def section(view: View) -> Section:
    """Shows one figure for every number of ranks."""
    if view.case is None:
        return Section("phases", TITLE, missing=["Phases: no run is complete."])
    figures, missing = [], []
    per_ranks = {ranks: prepare(view.case, ranks) for ranks in view.case.ranks}
    end = axis_end([max(bar.real_time_factors) for bars in per_ranks.values() for bar in bars])
    for ranks, bars in per_ranks.items():
        figures.append(_figure(ranks, bars, end, view.kind))
        unknown = sorted({name for bar in bars for name, value in bar.phases.items() if value is None})
        for name in unknown:
            reason = _reason(view.case, ranks, name)
            missing.append(f"{name} on {counted(ranks, 'rank')}: {reason}.")
    text = [EXPLAINED]
    if view.unpaired:
        runs = counted(view.unpaired, "run has", "runs have")
        text.append(
            f"{runs} no partner in the other schedule: included in the bars, but not in the comparison at "
            "the "
            "top."
        )
    return Section("phases", TITLE, text=text, figures=figures, missing=missing)


def _figure(ranks: int, bars: list[Bar], end: float, kind: str) -> Figure:
    where = counted(ranks, "rank")
    fastest = min(bars, key=lambda b: b.mean)
    slowest = max(bars, key=lambda b: b.mean)
    names = list(bars[0].phases)
    alt = (
        f"Stacked horizontal bars of the real-time factor on {where}, one per schedule. Shortest: "
        f"{fastest.configuration.label} with {number(fastest.mean)}; longest: "
        f"{slowest.configuration.label} with {number(slowest.mean)}."
    )
    caption = (
        f"Real-time factor on {where}, by phase ({kind}). Bars: geometric mean over runs; coloured parts "
        "divide it as the phases divide the time, on average over ranks and runs. Dots: each run."
    )
    columns = {
        **LABEL,
        RUNS: lambda bar: len(bar.real_time_factors),
        **{Column(n, n, kind): lambda bar, n=n: known(bar.phases.get(n), "not timed") for n in names},
        Column("factor", "real-time factor", kind): lambda bar: bar.mean,
        Column("range", "lowest–highest", kind): lambda bar: extent(bar.real_time_factors),
    }
    name = f"phases-{ranks}"
    table = Table.of(columns, bars)
    return Figure(name, f"On {where}", _draw(bars, end, kind, name, alt), alt, caption, table)


def _reason(case: Case, ranks: int, phase: str) -> str:
    if ranks == 1 and phase == WAITING:
        return "one rank waits for nobody"
    runs = [m.run.record.timing.phases for m in case.runs if m.run.record.ranks == ranks]
    reasons = {times[phase].reason for times in runs if phase in times}
    return "; ".join(sorted(r for r in reasons if r)) or "not timed in all runs"


def _draw(bars: list[Bar], end: float, kind: str, name: str, alt: str) -> str:
    """Draws stacked bars; `end` is that of the axis in every figure of the section."""
    names = list(dict.fromkeys(n for bar in bars for n, value in bar.phases.items() if value is not None))
    with drawing(height=rows_height(len(bars))) as (figure, (axes,)):
        parts = {n: ([bar.phases.get(n) or 0 for bar in bars], phase_colour(n, names)) for n in names}
        handles = stacked(axes, [bar.configuration.label for bar in bars], parts, kind, end)
        for y, bar in zip(range(len(bars))[::-1], bars, strict=True):
            axes.plot(bar.real_time_factors, [y] * len(bar.real_time_factors), "o", **DOT)
        axes.set(ylim=(-0.6, len(bars) - 0.4))
        axes.set_xlabel("real-time factor (s / s simulated)")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)
