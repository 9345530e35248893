"""Random small networks, and ways to run them, as run descriptions for the layout fuzzer.

Every network fires, ends within a second by brute force, and has whole windows of several lengths.
The names of ways come from the mini-app's list; an exchange or a placement that needs further fields has a
rule in EXCHANGES or PLACEMENTS.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

STEP_MS = 0.1


def network(rng: random.Random, models: list[str]) -> dict[str, Any]:
    """A description without the fields that say how it is run."""
    per_cycle = rng.choice((1, 1, 2, 3))
    areas = [chr(ord("a") + i) for i in range(rng.randint(1, 6))]
    populations = [_population(rng, i, rng.choice(areas), models) for i in range(rng.randint(1, 8))]
    if not any(p["size"] for p in populations):
        populations[0]["size"] = 7
    names = [p["name"] for p in populations]
    filled = [p["name"] for p in populations if p["size"]]
    own_weights = rng.random() < 0.2
    projections = [_projection(rng, names, filled, per_cycle, own_weights) for _ in range(rng.randint(1, 9))]
    cycle_ms = round(STEP_MS * per_cycle, 9)
    lasts = {"warmup_ms": rng.randint(0, 6), "simulate_ms": rng.randint(1, 60 // per_cycle)}
    return {
        "format_version": 1,
        "seed": rng.randrange(2**53),
        "time": {"resolution_ms": STEP_MS, "cycle_ms": cycle_ms}
        | {name: round(cycle_ms * cycles, 9) for name, cycles in lasts.items()},
        "network": {"populations": populations, "projections": projections},
    }


def _population(rng: random.Random, number: int, area: str, models: list[str]) -> dict[str, Any]:
    model = "ignore_and_fire" if rng.random() < 0.6 else rng.choice(models)
    size = rng.choice((0, 1, 2, rng.randint(3, 40), rng.randint(3, 40)))
    found = {"name": f"p{number}", "area": area, "size": size, "neuron": {"model": model}}
    if model == "ignore_and_fire":
        found["neuron"] |= {
            "rate_hz": rng.choice((0, 40, 90, 150, 400, 2000)),
            "rate_cv": rng.choice((0, 0, 0.5)),
        }
    if model != "ignore_and_fire" or rng.random() < 0.2:
        weight = {"lif_exp": 3000}.get(model, 20)
        found["external"] = {"rate_hz": rng.choice((8, 80)), "synapses": 100, "weight": weight}
    return found


def _projection(rng, names: list[str], filled: list[str], per_cycle: int, own_weights: bool) -> dict:
    sources = list(dict.fromkeys([*rng.choices(names, k=rng.randint(1, 4)), rng.choice(filled)]))
    weight = mean = rng.choice((1, 2, -1, 0.5, 1.2345678, -0.37))
    if own_weights:
        weight = {"mean": mean, "sd": abs(mean) / 4, "classes": 0}
    elif rng.random() < 0.3:
        weight = {"mean": mean, "sd": abs(mean) / 5, "classes": rng.randint(2, 9)}
    return {
        "source": sources if len(sources) > 1 or rng.random() < 0.5 else sources[0],
        "target": rng.choice(names),
        "indegree": rng.choice((0, 1, rng.randint(1, 20), {"mean": round(rng.uniform(0.1, 12), 3)})),
        "weight": weight,
        "delay": _delay(rng, per_cycle),
    }


def _delay(rng: random.Random, per_cycle: int) -> dict:
    """Delays of at least a cycle, in ms."""
    shortest = round(STEP_MS * per_cycle * rng.randint(1, 8), 9)
    longest = round(shortest + STEP_MS * rng.randint(0, 25), 9)
    kind = rng.choice(("constant", "normal", "exponential"))
    if kind == "constant":
        return {"distribution": kind, "mean": shortest}
    found = {"mean": round((shortest + longest) / 2, 9), "min": shortest, "max": longest}
    return found | ({"distribution": kind} if kind == "exponential" else {"sd": rng.choice((0.2, 1))})


@dataclass(frozen=True)
class Draw:
    """What a rule may use; `files` takes the content of the files that it names, by their names.

    `ordinary`: the exchanges that one may be composed of.
    """

    rng: random.Random
    ranks: int
    neurons: int
    ordinary: list[str]
    files: dict[str, Any] = field(default_factory=dict)

    def file(self, kind: str, **content) -> str:
        """Takes a file and returns its name."""
        name = f"{kind}-{len(self.files)}.json"
        self.files[name] = {"kind": kind, "format_version": 1, **content}
        return name

    def exchange(self, known: dict[str, Any]) -> str | dict[str, Any]:
        """An exchange that can serve the ranks; `known`: what the mini-app lists."""
        fitting = [x for x in known["exchanges"] if not x["absent"] and not 0 < x["ranks_max"] < self.ranks]
        composed = [x for x in fitting if x["composed"]]  # which differ most
        name = self.rng.choice(composed if composed and self.rng.random() < 0.3 else fitting)["name"]
        return {"name": name, **EXCHANGES[name](self)} if name in EXCHANGES else name

    def placement(self, known: dict[str, Any]) -> str | dict[str, Any]:
        """A placement."""
        name = self.rng.choice([p["name"] for p in known["placements"]])
        return {"name": name, **PLACEMENTS[name](self)} if name in PLACEMENTS else name

    def schedule(self, known: dict[str, Any], areas: list[str]) -> str | list[dict[str, Any]]:
        """A schedule by its name, or a list of lanes."""
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice([s["name"] for s in known["schedules"]])
        lanes: list[dict] = [{"group": "area"}] if rng.random() < 0.5 else []
        for _ in range(rng.choice((0, 0, 1, 3))):
            sides = {side: rng.sample(areas, rng.randint(1, len(areas))) for side in ("from", "to")}
            if rng.random() < 0.3:
                del sides[rng.choice(("from", "to"))]
            lanes.append(sides)
        divisors = [n for n in range(1, self.ranks) if self.ranks % n == 0]
        if divisors and rng.random() < 0.5:
            lanes.append({"group": rng.choice(divisors)})
        lanes.append({})
        for number, lane in enumerate(lanes):
            lane |= {"name": f"lane{number}", "period": rng.choice((1, "auto", "auto", "D"))}
            lane |= {"lag": rng.choice((0, 0, 1, 2))}
        return lanes


def ordinary(known: dict[str, Any]) -> list[str]:
    """The exchanges that others may be composed of, of what the mini-app lists."""
    special = ("absent", "broadcast", "composed", "ranks_max")
    return [x["name"] for x in known["exchanges"] if not any(x[field] for field in special)]


def _two_level(draw: Draw) -> dict[str, Any]:
    inner, outer = draw.rng.choices(draw.ordinary, k=2)
    return {"inner": inner, "outer": outer, "group": draw.rng.randint(1, draw.ranks)}


def _multi_level(draw: Draw) -> dict[str, Any]:
    """A grid of all ranks. Lanes that join fewer ranks refuse it, or take the default grid."""
    rng, found = draw.rng, {"side": draw.rng.choice(("sender", "receiver")), "merge": draw.rng.random() < 0.5}
    if rng.random() < 0.7:
        rest, dimensions = draw.ranks, []
        while rest > 1 and len(dimensions) < 8:
            dimensions.append(rng.choice([n for n in range(1, rest + 1) if rest % n == 0]))
            rest //= dimensions[-1]
        found["dimensions"] = [*dimensions, *[rest] * (rest > 1)] or [1]
        if rng.random() < 0.1:  # products that fit no group, beyond what 32 and 64 bits hold
            return {"dimensions": rng.choices((1, 2, 3, 257, 65537, 2**31, 2**53), k=rng.randint(1, 8))}
        if rng.random() < 0.7:
            found["parts"] = rng.choices(draw.ordinary, k=len(found["dimensions"]))
        if len(found["dimensions"]) == 2 and rng.random() < 0.4:
            members, groups = found["dimensions"]
            bridge = [[rng.randrange(members) for _ in range(draw.ranks)] for _ in range(groups)]
            found["table"] = draw.file("forwarding_table", dimensions=[members, groups], bridge=bridge)
    if rng.random() < 0.4:
        found["order"] = draw.file("rank_order", order=rng.sample(range(draw.ranks), draw.ranks))
    return found


def _from_file(draw: Draw) -> dict[str, Any]:
    """Ranges of any lengths, some of them dealt over several ranks."""
    rng = draw.rng
    ends = sorted({rng.randint(1, draw.neurons) for _ in range(rng.randint(0, 9))} | {draw.neurons})
    first = [0, *ends[:-1]]
    over = [rng.choice((1, 1, rng.randint(1, draw.ranks))) for _ in ends]
    parts = {"rank": [rng.randint(0, draw.ranks - n) for n in over],
             "origin": [rng.choice((begin, 0, begin // 2)) for begin in first]}  # fmt: skip
    return {"file": draw.file("placement", ranks=draw.ranks, first=first, end=ends, over=over, **parts)}


def _weights(draw: Draw) -> dict[str, Any]:
    """Weights of ranks, often equal ones; they follow from the numbers of ranks and neurons."""
    rng = random.Random(1000 * draw.ranks + draw.neurons)
    few = rng.choice(((1,), (1,), (1, 2), (0.3, 1, 2.5)))
    return {"weights": [rng.choice(few) for _ in range(draw.ranks)]}


#: Fields beside the name. Composed exchanges without a rule take their defaults.
EXCHANGES: dict[str, Callable[[Draw], dict]] = {"two_level": _two_level, "multi_level": _multi_level}
PLACEMENTS: dict[str, Callable[[Draw], dict]] = {
    "from_file": _from_file, "round_robin": _weights, "area_group": _weights,
}  # fmt: skip
