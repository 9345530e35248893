"""What every rank and thread has to do in an average cycle, as counts; a machine determines their times.

These are eqs 13-17 of Lober et al. (2026) per rank and thread instead of for all: lists entered and synapses
visited by `network.pools`, for any placement, lanes and projections. Nothing is drawn or built: virtual
processes with as many neurons of every population are one column. All counts are expectations per cycle.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy import sparse

from spikemark.network import lanes, pools, ring
from spikemark.network.description import Description, read
from spikemark.network.lanes import Lane
from spikemark.network.placement import neurons as neurons_of
from spikemark.network.ring import Ring
from spikemark.network.schedules import Schedule


@dataclass(frozen=True, eq=False)
class Loads:
    """Counts per cycle; `column` [rank, thread] says which column represents a thread.

    Each is equal to itself only, so that what follows from it can be kept.
    """

    ranks: int
    threads: int
    steps: int  # steps of a cycle
    cycle_s: float  # simulated time of a cycle
    lanes: list[Lane]
    column: np.ndarray
    lists: np.ndarray  # [lane, column], lists entered
    events: np.ndarray  # [column], synapses visited
    kept: np.ndarray  # [column], synapses
    neurons: np.ndarray  # [population, column]
    stored: np.ndarray  # [lane, rank], lists that the rank holds, by source (not by thread)
    held: np.ndarray  # [lane, rank], synapses
    words: np.ndarray  # [lane, sender, receiver], spikes sent
    sending: np.ndarray  # [population, rank], spikes fired
    unmet: np.ndarray  # [lane, population, rank], log of the probability that a neuron has no list there
    spikes: np.ndarray  # [rank], spikes fired
    external: float  # events from outside in the whole network
    schedule: Schedule
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
        return Counting(description, hz).loads(ranks, threads, schedule, placement)

    def of_rank(self, of_column: np.ndarray) -> np.ndarray:
        """Sums over the threads of each rank, [..., rank]."""
        return of_column[..., self.column].sum(axis=-1)

    def onto(self, lane: int, members: np.ndarray, sets: np.ndarray) -> np.ndarray:
        """Spikes of each of these ranks that any rank of a set needs, [member, set].

        `members` are ranks, and `sets` [member] is the number of the set that each is in.
        """
        inside = (sets[:, None] == np.arange(sets.max() + 1)).astype(float)
        return self.sending[:, members].T @ -np.expm1(self.unmet[lane][:, members] @ inside)

    @property
    def synapses(self) -> np.ndarray:
        """Synapses of all lanes, [rank]."""
        return self.held.sum(axis=0)

    @property
    def delay_ratio(self) -> int | None:
        """D; None where no lane uses it."""
        return lanes.delay_ratio(self.schedule, self.lanes)

    @property
    def largest_delay_ratio(self) -> int | None:
        """The largest D that is exact; None where no lane uses it."""
        return lanes.largest_delay_ratio(self.description, self.schedule, self.lanes)

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


class Counting:
    """Counts the loads of one network in many ways of running it; what these share is counted once."""

    def __init__(self, description: dict | Description, hz: np.ndarray):
        """`hz` [population] are the rates. Raises BadInput for a network that cannot be run."""
        self.description = read(description)
        network, time = self.description.network, self.description.time
        self.per_neuron = hz * 1e-3 * time.cycle_ms  # spikes of a neuron per cycle
        self.sizes = np.array([p.size for p in network.populations], dtype=np.int64)
        self.areas = np.array(network.area_of, dtype=np.int64)
        from_outside = sum(p.size * p.outside_hz for p in network.populations)
        self.external = from_outside * 1e-3 * time.cycle_ms
        self.drawn, self.ring = pools.read(network), ring.of(self.description)
        self.placed = lru_cache(maxsize=None)(self._placed)
        self.counted: dict[tuple, tuple[np.ndarray, ...]] = {}

    def loads(
        self,
        ranks: int,
        threads: int,
        schedule: str | list | Schedule | None = None,
        placement: str | None = None,
        **changed,
    ) -> Loads:
        """The loads of so many ranks; `changed`: fields of the description besides its network and time.

        Raises BadInput for what the mini-app would refuse.
        """
        description = self.description.model_copy(update=changed) if changed else self.description
        schedule, placement = lanes.chosen(description, schedule, placement)
        placed = self.placed(placement, ranks, threads)
        used = lanes.read(description, ranks, schedule, placement)
        fired = self.sizes * self.per_neuron  # spikes of each population per cycle
        visits = self.drawn.hits.T @ fired  # synapses visited per target neuron
        indegree = self.drawn.hits.T @ self.sizes
        counts = [self._lane(lane, placed, (placement, ranks, threads)) for lane in used]
        sending = self.per_neuron[:, None] * placed.on_rank
        lists, stored, words, held, unmet = (np.array(each) for each in zip(*counts, strict=True))
        return Loads(
            ranks, threads, description.time.cycle_steps, 1e-3 * description.time.cycle_ms, used,
            placed.column, lists, visits @ placed.neurons, indegree @ placed.neurons, placed.neurons,
            stored, held, words, sending, unmet, sending.sum(axis=0),
            self.external, schedule, placement, description, self.ring,
        )  # fmt: skip

    def _placed(self, placement: str, ranks: int, threads: int) -> "_Placed":
        local = neurons_of(self.description, placement, ranks, threads)
        return _Placed(*_columns(local), local.sum(axis=2))

    def _lane(self, lane: Lane, placed: "_Placed", where: tuple) -> tuple:
        """Loads of a lane: lists entered [column], held [rank], spikes sent [sender, receiver], synapses held
        [rank], `unmet` [population, rank]."""
        key = (*where, lane.held.tobytes())
        if key not in self.counted:
            misses = _inside(self.drawn.misses, lane.held, self.areas)
            unmet = misses @ placed.on_rank
            has = -np.expm1(unmet)  # [population, rank]: how probably a rank has a list
            self.counted[key] = (
                (self.sizes * self.per_neuron) @ -np.expm1(misses @ placed.neurons),
                self.sizes @ has,
                (self.per_neuron[:, None] * placed.on_rank).T @ has,
                (_inside(self.drawn.hits, lane.held, self.areas).T @ self.sizes) @ placed.on_rank,
                unmet,
            )
        return self.counted[key]


@dataclass(frozen=True)
class _Placed:
    """Where neurons are; `column` and `neurons` as in Loads."""

    column: np.ndarray
    neurons: np.ndarray
    on_rank: np.ndarray  # [population, rank]


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
