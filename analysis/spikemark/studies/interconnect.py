"""DPSNN's 20 480 neurons over many ranks on two simulated interconnects (Simula et al. 2019, Table I)."""

from collections.abc import Callable

from spikemark import machines
from spikemark.models.published import papers
from spikemark.quantities.elements import Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records.gather import Sweep
from spikemark.records.phases import COMPUTE
from spikemark.report.columns import RANKS

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
    columns = {
        Column("machine", "machine", "given", title=machines.title): lambda p: p.machine,
        RANKS: lambda p: p.ranks,
        Column("real_time_factor", "real-time factor", "simulated"): lambda p: p.real_time_factor,
    }
    for part, names in PARTS.items():
        columns[Column(f"{part}_s", part, "simulated")] = lambda p, names=names: p.time(*names)
    for part in PARTS:
        columns[_percent(part)] = lambda p, part=part: _share(p, part)
    return Table.of(columns, found, "Seconds per simulated second", "interconnect")


def _percent(part: str) -> Column:
    return Column(f"{part}_percent", f"{part} (%)", "simulated")


def _published(found: list[Place]) -> Table:
    own = {str(p.ranks): p for p in found if p.machine == PUBLISHED_ON}

    def here(what: Callable[[Place], Quantity]) -> Callable[[dict], Quantity]:
        return lambda line: what(own[line["procs"]]) if line["procs"] in own else NOT_YET

    columns = {
        RANKS: lambda line: int(line["procs"]),
        Column("real_time_factor", "real-time factor", "simulated"): here(lambda p: p.real_time_factor),
        Column("published", "published", "literature"): lambda line: float(line["wallclock_s"]) / SECONDS,
    }
    for part in PARTS:
        columns[_percent(part)] = here(lambda p, part=part: _share(p, part))
        theirs = Column(f"published_{part}_percent", "published", "literature")
        columns[theirs] = lambda line, part=part: float(line[f"{part}_pct"])
    lines = [line for line in papers.rows("simula_table1") if line["network"] == NETWORK]
    return Table.of(columns, lines, f"{PUBLISHED_ON} beside Table I of Simula et al. 2019", "table1")


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
