"""Bytes that the mini-app's structures take on every rank, before anything is built.

These are the sizes of the mini-app (docs/miniapp.md, Synapses; miniapp/src/app/estimate.c): synapses, what
finds their lists on each thread, routes, neurons, a ring of input, and the buffers of exchanges before any
word is sent. The program and the MPI library come on top.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from spikemark.machines.inputs import WITHIN
from spikemark.network.composed import COMPOSED
from spikemark.network.exchanges import ALONE
from spikemark.network.lanes import Lane
from spikemark.network.ring import synapse_bytes

from .exchange import BROADCASTS
from .loads import Loads

NEURON = {"ignore_and_fire": 12, "lif_delta": 12, "lif_exp": 20, "lif_sfa": 20}
LARGEST_NEURON = 24  # for a model that is not listed
EXTERNAL, ROUTE, SPIKE, PER_ROUTE = 4, 8, 12, 8
BLOCK, BLOCK_BYTES = 4096, 8
START, FILTER_WORD, WORD, GROUP = 4, 8, 4, 16  # bytes
LINE = 16  # words that hold synapses of neighbouring lists
FEW = 6  # synapses of a list on the mean, below which lists share lines
FILL, FILTERED_FILL = 15, 19  # words of the lists of a line on the mean, without a filter and with one
FILTER_BITS = 8  # for each synapse, at most
FEWEST_SPARE, MOST_GROUP_BITS, GROUP_SYNAPSES = 5, 14, 16384
MANY = 32  # lists of a line
MOST_WORDS = 2**31  # of the synapses of a thread, where lists share lines
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
    lists = loads.stored.sum(axis=0)
    return (
        np.array(each) @ local
        + synapse_bytes(network) * loads.synapses
        + loads.threads * index_bytes(loads, neurons)
        + ROUTE * lists
        + PER_ROUTE * neurons * len(loads.lanes)
        + loads.ring.neuron_bytes * neurons
        + SPIKE * loads.steps * neurons
        + loads.threads * BLOCK * BLOCK_BYTES
        + sum(_windows(lane, lists) for lane, lists in zip(loads.lanes, loads.stored, strict=True))
    )


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

    There is a start for every list. Where lists hold less than six synapses on the mean, neighbouring ones
    share lines of 16 words, and what does not fit follows elsewhere: numbers of synapses are taken to be
    Poisson. Where lists hold less than one, a filter has a bit for every list, or for 2^c of them.
    """
    lists = np.floor(loads.stored + ROUNDED).astype(np.int64)
    synapses = np.floor(loads.held / loads.threads + ROUNDED).astype(np.int64)
    words = synapse_bytes(loads.description.network) // WORD
    spare = np.broadcast_to(_spare_bits(loads, neurons), lists.shape)
    sparse = (synapses > 0) & (synapses < lists)
    narrowed = np.zeros_like(lists)
    for bits in range(31):
        narrowed += (narrowed == bits) & sparse & (lists >> bits > FILTER_BITS * synapses)
    filters = np.where(sparse, (np.maximum(lists - 1, 0) >> narrowed) // 64 + 1, 0)
    lines = (synapses > 0) & (synapses < FEW * lists) & (spare >= FEWEST_SPARE)
    lines &= synapses * words < MOST_WORDS
    found = np.where(lines, 0.0, START * (lists + 1.0))
    for at in np.argwhere(lines):
        i = tuple(at)
        found[i] = _line_bytes(int(lists[i]), int(synapses[i]), words, int(spare[i]), bool(sparse[i]))
    return (found + FILTER_WORD * filters).sum(axis=0)


@lru_cache(maxsize=4096)
def _line_bytes(lists: int, synapses: int, words: int, spare: int, filtered: bool) -> float:
    """Bytes of lines, of what does not fit them, and of their groups, on top of the synapses."""
    bits = min(MOST_GROUP_BITS, (-(-GROUP_SYNAPSES * lists // synapses) - 1).bit_length())
    group = min(lists, 1 << bits)
    fill = FILTERED_FILL if filtered else FILL
    alike = group / max(1, round(words * synapses * group / lists / fill))
    most = 1 << min(spare - 1, MOST_GROUP_BITS)
    share = max(1, min(most, math.ceil(alike) if alike > MANY else round(alike)))
    lines = lists / group * -(-group // share)
    mean, room = share * synapses / lists, LINE // words
    here = stats.poisson.pmf(np.arange(room + 1), mean)
    most_there = here.sum()
    beyond = mean - np.arange(room + 1) @ here - (room - 1) * (1 - most_there)
    further = max(0.0, words * beyond + 1 - most_there)
    groups = -(-lists // (1 << bits))
    return GROUP * groups + WORD * (lines * (LINE + further) - words * synapses)


def _spare_bits(loads: Loads, neurons: np.ndarray) -> np.ndarray:
    """Bits that the place and the weight of a synapse leave in a word, [rank]."""
    weights = {
        round(w / loads.ring.unit) for p in loads.description.network.projections for w in p.weights.levels
    }
    classes = 1 if synapse_bytes(loads.description.network) == 8 else max(1, len(weights))
    places = np.maximum(1, np.ceil(neurons / loads.threads)) * loads.ring.slots
    place_bits = np.maximum(1, np.ceil(np.log2(places)))
    return 32 - place_bits - np.ceil(np.log2(classes))


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
