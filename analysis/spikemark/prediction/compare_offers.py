"""A comparison as offers: the first table, what its numbers rest on, and which unknown value decides."""

from typing import Any

from spikemark.machines.plain import plain
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Table
from spikemark.quantities.words import number

from . import compare_beside, offers, sensitivity, show, simulators
from .compare import Comparison
from .compare_sentence import Call, effects, name_of, of_effects, sentence
from .compare_words import NO_END, schedule
from .life import COST, NODES
from .node_range import LIKELY, POSSIBLE, SURE, Candidate, interval
from .node_words import nodes, not_with
from .predict import PER_EVENT

NO_MEMORY = "does not fit"
MOST_PATHS = 3  # values that a number rests on
#: The figure that decides, per synaptic event where it is energy, with its unit.
DECIDING = {
    COST: "cost over its life (EUR)", NODES: "cost of nodes over its life (EUR)",
    "energy_j": "energy (J per simulated s)", PER_EVENT: offers.ENERGY,
}  # fmt: skip
LIKELY_SURE = (
    "Likely: the middle of the interval of the real-time factor reaches the target. Sure: all of it does."
    " The factor is that on the fewest likely nodes; energy and cost are intervals over all nodes from"
    " possible to sure."
)
COST_HEAD = "cost over its life (EUR)"
NO_PRICE = "Costs are unknown without the price of a node for an hour: give --price MACHINE=EUR."
LIFE = "Its life: {}{}."
NO_ENERGY = "; the cost is that of the nodes alone, since no price of energy was given (--price-kwh)"


def made_offers(made: Comparison, call: Call = name_of) -> list[offers.Offer]:
    """One offer for each machine, those with accelerators last."""
    found = [_offer(made, c, call) for c in made.candidates]
    return found + [compare_beside.offer(made, a, call) for a in made.accelerated]


def first(made: Comparison, call: Call = name_of) -> Table:
    """The first table."""
    rows = made_offers(made, call)
    unbounded = any(c.span and not c.first(SURE) for c in made.candidates)
    costs = [row.cost for row in rows]
    notes = [LIKELY_SURE, *[NO_END] * unbounded]
    notes += compare_beside.notes(made)
    notes += [NO_PRICE] * any(not c and "price.node_hour" in c.reason for c in costs)
    if any(costs):
        notes.append(LIFE.format(made.life.said(), NO_ENERGY if made.life.decides == NODES else ""))
    notes += [
        f"{c.name}: {show.ODD.format(line)}" for c in made.candidates if c.usable for line in c.chosen.odd
    ]
    title = f"{made.network.title}: what each machine needs for real-time factor {number(made.target)},"
    title += f" times of {simulators.find(made.simulator).label}, {schedule(made)}; modelled"
    title += compare_beside.PUBLISHED if made.accelerated else ""
    if not made.candidates:
        title = compare_beside.title(made)
    return offers.table(rows, title, COST_HEAD, notes)


def _offer(made: Comparison, c: Candidate, call: Call) -> offers.Offer:
    if not c.usable:
        none = missing("the network does not fit into memory", mark=NO_MEMORY)
        return offers.Offer(call(c), "none", "none", none, none, none)
    return offers.Offer(
        call(c), _fewest(c, LIKELY), _fewest(c, SURE), interval(c.chosen), c.over_range(PER_EVENT),
        c.over_range(made.life.decides),
    )  # fmt: skip


def _fewest(c: Candidate, word: str) -> str:
    """The fewest nodes; where it is never likely, also those from which it is possible."""
    if c.implausible:
        return c.certainty
    if found := c.first(word):
        return f"{nodes(found)}{not_with(c, word)}"
    possible = c.first(POSSIBLE) if word == LIKELY else None
    return f"none; possible with {nodes(possible)}" if possible else "none"


def bases(made: Comparison, call: Call = name_of) -> list[offers.Basis]:
    """Time, energy and cost of every machine, and the values that they rest on most."""
    heads = {"real_time_factor": "real-time factor", PER_EVENT: offers.ENERGY,
             made.life.decides: DECIDING[made.life.decides]}  # fmt: skip
    found = [
        offers.Basis(call(c), head, _figure(c, name), _rests_on(c, name))
        for c in made.candidates
        if c.usable and not c.implausible
        for name, head in heads.items()
    ]
    return found + [basis for a in made.accelerated for basis in compare_beside.basis(a, call)]


def _figure(c: Candidate, name: str) -> Quantity:
    return interval(c.chosen) if name == "real_time_factor" else c.over_range(name)


def _rests_on(c: Candidate, name: str) -> str:
    """The values that move a number most, or what it lacks."""
    found = c.chosen.figures[name]
    if not found:
        return f"unknown: {plain(sensitivity.lacking_path(c, name))}"
    if not found.depends:
        return "counted" if found.kind == "counted" else "the number of nodes"
    kinds = {path: moved.kind for path, moved in c.chosen.moves.items()}
    said = [f"{plain(path)} [{kinds[path]}]" for path in found.depends[:MOST_PATHS] if path in kinds]
    return "; ".join(said) if said else "values without an interval"


def tables(made: Comparison, call: Call = name_of) -> list[Table]:
    """Tables below the sentence: what numbers rest on, and which unknown value decides."""
    found = [offers.bases(bases(made, call), "Time, energy and cost, and what they rest on")]
    if decided := effects(made, call):
        found.append(offers.sensitivity(decided, DECIDING[of_effects(made)]))
    if made.accelerated:
        found.append(compare_beside.published(made, call))
    return [table for table in found if table.rows]


def content(made: Comparison) -> dict[str, Any]:
    """The content for JSON: the offers, what their numbers rest on, and what decides."""
    return {
        "offers": [
            {"machine": o.name, "nodes_likely": o.likely, "nodes_sure": o.sure,
             "real_time_factor": o.time.content(), "energy_per_event_uj": o.energy.content(),
             "cost": o.cost.content()}
            for o in made_offers(made)
        ],
        "rests_on": [
            {"machine": b.offer, "figure": b.figure, **b.found.content(), "words": b.rests_on}
            for b in bases(made)
        ],
        "sensitivity": {"figure": of_effects(made), "effects": [e.content() for e in effects(made)]},
        "sentence": sentence(made),
    }  # fmt: skip
