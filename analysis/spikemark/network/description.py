"""A run description (miniapp/FORMAT.md) as an object: its fields, what they may hold, and their defaults.

Defaults stand here, and nowhere else in the analysis. `record`, `inject` and the parameters of a neuron model
are passed on unchecked: the mini-app checks them.
"""

import itertools
import math
from collections.abc import Iterator
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from spikemark.core.errors import BadInput, invalid

from . import placement_file

WHOLE = 1e-6  # how far from whole a number may be that has to be: the rounding of decimal fractions
HAIR = 1e-9  # steps within which a limit counts as lying on the grid or half-way
MOST_HZ, MOST_MS, MOST, MOST_WEIGHT = 1e9, 1e6, 4_000_000_000, 1e12
RATE_HZ = 2.5  # of ignore_and_fire
MOST_DELAY_RATIO = MOST_DELAY_STEPS = 1_000_000
MOST_EVENTS, LEAST_EVENTS = 100, 1.2e-7  # from outside, per neuron and step
MOST_RANDOM = 1e6  # mean of a random in-degree
NEGLIGIBLE = 1e-11  # in-degrees rarer than the likeliest one by this factor are not drawn
FURTHEST_SD = 6.34  # standard deviations from the mean that a weight of its own can lie
WORD = 2.0**32  # a draw takes 32 bits


def number(least: float, most: float) -> Any:
    """The type of a finite number within the limits."""
    return Annotated[float, Field(allow_inf_nan=False, ge=least, le=most)]


def integer(least: int, most: int) -> Any:
    """The type of an integer within the limits."""
    return Annotated[int, Field(ge=least, le=most)]


Milliseconds, Spread, Rate = number(1e-6, MOST_MS), number(0, MOST_MS), number(0, MOST_HZ)
Magnitude = number(-MOST_WEIGHT, MOST_WEIGHT)
Names = str | list[str]
Wire = Literal["compact", "aer12"]


@lru_cache
def _slices(classes: int) -> tuple[float, ...]:
    """Means of the slices of equal probability of the standard normal distribution, scaled to variance 1."""
    normal = NormalDist()
    density = [0.0, *(normal.pdf(normal.inv_cdf(k / classes)) for k in range(1, classes)), 0.0]
    means = [classes * (low - high) for low, high in itertools.pairwise(density)]
    spread = math.sqrt(math.fsum(mean**2 for mean in means) / classes)
    return tuple(mean / spread for mean in means)


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def _most_synapses(mean: float) -> int:
    """The most synapses that a neuron with a Poisson in-degree of this mean can draw."""
    most, relative = int(mean), 1.0
    while mean and relative > NEGLIGIBLE:
        most += 1
        relative *= mean / most
    return most


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def _most_events(mean: float) -> int:
    """The most events from outside that a neuron can receive in a step, their mean being at most 100."""
    probability = [math.exp(-mean)]
    for k in range(1, 400):
        probability.append(probability[-1] * mean / k)
    tails = itertools.accumulate(reversed(probability[1:]))  # P(399 or more), P(398 or more), ...
    return next((399 - n for n, tail in enumerate(tails) if round(WORD * tail) > 0), 0)


class Known(BaseModel):
    """Refuses fields that the mini-app does not know either; a misspelt field would silently be ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Neuron(BaseModel):
    """The model of a population; of its parameters only what says how often it fires."""

    model: str
    rate_hz: Rate = None  # None where it is not given
    rate_cv: number(0, 1) = 0.0

    @property
    def hz(self) -> float | None:
        """The described mean rate; None for a model without a rate of its own."""
        return RATE_HZ if self.rate_hz is None and self.model == "ignore_and_fire" else self.rate_hz


class External(Known):
    """Input from outside: `synapses` Poisson processes of `rate_hz`, whose events weigh `weight`."""

    rate_hz: Rate
    synapses: integer(0, 10**9) = 1
    weight: Magnitude


class Population(Known):
    """Neurons of one area that share a model."""

    name: str
    size: integer(0, MOST)
    neuron: Neuron
    area: str = Field(default_factory=lambda before: before.get("name", ""))
    external: External | None = None

    @property
    def outside_hz(self) -> float:
        """Events from outside per neuron and second."""
        return self.external.synapses * self.external.rate_hz if self.external else 0.0


class Indegree(Known):
    """A number of synapses that every neuron draws for itself."""

    mean: number(0, MOST_RANDOM)
    distribution: Literal["poisson"] = "poisson"


class Delay(Known):
    """Delays in ms, as they are given; `limits` fills in what is left out."""

    distribution: Literal["normal", "exponential", "constant"] = "normal"
    mean: Milliseconds
    sd: Spread = 0.0
    min: Spread | None = None
    max: Milliseconds | None = None

    def limits(self, step: float) -> tuple[float, float]:
        """The limits between which delays are drawn, ms, on a grid of `step` ms; both are the only delay.

        Raises ValueError for limits that leave no delay.
        """
        kind, mean, sd = self.distribution, self.mean, self.sd
        low, high = self.min, self.max
        if low is None:
            low = mean if kind == "constant" else min(step, mean)
        if high is None:
            high = 5 * mean if kind == "exponential" else mean + 4 * sd
        alone = kind != "exponential" and not sd
        inside = low / step - HAIR <= mean / step <= high / step + HAIR if alone else low < high
        most = f"at most {MOST_DELAY_STEPS} steps of {step:g} ms"
        for right, field, expected in (
            (kind == "normal" or not sd, f"sd={sd:g}", f"0 for the {kind} distribution"),
            (low >= step * (1 - HAIR), f"min={low:g}", f"at least the resolution, {step:g} ms"),
            (low <= high, f"min={low:g}", f"at most the longest, {high:g} ms"),
            (high / step <= MOST_DELAY_STEPS, f"max={high:g}", most),
            (inside, f"mean={mean:g}", f"a distribution with some weight in [{low:g}, {high:g}] ms"),
        ):
            if not right:
                raise ValueError(f"{field}: {expected}")
        return (mean, mean) if alone else (low, high)

    def steps(self, step: float) -> tuple[int, int]:
        """The shortest and the longest delay, in steps of the grid. Raises ValueError as `limits`."""
        low, high = (math.floor(ms / step + 0.5 + HAIR) for ms in self.limits(step))
        return low, high


class Weight(Known):
    """Weights of a projection; with `classes` 0 every synapse has one of its own."""

    mean: Magnitude
    sd: number(0, MOST_WEIGHT) = 0.0
    classes: Literal[0] | integer(2, 4096) = 32

    @model_validator(mode="after")
    def _of_one_sign(self) -> "Weight":
        if self.own and self.sd > abs(self.mean) / 3:
            raise ValueError(f"sd={self.sd:g}: at most {abs(self.mean) / 3:g}, a third of the mean")
        if self.furthest > abs(self.mean):
            most = abs(self.mean) * self.sd / self.furthest
            raise ValueError(f"sd={self.sd:g}: at most {most:g}, so that no weight changes its sign")
        return self

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
        return () if self.own else tuple(self.mean + self.sd * place for place in _slices(self.classes))


class Projection(Known):
    """Synapses onto every neuron of `target`, their sources drawn from one pool."""

    source: Names
    target: str
    indegree: integer(0, MOST) | Indegree
    delay: Delay
    weight: Magnitude | Weight = 1.0

    @property
    def sources(self) -> list[str]:
        """Names of the populations of the pool; one that is named twice is in it twice."""
        return [self.source] if isinstance(self.source, str) else self.source

    @property
    def weights(self) -> Weight:
        """The weights, even if only one is given."""
        return self.weight if isinstance(self.weight, Weight) else Weight(mean=self.weight)

    @property
    def poisson(self) -> bool:
        """True if every neuron draws its own number of synapses, from a Poisson distribution."""
        return isinstance(self.indegree, Indegree)

    @property
    def synapses(self) -> float:
        """Expected synapses per target neuron."""
        return self.indegree.mean if self.poisson else self.indegree

    @property
    def most_synapses(self) -> int:
        """The most synapses that a target neuron can have."""
        return _most_synapses(self.indegree.mean) if self.poisson else self.indegree


class Lane(Known):
    """A lane of a schedule: the ranks that it joins, and when they exchange."""

    name: str
    group: Literal["area", "world"] | integer(1, 10**6) = "world"
    source: Names | None = Field(None, alias="from")  # only from these areas
    target: Names | None = Field(None, alias="to")  # only to these areas
    period: integer(1, 10**6) | Literal["D", "auto"] = 1  # D: D / (lag + 1); auto: the longest exact
    lag: integer(0, 1000) = 0  # windows until what is sent is due

    @property
    def ends(self) -> list[list[str] | None]:
        """The areas that it comes from, and those that it goes to; None for all."""
        return [[given] if isinstance(given, str) else given for given in (self.source, self.target)]

    @property
    def bound(self) -> bool:
        """True if the lane joins given areas only."""
        return self.ends != [None, None]

    def window(self, delay_ratio: int, lag: int) -> int:
        """Cycles of a window with D = `delay_ratio`, which has to be a multiple of `lag` + 1."""
        if self.period != "D":
            return self.period
        if delay_ratio % (lag + 1):
            raise BadInput.of("delay_ratio", delay_ratio, f"a multiple of {lag + 1} with {lag=}")
        return delay_ratio // (lag + 1)


class Time(Known):
    """All in ms; warm-up and measured part are whole cycles, and a cycle is whole steps."""

    resolution_ms: number(1e-6, 1000) = 0.1
    cycle_ms: number(1e-6, 1000) = Field(default_factory=lambda before: before.get("resolution_ms", 0.1))
    warmup_ms: number(0, 1e9) = 0.0
    simulate_ms: number(1e-6, 1e9) | None = None

    @model_validator(mode="after")
    def _whole(self) -> "Time":
        for name, unit in (("cycle", "resolution"), ("warmup", "cycle"), ("simulate", "cycle")):
            given, unit_ms = getattr(self, f"{name}_ms"), getattr(self, f"{unit}_ms")
            units = (given or 0.0) / unit_ms
            if abs(units - round(units)) > WHOLE or (given and name != "warmup" and round(units) < 1):
                raise ValueError(f"{name}_ms={given:g}: a multiple of the {unit}, {unit_ms:g}")
        return self

    @property
    def cycle_steps(self) -> int:
        return round(self.cycle_ms / self.resolution_ms)

    @property
    def warmup_cycles(self) -> int:
        return round(self.warmup_ms / self.cycle_ms)

    @property
    def cycles(self) -> int:
        """Cycles of the measured part; 0 where the description does not say how long it is."""
        return round((self.simulate_ms or 0.0) / self.cycle_ms)


class Network(Known):
    """Populations and what projects from one to another."""

    populations: Annotated[list[Population], Field(min_length=1)]
    projections: list[Projection] = []

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each population, by name."""
        return {p.name: number for number, p in enumerate(self.populations)}

    @cached_property
    def sizes(self) -> np.ndarray:
        """Neurons of each population, [population]."""
        return np.array([p.size for p in self.populations], dtype=np.int64)

    @cached_property
    def areas(self) -> list[str]:
        """Names of the areas, in the order in which they first appear."""
        return list(dict.fromkeys(p.area for p in self.populations))

    @cached_property
    def area_of(self) -> list[int]:
        """The number of the area of each population."""
        number = {name: i for i, name in enumerate(self.areas)}
        return [number[p.area] for p in self.populations]

    @cached_property
    def synapses(self) -> float:
        """Expected synapses of all projections."""
        return sum(p.synapses * self.populations[self.numbers[p.target]].size for p in self.projections)

    def has_synapses(self, projection: Projection) -> bool:
        return projection.most_synapses > 0 and self.populations[self.numbers[projection.target]].size > 0

    def pairs(self, projection: Projection) -> Iterator[tuple[int, int]]:
        """Source and target area of the synapses of a projection; none if it has no synapses."""
        if self.has_synapses(projection):
            target = self.area_of[self.numbers[projection.target]]
            for source in map(self.numbers.get, projection.sources):
                if self.populations[source].size:
                    yield self.area_of[source], target

    def disagreements(self, step: float) -> Iterator[str]:
        """Yields a line for every field that contradicts others; `step` in ms."""
        names = [p.name for p in self.populations]
        for i, name in enumerate(names):
            if name in names[:i]:
                yield f"network.populations.{i}.name={name!r}: no other population has that name"
        if not any(p.size for p in self.populations):
            yield "network.populations: no neurons"
        for i, population in enumerate(self.populations):
            events = 1e-3 * population.outside_hz * step
            if events and not LEAST_EVENTS <= events <= MOST_EVENTS:
                at = f"network.populations.{i}.external.rate_hz={population.external.rate_hz:g}"
                yield f"{at}: 0, or {LEAST_EVENTS:g} to {MOST_EVENTS} events per neuron and step"
        for i, p in enumerate(self.projections):
            at = f"network.projections.{i}"
            for name in (*p.sources, p.target):
                if name not in self.numbers:
                    yield f"{at}: no population {name!r}; there are {', '.join(self.numbers)}"
                    return
            if p.most_synapses and not any(self.populations[self.numbers[n]].size for n in p.sources):
                yield f"{at}: indegree={p.synapses:g}; expected 0, its sources are empty"
            try:
                p.delay.steps(step)
            except ValueError as wrong:
                yield f"{at}.delay.{wrong}"


class Description(Known):
    """A run description: a network, the time to simulate, and how ranks exchange spikes."""

    format_version: Any = None
    seed: Any = None
    time: Time
    delay_ratio: integer(1, MOST_DELAY_RATIO) | Literal["auto"] = 1
    lag: integer(1, 1000) = 1
    schedule: str | Annotated[list[Lane], Field(min_length=1, max_length=32)] = "conventional"
    placement: Annotated[str | None, BeforeValidator(placement_file.text_of)] = None
    exchange: str | dict[str, Any] = Field(default_factory=dict)
    wire: Wire | dict[str, Wire] = "compact"
    network: Network
    record: Any = None
    inject: Any = None

    @model_validator(mode="after")
    def _agree(self) -> "Description":
        for line in self.network.disagreements(self.time.resolution_ms):
            raise ValueError(line)
        return self

    @cached_property
    def delays(self) -> list[tuple[int, int]]:
        """The shortest and the longest delay of each projection, in steps."""
        return [p.delay.steps(self.time.resolution_ms) for p in self.network.projections]

    @cached_property
    def shortest(self) -> np.ndarray:
        """The shortest delay in steps, [source area, target area]; infinite where there are no synapses."""
        network = self.network
        found = np.full((len(network.areas), len(network.areas)), np.inf)
        for projection, (shortest, _) in zip(network.projections, self.delays, strict=True):
            for at in network.pairs(projection):
                found[at] = min(found[at], shortest)
        return found

    def most_events(self, population: Population) -> int:
        """The most events from outside that a neuron of the population receives in a step."""
        if not population.size or not population.outside_hz:
            return 0
        return _most_events(1e-3 * population.outside_hz * self.time.resolution_ms)

    @property
    def neurons(self) -> int:
        return sum(p.size for p in self.network.populations)


class _OnlyTime(BaseModel):
    """The part of a description that says how long is simulated."""

    time: Time


def read(given: Any, where: str = "") -> Description:
    """The description in `given`, a mapping of fields.

    A description that has already been read is returned unchanged.

    Raises BadInput with one line, which begins with `where`, for what the mini-app would refuse.
    """
    return given if isinstance(given, Description) else _read(Description, given, where)


def read_time(given: Any) -> Time:
    """The times of a description, whatever else it contains. Raises BadInput as `read` does."""
    return _read(_OnlyTime, given, "").time


def _read(kind: type[BaseModel], given: Any, where: str) -> Any:
    try:
        return kind.model_validate(given, strict=True)
    except ValidationError as error:
        raise invalid(error, where, "run description", kind, given) from None
