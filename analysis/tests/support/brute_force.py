"""A small network drawn synapse by synapse, and the mini-app's counts taken on it by plain
enumeration.

The slow reference for `spikemark.models.access` and for routes, with which it shares no formula.
"""

from typing import NamedTuple

import numpy as np

from spikemark.network import lanes, schedules
from spikemark.network.description import Network, read_description
from spikemark.network.placement import ranges


class Layout(NamedTuple):
    """Where every neuron lives: arrays over gid."""

    population: np.ndarray
    rank: np.ndarray
    thread: np.ndarray


class Counts(NamedTuple):
    """Counts per rank; `lists` is the number of (source, rank, thread, lane) with at least one
    synapse.
    """

    neurons: np.ndarray
    synapses: np.ndarray
    spikes: np.ndarray
    synaptic_events: np.ndarray
    first_accesses: np.ndarray
    lists: int


def layout(description: dict, placement: str, ranks: int, threads: int) -> Layout:
    """Every range of neurons is dealt to its ranks, first to thread 0 of each."""
    network = read_description(description).network
    placed, sizes = ranges(network, placement, ranks)[0], [p.size for p in network.populations]
    gid = np.arange(sum(sizes))
    at = np.searchsorted(placed.end, gid, side="right")
    unit, over = gid - placed.origin[at], placed.over[at]
    thread = unit // over % threads
    return Layout(np.repeat(np.arange(len(sizes)), sizes), placed.rank[at] + unit % over, thread)


def draw(network: Network, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets (gid) of every synapse."""
    ends = np.cumsum([p.size for p in network.populations])
    gids = [np.arange(end - p.size, end) for end, p in zip(ends, network.populations, strict=True)]
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for projection in network.projections:
        pool = np.concatenate([gids[network.numbers[name]] for name in projection.sources])
        own = gids[network.numbers[projection.target]]
        mean = projection.synapses
        indegree = (
            rng.poisson(mean, len(own)) if projection.poisson else np.full(len(own), round(mean))
        )
        targets.append(np.repeat(own, indegree))
        sources.append(rng.choice(pool, size=len(targets[-1])) if len(targets[-1]) else targets[-1])
    return np.concatenate(sources), np.concatenate(targets)


def count(
    description: dict, schedule, placement: str, ranks: int, threads: int, seconds: float, seed: int
) -> Counts:
    """Draw the network and count as the mini-app does."""
    rng, described = np.random.default_rng(seed), read_description(description)
    population, rank, thread = layout(description, placement, ranks, threads)
    source, target = draw(described.network, rng)
    # Ignore-and-fire: the interval is fixed, the phase uniform.
    rates = [p["neuron"].get("rate_hz", 2.5) for p in description["network"]["populations"]]
    fired = np.floor(np.array(rates)[population] * seconds + rng.uniform(size=len(rank))).astype(
        np.int64
    )
    area = np.array(described.network.area_of)[population]
    held = lanes.pairs(described, schedules.find_schedule(schedule), placement, ranks)
    lane = np.array([inside[area[source], area[target]] for inside in held.values()]).argmax(axis=0)
    shape = (len(rank), ranks, threads, len(held))
    keys = np.ravel_multi_index((source, rank[target], thread[target], lane), shape)
    lists = np.column_stack(np.unravel_index(np.unique(keys), shape))

    def per_rank(index: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(index, weights=weights, minlength=ranks).astype(np.int64)

    return Counts(
        neurons=per_rank(rank),
        synapses=per_rank(rank[target]),
        spikes=per_rank(rank, fired),
        synaptic_events=per_rank(rank[target], fired[source]),
        first_accesses=per_rank(lists[:, 1], fired[lists[:, 0]]),
        lists=len(lists),
    )
