"""The MAM-benchmark of Lober et al. 2026 (section 4.2): areas with half of their synapses inside.

Each area is one population with one projection from itself and one from the pool of all other areas. As
published, area sizes and rates are normal, redrawn: sizes while they do not exceed the in-degree, rates
until positive.
"""

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from spikemark.core.errors import BadInput

from .options import choose
from .run_options import RunOptions

SUMMARY = "areas of ignore-and-fire neurons, half of the synapses within and half between areas"
# Lober et al. 2026, 2.4 and 4.2; 2921 synapses of each kind, one area per process on 32 processes
FULL = {"areas": 32, "neurons_per_area": 129_068, "indegree": 2 * 2921, "rate": 2.5}

# The mini-app's own limits. Areas are limited because a description names every pair of them.
MOST_NEURONS, MOST_SYNAPSES, MOST_AREAS = 4_000_000_000, 4_000_000_000, 4096

Spread = Annotated[float, Field(ge=0, le=1e6)]
Milliseconds = Annotated[float, Field(gt=0, le=1e6)]
Delay = tuple[Milliseconds, Spread]


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    areas: Annotated[int, Field(ge=1, le=MOST_AREAS, description="number of areas")] = 4
    neurons_per_area: Annotated[int, Field(ge=1, le=MOST_NEURONS, description="neurons per area (mean)")] = (
        5000
    )
    indegree: Annotated[
        int, Field(ge=0, le=MOST_SYNAPSES, description="synapses per neuron, half within areas, half between")
    ] = 500
    rate: Annotated[float, Field(ge=0, le=1e6, description="mean rate, spikes/s")] = 2.5
    delay_ratio: Annotated[
        int, Field(ge=1, le=1_000_000, description="D: cycles from one exchange between areas to the next")
    ] = 10
    delay_intra: Annotated[Delay, Field(description="mean and SD of delays within an area, ms")] = (0.5, 0.25)
    delay_inter: Annotated[Delay, Field(description="mean and SD of delays between areas, ms")] = (1.5, 0.75)
    delay_inter_min: Annotated[
        float | None,
        Field(
            gt=0,
            le=1e6,
            description="shortest delay between areas, ms; default: D cycles, so D changes the network",
        ),
    ] = None
    delay_max: Annotated[float, Field(gt=0, le=1e6, description="longest delay, ms")] = 2.0
    size_cv: Annotated[float, Field(ge=0, le=10, description="relative spread of the area sizes")] = 0.0
    rate_cv: Annotated[float, Field(ge=0, le=1, description="relative spread of the neurons' rates")] = 0.0
    area_rate_cv: Annotated[
        float, Field(ge=0, le=1, description="relative spread of the areas' mean rates")
    ] = 0.0
    warmup_ms: Annotated[float, Field(ge=0, description="simulated time before the measurement, ms")] = 100.0
    cycle_ms: Annotated[
        float | None, Field(gt=0, description="cycle d_min, ms; default: one step, the resolution")
    ] = None
    resolution_ms: Annotated[float, Field(gt=0, description="step h, ms")] = 0.1

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        if self.size_cv > 0 and self.neurons_per_area <= self.indegree:
            raise ValueError(
                f"neurons_per_area={self.neurons_per_area}: with size_cv > 0 above indegree={self.indegree},"
                " because smaller areas are redrawn"
            )
        shortest = max(self.intra_min, self.inter_min if self.areas > 1 else 0)
        if self.delay_max < shortest:
            raise ValueError(
                f"delay_max={self.delay_max}: at least the shortest delay, {shortest} ms"
                f" (delay_ratio={self.delay_ratio}, cycle {self.intra_min} ms)"
            )
        return self

    @property
    def intra_min(self) -> float:
        """Shortest delay within an area: d_min, which is h unless the cycle is longer."""
        return self.resolution_ms if self.cycle_ms is None else self.cycle_ms

    @property
    def inter_min(self) -> float:
        """Shortest delay between areas: D d_min."""
        return (
            round(self.delay_ratio * self.intra_min, 9)
            if self.delay_inter_min is None
            else self.delay_inter_min
        )


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` uses the published sizes, in-degree and rate if they are not given. The published code draws
    the same number of inter-area synapses from each source area; here they come from the pool of all other
    areas. Raises BadInput naming the option, its value and what is allowed.
    """
    chosen = choose(Options, options, full, FULL)
    sizes = area_sizes(chosen)
    if sum(sizes) > MOST_NEURONS:
        raise BadInput(
            f"neurons_per_area={chosen.neurons_per_area}: {chosen.areas} areas have {sum(sizes)} neurons"
            f" together; allowed are {MOST_NEURONS}"
        )
    names = [f"area{number}" for number in range(chosen.areas)]
    rates = area_rates(chosen)
    populations = [_population(*area, chosen) for area in zip(names, sizes, rates, strict=True)]
    projections = [projection for name in names for projection in _projections(name, names, chosen)]
    return chosen.described(
        populations, projections, chosen.delay_ratio, chosen.resolution_ms, chosen.intra_min
    )


def area_sizes(options: Options) -> list[int]:
    """Neurons of each area: normal with relative spread `size_cv`, redrawn while not above the in-degree."""
    if options.size_cv == 0:
        return [options.neurons_per_area] * options.areas
    rng = np.random.default_rng(options.seed)
    sizes = []
    while len(sizes) < options.areas:
        size = round(rng.normal(options.neurons_per_area, options.size_cv * options.neurons_per_area))
        if size > options.indegree:
            sizes.append(size)
    return sizes


def area_rates(options: Options) -> list[float]:
    """Mean rate of each area in spikes/s: relative spread `area_rate_cv`, normal, redrawn until positive."""
    rng = np.random.default_rng([options.seed, 1])
    rates = []
    while len(rates) < options.areas:
        factor = 1 + options.area_rate_cv * rng.standard_normal()
        if factor > 0:
            rates.append(options.rate * factor)
    return rates


def _population(name: str, size: int, rate: float, options: Options) -> dict:
    neuron = {"model": "ignore_and_fire", "rate_hz": rate, "rate_cv": options.rate_cv}
    return {"name": name, "area": name, "size": size, "neuron": neuron}


def _projections(name: str, names: list[str], options: Options) -> list[dict]:
    others = [other for other in names if other != name]
    inter = options.indegree // 2 if others else 0
    projections = [
        _projection(name, name, options.indegree - inter, options.delay_intra, options.intra_min, options)
    ]
    if inter:
        projections.append(_projection(others, name, inter, options.delay_inter, options.inter_min, options))
    return projections


def _projection(source, target: str, indegree: int, delay: tuple, shortest: float, options: Options) -> dict:
    mean, sd = delay
    limits = {"mean": mean, "sd": sd, "min": shortest, "max": options.delay_max}
    return {
        "source": source,
        "target": target,
        "indegree": indegree,
        "delay": {"distribution": "normal", **limits},
    }
