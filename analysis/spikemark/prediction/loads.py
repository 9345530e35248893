"""What every rank and thread has to do in an average cycle, as counts; a machine determines their times.

These are eqs 13-17 of Lober et al. (2026) per rank and thread instead of for all: lists entered and synapses
visited by `network.pools`, for any placement, lanes and projections. Nothing is drawn or built: virtual
processes with as many neurons of every population are one column. All counts are expectations per cycle.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from spikemark.network import lanes, pools, ring
from spikemark.network.description import Description, read
from spikemark.network.lanes import Lane
from spikemark.network.placement import neurons as neurons_of
from spikemark.network.ring import Ring
from spikemark.network.schedules import Schedule


@dataclass(frozen=True)
class Loads:
    """Counts per cycle; `column` [rank, thread] says which column represents a thread."""

    ranks: int
    threads: int
    steps: int  # steps of a cycle
    cycle_s: float  # simulated time of a cycle
    lanes: list[Lane]
    column: np.ndarray
    lists: np.ndarray  # [lane, column], lists entered
    events: np.ndarray  # [column], synapses visited
    neurons: np.ndarray  # [population, column]
    stored: np.ndarray  # [lane, rank], lists that the rank holds, by source (not by thread)
    synapses: np.ndarray  # [rank]
    words: np.ndarray  # [lane, sender, receiver], spikes sent
    spikes: np.ndarray  # [rank], spikes fired
    external: float  # events from outside in the whole network
    placement: str
    description: Description = field(repr=False)
    ring: Ring

    @classmethod
    def of(
        cls,
        description: dict | Description,
        ranks: int,
        threads: int,
        hz: np.ndarray,
        schedule: str | list | Schedule | None = None,
        placement: str | None = None,
    ) -> "Loads":
        """Loads of a network that fires with `hz` [population].

        Raises BadInput for a network that cannot be run.
        """
        description = read(description)
        network, time = description.network, description.time
        schedule, placement = lanes.chosen(description, schedule, placement)
        local = neurons_of(description, placement, ranks, threads)
        column, neurons = _columns(local)
        on_rank = local.sum(axis=2)
        sizes = on_rank.sum(axis=1)
        drawn = pools.read(network)
        used = lanes.read(description, ranks, schedule, placement)
        per_neuron = hz * 1e-3 * time.cycle_ms
        fired = sizes * per_neuron  # spikes of each population per cycle
        visits = drawn.hits.T @ fired  # synapses visited per target neuron
        indegrees = drawn.hits.T @ sizes  # of a neuron of each population
        areas = np.array(network.area_of, dtype=np.int64)
        lists, stored, words = [], [], []
        for lane in used:
            misses = _inside(drawn.misses, lane.held, areas)
            lists.append(fired @ -np.expm1(misses @ neurons))
            has = -np.expm1(misses @ on_rank)  # [population, rank]: how probably a rank has a list
            stored.append(sizes @ has)
            words.append((per_neuron[:, None] * on_rank).T @ has)
        events_from_outside = sum(p.size * p.outside_hz for p in network.populations)
        return cls(
            ranks, threads, time.cycle_steps, 1e-3 * time.cycle_ms, used, column,
            np.array(lists), visits @ neurons, neurons, np.array(stored),
            indegrees @ on_rank, np.array(words), per_neuron @ on_rank,
            events_from_outside * 1e-3 * time.cycle_ms, placement, description, ring.of(description),
        )  # fmt: skip

    def of_rank(self, of_column: np.ndarray) -> np.ndarray:
        """Sums over the threads of each rank, [..., rank]."""
        return of_column[..., self.column].sum(axis=-1)

    @property
    def arriving(self) -> np.ndarray:
        """Spikes that every thread of a rank goes through, [rank]."""
        return self.words.sum(axis=(0, 1))

    @property
    def collocated(self) -> np.ndarray:
        """Words that a rank writes into send buffers, [rank]; one for every rank that needs a spike."""
        return self.words.sum(axis=(0, 2))

    @property
    def total_events(self) -> float:
        """Synaptic events of the whole network."""
        return float(self.of_rank(self.events).sum())


def _inside(misses: sparse.csr_array, held: np.ndarray, areas: np.ndarray) -> sparse.csr_array:
    """The entries of pairs of populations that are in a lane."""
    entries = misses.tocoo()
    kept = held[areas[entries.row], areas[entries.col]]
    return sparse.coo_array(
        (entries.data[kept], (entries.row[kept], entries.col[kept])), misses.shape
    ).tocsr()


def _columns(local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One column for all equal virtual processes [population, rank, thread].

    Returns the column of each, [rank, thread], and the neurons of each column, [population, column].
    """
    flat = local.reshape(len(local), -1)
    weights = np.random.default_rng(1).integers(1, 2**62, size=len(flat), dtype=np.uint64)
    with np.errstate(over="ignore"):
        marks = (weights[:, None] * flat.astype(np.uint64)).sum(axis=0)
    _, first, column = np.unique(marks, return_index=True, return_inverse=True)
    return column.reshape(local.shape[1:]), flat[:, first].astype(float)
