"""Random small networks as run descriptions, for the layout fuzzer.

Every network fires, ends within a second by brute force, and has whole windows of several lengths.
"""

import random
from typing import Any

STEP_MS = 0.1
RATES_HZ = (0, 40, 90, 150, 400, 2000)


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
    return {
        "format_version": 1,
        "seed": rng.randrange(2**53),
        "time": {
            "resolution_ms": STEP_MS,
            "cycle_ms": cycle_ms,
            "warmup_ms": round(cycle_ms * rng.randint(0, 6), 9),
            "simulate_ms": round(cycle_ms * rng.randint(1, 60 // per_cycle), 9),
        },
        "network": {"populations": populations, "projections": projections},
    }


def _population(rng: random.Random, number: int, area: str, models: list[str]) -> dict[str, Any]:
    model = "ignore_and_fire" if rng.random() < 0.6 else rng.choice(models)
    found = {
        "name": f"p{number}",
        "area": area,
        "size": rng.choice((0, 1, 2, rng.randint(3, 40), rng.randint(3, 40))),
        "neuron": {"model": model},
    }
    if model == "ignore_and_fire":
        found["neuron"] |= {"rate_hz": rng.choice(RATES_HZ), "rate_cv": rng.choice((0, 0, 0.5))}
    if model != "ignore_and_fire" or rng.random() < 0.2:
        weight = {"lif_exp": 3000}.get(model, 20)
        found["external"] = {"rate_hz": rng.choice((8, 80)), "synapses": 100, "weight": weight}
    return found


def _projection(rng, names: list[str], filled: list[str], per_cycle: int, own_weights: bool) -> dict:
    sources = list(dict.fromkeys([*rng.choices(names, k=rng.randint(1, 4)), rng.choice(filled)]))
    return {
        "source": sources if len(sources) > 1 or rng.random() < 0.5 else sources[0],
        "target": rng.choice(names),
        "indegree": rng.choice((0, 1, rng.randint(1, 20), {"mean": round(rng.uniform(0.1, 12), 3)})),
        "weight": _weight(rng, own_weights),
        "delay": _delay(rng, per_cycle),
    }


def _weight(rng: random.Random, own: bool) -> float | dict:
    mean = rng.choice((1, 2, -1, 0.5, 1.2345678, -0.37))
    if own:
        return {"mean": mean, "sd": abs(mean) / 4, "classes": 0}
    if rng.random() < 0.3:
        return {"mean": mean, "sd": abs(mean) / 5, "classes": rng.randint(2, 9)}
    return mean


def _delay(rng: random.Random, per_cycle: int) -> dict:
    """Delays of at least a cycle, in ms."""
    shortest = round(STEP_MS * per_cycle * rng.randint(1, 8), 9)
    longest = round(shortest + STEP_MS * rng.randint(0, 25), 9)
    kind = rng.choice(("constant", "normal", "exponential"))
    if kind == "constant":
        return {"distribution": kind, "mean": shortest}
    middle = round((shortest + longest) / 2, 9)
    if kind == "exponential":
        return {"distribution": kind, "mean": middle, "min": shortest, "max": longest}
    return {"mean": middle, "sd": rng.choice((0.2, 1)), "min": shortest, "max": longest}
