"""Where the time goes: phases by schedule, as parts of the real-time factor."""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, number, span, typical
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration
from spikemark.report.figures import phases as drawing

TITLE = "Where the time goes"
WAITING = "synchronise"
EXPLAINED = (
    "Each bar is the real-time factor of a schedule: seconds of wall-clock time per second of simulated "
    "time. Below 1 the simulation is faster than real time. Means of times and ratios over runs are "
    "geometric on the whole page, so that the bars are the numbers of the headline and the ratio of two "
    "means is the mean of the ratios."
)


@dataclass(frozen=True)
class Bar:
    """One configuration: real-time factor of every run, and its geometric mean split into the phases in
    proportion to their times (None: not measured).
    """

    configuration: Configuration
    phases: dict[str, float | None]
    real_time_factors: list[float]

    @property
    def mean(self) -> float:
        return typical(self.real_time_factors)


def prepare(case: Case, ranks: int) -> list[Bar]:
    """Bars in the order of configurations. One rank waits for nobody."""
    bars = []
    for configuration in case.configurations(ranks):
        runs = case.of(configuration, ranks)
        factors = [m.real_time_factor for m in runs]
        per_run = [m.phases() for m in runs]
        whole = [sum(t for t in p.values() if t is not None) or 1.0 for p in per_run]
        phases = {}
        for name in per_run[0]:
            shares = [p[name] / w for p, w in zip(per_run, whole, strict=True) if p.get(name) is not None]
            measured = len(shares) == len(per_run) and not (ranks == 1 and name == WAITING)
            phases[name] = float(np.mean(shares)) * typical(factors) if measured else None
        bars.append(Bar(configuration, phases, factors))
    return [Bar(b.configuration, _occurring(b.phases, bars), b.real_time_factors) for b in bars]


def _occurring(phases: dict[str, float | None], bars: list[Bar]) -> dict[str, float | None]:
    """Without the phases that took no time in any bar, such as injected waits where none were asked for."""
    return {n: v for n, v in phases.items() if any(bar.phases.get(n) != 0 for bar in bars)}


def section(view: View) -> Section:
    """One figure for every number of ranks."""
    if view.case is None:
        return Section("phases", TITLE, missing=["Phases: no run is complete."])
    figures, missing = [], []
    per_ranks = {ranks: prepare(view.case, ranks) for ranks in view.case.ranks}
    longest = max(max(bar.real_time_factors) for bars in per_ranks.values() for bar in bars)
    for ranks, bars in per_ranks.items():
        figures.append(_figure(ranks, bars, longest))
        unmeasured = sorted({name for bar in bars for name, value in bar.phases.items() if value is None})
        if unmeasured:
            missing.append(
                f"{', '.join(unmeasured)} on {counted(ranks, 'rank')}: "
                f"{_reason(view.case, ranks, unmeasured)}."
            )
    text = [EXPLAINED]
    if view.unpaired:
        text.append(
            f"{counted(view.unpaired, 'run has', 'runs have')} no partner in the other schedule: part of the "
            "bars, not of the headline."
        )
    return Section("phases", TITLE, text=text, figures=figures, missing=missing)


def _figure(ranks: int, bars: list[Bar], longest: float) -> Figure:
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
        f"Real-time factor on {where}, by phase (measured). Bars: geometric mean over runs; coloured parts "
        "divide it as the phases divide the time, on average over ranks and runs. Dots: each run."
    )
    rows = [
        [
            bar.configuration.label,
            str(len(bar.real_time_factors)),
            *("missing" if bar.phases.get(n) is None else number(bar.phases[n]) for n in names),
            number(bar.mean),
            span(bar.real_time_factors),
        ]
        for bar in bars
    ]
    table = Table(
        ["schedule", "runs", *names, "real-time factor", "lowest–highest"],
        rows,
        ["given", "counted", *["measured"] * (len(names) + 2)],
    )
    svg = drawing.draw(bars, longest, f"phases-{ranks}", alt)
    return Figure(f"phases-{ranks}", f"On {where}", svg, alt, caption, table)


def _reason(case: Case, ranks: int, phases: list[str]) -> str:
    if ranks == 1 and phases == [WAITING]:
        return "one rank waits for nobody"
    runs = [m.run.record.timing.phases for m in case.runs if m.run.record.ranks == ranks]
    reasons = {times[name].reason for times in runs for name in phases if name in times}
    return "; ".join(sorted(r for r in reasons if r)) or "not measured in all runs"
