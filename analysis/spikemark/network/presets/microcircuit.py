"""The cortical microcircuit of Potjans & Diesmann 2014.

It has 77 169 neurons in eight populations of four layers.

Differences from the reference implementation: weights come in 32 classes, and in-degrees are
Poisson numbers, whereas the reference deals a fixed number of synapses to all neurons of a
population.
"""

from typing import Any

import numpy as np

from . import cortex
from .options import SCALE, PublishedRates, ScaledOptions, option

SUMMARY = "cortical microcircuit of Potjans & Diesmann, four layers, 77 169 neurons at full scale"
# Fewer synapses weigh more, which lowers the rates; more synapses among fewer neurons correlate
# them, which raises the rates. With this power of the scale for in-degrees the two cancel to within
# a fifth (L23E, at 0.2; most populations within a tenth), measured at the scales 0.05, 0.1, 0.2.
WEIGHT_EXPONENT = 0.4
BACKGROUND_HZ = 8.0
WEIGHT_CLASSES = 32

#: By population, spikes/s.
RATES = PublishedRates(
    cortex.RATES_HZ,
    "Potjans & Diesmann (2014), reference implementation in NEST (Potjans_2014, full_mean_rates)",
)


class MicrocircuitOptions(ScaledOptions):
    """What `describe` accepts; the defaults suit a laptop.

    Below the scale 1, the input keeps its variance, and its mean at the published rates.
    """

    scale: float = option(0.1, f"{SCALE}77 169", ge=0.001, le=1)

    def description(self) -> dict[str, Any]:
        column = cortex.Areas(
            names=["column"],
            area=np.zeros(8, dtype=int),
            kind=np.arange(8),
            neurons=cortex.NEURONS,
            indegrees=np.c_[cortex.indegrees(), cortex.EXTERNAL_INDEGREES],
            weights_pA=np.c_[cortex.weights(), np.full(8, cortex.current_pA(cortex.PSP_MV))],
            rates_hz=np.array(list(cortex.RATES_HZ.values())),
            background_hz=BACKGROUND_HZ,
            distances_mm=np.zeros((1, 1)),
        )
        return self.run(
            *column.network(self.scale, self.of_synapses(WEIGHT_EXPONENT), WEIGHT_CLASSES)
        )


describe = MicrocircuitOptions.describe
