"""What every rank and thread has to do in an average cycle, as counts; a machine determines their times.

These are eqs 13-17 of Lober et al. (2026) per rank and thread instead of for all: lists entered and synapses
visited by `network.pools`, for any placement, lanes and projections. Nothing is drawn or built: virtual
processes with as many neurons of every population are one column. All counts are expectations per cycle.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.models.loggp import BROADCASTS
from spikemark.network import lanes, pools, ring
from spikemark.network.description import Description, read
from spikemark.network.lanes import Lane
from spikemark.network.placement import neurons as neurons_of
from spikemark.network.placement_file import Placement
from spikemark.network.presets import published_rates
from spikemark.network.ring import Ring
from spikemark.network.schedules import Schedule


@dataclass(frozen=True, eq=False)
class Loads:
    """Counts per cycle; `column` [rank, thread] says which column represents a thread.

    Each is equal to itself only, so that what follows from it can be kept.
    """

    ranks: int
    threads: int
    lanes: list[Lane]
    column: np.ndarray
    lists: np.ndarray  # [lane, column], lists entered
    events: np.ndarray  # [column], synapses visited
    neurons: np.ndarray  # [population, column]
    synapses: np.ndarray  # [rank], of all lanes
    words: np.ndarray  # [lane, sender, receiver], spikes that the receiver needs
    sending: np.ndarray  # [population, rank], spikes fired
    unmet: np.ndarray  # [lane, population, rank], log of the probability that a neuron has no list there
    external: float  # events from outside in the whole network
    schedule: Schedule
    placement: str
    description: Description = field(repr=False)
    ring: Ring

    @classmethod
    def of(
        cls, description: dict | Description, ranks: int, threads: int, hz: np.ndarray,
        schedule: str | list | Schedule | None = None, placement: str | None = None,
    ) -> "Loads":  # fmt: skip
        """Loads of a network that fires with `hz` [population].

        Raises BadInput for a network that cannot be run.
        """
        return Counting(description, hz).loads(ranks, threads, schedule, placement)

    @property
    def steps(self) -> int:
        """Steps of a cycle."""
        return self.description.time.cycle_steps

    @property
    def cycle_s(self) -> float:
        """Simulated time of a cycle."""
        return 1e-3 * self.description.time.cycle_ms

    def of_rank(self, of_column: np.ndarray) -> np.ndarray:
        """Sums over the threads of each rank, [..., rank]."""
        return of_column[..., self.column].sum(axis=-1)

    def onto(self, lane: int, members: np.ndarray, sets: np.ndarray) -> np.ndarray:
        """Spikes of each of these ranks that any rank of a set needs, [member, set].

        `members` are ranks, and `sets` [member] is the number of the set that each is in.
        """
        inside = (sets[:, None] == np.arange(sets.max() + 1)).astype(float)
        return pools.needed(self.sending[:, members], self.unmet[lane][:, members] @ inside)

    @cached_property
    def held(self) -> np.ndarray:
        """Neurons of all populations, [column]."""
        return self.neurons.sum(axis=0)

    @property
    def delay_ratio(self) -> int | None:
        """D; None where no lane uses it."""
        return lanes.delay_ratio(self.schedule, self.lanes)

    @property
    def largest_delay_ratio(self) -> int | None:
        """The largest D that is exact; None where no lane uses it."""
        return lanes.largest_delay_ratio(self.description, self.schedule, self.lanes)

    @property
    def spikes(self) -> np.ndarray:
        """Spikes fired, [rank]."""
        return self.sending.sum(axis=0)

    @property
    def arriving(self) -> np.ndarray:
        """Spikes that every thread of a rank goes through, [rank]."""
        return self.words.sum(axis=(0, 1))

    @cached_property
    def routes(self) -> np.ndarray:
        """Words that a rank writes into send buffers, [lane, rank]: one for every rank that needs a spike; of
        a broadcast, one for every spike that any rank of the lane's group needs."""
        found = self.words.sum(axis=2)
        for number, lane in enumerate(self.lanes):
            for group in np.unique(lane.group) if lane.exchange in BROADCASTS else ():
                members = np.flatnonzero(lane.group == group)
                found[number, members] = self.onto(number, members, np.zeros(len(members), int))[:, 0]
        return found

    @property
    def collocated(self) -> np.ndarray:
        """The same of all lanes, [rank]."""
        return self.routes.sum(axis=0)

    @property
    def total_events(self) -> float:
        """Synaptic events of the whole network, recurrent ones alone."""
        return float(self.of_rank(self.events).sum())

    @property
    def events_per_s(self) -> float:
        """Synaptic events in a simulated second, those from outside included."""
        return (self.total_events + self.external) / self.cycle_s


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
        self.placed, self.counted = lru_cache(maxsize=None)(self._placed), {}

    def loads(
        self, ranks: int, threads: int, schedule: str | list | Schedule | None = None,
        placement: str | Placement | None = None, **changed: Any,
    ) -> Loads:  # fmt: skip
        """The loads of so many ranks; `changed`: fields of the description besides its network and time.

        Raises BadInput for what the mini-app would refuse.
        """
        description = self.description.model_copy(update=changed) if changed else self.description
        schedule, placement = lanes.chosen(description, schedule, placement)
        column, neurons, on_rank = self.placed(placement, ranks, threads)
        used = lanes.read(description, ranks, schedule, placement)
        fired = self.sizes * self.per_neuron  # spikes of each population per cycle
        visits = self.drawn.hits.T @ fired  # synapses visited per target neuron
        sending = self.per_neuron[:, None] * on_rank
        counts = [self._lane(lane, (placement, ranks, threads)) for lane in used]
        lists, words, unmet = (np.array(each) for each in zip(*counts, strict=True))
        synapses = (self.drawn.hits.T @ self.sizes) @ on_rank
        return Loads(
            ranks, threads, used, column, lists, visits @ neurons, neurons, synapses, words, sending, unmet,
            self.external, schedule, placement, description, self.ring,
        )  # fmt: skip

    def _placed(self, placement: str, ranks: int, threads: int) -> tuple[np.ndarray, ...]:
        """The column of each virtual process [rank, thread], one for all that are equal; the neurons of each
        column [population, column] and of each rank [population, rank]."""
        local = neurons_of(self.description, placement, ranks, threads)
        flat = local.reshape(len(local), -1)
        marks = np.random.default_rng(1).integers(1, 2**62, size=len(flat)) @ flat
        _, first, column = np.unique(marks, return_index=True, return_inverse=True)
        return column.reshape(local.shape[1:]), flat[:, first].astype(float), local.sum(axis=2)

    def _lane(self, lane: Lane, where: tuple[str, int, int]) -> tuple[np.ndarray, ...]:
        """Loads of a lane: lists entered [column], spikes sent [sender, receiver], `unmet`."""
        key = (*where, lane.held.tobytes())
        if key not in self.counted:
            _, neurons, on_rank = self.placed(*where)
            entries = self.drawn.misses.tocoo()  # pairs of populations; those of the lane count
            kept = lane.held[self.areas[entries.row], self.areas[entries.col]]
            at = entries.row[kept], entries.col[kept]
            misses = sparse.coo_array((entries.data[kept], at), entries.shape).tocsr()
            unmet = misses @ on_rank
            self.counted[key] = (
                (self.sizes * self.per_neuron) @ -np.expm1(misses @ neurons),
                pools.needed(self.per_neuron[:, None] * on_rank, unmet),
                unmet,
            )
        return self.counted[key]


@dataclass(frozen=True)
class Rates:
    """`hz` [population] are spikes per neuron and second; `source` says where they come from."""

    hz: np.ndarray
    source: str


def rates_of(
    description: dict | Description, given: float | dict[str, float] | None = None,
    preset: str | None = None, options: dict | None = None,
) -> Rates:  # fmt: skip
    """Rates of all populations.

    `given` rates, in Hz, for all or by name, take precedence over the description's own, and these over those
    published for the preset with these options. Raises BadInput if there are none, or if one is impossible.
    """
    known = read(description)
    populations = known.network.populations
    if isinstance(given, dict):
        rates, source = pools.rates(populations, given), "given by population"
    elif given is not None:
        rates, source = np.full(len(populations), float(given)), f"given: {given:g} Hz"
    elif all(p.neuron.model == "ignore_and_fire" for p in populations):
        rates, source = pools.rates(populations, None), "of the description"
    elif found := published_rates(preset, options):
        rates = np.array([found.hz.get(p.name, found.mean_hz) for p in populations], dtype=float)
        source = found.source
    else:
        silent = next(p.name for p in populations if p.neuron.model != "ignore_and_fire")
        raise BadInput(
            f"rate: missing; population {silent!r} has none, nor was one published for this network;"
            " expected a mean rate in Hz, as in --rate 5"
        )
    most = 1000 / known.time.resolution_ms
    for wrong in rates[~(np.isfinite(rates) & (rates >= 0) & (rates <= most))][:1]:
        raise BadInput.of("rate", float(wrong), f"0 to {most:g} Hz, a spike in every step")
    return Rates(rates, source)
