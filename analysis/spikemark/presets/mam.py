"""The multi-area model of macaque visual cortex in its ground state, from its published statistics.

`mam_areas` draws it, `mam_data` reads a user's own copy of the original's data instead. Delays within an area
are those of the microcircuit; between areas the mean is the distance at 3.5 mm/ms, and what is shorter than
1 ms is redrawn, so that the delay ratio is 10 (Lober et al. 2026). In-degrees are Poisson numbers.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from . import cortex, mam_areas, mam_data
from .mam_areas import Areas
from .published_rates import ALL, PublishedRates
from .run_options import ScaledOptions, choose_scaled

SUMMARY = "multi-area model of macaque visual cortex, ground state, 32 areas of eight populations"
SPEED_MM_PER_MS, SHORTEST_MS, DELAY_RATIO = 3.5, 1.0, 10
LEAST_INDEGREE = 1e-4  # mean synapses per neuron; what has fewer is left out
WEIGHT_CLASSES = 8  # leaves room in a synapse for delays up to 54 ms to as many neurons as an area has
POWER = 0.6  # of the scale for in-degrees, as in microcircuit; measured at the scales 0.005 to 0.05

#: The mean rate of the ground state, spikes/s; it is that of the network as drawn.
RATES = PublishedRates(
    {ALL: mam_areas.RATE_HZ},
    "Lober et al. (2026), whose MAM-benchmark fires as the ground state of Schmidt et al. (2018)",
    hold_for={"from_": None},
    compared_from={"scale": 0.005, "indegree_scale": 0.06},
)


class Options(ScaledOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    schedule: Annotated[str, Field(description="a schedule of the mini-app")] = "structure_aware"
    scale: Annotated[
        float, Field(ge=0.001, le=1, description="neurons, as a fraction of the published 4.13 million")
    ] = 0.01
    from_: Annotated[
        str | None,
        Field(description="folder with a copy of the original model's data, read instead of drawing areas"),
    ] = None


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` means the scale 1 if none is given. Scaling is that of the microcircuit, at the expected rates; the
    ground state holds from a scale of 0.005. A scaled copy of the original's data fires faster than the
    original (5.4 spikes/s at 0.01): its inhibitory weights, -11 times the excitatory ones, grow too large.
    Raises BadInput naming the option or the file, the value and what is allowed.
    """
    chosen = choose_scaled(Options, full, options, POWER)
    areas = mam_areas.draw(chosen.seed) if chosen.from_ is None else mam_data.read(chosen.from_)
    return chosen.described(*_network(areas, chosen.scale, chosen.indegree_scale), delay_ratio=DELAY_RATIO)


def _network(areas: Areas, scale: float, indegree_scale: float) -> tuple[list[dict], list[dict]]:
    """Populations and projections with `scale` of the neurons and `indegree_scale` of the synapses each."""
    sizes = np.rint(scale * areas.neurons).astype(int)
    names = [f"{areas.names[a]}-{cortex.POPULATIONS[k]}" for a, k in zip(areas.area, areas.kind, strict=True)]
    rates = np.r_[areas.rates_hz, areas.background_hz]
    kept, weights, current = cortex.scaled(areas.indegrees, areas.weights_pA, rates, indegree_scale)
    populations = [
        cortex.population(
            name,
            areas.names[areas.area[p]],
            sizes[p],
            areas.kind[p],
            current[p],
            (areas.background_hz, kept[p, -1], weights[p, -1]),
        )
        for p, name in enumerate(names)
    ]
    projections = [
        cortex.projection(
            [names[source] for source in pool],
            names[target],
            kept[target, pool].sum(),
            weights[target, pool[0]],
            WEIGHT_CLASSES,
            **_delay(areas, target, pool[0]),
        )
        for target in range(len(names))
        for pool in _pools(areas, target)
        if sizes[pool].sum() > 0 and kept[target, pool].sum() >= LEAST_INDEGREE
    ]
    return populations, projections


def _pools(areas: Areas, target: int) -> list[np.ndarray]:
    """Sources that can share a projection: they lie in one area and agree in weight and in synapses sent."""
    indegrees = areas.indegrees[target, :-1]
    sources = np.flatnonzero(indegrees)
    density = np.round(np.log(indegrees[sources] / areas.neurons[sources]), 6)
    keys = zip(areas.area[sources], areas.weights_pA[target, sources], density, strict=True)
    pools: dict[tuple, list[int]] = {}
    for key, source in zip(keys, sources, strict=True):
        pools.setdefault(key, []).append(source)
    return [np.array(pool) for pool in pools.values()]


def _delay(areas: Areas, target: int, source: int) -> dict:
    here, there = areas.area[target], areas.area[source]
    if here == there:
        return {"delay_ms": cortex.DELAY_MS[areas.kind[source]]}
    return {"delay_ms": areas.distances_mm[here, there] / SPEED_MM_PER_MS, "min": SHORTEST_MS}
