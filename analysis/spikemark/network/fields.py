"""The fields of a run description (miniapp/FORMAT.md): what they may hold, and their defaults.

Defaults stand here and in description.py, and nowhere else in the analysis. A neuron model's own parameters
are passed on unchecked: the mini-app checks them.
"""

from functools import cache, cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from . import distributions

WHOLE = 1e-6  # how far from whole a number may be that has to be: the rounding of decimal fractions
MOST_HZ, MOST_MS, MOST, MOST_WEIGHT, LEAST_WEIGHT = 1e9, 1e6, 4_000_000_000, 1e12, 1e-100
RATE_HZ = 2.5  # of ignore_and_fire
MOST_DELAY_RATIO = 1_000_000
MOST_EVENTS, LEAST_EVENTS = 100, 1.2e-7  # from outside, per neuron and step
MOST_RANDOM, LEAST_RANDOM = 1e6, 1e-4  # mean of a random in-degree


def number(**limits: float) -> Any:
    """The type of a finite number within the limits."""
    return Annotated[float, Field(allow_inf_nan=False, **limits)]


def integer(least: int, most: int) -> Any:
    """The type of an integer within the limits."""
    return Annotated[int, Field(ge=least, le=most)]


Milliseconds = number(ge=1e-6, le=MOST_MS)
Spread = number(ge=0, le=MOST_MS)
Magnitude = number(ge=-MOST_WEIGHT, le=MOST_WEIGHT)
Names = str | list[str]


class Known(BaseModel):
    """Refuses fields that the mini-app does not know either; a misspelt field would silently be ignored."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _no_other(cls, given: Any) -> Any:
        names = _names(cls)
        unknown = [name for name in given if name not in names] if isinstance(given, dict) else []
        if unknown:
            raise ValueError(f"{unknown[0]}: unknown field; allowed: {', '.join(names)}")
        return given


@cache
def _names(kind: type[Known]) -> tuple[str, ...]:
    """The names of the fields, as they stand in a description."""
    return tuple(about.alias or name for name, about in kind.model_fields.items())


class Neuron(BaseModel):
    """The model of a population; of its parameters only what says how often it fires."""

    model: str
    rate_hz: number(ge=0, le=MOST_HZ) = None  # None where it is not given
    rate_cv: number(ge=0) = 0.0

    @property
    def hz(self) -> float | None:
        """The described mean rate; None for a model without a rate of its own."""
        return RATE_HZ if self.rate_hz is None and self.model == "ignore_and_fire" else self.rate_hz


class External(Known):
    """Input from outside: `synapses` Poisson processes of `rate_hz`, whose events weigh `weight`."""

    rate_hz: number(ge=0, le=MOST_HZ)
    synapses: integer(0, 10**9) = 1
    weight: Magnitude

    @property
    def hz(self) -> float:
        """Events per neuron and second."""
        return self.synapses * self.rate_hz


class Population(Known):
    """Neurons of one area that share a model."""

    name: str
    size: integer(0, MOST)
    neuron: Neuron
    area: str | None = Field(None, validate_default=True)  # always a string after reading
    external: External | None = None

    @field_validator("area")
    @classmethod
    def _of_its_own(cls, area: str | None, others: ValidationInfo) -> str:
        return others.data.get("name", "") if area is None else area

    @property
    def outside_hz(self) -> float:
        """Events from outside per neuron and second."""
        return self.external.hz if self.external else 0.0


class Indegree(Known):
    """A number of synapses that every neuron draws for itself."""

    mean: number(ge=0, le=MOST_RANDOM)
    distribution: Literal["poisson"] = "poisson"

    @model_validator(mode="after")
    def _not_tiny(self) -> "Indegree":
        if 0 < self.mean < LEAST_RANDOM:
            raise ValueError(f"mean={self.mean:g}: 0, or a number from {LEAST_RANDOM:g} to {MOST_RANDOM:g}")
        return self


class Delay(Known):
    """Delays in ms, as they are given; `limits` fills in what is left out."""

    distribution: Literal["normal", "exponential", "constant"] = "normal"
    mean: Milliseconds
    sd: Spread = 0.0
    min: Spread | None = None
    max: Milliseconds | None = None

    def limits(self, resolution_ms: float) -> tuple[float, float]:
        """The limits between which delays are drawn, ms. Raises ValueError for limits that leave no delay."""
        return distributions.delay_limits(
            self.mean, self.sd, self.min, self.max, self.distribution, resolution_ms
        )

    def steps(self, resolution_ms: float) -> tuple[int, int]:
        """The shortest and the longest delay, in steps. Raises ValueError as `limits`."""
        low, high = self.limits(resolution_ms)
        return distributions.steps(low, resolution_ms), distributions.steps(high, resolution_ms)


class Weight(Known):
    """Weights of a projection; with `classes` 0 every synapse has one of its own."""

    mean: Magnitude
    sd: number(ge=0, le=MOST_WEIGHT) = 0.0
    classes: integer(0, 4096) = 32

    @model_validator(mode="after")
    def _of_one_sign(self) -> "Weight":
        if self.classes == 1:
            raise ValueError("classes=1: 0, or an integer from 2 to 4096")
        if self.sd and not self.classes and self.sd > abs(self.mean) / 3:
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
        return distributions.furthest_weight(self.mean, self.sd, self.classes)

    @property
    def levels(self) -> tuple[float, ...]:
        """The weights that synapses have; empty where every synapse has its own."""
        return () if self.own else distributions.weight_levels(self.mean, self.sd, self.classes)


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
        return distributions.most_synapses(self.indegree.mean) if self.poisson else self.indegree


class Lane(Known):
    """A lane of a schedule that the description lists itself."""

    name: str
    group: Literal["area", "world"] | integer(1, 10**6) = "world"
    source: Names | None = Field(None, alias="from")
    target: Names | None = Field(None, alias="to")
    period: integer(1, 10**6) | Literal["D", "auto"] = 1
    lag: integer(0, 1000) = 0


class Time(Known):
    """All in ms; warm-up and measured part are whole cycles, and a cycle is whole steps."""

    resolution_ms: number(ge=1e-6, le=1000) = 0.1
    cycle_ms: number(ge=1e-6, le=1000) | None = Field(None, validate_default=True)  # never None after reading
    warmup_ms: number(ge=0, le=1e9) = 0.0
    simulate_ms: number(ge=1e-6, le=1e9) | None = None

    @field_validator("cycle_ms")
    @classmethod
    def _one_step(cls, cycle_ms: float | None, others: ValidationInfo) -> float:
        return others.data.get("resolution_ms", 0.0) if cycle_ms is None else cycle_ms

    @model_validator(mode="after")
    def _whole(self) -> "Time":
        for name, unit_ms, unit in (
            ("cycle_ms", self.resolution_ms, "the resolution"),
            ("warmup_ms", self.cycle_ms, "the cycle"),
            ("simulate_ms", self.cycle_ms, "the cycle"),
        ):
            given = getattr(self, name) or 0.0
            units = given / unit_ms
            least = 0 if name == "warmup_ms" or getattr(self, name) is None else 1
            if abs(units - round(units)) > WHOLE or round(units) < least:
                raise ValueError(f"{name}={given:g}: a multiple of {unit}, {unit_ms:g}")
        return self

    @property
    def cycle_steps(self) -> int:
        """Steps of a cycle."""
        return round(self.cycle_ms / self.resolution_ms)

    @property
    def warmup_cycles(self) -> int:
        """Cycles before the measured part."""
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
        """True if the projection has any synapse."""
        return projection.most_synapses > 0 and self.populations[self.numbers[projection.target]].size > 0
