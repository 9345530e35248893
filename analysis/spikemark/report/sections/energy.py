"""Energy: power over time with the phases of a run, and energy per synaptic event by ranks."""

from dataclasses import dataclass

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from spikemark.core.errors import BadInput
from spikemark.energy import kept
from spikemark.energy.analysis import Energy
from spikemark.energy.trace import thinned
from spikemark.models.published import papers
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, geometric_mean, percent, span
from spikemark.records.cases import View, timed
from spikemark.records.gather import Configuration, Measured
from spikemark.report.columns import RANKS, RUNS
from spikemark.report.look import tell, whole
from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour

TITLE = "Energy"
EXPLAINED = (
    "What does a run cost in energy? Gross energy is the power integrated over the timed part of the run. "
    "Net energy is what remains after subtracting the idle power of the pause before the run. Procurement "
    "rules do not allow this subtraction, so gross comes first. Synaptic events are counted in "
    "two ways: recurrent ones alone, and together with external ones (Simula et al. 2019)."
)
OUTSIDE = "`spikemark energy RUN_DIR --power FILE.csv --keep` reads it from an external meter"
PUBLISHED = "Net energy per synaptic event as published (Simula et al. 2019, Table IV)"
TIMED = "timed part"  # of the run, between the warm-up and the end
POINTS = 600
SHADES = {"pause": "band", "warm-up": "rule", "pause after": "band"}
MARKERS = ("o", "s", "D", "^")
SUMS = {"gross_j": "gross (J)", "net_j": "net (J)", "gross_delay_js": "gross × delay (J s)"}
CONFIGURATION = Column("configuration", "configuration", "given")


@dataclass(frozen=True)
class Run:
    """A run that has energy."""

    measured: Measured
    energy: Energy

    @property
    def key(self) -> tuple:
        m = self.measured
        return m.configuration.order, m.configuration, m.run.record.ranks


def section(view: View) -> Section:
    """Shows those runs of the other figures that read a meter; one line if none did."""
    runs, reasons = _runs(view)
    if not runs:
        why = next(iter(reasons), "no run is complete")
        return Section("energy", TITLE, missing=[f"Energy: {why}. {OUTSIDE}."])
    most = max(runs, key=lambda r: r.measured.run.record.ranks)
    missing = [f"Energy: {why} (in {counted(n, 'run')})." for why, n in reasons.items()]
    figures = [_power(most)]
    made = _per_event(runs)
    (figures if isinstance(made, Figure) else missing).append(made)
    text = [EXPLAINED, _quality([r.energy for r in runs])]
    tables = [_table(runs), _published()]
    return Section("energy", TITLE, text=text, figures=figures, tables=tables, missing=missing)


def _runs(view: View) -> tuple[list[Run], dict[str, int]]:
    """Returns the runs with energy, and how many have none, by reason."""
    found, reasons = [], {}
    for m in timed(view.case.runs) if view.case else []:
        try:
            energy = kept.of_run(m.run)
        except BadInput as error:
            reasons[str(error)] = reasons.get(str(error), 0) + 1
            continue
        if energy.kind is None:
            reasons[energy.reason] = reasons.get(energy.reason, 0) + 1
        else:
            found.append(Run(m, energy))
    return sorted(found, key=lambda r: r.key[::2]), reasons


def _power(run: Run) -> Figure:
    source, record = run.energy.source, run.measured.run.record
    line = source.timeline
    zero = line.measured[0]
    spans = {"pause": line.idle_before, "warm-up": (line.busy[0], zero), TIMED: line.measured}
    spans["pause after"] = line.idle_after
    phases = {name: (at[0] - zero, at[1] - zero) for name, at in spans.items() if at and at[1] - at[0] > 1e-9}
    times, watts = thinned(*source.trace.points(), POINTS)
    idle = run.energy.idle_w
    kind = run.energy.kind
    columns = {
        Column("phase", "phase"): lambda name: name,
        Column("from_s", "from (s)", kind): lambda name: phases[name][0],
        Column("to_s", "to (s)", kind): lambda name: phases[name][1],
        Column("power_w", "mean power (W)", kind, digits=4): lambda name: source.trace.mean_w(*spans[name]),
    }
    table = Table.of(columns, phases)
    where = f"{run.measured.configuration.label}, {counted(record.ranks, 'rank')}"
    alt = f"Power over time, {where}. " + " ".join(f"{name}: {watt} W." for name, *_, watt in table.cells)
    caption = (
        f"{where}, read by {source.name} ({kind}): {', '.join(source.traces)}. Shaded: pauses and warm-up. "
        + (
            "Dashed: idle power, the level of the pause before."
            if idle
            else f"Idle power is missing: {idle.reason}."
        )
    )
    svg = _draw_power(times - zero, watts, phases, idle.value, kind, "energy-power", alt)
    return Figure("energy-power", "Power over time", svg, alt, caption, table)


def _per_event(runs: list[Run]) -> Figure | str:
    net = all(r.energy.net_j for r in runs)
    external = any(r.measured.run.record.totals.external_events for r in runs)
    series: dict[tuple[str, str], list[tuple[int, float]]] = {}
    rows = []
    for run in runs:
        record = run.measured.run.record
        for one in run.energy.per_event[: 2 if external else 1]:
            value = one.net_uj if net else one.gross_uj
            if not value:
                return f"Energy per synaptic event: {value.reason}."
            label = run.measured.configuration.label
            series.setdefault((run.measured.run.schedule, one.definition), []).append(
                (record.ranks, value.value)
            )
            rows.append((label, record.ranks, one.definition, value.value))
    what, kind = "Net" if net else "Gross", runs[0].energy.kind
    alt = f"{what} energy per synaptic event over ranks. " + " ".join(
        f"{schedule}, {definition}: {span([v for _, v in points])} microjoule."
        for (schedule, definition), points in series.items()
    )
    caption = f"{what} energy of the {TIMED} divided by the counted events, for every run ({kind})."
    columns = {
        CONFIGURATION: lambda row: row[0],
        RANKS: lambda row: row[1],
        Column("events", "events"): lambda row: row[2],
        Column("energy_uj", "energy (µJ)", kind): lambda row: row[3],
    }
    svg = _draw_per_event(series, kind, "energy-events", alt)
    return Figure("energy-events", "Energy per synaptic event", svg, alt, caption, Table.of(columns, rows))


def _table(runs: list[Run]) -> Table:
    """Makes one row of means over runs for each configuration and number of ranks."""
    groups: dict[tuple[Configuration, int], list[Energy]] = {}
    for run in runs:
        groups.setdefault(run.key[1:], []).append(run.energy)
    kind, timed = runs[0].energy.kind, runs[0].measured.kind
    columns = {
        CONFIGURATION: lambda key: key[0].label,
        RANKS: lambda key: key[1],
        RUNS: lambda key: len(groups[key]),
        Column("meter", "meter"): lambda key: ", ".join(dict.fromkeys(e.source.name for e in groups[key])),
        Column("time_s", "time (s)", timed): lambda key: geometric_mean([e.duration_s for e in groups[key]]),
    }
    for name, head in SUMS.items():
        columns[Column(name, head, kind, digits=4)] = lambda key, name=name: _mean(groups[key], name)
    return Table.of(columns, groups, "Energy to solution")


def _published() -> Table:
    columns = {
        Column("program", "program"): lambda row: row["simulator"],
        Column("machine", "machine"): lambda row: f"{row['platform']}, {row['cores']} cores",
        Column("energy_uj", "energy (µJ)", "literature", 2): lambda row: float(row["uJ_per_syn_event"]),
    }
    return Table.of(columns, papers.rows("simula_table4"), PUBLISHED)


def _mean(energies: list[Energy], name: str) -> float | Quantity:
    """Returns the mean over runs; missing where any run lacks it."""
    values = [getattr(e, name) for e in energies]
    lacking = [v.reason for v in values if not v]
    return missing(lacking[0]) if lacking else sum(v.value for v in values) / len(values)


def _quality(energies: list[Energy]) -> str:
    samplings = [e.sampling for e in energies]
    levels = ", ".join(dict.fromkeys(e.level.words for e in energies))
    return (
        f"The meter was read at {span([s.rate_hz for s in samplings])} Hz and covers at least"
        f" {percent(min(s.coverage for s in samplings), 1)} of the {TIMED}. According to the methodology of "
        f"the EE HPC Working Group, this is {levels}."
    )


def _draw_power(
    times: np.ndarray,
    watts: np.ndarray,
    phases: dict[str, tuple[float, float]],
    idle_w: float | None,
    kind: str,
    name: str,
    alt: str,
) -> str:
    """Draws power over time; all times are in s from the start of the timed part."""
    with drawing(height=3.0) as (figure, (axes,)):
        handles = axes.plot(times, watts, color=COLOUR["update"], linewidth=1.2, label="power")
        tell(axes, "power", times, watts, kind)
        for label, (start, end) in phases.items():
            if label in SHADES:
                axes.axvspan(start, end, color=COLOUR[SHADES[label]], linewidth=0)
        handles += [Patch(color=COLOUR[SHADES[n]], label=n) for n in ("pause", "warm-up") if n in phases]
        if idle_w is not None:
            handles.append(
                axes.axhline(idle_w, color=COLOUR["ink"], linestyle="--", linewidth=1, label="idle")
            )
        axes.set_ylim(bottom=0)
        axes.set(xlabel=f"time from the start of the {TIMED} (s)", ylabel="power (W)")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt, zoom=axes)


def _draw_per_event(
    series: dict[tuple[str, str], list[tuple[int, float]]], kind: str, name: str, alt: str
) -> str:
    """Draws (ranks, microjoule) of every run; `series`: by schedule and definition of an event."""
    definitions = list(dict.fromkeys(definition for _, definition in series))
    schedules = list(dict.fromkeys(schedule for schedule, _ in series))
    with drawing(height=3.0) as (figure, (axes,)):
        for (schedule, definition), points in series.items():
            aside = 1 + 0.03 * (schedules.index(schedule) - (len(schedules) - 1) / 2)
            at, values = [ranks * aside for ranks, _ in points], [value for _, value in points]
            words = [str(ranks) for ranks, _ in points]
            tell(axes, f"{schedule.replace('_', ' ')}, {definition}", at, values, kind, x_says=words)
            axes.plot(
                at, values,
                marker=MARKERS[definitions.index(definition) % len(MARKERS)], linestyle="", markersize=5,
                markeredgewidth=0, color=schedule_colour(schedule),
            )  # fmt: skip
        axes.set_ylim(bottom=0)
        whole(axes.xaxis)
        axes.grid(axis="y")
        axes.set(xlabel="ranks", ylabel="energy per event (µJ)")
        handles = [
            Line2D([], [], marker="o", linestyle="", color=schedule_colour(s), label=s.replace("_", " "))
            for s in schedules
        ]
        handles += [
            Line2D([], [], marker=MARKERS[i % len(MARKERS)], linestyle="", color=COLOUR["muted"], label=d)
            for i, d in enumerate(definitions)
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)
