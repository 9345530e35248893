"""Weak scaling on a simulated machine, one area per rank (Lober et al. 2026, figure 7)."""

from collections.abc import Callable

import numpy as np

from spikemark import machines
from spikemark.models import access, statistics, waiting_iid
from spikemark.quantities.elements import Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Cells, Column, Table
from spikemark.quantities.words import MINUS, microseconds, number, percent
from spikemark.records.gather import Measured, Sweep
from spikemark.report.columns import LABEL
from spikemark.report.sections.cycle_times import drawing
from spikemark.report.sections.cycle_times.distributions import LEVEL, axis, distribution

from .on_machine import PHASES, Place, places, saved, speed_figure
from .study import Findings, Study

EXPLAINED = (
    "What does the structure-aware schedule save when a network grows with its machine? In compute time, "
    "each rank is a node with one area of the published size: the mean time of deliver, update and "
    "collocate follows from the full network and the profile's kernels, and its scatter is assumed. The "
    "simulated "
    "network has fewer neurons that fire more often, so that a third of the spikes of full areas travel in "
    "every cycle. These spikes are real, and so are the messages. Times are seconds per simulated second, "
    "mean over ranks. Waiting includes the wait for overlapped exchanges."
)
THEORY = (
    "The theory is that of Lober et al. 2026. Waiting: 1 − 1/√D (eq 11), for uncorrelated cycle times. "
    "Irregular accesses: eqs 13–17 with all cores of a node as threads. Delivery gains less, because only a "
    "part of it is irregular access."
)
HISTOGRAMS = (
    "Compute time per cycle of all ranks (simulated), that of windows divided by their length, each "
    "histogram scaled to its highest bin; triangles: modes. Line: the slowest rank alone. "
    f"Shaded: where {percent(LEVEL)} of the slowest would lie if times were independent and normal "
    "(modelled: Lober et al. 2026, eq 12). It contains: "
)
OF_PROFILE = "of the profile"
NONE = missing("no conventional run of these ranks")
UNKNOWN = missing("the published size is not stated by machine.compute_of")


def read(sweep: Sweep) -> Findings:
    """Phases by schedule and ranks, reductions beside the theory, growth, cycle times."""
    found = places(sweep.runs, _correlation)
    main, less, growth = _main(found), _reductions(found), _slopes(found)
    last = _last(found)
    times = _cycle_times(last)
    parts = [
        Section("weak-scaling", "Phases by number of areas", [EXPLAINED], figures=_figures(found, main),
                tables=[main]),
        Section("reductions", "What the structure saves", [THEORY], tables=[less]),
        Section("slopes", "Growth with the number of areas", tables=[growth]),
        Section("cycle-times", "Cycle times", figures=_distributions(last, times), tables=[times]),
    ]  # fmt: skip
    return Findings(_sentence(less), _key_figures(less), parts)


def _correlation(m: Measured) -> tuple[bool, float]:
    """The serial correlation of compute times, and whether it is left to the profile."""
    asked = m.planned.machine.correlation
    return asked is None, float(asked or 0)


#: The columns that distinguish the rows, of a place.
MACHINE = {
    Column("machine", "machine", "given", title=machines.title): lambda p: p.machine,
    Column("correlation", "serial correlation", "given", 2): lambda p: (
        OF_PROFILE if p.setting[0] else p.setting[1]
    ),
}
WHERE = {**MACHINE, Column("ranks", "ranks = areas", "given"): lambda p: p.ranks, **LABEL}


def _of_first(cells: Cells) -> Cells:
    """The same cells, of items whose first part is the place."""
    return {column: lambda item, cell=cell: cell(item[0]) for column, cell in cells.items()}


def _main(found: list[Place]) -> Table:
    return Table.of({**WHERE, **PHASES}, found, "Seconds per simulated second", "weak_scaling")


def _waiting(p: Place) -> float:
    """The theory's reduction of waiting in per cent."""
    return 100 * (1 - waiting_iid.waiting_ratio(p.configuration.delay_ratio))


def _reductions(found: list[Place]) -> Table:
    def known(theory: Callable[[Place], Cell]) -> Callable[[Place], Cell]:
        return lambda p: theory(p) if p.configuration.schedule == "structure_aware" else ""

    columns = {
        **WHERE,
        Column("waiting_percent", "waiting (%)", "simulated"): saved(found, NONE, "waiting"),
        Column("waiting_theory", "theory", "modelled"): known(_waiting),
        Column("exchange_percent", "exchange (%)", "simulated"): saved(found, NONE, "exchange"),
        Column("deliver_percent", "delivery (%)", "simulated"): saved(found, NONE, "deliver"),
        Column("irregular_theory", "irregular accesses, theory", "modelled"): known(_irregular),
        Column("run_time_percent", "run time (%)", "simulated"): saved(found, NONE),
    }
    others = [p for p in found if p.configuration.schedule != "conventional"]
    title = "Reduction against the conventional schedule, %; below 0 if it is an increase"
    return Table.of(columns, others, title, "reductions")


def _irregular(p: Place) -> float | Quantity:
    """Reduction of irregular accesses in per cent, for areas of the size whose compute times were used."""
    machine = p.runs[0].planned.machine
    neurons, indegree = (machine.compute_of.get(f"preset.{n}") for n in ("neurons_per_area", "indegree"))
    if neurons is None or indegree is None:
        return UNKNOWN
    cores = machines.load(machine.profile).get("node.cores")
    if cores is None:
        return missing("the profile does not say how many cores a node has")
    threads = cores.value // machine.ranks_per_node
    near = indegree - indegree // 2
    return 100 * access.reduction(neurons, near, indegree // 2, p.ranks, threads)


def _slopes(found: list[Place]) -> Table:
    """Straight lines through real-time factors over the number of ranks."""
    lines = []
    for kind in dict.fromkeys((p.machine, p.setting, p.configuration) for p in found):
        own = [p for p in found if (p.machine, p.setting, p.configuration) == kind]
        known = [(p.ranks, x.value) for p in own if (x := p.real_time_factor)]
        if len(known) >= 2:
            ranks, factors = np.array(known, dtype=float).T
            lines.append((own[0], factors, *np.polyfit(ranks, factors, 1)))
    columns = {
        **_of_first({**MACHINE, **LABEL}),
        Column("first", "real-time factor, fewest ranks", "simulated"): lambda x: float(x[1][0]),
        Column("last", "most ranks", "simulated"): lambda x: float(x[1][-1]),
        Column("growth_percent", "growth (%)", "simulated"): lambda x: float(100 * (x[1][-1] / x[1][0] - 1)),
        Column("slope", "slope per 100 ranks", "modelled"): lambda x: float(100 * x[2]),
        Column("start", "line at 0 ranks", "modelled"): lambda x: float(x[3]),
    }
    return Table.of(columns, lines, "Real-time factor over ranks", "slopes")


def _last(found: list[Place]) -> list[tuple[Place, Measured]]:
    """The places at each machine's most ranks, each with its first run that has recorded its cycles."""
    most = {p.machine: max(q.ranks for q in found if q.machine == p.machine) for p in found}
    runs = [(p, next((m for m in p.runs if m.run.cycles is not None), None)) for p in found]
    return [(p, m) for p, m in runs if p.ranks == most[p.machine] and m is not None]


def _distributions(last: list[tuple[Place, Measured]], times: Table) -> list[Figure]:
    """Histograms of compute times, one figure for each machine and correlation."""
    figures = []
    for machine, setting in dict.fromkeys((p.machine, p.setting) for p, _ in last):
        own = [(p, m) for p, m in last if (p.machine, p.setting) == (machine, setting)]
        open_, correlation = setting
        title = (
            f"On {own[0][0].ranks} ranks of {machines.title(machine)}, serial correlation"
            f" {OF_PROFILE if open_ else format(correlation, 'g')}"
        )
        name = f"cycle-times-{len(figures)}"
        figures.append(_histograms([m for _, m in own], title, name, times))
    return figures


def _histograms(runs: list[Measured], title: str, name: str, times: Table) -> Figure:
    """`runs`: one of each schedule, on as many ranks; `name`: unique on the page."""
    drawn = [distribution(m) for m in runs]
    limits, logarithmic = axis(drawn)
    alt = f"{title}, histograms. " + " ".join(
        f"{d.label}: mean {microseconds(d.mean_s)}, standard deviation {microseconds(d.sd_s)}." for d in drawn
    )
    inside = "; ".join(f"{percent(d.inside, 1)} ({d.name})" for d in drawn if d.inside is not None)
    svg = drawing.draw(drawn, limits, logarithmic, name, alt)
    return Figure(name, title, svg, alt, f"{HISTOGRAMS}{inside or 'none: one rank'}.", times)


def _cycle_times(last: list[tuple[Place, Measured]]) -> Table:
    """The distribution of compute times, of single cycles and of windows."""
    items = []
    for p, m in last:
        compute, window = m.run.compute(), max(lane.period for lane in m.run.record.lanes)
        items.append((p, window, statistics.describe(compute), statistics.describe(compute, window).cv))
    columns = {
        **_of_first(WHERE),
        Column("window", "window (cycles)", "given"): lambda x: x[1],
        Column("mean_us", "compute time of a cycle, mean (µs)", "simulated"): lambda x: 1e6 * x[2].mean_s,
        Column("median_us", "median", "simulated"): lambda x: 1e6 * x[2].percentiles_s[50.0],
        Column("high_us", "99.5th percentile", "simulated"): lambda x: 1e6 * x[2].percentiles_s[99.5],
        Column("cv", "CV", "simulated"): lambda x: x[2].cv,
        Column("ratio", "CV of windows / CV", "simulated"): lambda x: (
            x[3] / x[2].cv if x[2].cv > 0 else missing("all cycles took the same time")
        ),
        Column("ratio_theory", "1/√D", "modelled"): lambda x: x[1] ** -0.5,
    }
    note = "These are runs of the first seed. Their times are drawn from the profile."
    return Table.of(columns, items, "Compute times at the most ranks", "cycle_times", [note])


def _headline(less: Table) -> dict | None:
    """The structure-aware row with a partner on the most ranks, at the first correlation."""
    rows = [r for r in less.rows if r["waiting_theory"] != "" and r["waiting_percent"]]
    return max(rows, key=lambda r: r["ranks"], default=None)


def _sentence(less: Table) -> str:
    row = _headline(less)
    if row is None:
        return "Nothing to compare yet: no conventional and structure-aware run on the same number of ranks."
    values = {name: row[name] for name in ("waiting_percent", "exchange_percent", "deliver_percent")}
    words = {name: _change(cell) for name, cell in values.items()}
    theory = row["irregular_theory"]
    irregular = f" (irregular accesses, theory: {_change(theory)})" if isinstance(theory, float) else ""
    return (
        f"On {row['ranks']} nodes of {machines.title(row['machine'])}, simulated, the structure-aware "
        f"schedule changes waiting by {words['waiting_percent']} (theory: {_change(row['waiting_theory'])}), "
        f"exchange by {words['exchange_percent']}, delivery by {words['deliver_percent']}{irregular}, "
        f"and the run time by {_change(row['run_time_percent'])}."
    )


def _change(reduction: Quantity | float) -> str:
    value = reduction.value if isinstance(reduction, Quantity) else reduction
    if value is None:
        return "an unknown amount"
    return f"{MINUS if value >= 0 else '+'}{number(abs(value))} %"


def _key_figures(less: Table) -> list[KeyFigure]:
    row = _headline(less)
    if row is None:
        return [KeyFigure.lacking("Change by structure", "no such runs")]
    where = f"{row['ranks']} ranks, {machines.title(row['machine'])}"
    return [
        KeyFigure("Waiting", _change(row["waiting_percent"]), "simulated",
                  f"{where}; theory {percent(-row['waiting_theory'] / 100)}"),
        KeyFigure("Exchange", _change(row["exchange_percent"]), "simulated", where),
        KeyFigure("Delivery", _change(row["deliver_percent"]), "simulated", where),
        KeyFigure("Run time", _change(row["run_time_percent"]), "simulated", where),
    ]  # fmt: skip


def _figures(found: list[Place], main: Table) -> list[Figure]:
    figures = []
    for machine, setting in dict.fromkeys((p.machine, p.setting) for p in found):
        own = [p for p in found if (p.machine, p.setting) == (machine, setting)]
        title, name = f"Real-time factor, {machines.title(machine)}", f"weak-scaling-{len(figures)}"
        figures += speed_figure(own, "ranks = areas", lambda p: p.ranks, title, name, main)
    return figures


STUDY = Study(
    "weak-scaling",
    "one area per node on a simulated machine: phases and reductions beside theory (Lober et al., figure 7)",
    "weak-scaling",
    read,
)
