"""Irregular memory access in spike delivery (Lober et al. 2026, section 2.3, eqs 13-17).

The first synapse of a spike on a thread is somewhere in memory, the following ones lie behind it. The share
of irregular accesses is the number of synapse lists a spike enters over the number of synapses it visits; the
mini-app counts both (`totals.first_accesses`, `totals.synaptic_events`). A list holds the synapses of one
source on one virtual process (rank, thread) in one lane.
"""

import math
from dataclasses import dataclass

import numpy as np

from spikemark.errors import BadInput
from spikemark.models import lanes
from spikemark.models import placement as placements

# ln(1 - 1/1), the one pool in which no draw can miss, as a number that survives being multiplied by 0
CERTAIN = -1e9


def p(sources: float, synapses: float) -> float:
    """Probability that a source has one of `synapses` drawn uniformly from `sources` neurons (eq 13)."""
    if sources < 1 or synapses < 0:
        raise BadInput(f"sources={sources}, synapses={synapses}: at least 1 source and 0 synapses")
    return -math.expm1(synapses * _log_miss(sources))


def f_conventional(neurons_per_rank: float, indegree: float, ranks: int, threads: int) -> float:
    """Share of irregular accesses with round-robin placement, M T p / K (eqs 13-14).

    `neurons_per_rank` N_M, `indegree` K of all synapses, `ranks` M, `threads` T of one rank. Raises BadInput
    for values the network cannot have.
    """
    _check(neurons_per_rank, ranks, threads, indegree)
    n_thread = neurons_per_rank / threads
    return ranks * threads * p(neurons_per_rank * ranks, indegree * n_thread) / indegree


def f_structure_aware(
    neurons_per_rank: float, indegree_intra: float, indegree_inter: float, ranks: int, threads: int
) -> float:
    """Share of irregular accesses with one area per rank, (T p_intra + T (M - 1) p_inter) / K (eqs 15-17).

    With one rank there are no other areas, and `indegree_inter` must be 0. Raises BadInput as f_conventional.
    """
    indegree = indegree_intra + indegree_inter
    _check(neurons_per_rank, ranks, threads, indegree)
    if min(indegree_intra, indegree_inter) < 0 or (ranks == 1 and indegree_inter):
        raise BadInput(
            f"indegree_inter={indegree_inter}, ranks={ranks}: needs a second rank, and is not negative"
        )
    n_thread = neurons_per_rank / threads
    near = threads * p(neurons_per_rank, indegree_intra * n_thread)
    others = (ranks - 1) * neurons_per_rank
    far = threads * (ranks - 1) * p(others, indegree_inter * n_thread) if ranks > 1 else 0.0
    return (near + far) / indegree


def reduction(
    neurons_per_rank: float, indegree_intra: float, indegree_inter: float, ranks: int, threads: int
) -> float:
    """1 - f_struct / f_conv: the share of irregular accesses that the structure-aware schedule saves."""
    conventional = f_conventional(neurons_per_rank, indegree_intra + indegree_inter, ranks, threads)
    return (
        1 - f_structure_aware(neurons_per_rank, indegree_intra, indegree_inter, ranks, threads) / conventional
    )


@dataclass(frozen=True)
class Access:
    """Expected irregular access of a network as run; expectations over the drawing of the network."""

    ratio: float | None  # first accesses per synaptic event; None if no spike meets a synapse
    ratio_by_lane: dict[str, float]  # the lanes' parts of it, over the events of all lanes
    lists: float  # lists that hold at least one synapse, whole network
    possible_lists: int  # lists that would, were in-degrees unlimited
    lists_per_neuron: np.ndarray  # [population], lists one neuron's spike enters
    out_degree: np.ndarray  # [population], synapses one neuron's spike visits


def expected(
    description: dict,
    ranks: int,
    threads: int,
    schedule: str | list[dict] | None = None,
    placement: str | None = None,
    rates_hz: dict[str, float] | None = None,
) -> Access:
    """Eqs 13-17 for any populations and projections: unequal areas, shared source pools, any placement.

    A neuron misses a list of K n synapses from a pool of N neurons with probability (1 - 1/N)^(K n), n being
    the target neurons on that virtual process; the misses of several projections into one list multiply.
    `schedule` and `placement` default to those of the run description, another schedule to its own placement;
    `rates_hz` (by population name; only their ratios matter) to the description's `neuron.rate_hz`, without
    the spread of rates within a population. Raises BadInput for unknown names,
    impossible networks and lanes that depend on the ranks.
    """
    populations = description["network"]["populations"]
    described = description.get("schedule", "conventional")
    schedule = schedule or described
    by_lane = lanes.pairs(schedule, placements.area_names(populations))
    if placement is None and schedule == described:
        placement = description.get("placement")
    if placement is None:
        placement = "round_robin" if schedule == "conventional" else "area"
    local = placements.neurons(description, placement, ranks, threads)
    local = local.reshape(len(populations), ranks * threads)
    sizes = local.sum(axis=1)

    pools, targets, indegrees = _projections(description, populations)
    pool_sizes = pools @ sizes
    for number in np.flatnonzero((pool_sizes == 0) & (indegrees * sizes[targets] > 0)):
        raise BadInput(
            f"network.projections.{number}: indegree={indegrees[number]}; allowed is 0, its sources are empty"
        )
    held = np.any(list(by_lane.values()), axis=0)[:, targets]
    for number in np.flatnonzero(
        ((pools * sizes > 0) & ~held.T).any(axis=1) & (indegrees * sizes[targets] > 0)
    ):
        raise BadInput(
            f"schedule: no lane for synapses of network.projections.{number}; every one needs a lane"
        )
    # chance that one draw of the projection hits a given neuron of the population: [projection, population]
    hit = pools / np.maximum(pool_sizes, 1)[:, None]
    miss = np.full_like(hit, CERTAIN)
    np.log1p(-hit, out=miss, where=hit < 1)
    drawn = indegrees[:, None] * local[targets]  # synapses on each virtual process: [projection, vp]

    weights = sizes * _rates(populations, rates_hz)
    out_degree = drawn.sum(axis=1) @ hit
    events = float(weights @ out_degree)
    entered = {
        name: -np.expm1((miss.T * pairs[:, targets]) @ drawn).sum(axis=1) for name, pairs in by_lane.items()
    }
    reached = [((pools.T * pairs[:, targets]) @ drawn > 0).sum(axis=1) for pairs in by_lane.values()]
    lists = sum(entered.values())
    return Access(
        ratio=float(weights @ lists) / events if events else None,
        ratio_by_lane={name: float(weights @ part) / events for name, part in entered.items() if events},
        lists=float(sizes @ lists),
        possible_lists=int(sizes @ sum(reached)),
        lists_per_neuron=lists,
        out_degree=out_degree,
    )


def _projections(description: dict, populations: list[dict]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times a population is in a source pool [projection, population]; targets, in-degrees [projection]."""
    number = {population["name"]: i for i, population in enumerate(populations)}
    projections = description["network"].get("projections", [])
    pools = np.zeros((len(projections), len(populations)), dtype=np.int64)
    targets = np.zeros(len(projections), dtype=np.int64)
    indegrees = np.zeros(len(projections), dtype=np.int64)
    for i, projection in enumerate(projections):
        names = [projection["source"]] if isinstance(projection["source"], str) else projection["source"]
        for name in (*names, projection["target"]):
            if name not in number:
                raise BadInput(
                    f"network.projections.{i}: no population {name!r}; there are {', '.join(number)}"
                )
        for name in names:
            pools[i, number[name]] += 1  # a population named twice counts twice, as in the mini-app
        targets[i], indegrees[i] = number[projection["target"]], projection["indegree"]
    return pools, targets, indegrees


def _rates(populations: list[dict], rates_hz: dict[str, float] | None) -> np.ndarray:
    if rates_hz is None:
        rates_hz = {p["name"]: p["neuron"]["rate_hz"] for p in populations if "rate_hz" in p["neuron"]}
    for population in populations:
        if population["name"] not in rates_hz:
            raise BadInput(
                f"rates_hz: no rate of population {population['name']!r}, and no neuron.rate_hz for it"
            )
    return np.array([rates_hz[population["name"]] for population in populations], dtype=float)


def _log_miss(sources: float) -> float:
    """ln(1 - 1/N): log probability that one draw from N neurons misses a given one."""
    return math.log1p(-1 / sources) if sources > 1 else CERTAIN


def _check(neurons_per_rank: float, ranks: int, threads: int, indegree: float) -> None:
    values = {"neurons_per_rank": neurons_per_rank, "ranks": ranks, "threads": threads}
    for name, value in values.items():
        if value < 1:
            raise BadInput(f"{name}={value}: at least 1")
    if indegree <= 0:
        raise BadInput(f"indegree={indegree}: above 0")
