"""A made-up network of computers, traffic on it, and lanes with any exchange."""

from dataclasses import replace

import numpy as np
from small_machine import Machine

from spikemark.machines.inputs import Inputs
from spikemark.network.composed import Composed
from spikemark.prediction import rates
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Loads
from spikemark.prediction.traffic import Traffic
from spikemark.presets import mam_benchmark

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=600, indegree=40)


def net(machine=None, nodes=2):
    return Collectives.of(Inputs(machine or Machine()), nodes)


def one_on_each(loads):
    """The ranks, each on a node of its own."""
    return Layout.of(Machine(), loads.ranks, loads.threads, 1)


def dense(ranks, size, each=1):
    other = 1.0 - np.eye(ranks)
    return Traffic(size * other, other, np.arange(ranks) // each)


def lane(name, ranks=64, composed=None):
    found = Loads.of(NETWORK, ranks, 1, rates.of(NETWORK).hz).lanes[0]
    return replace(found, exchange=name, composed=composed or Composed.of(name, {}))
