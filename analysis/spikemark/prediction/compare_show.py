"""A comparison of machines as a table, a verdict in words, and JSON. All words follow from the numbers."""

from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, integer, number

from . import show
from .compare import HARDLY, PERHAPS, Candidate, Comparison, interval
from .predict import Prediction

COLUMNS = ("real_time_factor", "energy_j", "energy_per_event_uj", "cost_eur", "power_w")
BEYOND = (
    "Intervals cover what is not known about the machines, but not errors of the model: on several nodes, "
    "published exchanges took ten to a hundred times as long as modelled (docs/prediction.md)."
)
TRIED = ("real_time_factor", "energy_j", "cost_eur", "memory_gb")  # on all numbers of nodes
LIMITS = {
    "deliver": "memory access in delivery", "update": "updating neurons",
    "collocate": "collocation, one thread of each rank", "waiting": "waiting for the slowest rank",
    "exchange": "the interconnect",
}  # fmt: skip


def table(made: Comparison) -> Table:
    """One row per machine, with the nodes that it needs."""
    columns = [Column("machine", ""), Column("nodes", "nodes"), Column("target", "target")]
    columns += [*show.columns_of(COLUMNS), Column("limited_by", "limited by")]
    wanted = f"real-time factor {number(made.target)}"
    return Table(
        columns,
        [_row(c) for c in made.candidates],
        f"{made.network.title}: {made.schedule}, {wanted}; modelled",
    )


def _row(c: Candidate) -> dict[str, Cell]:
    if not c.usable:
        none = {"nodes": "none", "target": "does not fit into memory", "limited_by": "memory"}
        return {"machine": c.name, **none}
    p = c.chosen
    words = {"machine": c.name, "nodes": nodes(p), "target": c.certainty, "limited_by": LIMITS[p.slowest]}
    return words | {name: p.figures[name] for name in COLUMNS}


def nodes(p: Prediction) -> str:
    """How many nodes there are, and how many ranks if each node has several."""
    return integer(p.nodes) if p.ranks == p.nodes else f"{integer(p.nodes)} ({counted(p.ranks, 'rank')})"


def verdict(made: Comparison) -> str:
    """One paragraph that a buyer can act on, or that warns the buyer."""
    usable = [c for c in made.candidates if c.usable]
    if not usable:
        return "No machine has enough memory for this network on the nodes that were tried."
    reached = [c for c in usable if c.needed]
    sentences = [_reached(c, made.target) for c in reached]
    sentences += [_missed(c, made.target) for c in usable if not c.needed]
    sentences += [
        f"{c.name} has too little memory with up to {counted(c.tried[-1].nodes, 'node')}."
        for c in made.candidates
        if not c.usable
    ]
    for name, what in (("energy_j", "energy"), ("cost_eur", "money")):
        sentences += _least(reached, name, what)
    sentences += _doubt(reached or usable)
    return " ".join(sentences)


def _reached(c: Candidate, target: float) -> str:
    p = c.needed
    how = f"a real-time factor of {_interval(interval(p))}"
    perhaps = ""
    if c.certainty == PERHAPS:
        perhaps = f" ({counted(c.sure.nodes, 'node')} would be)" if c.sure else " with any number of nodes"
        perhaps = f", which is not certain{perhaps}"
    parts = [] if p.ranks == p.nodes else [counted(p.ranks, "rank")]
    parts.append(counted(p.nodes * c.cores, "core"))
    return (
        f"{c.name} needs {counted(p.nodes, 'node')} ({', '.join(parts)}) for the target of"
        f" {number(target)}: {how}{perhaps}; it is limited by {LIMITS[p.slowest]}."
    )


def _missed(c: Candidate, target: float) -> str:
    p = c.fastest
    hope = "; its interval contains the target" if c.certainty == HARDLY else ""
    return (
        f"{c.name} does not reach {number(target)} with up to {counted(c.tried[-1].nodes, 'node')}: at best"
        f" {_interval(interval(p))}, on {counted(p.nodes, 'node')}, limited by {LIMITS[p.slowest]}{hope}."
    )


def _least(reached: list[Candidate], name: str, what: str) -> list[str]:
    known = [(c, f) for c in reached if (f := c.needed.figures[name])]
    if not known:
        return []
    (best, least), *others = sorted(known, key=lambda item: item[1].value)
    unit = {"energy_j": "J per simulated second", "cost_eur": "EUR per simulated hour"}[name]
    unknown = [c.name for c in reached if not c.needed.figures[name]]
    aside = f" (unknown for {', '.join(unknown)})" if unknown else ""
    if not others:
        return [f"It takes {_interval(least)} {unit}{aside}."] if not unknown else []
    second, more = others[0]
    sure = least.high < more.low
    words = f"{best.name} needs the least {what} of those, {_interval(least)} {unit}"
    words += f"; {second.name} needs {number(more.value / least.value, 2)} times as much{aside}"
    return [words + ("; the intervals do not overlap." if sure else ", but the intervals overlap.")]


def _doubt(candidates: list[Candidate]) -> list[str]:
    guessed = [c.name for c in candidates if interval(c.chosen).kind in ("assumed", "extrapolated")]
    found = []
    if guessed:
        found.append(
            f"The times of {', '.join(guessed)} depend on assumed values or are outside the validated range."
        )
    if any(c.chosen.nodes > 1 for c in candidates):
        found.append(BEYOND)
    widest = max(candidates, key=lambda c: _width(c.chosen))
    depends = interval(widest.chosen).depends
    if depends:
        found.append(f"Knowing {depends[0]} of {widest.name} better would help most.")
    return found


def _width(p: Prediction) -> float:
    f = interval(p)
    return (f.high - f.low) / f.value if f.value else 0.0


def _interval(f: Quantity) -> str:
    return f"{number(f.value)} ({number(f.low)} to {number(f.high)})"


def lines(made: Comparison) -> list[str]:
    """What the numbers depend on: first what is true for all machines, then what is true for each."""
    own = {c.name: show.lines([c.chosen]) for c in made.candidates if c.usable}
    shared = [line for line in next(iter(own.values()), []) if all(line in found for found in own.values())]
    found = list(shared)
    for c in made.candidates:
        found += [f"{c.name}: {line}" for line in own.get(c.name, []) if line not in shared]
        found += [f"{c.name}: not on {counted(n, 'node')}: {why}" for n, why in c.refused.items()]
    return found


def content(made: Comparison) -> dict[str, Any]:
    """The comparison for JSON."""
    return {
        "network": made.network.title, "rates": made.network.rates.source, "schedule": made.schedule,
        "target_rtf": made.target, "kind": "modelled", "verdict": verdict(made),
        "machines": [
            {
                "name": c.name, "title": c.title, "target": c.certainty,
                "nodes_needed": c.needed.nodes if c.needed else None,
                "chosen": show.content([c.chosen])[0] if c.usable else None,
                "limited_by": LIMITS[c.chosen.slowest] if c.usable else "memory",
                "tried": [
                    {"nodes": p.nodes, "fits_memory": p.fits,
                     **{name: show.figure_content(p.figures[name]) for name in TRIED}}
                    for p in c.tried
                ],
                "refused": {str(n): why for n, why in c.refused.items()},
            }
            for c in made.candidates
        ],
        "pareto": [{"machine": p.machine, "nodes": p.nodes} for p in made.pareto],
    }  # fmt: skip
