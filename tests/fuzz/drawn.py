"""Random small networks, and ways to run them, as run descriptions for the layout fuzzer.

Every network fires, ends within a second by brute force, and has whole windows of several lengths.
The names of ways come from the mini-app's list; an exchange or a placement that needs further
fields has a rule in EXCHANGES or PLACEMENTS.
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
    projections = [
        _projection(rng, names, filled, per_cycle, own_weights) for _ in range(rng.randint(1, 9))
    ]
    cycle_ms = round(STEP_MS * per_cycle, 9)
    warmup_cycles, cycles = rng.randint(0, 6), rng.randint(1, 60 // per_cycle)
    return {
        "format_version": 1,
        "seed": rng.randrange(2**53),
        "time": {
            "resolution_ms": STEP_MS,
            "cycle_ms": cycle_ms,
            "warmup_ms": round(cycle_ms * warmup_cycles, 9),
            "simulate_ms": round(cycle_ms * cycles, 9),
        },
        "network": {"populations": populations, "projections": projections},
    }


def _population(rng: random.Random, number: int, area: str, models: list[str]) -> dict[str, Any]:
    model = "ignore_and_fire" if rng.random() < 0.6 else rng.choice(models)
    size = rng.choice((0, 1, 2, rng.randint(3, 40), rng.randint(3, 40)))
    neuron: dict[str, Any] = {"model": model}
    population = {"name": f"p{number}", "area": area, "size": size, "neuron": neuron}
    if model == "ignore_and_fire":
        neuron["rate_hz"] = rng.choice((0, 40, 90, 150, 400, 2000))
        neuron["rate_cv"] = rng.choice((0, 0, 0.5))
    if model != "ignore_and_fire" or rng.random() < 0.2:
        weight = 3000 if model == "lif_exp" else 20
        population["external"] = {
            "rate_hz": rng.choice((8, 80)),
            "synapses": 100,
            "weight": weight,
        }
    return population


def _projection(
    rng, names: list[str], filled: list[str], per_cycle: int, own_weights: bool
) -> dict:
    sources = list(dict.fromkeys([*rng.choices(names, k=rng.randint(1, 4)), rng.choice(filled)]))
    weight = mean = rng.choice((1, 2, -1, 0.5, 1.2345678, -0.37))
    if own_weights:
        weight = {"mean": mean, "sd": abs(mean) / 4, "classes": 0}
    elif rng.random() < 0.3:
        weight = {"mean": mean, "sd": abs(mean) / 5, "classes": rng.randint(2, 9)}
    as_list = len(sources) > 1 or rng.random() < 0.5
    target = rng.choice(names)
    some, mean_indegree = rng.randint(1, 20), {"mean": round(rng.uniform(0.1, 12), 3)}
    return {
        "source": sources if as_list else sources[0],
        "target": target,
        "indegree": rng.choice((0, 1, some, mean_indegree)),
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
    delay = {"mean": round((shortest + longest) / 2, 9), "min": shortest, "max": longest}
    if kind == "exponential":
        return {**delay, "distribution": kind}
    return {**delay, "sd": rng.choice((0.2, 1))}


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

    def exchange(self, listed: dict[str, Any]) -> str | dict[str, Any]:
        """An exchange that can serve the ranks; `listed`: what the mini-app lists."""
        fitting = [entry for entry in listed["exchanges"] if self._serves(entry)]
        composed = [entry for entry in fitting if entry["composed"]]  # which differ most
        if composed and self.rng.random() < 0.3:
            fitting = composed
        name = self.rng.choice(fitting)["name"]
        if name not in EXCHANGES:
            return name
        return {"name": name, **EXCHANGES[name](self)}

    def _serves(self, entry: dict[str, Any]) -> bool:
        """Whether a listed exchange is there and can serve so many ranks; 0: any number."""
        most = entry["ranks_max"]
        return not entry["absent"] and (most <= 0 or most >= self.ranks)

    def placement(self, listed: dict[str, Any]) -> str | dict[str, Any]:
        """A placement."""
        name = self.rng.choice([entry["name"] for entry in listed["placements"]])
        if name not in PLACEMENTS:
            return name
        return {"name": name, **PLACEMENTS[name](self)}

    def schedule(self, listed: dict[str, Any], areas: list[str]) -> str | list[dict[str, Any]]:
        """A schedule by its name, or a list of lanes."""
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice([entry["name"] for entry in listed["schedules"]])
        lanes: list[dict[str, Any]] = []
        if rng.random() < 0.5:
            lanes.append({"group": "area"})
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
            lane["name"] = f"lane{number}"
            lane["period"] = rng.choice((1, "auto", "auto", "D"))
            lane["lag"] = rng.choice((0, 0, 1, 2))
        return lanes


def ordinary(listed: dict[str, Any]) -> list[str]:
    """The exchanges that others may be composed of, of what the mini-app lists."""
    return [entry["name"] for entry in listed["exchanges"] if not _is_special(entry)]


def _is_special(entry: dict[str, Any]) -> bool:
    return any(entry[field] for field in ("absent", "broadcast", "composed", "ranks_max"))


def _two_level(draw: Draw) -> dict[str, Any]:
    inner, outer = draw.rng.choices(draw.ordinary, k=2)
    return {"inner": inner, "outer": outer, "group": draw.rng.randint(1, draw.ranks)}


def _multi_level(draw: Draw) -> dict[str, Any]:
    """A grid of all ranks. Lanes that join fewer ranks refuse it, or take the default grid."""
    rng = draw.rng
    fields: dict[str, Any] = {
        "side": rng.choice(("sender", "receiver")),
        "merge": rng.random() < 0.5,
    }
    if rng.random() < 0.7:
        dimensions = _grid(rng, draw.ranks)
        if rng.random() < 0.1:  # products that fit no group, beyond what 32 and 64 bits hold
            count = rng.randint(1, 8)
            return {"dimensions": rng.choices((1, 2, 3, 257, 65537, 2**31, 2**53), k=count)}
        fields["dimensions"] = dimensions
        if rng.random() < 0.7:
            fields["parts"] = rng.choices(draw.ordinary, k=len(dimensions))
        if len(dimensions) == 2 and rng.random() < 0.4:
            fields["table"] = _forwarding_table(draw, *dimensions)
    if rng.random() < 0.4:
        fields["order"] = draw.file("rank_order", order=rng.sample(range(draw.ranks), draw.ranks))
    return fields


def _grid(rng: random.Random, ranks: int) -> list[int]:
    """Random dimensions, at most nine, whose product is the number of ranks."""
    dimensions: list[int] = []
    while ranks > 1 and len(dimensions) < 8:
        divisors = [number for number in range(1, ranks + 1) if ranks % number == 0]
        dimensions.append(rng.choice(divisors))
        ranks //= dimensions[-1]
    if ranks > 1:
        dimensions.append(ranks)
    return dimensions or [1]


def _forwarding_table(draw: Draw, members: int, groups: int) -> str:
    """A file that says which member of each group forwards to a rank."""
    bridge = []
    for _ in range(groups):
        bridge.append([draw.rng.randrange(members) for _ in range(draw.ranks)])
    return draw.file("forwarding_table", dimensions=[members, groups], bridge=bridge)


def _from_file(draw: Draw) -> dict[str, Any]:
    """Ranges of any lengths, some of them dealt over several ranks."""
    rng = draw.rng
    drawn_ends = {rng.randint(1, draw.neurons) for _ in range(rng.randint(0, 9))}
    ends = sorted(drawn_ends | {draw.neurons})
    first = [0, *ends[:-1]]
    over = [rng.choice((1, 1, rng.randint(1, draw.ranks))) for _ in ends]
    rank = [rng.randint(0, draw.ranks - number) for number in over]
    origin = [rng.choice((begin, 0, begin // 2)) for begin in first]
    name = draw.file(
        "placement", ranks=draw.ranks, first=first, end=ends, over=over, rank=rank, origin=origin
    )
    return {"file": name}


def _weights(draw: Draw) -> dict[str, Any]:
    """Weights of ranks, often equal ones; they follow from the numbers of ranks and neurons."""
    rng = random.Random(1000 * draw.ranks + draw.neurons)
    weights = rng.choice(((1,), (1,), (1, 2), (0.3, 1, 2.5)))
    return {"weights": [rng.choice(weights) for _ in range(draw.ranks)]}


#: Fields beside the name. Composed exchanges without a rule take their defaults.
EXCHANGES: dict[str, Callable[[Draw], dict]] = {
    "two_level": _two_level,
    "multi_level": _multi_level,
}
PLACEMENTS: dict[str, Callable[[Draw], dict]] = {
    "from_file": _from_file,
    "round_robin": _weights,
    "area_group": _weights,
}
