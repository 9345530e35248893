"""Bytes that the mini-app's structures take on every rank, before anything is built.

These are the sizes of the mini-app (docs/miniapp.md, Synapses; miniapp/src/app/estimate.c): synapses, list
starts per thread, routes, neurons and a ring of input. The program and the MPI library come on top.
"""

import numpy as np

from spikemark.network.ring import synapse_bytes

from .loads import Loads

NEURON = {"ignore_and_fire": 12, "lif_delta": 12, "lif_exp": 20, "lif_sfa": 20}
LARGEST_NEURON = 24  # for a model that is not listed
EXTERNAL, ROUTE, SPIKE, PER_ROUTE = 4, 8, 12, 8
BLOCK, BLOCK_BYTES = 4096, 8


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
        + 4 * lists * loads.threads
        + ROUTE * lists
        + PER_ROUTE * neurons * len(loads.lanes)
        + loads.ring.neuron_bytes * neurons
        + SPIKE * loads.steps * neurons
        + loads.threads * BLOCK * BLOCK_BYTES
    )
