"""A run description (miniapp/FORMAT.md) as an object: its fields, and how they fit each other.

What a field may hold, and its default, is in the mini-app's table (fields.py). `read_description`
checks a description against that table, and then all that can be said of it without knowing the
number of ranks. What follows from that number is in lanes.py and ring.py.
"""

import itertools
import math
from collections import Counter
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from spikemark.core.errors import BadInput
from spikemark.core.validation import invalid

from . import fields, placement_text
from .fields import default, refusal

#: How far from whole a number may be that has to be: the rounding of decimal fractions.
WHOLE = 1e-6
#: Steps within which a limit counts as lying on the grid or half-way.
GRID_TOLERANCE = 1e-9
#: Cycles of a run, steps of a cycle, steps of a run; neurons of a network.
MAX_UNITS = 4_000_000_000
#: Neurons of the sources of a projection.
MAX_POOL = 2**32 - 1
MAX_DELAY_RATIO = int(fields.rule("delay_ratio").high or 1)
MAX_DELAY_STEPS = 1_000_000
MAX_LANES = 32
#: Events from outside per neuron and step.
MAX_EVENTS, MIN_EVENTS = 100, 1.2e-7
#: Mean of a random in-degree that is not 0.
MIN_RANDOM_INDEGREE = 1e-4
#: Magnitude of a weight that is not 0.
MIN_WEIGHT = 1e-100
#: In-degrees rarer than the likeliest one by this factor are not drawn.
NEGLIGIBLE = 1e-11
#: Standard deviations from the mean that a weight of its own can lie.
FURTHEST_SD = 6.34
#: Events for which probabilities are computed, unless these are far smaller than that of a draw.
MAX_COUNTED_EVENTS = 400
NEVER_COUNTED = 1e-30
#: Fields of `inject` that may have a value for each rank.
LISTS_BY_RANK = ("per_synapse_ns", "per_neuron_ns")
#: Values of a draw, which takes 32 bits.
LEVELS_OF_DRAW = 2.0**32

Names = str | list[str]


@lru_cache
def _slices(classes: int) -> tuple[float, ...]:
    """Means of slices of equal probability of the standard normal distribution.

    They are scaled to variance 1.
    """
    normal = NormalDist()
    edges = [normal.inv_cdf(k / classes) for k in range(1, classes)]
    density = [0.0, *(normal.pdf(edge) for edge in edges), 0.0]
    means = [classes * (low - high) for low, high in itertools.pairwise(density)]
    spread = math.sqrt(math.fsum(mean**2 for mean in means) / classes)
    return tuple(mean / spread for mean in means)


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def _most_synapses(mean: float) -> int:
    """The most synapses that a neuron with a Poisson in-degree of this mean can draw."""
    most = int(mean)
    relative = 1.0  # probability over that of the likeliest in-degree
    while mean and relative > NEGLIGIBLE:
        most += 1
        relative *= mean / most
    return most


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def _most_events(mean: float) -> int:
    """The most events from outside that a neuron can receive in a step, of this mean up to 100."""
    probabilities = [math.exp(-mean)]
    for k in range(1, MAX_COUNTED_EVENTS):
        probabilities.append(probabilities[-1] * mean / k)
        if k > mean and probabilities[-1] < NEVER_COUNTED:
            break
    at_least = 0.0  # probability of so many events or more
    for events in range(len(probabilities) - 1, 0, -1):
        at_least += probabilities[events]
        if round(LEVELS_OF_DRAW * at_least) > 0:
            return events
    return 0


def _normal_weight(low: float, high: float, mean: float, sd: float) -> float:
    """The weight of a normal distribution between two limits, accurate in both tails."""
    near, far = mean - high, mean - low
    if low > mean:
        near, far = low - mean, high - mean
    scale = sd * math.sqrt(2)
    return 0.5 * (math.erfc(near / scale) - math.erfc(far / scale))


def _field(path: str, description: str) -> Any:
    """A field with the default of the mini-app's table at `path`."""
    return Field(default(path), description=description)


class DescriptionPart(BaseModel):
    """Base of the parts of a description.

    Their fields have been checked against the mini-app's table before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Neuron(BaseModel):
    """The model of a population, and its parameters."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    model: str = Field(description="name of the model; its parameters are fields beside it")
    rate_hz: float | None = Field(
        None, description="of ignore_and_fire: mean rate, Hz; null: the default of the model"
    )
    rate_cv: float = Field(
        0.0, description="of ignore_and_fire: SD of the rates of neurons over their mean"
    )

    @property
    def hz(self) -> float | None:
        """The described mean rate; None for a model without a rate of its own."""
        rules = fields.NEURON_RULES[self.model]
        if self.rate_hz is None and "rate_hz" in rules:
            rate: float = rules["rate_hz"].default
            return rate
        return self.rate_hz

    def check(self, path: str) -> None:
        """Raises BadInput for a reset potential that is not below the threshold.

        `path`: of this part of the description.
        """
        rules = fields.NEURON_RULES[self.model]
        if "V_reset_mV" not in rules:
            return
        parameters = self.model_extra or {}
        reset = parameters.get("V_reset_mV", rules["V_reset_mV"].default)
        threshold = parameters.get("V_th_mV", rules["V_th_mV"].default)
        if reset >= threshold:
            expected = f"below the threshold V_th_mV, {threshold:g} mV"
            raise refusal(f"{path}.V_reset_mV", reset, expected)


class External(DescriptionPart):
    """Input from outside: Poisson processes."""

    rate_hz: float = Field(description="rate of each process, Hz")
    synapses: int = _field(
        "network.populations.*.external.synapses", "number of processes of each neuron"
    )
    weight: float = Field(description="weight of an event, in the unit of the model")


class Population(DescriptionPart):
    """Neurons of one area that share a model."""

    name: str = Field(description="a name that no other population has")
    size: int = Field(description="number of neurons")
    neuron: Neuron = Field(description="model of the neurons, and its parameters")
    area: str = Field(
        default_factory=lambda before: before.get("name", ""),
        description="name of the area; that of the population by default",
    )
    external: External | None = Field(
        None,
        description="input from outside",
    )

    @property
    def outside_hz(self) -> float:
        """Events from outside per neuron and second."""
        if self.external is None:
            return 0.0
        return self.external.synapses * self.external.rate_hz

    def check(self, path: str, step: float) -> None:
        """Raises BadInput for input from outside that cannot be drawn.

        `path`: of this part of the description; `step`: in ms.
        """
        if self.external is None:
            return
        weight = self.external.weight
        events = 1e-3 * self.outside_hz * step
        if weight and abs(weight) < MIN_WEIGHT:
            expected = f"0, or at least {MIN_WEIGHT:g} in magnitude"
            raise refusal(f"{path}.external.weight", weight, expected)
        if events and not MIN_EVENTS <= events <= MAX_EVENTS:
            expected = f"0, or {MIN_EVENTS:g} to {MAX_EVENTS} events per neuron and step"
            raise refusal(f"{path}.external.rate_hz", self.external.rate_hz, expected)


class Indegree(DescriptionPart):
    """A number of synapses that every neuron draws for itself."""

    mean: float = Field(description="mean number of synapses")
    distribution: str = _field("network.projections.*.indegree.distribution", "poisson")


class Delay(DescriptionPart):
    """Delays of a projection, as they are given; `limits` fills in what is left out."""

    distribution: str = _field(
        "network.projections.*.delay.distribution", "constant, normal or exponential"
    )
    mean: float = Field(description="of the distribution before it is cut, ms")
    sd: float = _field(
        "network.projections.*.delay.sd", "of a normal distribution before it is cut, ms"
    )
    min: float | None = Field(
        None, description="shortest delay, ms; the resolution by default, or the mean if shorter"
    )
    max: float | None = Field(
        None,
        description="longest delay, ms; by default mean + 4 SD, or 5 means if exponential",
    )

    def limits(self, step: float) -> tuple[float, float]:
        """The limits between which delays are drawn, ms, on a grid of `step` ms.

        Both are the only delay where there is but one.

        Raises:
            BadInput: naming the field of the delay, for limits that leave no delay.

        Example:
            >>> Delay(mean=1.5).limits(step=0.1)
            (1.5, 1.5)
            >>> Delay(distribution="normal", mean=1.5, sd=0.5).limits(step=0.1)
            (0.1, 3.5)
        """
        kind, mean, sd = self.distribution, self.mean, self.sd
        low, high = self._limits_with_defaults(step)
        is_single = kind != "exponential" and not sd
        if kind != "normal" and sd:
            raise refusal("sd", sd, f"0 for the {kind} distribution")
        if low < step * (1 - GRID_TOLERANCE):
            raise refusal("min", low, f"at least the resolution, {step:g} ms")
        if low > high:
            raise refusal("max", high, f"at least min, {low:g} ms")
        if high / step > MAX_DELAY_STEPS:
            raise refusal("max", high, f"at most {MAX_DELAY_STEPS} steps of {step:g} ms")
        if is_single:
            has_delay = low / step - GRID_TOLERANCE <= mean / step <= high / step + GRID_TOLERANCE
        elif kind == "exponential":
            has_delay = low < high
        else:
            has_delay = low < high and _normal_weight(low, high, mean, sd) > 0
        if not has_delay:
            expected = f"a distribution with some weight in [{low:g}, {high:g}] ms"
            raise refusal("mean", mean, expected)
        return (mean, mean) if is_single else (low, high)

    def _limits_with_defaults(self, step: float) -> tuple[float, float]:
        """The shortest and the longest delay, ms, with what is left out filled in."""
        low, high = self.min, self.max
        if low is None:
            low = self.mean if self.distribution == "constant" else min(step, self.mean)
        if high is None:
            is_exponential = self.distribution == "exponential"
            high = 5 * self.mean if is_exponential else self.mean + 4 * self.sd
        return low, high

    def steps(self, step: float) -> tuple[int, int]:
        """The shortest and the longest delay, in steps of the grid. Raises BadInput as `limits`."""
        return _delay_steps(step, self.distribution, self.mean, self.sd, self.min, self.max)


@lru_cache(maxsize=4096)  # more than the distances between areas of known networks
def _delay_steps(
    step: float, distribution: str, mean: float, sd: float, low: float | None, high: float | None
) -> tuple[int, int]:
    """The shortest and the longest delay, in steps: many projections have the same delays.

    The fields of `Delay` stand alone, since two of them take longer to compare as a whole.
    """
    delay = Delay(distribution=distribution, mean=mean, sd=sd, min=low, max=high)
    shortest_ms, longest_ms = delay.limits(step)
    return _rounded(shortest_ms / step), _rounded(longest_ms / step)


def _rounded(steps: float) -> int:
    """The number of steps that the mini-app makes of a delay: halves go up."""
    return math.floor(steps + 0.5 + GRID_TOLERANCE)


class Weight(DescriptionPart):
    """Weights of a projection; with `classes` 0 every synapse has one of its own."""

    mean: float = Field(description="mean weight, in the unit of the model")
    sd: float = _field("network.projections.*.weight.sd", "standard deviation of the weights")
    classes: int = _field(
        "network.projections.*.weight.classes",
        "number of different weights; 0: every synapse has one of its own",
    )

    def check(self, path: str) -> None:
        """Raises BadInput for a spread that would change the sign of a weight.

        `path`: of this part of the description.
        """
        if self.classes == 1:
            raise refusal(f"{path}.classes", 1, "0, or an integer from 2")
        magnitude = abs(self.mean)
        if self.own and self.sd > magnitude / 3:
            raise refusal(f"{path}.sd", self.sd, f"at most {magnitude / 3:g}, a third of the mean")
        if self.furthest > magnitude:
            most = magnitude * self.sd / self.furthest
            expected = f"at most {most:g}, so that no weight changes its sign"
            raise refusal(f"{path}.sd", self.sd, expected)
        if self.mean and magnitude < MIN_WEIGHT:
            raise refusal(path, self.mean, f"0, or at least {MIN_WEIGHT:g} in magnitude")

    @property
    def values(self) -> tuple[float, float, int]:
        """All that tells it from others."""
        return self.mean, self.sd, self.classes

    @property
    def own(self) -> bool:
        """True if every synapse has a weight of its own."""
        return self.sd > 0 and not self.classes

    @property
    def furthest(self) -> float:
        """The largest deviation from the mean."""
        if self.own:
            return min(abs(self.mean), FURTHEST_SD * self.sd)
        return -self.sd * _slices(self.classes)[0] if self.sd else 0.0

    @property
    def levels(self) -> tuple[float, ...]:
        """The weights that synapses have; empty where every synapse has its own."""
        if not self.sd:
            return (self.mean,)
        if self.own:
            return ()
        return tuple(self.mean + self.sd * place for place in _slices(self.classes))


class Projection(DescriptionPart):
    """Synapses onto every neuron of `target`, their sources drawn from one pool."""

    source: Names = Field(description="names of the populations of the pool, or one name")
    target: str = Field(description="name of the population of the targets")
    indegree: int | Indegree = Field(description="synapses of every target neuron")
    delay: Delay = Field(description="delays of the synapses")
    weight: float | Weight = _field(
        "network.projections.*.weight", "weight of all synapses, or their distribution"
    )

    @property
    def sources(self) -> list[str]:
        """Names of the populations of the pool; one that is named twice is in it twice."""
        return [self.source] if isinstance(self.source, str) else self.source

    @property
    def weights(self) -> Weight:
        """The distribution of the weights, even if only one weight is given."""
        return self.weight if isinstance(self.weight, Weight) else Weight(mean=self.weight)

    @property
    def poisson(self) -> bool:
        """True if every neuron draws its own number of synapses, from a Poisson distribution."""
        return isinstance(self.indegree, Indegree)

    @property
    def synapses(self) -> float:
        """Expected synapses per target neuron."""
        return self.indegree.mean if isinstance(self.indegree, Indegree) else self.indegree

    @property
    def most_synapses(self) -> int:
        """The most synapses that a target neuron can have."""
        if isinstance(self.indegree, Indegree):
            return _most_synapses(self.indegree.mean)
        return self.indegree


class LaneRule(DescriptionPart):
    """A lane of a schedule: the ranks that it joins, and when they exchange."""

    name: str = Field(description="a name that no lane before it has")
    group: int | str = _field(
        "schedule.*.group", "who exchanges: ranks of a block, the ranks of an area, or the world"
    )
    source: Names | None = Field(
        None,
        alias="from",
        description="only from these areas",
    )
    target: Names | None = Field(
        None,
        alias="to",
        description="only to these areas",
    )
    period: int | str = _field(
        "schedule.*.period",
        'cycles between exchanges; "D": D / (lag + 1); "auto": as many as are exact',
    )
    lag: int = _field("schedule.*.lag", "windows until what is sent is due")

    def __hash__(self) -> int:
        return hash(self.name)  # lists of areas have no hash

    @property
    def ends(self) -> list[list[str] | None]:
        """The areas that it comes from, and those that it goes to; None for all."""
        return [_as_list(self.source), _as_list(self.target)]

    @property
    def bound(self) -> bool:
        """True if the lane joins given areas only."""
        return self.ends != [None, None]

    def window(self, delay_ratio: int, lag: int) -> int:
        """Cycles of a window with D = `delay_ratio`, which has to be a multiple of `lag` + 1.

        For a lane whose period is a number or "D".

        Example:
            >>> LaneRule(name="far", period="D").window(delay_ratio=10, lag=1)
            5
        """
        if isinstance(self.period, int):
            return self.period
        if delay_ratio % (lag + 1):
            raise refusal("delay_ratio", delay_ratio, f"a multiple of {lag + 1} with {lag=}")
        return delay_ratio // (lag + 1)


def _as_list(names: Names | None) -> list[str] | None:
    """Names, of which one may stand alone; None stays."""
    return [names] if isinstance(names, str) else names


class Time(DescriptionPart):
    """What is simulated; warm-up and measured part are whole cycles, a cycle is whole steps."""

    resolution_ms: float = _field("time.resolution_ms", "a step, ms")
    cycle_ms: float = Field(
        default_factory=lambda before: before.get("resolution_ms", default("time.resolution_ms")),
        description="a cycle, ms; a step by default",
    )
    warmup_ms: float = _field("time.warmup_ms", "simulated before the measured part, ms")
    simulate_ms: float = Field(description="the measured part, ms")

    def check(self) -> None:
        """Raises BadInput for times that are not whole steps or cycles, or that are too long."""
        self._check_multiple("cycle", self.cycle_ms, "resolution", self.resolution_ms)
        self._check_multiple("warmup", self.warmup_ms, "cycle", self.cycle_ms)
        self._check_multiple("simulate", self.simulate_ms, "cycle", self.cycle_ms)
        if (self.warmup_cycles + self.cycles) * self.cycle_steps > MAX_UNITS:
            expected = f"at most {MAX_UNITS:g} steps with the warm-up"
            raise refusal("time.simulate_ms", self.simulate_ms, expected)

    def _check_multiple(self, name: str, value_ms: float, unit: str, unit_ms: float) -> None:
        """Raises BadInput for a time that is not so many units, or only for the warm-up none."""
        field = f"time.{name}_ms"
        units = value_ms / unit_ms
        if abs(units - round(units)) > WHOLE or units > MAX_UNITS:
            expected = f"a multiple of the {unit}, {unit_ms:g} ms, up to {MAX_UNITS:g} of them"
            raise refusal(field, value_ms, expected)
        if name != "warmup" and round(units) < 1:
            raise refusal(field, value_ms, f"at least the {unit}, {unit_ms:g} ms")

    @property
    def cycle_steps(self) -> int:
        """Steps of a cycle."""
        return round(self.cycle_ms / self.resolution_ms)

    @property
    def warmup_cycles(self) -> int:
        """Cycles of the warm-up."""
        return round(self.warmup_ms / self.cycle_ms)

    @property
    def cycles(self) -> int:
        """Cycles of the measured part."""
        return round(self.simulate_ms / self.cycle_ms)


class Connections(NamedTuple):
    """From which populations projections draw their synapses, and onto which, [connection]."""

    projection: np.ndarray  #: number of the projection
    source: np.ndarray  #: number of the population of the sources
    target: np.ndarray  #: number of the population of the targets


class DifferentWeights(NamedTuple):
    """The distributions of weights: many projections have the same one."""

    weights: list[Weight]  #: each once, in the order in which they first appear
    of: list[int]  #: [projection], the number of its weights


class Network(DescriptionPart):
    """Populations and what projects from one to another."""

    populations: list[Population] = Field(description="neurons")
    projections: list[Projection] = Field([], description="synapses")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each population, by name."""
        return {population.name: i for i, population in enumerate(self.populations)}

    @cached_property
    def sizes(self) -> np.ndarray:
        """Neurons of each population, [population]."""
        return np.array([population.size for population in self.populations], dtype=np.int64)

    @cached_property
    def of_model(self) -> dict[str, np.ndarray]:
        """Which populations have a model, [population], by its name."""
        models = np.array([population.neuron.model for population in self.populations])
        return {str(model): models == model for model in dict.fromkeys(models)}

    @cached_property
    def has_input(self) -> np.ndarray:
        """Which populations have input from outside, [population]."""
        return np.array([population.outside_hz > 0 for population in self.populations])

    @cached_property
    def areas(self) -> list[str]:
        """Names of the areas, in the order in which they first appear."""
        return list(dict.fromkeys(population.area for population in self.populations))

    @cached_property
    def area_of(self) -> list[int]:
        """The number of the area of each population."""
        numbers = {name: i for i, name in enumerate(self.areas)}
        return [numbers[population.area] for population in self.populations]

    @cached_property
    def synapses(self) -> float:
        """Expected synapses of all projections."""
        sizes: list[int] = self.sizes[self.target_of].tolist()
        each = zip(self.projections, sizes, strict=True)
        return sum(projection.synapses * neurons for projection, neurons in each)

    @cached_property
    def target_of(self) -> np.ndarray:
        """The number of the population of the targets of each projection, [projection]."""
        numbers = [self.numbers[projection.target] for projection in self.projections]
        return np.array(numbers, dtype=np.int64)

    @cached_property
    def most_synapses(self) -> np.ndarray:
        """The most synapses that a target neuron can have of each projection, [projection]; 0 where
        the population of the targets is empty.
        """
        most = [projection.most_synapses for projection in self.projections]
        return np.where(self.sizes[self.target_of] > 0, np.array(most, dtype=float), 0.0)

    @cached_property
    def connections(self) -> Connections:
        """Those that have synapses. A population that a pool names twice is there twice."""
        pools = [projection.sources for projection in self.projections]
        sizes_of_pools = np.array([len(pool) for pool in pools], dtype=np.int64)
        names = itertools.chain.from_iterable(pools)
        source = np.array([self.numbers[name] for name in names], dtype=np.int64)
        projection = np.repeat(np.arange(len(pools)), sizes_of_pools)
        has_synapses = (self.most_synapses[projection] > 0) & (self.sizes[source] > 0)
        projection = projection[has_synapses]
        return Connections(projection, source[has_synapses], self.target_of[projection])

    @cached_property
    def weights(self) -> DifferentWeights:
        """The weights of all projections, with or without synapses."""
        number_of: dict[tuple[float, float, int], int] = {}
        different: list[Weight] = []
        of: list[int] = []
        for projection in self.projections:
            weights = projection.weights
            number = number_of.setdefault(weights.values, len(different))
            if number == len(different):
                different.append(weights)
            of.append(number)
        return DifferentWeights(different, of)

    def check(self, step: float) -> None:
        """Raises BadInput for the first field that contradicts others; `step` in ms."""
        neurons = 0
        for number, population in enumerate(self.populations):
            path = f"network.populations.{number}"
            population.neuron.check(f"{path}.neuron")
            population.check(path, step)
            neurons += population.size
            if neurons > MAX_UNITS:
                expected = f"at most {MAX_UNITS} neurons in all"
                raise refusal(f"{path}.size", population.size, expected)
        self._check_names()
        if neurons == 0:
            line = "network.populations: no neuron; expected at least one"
            raise BadInput(line, field="network.populations")
        size_of = {population.name: population.size for population in self.populations}
        different, weights_of = self.weights
        unchecked = set(range(len(different)))
        for number, projection in enumerate(self.projections):
            path = f"network.projections.{number}"
            pool = _neurons_of_pool(projection, path, size_of)
            if weights_of[number] in unchecked:
                unchecked.remove(weights_of[number])
                different[weights_of[number]].check(f"{path}.weight")
            try:
                projection.delay.steps(step)
            except BadInput as error:
                raise error.within(field=f"{path}.delay") from None
            if not pool and projection.most_synapses:
                expected = "0, since its sources are empty"
                raise refusal(f"{path}.indegree", projection.synapses, expected)

    def _check_names(self) -> None:
        """Raises BadInput for the last population whose name another one has."""
        if len(self.numbers) == len(self.populations):
            return
        counts = Counter(population.name for population in self.populations)
        for number, population in reversed(list(enumerate(self.populations))):
            if counts[population.name] > 1:
                path = f"network.populations.{number}.name"
                raise refusal(path, population.name, "a name that no other population has")


def _neurons_of_pool(projection: Projection, path: str, size_of: dict[str, int]) -> int:
    """Neurons from which a projection draws its sources.

    `path`: of the projection in the description; `size_of`: neurons of the populations, by name.

    Raises BadInput for names of no population, too large a pool, and too low an in-degree.
    """
    pool = 0
    for field, names in (("target", [projection.target]), ("source", projection.sources)):
        pool = 0
        for name in names:
            if name not in size_of:
                expected = f"the name of a population: {', '.join(size_of)}"
                raise refusal(f"{path}.{field}", name, expected, "unknown")
            pool += size_of[name]
    if pool > MAX_POOL:
        expected = f"at most {MAX_POOL} neurons in the pool"
        raise refusal(f"{path}.source", projection.source, expected)
    if projection.poisson and 0 < projection.synapses < MIN_RANDOM_INDEGREE:
        expected = f"0, or a number from {MIN_RANDOM_INDEGREE:g}"
        raise refusal(f"{path}.indegree.mean", projection.synapses, expected)
    return pool


class Description(DescriptionPart):
    """A run description: a network, the time to simulate, and how ranks exchange spikes."""

    format_version: int = Field(description="of this format: 1")
    seed: int = _field("seed", "of all random numbers")
    time: Time = Field(description="what is simulated")
    delay_ratio: int | str = _field(
        "delay_ratio", 'D, cycles between exchanges of all ranks; "auto": as many as are exact'
    )
    lag: int = _field("lag", "windows until what is sent is due, in lanes that leave it open")
    schedule: str | list[LaneRule] = _field(
        "schedule", "name of a schedule, or its lanes from narrow to wide"
    )
    placement: Annotated[str | None, BeforeValidator(placement_text.text_of)] = Field(
        None, description="of neurons on ranks; null: the one that the schedule implies"
    )
    exchange: str | dict[str, Any] = Field(
        default_factory=dict, description="how spikes travel, for all lanes or by lane"
    )
    wire: str | dict[str, str] = Field(
        "compact", description="format of a spike in a message, for all lanes or by lane"
    )
    delivery: str | None = Field(
        None, description="how synapses are visited: tuned (null), or reference, plain and slow"
    )
    network: Network = Field(description="neurons and synapses")
    record: dict[str, Any] = Field(
        {},
        description="what is recorded of the run",
    )
    inject: dict[str, Any] = Field(
        {},
        description="compute times that take the place of work",
    )

    def check(self, with_network: bool = True) -> None:
        """Raises BadInput for the first field that contradicts others, for any number of ranks."""
        self.time.check()
        _check_record(self.record)
        for field in LISTS_BY_RANK:
            if self.inject.get(field) == []:
                raise refusal(f"inject.{field}", [], "a number, or one for each rank")
        if with_network:
            self.network.check(self.time.resolution_ms)
        if not isinstance(self.schedule, str):
            check_lanes(tuple(self.schedule))
            self._check_areas(self.schedule)

    def _check_areas(self, lanes: list[LaneRule]) -> None:
        """Raises BadInput for a lane from or to areas that the network does not have."""
        areas = self.network.areas
        for number, lane in enumerate(lanes):
            for field, names in zip(("from", "to"), lane.ends, strict=True):
                if names is None:
                    continue
                different = set(names)
                if not names or len(different) < len(names) or not different <= set(areas):
                    expected = f"areas of the network, none twice: {', '.join(areas)}"
                    raise refusal(f"schedule.{number}.{field}", names, expected, "unknown")

    def check_ranks(self, ranks: int) -> None:
        """Raises BadInput for a list in `inject` without a value for each of so many ranks."""
        for field in LISTS_BY_RANK:
            values = self.inject.get(field)
            if isinstance(values, list) and len(values) not in (1, ranks):
                raise refusal(f"inject.{field}", values, f"1 value, or {ranks}, one for each rank")

    @cached_property
    def delays(self) -> list[tuple[int, int]]:
        """The shortest and the longest delay of each projection, in steps."""
        step = self.time.resolution_ms
        return [projection.delay.steps(step) for projection in self.network.projections]

    @cached_property
    def shortest(self) -> np.ndarray:
        """The shortest delay in steps, [source area, target area]; infinite without synapses."""
        network = self.network
        steps = np.array([shortest for shortest, _ in self.delays], dtype=float)
        area = np.array(network.area_of)
        projection, source, target = network.connections
        delays = np.full((len(network.areas), len(network.areas)), np.inf)
        np.minimum.at(delays, (area[source], area[target]), steps[projection])
        return delays

    def most_events(self, population: Population) -> int:
        """The most events from outside that a neuron of the population receives in a step."""
        if not population.size or not population.outside_hz:
            return 0
        return _most_events(1e-3 * population.outside_hz * self.time.resolution_ms)

    @property
    def neurons(self) -> int:
        """Number of neurons of the network."""
        return sum(population.size for population in self.network.populations)


def check_lanes(lanes: tuple[LaneRule, ...]) -> None:
    """Check that lanes widen.

    An area comes first, then blocks, each a multiple of the one before, then all ranks. Lanes
    between given areas may stand anywhere before that.

    Raises:
        BadInput: for the first lane that is out of order, and for a name that occurs twice.

    Example:
        >>> check_lanes((LaneRule(name="near", group="area"), LaneRule(name="far")))
    """
    if not 1 <= len(lanes) <= MAX_LANES:
        raise BadInput(
            f"schedule: a list of {len(lanes)} lanes; expected 1 to {MAX_LANES}", field="schedule"
        )
    names: set[str] = set()
    for number, lane in enumerate(lanes):
        if lane.name in names:
            raise refusal(f"schedule.{number}.name", lane.name, "a name that no lane before it has")
        names.add(lane.name)
    group_before: str | int | None = None  # of the lanes that join no given areas
    for number, lane in enumerate(lanes):
        is_last = number + 1 == len(lanes)
        expected = _expected_group(lane, group_before, is_last)
        if expected:
            raise refusal(f"schedule.{number}.group", lane.group, expected)
        if not lane.bound:
            group_before = lane.group


def _expected_group(lane: LaneRule, group_before: str | int | None, is_last: bool) -> str:
    """What is expected of the group of a lane behind another one; empty where it is right."""
    group = lane.group
    if lane.bound and group != "world":
        return "'world' in a lane that has from or to"
    if not is_last and not lane.bound and group == "world":
        return "'area' or an integer in all but the last lane"
    if group_before is not None and group == "area":
        return "blocks or 'world' after the first lane"
    if not isinstance(group, int) or not isinstance(group_before, int):
        return ""
    if group > group_before and group % group_before == 0:
        return ""
    return f"a larger multiple of the group before it, {group_before}"


def _check_record(record: dict[str, Any]) -> None:
    """Raises BadInput for a list of counters or sensors that is empty or names one twice."""
    for field in ("counters", "energy_sensors"):
        names = record.get(field)
        if not isinstance(names, list):
            continue
        is_empty = field == "counters" and not names
        if is_empty or len(set(names)) < len(names):
            raise refusal(f"record.{field}", names, "different names, at least one")


def read_description(
    description: object, where: str = "", network: Network | None = None, checked: bool = False
) -> Description:
    """Check a mapping of fields, and make a description of it.

    A description that has already been read is returned unchanged.

    Args:
        description: the content of a file.
        where: begins the line of an error, such as `FILE: `.
        network: its network, where that has been read before; a large one takes a second.
        checked: whether `fields.check` has passed it, as it has what a preset describes.

    Raises:
        BadInput: with one line, which names the field by its path, for what the mini-app would
            refuse whatever the number of ranks.

    Example:
        >>> neuron = {"model": "ignore_and_fire", "rate_hz": 2.5}
        >>> network = {"populations": [{"name": "E", "size": 100, "neuron": neuron}]}
        >>> time = {"simulate_ms": 10}
        >>> read_description({"format_version": 1, "time": time, "network": network}).neurons
        100
    """
    if isinstance(description, Description):
        return description
    content = _without_old_fields(description)
    to_check = content if network is None else {**content, "network": {"populations": []}}
    if not checked:
        fields.check(to_check, where)
    to_validate = content if network is None else {**content, "network": network}
    try:
        result = Description.model_validate(to_validate)
        result.check(network is None)
    except ValidationError as error:
        problem = invalid(
            error,
            "run description",
            model=Description,
            content=content,
        )
        raise problem.within(file=where.removesuffix(": ") or None) from None
    except BadInput as error:
        raise error.within(file=where.removesuffix(": ") or None) from None
    return result


def read_time(description: Any) -> Time:
    """The times of a description, whatever else it contains.

    Raises BadInput as `read_description` does.

    Example:
        >>> read_time({"time": {"simulate_ms": 10, "cycle_ms": 0.5}}).cycles
        20
    """
    fields.check_time(description)
    time = Time.model_validate(description["time"])
    time.check()
    return time


def _without_old_fields(description: Any) -> Any:
    """The description without fields of `record` that older versions of the mini-app filled in."""
    record = description.get("record") if isinstance(description, dict) else None
    if not isinstance(record, dict) or record.get("kernel") is not False:
        return description
    old = ("kernel", "kernel_interval_s")
    still_known = {name: value for name, value in record.items() if name not in old}
    return {**description, "record": still_known}
