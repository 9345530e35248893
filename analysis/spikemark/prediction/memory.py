"""Bytes that the mini-app's structures take on every rank once it is built, before anything is built.

These are the sizes of the mini-app (docs/synapses.md; miniapp/src/app/estimate.c): synapses, what
finds their lists on each thread, routes, neurons, a ring of input, and the buffers of exchanges before any
word is sent. The program and the MPI library come on top, and while it builds what `building.py` says.
"""

from typing import Any

import numpy as np

from spikemark.machines.inputs import WITHIN
from spikemark.network import lines
from spikemark.network.composed import COMPOSED
from spikemark.network.exchanges import ALONE
from spikemark.network.lanes import Lane
from spikemark.network.ring import synapse_bytes

from .exchange import BROADCASTS
from .loads import Loads

NEURON = {"ignore_and_fire": 12, "lif_delta": 12, "lif_exp": 20, "lif_sfa": 20}
LARGEST_NEURON = 24  # for a model that is not listed
EXTERNAL, ROUTE, SPIKE, PER_ROUTE = 4, 8, 12, 8
ENTRY, BRANCH, PLACED = 8, 8, 4  # of the table of a bridge: a neuron, where it goes on to, a rank
BLOCK, BLOCK_BYTES = 4096, 8
START, FILTER_WORD = 4, 8  # bytes
FILTER_BITS = 8  # for each synapse, at most
#: Of an exchange, for each rank, partner or not (`rank_bytes` of its file in miniapp/src/transport/exchange);
#: 0 for the others.
PLACE = {
    "alltoallv": 24, "ialltoallv": 24, "allgatherv": 12, "alltoall": 128, "persistent": 128, "allgather": 80,
    "rma_doubling": 128, "shared": 16,
}  # fmt: skip
RUN, ROOM, FIRST_ROOM = 16, 12, 64  # of the inbox for a rank; of the outbox, and for its first words
ROUNDED = 1e-3  # by which an expectation may fall short of a whole number


def bytes_of_ranks(loads: Loads) -> np.ndarray:
    """Bytes on every rank, [rank]; lists and routes are expectations over the drawing of the network."""
    network = loads.description.network
    each = [
        NEURON.get(p.neuron.model, LARGEST_NEURON) + EXTERNAL * (p.outside_hz > 0)
        for p in network.populations
    ]
    local = loads.of_rank(loads.neurons)  # [population, rank]
    neurons = local.sum(axis=0)
    return (
        np.array(each) @ local
        + synapse_bytes(network) * loads.synapses
        + loads.threads * index_bytes(loads, neurons)
        + routes_bytes(loads)
        + PER_ROUTE * neurons * len(loads.lanes)
        + loads.ring.neuron_bytes * neurons
        + SPIKE * loads.steps * neurons
        + loads.threads * BLOCK * BLOCK_BYTES
        + sum(_windows(lane, lists) for lane, lists in zip(loads.lanes, loads.stored, strict=True))
    )


def routes_bytes(loads: Loads) -> np.ndarray:
    """Bytes of the routes of all lanes, [rank]."""
    return sum(_routes(loads, lane) for lane in range(len(loads.lanes)))


def merges(lane: Lane) -> bool:
    """True if a lane merges spikes on their way."""
    return lane.exchange in COMPOSED and lane.composed.merged and not lane.alone


def _routes(loads: Loads, number: int) -> np.ndarray:
    """Bytes of the routes of a lane, and of the tables of bridges where spikes are merged, [rank].

    As miniapp/src/app/estimate_routes.c: all neurons that may have a list on a rank have one equally
    probably.
    """
    lane, lists = loads.lanes[number], loads.stored[number]
    if not merges(lane):
        return ROUTE * lists
    sizes = np.array([p.size for p in loads.description.network.populations], dtype=float)
    sources = sizes @ (loads.unmet[number] < 0)
    meets = zip(lane.sizes, lists, sources, strict=True)
    return np.array([
        _merged(lane, int(ranks), own, of) if ranks > 1 and of else ROUTE * own for ranks, own, of in meets
    ])  # fmt: skip


def _merged(lane: Lane, ranks: int, lists: float, sources: float) -> float:
    """Bytes of merged routes and tables of a rank that has lists of so many out of all `sources`."""
    size, hit, each = lane.composed.dimensions(ranks), min(1.0, lists / sources), sources / ranks
    size = size if lane.composed.side == "sender" else size[::-1]
    onward = [size[-1] * hit]  # branches of a spike from a hop on, the last one first
    needed, behind = [], 1  # somebody behind a bridge needs a spike
    with np.errstate(divide="ignore"):
        log_missed = np.log1p(-hit)
    for here, further in zip(size[-2::-1], size[:0:-1], strict=True):
        behind *= further
        needed.append(-np.expm1(behind * log_missed))
        onward.append(onward[-1] + (here - 1) * needed[-1])
    ways, entries, branches = 1, 1.0, 0.0
    for here, some, later in zip(size[:-1], needed[::-1], onward[-2::-1], strict=True):
        come = each * ways * (here - 1)
        entries, branches, ways = entries + come * some, branches + come * later, ways * here
    return ROUTE * each * onward[-1] + 2 * PLACED * ranks + ENTRY * entries + BRANCH * branches


def _windows(lane: Lane, lists: np.ndarray) -> np.ndarray:
    """Bytes of the windows of a lane before any word is sent, on ranks that hold `lists`, [rank]."""
    meets = np.array([_window(lane, int(ranks), held) for ranks, held in zip(lane.sizes, lists, strict=True)])
    return (lane.lag + 1) * meets


def _window(lane: Lane, ranks: int, lists: float) -> float:
    if ranks == 1:
        return _places(ALONE, 1)
    rooms = 1 if lane.exchange in BROADCASTS else min(ranks, lists)
    found = _places(lane.exchange, ranks) + FIRST_ROOM * rooms
    if lane.exchange in COMPOSED:
        levels = zip(lane.composed.parts, lane.composed.dimensions(ranks), strict=True)
        found += sum(_places(part, along) for part, along in levels)
    return found


def _places(exchange: str, ranks: int) -> float:
    """Bytes that an exchange and its outbox have for all ranks, partners or not."""
    return ranks * (RUN + PLACE.get(exchange, 0)) + ROOM * (1 if exchange in BROADCASTS else ranks)


def index_bytes(loads: Loads, neurons: np.ndarray) -> np.ndarray:
    """Bytes by which a thread finds its lists, for all lanes, [rank] (miniapp/src/synapse/table.h).

    There is a start for every list. Where lists hold less than five synapses on the mean, neighbouring ones
    share lines of 16 words, and what does not fit follows elsewhere: numbers of synapses are taken to be
    Poisson. Where lists hold less than one, a filter has a bit for every list, or for 2^c of them.
    """
    lists, synapses, words, spare = of_threads(loads, neurons)
    sparse = (synapses > 0) & (synapses < lists)
    narrowed = np.zeros_like(lists)
    for bits in range(31):
        narrowed += (narrowed == bits) & sparse & (lists >> bits > FILTER_BITS * synapses)
    filters = np.where(sparse, (np.maximum(lists - 1, 0) >> narrowed) // 64 + 1, 0)
    found = START * (lists + 1.0)
    for at in np.ndindex(lists.shape):
        of_thread = int(lists[at]), int(synapses[at]), words, int(spare[at])
        if lines.used(*of_thread):
            found[at] = lines.index_bytes(*of_thread, bool(sparse[at]))
    return (found + FILTER_WORD * filters).sum(axis=0)


def of_threads(loads: Loads, neurons: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """What `lines` asks of a thread, [lane, rank]: lists, synapses, words of a synapse, and bits left."""
    lists = np.floor(loads.stored + ROUNDED).astype(np.int64)
    synapses = np.floor(loads.held / loads.threads + ROUNDED).astype(np.int64)
    spare = np.broadcast_to(spare_bits(loads, neurons), lists.shape)
    return lists, synapses, synapse_bytes(loads.description.network) // lines.WORD, spare


def spare_bits(loads: Loads, neurons: np.ndarray) -> np.ndarray:
    """Bits that the place and the weight of a synapse leave in a word, [rank].

    Weights of projections without synapses count as one, 0 units (miniapp/src/description/fixed_point.c).
    """
    network = loads.description.network
    weights = {
        round(w / loads.ring.unit) if network.has_synapses(p) else 0
        for p in network.projections
        for w in p.weights.levels
    }
    classes = 1 if synapse_bytes(network) == 8 else max(1, len(weights))
    of_thread = np.maximum(1, np.ceil(neurons / loads.threads))
    return np.array([lines.spare_bits(n, loads.ring.slots, classes) for n in of_thread])


def fits(profile: Any, needed_gb: float) -> bool | None:
    """Do so many GB fit into a node? None where its memory is unknown, or assumed and within the doubt."""
    room = profile.get("node.memory")
    if room is None:
        return None
    doubt = WITHIN["assumed"] if room.kind == "assumed" else 1.0
    low, high = room.interval or (room.value / doubt, room.value * doubt)
    return None if low < needed_gb <= high else bool(needed_gb <= low)


def likely(profile: Any, needed_gb: float) -> bool:
    """Do so many GB fit into the middle of a node's known or assumed memory? Yes where it is unknown."""
    room = profile.get("node.memory")
    return room is None or needed_gb <= room.value
