"""The MAM-benchmark of Lober et al. 2026 (section 4.2): areas with half of their synapses inside.

Each area is one population with one projection from itself and one from the pool of all other areas. As
published, area sizes and rates are normal, redrawn: sizes while they do not exceed the in-degree, rates
until positive. The published code draws the same number of synapses between areas from each source area;
here they come from the pool of all other areas.
"""

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from .options import RunOptions, choose, option

SUMMARY = "areas of ignore-and-fire neurons, half of the synapses within and half between areas"
# Lober et al. 2026, 2.4 and 4.2; 2921 synapses of each kind, one area per process on 32 processes
FULL = {"areas": 32, "neurons_per_area": 129_068, "indegree": 2 * 2921, "rate": 2.5}

# The mini-app's own limits. Areas are limited because a description names every pair of them.
MOST_NEURONS, MOST_SYNAPSES, MOST_AREAS = 4_000_000_000, 4_000_000_000, 4096

Delay = tuple[Annotated[float, Field(gt=0, le=1e6)], Annotated[float, Field(ge=0, le=1e6)]]


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    areas: int = option(4, "number of areas", ge=1, le=MOST_AREAS)
    neurons_per_area: int = option(5000, "neurons per area (mean)", ge=1, le=MOST_NEURONS)
    indegree: int = option(
        500, "synapses per neuron, half within areas, half between", ge=0, le=MOST_SYNAPSES
    )
    rate: float = option(2.5, "mean rate, spikes/s", ge=0, le=1e6)
    delay_ratio: int = option(10, "D: cycles from one exchange between areas to the next", ge=1, le=1_000_000)
    delay_intra: Delay = option((0.5, 0.25), "mean and SD of delays within an area, ms")
    delay_inter: Delay = option((1.5, 0.75), "mean and SD of delays between areas, ms")
    delay_inter_min: float | None = option(
        None, "shortest delay between areas, ms; default: D cycles, so D changes the network", gt=0, le=1e6
    )
    delay_max: float = option(2.0, "longest delay, ms", gt=0, le=1e6)
    size_cv: float = option(0.0, "relative spread of the area sizes", ge=0, le=10)
    rate_cv: float = option(0.0, "relative spread of the neurons' rates", ge=0, le=1)
    area_rate_cv: float = option(0.0, "relative spread of the areas' mean rates", ge=0, le=1)
    warmup_ms: float = option(100.0, "simulated time before the measurement, ms", ge=0)
    cycle_ms: float | None = option(None, "cycle d_min, ms; default: one step, the resolution", gt=0)
    resolution_ms: float = option(0.1, "step h, ms", gt=0)

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        redrawn = f"more than indegree={self.indegree} with size_cv > 0, because smaller areas are redrawn"
        shortest = max(self.shortest[: 1 if self.areas == 1 else 2])
        self.expect(
            (self.size_cv == 0 or self.neurons_per_area > self.indegree, "neurons_per_area", redrawn),
            (self.delay_max >= shortest, "delay_max", f"at least the shortest delay, {shortest} ms"),
        )
        return self

    @property
    def shortest(self) -> tuple[float, float]:
        """Shortest delays within areas, d_min, which is h unless the cycle is longer, and between; ms."""
        near = self.resolution_ms if self.cycle_ms is None else self.cycle_ms
        far = self.delay_inter_min
        return near, round(self.delay_ratio * near, 9) if far is None else far


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None is the default.

    `full` uses the published sizes, in-degree and rate if they are not given. Raises BadInput naming the
    option, its value and what is expected.
    """
    chosen = choose(Options, options, full, FULL)
    sizes = _sizes(chosen)
    expected = f"at most {MOST_NEURONS} neurons in all areas together"
    chosen.expect((sum(sizes) <= MOST_NEURONS, "neurons_per_area", expected))
    names = [f"area{number}" for number in range(chosen.areas)]
    fires = [{"model": "ignore_and_fire", "rate_hz": hz, "rate_cv": chosen.rate_cv} for hz in _rates(chosen)]
    populations = [
        {"name": name, "area": name, "size": size, "neuron": neuron}
        for name, size, neuron in zip(names, sizes, fires, strict=True)
    ]
    between = chosen.indegree // 2 if chosen.areas > 1 else 0
    indegrees, delays = (chosen.indegree - between, between), (chosen.delay_intra, chosen.delay_inter)
    projections = []
    for name in names:
        pools = name, [other for other in names if other != name]
        for pool, indegree, (mean, sd), low in zip(pools, indegrees, delays, chosen.shortest, strict=True):
            delay = {"distribution": "normal", "mean": mean, "sd": sd, "min": low, "max": chosen.delay_max}
            if indegree or pool == name:
                projections.append({"source": pool, "target": name, "indegree": indegree, "delay": delay})
    step, cycle = chosen.resolution_ms, chosen.shortest[0]
    return chosen.run(populations, projections, chosen.delay_ratio, step, cycle)


def _sizes(options: Options) -> list[int]:
    """Neurons of each area: normal with relative spread `size_cv`, redrawn while not above the in-degree."""
    if options.size_cv == 0:
        return [options.neurons_per_area] * options.areas
    rng, sizes = np.random.default_rng(options.seed), []
    while len(sizes) < options.areas:
        size = round(rng.normal(options.neurons_per_area, options.size_cv * options.neurons_per_area))
        sizes += [size] if size > options.indegree else []
    return sizes


def _rates(options: Options) -> list[float]:
    """Mean rate of each area in spikes/s: relative spread `area_rate_cv`, normal, redrawn until positive.

    Then all are scaled alike, so that the mean over areas is `rate`, however much they differ.
    """
    rng, factors = np.random.default_rng([options.seed, 1]), []
    while len(factors) < options.areas:
        factor = 1 + options.area_rate_cv * rng.standard_normal()
        factors += [factor] if factor > 0 else []
    return [float(options.rate * factor / np.mean(factors)) for factor in factors]
