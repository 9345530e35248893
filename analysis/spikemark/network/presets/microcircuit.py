"""The cortical microcircuit of Potjans & Diesmann 2014: 77 169 neurons in eight populations of four layers.

Differences from the reference implementation: weights come in 32 classes, and in-degrees are Poisson numbers,
whereas the reference deals a fixed number of synapses to all neurons of a population.
"""

import numpy as np
from pydantic import Field

from . import cortex
from .options import SCALE, PublishedRates, ScaledOptions, choose

SUMMARY = "cortical microcircuit of Potjans & Diesmann, four layers, 77 169 neurons at full scale"
BACKGROUND_HZ = 8.0
# Fewer synapses weigh more, which lowers the rates; more synapses among fewer neurons correlate them, which
# raises the rates. With this power of the scale for in-degrees the two cancel to within a fifth (L23E, at
# 0.2; most populations within a tenth), measured at the scales 0.05, 0.1, 0.2.
POWER = 0.4

#: By population, spikes/s.
RATES = PublishedRates(
    cortex.RATES_HZ,
    "Potjans & Diesmann (2014), reference implementation in NEST (Potjans_2014, full_mean_rates)",
    compared_from={"scale": 0.05, "indegree_scale": 0.3},
)


class Options(ScaledOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    scale: float = Field(0.1, ge=0.001, le=1, description=f"{SCALE}77 169")


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` means the scale 1 if none is given. Below that, weights grow by 1 / sqrt(indegree_scale), which
    keeps the variance of the input, and a constant current keeps its mean at the published rates (van Albada
    et al. 2015). Raises BadInput naming the option, its value and what is expected.
    """
    chosen = choose(Options, options, full, {"scale": 1.0})
    full_network = np.c_[cortex.indegrees(), cortex.EXTERNAL_INDEGREES]  # [targets, sources and background]
    full_weights = np.c_[cortex.weights(), np.full(8, cortex.current_pA(cortex.PSP_MV))]
    rates = np.array([*cortex.RATES_HZ.values(), BACKGROUND_HZ])
    network, weights, current = cortex.scaled(full_network, full_weights, rates, chosen.of_synapses(POWER))
    names, sizes = cortex.POPULATIONS, np.rint(chosen.scale * cortex.NEURONS)
    populations = [
        cortex.population(
            name, "column", sizes[i], i, current[i], (BACKGROUND_HZ, network[i, -1], weights[i, -1])
        )
        for i, name in enumerate(names)
    ]
    projections = [
        cortex.projection(names[s], names[t], network[t, s], weights[t, s], 32, cortex.DELAY_MS[s])
        for t in range(8)
        for s in range(8)
        if network[t, s] > 0
    ]
    return chosen.described(populations, projections)
