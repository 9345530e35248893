"""Bytes that the mini-app's structures take on every rank, before anything is built.

The sizes of the mini-app restated (docs/miniapp.md, Synapses): 4 bytes per synapse, 8 with weights of their
own; list starts per thread; routes; a ring of input with a row for every step of the longest delay. Without
the program and the MPI library.
"""

import numpy as np

from spikemark.network import indegree

from .loads import Loads

NEURON = {"ignore_and_fire": 12, "lif_delta": 12, "lif_exp": 20, "lif_sfa": 20}
LARGEST_NEURON = 24  # of a model that is not listed
EXTERNAL, ROUTE, SPIKE, PER_ROUTE = 4, 8, 12, 8
BLOCK, BLOCK_BYTES = 4096, 8
NARROW, WIDE, MOST_NARROW = 2, 4, 32767


def bytes_of_ranks(loads: Loads, description: dict) -> np.ndarray:
    """Bytes, [rank]."""
    populations = description["network"]["populations"]
    each = [
        NEURON.get(p["neuron"]["model"], LARGEST_NEURON) + EXTERNAL * bool(p.get("external"))
        for p in populations
    ]
    local = loads.of_rank(loads.neurons)  # [population, rank]
    neurons = local.sum(axis=0)
    lists = loads.stored.sum(axis=0)
    return (
        np.array(each) @ local
        + synapse_bytes(description) * loads.synapses
        + 4 * lists * loads.threads
        + ROUTE * lists
        + PER_ROUTE * neurons * len(loads.lanes)
        + ring_bytes(description) * neurons
        + SPIKE * loads.steps * neurons
        + loads.threads * BLOCK * BLOCK_BYTES
    )


def ring_bytes(description: dict) -> int:
    """Of a neuron in the ring of input."""
    return _cell(description) * (longest_delay(description) + 1)


def synapse_bytes(description: dict) -> int:
    """8 where a projection wants a weight for every synapse, else 4."""
    projections = description["network"].get("projections", [])
    own = any(isinstance(w := p.get("weight"), dict) and w.get("classes") == 0 for p in projections)
    return 8 if own else 4


def longest_delay(description: dict) -> int:
    """In steps."""
    step = description["time"].get("resolution_ms", 0.1)
    longest = step
    for projection in description["network"].get("projections", []):
        delay = projection["delay"]
        kind, mean = delay.get("distribution", "normal"), delay["mean"]
        if kind == "constant":
            longest = max(longest, mean)
        else:
            usual = 5 * mean if kind == "exponential" else mean + 4 * delay.get("sd", 0)
            longest = max(longest, delay.get("max", usual))
    return int(np.floor(longest / step + 0.5))


def _cell(description: dict) -> int:
    """Two bytes where weights are multiples of one unit in which a neuron's synapses stay within 16 bits."""
    sums: dict[str, float] = {}
    weights = set()
    for projection in description["network"].get("projections", []):
        weight = projection.get("weight", 1)
        if isinstance(weight, dict):
            return WIDE
        weights.add(abs(weight))
        target = projection["target"]
        sums[target] = sums.get(target, 0.0) + abs(weight) * indegree.mean(projection)
    unit = min((w for w in weights if w), default=1.0)
    whole = all(abs(w / unit - round(w / unit)) < 1e-9 for w in weights)
    return NARROW if whole and max(sums.values(), default=0.0) <= MOST_NARROW * unit else WIDE
