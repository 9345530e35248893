"""A comparison of machines as a table, a verdict in words, and JSON. All words are made from the numbers."""

from typing import Any

from spikemark.quantities.words import counted, integer, number

from . import show
from .compare import HARDLY, PERHAPS, Candidate, Comparison
from .inputs import Figure
from .machine import Prediction

COLUMNS = ("real_time_factor", "energy_j", "energy_per_event_uj", "cost_eur", "power_w")
BEYOND = (
    "Intervals hold what is not known of the machines, not what the model gets wrong: on several nodes"
    " published exchanges took ten to a hundred times as long as it says (docs/prediction.md)."
)
TRIED = ("real_time_factor", "energy_j", "cost_eur", "memory_gb")  # on all numbers of nodes
LIMITS = {
    "deliver": "memory access in delivery", "update": "updating neurons",
    "collocate": "collocation, one thread of each rank", "waiting": "waiting for the slowest rank",
    "exchange": "the interconnect",
}  # fmt: skip


def tables(made: Comparison) -> list:
    """One column per machine, with the nodes it needs; so many in each table as can be read."""
    found = rows(made)
    return [_table(made, found[i : i + show.ABREAST]) for i in range(0, len(found), show.ABREAST)]


def _table(made: Comparison, machines: list[list[str]]):
    from rich.table import Table

    shown = Table(
        title=f"{made.network.title}: {made.schedule}, real-time factor {number(made.target)}; modelled",
        title_justify="left",
    )
    names, *others = zip(*machines, strict=True)
    shown.add_column("")
    for name in names:
        shown.add_column(name, justify="right", overflow="fold")
    for head, cells in zip(heads()[1:], others, strict=True):
        shown.add_row(head, *cells)
    return shown


def heads() -> list[str]:
    """Of the cells of `rows`."""
    return ["machine", "nodes", "target", *(show.head(name) for name in COLUMNS), "limited by"]


def rows(made: Comparison) -> list[list[str]]:
    """Cells of the table."""
    found = []
    for c in made.candidates:
        if not c.usable:
            found.append([c.name, "none", "does not fit into memory", *[""] * len(COLUMNS), "memory"])
            continue
        p = c.chosen
        cells = [show.cell(p.figures[name]) for name in COLUMNS]
        found.append([c.name, nodes(p), c.certainty, *cells, LIMITS[p.slowest]])
    return found


def nodes(p: Prediction) -> str:
    """How many there are, and ranks where each has several."""
    return integer(p.nodes) if p.ranks == p.nodes else f"{integer(p.nodes)} ({counted(p.ranks, 'rank')})"


def verdict(made: Comparison) -> str:
    """One paragraph that a buyer can act on, or be warned by."""
    usable = [c for c in made.candidates if c.usable]
    if not usable:
        return "None of the machines has the memory for this network with the nodes that were tried."
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
    how = f"a real-time factor of {_interval(p.figures['real_time_factor'])}"
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
    found = p.figures["real_time_factor"]
    hope = "; its interval holds the target" if c.certainty == HARDLY else ""
    return (
        f"{c.name} does not reach {number(target)} with up to {counted(c.tried[-1].nodes, 'node')}: at best"
        f" {_interval(found)}, on {counted(p.nodes, 'node')}, limited by {LIMITS[p.slowest]}{hope}."
    )


def _least(reached: list[Candidate], name: str, what: str) -> list[str]:
    known = [(c, f) for c in reached if (f := c.needed.figures[name]) is not None]
    if not known:
        return []
    (best, least), *others = sorted(known, key=lambda item: item[1].value)
    unit = {"energy_j": "J per simulated second", "cost_eur": "EUR per simulated hour"}[name]
    unknown = [c.name for c in reached if c.needed.figures[name] is None]
    aside = f" (unknown for {', '.join(unknown)})" if unknown else ""
    if not others:
        return [f"It takes {_interval(least)} {unit}{aside}."] if not unknown else []
    second, more = others[0]
    sure = least.high < more.low
    words = f"{best.name} needs the least {what} of those, {_interval(least)} {unit}"
    words += f"; {second.name} needs {number(more.value / least.value, 2)} times as much{aside}"
    return [words + ("; the intervals do not overlap." if sure else ", but the intervals overlap.")]


def _doubt(candidates: list[Candidate]) -> list[str]:
    guessed = [
        c.name for c in candidates if c.chosen.figures["real_time_factor"].kind in ("assumed", "extrapolated")
    ]
    found = []
    if guessed:
        found.append(
            f"The times of {', '.join(guessed)} rest on assumed values or lie outside what was validated."
        )
    if any(c.chosen.nodes > 1 for c in candidates):
        found.append(BEYOND)
    widest = max(candidates, key=lambda c: _width(c.chosen))
    depends = widest.chosen.figures["real_time_factor"].depends
    if depends:
        found.append(f"Knowing {depends[0]} of {widest.name} better would help most.")
    return found


def _width(p: Prediction) -> float:
    f = p.figures["real_time_factor"]
    return (f.high - f.low) / f.value if f.value else 0.0


def _interval(f: Figure) -> str:
    return f"{number(f.value)} ({number(f.low)} to {number(f.high)})"


def lines(made: Comparison) -> list[str]:
    """What the numbers rest on: what holds for all machines first, then by machine."""
    own = {c.name: show.lines([c.chosen]) for c in made.candidates if c.usable}
    shared = [line for line in next(iter(own.values()), []) if all(line in found for found in own.values())]
    found = list(shared)
    for c in made.candidates:
        found += [f"{c.name}: {line}" for line in own.get(c.name, []) if line not in shared]
        found += [f"{c.name}: not on {counted(n, 'node')}: {why}" for n, why in c.refused.items()]
    return found


def content(made: Comparison) -> dict[str, Any]:
    """For JSON."""
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
                     **{name: show.figure_content(name, p.figures[name]) for name in TRIED}}
                    for p in c.tried
                ],
                "refused": {str(n): why for n, why in c.refused.items()},
            }
            for c in made.candidates
        ],
        "pareto": [{"machine": p.machine, "nodes": p.nodes} for p in made.pareto],
    }  # fmt: skip
