"""Projections as what they mean for a neuron: how often it is drawn as a source, how often it is missed."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput

from . import indegree as indegrees

# ln(1 - 1/1), the one pool in which no draw can miss, as a number that survives being multiplied by 0
CERTAIN = -1e9
RATE_HZ = 2.5  # of ignore_and_fire, where a description does not say (miniapp/FORMAT.md)


@dataclass(frozen=True)
class Pools:
    """All projections together, sparse [source population, target population], per target neuron."""

    misses: sparse.csr_array  # ln of the probability that none of its synapses has a given source neuron
    hits: sparse.csr_array  # expected synapses from a given source neuron


def read(description: dict, sizes: np.ndarray) -> Pools:
    """The projections of a network whose populations have `sizes` neurons.

    Sources are drawn uniformly from a projection's pool; a population named twice is in it twice. Raises
    BadInput for a population that is not there and a pool without neurons.
    """
    number = {p["name"]: i for i, p in enumerate(description["network"]["populations"])}
    rows, columns, misses, hits = [], [], [], []
    for i, projection in enumerate(description["network"].get("projections", [])):
        names = [projection["source"]] if isinstance(projection["source"], str) else projection["source"]
        for name in (*names, projection["target"]):
            if name not in number:
                raise BadInput(
                    f"network.projections.{i}: no population {name!r}; there are {', '.join(number)}"
                )
        target = number[projection["target"]]
        indegree, poisson = indegrees.mean(projection), indegrees.is_poisson(projection)
        if indegree * sizes[target] == 0:
            continue
        times: dict[int, int] = {}
        for p in (number[name] for name in names if sizes[number[name]]):
            times[p] = times.get(p, 0) + 1
        pool = sum(n * int(sizes[p]) for p, n in times.items())
        if pool == 0:
            raise BadInput(
                f"network.projections.{i}: indegree={indegree:g}; allowed is 0, its sources are empty"
            )
        for p, n in times.items():
            rows.append(p)
            columns.append(target)
            hits.append(indegree * n / pool)
            misses.append(indegree * (-n / pool if poisson else _log_miss(n / pool)))
    shape = (len(number), len(number))
    return Pools(  # entries of the same pair add up
        misses=sparse.coo_array((misses, (rows, columns)), shape).tocsr(),
        hits=sparse.coo_array((hits, (rows, columns)), shape).tocsr(),
    )


def _log_miss(hit: float) -> float:
    return math.log1p(-hit) if hit < 1 else CERTAIN


def rates(populations: list[dict], rates_hz: dict[str, float] | None) -> np.ndarray:
    """Mean rate of each population in Hz, [population]: as given by name, or as described.

    Raises BadInput for a population that is not in `rates_hz`, or not described to fire at a rate.
    """
    if rates_hz is None:
        return np.array([_described_hz(p) for p in populations])
    for p in populations:
        if p["name"] not in rates_hz:
            raise BadInput(f"rates_hz: no rate of population {p['name']!r}")
    return np.array([rates_hz[p["name"]] for p in populations], dtype=float)


def _described_hz(population: dict) -> float:
    """Rate of an ignore_and_fire population: normal with `rate_cv`, and redrawn where it is not positive."""
    neuron = population["neuron"]
    if "rate_hz" not in neuron and neuron.get("model") != "ignore_and_fire":
        raise BadInput(
            f"rates_hz: no rate of population {population['name']!r}, whose model fires at none of its own"
        )
    rate, cv = neuron.get("rate_hz", RATE_HZ), neuron.get("rate_cv", 0)
    if cv == 0:
        return float(rate)
    density = math.exp(-0.5 / cv**2) / math.sqrt(2 * math.pi)
    return rate * (1 + cv * density / (0.5 * math.erfc(-1 / (cv * math.sqrt(2)))))
