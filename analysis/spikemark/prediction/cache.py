"""How much longer lists, synapses and neurons take if a thread has more than its caches hold.

`t_next` of a profile was measured with a ring that fits into the second cache (miniapp/bench/kernels_drawn.c:
5000 neurons, 21 slots of two bytes, 0.2 MB). What a synapse takes longer with rings of 1.3, 8.4 and 67 MB are
`t_ring_1`, `t_ring_8` and `t_ring_67`; in between, the time is linear in the logarithm of the ring's size.
Beyond the largest ring, times stay what they are there.

Neurons are updated after a delivery, which has driven their state out of the caches. `t_row_1`, `t_row_3`
and `t_row_8` are what a neuron's step takes longer then, with rings of 1.3, 2.7 and 8.4 MB and 1.5 events per
neuron (bench/kernels_between.c). What counts is what a thread touches from one update to the next: lines of
the ring, synapses, state. Between these measurements, and down to a block that stays in the first cache, the
time is linear in these bytes. With 15 000 to 64 000 neurons and 0.05 to 3 events per neuron, it was so on a
Xeon machine within 23 % of update, in the median within 8 %. In a cycle of several steps, only the first one
follows a delivery.

`t_first` and `t_next` come from 80 MB of synapses. `t_far_16`, `t_far_64` and `t_far_512` are what a list
of so many synapses takes longer with 1.04 GB, both with a ring of 2.7 MB: lines from memory and cells of the
ring share the places for what is on its way. The time is linear in the logarithm of the bytes, and piecewise
linear in the length. `t_close_16`, `t_close_64` and `t_close_512` are what such a list takes less with
8 MB, which the second cache holds in part. The time between is linear in the same way.

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
from .memory import BLOCK, LARGEST_NEURON, NEURON

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
#: Neurons with which these were measured, cells and events of each, synapses of a list.
ROWS, CELLS, EVENTS, LIST = {"t_row_1": 30_000, "t_row_3": 64_000, "t_row_8": 200_000}, 42, 1.5, 64
LINE = 64  # bytes
#: Lengths of the lists; bytes of synapses with which `t_first` was measured, and with which these were.
FAR_LISTS = {"t_far_16": 16, "t_far_64": 64, "t_far_512": 512}
NEAR_BYTES, FAR_BYTES = 80e6, 1.04e9
CLOSE_LISTS, CLOSE_BYTES = {"t_close_16": 16, "t_close_64": 64, "t_close_512": 512}, 8e6
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
    """Additional seconds per list entered for the threads of each column, [column]; 0 if not known.

    Less than 0 where a thread has less than NEAR_BYTES of synapses.
    """
    more = _of_lists(loads, {name: kernel(name) for name in FAR_LISTS}, FAR_LISTS, FAR_BYTES)
    return more - _of_lists(loads, {name: kernel(name) for name in CLOSE_LISTS}, CLOSE_LISTS, CLOSE_BYTES)


def _of_lists(loads: Loads, known: dict[str, float], lists: dict[str, int], size: float) -> np.ndarray:
    """Seconds per list, [column], of times that were `known` for `lists` with `size` bytes of synapses.

    0 for NEAR_BYTES, in between linear in the logarithm, and beyond `size` as there. 0 if not known.
    """
    times, lengths = np.array([*known.values()]), np.array([*lists.values()])
    entered, synapses = loads.lists.sum(axis=0), np.maximum(_synapse_bytes(loads), 1.0)
    if np.isnan(times).any():
        return np.zeros_like(entered)
    share = np.clip(np.log(synapses / NEAR_BYTES) / np.log(size / NEAR_BYTES), 0, 1)
    length = loads.events / np.maximum(entered, 1e-300)
    beyond = np.maximum(length - lengths[-1], 0) * max(0.0, np.diff(times[-2:])[0] / np.diff(lengths[-2:])[0])
    return share * (np.interp(length, lengths, times) + beyond)


def row_s(loads: Loads, kernel: Kernel) -> np.ndarray:
    """Additional seconds per neuron and cycle for the threads of each column, [column]; 0 if not known."""
    ring, times = _ring(loads), [kernel(name) for name in ROWS]
    if np.isnan(times).any():
        return np.zeros_like(ring)
    populations = loads.description.network.populations
    state = np.array([NEURON.get(p.neuron.model, LARGEST_NEURON) for p in populations]) @ loads.neurons
    delivered = loads.events * synapse_bytes(loads.description.network), loads.lists.sum(axis=0)
    fits = BLOCK * NEURON["ignore_and_fire"]
    measured = [_touched_by_kernel(neurons) for neurons in ROWS.values()]

    def more(touched: np.ndarray) -> np.ndarray:
        return np.interp(touched, [fits, *measured], [0.0, *times])

    return more(state + _touched(ring, loads.events, *delivered)) + (loads.steps - 1) * more(state)


def _touched(ring: np.ndarray, events: np.ndarray, synapses: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """Bytes of the lines that a delivery touches: `events` at random in `ring` bytes, and `synapses` bytes in
    so many lists, which begin anywhere in a line."""
    cells = ring * -np.expm1(-events * LINE / ring)
    return cells + synapses + (LINE - 4) * lists


def _touched_by_kernel(neurons: int) -> float:
    """Bytes that bench/kernels_between.c touches from one update to the next."""
    events = EVENTS * neurons
    delivered = _touched(np.array(CELLS * neurons), np.array(events), 4 * events, events / LIST)
    return float(delivered) + NEURON["ignore_and_fire"] * neurons


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
