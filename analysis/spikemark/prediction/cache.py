"""How much longer a synapse takes if the ring of input does not fit into the caches.

`t_next` of a profile was measured with a ring that fits into the second cache (miniapp/bench/kernels_drawn.c:
5000 neurons, 21 slots of two bytes, 0.2 MB). With a larger ring, a cache of C bytes misses 1 - C / ring of
the accesses (models/cache.py, one region at random; less where delays are alike). On a quiet virtual machine
with 1 MiB of second cache per core, 16 MiB of the last one and 3.65 GHz, lists of 1000 synapses took 0.97,
1.48, 6.13 and 7.26 ns per synapse with rings of 0.8, 8.0, 40 and 80 MB (`bench_kernels`, the kernel `deliver`
with 2000, 20 000, 100 000 and 200 000 neurons, one thread, medians of 3, 2026-11-22): `MISS` and `FAR`.
"""

import numpy as np

from spikemark.machines.inputs import Inputs

from .loads import Loads

CLOCK_HZ = 3.65e9  # the clock of that machine
MISS = (1.48e-9 - 0.97e-9) * CLOCK_HZ / (1 - 2**20 / 8.0e6)  # clock cycles, of the second cache
#: Further clock cycles, of the last cache; the mean of both large rings.
FAR = CLOCK_HZ * np.mean([
    (ns * 1e-9 - 0.97e-9 - MISS / CLOCK_HZ * (1 - 2**20 / ring)) / (1 - 2**24 / ring)
    for ns, ring in ((6.13, 40.2e6), (7.26, 80.4e6))
])  # fmt: skip
ASSUMED = (
    f"a synapse whose cell of the ring of input is not in the second cache takes {MISS:.0f} clock cycles"
    f" more, {MISS + FAR:.0f} where it is not in the core's share of the last one either, as measured on one"
    " machine; lists are taken to come from memory"
)


def miss_s(loads: Loads, inputs: Inputs) -> np.ndarray:
    """Additional seconds per synapse for the threads of each column, [column]; 0 where no cache is known."""
    ring = loads.ring.neuron_bytes * np.maximum(loads.neurons.sum(axis=0), 1.0)
    last, sharing = inputs.get("node.l3", 0.0), inputs.get("node.l3_cores", 0.0)
    share = last / sharing if sharing else 0.0
    clocks = MISS * _missed(inputs.get("node.l2", 0.0) or share, ring) + FAR * _missed(share, ring)
    return clocks / inputs.get("node.clock", CLOCK_HZ)


def _missed(size: float, ring: np.ndarray) -> np.ndarray:
    """The share of accesses that a cache of `size` bytes misses; 0 if the size is not known."""
    return np.maximum(0.0, 1 - size / ring) if size else np.zeros_like(ring)
