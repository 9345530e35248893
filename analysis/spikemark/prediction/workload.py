"""What every rank and thread has to do in an average cycle, as counts; a machine determines their
times.

These are eqs 13-17 of Lober et al. (2026) per rank and thread instead of for all: lists entered and
synapses visited by `network.pools`, for any placement, lanes and projections. Nothing is drawn or
built: virtual processes with as many neurons of every population are one column. All counts are
expectations per cycle.

Memory grows with the square of the ranks: each lane has a matrix of the words from rank to rank.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import lanes, pools, ring
from spikemark.network.description import Description, read_description
from spikemark.network.exchanges import BROADCASTS
from spikemark.network.lanes import Lane
from spikemark.network.placement import DealtNeurons, pieces_on_ranks
from spikemark.network.placement_file import Placement
from spikemark.network.presets import published_rates
from spikemark.network.ring import Ring
from spikemark.network.schedules import Schedule

#: Neuron model whose rate is part of its description.
WITH_RATE = "ignore_and_fire"
MAX_AT_ONCE = 1 << 20  #: numbers of neurons that are counted side by side, piece x place


@dataclass(frozen=True, eq=False)
class Loads:
    """Counts per cycle of a network that is run in one way.

    A column stands for all threads that hold equally many neurons of every population. Each object
    is equal to itself only, so that what follows from it can be kept.
    """

    ranks: int
    threads: int  #: of a rank
    lanes: list[Lane]
    column: np.ndarray  #: [rank, thread], the column that represents a thread
    lists: np.ndarray  #: [lane, column], lists entered
    events: np.ndarray  #: [column], synapses visited
    neurons: np.ndarray  #: [population, column]
    synapses: np.ndarray  #: [rank], of all lanes
    words: np.ndarray  #: [lane, sender, receiver], spikes that the receiver needs
    sending: np.ndarray  #: [population, rank], spikes fired
    #: [lane, population, rank], log of the probability that a neuron has no list there
    unmet: np.ndarray
    external: float  #: events from outside in the whole network
    schedule: Schedule
    placement: str | Placement
    description: Description = field(repr=False)
    ring: Ring

    @classmethod
    def count(
        cls,
        description: dict[str, Any] | Description,
        ranks: int,
        threads: int,
        hz: np.ndarray,
        schedule: str | list[Any] | Schedule | None = None,
        placement: str | Placement | None = None,
    ) -> "Loads":
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
        """Simulated time of a cycle, in seconds."""
        return 1e-3 * self.description.time.cycle_ms

    def of_rank(self, of_column: np.ndarray) -> np.ndarray:
        """Sums over the threads of each rank, [..., rank], of counts [..., column]."""
        sums: np.ndarray = of_column[..., self.column].sum(axis=-1)
        return sums

    def onto(self, lane: int, members: np.ndarray, sets: np.ndarray) -> np.ndarray:
        """Spikes of each of these ranks that any rank of a set needs, [member, set].

        `members` are ranks, and `sets` [member] is the number of the set that each is in.
        """
        is_in = (sets[:, None] == np.arange(sets.max() + 1)).astype(float)  # [member, set]
        unmet_by_set = self.unmet[lane][:, members] @ is_in
        needed: np.ndarray = pools.neurons_with_targets(self.sending[:, members], unmet_by_set)
        return needed

    @cached_property
    def held(self) -> np.ndarray:
        """Neurons of all populations, [column]."""
        held: np.ndarray = self.neurons.sum(axis=0)
        return held

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
        spikes: np.ndarray = self.sending.sum(axis=0)
        return spikes

    @property
    def arriving(self) -> np.ndarray:
        """Spikes that every thread of a rank goes through, [rank]."""
        arriving: np.ndarray = self.words.sum(axis=(0, 1))
        return arriving

    @cached_property
    def routes(self) -> np.ndarray:
        """Words that a rank writes into send buffers, [lane, rank].

        A spike is a word for every rank that needs it; in a broadcast it is one word, if any rank
        of the lane's group needs it.
        """
        routes: np.ndarray = self.words.sum(axis=2)
        for number, lane in enumerate(self.lanes):
            if lane.exchange not in BROADCASTS:
                continue
            for group in np.unique(lane.group):
                members = np.flatnonzero(lane.group == group)
                all_in_one_set = np.zeros(len(members), int)
                routes[number, members] = self.onto(number, members, all_in_one_set)[:, 0]
        return routes

    @property
    def collocated(self) -> np.ndarray:
        """Words that a rank writes into send buffers of all lanes, [rank]."""
        collocated: np.ndarray = self.routes.sum(axis=0)
        return collocated

    @property
    def total_events(self) -> float:
        """Synaptic events of the whole network, recurrent ones alone."""
        return float(self.of_rank(self.events).sum())

    @property
    def events_per_s(self) -> float:
        """Synaptic events in a simulated second, those from outside included."""
        return (self.total_events + self.external) / self.cycle_s


class PlacedNeurons(NamedTuple):
    """Where the neurons of a network are."""

    column: np.ndarray  #: [rank, thread], one column for all virtual processes that are equal
    in_column: np.ndarray  #: [population, column], neurons
    on_rank: np.ndarray  #: [population, rank], neurons


class LaneCounts(NamedTuple):
    """Loads of a lane."""

    lists: np.ndarray  #: [column], lists entered
    words: np.ndarray  #: [sender, receiver], spikes that the receiver needs
    unmet: np.ndarray  #: [population, rank], see Loads


class Counting:
    """Counts the loads of one network in many ways of running it; what these share is counted
    once.

    Attributes:
        description: the network.
        per_neuron: [population], spikes of a neuron per cycle.
        external: events from outside in the whole network, per cycle.
    """

    def __init__(self, description: dict[str, Any] | Description, hz: np.ndarray) -> None:
        """`hz` [population] are the rates. Raises BadInput for a network that cannot be run."""
        self.description = read_description(description)
        network = self.description.network
        cycle_ms = self.description.time.cycle_ms
        self.per_neuron = hz * 1e-3 * cycle_ms
        self.sizes = np.array([p.size for p in network.populations], dtype=np.int64)
        self.areas = np.array(network.area_of, dtype=np.int64)
        from_outside_hz = sum(p.size * p.outside_hz for p in network.populations)
        self.external = from_outside_hz * 1e-3 * cycle_ms
        self.pools = pools.source_pools(network)
        self.placed = lru_cache(maxsize=None)(self._placed)
        self._lane_counts: dict[tuple[object, ...], LaneCounts] = {}
        self._misses_of_areas: dict[bytes, pools.Matrix] = {}  # by what a lane holds

    @cached_property
    def ring(self) -> Ring:
        """The rings of input of a thread."""
        return ring.input_ring(self.description)

    @cached_property
    def hits(self) -> pools.Matrix:
        """Expected synapses of a neuron from a source neuron, [source, target] population."""
        return self.pools.matrix(self.pools.pair_hits)

    @cached_property
    def visits(self) -> np.ndarray:
        """Synapses visited per target neuron in a cycle, [population]."""
        fired = self.sizes * self.per_neuron  # spikes of each population per cycle
        visits: np.ndarray = self.hits.T @ fired
        return visits

    @property
    def events_per_s(self) -> float:
        """Synaptic events in a simulated second, those from outside included."""
        cycle_s = 1e-3 * self.description.time.cycle_ms
        return (float(self.visits @ self.sizes) + self.external) / cycle_s

    def loads(
        self,
        ranks: int,
        threads: int,
        schedule: str | list[Any] | Schedule | None = None,
        placement: str | Placement | None = None,
        **changed: object,
    ) -> Loads:
        """The loads of so many ranks of so many threads.

        `changed`: fields of the description besides its network and time. Raises BadInput for what
        the mini-app would refuse.
        """
        description = self.description.model_copy(update=changed) if changed else self.description
        # A Placement is passed through: its ranges are taken as they are.
        named = cast("str | None", placement)
        schedule, placement = lanes.schedule_and_placement(description, schedule, named)
        placed = self.placed(placement, ranks, threads)
        used = lanes.plan_lanes(description, ranks, schedule, placement)
        counts = [self._lane(lane, (placement, ranks, threads)) for lane in used]
        return Loads(
            ranks=ranks,
            threads=threads,
            lanes=used,
            column=placed.column,
            lists=np.array([lane.lists for lane in counts]),
            events=self.visits @ placed.in_column,
            neurons=placed.in_column,
            synapses=(self.hits.T @ self.sizes) @ placed.on_rank,
            words=np.array([lane.words for lane in counts]),
            sending=self.per_neuron[:, None] * placed.on_rank,
            unmet=np.array([lane.unmet for lane in counts]),
            external=self.external,
            schedule=schedule,
            placement=placement,
            description=description,
            ring=self.ring,
        )

    def _placed(self, placement: str | Placement, ranks: int, threads: int) -> PlacedNeurons:
        """Where a placement puts the neurons. Equal virtual processes are found by a hash."""
        dealt_on: dict[tuple[int, int], list[DealtNeurons]] = {}
        named = cast(str, placement)
        for piece in pieces_on_ranks(self.description, named, ranks, threads):
            dealt_on.setdefault((piece.rank, piece.over), []).append(piece)
        # By the ranks that take turns: [piece, field of DealtNeurons].
        pieces_on = {where: np.array(pieces) for where, pieces in dealt_on.items()}
        factors = np.random.default_rng(1).integers(1, 2**62, size=len(self.sizes))
        mixed = np.zeros((threads, ranks), dtype=np.int64)
        on_rank = np.zeros((len(self.sizes), ranks), dtype=np.int64)
        for (rank, over), pieces in pieces_on.items():
            on = slice(rank, rank + over)
            _add_dealt(on_rank[:, on], pieces, np.arange(over), over)
            mixed[:, on] += _mixed(pieces, factors, over * threads).reshape(threads, over)
        _, first, column = np.unique(mixed.T, return_index=True, return_inverse=True)
        rank_of_column, thread_of_column = np.divmod(first, threads)
        in_column = np.zeros((len(self.sizes), len(first)))
        for (rank, over), pieces in pieces_on.items():
            offset = rank_of_column - rank
            here = np.flatnonzero((offset >= 0) & (offset < over))
            place = thread_of_column[here] * over + offset[here]
            of_ranks = np.zeros((len(self.sizes), len(here)))
            _add_dealt(of_ranks, pieces, place, over * threads)
            in_column[:, here] += of_ranks
        return PlacedNeurons(
            column=column.reshape(ranks, threads), in_column=in_column, on_rank=on_rank
        )

    def _lane(self, lane: Lane, layout: tuple[str | Placement, int, int]) -> LaneCounts:
        """Loads of a lane; `layout`: placement, ranks and threads."""
        key = (*layout, lane.held.tobytes())
        if key not in self._lane_counts:
            placed = self.placed(*layout)
            misses = self._misses(lane.held)
            unmet = misses @ placed.on_rank
            fired = self.sizes * self.per_neuron
            self._lane_counts[key] = LaneCounts(
                lists=fired @ -np.expm1(misses @ placed.in_column),
                words=pools.neurons_with_targets(self.per_neuron[:, None] * placed.on_rank, unmet),
                unmet=unmet,
            )
        return self._lane_counts[key]

    def _misses(self, held: np.ndarray) -> pools.Matrix:
        """Misses of the pools, between populations of the areas that a lane holds."""
        key = held.tobytes()
        if key not in self._misses_of_areas:
            in_lane = held[self.areas[self.pools.source], self.areas[self.pools.target]]
            of_lane = np.where(in_lane, self.pools.pair_misses, 0.0)
            self._misses_of_areas[key] = self.pools.matrix(of_lane)
        return self._misses_of_areas[key]


def _add_dealt(counts: np.ndarray, pieces: np.ndarray, places: np.ndarray, over: int) -> None:
    """Add neurons that are dealt over so many places to `counts`, [population, place].

    `pieces`: DealtNeurons in the order of their populations, [piece, field]. `places`: those that
    count, from 0.
    """
    at_once = max(1, MAX_AT_ONCE // max(1, len(places)))
    for begin in range(0, len(pieces), at_once):
        population, _, _, start, number = pieces[begin : begin + at_once].T
        rounds, rest = np.divmod(number, over)
        in_last_round = (places - start[:, None]) % over < rest[:, None]  # [piece, place]
        first = np.flatnonzero(np.diff(population, prepend=-1))  # piece of each population
        counts[population[first]] += np.add.reduceat(rounds[:, None] + in_last_round, first)


def _mixed(pieces: np.ndarray, factors: np.ndarray, over: int) -> np.ndarray:
    """Sums of neurons times the factor of their population, modulo 2**64, on each of `over` places
    that take turns, [place]. `pieces` as of `_add_dealt`.
    """
    population, _, _, start, number = pieces.T
    rounds, rest = np.divmod(number, over)
    factor = factors[population]
    first = start % over
    end = first + rest  # of the neurons beyond whole rounds, which go on from 0
    goes_on = end > over
    changes = np.zeros(over + 1, dtype=np.int64)  # from one place to the next
    changes[0] = (factor * (rounds + goes_on)).sum()
    np.add.at(changes, first, factor)
    np.subtract.at(changes, np.where(goes_on, end - over, end), factor)
    return changes[:-1].cumsum()


@dataclass(frozen=True)
class Rates:
    """At which rates the neurons of a network fire."""

    hz: np.ndarray  #: [population], spikes per neuron and second
    source: str  #: where they come from


def rates_of(
    description: dict[str, Any] | Description,
    stated: float | dict[str, float] | None = None,
    preset: str | None = None,
    options: dict[str, Any] | None = None,
) -> Rates:
    """Rates of all populations.

    Rates that are `stated`, in Hz, for all or by name, take precedence over the description's own,
    and these over those published for the preset with these options. Raises BadInput if there are
    none, or if one is impossible.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> rates = rates_of(mam_benchmark.describe(areas=2))
        >>> rates.hz.tolist(), rates.source
        ([2.5, 2.5], 'of the description')
    """
    network = read_description(description)
    populations = network.network.populations
    silent = [p.name for p in populations if p.neuron.model != WITH_RATE]
    if isinstance(stated, dict):
        rates = Rates(pools.rates(populations, stated), "given by population")
    elif stated is not None:
        hz = np.full(len(populations), float(stated))
        rates = Rates(hz, f"given: {stated:g} Hz")
    elif not silent:
        rates = Rates(pools.rates(populations, None), "of the description")
    else:
        published = published_rates(preset, options)
        if not published:
            reason = f"population {silent[0]!r} has none, nor was one published for this network"
            raise BadInput(
                field="rate",
                reason=f"missing; {reason}",
                expected="a mean rate in Hz, as in rate=5",
                code="missing",
            )
        by_population = [published.hz.get(p.name, published.mean_hz) for p in populations]
        rates = Rates(np.array(by_population, dtype=float), published.source)
    _check_rates(rates.hz, network.time.resolution_ms)
    return rates


def _check_rates(hz: np.ndarray, resolution_ms: float) -> None:
    """Raises BadInput for a rate that is below 0 or above a spike in every step."""
    highest = 1000 / resolution_ms
    possible = np.isfinite(hz) & (hz >= 0) & (hz <= highest)
    if not possible.all():
        raise BadInput(
            field="rate",
            value=float(hz[~possible][0]),
            expected=f"0 to {highest:g} Hz, a spike in every step",
        )
