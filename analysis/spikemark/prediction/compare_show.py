"""A comparison of machines as a table, in words, and as JSON. All words follow from the numbers."""

from typing import Any

from spikemark.machines.plain import named
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number

from . import compare_beside, compare_offers, decisions, model_error, show, simulators
from .compare import Comparison
from .compare_sentence import FIGURES, LEAST, Call, figures, name_of, sentence
from .compare_words import NO_END, chosen_schedules, label, schedule
from .life import COST, ENERGY, NODES
from .node_range import EXCLUDED, LIKELY, POSSIBLE, SURE, UNJUDGED, WORDS, Candidate, interval
from .node_words import again, certain, jumps, nodes, not_with, open_still, show_interval, speed_up
from .predict import Prediction

COLUMNS = ("energy_j", "cost_eur", "power_w")  # over the range of nodes
TRIED = ("real_time_factor", "energy_j", "cost_eur", "memory_gb")  # on all numbers of nodes
LIFE = {
    NODES: "cost of nodes over the life (EUR)",
    ENERGY: "cost of energy over the life (EUR)",
    COST: "total cost over the life (EUR)",
}
BEYOND = (
    "On several nodes, published exchanges took 10 to 100 times as long as modelled (docs/prediction.md)."
)
SHARED = (
    f"{model_error.SAID} Verdicts take this error to be the same for all machines: they hold without it and"
    " at both of its ends."
)
FOREIGN = (
    "The intervals cover what is not known about the machines and the factor of the simulator, but not errors"
    " of the model."
)
LIMITS = {
    "deliver": "memory access in delivery", "update": "updating neurons and the fixed time of a cycle",
    "thread_wait": "waiting for the slowest thread of a rank",
    "collocate": "collocation by one thread of each rank", "waiting": "waiting for the slowest rank",
    "exchange": "the interconnect", None: "unknown",
}  # fmt: skip
MEANING = " ".join(f"{word.capitalize()}: {what}." for word, what in WORDS.items())
WHERE = (
    "The real-time factor is that on the fewest likely nodes, or else on those where the target is most "
    "likely. Energy, cost and power are intervals over all nodes from possible to sure."
)
NOTES = [MEANING, WHERE]


def table(made: Comparison, call: Call = name_of) -> Table:
    """One row per machine: its range of nodes, and figures over that range."""
    columns = [Column("machine", "machine"), Column("target", "target")]
    columns += [Column(word, f"nodes, {word}") for word in (POSSIBLE, LIKELY, SURE)]
    columns += [Column("real_time_factor", "real-time factor", each=True)]
    columns += show.figures(COLUMNS)
    columns += [Column(name, head, each=True) for name, head in LIFE.items()]
    columns += [Column("limited_by", "limited by"), Column("schedule", "schedule")]
    columns += [Column("placement", "placement"), *show.WAYS]
    rows = [_row(c, call) for c in made.candidates]
    title = f"{made.network.title}: times of {simulators.find(made.simulator).label}, {schedule(made)}, "
    title += f"real-time factor {number(made.target)}; modelled"
    unbounded = any(c.span and not c.first(SURE) for c in made.candidates)
    return Table(columns, rows, title, notes=[*NOTES, *[NO_END] * unbounded]).without_unknown()


def _row(c: Candidate, call: Call) -> dict[str, Cell]:
    words: dict[str, Cell] = {"machine": call(c), "target": c.certainty}
    if not c.usable:
        return words | {"target": "does not fit into memory", "limited_by": "memory"}
    if c.implausible:
        return words | {"real_time_factor": interval(c.chosen)}
    for word in (POSSIBLE, LIKELY, SURE):
        found = c.first(word)
        words[word] = f"{nodes(found)}{not_with(c, word)}" if found else "none"
    words |= {"real_time_factor": interval(c.chosen), "limited_by": LIMITS[c.chosen.slowest]}
    words |= {name: c.over_range(name) for name in (*COLUMNS, *LIFE)}
    words |= {"schedule": label(c.chosen.schedule)}
    words |= {way.name: cell(c.chosen) for way, cell in show.WAYS.items()}
    return words | {"placement": c.chosen.placement}


def verdict(made: Comparison, call: Call = name_of) -> list[str]:
    """The answer, then what holds for each machine, one line each."""
    found = [sentence(made, call), *compare_beside.lines(made, call), *chosen_schedules(made)]
    found += [of_machine(c, call) for c in made.candidates]
    reach = [c for c in made.candidates if c.span]
    if len(reach) > 1:
        alone = "Among machines without accelerators: " if made.accelerated else ""
        found += [alone + of_figure(made, name, call) for name in figures(made)]
    if not made.candidates:
        return found
    found += simulators.find(made.simulator, made.network.description).said()
    found.append(SHARED if made.simulator == simulators.MINI_APP.name else FOREIGN)
    if any(c.chosen.nodes > 1 for c in made.candidates if c.usable):
        found.append(BEYOND)
    return found


def of_machine(c: Candidate, call: Call) -> str:
    """How sure the target is with how many nodes, what limits it, and beyond how many more do not help."""
    if not c.usable:
        return f"{call(c)} has too little memory with up to {counted(c.tried[-1].nodes, 'node')}."
    if c.implausible:
        return f"{UNJUDGED.capitalize()}: {decisions.unjudged(c, call)}"
    if c.certainty == EXCLUDED:
        return (
            f"{call(c)}: real-time factor {number(c.target)} is excluded. The best is"
            f" {show_interval(interval(c.fastest))} on {counted(c.fastest.nodes, 'node')}"
            f"{_limit(c.fastest)}."
        )
    p = c.chosen
    parts = [] if p.ranks == p.nodes else [counted(p.ranks, "rank")]
    parts.append(counted(p.nodes * c.cores, "core"))
    return (
        f"{call(c)}: real-time factor {number(c.target)} is {certain(c)}{again(c)}."
        f" On {counted(p.nodes, 'node')} ({', '.join(parts)}), it is {show_interval(interval(p))}{_limit(p)}."
        f"{''.join(f' {line}' for line in open_still(p, c.target))}{speed_up(c)}{jumps(c)}"
    )


def _limit(p: Prediction) -> str:
    """What limits the speed, where the times of parts are known."""
    return f"; {LIMITS[p.slowest]} limits it" if p.slowest else ""


def of_figure(made: Comparison, name: str, call: Call) -> str:
    """The verdict on energy or money."""
    what, found = FIGURES[name], decisions.verdict(made.candidates, name)
    if found.best:
        return (
            f"{call(found.best)} {LEAST[name]}: at least {number(found.times, 2)} times less than the others."
            " This holds over the whole range of nodes of each machine, and also with a target that is"
            f" {100 * decisions.NEAR:g} % higher or lower."
        )
    names = {c.name: call(c) for c in made.candidates}
    rests = ", ".join(
        f"{named(path)} of {names[machine]}" for machine, path in found.rests_on[: decisions.SHOWN]
    )
    return f"No verdict on {what}: {found.why}{f'; it rests on {rests}' if rests else ''}."


def lines(made: Comparison) -> list[str]:
    """What to ask, then what the numbers depend on: what is true for all machines, then for each."""
    own = {c.name: _own(made, c) for c in made.candidates if c.usable}
    shared = [line for line in next(iter(own.values()), []) if all(line in found for found in own.values())]
    found = decisions.lacking(made.candidates, name_of)
    found += [f"{c.name}: {line}" for c in made.candidates for line in decisions.questions(c)]
    found += shared
    for c in made.candidates:
        found += [f"{c.name}: {line}" for line in own.get(c.name, []) if line not in shared]
        found += [f"{c.name}: cannot run on {counted(n, 'node')}: {why}" for n, why in c.refused.items()]
    return list(dict.fromkeys(found))


def _own(made: Comparison, c: Candidate) -> list[str]:
    """What the numbers of a machine depend on; what it lacks is said elsewhere."""
    lacks = {reason.removeprefix(f"{c.name}: ") for reason in c.chosen.reasons.values()}
    lacks |= {show.ODD.format(line) for line in c.chosen.odd}
    return [line for line in show.lines([c.chosen], made.network.sources) if line not in lacks]


def content(made: Comparison) -> dict[str, Any]:
    """The comparison for JSON."""
    return {
        "network": made.network.title, "rates": made.network.rates.source, "schedule": made.schedule,
        "target_rtf": made.target, "kind": "modelled", "simulator": made.simulator,
        "times_of": simulators.find(made.simulator, made.network.description).said(),
        "sources": made.network.sources, "words": WORDS,
        **compare_offers.content(made), "verdict": verdict(made),
        "verdicts": {name: _verdict(made, name) for name in figures(made)},
        "machines": [_machine(c) for c in made.candidates],
        "accelerated": [a.content() for a in made.accelerated],
        "pareto": [{"machine": p.machine, "nodes": p.nodes} for p in made.pareto],
    }  # fmt: skip


def _verdict(made: Comparison, name: str) -> dict[str, Any]:
    found = decisions.verdict(made.candidates, name)
    rests = [{"machine": machine, "path": path} for machine, path in found.rests_on]
    if found.best is None:
        return {"least": None, "reason": found.why, "rests_on": rests}
    return {"least": found.best.name, "times_less": found.times, "reason": None, "rests_on": rests}


def _machine(c: Candidate) -> dict[str, Any]:
    at = {word: c.first(word) for word in (POSSIBLE, LIKELY, SURE)}
    speed_ups = {p.nodes: faster for p, faster in c.speed_ups}
    return {
        "name": c.name, "title": c.title, "target": c.certainty,
        "implausible": list(c.implausible),
        "nodes": {word: p.nodes if p else None for word, p in at.items()},
        "range": [c.span[0].nodes, c.span[-1].nodes] if c.span else None,
        "over_range": {name: c.over_range(name).content() for name in COLUMNS},
        "life": {name: c.over_range(name).content() for name in LIFE},
        "chosen": show.content([c.chosen])[0] if c.usable else None,
        "no_upper_end": bool(c.span) and not c.sure,
        "limited_by": LIMITS[c.chosen.slowest] if c.usable else "memory",
        "more_nodes_hardly_help_from": c.enough.nodes if c.usable else None,
        "ask": [*decisions.lacking([c], name_of), *decisions.questions(c)],
        "unknowns": [
            {"path": d.path, "nodes": list(d.nodes), "real_time_factor": list(d.factors)}
            for d in decisions.unknowns(c)
        ],
        "tried": [
            {"nodes": p.nodes, "schedule": p.schedule, "target": c.word(p), "fits_memory": p.fits,
             "speed_up": speed_ups.get(p.nodes),
             **{name: show.figure_content(p.figures[name]) for name in TRIED}}
            for p in c.tried
        ],
        "refused": {str(n): why for n, why in c.refused.items()},
    }  # fmt: skip
