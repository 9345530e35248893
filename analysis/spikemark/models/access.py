"""Irregular memory access in spike delivery (Lober et al. 2026, section 2.3, eqs 13-17).

The first synapse of a spike on a thread is somewhere in memory, the following ones lie behind it.
The share of irregular accesses is the number of synapse lists a spike enters over the number of
synapses it visits; the mini-app counts both (`totals.first_accesses`, `totals.synaptic_events`). A
list holds the synapses of one source on one virtual process (rank, thread) in one lane.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.network import lanes, pools
from spikemark.network.description import Description, read_description
from spikemark.network.placement import neurons
from spikemark.network.schedules import AnySchedule

#: Numbers in memory while adding up over virtual processes.
MAX_NUMBERS_AT_ONCE = 1 << 22


def probability(sources: float, synapses: float) -> float:
    """Probability that a source has one of the synapses of a thread: 1 - (1 - 1/N)^n (L26, eq 13).

    Args:
        sources: neurons N from which sources are drawn uniformly.
        synapses: number of draws n.

    Example:
        >>> probability(sources=2, synapses=1)
        0.5
    """
    log_missed_by_one = math.log1p(-1 / sources) if sources > 1 else pools.CERTAIN
    return -math.expm1(synapses * log_missed_by_one)


def f_conventional(neurons_per_rank: float, indegree: float, ranks: int, threads: int) -> float:
    """Share of irregular accesses with round-robin placement: M T p / K (L26, eqs 13-14).

    Args:
        neurons_per_rank: N_M.
        indegree: K, of all synapses.
        ranks: M.
        threads: T, of one rank.

    Example:
        One thread has all synapses, so that nearly every source has a list there.

        >>> round(f_conventional(1000, 100, ranks=1, threads=1), 6)
        0.01
    """
    synapses_of_a_thread = indegree * neurons_per_rank / threads
    lists = ranks * threads * probability(neurons_per_rank * ranks, synapses_of_a_thread)
    return lists / indegree


def f_structure_aware(
    neurons_per_rank: float, indegree_intra: float, indegree_inter: float, ranks: int, threads: int
) -> float:
    """Share of irregular accesses with one area per rank (L26, eqs 15-17).

    (T p_intra + T (M - 1) p_inter) / K. With one rank there are no other areas, and
    `indegree_inter` does not count.

    Args:
        neurons_per_rank: N_M, neurons of an area.
        indegree_intra: K_intra, from the area of the target.
        indegree_inter: K_inter, from other areas.
        ranks: M.
        threads: T, of one rank.

    Example:
        >>> round(f_structure_aware(1000, 50, 50, ranks=2, threads=1), 6)
        0.02
    """
    targets = neurons_per_rank / threads
    other_neurons = max(1, (ranks - 1) * neurons_per_rank)
    p_intra = probability(neurons_per_rank, indegree_intra * targets)
    p_inter = probability(other_neurons, indegree_inter * targets)
    return threads * (p_intra + (ranks - 1) * p_inter) / (indegree_intra + indegree_inter)


def reduction(
    neurons_per_rank: float, intra: float, inter: float, ranks: int, threads: int
) -> float:
    """Share of irregular accesses that the structure-aware schedule saves: 1 - f_struct / f_conv.

    L26, section 2.3. Arguments as those of `f_structure_aware`.

    Example:
        >>> round(reduction(1000, 50, 50, ranks=2, threads=1), 6)
        0.0
    """
    conventional = f_conventional(neurons_per_rank, intra + inter, ranks, threads)
    return 1 - f_structure_aware(neurons_per_rank, intra, inter, ranks, threads) / conventional


@dataclass(frozen=True)
class Access:
    """Expected irregular access of a network, as means over all networks that may be drawn."""

    ratio: float | None  #: first accesses per synaptic event; None if no spike meets a synapse
    lists: float  #: lists that hold at least one synapse, whole network
    possible_lists: int  #: lists that would, were in-degrees unlimited
    out_degree: np.ndarray  #: [population] synapses that one neuron's spike visits


def expected(
    description: dict[str, Any] | Description,
    ranks: int,
    threads: int,
    schedule: AnySchedule | None = None,
    placement: str | None = None,
    rates_hz: dict[str, float] | None = None,
) -> Access:
    """Irregular access of any network, placement and list of lanes (L26, eqs 13-17, generalised).

    Areas may be unequal and pools of sources shared. A neuron misses a list of K n synapses from a
    pool of N neurons with probability (1 - 1/N)^(K n), n being the target neurons on that virtual
    process; the misses of several projections into one list multiply. If in-degrees are Poisson
    with mean K, so is the number of draws: all miss with probability exp(-K n / N). How rates vary
    within a population does not matter, since they are independent of the neurons' lists.

    Args:
        description: a run description.
        ranks: number of ranks.
        threads: threads of each rank.
        schedule: name, or lanes; that of the description by default.
        placement: name, or file; that of the description by default, or of another `schedule`.
        rates_hz: mean rates by name of population, of which only the ratios matter; by default the
            described rates of `ignore_and_fire` populations.

    Raises:
        BadInput: for unknown names and impossible networks.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = mam_benchmark.describe(areas=2, neurons_per_area=600, indegree=40)
        >>> round(expected(network, ranks=2, threads=1, schedule="structure_aware").ratio, 6)
        0.05
    """
    description = read_description(description)
    network = description.network
    populations = network.populations
    chosen_schedule, chosen_placement = lanes.schedule_and_placement(
        description, schedule, placement
    )
    pairs_by_lane = lanes.pairs(description, chosen_schedule, chosen_placement, ranks)
    local = neurons(description, chosen_placement, ranks, threads)
    local = local.reshape(len(populations), ranks * threads)
    sizes = local.sum(axis=1)

    drawn = pools.source_pools(network)
    weights = sizes * pools.rates(populations, rates_hz)
    out_degree: np.ndarray = drawn.hits @ sizes
    events = float(weights @ out_degree)
    areas = np.array(network.area_of, dtype=np.int64)
    misses = drawn.misses.tocoo()
    source_areas, target_areas = areas[misses.row], areas[misses.col]
    in_a_lane = np.any(list(pairs_by_lane.values()), axis=0)[source_areas, target_areas]
    if not in_a_lane.all():
        first = int(np.argmin(in_a_lane))
        source = populations[misses.row[first]].name
        target = populations[misses.col[first]].name
        raise BadInput(
            f"schedule: no lane for synapses from population {source!r} to {target!r};"
            " every one needs a lane",
            field="schedule",
        )
    lists = np.zeros(len(local))
    possible_lists = 0
    for pairs in pairs_by_lane.values():
        inside = pairs[source_areas, target_areas]
        entries = (misses.data[inside], (misses.row[inside], misses.col[inside]))
        in_lane = sparse.coo_array(entries, misses.shape).tocsr()
        expected_lists, most_lists = _lists_per_neuron(in_lane, local)
        lists += expected_lists
        possible_lists += int(sizes @ most_lists)
    return Access(
        ratio=float(weights @ lists) / events if events else None,
        lists=float(sizes @ lists),
        possible_lists=possible_lists,
        out_degree=out_degree,
    )


def _lists_per_neuron(misses: sparse.csr_array, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists that a neuron of each population has in a lane: expected number and maximum.

    Virtual processes are taken a block at a time.

    Args:
        misses: log of the probability that a source has no synapse on one target neuron, of the
            pairs of populations in the lane, sparse [source population, target population].
        local: neurons, shape [population, virtual process].

    Returns:
        Two arrays, shape [population].
    """
    populations, processes = local.shape
    expected_lists = np.zeros(populations)
    most_lists = np.zeros(populations, dtype=np.int64)
    block = max(1, MAX_NUMBERS_AT_ONCE // max(1, populations))
    for first in range(0, processes, block):
        miss = misses @ local[:, first : first + block]
        expected_lists -= np.expm1(miss).sum(axis=1)
        most_lists += (miss < 0).sum(axis=1)
    return expected_lists, most_lists
