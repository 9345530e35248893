"""Irregular memory access in spike delivery (Lober et al. 2026, section 2.3, eqs 13-17).

The first synapse of a spike on a thread is somewhere in memory, the following ones lie behind it. The share
of irregular accesses is the number of synapse lists a spike enters over the number of synapses it visits; the
mini-app counts both (`totals.first_accesses`, `totals.synaptic_events`). A list holds the synapses of one
source on one virtual process (rank, thread) in one lane.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.network import lanes, pools
from spikemark.network.description import Description, read
from spikemark.network.placement import neurons

BLOCK = 1 << 22  # most numbers in memory while adding up over virtual processes


def p(sources: float, synapses: float) -> float:
    """Probability that a source has one of `synapses` drawn uniformly from `sources` neurons (eq 13)."""
    missed = math.log1p(-1 / sources) if sources > 1 else pools.CERTAIN  # ln(1 - 1/N), by one draw
    return -math.expm1(synapses * missed)


def f_conventional(neurons_per_rank: float, indegree: float, ranks: int, threads: int) -> float:
    """Share of irregular accesses with round-robin placement, M T p / K (eqs 13-14).

    `neurons_per_rank` N_M, `indegree` K of all synapses, `ranks` M, `threads` T of one rank.
    """
    lists = ranks * threads * p(neurons_per_rank * ranks, indegree * neurons_per_rank / threads)
    return lists / indegree


def f_structure_aware(
    neurons_per_rank: float, indegree_intra: float, indegree_inter: float, ranks: int, threads: int
) -> float:
    """Share of irregular accesses with one area per rank, (T p_intra + T (M - 1) p_inter) / K (eqs 15-17).

    With one rank there are no other areas, and `indegree_inter` does not count.
    """
    n_thread, others = neurons_per_rank / threads, max(1, (ranks - 1) * neurons_per_rank)
    near, far = p(neurons_per_rank, indegree_intra * n_thread), p(others, indegree_inter * n_thread)
    return threads * (near + (ranks - 1) * far) / (indegree_intra + indegree_inter)


def reduction(neurons_per_rank: float, intra: float, inter: float, ranks: int, threads: int) -> float:
    """1 - f_struct / f_conv: the share of irregular accesses that the structure-aware schedule saves."""
    conventional = f_conventional(neurons_per_rank, intra + inter, ranks, threads)
    return 1 - f_structure_aware(neurons_per_rank, intra, inter, ranks, threads) / conventional


@dataclass(frozen=True)
class Access:
    """Expected irregular access of a network on its ranks, as means over all networks that may be drawn."""

    ratio: float | None  # first accesses per synaptic event; None if no spike meets a synapse
    lists: float  # lists that hold at least one synapse, whole network
    possible_lists: int  # lists that would, were in-degrees unlimited
    out_degree: np.ndarray  # [population], synapses one neuron's spike visits


def expected(
    description: dict | Description,
    ranks: int,
    threads: int,
    schedule: str | list[dict] | None = None,
    placement: str | None = None,
    rates_hz: dict[str, float] | None = None,
) -> Access:
    """Eqs 13-17 for any populations and projections: unequal areas, shared source pools, any placement and
    list of lanes.

    A neuron misses a list of K n synapses from a pool of N neurons with probability (1 - 1/N)^(K n), n being
    the target neurons on that virtual process; the misses of several projections into one list multiply. If
    in-degrees are Poisson with mean K, so is the number of draws: all miss with probability exp(-K n / N).
    `schedule` and `placement` default to those of the run description; another schedule has its own default
    placement. `rates_hz` (by population name; only their ratios matter) defaults to the described rates of
    `ignore_and_fire` populations. How rates vary within a population does not matter, since they are
    independent of the neurons' lists. Raises BadInput for unknown names and impossible networks.
    """
    description = read(description)
    network, populations = description.network, description.network.populations
    schedule, placement = lanes.chosen(description, schedule, placement)
    pairs = lanes.pairs(description, schedule, placement, ranks)
    local = neurons(description, placement, ranks, threads)
    local = local.reshape(len(populations), ranks * threads)
    sizes = local.sum(axis=1)

    drawn = pools.read(network)
    weights = sizes * pools.rates(populations, rates_hz)
    out_degree = drawn.hits @ sizes
    events = float(weights @ out_degree)
    areas = np.array(network.area_of, dtype=np.int64)
    misses = drawn.misses.tocoo()
    lost = ~np.any(list(pairs.values()), axis=0)[areas[misses.row], areas[misses.col]]
    if lost.any():
        raise BadInput(
            "schedule: no lane for synapses from population"
            f" {populations[misses.row[lost][0]].name!r} to {populations[misses.col[lost][0]].name!r};"
            " every one needs a lane"
        )
    lists, possible = np.zeros(len(local)), 0
    for held in pairs.values():
        inside = held[areas[misses.row], areas[misses.col]]
        entries = misses.data[inside], (misses.row[inside], misses.col[inside])
        found, reached = _lists(sparse.coo_array(entries, misses.shape).tocsr(), local)
        lists += found
        possible += int(sizes @ reached)
    return Access(
        ratio=float(weights @ lists) / events if events else None,
        lists=float(sizes @ lists),
        possible_lists=possible,
        out_degree=out_degree,
    )


def _lists(misses: sparse.csr_array, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists that a neuron of each population has in a lane: expected number and maximum, [population].

    `misses`: of the pairs of populations in the lane. Virtual processes are taken a block at a time.
    """
    found, reached = np.zeros(len(local)), np.zeros(len(local), dtype=np.int64)
    block = max(1, BLOCK // max(1, len(local)))
    for first in range(0, local.shape[1], block):
        miss = misses @ local[:, first : first + block]
        found -= np.expm1(miss).sum(axis=1)
        reached += (miss < 0).sum(axis=1)
    return found, reached
