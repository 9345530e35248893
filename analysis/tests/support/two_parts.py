"""A made-up machine of two parts, and networks that are placed on it."""

from dataclasses import replace

import numpy as np
import small_machine

from spikemark.machines.parts import Link, Machine, Part
from spikemark.machines.profile import Value
from spikemark.prediction.partition import balance, graph
from spikemark.prediction.partition.methods import METHODS
from spikemark.prediction.rates import Rates
from spikemark.presets import PRESETS

PROFILE = small_machine.Machine().with_(node__cores=4)
NETWORK = {"areas": 4, "neurons_per_area": 1000, "indegree": 100}


def machine(slower: float = 2.0, nodes: int = 2, fast=PROFILE, slow=PROFILE) -> Machine:
    """Parts `fast` and `slow` with four cores on a node; the slow one's kernels take so much longer."""
    factor = Value(slower, "1", "assumed", "made up")
    parts = {"fast": Part("fast", fast, nodes), "slow": Part("slow", slow, nodes, factor)}
    return Machine("two-parts", "two parts", parts, {"fast-slow": Link("fast-slow", PROFILE)}, {})


def described(**options):
    """A graph of a small network."""
    found = PRESETS["mam-benchmark"].describe(**(NETWORK | options))
    return graph.of_description(graph.description.read(found))


def task(of: Machine | None = None, method: str = "round_robin", network=None, **changed) -> balance.Task:
    """A small network that is to be placed on a machine, with one thread for each rank."""
    found = network or described()
    rates = Rates(np.full(len(found.sizes), 10.0), "made up")
    return replace(balance.Task(found, METHODS[method], of or machine(), rates, 1), **changed)
