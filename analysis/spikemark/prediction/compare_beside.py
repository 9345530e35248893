"""CPU nodes and accelerated ones side by side: rows, one sentence, and what is known and what is not.

A CPU node never wins or loses against an unknown number, and intervals that overlap decide nothing. Times of
the mini-app and published times are of different programs. On one node of JURECA-DC, NEST 3.3 took 1.27 s per
simulated second of the microcircuit (data/real_time.csv): 2.8 times the upper end of what is predicted of the
mini-app, and 2.1 times that of what is predicted of NEST. So a CPU node and an accelerated one are only told
apart if their intervals are `PROGRAMS` times apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spikemark.machines.plain import plain
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, listed, number

from . import offers, runs_published, simulators
from .accelerated import UNKNOWN, Accelerated
from .compare import Comparison
from .life import COST, NODES
from .node_range import EXCLUDED, LIKELY, SURE, Candidate, interval
from .node_words import certain, show_interval
from .predict import PER_EVENT

Call = Callable[[Candidate | Accelerated], str]
ENERGY = "energy_j"
FIGURES = {COST: "cost", NODES: "cost of nodes", ENERGY: "energy"}
LEAST = {
    COST: "costs the least over its life",
    NODES: "costs the least over its life without energy",
    ENERGY: "needs the least energy",
}
APART = "they cannot be told apart"
#: Times that intervals must be apart, by whose times are predicted of CPU nodes.
PROGRAMS = {simulators.MINI_APP.name: 4.0, "nest": 3.0}
BLURRED = "programs alone may differ by a factor of {:g}"
PUBLISHED = ", and published of machines with accelerators"
NOTE = (
    "Machines with accelerators: real-time factor and energy of the program that others ran on them, in the"
    " number of nodes that was published; kind literature. Times from their kernels are extrapolated."
)
OTHER = (
    "Published times are of other programs or other versions of them. That alone may be a factor of {:g}, so"
    " smaller differences between predicted and published times name no machine."
)
NEST = " `--simulator nest` compares with times of NEST."

PER = "Energy per synaptic event counts events from outside, too; publications divide by recurrent ones."


@dataclass(frozen=True)
class Side:
    """A machine that may reach the target, and the figure that decides; `good`: likely or sure to."""

    name: str
    found: Quantity
    good: bool
    predicted: bool  # of CPU cores


def title(made: Comparison) -> str:
    """Title of the first table if nothing is predicted for CPU cores."""
    return f"{made.network.title}: what is known of each machine for real-time factor {number(made.target)}"


def notes(made: Comparison) -> list[str]:
    """What to know of their rows of the first table."""
    return [NOTE, PER] if made.accelerated else []


def offer(made: Comparison, a: Accelerated, call: Call) -> offers.Offer:
    """Its row of the first table."""
    return offers.Offer(
        call(a), _nodes(a, LIKELY), _nodes(a, SURE), a.time, a.figures[PER_EVENT],
        a.figures[made.life.decides],
    )  # fmt: skip


def _nodes(a: Accelerated, word: str) -> str:
    """The nodes of the published run, if the target is as sure with them; others are not known."""
    if a.word == UNKNOWN:
        return UNKNOWN
    order = (EXCLUDED, "possible", LIKELY, SURE)
    said = integer(a.nodes)
    return said if order.index(a.word) >= order.index(word) else f"{UNKNOWN}; not with {said}"


def basis(a: Accelerated, call: Call) -> list[offers.Basis]:
    """What its numbers rest on: whose run, or which kernels."""
    kernels = "; ".join(f"{plain(path)} [literature]" for path in a.time.depends)
    rests = _reason(a, a.time) or kernels or f"{a.how}, on {counted(a.devices, 'device')}"
    found = [offers.Basis(call(a), "real-time factor", a.time, rests)]
    energy = a.figures[PER_EVENT]
    source = next((r.energy_from for r in a.results if r.energy and not r.variant), "")
    found.append(offers.Basis(call(a), offers.ENERGY, energy, _reason(a, energy) or source))
    return found


def _reason(a: Accelerated, found: Quantity) -> str:
    """Why a figure is missing; "" where it is known."""
    return (found.reason or "").removeprefix(f"{a.name}: ")


def published(made: Comparison, call: Call) -> Table:
    """All published runs of the network on these machines, other variants included."""
    machines = [
        (c, runs_published.of(made.network, runs_published.of_machine(c.name))) for c in made.candidates
    ]
    machines += [(a, a.results) for a in made.accelerated]
    rows = [
        (one, r)
        for one, results in machines
        for r in sorted(results, key=lambda r: (bool(r.variant), r.real_time_factor.value))
    ]
    energy = Column("energy", "energy per recurrent event (µJ)", "literature")
    columns = {
        Column("machine", "machine"): lambda row: call(row[0]),
        Column("program", "program"): lambda row: row[1].who,
        Column("year", "year"): lambda row: str(row[1].year),
        Column("variant", "network"): lambda row: row[1].variant or "as asked",
        Column("devices", "devices"): lambda row: row[1].devices,
        Column("real_time_factor", "real-time factor", "literature"): lambda row: row[1].real_time_factor,
        energy: lambda row: row[1].energy,
        Column("source", "source"): lambda row: row[1].source,
    }
    return Table.of(columns, rows, "What was published of this network on these machines", "published")


def lines(made: Comparison, call: Call) -> list[str]:
    """One line for each accelerated machine: its known values, and how it compares with each CPU machine."""
    found = [_line(a, call) for a in made.accelerated]
    for a in made.accelerated:
        judged = [c for c in made.candidates if a.time and c.usable and not c.implausible]
        found += [_pair(a, c, programs(made), call) for c in judged]
    if made.accelerated and made.candidates:
        of_mini_app = made.simulator == simulators.MINI_APP.name
        found.append(OTHER.format(programs(made)) + NEST * of_mini_app)
    return found


def programs(made: Comparison) -> float:
    """How many times a difference between predictions and published times may be one of programs."""
    return PROGRAMS[made.simulator]


def _line(a: Accelerated, call: Call) -> str:
    if not a.time:
        return f"{call(a)}: the real-time factor is unknown: {_reason(a, a.time)}."
    where = f"{counted(a.nodes, 'node')} with {counted(a.devices, 'device')} in all"
    return f"{call(a)}: real-time factor {show_interval(a.time)}, {a.time.kind}: {a.how}, on {where}."


def _pair(a: Accelerated, c: Candidate, programs: float, call: Call) -> str:
    """The published time beside the best time of a CPU machine on any number of nodes that was tried."""
    best = c.fastest
    theirs = interval(best)
    said = (
        f"{call(c)} is predicted to reach {show_interval(theirs)} at best, on {counted(best.nodes, 'node')}"
    )
    if a.time.high * programs < theirs.low:
        verdict = f"{call(a)} is faster, at least {number(theirs.low / a.time.high, 2)} times"
    elif theirs.high * programs < a.time.low:
        verdict = f"{call(a)} is slower, at least {number(a.time.low / theirs.high, 2)} times"
    else:
        verdict = APART
    return f"Beside {call(a)}, {said}: {verdict}."


def sentence(made: Comparison, call: Call) -> str:
    """The answer, as short as any (offers.MOST)."""
    return offers.fitting(_sentences(made, call))


def _sentences(made: Comparison, call: Call) -> Iterator[str]:
    target = f"real-time factor {number(made.target)}"
    none = f"No verdict for {target}"
    if unknown := [call(a) for a in made.accelerated if not a.time]:
        yield f"{none}: the speed of {listed(unknown)} with this network is unknown."
        yield f"{none}: the speed of {len(unknown)} of the machines with this network is unknown."
        return
    reach = [c for c in made.candidates if c.span], [a for a in made.accelerated if a.word != EXCLUDED]
    sides = [*reach[0], *reach[1]]
    if not sides:
        yield f"{target.capitalize()} is out of reach of these machines, as far as predicted or published."
    elif len(sides) == 1:
        only = sides[0]
        how = certain(only) if reach[0] else f"{only.word} on {counted(only.nodes, 'node')}, by {only.how}"
        yield f"Only {call(only)} may reach {target}: {how}."
        yield f"Only {call(only)} may reach {target}."
    else:
        yield from _verdict(made, *reach, target, call)


def deciding(made: Comparison) -> str:
    """The cost over the life where it is known for all that may reach the target, else energy."""
    known = [c.over_range(made.life.decides) for c in made.candidates if c.span]
    known += [a.figures[made.life.decides] for a in made.accelerated if a.word != EXCLUDED]
    return made.life.decides if known and all(known) else ENERGY


def _verdict(
    made: Comparison, ours: list[Candidate], theirs: list[Accelerated], target: str, call: Call
) -> Iterator[str]:
    name = deciding(made)
    none = f"No verdict on {FIGURES[name]} for {target}"
    sides = [Side(call(c), c.over_range(name), _fit(c), True) for c in ours]
    sides += [Side(call(a), a.figures[name], a.word in (LIKELY, SURE), False) for a in theirs]
    if lacking := [side.name for side in sides if not side.found]:
        yield f"{none}: that of {listed(lacking)} is unknown."
        yield f"{none}: that of {len(lacking)} machines is unknown."
        return
    best, *others = sorted(sides, key=lambda side: side.found.value)
    overlap = [side.name for side in others if side.found.low <= best.found.high]
    mixed = [side for side in others if side.predicted is not best.predicted]
    times = min(side.found.low for side in others) / best.found.high
    if overlap:
        yield f"{none}: the intervals of {listed([best.name, *overlap])} overlap, {APART}."
        yield f"{none}: intervals overlap, {APART}."
    elif any(side.found.low <= programs(made) * best.found.high for side in mixed):
        yield f"{none}: {BLURRED.format(programs(made))}."
    elif not best.good:
        yield f"{none}: {best.name}, whose middle is least, is not sure to reach it."
        yield f"{none}: the machine whose middle is least is not sure to reach it."
    else:
        yield f"{best.name} {LEAST[name]} for {target}, at least {number(times, 2)} times less than others."
        yield f"{best.name} {LEAST[name]} for {target}."


def _fit(c: Candidate) -> bool:
    """A CPU machine that may win: its range of nodes has an end, and its memory is known."""
    return c.sure and all(p.fits for p in c.span)
