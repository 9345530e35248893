"""The multi-area model of macaque visual cortex in its ground state, from its published statistics.

What is drawn and what is published stands in mam_areas; `from` reads a user's own copy of the original's
data instead. Delays within an area are those of the microcircuit; between areas the mean is the distance at
3.5 mm/ms, and what is shorter than 1 ms is redrawn, so that the delay ratio is 10 (Lober et al. 2026).
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from spikemark.errors import BadInput, shown
from spikemark.presets import cortex, mam_areas, mam_data
from spikemark.presets.mam_areas import Areas
from spikemark.presets.options import choose
from spikemark.presets.run_options import RunOptions

SUMMARY = "multi-area model of macaque visual cortex, ground state, 32 areas of eight populations"
SPEED_MM_PER_MS, SHORTEST_MS, DELAY_RATIO = 3.5, 1.0, 10
WEIGHT_CLASSES = 8  # leaves room in a synapse for delays up to 54 ms, as many neurons as an area has
EXPONENT = 0.57  # as in microcircuit; measured at the scales 0.005 to 0.05


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    schedule: Annotated[str, Field(description="a schedule of the mini-app")] = "structure_aware"
    scale: Annotated[
        float, Field(ge=0.001, le=1, description="neurons as a fraction of the published ones")
    ] = 0.01
    indegree_scale: Annotated[
        float | None, Field(ge=0.001, le=1, description="in-degrees, likewise; default: scale to the power 0.57")
    ] = None
    from_: Annotated[
        str | None, Field(description="folder with a copy of the original model's data, read instead of drawing")
    ] = None


def describe(full: bool = False, **options) -> dict:
    if not isinstance(full, bool):
        raise BadInput(f"full={shown(full)}: true or false is needed")
    given = {name: value for name, value in options.items() if value is not None}
    chosen = choose(Options, ({"scale": 1.0} if full else {}) | given, besides=("full",))
    areas = mam_areas.draw(chosen.seed) if chosen.from_ is None else mam_data.read(chosen.from_)
    scale = chosen.scale**EXPONENT if chosen.indegree_scale is None else chosen.indegree_scale
    return chosen.described(*_network(areas, chosen.scale, scale), delay_ratio=DELAY_RATIO)


def _network(areas: Areas, scale: float, indegree_scale: float) -> tuple[list[dict], list[dict]]:
    """Populations and projections with `scale` of the neurons and `indegree_scale` of the synapses each."""
    sizes = np.rint(scale * areas.neurons).astype(int)
    names = [f"{areas.names[a]}-{cortex.POPULATIONS[k]}" for a, k in zip(areas.area, areas.kind, strict=True)]
    weights = areas.weights_pA / np.sqrt(indegree_scale)
    kept = np.zeros_like(areas.indegrees)
    kept[:, -1] = np.rint(indegree_scale * areas.indegrees[:, -1])
    projections = []
    for target, sources in ((t, pool) for t in range(len(names)) for pool in _pools(areas, t)):
        indegree = round(indegree_scale * areas.indegrees[target, sources].sum())
        if indegree == 0 or sizes[sources].sum() == 0:
            continue
        kept[target, sources] = indegree * sizes[sources] / sizes[sources].sum()
        projections.append(
            cortex.projection(
                [names[s] for s in sources],
                names[target],
                indegree,
                weights[target, sources[0]],
                WEIGHT_CLASSES,
                **_delay(areas, target, sources[0]),
            )
        )
    rates = np.r_[areas.rates_hz, areas.background_hz]
    current = cortex.lost_pA(rates, areas.indegrees * areas.weights_pA, kept * weights)
    populations = [
        {
            "name": name,
            "area": areas.names[areas.area[p]],
            "size": int(sizes[p]),
            "neuron": cortex.neuron(areas.kind[p], current[p]),
            "external": {
                "rate_hz": areas.background_hz,
                "synapses": int(kept[p, -1]),
                "weight": float(weights[p, -1]),
            },
        }
        for p, name in enumerate(names)
    ]
    return populations, projections


def _pools(areas: Areas, target: int) -> list[np.ndarray]:
    """Sources of `target` that can share a projection: of one area, equal in weight and in synapses per neuron."""
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
