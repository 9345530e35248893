"""Which machine is the better one, and which unknown values decide it.

A verdict is drawn only if the intervals of the machines over their ranges of nodes do not overlap, also if
the target moves by `NEAR`, and if no machine that may reach the target lacks the figure. The interval of the
machine that is named must have an upper end: the target is sure on some number of nodes. Otherwise the
assumed values are named that change the order of the middles if they move to their limits, or those on which
it depends most whether the target is sure.

All machines share the error of the model (model_error.py), so a verdict has to hold without it and at both of
its ends.
"""

from collections.abc import Callable
from dataclasses import dataclass

from spikemark.machines.plain import named, plain
from spikemark.quantities.words import listed

from .node_range import LIKELY, SURE, UNJUDGED, Candidate
from .sensitivity import OF_VENDOR, effects, lacking_path, nodes_said, reaching

NEAR = 0.05  # of the target
NEARBY = (1.0, 1 - NEAR, 1 + NEAR)
MODEL = "the error of the model changes it"
MEMORY = "node.memory"
SHOWN = 3
PRICE, TDP = "price.node_hour", "power.tdp"
CALIBRATE = "let the vendor run `spikemark calibrate` on a node"
#: In words, what a path that a verdict rests on says of a machine.
UNKNOWN = {
    "kernels.": "unmeasured speed", "jitter.": "unmeasured fluctuation", "node.memory": "unknown memory",
    "node.bandwidth": "unknown memory bandwidth", "power.": "unknown power",
    "interconnect.": "unknown interconnect", "price.": "unknown price",
}  # fmt: skip
NOTICED = 1.02  # times, the least change of a real-time factor that is worth a question
NOT_LIKELY = "the machine that needs the least is not likely to reach the target"
ENDLESS = (
    "the machine whose middle is least is not sure to reach the target on any number of nodes that was tried,"
    " so what it needs has no upper end"
)


@dataclass(frozen=True)
class Decides:
    """An unknown value of a machine, and the nodes and real-time factors at its limits.

    `nodes`: the fewest with which the middle of the real-time factor reaches the target; None where none do.
    `factors` are on the nodes that the machine is looked at with.
    """

    machine: str
    path: str
    nodes: tuple[int | None, int | None]
    factors: tuple[float, float]

    @property
    def strength(self) -> float:
        """How much it moves the real-time factor, which changes gradually, unlike the number of nodes."""
        return max(self.factors) / min(self.factors)

    @property
    def noticed(self) -> bool:
        """Is it worth a question?"""
        return self.strength > NOTICED

    @property
    def of_vendor(self) -> bool:
        """Does a vendor know it? Else it has to be measured."""
        return self.path.startswith(OF_VENDOR)

    @property
    def nodes_said(self) -> str:
        """The nodes at the limits, the fewest first."""
        return nodes_said(*self.nodes)


@dataclass(frozen=True)
class Verdict:
    """Verdict on a figure: the machine that needs least and by which factor at least, or why none is named.

    `rests_on`: (machine, path) of the values that have to be known first. `short`: why in a few words, with a
    place for what the machine `about` is called. `unknown`: the figure itself is not known for all machines.
    """

    best: Candidate | None
    times: float
    why: str
    rests_on: list[tuple[str, str]]
    short: str = ""
    about: Candidate | None = None
    unknown: bool = False


def unknowns(c: Candidate) -> list[Decides]:
    """The assumed values of a machine, the one that decides most first."""
    if not c.usable:
        return []
    chosen = c.chosen
    found = []
    for path, moved in chosen.moves.items():
        if moved.kind == "assumed":
            nodes = tuple(reaching(c, path, side)[0] for side in ("low", "high"))
            factors = moved.low["real_time_factor"], moved.high["real_time_factor"]
            found.append(Decides(c.name, path, nodes, factors))
    return sorted(found, key=lambda d: d.strength, reverse=True)


def verdict(candidates: list[Candidate], name: str) -> Verdict:
    """Which machine needs the least of a figure to reach the target."""
    if odd := next((c for c in candidates if c.implausible), None):
        return Verdict(None, 1.0, f"{odd.name} is {UNJUDGED}: {odd.implausible[0]}", [], UNJUDGED)
    reach = [c for c in candidates if c.span]
    if not reach:
        return _none("the target is excluded on every machine")
    unknown = [c for c in reach if not c.over_range(name)]
    if unknown:
        rests_on = [(c.name, lacking_path(c, name)) for c in unknown]
        return _none("it is not known for all machines", rests_on, unknown=True)
    order = sorted(reach, key=lambda c: c.over_range(name).value)
    best, others = order[0], order[1:]
    noticed = [(best.name, d.path) for d in unknowns(best) if d.noticed]
    if best.certainty not in (LIKELY, SURE):
        return _none(NOT_LIKELY, noticed, "{} is not likely to reach it", best)
    if any(p.fits is None for p in best.span):
        if best.chosen.reasons.get("memory_gb"):
            return _none(best.chosen.reasons["memory_gb"])
        return _none("the memory of the best machine is not known", [(best.name, MEMORY)])
    if not best.sure:
        short = (
            "{} is not sure to reach it" if any(c.sure for c in reach) else "no machine is sure to reach it"
        )
        return _none(ENDLESS, noticed, short, best)
    if not others:
        return _none("only one machine may reach the target")
    rivals = [c for c in candidates if c.usable and c is not best]  # nearby targets may be in reach of more
    ends = list(zip(best.at_ends, *(c.at_ends for c in rivals), strict=True))
    near = {f: min(_apart(best.target * f, *end, name=name) for end in ends) for f in NEARBY}
    if min(near.values()) > 1:
        return Verdict(best, min(near.values()), "", [])
    if min(_apart(best.target * f, *ends[0], name=name) for f in NEARBY) > 1:
        return _none(MODEL)
    if near[1.0] > 1:
        return _none(f"a target that is {100 * NEAR:.0f} % lower or higher changes it")
    return _none("the intervals overlap", _turning(candidates, name))


def _none(why: str, rests_on: list[tuple[str, str]] | None = None, short: str = "", *about, **of) -> Verdict:
    """No machine is named, and why."""
    return Verdict(None, 1.0, why, rests_on or [], short or why, *about, **of)


def _apart(target: float, best: Candidate, *others: Candidate, name: str) -> float:
    """How many times less the best machine needs at least, near the target; below 1 if perhaps more."""
    most = best.at(target).over_range(name)
    least = [found.low for c in others if (found := c.at(target).over_range(name))]
    if not (most and best.at(target).sure):
        return 0.0
    return min((low / most.high if most.high else float("inf") for low in least), default=float("inf"))


def _turning(candidates: list[Candidate], name: str) -> list[tuple[str, str]]:
    """The assumed values that alone turn which machine needs the least, the largest effect first."""
    return [(e.offer, e.path) for e in effects(candidates, name) if e.turns and not e.no_value]


def rests(candidates: list[Candidate], found: Verdict, call: Callable[[Candidate], str]) -> str:
    """Which unknown value of each machine decides most, in words; "" if none decides alone."""
    names, of = {c.name: call(c) for c in candidates}, {}
    for machine, path in reversed(found.rests_on):
        of[machine] = next((words for start, words in UNKNOWN.items() if path.startswith(start)), plain(path))
    machines: dict[str, list[str]] = {}
    for machine in dict.fromkeys(machine for machine, _ in found.rests_on):
        machines.setdefault(of[machine], []).append(names[machine])
    said = [f"the {unknown} of {listed(whose)}" for unknown, whose in machines.items()]
    return f"it rests on {listed(said)}" if said else ""


def unjudged(c: Candidate, call: Callable[[Candidate], str]) -> str:
    """Which value of a machine has to be corrected first."""
    path, _, rest = c.implausible[0].partition(":")
    return f"{path} of {call(c)}:{rest}" + ("" if rest.endswith("?") else ".")


def lacking(candidates: list[Candidate], call: Callable[[Candidate], str]) -> list[str]:
    """Values that are missing: memory, energy or cost, with the reason and the machines; each reason once."""
    found: dict[str, list[str]] = {}
    for c in candidates:
        for line in _lacking_of(c):
            found.setdefault(line, []).append(call(c))
    return [line.format(", ".join(machines)) for line, machines in found.items()]


def _lacking_of(c: Candidate) -> list[str]:
    """Lines with a place for the names of machines."""
    if not c.usable:
        return []
    reasons, found = c.chosen.reasons, []
    if reasons.get("memory_gb"):
        found.append(f"whether the network fits into memory is not known on {{}}: {reasons['memory_gb']}")
    elif any(p.fits is None for p in c.usable):
        found.append(
            f"whether the network fits into memory is not known on {{}}: ask the vendor for {named(MEMORY)}"
        )
    for name, what in (("energy_j", "energy"), ("cost_eur", "cost")):
        if name in reasons:
            path = lacking_path(c, name)
            ways = "give --price, or ask the vendor" if path == PRICE else "ask the vendor"
            sheet = f" or, at least, {named(TDP)}" if path.startswith("power.") else ""
            found.append(f"{what} is unknown for {{}}: {ways} for {named(path)}{sheet}")
    return found


def worth_asking(c: Candidate) -> list[Decides]:
    """The assumed values that decide most: some that a vendor knows, and some that have to be measured."""
    ranked = [d for d in unknowns(c) if d.noticed]
    return [d for known in (True, False) for d in [d for d in ranked if d.of_vendor is known][:SHOWN]]


def questions(c: Candidate) -> list[str]:
    """What to ask the vendor and what to have measured, in words; what decides most comes first."""
    found = []
    asked = worth_asking(c)
    for how, chosen in (
        ("ask the vendor for", [d for d in asked if d.of_vendor]),
        (f"{CALIBRATE}, which measures", [d for d in asked if not d.of_vendor]),
    ):
        if chosen:
            found.append(f"{how} " + ", ".join(map(_said, chosen)))
    return found


def _said(d: Decides) -> str:
    low, high = sorted(d.factors)
    nodes = f", and the nodes that its middle needs from {d.nodes_said}" if d.nodes[0] != d.nodes[1] else ""
    return f"{named(d.path)} (moves the real-time factor from {low:.3g} to {high:.3g}{nodes})"
