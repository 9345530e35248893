"""What projections mean for a neuron: how often it is drawn as a source, and how often it is missed."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput

from .description import Network, Population

# in place of ln(1 - 1/1), of a pool that no draw can miss; unlike -inf it can be multiplied by 0
CERTAIN = -1e9


@dataclass(frozen=True)
class Pools:
    """All projections together, sparse [source population, target population], per target neuron."""

    misses: sparse.csr_array  # ln of the probability that none of its synapses has a given source neuron
    hits: sparse.csr_array  # expected synapses from a given source neuron


def read(network: Network) -> Pools:
    """The projections of a network: [source population, target population].

    Sources are drawn uniformly from a projection's pool; a population named twice is in it twice.
    """
    sizes, numbers = network.sizes.tolist(), network.numbers
    rows, columns, misses, hits = [], [], [], []
    for projection in network.projections:
        target, indegree = numbers[projection.target], projection.synapses
        if indegree * sizes[target] == 0:
            continue
        times = Counter(p for p in map(numbers.get, projection.sources) if sizes[p])
        pool = sum(n * sizes[p] for p, n in times.items())
        for p, n in times.items():
            rows.append(p)
            columns.append(target)
            hits.append(indegree * n / pool)
            miss = math.log1p(-n / pool) if n < pool else CERTAIN
            misses.append(indegree * (-n / pool if projection.poisson else miss))
    shape = (len(sizes), len(sizes))
    return Pools(  # entries of the same pair add up
        misses=sparse.coo_array((misses, (rows, columns)), shape).tocsr(),
        hits=sparse.coo_array((hits, (rows, columns)), shape).tocsr(),
    )


def needed(neurons: Any, unmet: Any) -> Any:
    """Expected neurons of each rank with a synapse in each set of ranks, [rank, set]; dense or sparse.

    `neurons` [population, rank] live there; `unmet` [population, set]: log of the probability that a neuron
    has no synapse in the set. Neurons may be weighted, such as by their spikes.
    """
    if not sparse.issparse(unmet):
        return neurons.T @ -np.expm1(unmet)
    hits = unmet.copy()
    hits.data = -np.expm1(unmet.data)
    return neurons.T @ hits


def rates(populations: list[Population], rates_hz: dict[str, float] | None) -> np.ndarray:
    """Mean rate of each population in Hz, [population]: as given by name, or as described.

    Raises BadInput for a population that is not in `rates_hz`, or whose description has no rate.
    """
    if rates_hz is None:
        return np.array([_described_hz(p) for p in populations])
    for p in populations:
        if p.name not in rates_hz:
            raise BadInput(f"rates_hz: no rate of population {p.name!r}")
    return np.array([rates_hz[p.name] for p in populations], dtype=float)


def _described_hz(population: Population) -> float:
    """Rate of an ignore_and_fire population: normal with `rate_cv`, and redrawn where it is not positive."""
    rate, cv = population.neuron.hz, population.neuron.rate_cv
    if rate is None:
        raise BadInput(
            f"rates_hz: no rate of population {population.name!r}, whose model has no rate of its own"
        )
    if cv < 1e-3:  # none is redrawn
        return float(rate)
    density = math.exp(-0.5 / cv**2) / math.sqrt(2 * math.pi)
    return rate * (1 + cv * density / (0.5 * math.erfc(-1 / (cv * math.sqrt(2)))))
