"""Bytes that the mini-app needs while it builds a network, which may be more than what stays.

The formula is that of miniapp/src/app/estimate.h. While the synapses are drawn, every thread counts buckets
of sources, and neither lists nor routes are there yet. When they are sorted, the sources of the rank are
there, too, and every thread has room for one bucket. When routes are made, a rank has its sources and a round
of requests.
"""

import numpy as np

from spikemark.network import lines
from spikemark.network.ring import synapse_bytes

from . import memory
from .loads import Loads

COUNT, WIDTH = 4, 8  # bytes of a bucket while it is counted; of a source in the bucket that is sorted
SOURCE, SOURCE_BUCKET = 2, 16  # bytes in the set of sources
REQUEST, OWNER = 16, 8  # bytes of a list in a round of requests; of a neuron, for who owns what
#: Bits of a source that its bucket does not tell, at most; how many buckets there are at least and at most.
MOST_BITS, FEWEST, WIDE, MOST = 16, 7, 12, 12
SET_BUCKETS = 64  # of the set of sources, for each thread
SMALL_ROUND, LARGE_ROUND, ROUNDS_OF_MANY = 2**20, 2**28, 16  # lists; rounds


def bytes_at_most(loads: Loads) -> np.ndarray:
    """Bytes on every rank at the moment at which it needs most, [rank]."""
    return memory.bytes_of_ranks(loads) + building_bytes(loads)


def building_bytes(loads: Loads) -> np.ndarray:
    """What building takes at most on top of what stays, [rank]."""
    sizes, threads = np.array([p.size for p in loads.description.network.populations]), loads.threads
    of_network = int(sizes.sum())
    local = loads.of_rank(loads.neurons).sum(axis=0)
    lists = loads.stored  # [lane, rank]
    sources = np.array([sizes @ (unmet < 0) for unmet in loads.unmet])
    bits = _source_bits(sources, memory.spare_bits(loads, local))
    counted = threads * COUNT * ((of_network >> bits) + 1)
    ids = SOURCE * lists + SOURCE_BUCKET * ((of_network >> _set_bits(of_network, bits, threads)) + 1)
    bucket = synapse_bytes(loads.description.network) * loads.held / np.maximum(1, sources / 2.0**bits)
    of_thread = _lines_bytes(loads, local) + WIDTH * 2.0**bits
    sorting = (counted + threads * of_thread + ids + bucket).sum(axis=0)
    routes = memory.routes_bytes(loads) + memory.PER_ROUTE * local * len(loads.lanes)
    drawing = counted.sum(axis=0) - threads * memory.index_bytes(loads, local)
    merged = sum(
        memory.ROUTE * own for lane, own in zip(loads.lanes, lists, strict=True) if memory.merges(lane)
    )
    asking = ids.sum(axis=0) + merged + (REQUEST * lists / _rounds(lists)).max(axis=0) + OWNER * local
    return np.maximum(asking, np.maximum(drawing, sorting) - routes)


def _lines_bytes(loads: Loads, local: np.ndarray) -> np.ndarray:
    """What a thread needs while it writes lines, [lane, rank]; 0 where lists do not share lines."""
    lists, synapses, words, spare = memory.of_threads(loads, local)
    held = synapse_bytes(loads.description.network) * loads.held / loads.threads
    found = np.zeros(lists.shape)
    for at in np.ndindex(lists.shape):
        of_thread = int(lists[at]), int(synapses[at]), words, int(spare[at])
        if lines.used(*of_thread):
            bits = lines.group_bits(*of_thread[:2])
            found[at] = lines.building_bytes(loads.stored[at], held[at], bits)
    return found


def _source_bits(sources: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """Bits of a source that its bucket does not tell, [lane, rank] (miniapp/src/synapse/buckets.c)."""
    bits = np.zeros_like(sources)
    for at in range(MOST_BITS):
        left = sources >> (at + (FEWEST if at < WIDE else MOST))
        bits += (bits == at) & (at < spare) & (left > 0)
    return bits


def _set_bits(ids: int, fewest: np.ndarray, threads: int) -> np.ndarray:
    """Bits that the ids of a bucket of the set of sources do not share (miniapp/src/base/id_set.c)."""
    bits = fewest.copy()
    for at in range(MOST_BITS):
        bits += (bits == at) & (ids >> (at + 1) >= SET_BUCKETS * threads)
    return bits


def _rounds(lists: np.ndarray) -> np.ndarray:
    """Number of rounds in which a rank asks for its lists (miniapp/src/transport/routes.c)."""
    most = lists.astype(np.int64)
    return most // LARGE_ROUND + np.minimum(most // SMALL_ROUND + 1, ROUNDS_OF_MANY)
