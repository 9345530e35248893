"""What a synapse takes longer where the ring of input does not fit into the second cache.

`t_next` of a profile was measured with a ring that fits (miniapp/bench/kernels_drawn.c: 5000 neurons, 21
slots of two bytes, 0.2 MB). Of a larger one a cache of C bytes misses 1 - C / ring (models/cache.py, one
region at random; less where delays are alike), and a miss takes `MISS` clock cycles. On a virtual machine
with 1 MiB of second cache per core and 3.65 GHz, lists of 1000 synapses took 1.22, 1.25, 1.50, 5.93 ns per
synapse with rings of 0.04, 0.17, 0.84, 8.0 MB (`bench_kernels`, one thread, best of 3, a busy machine,
2026-11-21).
"""

import numpy as np

from spikemark.prediction import memory
from spikemark.prediction.inputs import Inputs
from spikemark.prediction.loads import Loads

CLOCK_HZ = 3.65e9  # of that machine
MISS = (5.93e-9 - 1.25e-9) * CLOCK_HZ / (1 - 2**20 / 8.0e6)
ASSUMED = (
    f"a synapse whose cell of the ring of input is not in the second cache takes {MISS:.0f} clock cycles"
    " more, as measured on one machine; lists are taken to come from memory"
)


def miss_s(loads: Loads, description: dict, inputs: Inputs) -> np.ndarray:
    """Seconds more per synapse, for the threads of each column, [column]; 0 where neither the second cache
    nor another is known."""
    size = _cache_bytes(inputs)
    if size is None:
        return np.zeros(loads.neurons.shape[1])
    ring = memory.ring_bytes(description) * np.maximum(loads.neurons.sum(axis=0), 1.0)
    missed = np.maximum(0.0, 1 - size / ring)
    return MISS / inputs.get("node.clock", CLOCK_HZ) * missed


def _cache_bytes(inputs: Inputs) -> float | None:
    """The second cache of a core, or its share of the last one."""
    own = inputs.get("node.l2", 0.0)
    if own:
        return own
    last, sharing = inputs.get("node.l3", 0.0), inputs.get("node.l3_cores", 0.0)
    return last / sharing if last and sharing else None
