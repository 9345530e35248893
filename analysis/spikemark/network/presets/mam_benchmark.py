"""The MAM-benchmark of Lober et al. 2026 (section 4.2): areas with half of their synapses inside.

Each area is one population with one projection from itself and one from the pool of all other areas. As
published, area sizes and rates are normal, redrawn: sizes while they do not exceed the in-degree, rates
until positive. The published code draws the same number of synapses between areas from each source area;
here they come from the pool of all other areas.
"""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from .options import RunOptions, option

SUMMARY = "areas of ignore-and-fire neurons, half of the synapses within and half between areas"
# Lober et al. 2026, 2.4 and 4.2; 2921 synapses of each kind, one area per process on 32 processes
FULL = {"areas": 32, "neurons_per_area": 129_068, "indegree": 2 * 2921, "rate": 2.5}

Delay = tuple[Annotated[float, Field(gt=0, le=1e6)], Annotated[float, Field(ge=0, le=1e6)]]


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    areas: int = option(4, "number of areas", ge=1, le=4096)  # a description names every pair of them
    neurons_per_area: int = option(5000, "neurons per area (mean)", ge=1, le=4_000_000_000)
    indegree: int = option(
        500, "synapses per neuron, half within areas, half between", ge=0, le=4_000_000_000
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

    published: ClassVar = FULL

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

    @property
    def sizes(self) -> list[int]:
        """Neurons of each area: normal, with `size_cv`, redrawn while not above the in-degree."""
        if self.size_cv == 0:
            return [self.neurons_per_area] * self.areas
        rng, sizes = np.random.default_rng(self.seed), []
        while len(sizes) < self.areas:
            size = round(rng.normal(self.neurons_per_area, self.size_cv * self.neurons_per_area))
            sizes += [size] if size > self.indegree else []
        return sizes

    @property
    def rates(self) -> list[float]:
        """Mean rate of each area in spikes/s: relative spread `area_rate_cv`, normal, redrawn until positive.

        Then all are scaled alike, so that the mean over areas is `rate`, however much they differ.
        """
        rng, factors = np.random.default_rng([self.seed, 1]), []
        while len(factors) < self.areas:
            factor = 1 + self.area_rate_cv * rng.standard_normal()
            factors += [factor] if factor > 0 else []
        return [float(self.rate * factor / np.mean(factors)) for factor in factors]

    def description(self) -> dict:
        sizes, names = self.sizes, [f"area{number}" for number in range(self.areas)]
        populations = [
            {"name": name, "area": name, "size": size,
             "neuron": {"model": "ignore_and_fire", "rate_hz": hz, "rate_cv": self.rate_cv}}
            for name, size, hz in zip(names, sizes, self.rates, strict=True)
        ]  # fmt: skip
        between = self.indegree // 2 if self.areas > 1 else 0
        indegrees, delays = (self.indegree - between, between), (self.delay_intra, self.delay_inter)
        projections = []
        for name in names:
            pools = name, [other for other in names if other != name]
            for pool, indegree, (mean, sd), low in zip(pools, indegrees, delays, self.shortest, strict=True):
                delay = {"distribution": "normal", "mean": mean, "sd": sd, "min": low, "max": self.delay_max}
                if indegree or pool == name:
                    projections.append({"source": pool, "target": name, "indegree": indegree, "delay": delay})
        return self.run(populations, projections, self.resolution_ms, self.shortest[0])


describe = Options.describe
