"""What each rank of a run has to do, as counts, and how long it would compute under another
placement.

A schedule may need another placement than the run had: conventional deals neurons to all ranks in
turn, so ranks have equal work and see the mean activity of all areas; structure-aware gives each
area ranks of its own, whose work differs by area and from cycle to cycle. The counts of both
placements follow from the network and the spikes that the run counted by population (activity.npy):

    deliver     events and lists of synapses that arrive at a rank  S[c - 1, source] H[source, rank]
    update      neurons by model and input from outside, spikes fired    N[population, rank]
    collocate   words written into send buffers, spikes fired
    inject      what the description adds for each neuron and event; known exactly, the rest stays

A phase that took T[rank, cycle] takes T + mean(T) (1 - fixed) (w' - w) under the other placement,
with w the counts over their mean in the run, and w' those of the other placement. So a rank keeps
its speed and its fluctuations, and fluctuations that all ranks had in common because they shared
all areas become those of single ranks. What nobody knows is drawn, within limits from runs of both
placements: the fixed share, which of several counts costs how much, what a neuron of another model
costs, whether a rank that was slower stays slower, and the cost of a count in the other layout of
memory. Each draw is a set of compute times.

Cost: a draw passes a few times over the times [rank, cycle] of each phase.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.network import pools
from spikemark.network.description import Description
from spikemark.network.placement import areas_on_ranks, neurons, sharing
from spikemark.network.schedules import find_schedule
from spikemark.quantities.quotient import quotient

DRAW_SEED = 1
MAX_DRAWS = 64
MIN_DRAWS = 16
MAX_TIMES_KEPT = 1 << 18  #: times [rank, cycle] of all draws together, up to which they are kept
MAX_TIMES_OF_DRAWS = 1 << 23  #: times [rank, cycle] of all draws together
#: Seconds per cycle of a phase that do not depend on the counts, at most.
FIXED_S = {"deliver": 3e-6, "update": 1e-6, "collocate": 1e-6}
#: Limits of the share of a phase that does not depend on the counts.
FIXED_SHARE = {"deliver": (0.2, 0.9), "update": (0.05, 0.9), "collocate": (0.2, 0.9)}
MAX_FIRED_SHARE = 0.25  #: of the update, for spikes
#: A regression tells a share where its standard error is below MAX_ERROR_OF_SHARE; besides, it is
#: off by SHARE_SD. Times beyond the quantile USUAL of their rank are left out of it.
MAX_ERROR_OF_SHARE = 0.1
SHARE_SD = 0.08
USUAL = 0.995
MIN_LIST_COST = 3.0  #: of entering a list, in events that follow in it
OUTSIDE_COST = 2.0  #: of input from outside, in updates of a neuron
#: SD of the logarithm of the cost of a count: common to all ranks, and of each rank; the latter
#: grows with the change of its work.
ALL_SD = {"deliver": 0.08, "update": 0.05, "collocate": 0.2}
RANK_SD = 0.02
RANK_SD_PER_CHANGE = 0.1
#: SD of the logarithm of the cost of a model, of input from outside, and of waiting for threads.
MODEL_SD = 0.4
OUTSIDE_SD = 0.5
THREADS_SD = 0.3
TINY = 1e-12  #: seconds, instead of 0 below a fraction
TIMES_OF_BLOCK = 1 << 22  #: times [rank, cycle] of some ranks that are changed at a time

#: A change of compute times [rank, cycle]: those of some ranks after the other, in their order.
Change = Callable[[np.ndarray], Iterator[np.ndarray]]


def blocks_of_ranks(compute: np.ndarray) -> Iterator[slice]:
    """Ranks of compute times [rank, cycle] that are changed at a time, so that no copy of all times
    of a long run is needed.

    Example:
        >>> times = np.zeros((2, 3_000_000), np.float32)
        >>> list(blocks_of_ranks(times))
        [slice(0, 1, None), slice(1, 2, None)]
    """
    ranks, cycles = compute.shape
    ranks_of_block = max(TIMES_OF_BLOCK // cycles, 1)
    for first in range(0, ranks, ranks_of_block):
        yield slice(first, min(first + ranks_of_block, ranks))


def joined(blocks: Iterator[np.ndarray], ranks: int) -> np.ndarray:
    """Compute times of some ranks after the other, as those of all `ranks`, [rank, cycle].

    Example:
        >>> joined(iter([np.ones((2, 3)), np.zeros((1, 3))]), ranks=3).sum(axis=1)
        array([3., 3., 0.])
    """
    block = next(blocks)
    if len(block) == ranks:
        return block
    times = np.empty((ranks, block.shape[1]), block.dtype)
    first = len(block)
    times[:first] = block
    for block in blocks:
        times[first : first + len(block)] = block
        first += len(block)
    return times


class SetsOfTimes(ABC):
    """Sets of compute times that are equally likely, each [rank, cycle] in s.

    A set is computed when it is asked for; only those of a short run are kept.
    """

    def blocks(self, number: int) -> Iterator[np.ndarray]:
        """The set of this number, of some ranks after the other."""
        yield self[number]

    @abstractmethod
    def __len__(self) -> int:
        """How many sets there are."""

    @abstractmethod
    def __getitem__(self, number: int) -> np.ndarray:
        """The set of this number, from 0. Raises IndexError where there is none."""

    def __iter__(self) -> Iterator[np.ndarray]:
        """One set after the other."""
        for number in range(len(self)):
            yield self[number]


@dataclass(frozen=True)
class WorkCounts:
    """What ranks have to do under a placement, per cycle."""

    events: np.ndarray  #: synaptic events delivered, [rank, cycle]
    lists: np.ndarray  #: lists of synapses entered, [rank, cycle]
    words: np.ndarray  #: words written into send buffers, [rank, cycle]
    fired: np.ndarray  #: spikes of the rank's neurons, [rank, cycle]
    neurons: np.ndarray  #: [population, rank]


@dataclass(frozen=True, eq=False)
class CountPair:
    """A count that a phase depends on. What is computed here holds for all draws."""

    before: np.ndarray  #: in the run, [rank, cycle] or [rank, 1]
    after: np.ndarray  #: under the other placement, of the same shape

    @cached_property
    def mean(self) -> np.ndarray:
        """Of each rank in the run, [rank, 1]."""
        mean: np.ndarray = self.before.mean(axis=1, keepdims=True, dtype=np.float64)
        return mean

    @cached_property
    def growth(self) -> np.ndarray:
        """The mean of each rank under the other placement over that in the run, [rank, 1].

        1 for ranks without any in the run.
        """
        after = self.after.mean(axis=1, keepdims=True, dtype=np.float64)
        return quotient(after, self.mean, otherwise=1.0)

    def change(self, scale: np.ndarray) -> np.ndarray:
        """What comes in addition, over the rank's mean in the run, times `scale` [rank, 1].

        0 for ranks without any in the run.
        """
        factor = quotient(scale, self.mean, otherwise=0.0)
        change: np.ndarray = (self.after - self.before) * factor.astype(np.float32)
        return change

    def relative(self) -> np.ndarray:
        """In the run, over the mean of the rank; 1 for ranks without any."""
        mean = self.mean.astype(self.before.dtype)
        return quotient(self.before, mean, otherwise=1.0)


class Proportion:
    """How far the times of a phase are proportional to a weighted sum of counts.

    From a regression of the times on the sum from cycle to cycle, below the rare long ones. Its
    sums over ranks and cycles are formed once for any weights.
    """

    def __init__(self, times: np.ndarray, counts: list[np.ndarray]):
        """`times`: [rank, cycle] in s; `counts`: each [rank, cycle]."""
        self.n = times.size
        self.level = float(times.mean(dtype=np.float64))
        self.means = np.array([count.mean(dtype=np.float64) for count in counts])
        beyond = times - np.median(times, axis=1, keepdims=True)
        beyond = np.minimum(beyond, np.quantile(beyond, USUAL, axis=1, keepdims=True))
        beyond = beyond - beyond.mean(axis=1, keepdims=True)
        varying = [count - count.mean(axis=1, keepdims=True) for count in counts]
        self.squares = _sum_of_products(beyond, beyond)
        self.with_times = np.array([_sum_of_products(beyond, v) for v in varying])
        self.among_counts = np.array([[_sum_of_products(v, w) for w in varying] for v in varying])

    def share(self, weights: np.ndarray) -> tuple[float, float] | None:
        """The proportional share of the times, and its standard error.

        None where the sum does not vary, or where there is nothing.
        """
        mean = float(weights @ self.means)
        squares = float(weights @ self.among_counts @ weights)
        if self.level <= 0 or mean <= 0 or squares <= 0:
            return None
        slope = float(weights @ self.with_times) / squares
        residual = max(self.squares - slope**2 * squares, 0.0) / self.n
        scale = mean / self.level
        return slope * scale, float(residual / squares) ** 0.5 * scale


def _sum_of_products(a: np.ndarray, b: np.ndarray) -> float:
    """The sum over all elements of the products of two arrays of one shape."""
    return float(np.einsum("ij,ij->", a, b, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Work:
    """What the ranks of a run did."""

    description: Description
    placement: str
    ranks: int
    threads: int
    times: dict[str, np.ndarray]  #: seconds by phase, [rank, cycle]
    fired: np.ndarray | None  #: spikes [cycle, population]; None where they are not known
    inject: dict[str, Any]  #: waits that the description adds
    _moved: dict[str, "MovedTimes"] = field(
        default_factory=dict,
        init=False,
        repr=False,
    )

    def moved(self, placement: str) -> "MovedTimes":
        """The compute times under another placement."""
        if placement not in self._moved:
            self._moved[placement] = MovedTimes(self, placement)
        return self._moved[placement]

    def placement_of(self, schedule: str, ranks: int | None = None) -> str:
        """The placement of the same description with another schedule.

        A placement that is not the one the run's own schedule implies was chosen, and stays. Area
        groups take the place of areas where these are fewer than ranks.

        Args:
            schedule: a key of SCHEDULES.
            ranks: number of ranks; that of the run by default.
        """
        if ranks is None:
            ranks = self.ranks
        if self.placement != find_schedule(self.description.schedule).placement:
            return self.placement
        implied = find_schedule(schedule).placement
        if implied == "area" and len(self.description.network.areas) < ranks:
            return "area_group"
        return implied

    def on_ranks(self, placement: str) -> np.ndarray:
        """Neurons [population, rank, thread] under a placement."""
        return neurons(self.description, placement, self.ranks, self.threads)

    @property
    def per_rank(self) -> dict[str, np.ndarray]:
        """Neurons, and synaptic events per cycle where spikes are known, [rank] each."""
        on_rank = self.on_ranks(self.placement).sum(axis=2).astype(float)
        counts = {"neurons": on_rank.sum(axis=0)}
        if self.fired is not None:
            hits = _dense(pools.source_pools(self.description.network).hits @ on_rank)
            counts["events"] = self.fired.mean(axis=0) @ hits
        return counts

    def keeps(self, placement: str) -> bool:
        """True if every rank has as many neurons of each population as in the run, so its work."""
        before = self.on_ranks(self.placement).sum(axis=2)
        after = self.on_ranks(placement).sum(axis=2)
        return np.array_equal(before, after)

    def near(self, schedule: str, placement: str) -> tuple[int, ...]:
        """The number of the group of each rank, whose ranks share an area and meet in every cycle.

        Empty where the schedule has no lane of areas, or where every area has one rank.
        """
        if find_schedule(schedule).lanes[0].group != "area":
            return ()
        group = sharing(areas_on_ranks(self.description, placement, self.ranks), self.ranks)
        if len(np.unique(group)) == self.ranks:
            return ()
        return tuple(int(number) for number in group)

    def counts(self, placement: str) -> WorkCounts:
        """What the ranks have to do in each cycle under a placement.

        Raises ValueError where the spikes of populations are not known.
        """
        if self.fired is None:
            raise ValueError("the spikes of populations are not known")
        local = self.on_ranks(placement)
        on_rank = local.sum(axis=2).astype(float)
        network = pools.source_pools(self.description.network)
        threads = local.reshape(len(local), -1).astype(float)
        missed_by_thread = _dense(network.misses @ threads)
        lists = -np.expm1(missed_by_thread).reshape(local.shape).sum(axis=2)
        ranks_reached = -np.expm1(_dense(network.misses @ on_rank)).sum(axis=1)  # by a spike
        arriving = np.concatenate([self.fired[:1], self.fired[:-1]])  # of the cycle before
        sizes = np.maximum(self.description.network.sizes, 1)
        share = on_rank / sizes[:, None]
        return WorkCounts(
            events=_per_cycle(arriving, _dense(network.hits @ on_rank)),
            lists=_per_cycle(arriving, lists),
            words=_per_cycle(self.fired, share * ranks_reached[:, None]),
            fired=_per_cycle(self.fired, share),
            neurons=on_rank,
        )


def _per_cycle(spikes: np.ndarray, per_spike: np.ndarray) -> np.ndarray:
    """Counts, float32 [rank, cycle].

    Args:
        spikes: [cycle, population].
        per_spike: how often a spike counts on each rank, [population, rank].
    """
    counts: np.ndarray = (spikes @ per_spike).T.astype(np.float32)
    return counts


def _dense(matrix: object) -> np.ndarray:
    """A matrix as an array, whether it is sparse or not."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def described(description: Description, cycles: int) -> np.ndarray | None:
    """Spikes [cycle, population] by the rates of the description.

    None where a model has no rate of its own.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2, neurons_per_area=100))
        >>> described(network, cycles=3).shape
        (3, 2)
    """
    populations = description.network.populations
    if any(p.neuron.model != "ignore_and_fire" for p in populations):
        return None
    cycle_s = 1e-3 * description.time.cycle_ms
    per_cycle = pools.rates(populations, None) * description.network.sizes * cycle_s
    return np.tile(per_cycle, (cycles, 1))


@dataclass(frozen=True, eq=False)
class MovedTimes(SetsOfTimes):
    """Compute times under another placement, a set for each draw of what is not known."""

    work: Work
    placement: str
    #: Sets of a short run, which several schedules with one placement ask for.
    _kept: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _counts(self) -> tuple[WorkCounts, WorkCounts]:
        """In the run, and under the other placement."""
        return self.work.counts(self.work.placement), self.work.counts(self.placement)

    def __len__(self) -> int:
        times = max(np.size(times_of_phase) for times_of_phase in self.work.times.values())
        return int(np.clip(MAX_TIMES_OF_DRAWS // times, MIN_DRAWS, MAX_DRAWS))

    def __getitem__(self, number: int) -> np.ndarray:
        if not 0 <= number < len(self):
            raise IndexError(number)
        if number in self._kept:
            return self._kept[number]
        drawn = self.compute(np.random.default_rng([DRAW_SEED, number]))
        if drawn.size * len(self) <= MAX_TIMES_KEPT:
            drawn.flags.writeable = False
            self._kept[number] = drawn
        return drawn

    @cached_property
    def _pairs(self) -> dict[str, list[CountPair]]:
        """The two counts that each phase depends on, in the run and under the other placement."""
        before, after = self._counts
        lists = CountPair(before.lists, after.lists)
        fired = CountPair(before.fired, after.fired)
        return {
            "deliver": [CountPair(before.events, after.events), lists],
            "collocate": [CountPair(before.words, after.words), fired],
            "update": [fired],  # beside the neurons, whose cost is drawn
        }

    @cached_property
    def _proportions(self) -> dict[str, Proportion]:
        """Of each phase to its counts; to spikes themselves where these are its only count."""
        fired = self._pairs["update"][0]
        proportions = {"update": Proportion(self.work.times["update"], [fired.before])}
        for phase in ("deliver", "collocate"):
            counts = [pair.relative() for pair in self._pairs[phase]]
            proportions[phase] = Proportion(self.work.times[phase], counts)
        return proportions

    @cached_property
    def _levels(self) -> dict[str, np.ndarray]:
        """Mean seconds per cycle of each rank by phase, [rank, 1]."""
        return {
            phase: times.mean(axis=1, keepdims=True, dtype=np.float64)
            for phase, times in self.work.times.items()
        }

    def compute(self, rng: np.random.Generator) -> np.ndarray:
        """A draw of the compute times, float32 [rank, cycle]."""
        before, after = self._counts
        list_share = self._share_of_lists(rng)
        word_share = rng.uniform(0, 1)
        limits = (0.0, MAX_FIRED_SHARE)
        fired_share = self._proportional_share("update", np.ones(1), limits, rng)
        # Of what makes a rank slow, this share stays with it; the rest is a matter of the layout.
        speed_stays = 1 - rng.uniform(0, 1) ** 2
        neuron_cost = self._cost_of_neurons(rng)
        neurons_before = (neuron_cost @ before.neurons)[:, None]
        neurons_after = (neuron_cost @ after.neurons)[:, None]
        deliver = np.array([1 - list_share, list_share])
        collocate = np.array([word_share, 1 - word_share])
        update = np.array([1 - fired_share, fired_share])
        of_update = [CountPair(neurons_before, neurons_after), *self._pairs["update"]]
        delivering = self._phase("deliver", self._pairs["deliver"], deliver, speed_stays, rng)
        times: np.ndarray = delivering + self._phase("update", of_update, update, speed_stays, rng)
        collocating = self._phase(
            "collocate", self._pairs["collocate"], collocate, speed_stays, rng
        )
        times += collocating
        if "thread_wait" in self.work.times:
            times += self._thread_wait(delivering, rng)
        if "inject" in self.work.times:
            times = times + np.maximum(self.work.times["inject"] + self._injected(rng), 0)
        return np.asarray(times, dtype=np.float32)

    def _phase(
        self,
        phase: str,
        counts: list[CountPair],
        shares: np.ndarray,
        speed_stays: float,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """A draw of the times of one phase, float32 [rank, cycle] in s.

        Args:
            phase: a key of the work's times.
            counts: that the phase depends on.
            shares: of each count in what depends on counts, together 1.
            speed_stays: share of a rank's slowness that stays with it.
            rng: for what is not known.
        """
        level = self._levels[phase]
        max_fixed = self._max_fixed_share(phase, float(level.mean()))
        fixed = rng.uniform(0, max_fixed)
        if phase != "update":  # whose work hardly varies from cycle to cycle
            limits = (1 - max_fixed, 1.0)
            fixed = 1 - self._proportional_share(phase, shares, limits, rng)
        times: np.ndarray = self.work.times[phase].astype(np.float32)
        growth = np.zeros_like(level)
        for pair, share in zip(counts, shares, strict=True):
            times += pair.change(level * (1 - fixed) * share)
            growth += share * pair.growth
        np.maximum(times, 0, out=times)
        mean_of_ranks = np.exp(np.log(np.maximum(level, TINY)).mean())
        factor = (mean_of_ranks / np.maximum(level, TINY)) ** (1 - speed_stays)
        size_of_change = np.abs(np.log(np.maximum(growth, 1e-3)))
        rank_sd = RANK_SD + RANK_SD_PER_CHANGE * size_of_change
        error_of_all = ALL_SD[phase] * rng.standard_normal()
        factor *= np.exp(error_of_all + rank_sd * rng.standard_normal(level.shape))
        times *= factor.astype(np.float32)
        return times

    def _share_of_lists(self, rng: np.random.Generator) -> float:
        """The share of the deliver phase that grows with lists, not with events."""
        before, _ = self._counts
        entering = MIN_LIST_COST * float(before.lists.mean())
        least = entering / max(entering + float(before.events.mean()), 1e-300)
        return rng.uniform(least, 1)

    def _thread_wait(self, delivering: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Waiting for threads [rank, cycle] in s, which grows as delivering does."""
        level = self._levels["deliver"]
        growth = delivering.mean(axis=1, keepdims=True) / np.maximum(level, TINY)
        growth = growth * np.exp(THREADS_SD * rng.standard_normal(growth.shape))
        waiting: np.ndarray = self.work.times["thread_wait"] * growth
        return waiting

    def _cost_of_neurons(self, rng: np.random.Generator) -> np.ndarray:
        """What the update of a neuron costs, in any unit, [population]."""
        populations = self.work.description.network.populations
        models = sorted({p.neuron.model for p in populations})
        costs = np.exp(MODEL_SD * rng.standard_normal(len(models)))
        cost_by_model = dict(zip(models, costs, strict=True))
        outside = OUTSIDE_COST * np.exp(OUTSIDE_SD * rng.standard_normal())
        by_population = [
            cost_by_model[p.neuron.model] + outside * (p.outside_hz > 0) for p in populations
        ]
        return np.array(by_population)

    def _proportional_share(
        self,
        phase: str,
        weights: np.ndarray,
        limits: tuple[float, float],
        rng: np.random.Generator,
    ) -> float:
        """The share of a phase that is proportional to its counts.

        From a regression where the counts vary enough to tell; else drawn within limits.

        Args:
            phase: a key of the work's times.
            weights: of the phase's counts in their sum.
            limits: lowest and highest share.
            rng: for what is not known.
        """
        estimate = self._proportions[phase].share(weights)
        if estimate is None or estimate[1] > MAX_ERROR_OF_SHARE:
            return float(rng.uniform(*limits))
        share, error = estimate
        share += np.hypot(error, SHARE_SD) * rng.standard_normal()
        return float(np.clip(share, 0, 1))

    def _max_fixed_share(self, phase: str, level_s: float) -> float:
        """The largest share of a phase that does not depend on the counts; `level_s`: its time."""
        lowest, highest = FIXED_SHARE[phase]
        return float(np.clip(FIXED_S[phase] / max(level_s, TINY), lowest, highest))

    def _injected(self, rng: np.random.Generator) -> np.ndarray:
        """Seconds that injected waits become longer, [rank, cycle]."""
        before, after = self._counts
        lists = after.lists.sum(axis=1, keepdims=True)
        wiring_sd = 1 / np.sqrt(np.maximum(lists, 1))  # the wiring of a rank is random
        drawn = 1 + wiring_sd * rng.standard_normal(wiring_sd.shape)
        more_events = after.events * drawn - before.events
        more_neurons = (after.neurons - before.neurons).sum(axis=0)[:, None]
        per_neuron = self._injected_per("neuron")
        per_synapse = self._injected_per("synapse")
        seconds: np.ndarray = per_neuron * more_neurons + per_synapse * more_events
        return seconds / self.work.threads

    def _injected_per(self, unit: str) -> np.ndarray:
        """Mean seconds that are injected for each "neuron" or "synapse", [rank, 1]."""
        inject = self.work.inject
        mode = inject.get("minor_mode") or {}
        longer = 1 + mode.get("share", 0.0) * (mode.get("factor", 1.0) - 1)
        nanoseconds = np.broadcast_to(inject.get(f"per_{unit}_ns") or 0.0, self.work.ranks)
        return np.asarray(nanoseconds[:, None] * 1e-9 * longer)


@dataclass(frozen=True, eq=False)
class ChangedTimes(SetsOfTimes):
    """What changes make of each of several sets of compute times, each set by one in turn."""

    sets: SetsOfTimes
    changes: tuple[Change, ...]

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, number: int) -> np.ndarray:
        times = self.sets[number]
        return joined(self.changes[number % len(self.changes)](times), len(times))

    def blocks(self, number: int) -> Iterator[np.ndarray]:
        return self.changes[number % len(self.changes)](self.sets[number])


@dataclass(frozen=True, eq=False)
class ReadingsOfTimes(SetsOfTimes):
    """What one of several changes would make of the same compute times, each as likely."""

    sets: SetsOfTimes | tuple[np.ndarray, ...]
    changes: tuple[Change, ...]

    def __len__(self) -> int:
        return len(self.sets) * len(self.changes)

    def __getitem__(self, number: int) -> np.ndarray:
        which, change = divmod(number, len(self.changes))
        times = self.sets[which]
        return joined(self.changes[change](times), len(times))

    def blocks(self, number: int) -> Iterator[np.ndarray]:
        which, change = divmod(number, len(self.changes))
        return self.changes[change](self.sets[which])
