"""The answer of a comparison in one sentence: which machine needs the least, or which unknown decides."""

import re
from collections.abc import Callable, Iterator

from spikemark.machines.plain import plain
from spikemark.quantities.words import listed, number

from . import compare_beside, decisions, sensitivity
from .compare import Comparison
from .life import COST, NODES
from .node_range import Candidate
from .node_words import certain
from .offers import Effect, fitting
from .predict import PER_EVENT

Call = Callable[[Candidate], str]

#: What verdicts are drawn on, in words.
FIGURES = {COST: "cost over the life", NODES: "cost of nodes over the life", "energy_j": "energy"}
BRIEF = {COST: "cost", NODES: "cost of nodes", "energy_j": "energy"}
LEAST = {
    COST: "costs the least over its life",
    NODES: "costs the least over its life without energy",
    "energy_j": "needs the least energy",
}


def name_of(c: Candidate) -> str:
    """What a machine is called on the command line."""
    return c.name


def figures(made: Comparison) -> tuple[str, str]:
    """The figures on which verdicts are drawn: the cost that pages put first, and energy."""
    return made.life.decides, "energy_j"


def deciding(made: Comparison) -> str:
    """The figure of the sentence: the first that is known for all machines that may reach the target."""
    reach = [c for c in made.candidates if c.span]
    return next((n for n in figures(made) if all(c.over_range(n) for c in reach)), "energy_j")


def effects(made: Comparison, call: Call = name_of) -> list[Effect]:
    """What unknown values do to the figure that decides, the largest effect first."""
    return sensitivity.effects(made.candidates, of_effects(made), call)


def of_effects(made: Comparison) -> str:
    """The figure whose changes are shown: energy is that of a synaptic event, as in the first table."""
    name = deciding(made)
    events = all(c.chosen.figures[PER_EVENT] for c in made.candidates if c.usable and not c.implausible)
    return PER_EVENT if name == "energy_j" and events else name


def sentence(made: Comparison, call: Call = name_of) -> str:
    """The answer in at most `offers.MOST` characters and `offers.MOST_WORDS` words.

    Where no verdict holds, it says why and which unknown value decides.
    """
    target = f"real-time factor {number(made.target)}"
    if odd := next((c for c in made.candidates if c.implausible), None):
        return fitting([f"No verdict for {target}: {decisions.unjudged(odd, call)}"])
    if made.accelerated:
        return compare_beside.sentence(made, call)
    if not any(c.usable for c in made.candidates):
        return "No machine has enough memory for this network on the nodes that were tried."
    reach = [c for c in made.candidates if c.span]
    if not reach:
        return f"{target.capitalize()} is excluded on every machine, with up to {_most(made)} nodes."
    if len(made.candidates) == 1:
        return fitting([f"{target.capitalize()} is {certain(reach[0])} on {call(reach[0])}."])
    if len(reach) == 1:
        return fitting(_only(reach[0], target, call))
    name = deciding(made)
    found = decisions.verdict(made.candidates, name)
    if found.best:
        times = "" if found.times < 1.05 else f", at least {number(found.times, 2)} times less than others"
        return fitting([f"{call(found.best)} {LEAST[name]} for {target}{times}."])
    return fitting(_no_verdict(made, found, f"No verdict on {BRIEF[name]} for {target}", call))


def _most(made: Comparison) -> int:
    return max(c.tried[-1].nodes for c in made.candidates)


def _only(c: Candidate, target: str, call: Call) -> Iterator[str]:
    """The one machine that may reach the target."""
    if unsaid := [d.path for d in decisions.worth_asking(c) if d.of_vendor]:
        yield f"Only {call(c)} may reach {target}, but that rests on the assumed {plain(unsaid[0])}."
    yield f"Only {call(c)} may reach {target}: {certain(c)}."


def _no_verdict(made: Comparison, found: decisions.Verdict, none: str, call: Call) -> Iterator[str]:
    """Why there is no verdict and which value decides; with fewer words each time."""
    called = {c.name: call(c) for c in made.candidates}
    why = found.short.format("" if found.about is None else call(found.about))
    if found.unknown:
        whose = listed(dict.fromkeys(called[machine] for machine, _ in found.rests_on))
        lacks = "lacks" if len(found.rests_on) == 1 else "lack"
        values = listed(dict.fromkeys(_plain(path) for _, path in found.rests_on))
        yield f"{none}: {whose} {lacks} the {values}."
        yield f"{none}: it is unknown for {whose}."
    elif decides := _decides(made, found):
        (machine, path), most = decides
        if value := _unknown(path):
            yield f"{none}: {why}; the {value} of {called[machine]} decides{most}."
            yield f"{none}: the {value} of {called[machine]} decides{most}."
    else:
        moving = next((e for e in effects(made) if not e.no_value and e.width > 0), None)
        if moving and (value := _unknown(moving.path)):
            alone = f"no unknown decides alone, the {value} of {called[moving.offer]} moves most"
            yield f"{none}: {why}; {alone}."
            yield f"{none}: {alone}."
        yield f"{none}: {why}."
    yield f"{none}: {decisions.rests(made.candidates, found, call) or why}."
    several = len({machine for machine, _ in found.rests_on})
    of = {1: "one machine", 2: "both machines"}.get(several, f"{several} machines")
    yield f"{none}: it rests on unknown values of {of}."


def _decides(made: Comparison, found: decisions.Verdict) -> tuple[tuple[str, str], str] | None:
    """Machine and path of the value that decides, and whether others do, too: the first in the sensitivity,
    if that changes the order, else the first that the verdict rests on."""
    turning = [(e.offer, e.path) for e in effects(made) if e.turns]
    if first := turning or found.rests_on:
        return first[0], " most" if len(first) > 1 else ""
    return None


def _unknown(path: str) -> str:
    """The value at a path as something unknown, in words; "" where it has no words."""
    unknown = "unknown" if path.startswith(sensitivity.OF_VENDOR) else "unmeasured"
    return "" if "." in (value := _plain(path)) else f"{unknown} {value}"


def _plain(path: str) -> str:
    """The value at a path in words, without the name of a model in parentheses."""
    return re.sub(r" \([^)]*\)|, all cores at work", "", plain(path))
