"""DPSNN's 20 480 neurons over many ranks on two simulated interconnects (Simula et al. 2019, Table I)."""

from spikemark import machines
from spikemark.models.published import papers
from spikemark.quantities.elements import Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records.gather import Sweep
from spikemark.records.phases import COMPUTE

from . import lines_figure
from .lines_figure import Axis, Line
from .on_machine import Place, places
from .runs import mean_time, share_percent
from .study import Findings, Study

NETWORK, SECONDS = "20480N", 10  # of the published runs, simulated seconds
PUBLISHED_ON = "dpsnn-westmere-ib"  # the profile nearest to that of Table I
PARTS = {
    "computation": COMPUTE,
    "communication": ("exchange",),
    "barrier": ("waiting",),
}
EXPLAINED = (
    "On how many ranks is a small network fastest? There is one rank per core. All ranks exchange the "
    "spikes of every millisecond: first their number, then the spikes. With more ranks, each has less to "
    "compute and sends more messages, nearly all of them short. So the cost of a message is decisive. "
    "Spikes go round a ring, from each rank to one other at a time. Times are seconds per simulated second, "
    "mean over ranks."
)
TABLE_I = (
    "Published: Table I of Simula et al. 2019, Intel Xeon E5-2630 v2 with InfiniBand, 10 simulated seconds. "
    "Its shares add up to 99.5 to 99.9 %. The simulated servers are the Westmere ones of the same paper. "
    "Not everything that is needed is known about them; Provenance says what was assumed. Compare shapes, "
    "not seconds."
)
NOT_YET = missing("not simulated yet")


def read(sweep: Sweep) -> Findings:
    """Times and shares over ranks and interconnects, beside Table I."""
    found = places(sweep.runs)
    main = _main(found)
    parts = [
        Section("interconnect", "Computation and communication by number of ranks", [EXPLAINED, TABLE_I],
                figures=_figures(found, main), tables=[main]),
        Section("published", "Beside Table I", tables=[_published(found)]),
    ]  # fmt: skip
    return Findings(_sentence(found), _key_figures(found), parts)


def _share(p: Place, part: str) -> Quantity:
    """Share of one of `PARTS` in the run time, in per cent."""
    return mean_time(p.runs, lambda m: share_percent(m, *PARTS[part]))


def _main(found: list[Place]) -> Table:
    rows = [
        {
            "machine": p.machine,
            "ranks": p.ranks,
            "real_time_factor": p.real_time_factor,
            **{f"{part}_s": p.time(*names) for part, names in PARTS.items()},
            **{f"{part}_percent": _share(p, part) for part in PARTS},
        }
        for p in found
    ]
    columns = [
        Column("machine", "machine", "given", title=machines.title),
        Column("ranks", "ranks", "given"),
        Column("real_time_factor", "real-time factor", "simulated"),
        *(Column(f"{part}_s", part, "simulated") for part in PARTS),
        *(Column(f"{part}_percent", f"{part} (%)", "simulated") for part in PARTS),
    ]
    return Table(columns, rows, "Seconds per simulated second", "interconnect")


def _published(found: list[Place]) -> Table:
    rows = []
    for line in papers.rows("simula_table1"):
        if line["network"] != NETWORK:
            continue
        ranks = int(line["procs"])
        own = next((p for p in found if (p.machine, p.ranks) == (PUBLISHED_ON, ranks)), None)
        row = {
            "ranks": ranks,
            "real_time_factor": own.real_time_factor if own else NOT_YET,
            "published": float(line["wallclock_s"]) / SECONDS,
        }
        for part in PARTS:
            row[f"{part}_percent"] = _share(own, part) if own else NOT_YET
            row[f"published_{part}_percent"] = float(line[f"{part}_pct"])
        rows.append(row)
    columns = [
        Column("ranks", "ranks", "given"),
        Column("real_time_factor", "real-time factor", "simulated"),
        Column("published", "published", "literature"),
    ]
    for part in PARTS:
        columns.append(Column(f"{part}_percent", f"{part} (%)", "simulated"))
        columns.append(Column(f"published_{part}_percent", "published", "literature"))
    return Table(columns, rows, f"{PUBLISHED_ON} beside Table I of Simula et al. 2019", "table1")


def _fastest(found: list[Place], machine: str) -> Place | None:
    own = [p for p in found if p.machine == machine and p.real_time_factor]
    return min(own, key=lambda p: p.real_time_factor.value, default=None)


def _sentence(found: list[Place]) -> str:
    words = []
    for machine in dict.fromkeys(p.machine for p in found):
        best = _fastest(found, machine)
        last = max((p for p in found if p.machine == machine), key=lambda p: p.ranks)
        share = _share(last, "communication")
        words.append(
            f"{machines.title(machine)} is fastest on {counted(best.ranks, 'rank')}, at a real-time factor "
            f"of {number(best.real_time_factor.value)}, and on {last.ranks} spends {number(share.value)} % "
            f"of the time in communication at one of {number(last.real_time_factor.value)}"
        )
    if not words:
        return "Nothing to compare yet: no simulated run is complete."
    return f"Simulated: {'; '.join(words)}.{_verdict(found)}"


def _verdict(found: list[Place]) -> str:
    """Says whether the fastest of the published numbers of ranks is the published one."""
    lines = [line for line in papers.rows("simula_table1") if line["network"] == NETWORK]
    times = {int(line["procs"]): float(line["wallclock_s"]) for line in lines}
    own = {p.ranks: p.real_time_factor for p in found if p.machine == PUBLISHED_ON and p.ranks in times}
    if own.keys() != times.keys() or not all(own.values()):
        return ""
    best, theirs = min(own, key=lambda ranks: own[ranks].value), min(times, key=times.get)
    ranks = ", ".join(map(str, sorted(times)))
    among = f" Of {ranks} ranks of {machines.title(PUBLISHED_ON)}, {best} are fastest"
    return f"{among}, as published." if best == theirs else f"{among}; published: {theirs}."


def _key_figures(found: list[Place]) -> list[KeyFigure]:
    figures = []
    for machine in dict.fromkeys(p.machine for p in found):
        best = _fastest(found, machine)
        note = f"on {counted(best.ranks, 'rank')}"
        value = number(best.real_time_factor.value)
        figures.append(
            KeyFigure(f"Best real-time factor, {machines.title(machine)}", value, "simulated", note)
        )
    return figures or [KeyFigure.lacking("Best real-time factor", "no such runs")]


def _figures(found: list[Place], main: Table) -> list[Figure]:
    figures = []
    for machine in dict.fromkeys(p.machine for p in found):
        own = [p for p in found if p.machine == machine]
        ranks = sorted({p.ranks for p in own})
        if len(ranks) < 2:
            continue
        colours = {"computation": "conventional", "communication": "overlapped", "barrier": "hierarchical"}
        lines = [
            Line(part, colours[part], [(p.ranks, p.time(*names).value) for p in own])
            for part, names in PARTS.items()
        ]
        alt = f"Seconds per simulated second on {machines.title(machine)}. " + " ".join(
            f"{p.ranks} ranks: {', '.join(f'{part} {number(p.time(*PARTS[part]).value)}' for part in PARTS)}."
            for p in own
        )
        name = f"interconnect-{len(figures)}"
        up = "s per simulated s"
        svg = lines_figure.draw(lines, Axis("ranks", ranks), up, "simulated", name, alt, {})
        caption = "Parts of the real-time factor, mean over ranks, logarithmic."
        figures.append(Figure(name, machines.title(machine), svg, alt, caption, main))
    return figures


STUDY = Study(
    "interconnect",
    "DPSNN's 20 480 neurons to 256 ranks, simulated InfiniBand and Ethernet, beside Table I of Simula et al.",
    "interconnect",
    read,
)
