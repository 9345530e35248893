"""A run description (miniapp/FORMAT.md) as an object.

Defaults stand here and in fields.py, and nowhere else in the analysis. `record` and `inject` are passed on
unchecked: the mini-app checks them.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from spikemark.core.errors import BadInput

from . import placement_field
from .complaint import complaint
from .distributions import most_events
from .fields import (
    LEAST_EVENTS,
    LEAST_WEIGHT,
    MOST_DELAY_RATIO,
    MOST_EVENTS,
    Known,
    Lane,
    Network,
    Population,
    Time,
    integer,
)

Wire = Literal["compact", "aer12"]
Whole = TypeVar("Whole", bound=BaseModel)


class Description(Known):
    """A run description: a network, the time to simulate, and how ranks exchange spikes."""

    format_version: Any = None
    seed: Any = None
    time: Time
    delay_ratio: integer(1, MOST_DELAY_RATIO) | Literal["auto"] = 1
    lag: integer(1, 1000) = 1
    schedule: str | Annotated[list[Lane], Field(min_length=1, max_length=32)] = "conventional"
    placement: Annotated[str | None, BeforeValidator(placement_field.text_of)] = None
    exchange: str | dict[str, Any] = Field(default_factory=dict)
    wire: Wire | dict[str, Wire] = "compact"
    network: Network
    record: Any = None
    inject: Any = None

    @model_validator(mode="after")
    def _agree(self) -> "Description":
        for line in _disagreements(self.network, self.time.resolution_ms):
            raise ValueError(line)
        return self

    @cached_property
    def delays(self) -> list[tuple[int, int]]:
        """The shortest and the longest delay of each projection, in steps."""
        return [p.delay.steps(self.time.resolution_ms) for p in self.network.projections]

    @cached_property
    def shortest(self) -> np.ndarray:
        """The shortest delay in steps, [source area, target area]; infinite where there are no synapses."""
        network, number = self.network, self.network.numbers
        filled = [p.size > 0 for p in network.populations]
        found = np.full((len(network.areas), len(network.areas)), np.inf)
        for projection, (shortest, _) in zip(network.projections, self.delays, strict=True):
            if not network.has_synapses(projection):
                continue
            target = network.area_of[number[projection.target]]
            for source in (number[name] for name in projection.sources):
                if filled[source]:
                    at = network.area_of[source], target
                    found[at] = min(found[at], shortest)
        return found

    def most_events(self, population: Population) -> int:
        """The most events from outside that a neuron of the population receives in a step."""
        if not population.size or not population.outside_hz:
            return 0
        return most_events(1e-3 * population.outside_hz * self.time.resolution_ms)

    @property
    def neurons(self) -> int:
        """Neurons of all populations."""
        return sum(p.size for p in self.network.populations)


def read(given: Any, where: str = "") -> Description:
    """The description in `given`, a mapping of fields.

    A description that has already been read is returned unchanged.

    Raises BadInput with one line, which begins with `where`, for what the mini-app would refuse.
    """
    if isinstance(given, Description):
        return given
    return _read(Description, given, where)


class _OnlyTime(BaseModel):
    """The part of a description that says how long is simulated."""

    time: Time


def read_time(given: Any) -> Time:
    """The times of a description, whatever else it contains. Raises BadInput as `read` does."""
    return _read(_OnlyTime, given, "").time


def _read(kind: type[Whole], given: Any, where: str) -> Whole:
    try:
        return kind.model_validate(given, strict=True)
    except ValidationError as error:
        raise BadInput(where + complaint(error, given)) from None


def _disagreements(network: Network, step: float) -> Iterator[str]:
    """Yields a line for every field that contradicts others."""
    if len(network.numbers) < len(network.populations):
        names = [p.name for p in network.populations]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        yield f"network.populations.{names.index(twice)}.name={twice!r}: no other population has that name"
    if not any(p.size for p in network.populations):
        yield "network.populations: no neurons"
    for i, population in enumerate(network.populations):
        events = 1e-3 * population.outside_hz * step
        if events and not LEAST_EVENTS <= events <= MOST_EVENTS:
            yield (
                f"network.populations.{i}.external.rate_hz={population.external.rate_hz:g}: 0, or"
                f" {LEAST_EVENTS:g} to {MOST_EVENTS} events per neuron and step"
            )
        if population.external and 0 < abs(population.external.weight) < LEAST_WEIGHT:
            yield (
                f"network.populations.{i}.external.weight={population.external.weight:g}: 0, or at least"
                f" {LEAST_WEIGHT:g} in magnitude"
            )
    for i, p in enumerate(network.projections):
        at = f"network.projections.{i}"
        for name in (*p.sources, p.target):
            if name not in network.numbers:
                yield f"{at}: no population {name!r}; there are {', '.join(network.numbers)}"
                return
        if p.most_synapses and not any(network.populations[network.numbers[name]].size for name in p.sources):
            yield f"{at}: indegree={p.synapses:g}; allowed is 0, its sources are empty"
        if 0 < abs(p.weights.mean) < LEAST_WEIGHT:
            yield f"{at}.weight={p.weights.mean:g}: 0, or at least {LEAST_WEIGHT:g} in magnitude"
        try:
            p.delay.steps(step)
        except ValueError as wrong:
            yield f"{at}.delay.{wrong}"
