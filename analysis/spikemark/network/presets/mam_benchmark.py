"""The MAM-benchmark of Lober et al. 2026 (section 4.2): areas with half of their synapses inside.

Each area is one population with one projection from itself and one from the pool of all other
areas. As published, area sizes and rates are normal, redrawn: sizes while they do not exceed the
in-degree, rates until positive. The published code draws the same number of synapses between areas
from each source area; here they come from the pool of all other areas.
"""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from .options import RunOptions, option

SUMMARY = "areas of ignore-and-fire neurons, half of the synapses within and half between areas"
# Lober et al. 2026, 2.4 and 4.2; 2921 synapses of each kind, one area per process on 32 processes
FULL_SIZE = {"areas": 32, "neurons_per_area": 129_068, "indegree": 2 * 2921, "rate": 2.5}

Mean = Annotated[float, Field(gt=0, le=1e6, strict=True)]
Spread = Annotated[float, Field(ge=0, le=1e6, strict=True)]
Delay = Annotated[tuple[Mean, Spread], Field(strict=False)]  # a list in a file


class MamBenchmarkOptions(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    # A description names every pair of areas.
    areas: int = option(4, "number of areas", ge=1, le=4096)
    neurons_per_area: int = option(
        5000,
        "neurons per area (mean)",
        ge=1,
        le=4_000_000_000,
    )
    indegree: int = option(
        500, "synapses per neuron, half within areas, half between", ge=0, le=4_000_000_000
    )
    rate: float = option(2.5, "mean rate, spikes/s", ge=0, le=1e6)
    delay_ratio: int = option(
        10, "D: cycles from one exchange between areas to the next", ge=1, le=1_000_000
    )
    delay_intra: Delay = option((0.5, 0.25), "mean and SD of delays within an area, ms")
    delay_inter: Delay = option((1.5, 0.75), "mean and SD of delays between areas, ms")
    delay_inter_min: float | None = option(
        None,
        "shortest delay between areas, ms; default: D cycles, so D changes the network",
        gt=0,
        le=1e6,
    )
    delay_max: float = option(2.0, "longest delay, ms", gt=0, le=1e6)
    size_cv: float = option(
        0.0,
        "relative spread of the area sizes",
        ge=0,
        le=10,
    )
    rate_cv: float = option(
        0.0,
        "relative spread of the neurons' rates",
        ge=0,
        le=1,
    )
    area_rate_cv: float = option(
        0.0,
        "relative spread of the areas' mean rates",
        ge=0,
        le=1,
    )
    warmup_ms: float = option(
        100.0,
        "simulated time before the measurement, ms",
        ge=0,
    )
    cycle_ms: float | None = option(
        None, "cycle d_min, ms; default: one step, the resolution", gt=0
    )
    resolution_ms: float = option(0.1, "step h, ms", gt=0)

    published: ClassVar[dict[str, Any]] = FULL_SIZE

    @model_validator(mode="after")
    def _possible(self) -> "MamBenchmarkOptions":
        if self.size_cv > 0:
            redrawn = (
                f"more than indegree={self.indegree} with size_cv > 0, because smaller areas are"
                " redrawn"
            )
            self.expect(self.neurons_per_area > self.indegree, "neurons_per_area", redrawn)
        within, between = self.shortest
        shortest = within if self.areas == 1 else max(within, between)
        expected = f"at least the shortest delay, {shortest} ms"
        self.expect(self.delay_max >= shortest, "delay_max", expected)
        return self

    @property
    def shortest(self) -> tuple[float, float]:
        """Shortest delays within areas and between areas, ms.

        Within areas it is d_min, which is h unless the cycle is longer.
        """
        within = self.resolution_ms if self.cycle_ms is None else self.cycle_ms
        between = self.delay_inter_min
        if between is None:
            between = round(self.delay_ratio * within, 9)
        return within, between

    @property
    def sizes(self) -> list[int]:
        """Neurons of each area: normal, with `size_cv`, redrawn while not above the in-degree."""
        if self.size_cv == 0:
            return [self.neurons_per_area] * self.areas
        rng = np.random.default_rng(self.seed)
        sizes: list[int] = []
        while len(sizes) < self.areas:
            size = round(rng.normal(self.neurons_per_area, self.size_cv * self.neurons_per_area))
            if size > self.indegree:
                sizes.append(size)
        return sizes

    @property
    def rates(self) -> list[float]:
        """Mean rate of each area in spikes/s: normal, with `area_rate_cv`, redrawn until positive.

        Then all are scaled alike, so that the mean over areas is `rate`, however much they differ.
        """
        rng = np.random.default_rng([self.seed, 1])
        factors: list[float] = []
        while len(factors) < self.areas:
            factor = 1 + self.area_rate_cv * rng.standard_normal()
            if factor > 0:
                factors.append(factor)
        mean = np.mean(factors)
        return [float(self.rate * factor / mean) for factor in factors]

    def description(self) -> dict[str, Any]:
        """The run description."""
        names = [f"area{number}" for number in range(self.areas)]
        populations = []
        for name, size, rate in zip(names, self.sizes, self.rates, strict=True):
            neuron = {"model": "ignore_and_fire", "rate_hz": rate, "rate_cv": self.rate_cv}
            populations.append({"name": name, "area": name, "size": size, "neuron": neuron})
        from_others = self.indegree // 2 if self.areas > 1 else 0
        from_own = self.indegree - from_others
        shortest_within, shortest_between = self.shortest
        within = self._delay(self.delay_intra, shortest_within)
        between = self._delay(self.delay_inter, shortest_between)
        projections: list[dict[str, Any]] = []
        for name in names:
            projections.append(
                {"source": name, "target": name, "indegree": from_own, "delay": dict(within)}
            )
            if from_others:
                others = [other for other in names if other != name]
                projections.append(
                    {
                        "source": others,
                        "target": name,
                        "indegree": from_others,
                        "delay": dict(between),
                    }
                )
        return self.run(populations, projections, self.resolution_ms, shortest_within)

    def _delay(self, distribution: tuple[float, float], shortest_ms: float) -> dict[str, Any]:
        """The field `delay` of a projection; `distribution`: mean and SD, ms."""
        mean, sd = distribution
        return {
            "distribution": "normal",
            "mean": mean,
            "sd": sd,
            "min": shortest_ms,
            "max": self.delay_max,
        }


describe = MamBenchmarkOptions.describe
