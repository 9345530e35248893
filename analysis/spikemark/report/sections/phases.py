"""Where the time goes: phases by schedule, as parts of the real-time factor."""

from dataclasses import dataclass

import numpy as np

from ..cases import Case, View
from ..elements import Figure, Section, Table
from ..figures import phases as drawing
from ..gather import Configuration
from ..values import counted, number, span

TITLE = "Where the time goes"
WAITING = "synchronise"
EXPLAINED = (
    "Each bar is the real-time factor of a schedule: seconds of wall-clock time per second of simulated "
    "time, split into the phases of a cycle (mean over ranks and seeds). Below 1 the simulation is faster "
    "than real time."
)


@dataclass(frozen=True)
class Bar:
    """One configuration: phases per simulated time (None: not measured), real-time factor of every run."""

    configuration: Configuration
    phases: dict[str, float | None]
    real_time_factors: list[float]


def prepare(case: Case, ranks: int) -> list[Bar]:
    """Bars in the order of configurations. Phases: mean over ranks and runs; one rank waits for nobody."""
    bars = []
    for configuration in case.configurations(ranks):
        runs = case.of(configuration, ranks)
        per_run = [m.phases() for m in runs]
        phases = {}
        for name in per_run[0]:
            values = [p[name] for p in per_run if p.get(name) is not None]
            measured = len(values) == len(per_run) and not (ranks == 1 and name == WAITING)
            phases[name] = float(np.mean(values)) if measured else None
        bars.append(Bar(configuration, phases, [m.real_time_factor for m in runs]))
    return bars


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
    return Section("phases", TITLE, text=[EXPLAINED], figures=figures, missing=missing)


def _figure(ranks: int, bars: list[Bar], longest: float) -> Figure:
    where = counted(ranks, "rank")
    fastest = min(bars, key=lambda b: np.mean(b.real_time_factors))
    slowest = max(bars, key=lambda b: np.mean(b.real_time_factors))
    names = list(bars[0].phases)
    alt = (
        f"Stacked horizontal bars of the real-time factor on {where}, one per schedule. Shortest: "
        f"{fastest.configuration.label} with {number(np.mean(fastest.real_time_factors))}; longest: "
        f"{slowest.configuration.label} with {number(np.mean(slowest.real_time_factors))}."
    )
    caption = (
        f"Real-time factor on {where}, by phase. Coloured parts: time in the phase, mean over ranks and "
        "seeds, divided by the simulated time (measured). Dots: the real-time factor of each run (slowest "
        "rank)."
    )
    rows = [
        [
            bar.configuration.label,
            str(len(bar.real_time_factors)),
            *("missing" if bar.phases.get(n) is None else number(bar.phases[n]) for n in names),
            number(np.mean(bar.real_time_factors)),
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
