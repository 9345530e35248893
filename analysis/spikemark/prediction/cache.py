"""What a synapse takes where the ring of input is nearer to the core than in the benchmark.

`t_next` of a profile was measured with a ring of 8 MB (miniapp/bench/kernels_deliver.c: 20 000 neurons, 200
slots of two bytes), of which a cache of C bytes misses 1 - C / ring (models/cache.py, one region at random).
With the ring in the second cache a synapse took `NEAR` of that. On a virtual machine with 1 MiB of it, lists
of 1000 synapses took 1.22, 1.25, 1.50, 5.93 ns per synapse with rings of 0.04, 0.17, 0.84, 8.0 MB (one
thread, best of 3, a busy machine, 2026-11-21).
In between, the time follows the misses.
"""

import numpy as np

from spikemark.prediction import memory
from spikemark.prediction.inputs import Inputs
from spikemark.prediction.loads import Loads

BENCHMARK_RING = 8e6  # bytes
NEAR = 1.25 / 5.93
ASSUMED = (
    f"a synapse takes {NEAR:.2f} of the benchmark's time where the ring of input fits into the second cache,"
    " as measured on one machine; lists are taken to come from memory"
)


def ring_share(loads: Loads, description: dict, inputs: Inputs) -> np.ndarray:
    """Time of a synapse over that of the benchmark, for the threads of each column, [column]; 1 where neither
    the second cache nor another is known."""
    size = _cache_bytes(inputs)
    if size is None or size >= BENCHMARK_RING:
        return np.ones(loads.neurons.shape[1])
    ring = memory.ring_bytes(description) * np.maximum(loads.neurons.sum(axis=0), 1.0)
    missed = np.maximum(0.0, 1 - size / ring) / (1 - size / BENCHMARK_RING)
    return NEAR + (1 - NEAR) * missed


def _cache_bytes(inputs: Inputs) -> float | None:
    """The second cache of a core, or its share of the last one."""
    own = inputs.get("node.l2", 0.0)
    if own:
        return own
    last, sharing = inputs.get("node.l3", 0.0), inputs.get("node.l3_cores", 0.0)
    return last / sharing if last and sharing else None
