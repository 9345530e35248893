"""Energy: power over time with the phases of a run, and energy per synaptic event by ranks."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.energy import kept
from spikemark.energy.analysis import Energy
from spikemark.energy.trace import thinned
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, number, percent, span, typical
from spikemark.records.cases import View, timed
from spikemark.records.gather import Configuration, Measured
from spikemark.report.figures import energy as drawing

TITLE = "Energy"
EXPLAINED = (
    "Gross energy is the power integrated over the measured part; net energy is what remains after the idle"
    " power of the pause before the run. Rules of procurement do not let idle be subtracted, so gross comes"
    " first. A synaptic event is recurrent, or recurrent or external (Simula et al. 2019)."
)
OUTSIDE = "`spikemark energy RUN_DIR --power FILE.csv --keep` takes it from a meter outside"
POINTS = 600


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
    """Of the runs of the other figures that read a meter; one line where none did."""
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
    tables = [
        ("Energy to solution", _table(runs)),
        ("Net energy per synaptic event as published (Simula et al. 2019, Table IV)", _published()),
    ]
    return Section("energy", TITLE, text=text, figures=figures, tables=tables, missing=missing)


def _runs(view: View) -> tuple[list[Run], dict[str, int]]:
    """Those with energy, and how many have none, by reason."""
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
    spans = {"pause": line.idle_before, "warm-up": (line.busy[0], zero), "measured": line.measured}
    spans["pause after"] = line.idle_after
    phases = {name: (at[0] - zero, at[1] - zero) for name, at in spans.items() if at and at[1] - at[0] > 1e-9}
    times, watts = thinned(*source.trace.points(), POINTS)
    idle = run.energy.idle_w
    rows = [
        [name, number(start), number(end), number(source.trace.mean_w(start + zero, end + zero), 4)]
        for name, (start, end) in phases.items()
    ]
    where = f"{run.measured.configuration.label}, {counted(record.ranks, 'rank')}"
    alt = f"Power over time, {where}. " + " ".join(f"{r[0]}: {r[3]} W." for r in rows)
    caption = (
        f"{where}, read by {source.name} (measured): {', '.join(source.traces)}. Shaded: pauses and warm-up. "
        + ("Dashed: idle power, the level of the pause before." if idle else f"No idle power: {idle.reason}.")
    )
    table = Table(["phase", "from (s)", "to (s)", "mean power (W)"], rows, ["", *["measured"] * 3])
    svg = drawing.power(times - zero, watts, phases, idle.value, "energy-power", alt)
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
            rows.append([label, str(record.ranks), one.definition, number(value.value)])
    kind = "Net" if net else "Gross"
    alt = f"{kind} energy per synaptic event over ranks. " + " ".join(
        f"{schedule}, {definition}: {span([v for _, v in points])} microjoule."
        for (schedule, definition), points in series.items()
    )
    caption = f"{kind} energy of the measured part over the events counted, every run (measured)."
    table = Table(
        ["configuration", "ranks", "events", "energy (µJ)"], rows, ["given", "given", "", "measured"]
    )
    svg = drawing.per_event(series, "energy-events", alt)
    return Figure("energy-events", "Energy per synaptic event", svg, alt, caption, table)


def _table(runs: list[Run]) -> Table:
    """One row per configuration and ranks; means over runs."""
    groups: dict[tuple[Configuration, int], list[Energy]] = {}
    for run in runs:
        groups.setdefault(run.key[1:], []).append(run.energy)
    rows = [
        [
            configuration.label,
            str(ranks),
            str(len(found)),
            ", ".join(dict.fromkeys(e.source.name for e in found)),
            number(typical([e.duration_s for e in found])),
            _mean([e.gross_j for e in found]),
            _mean([e.net_j for e in found]),
            _mean([e.gross_delay_js for e in found]),
        ]
        for (configuration, ranks), found in groups.items()
    ]
    heads = ["configuration", "ranks", "runs", "meter", "time (s)", "gross (J)", "net (J)"]
    kinds = ["given", "given", "counted", "", *["measured"] * 4]
    return Table([*heads, "gross × delay (J s)"], rows, kinds, words=(0, 3))


def _published() -> Table:
    from spikemark.published import papers  # the studies draw pages, too

    rows = [
        [row["simulator"], f"{row['platform']}, {row['cores']} cores", row["uJ_per_syn_event"]]
        for row in papers.rows("simula_table4")
    ]
    return Table(["program", "machine", "energy (µJ)"], rows, ["", "", "literature"], words=(0, 1))


def _mean(values: list[Quantity]) -> str:
    known = [v.value for v in values if v]
    return number(sum(known) / len(known), 4) if len(known) == len(values) else "missing"


def _quality(energies: list[Energy]) -> str:
    samplings = [e.sampling for e in energies]
    levels = ", ".join(dict.fromkeys(e.level.words for e in energies))
    return (
        f"Readings: {span([s.rate_hz for s in samplings])} Hz, covering at least"
        f" {percent(min(s.coverage for s in samplings), 1)} of the measured part; methodology of the EE HPC"
        f" Working Group: {levels}."
    )
