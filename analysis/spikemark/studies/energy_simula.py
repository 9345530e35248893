"""Simula et al. 2019, Tables II to IV: energy to solution and per synaptic event, beside this machine."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spikemark import machines
from spikemark.energy import analysis, on_machine
from spikemark.energy.analysis import Energy
from spikemark.energy.power_model import PowerModel
from spikemark.models.published import papers, simula
from spikemark.models.published.simula import ARM, ETHERNET, INFINIBAND, X86, Point
from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, mean, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, span
from spikemark.records.gather import Measured, Sweep
from spikemark.report.columns import RANKS

from .runs import NOT_RUN, group, mean_time, say_crowded, timed
from .study import Findings, Study

#: The machine profiles of the interconnects of Table II; as many nodes as the largest run had. How many
#: there were was not published.
PROFILES = {ETHERNET: "dpsnn-westmere-eth", INFINIBAND: "dpsnn-westmere-ib"}
NODES = 4
EXPLAINED = (
    "How much energy did published simulations take? Simula et al. ran 20 480 neurons for 10 s on a cluster "
    "of x86 servers and on boards with ARM cores, and measured the power from outside. Their energy is the "
    "duration of the run times its power above the baseline, which is the plateau of the pause at its "
    "start. Here every "
    "energy is computed again from the printed time and power. The gross energy adds the baseline that the "
    "paper subtracts: 564 W for the whole cluster, 49.2 W for both boards at the wall. With it, the best "
    "point has more cores, because idling costs least when the run is short."
)
CARDS = (
    f"What does an interconnect draw? The power of the cluster is modelled as the baseline plus a power for "
    f"each busy core and one for each interconnect card in use, one card for {simula.CORES_PER_NODE} cores. "
    "How runs were spread over nodes was not published. The numbers are in the machine profiles "
    "dpsnn-westmere-eth and "
    "dpsnn-westmere-ib and are fitted to full nodes. One core alone draws 48 W above the baseline, sixteen "
    "draw 166 W: power does not follow the number of busy cores within a node. Energy is that power, without "
    "the baseline, times the printed time."
)
HERE = (
    "This is the same network on our machine. Synaptic events are counted, recurrent and external ones "
    "separately. Energy is that of the timed part of a run. Net is gross minus the idle power of the pause "
    "before."
)
UNREAD = "no meter was read during the runs (the table says why)"
NO_BASELINE = missing("no baseline was published for one board behind its supply")
NO_ENERGY = missing("the energy behind it was not published")
QUANTITIES = {
    "time": lambda p: p.time_s, "net energy": lambda p: p.energy_j, "gross energy": lambda p: p.gross_j,
    "energy × delay": lambda p: p.delay_js,
}  # fmt: skip
#: Keys of Table IV by what counts as an event, in the order of simula.definitions().
RECOMPUTED = ("recomputed_recurrent_uj", "recomputed_all_uj", "recomputed_all_at_3_uj")


def read(sweep: Sweep) -> Findings:
    """The published tables, computed again, and the runs of this machine beside them."""
    here = _here(group(sweep.runs, lambda m: m.run.record.ranks), sweep)
    say_crowded(here.rows, sweep.runs)
    parts = [
        Section("x86", "x86 servers", [EXPLAINED], tables=[_published("table2", "Table II: x86", X86)]),
        Section("arm", "ARM boards", tables=[_published("table3", "Table III: ARM", ARM)]),
        Section("events", "Energy per synaptic event", boxes=[Box("wary", line) for line in simula.slips()],
                tables=[_per_event(here, sweep.kind)]),
        Section("interconnect", "Ethernet and InfiniBand", [CARDS], tables=[_interconnect()]),
        Section("here", sweep.where.capitalize(), [HERE], tables=[here]),
    ]  # fmt: skip
    return Findings(_sentence(here), _key_figures(here, sweep.kind), parts)


def _published(name: str, title: str, table: str) -> Table:
    points = simula.points(table)
    best = optima(points, **QUANTITIES)
    columns = {
        Column("cores", "cores", "given"): lambda p: p.label,
        Column("note", "", "given"): lambda p: p.note,
        Column("time_s", "time (s)", "literature", 4): lambda p: p.time_s,
        Column("power_w", "power above baseline (W)", "literature"): lambda p: p.power_w,
        Column("published_j", "energy (J)", "literature", 6): lambda p: p.energy_j,
        Column("recomputed_j", "time × power (J)", "literature", 6): lambda p: p.product_j,
        Column("consistent", "agree"): lambda p: p.consistent,
        Column("gross_j", "with baseline (J)", "literature", 5): lambda p: (
            NO_BASELINE if p.gross_j is None else p.gross_j
        ),
        Column("energy_delay_js", "energy × delay (J s)", "literature", 4): lambda p: p.delay_js,
        Column("least", "least"): lambda p: ", ".join(best.get(points.index(p), [])),
    }
    return Table.of(columns, points, f"{title}, energy to solution", name)


def _per_event(here: Table, kind: str) -> Table:
    """Table IV, and what the energies of Tables II and III imply under each definition of an event."""
    definitions = dict(zip(RECOMPUTED, simula.definitions(), strict=True))
    rows = []
    for row in papers.rows("simula_table4"):
        energy = float(row["energy_J_used"]) if row["energy_J_used"] else None
        again = {
            key: NO_ENERGY if energy is None else simula.microjoule(energy, d)
            for key, d in definitions.items()
        }
        rows.append({
            "who": row["simulator"],
            "machine": f"{row['platform']}, {row['cores']} cores",
            "energy_j": NO_ENERGY if energy is None else energy,
            "published_uj": float(row["uJ_per_syn_event"]),
            **again,
        })  # fmt: skip
    for row in here.rows:
        rows.append({
            "who": "mini-app", "machine": f"here, {counted(row['ranks'], 'rank')}", "energy_j": row["net_j"],
            "here_recurrent_uj": row["recurrent_uj"], "here_all_uj": row["all_uj"],
        })  # fmt: skip
    columns = [
        Column("who", "program"),
        Column("machine", "machine"),
        Column("energy_j", "net energy (J)", "", 5),
        Column("published_uj", "published (µJ)", "literature", 2),
        *(Column(key, f"{d.name} (µJ)", "literature") for key, d in definitions.items()),
        Column("here_recurrent_uj", "here, recurrent (µJ)", kind),
        Column("here_all_uj", "here, recurrent + external (µJ)", kind),
    ]
    return Table(columns, rows, "Table IV: energy per synaptic event", "table4")


def _interconnect() -> Table:
    models = interconnects()

    def watts(p: Point) -> float:
        return models.get(p.note, models[ETHERNET]).above_idle_w(p.cores, p.cards)

    columns = {
        Column("cores", "cores", "given"): lambda p: p.cores,
        Column("interconnect", "interconnect", "given"): lambda p: p.note if p.cards else "none",
        Column("cards", "cards", "modelled"): lambda p: p.cards,
        Column("time_s", "time (s)", "literature", 4): lambda p: p.time_s,
        Column("power_w", "power (W)", "literature"): lambda p: p.power_w,
        Column("modelled_w", "power (W)", "modelled"): watts,
        Column("deviation_percent", "modelled − published (%)", "modelled", 2): lambda p: (
            100 * (watts(p) / p.power_w - 1)
        ),
        Column("energy_j", "energy (J)", "literature", 6): lambda p: p.energy_j,
        Column("modelled_j", "energy (J)", "modelled"): lambda p: watts(p) * p.time_s,
    }
    full = [p for p in simula.points(X86) if p.cores >= simula.CORES_PER_NODE]
    note = "; ".join(
        f"{m.name}: {number(m.idle_w)} W baseline, {number(m.core_w)} W a core, {number(m.card_w)} W a card"
        for m in models.values()
    )
    return Table.of(columns, full, "Interconnects as models of power", "interconnect", [f"{note}."])


def interconnects() -> dict[str, PowerModel]:
    """Ethernet and InfiniBand as models of the whole cluster's power, from their machine profiles."""
    return {name: on_machine.power_model(machines.load(p), NODES) for name, p in PROFILES.items()}


def _here(found: dict[int, list[Measured]], sweep: Sweep) -> Table:
    """One row per number of ranks."""
    items = [
        (ranks, runs, runs[0].run.record.totals, [analysis.of_run(m.run) for m in timed(runs)])
        for ranks, runs in sorted(found.items())
    ]

    def time(of: Callable[[Measured], float]) -> Callable[[tuple], Quantity]:
        return lambda row: mean_time(row[1], of)

    def energy(of: Callable[[Energy], Quantity]) -> Callable[[tuple], Quantity]:
        return lambda row: _energy(row[3], of)

    kind = sweep.kind
    columns = {
        RANKS: lambda row: row[0],
        Column("neurons", "neurons", "given"): lambda row: row[2].neurons,
        Column("time_s", "time (s)", kind): time(lambda m: m.run.record.timing.simulate_s),
        Column("real_time_factor", "real-time factor", kind): time(lambda m: m.real_time_factor),
        Column("recurrent_events", "recurrent events", "counted"): lambda row: row[2].synaptic_events,
        Column("external_events", "external events", "counted"): lambda row: row[2].external_events,
        Column("gross_j", "gross energy (J)", kind, 4): energy(lambda e: e.gross_j),
        Column("net_j", "net energy (J)", kind, 4): energy(lambda e: e.net_j),
        Column("recurrent_uj", "per recurrent event (µJ)", kind): energy(lambda e: e.per_event[0].net_uj),
        Column("all_uj", "per recurrent or external event (µJ)", kind): energy(
            lambda e: e.per_event[1].net_uj
        ),
        Column("energy_delay_js", "net energy × delay (J s)", kind): energy(lambda e: e.net_delay_js),
        Column("source", "source of energy"): lambda row: (
            ", ".join(dict.fromkeys(e.source.name for e in row[3] if e.source)) or "none"
        ),
    }
    made = Table.of(columns, items, f"{sweep.where.capitalize()}, by ranks", "here")
    least = {"time": "time_s", "net energy": "net_j", "gross energy": "gross_j",
             "energy × delay": "energy_delay_js"}  # fmt: skip
    best = optima(made.rows, **{name: lambda row, key=key: row[key].value for name, key in least.items()})
    for i, row in enumerate(made.rows):
        row["least"] = ", ".join(best.get(i, []))
    return replace(made, columns=[*made.columns, Column("least", "least")])


def optima(points: list, **quantities: Callable) -> dict[int, list[str]]:
    """For each place in the list, the quantities that are smallest there.

    Quantities that some points lack are left out.
    """
    found: dict[int, list[str]] = {}
    for name, value in quantities.items():
        values = [value(p) for p in points]
        if values and None not in values:
            found.setdefault(int(np.argmin(values)), []).append(name)
    return found


def _energy(energies: list[Energy], value: Callable[[Energy], Quantity]) -> Quantity:
    """Mean over repetitions; missing if any of them lacks it, with the reason of the first."""
    if not energies:
        return NOT_RUN
    found = [value(energy) for energy in energies]
    lacking = next((v for v in found if not v), None)
    return missing(lacking.reason) if lacking is not None else mean(v.value for v in found)


def _all_points() -> list[Point]:
    return [p for table in (X86, ARM) for p in simula.points(table)]


def _sentence(here: Table) -> str:
    everything = _all_points()
    agree = sum(p.consistent for p in everything)
    best = {q: min(simula.points(X86), key=value) for q, value in QUANTITIES.items()}
    words = (
        f"Of {len(everything)} published energies {agree} are time × power; on x86 the net energy was least"
        f" on {_name(best['net energy'])}, the time and the gross energy on {_name(best['gross energy'])}."
    )
    ours = [row for row in here.rows if row["time_s"]]
    if not ours:
        return f"Nothing to compare yet: no run with as many ranks as cores is complete. {words}"
    times = ", ".join(f"{number(row['time_s'].value)} s on {counted(row['ranks'], 'rank')}" for row in ours)
    known = [row for row in ours if row["all_uj"]]
    energy = (
        f"{span([row['all_uj'].value for row in known], 2)} µJ per synaptic event, recurrent or external"
        if known
        else f"energy is missing: {UNREAD}"
    )
    return f"{words} Here {number(ours[0]['neurons'])} neurons took {times}; {energy}."


def _name(p: Point) -> str:
    return f"{p.label} cores" + (f" with {p.note}" if p.cards else "")


def _key_figures(here: Table, kind: str) -> list[KeyFigure]:
    everything = _all_points()
    agree = sum(p.consistent for p in everything)
    many = {p.note: p for p in simula.points(X86) if p.cores == 32}
    ratio = many[ETHERNET].energy_j / many[INFINIBAND].energy_j
    figures = [
        KeyFigure("Published energies that are time × power", f"{agree} of {len(everything)}", "literature"),
        KeyFigure("Energy on Ethernet over InfiniBand", number(ratio), "literature", "on 32 cores"),
    ]
    known = [row["all_uj"].value for row in here.rows if row["all_uj"]]
    title = "Energy per synaptic event here"
    if known:
        note = "net, recurrent and external events; published: 1.1 (ARM), 3.4 (x86)"
        return [*figures, KeyFigure(title, f"{span(known, 2)} µJ", kind, note)]
    reason = UNREAD if here.rows else NOT_RUN.reason
    return [*figures, KeyFigure.lacking(title, reason)]


STUDY = Study(
    "energy-simula",
    "energy to solution and per synaptic event by cores and interconnect (Simula et al. 2019, Tables II-IV)",
    "energy-simula",
    read,
)
