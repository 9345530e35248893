"""How much longer lists, synapses and neurons take if a thread has more than its caches hold.

`t_next` of a profile was measured with a ring that fits into the second cache (miniapp/bench/kernels_drawn.c:
5000 neurons, 21 slots of two bytes, 0.2 MB). What a synapse takes longer with rings of 1.3, 8.4 and 67 MB are
`t_ring_1`, `t_ring_8` and `t_ring_67`; in between, the time is linear in the logarithm of the ring's size.
Beyond the largest ring, times stay what they are there.

Neurons are updated after a delivery, which has driven their state out of the caches. `t_row_1`, `t_row_3`
and `t_row_8` are what a neuron's step takes longer then, with rings of 1.3, 2.7 and 8.4 MB
(bench/kernels_between.c).

`t_first` and `t_next` come from 80 MB of synapses. `t_far_16`, `t_far_64` and `t_far_512` are what a list
of so many synapses takes longer with 1.04 GB, both with a ring of 2.7 MB: lines from memory and cells of the
ring share the places for what is on its way. The time is linear in the logarithm of the bytes, and piecewise
linear in the length.

Profiles without times of rings get those of one machine. There, a cache of C bytes misses 1 - C / ring of
the accesses (models/cache.py, one region at random; less where delays are alike). On a quiet virtual machine
with 1 MiB of second cache per core, 16 MiB of the last one and 3.65 GHz, lists of 1000 synapses took 0.97,
1.48, 6.13 and 7.26 ns per synapse with rings of 0.8, 8.0, 40 and 80 MB (`bench_kernels`, the kernel `deliver`
with 2000, 20 000, 100 000 and 200 000 neurons, one thread, medians of 3, 2026-11-22): `MISS` and `FAR`.
"""

from collections.abc import Callable

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.network.ring import synapse_bytes

from .loads import Loads

CLOCK_HZ = 3.65e9  # the clock of that machine
MISS = (1.48e-9 - 0.97e-9) * CLOCK_HZ / (1 - 2**20 / 8.0e6)  # clock cycles, of the second cache
#: Further clock cycles, of the last cache; the mean of both large rings.
FAR = CLOCK_HZ * np.mean([
    (ns * 1e-9 - 0.97e-9 - MISS / CLOCK_HZ * (1 - 2**20 / ring)) / (1 - 2**24 / ring)
    for ns, ring in ((6.13, 40.2e6), (7.26, 80.4e6))
])  # fmt: skip
#: Bytes of the rings with which times of profiles were measured.
FITS = 5000 * 42
RINGS = {"t_ring_1": 30_000 * 42, "t_ring_8": 200_000 * 42, "t_ring_67": 1_600_000 * 42}
ROWS = {"t_row_1": 30_000 * 42, "t_row_3": 64_000 * 42, "t_row_8": 200_000 * 42}
#: Lengths of the lists; bytes of synapses with which `t_first` was measured, and with which these were.
FAR_LISTS = {"t_far_16": 16, "t_far_64": 64, "t_far_512": 512}
NEAR_BYTES, FAR_BYTES = 80e6, 1.04e9
ASSUMED = (
    f"a synapse whose cell of the ring of input is not in the second cache takes {MISS:.0f} clock cycles"
    f" more, {MISS + FAR:.0f} where it is not in the core's share of the last one either, as measured on one"
    " machine; lists are taken to come from memory"
)
NOT_FAR = (
    "what lists take longer on a thread with more than 80 MB of synapses (`t_far_16`, `t_far_64`,"
    " `t_far_512`) is unknown and left out"
)

Kernel = Callable[[str], float]


def no_kernel(name: str) -> float:
    """The time of a kernel of a profile that has none for large rings, NaN."""
    return np.nan


def miss_s(loads: Loads, inputs: Inputs, kernel: Kernel = no_kernel) -> np.ndarray:
    """Additional seconds per synapse for the threads of each column, [column]; 0 where no cache is known.

    `kernel`: seconds of a kernel by its name, NaN where the profile does not have it.
    """
    ring = _ring(loads)
    times = [kernel(name) for name in RINGS]
    if is_measured(kernel):
        return np.interp(np.log(ring), np.log([FITS, *RINGS.values()]), [0.0, *times])
    last, sharing = inputs.get("node.l3", 0.0), inputs.get("node.l3_cores", 0.0)
    share = last / sharing if sharing else 0.0
    clocks = MISS * _missed(inputs.get("node.l2", 0.0) or share, ring) + FAR * _missed(share, ring)
    return clocks / inputs.get("node.clock", CLOCK_HZ)


def far_s(loads: Loads, kernel: Kernel) -> np.ndarray:
    """Additional seconds per list entered for the threads of each column, [column]; 0 if not known."""
    times = np.array([kernel(name) for name in FAR_LISTS])
    entered = loads.lists.sum(axis=0)
    if np.isnan(times).any():
        return np.zeros_like(entered)
    doublings = np.log2(np.maximum(_synapse_bytes(loads), NEAR_BYTES) / NEAR_BYTES)
    share = np.minimum(doublings / np.log2(FAR_BYTES / NEAR_BYTES), 1.0)
    lengths = np.array([*FAR_LISTS.values()])
    length = loads.events / np.maximum(entered, 1e-300)
    beyond = np.maximum(length - lengths[-1], 0) * max(0.0, np.diff(times[-2:])[0] / np.diff(lengths[-2:])[0])
    return share * (np.interp(length, lengths, times) + beyond)


def row_s(loads: Loads, kernel: Kernel) -> np.ndarray:
    """Additional seconds per neuron and step for the threads of each column, [column]; 0 if not known."""
    ring, times = _ring(loads), [kernel(name) for name in ROWS]
    if np.isnan(times).any():
        return np.zeros_like(ring)
    return np.interp(np.log(ring), np.log([FITS, *ROWS.values()]), [0.0, *times])


def leaves_out_far(loads: Loads, kernel: Kernel) -> bool:
    """True if a thread has more synapses than `t_first` was measured with, and their cost is unknown."""
    unknown = any(np.isnan(kernel(name)) for name in FAR_LISTS)
    return unknown and bool((_synapse_bytes(loads) > NEAR_BYTES).any())


def is_measured(kernel: Kernel) -> bool:
    """True if a profile says what large rings cost."""
    return not any(np.isnan(kernel(name)) for name in RINGS)


def _ring(loads: Loads) -> np.ndarray:
    """Bytes of the ring of a thread, [column]."""
    return loads.ring.neuron_bytes * np.maximum(loads.neurons.sum(axis=0), 1.0)


def _synapse_bytes(loads: Loads) -> np.ndarray:
    """Bytes of the synapses of a thread, [column]."""
    return loads.kept * synapse_bytes(loads.description.network)


def _missed(size: float, ring: np.ndarray) -> np.ndarray:
    """The share of accesses that a cache of `size` bytes misses; 0 if the size is not known."""
    return np.maximum(0.0, 1 - size / ring) if size else np.zeros_like(ring)
