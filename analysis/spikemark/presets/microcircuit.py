"""The cortical microcircuit of Potjans & Diesmann 2014: 77 169 neurons in eight populations of four layers.

As published but for one thing: all neurons of a population have the same in-degree.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from spikemark.errors import BadInput, shown
from spikemark.presets import cortex
from spikemark.presets.options import choose
from spikemark.presets.run_options import RunOptions

SUMMARY = "cortical microcircuit of Potjans & Diesmann, four layers, 77 169 neurons at full scale"
BACKGROUND_HZ = 8.0
# Fewer synapses weigh more, which lowers the rates; more synapses among fewer neurons correlate them, which
# raises the rates. With this power of the scale the two cancel: measured at the scales 0.05 to 0.5.
EXPONENT = 0.4

#: Published rates by population, spikes/s, and where they stand.
RATES_HZ: dict[str, float] = cortex.RATES_HZ
SOURCE = "Potjans & Diesmann (2014), reference implementation in NEST (Potjans_2014, full_mean_rates)"


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    scale: Annotated[
        float, Field(ge=0.01, le=1, description="neurons as a fraction of the published ones")
    ] = 0.1
    indegree_scale: Annotated[
        float | None, Field(ge=0.001, le=1, description="in-degrees, likewise; default: scale to the power 0.4")
    ] = None


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` is the scale 1 where none is given. Below, weights grow by 1 / sqrt(scale), which keeps the
    variance of the input, and a constant current keeps its mean at the published rates (van Albada et al.
    2015). Raises BadInput naming the option, its value and what is allowed.
    """
    if not isinstance(full, bool):
        raise BadInput(f"full={shown(full)}: true or false is needed")
    given = {name: value for name, value in options.items() if value is not None}
    chosen = choose(Options, ({"scale": 1.0} if full else {}) | given, besides=("full",))
    scale = chosen.scale**EXPONENT if chosen.indegree_scale is None else chosen.indegree_scale
    weight = cortex.current_pA(cortex.PSP_MV)
    full_network = np.c_[cortex.indegrees(), cortex.EXTERNAL_INDEGREES]  # [targets, sources and background]
    full_weights = np.c_[cortex.weights(), np.full(8, weight)]
    network, weights = np.rint(scale * full_network).astype(int), full_weights / np.sqrt(scale)
    rates = np.array([*RATES_HZ.values(), BACKGROUND_HZ])
    current = cortex.lost_pA(rates, full_network * full_weights, network * weights)
    names, sizes = cortex.POPULATIONS, np.rint(chosen.scale * cortex.NEURONS).astype(int)
    populations = [
        {
            "name": name,
            "area": "column",
            "size": int(sizes[i]),
            "neuron": cortex.neuron(i, current[i]),
            "external": {
                "rate_hz": BACKGROUND_HZ,
                "synapses": int(network[i, -1]),
                "weight": float(weights[i, -1]),
            },
        }
        for i, name in enumerate(names)
    ]
    projections = [
        cortex.projection(names[s], names[t], network[t, s], weights[t, s], 32, cortex.DELAY_MS[s])
        for t in range(8)
        for s in range(8)
        if network[t, s] > 0
    ]
    return chosen.described(populations, projections)
