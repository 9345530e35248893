"""Which machine is the better one, and which unknown values decide it.

A verdict is drawn only if the intervals of the machines over their ranges of nodes do not overlap, also if
the target moves by `NEAR`, and if no machine that may reach the target lacks the figure. The interval of the
machine that is named must have an upper end: the target is sure on some number of nodes. Otherwise the
assumed values are named that change the order of the middles if they move to their limits, or those on which
it depends most whether the target is sure.
"""

from collections.abc import Callable
from dataclasses import dataclass

from spikemark.machines.plain import named, plain
from spikemark.quantities.words import listed

from .node_range import LIKELY, SURE, UNJUDGED, Candidate
from .predict import Prediction

NEAR = 0.05  # of the target
MEMORY = "node.memory"
#: Starts of paths that a vendor knows; the others have to be measured.
OF_VENDOR = ("node.", "interconnect.", "power.", "price.")
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
        """By how much it moves the real-time factor; this does not hang on a hair, as nodes do."""
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
        few, many = sorted(self.nodes, key=lambda n: float("inf") if n is None else n)
        said = [str(n) if n else "more than were tried" for n in (few, many)]
        return " to ".join(dict.fromkeys(said))


@dataclass(frozen=True)
class Verdict:
    """On a figure: the machine that needs least, how many times less at least, or why none is named.

    `rests_on`: (machine, path) of the values that have to be known first.
    """

    best: Candidate | None
    times: float
    why: str
    rests_on: list[tuple[str, str]]


def unknowns(c: Candidate) -> list[Decides]:
    """The assumed values of a machine, the one that decides most first."""
    if not c.usable:
        return []
    chosen = c.chosen
    found = []
    for path, moved in chosen.moves.items():
        if moved.kind == "assumed":
            nodes = tuple(_reaching(c, path, side)[0] for side in ("low", "high"))
            factors = moved.low["real_time_factor"], moved.high["real_time_factor"]
            found.append(Decides(c.name, path, nodes, factors))
    return sorted(found, key=lambda d: d.strength, reverse=True)


def _reaching(c: Candidate, path: str, side: str, name: str = "") -> tuple[int | None, float | None]:
    """The fewest nodes whose middle reaches the target where a value is at a limit; and a figure on these, or
    on the fastest."""

    def there(p: Prediction, figure: str) -> float | None:
        moved = getattr(p.moves[path], side) if path in p.moves else None
        known = p.figures.get(figure)
        return moved[figure] if moved and figure in moved else known.value if known else None

    reached = [p for p in c.usable if there(p, "real_time_factor") <= c.target]
    looked_at = reached[0] if reached else min(c.usable, key=lambda p: there(p, "real_time_factor"))
    return (reached[0].nodes if reached else None), (there(looked_at, name) if name else None)


def verdict(candidates: list[Candidate], name: str) -> Verdict:
    """Which machine needs the least of a figure to reach the target."""
    if odd := next((c for c in candidates if c.implausible), None):
        return Verdict(None, 1.0, f"{odd.name} is {UNJUDGED}: {odd.implausible[0]}", [])
    reach = [c for c in candidates if c.span]
    if not reach:
        return Verdict(None, 1.0, "the target is excluded on every machine", [])
    unknown = [c for c in reach if not c.over_range(name)]
    if unknown:
        why = "it is not known for all machines"
        return Verdict(None, 1.0, why, [(c.name, _lacking(c, name)) for c in unknown])
    order = sorted(reach, key=lambda c: c.over_range(name).value)
    best, others = order[0], order[1:]
    if best.certainty not in (LIKELY, SURE):
        return Verdict(None, 1.0, "the machine that needs the least is not likely to reach the target", [])
    if any(p.fits is None for p in best.span):
        if best.chosen.reasons.get("memory_gb"):
            return Verdict(None, 1.0, best.chosen.reasons["memory_gb"], [])
        return Verdict(None, 1.0, "the memory of the best machine is not known", [(best.name, MEMORY)])
    if not best.sure:
        return Verdict(None, 1.0, ENDLESS, [(best.name, d.path) for d in unknowns(best) if d.noticed])
    if not others:
        return Verdict(None, 1.0, "only one machine may reach the target", [])
    rivals = [c for c in candidates if c.usable and c is not best]  # nearby targets may be in reach of more
    near = {f: _apart(best.target * f, best, rivals, name) for f in (1.0, 1 - NEAR, 1 + NEAR)}
    if min(near.values()) > 1:
        return Verdict(best, min(near.values()), "", [])
    if near[1.0] > 1:
        return Verdict(None, 1.0, f"a target that is {100 * NEAR:.0f} % lower or higher changes it", [])
    return Verdict(None, 1.0, "the intervals overlap", _turning(best, others, name))


def _apart(target: float, best: Candidate, others: list[Candidate], name: str) -> float:
    """How many times less the best machine needs at least, near the target; below 1 if perhaps more."""
    most = best.at(target).over_range(name)
    least = [found.low for c in others if (found := c.at(target).over_range(name))]
    if not (most and best.at(target).sure):
        return 0.0
    return min((low / most.high if most.high else float("inf") for low in least), default=float("inf"))


def _turning(best: Candidate, others: list[Candidate], name: str) -> list[tuple[str, str]]:
    """The assumed values that alone turn the order of the middles, the one with the largest effect first."""
    mine, theirs = best.over_range(name).value, min(c.over_range(name).value for c in others)
    found = []
    for c in (best, *others):
        for path, moved in c.chosen.moves.items():
            if moved.kind != "assumed":
                continue
            ends = [_reaching(c, path, side, name)[1] for side in ("low", "high")]
            if c is best and max(ends) > theirs:
                found.append((max(ends) / theirs, c.name, path))
            elif c is not best and min(ends) < mine:
                found.append((mine / min(ends), c.name, path))
    return [(machine, path) for _, machine, path in sorted(found, reverse=True)]


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
    """What is missing altogether: memory, energy or cost, why, and of which machines; each reason once."""
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
            path = _lacking(c, name)
            ways = "give --price, or ask the vendor" if path == PRICE else "ask the vendor"
            sheet = f" or, at least, {named(TDP)}" if path.startswith("power.") else ""
            found.append(f"{what} is unknown for {{}}: {ways} for {named(path)}{sheet}")
    return found


def _lacking(c: Candidate, name: str) -> str:
    """The path that a missing figure lacks, from its reason."""
    return c.chosen.reasons[name].removeprefix(f"{c.name}: ").split(" is unknown")[0]


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
