"""The ring of input: how wide its cells are, and how many a neuron has.

The mini-app sums input in fixed point. It uses 16 bits if all weights are multiples of one unit in which a
neuron's synapses stay within 16 bits and all its input within 32; as units it tries the smallest weight and
its halves, thirds, ... 64ths. Otherwise it uses 32 bits (miniapp/src/description/network.c, base/ring.h).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from spikemark.core.errors import BadInput

from .description import Description, Network

NARROW, WIDE = 2, 4  # bytes of a cell
MOST_NARROW, MOST_WIDE = 2**15 - 1, 2**31 - 1
PARTS = 64  # of the smallest weight that are tried as the unit
ROUNDING = 1e-9  # units by which a weight may miss a multiple, as decimal fractions do
LEAST_UNITS = 16  # of a weight in 32 bits, so that it can be told from others


@dataclass(frozen=True)
class Ring:
    """`unit` is a weight, in pA or mV; `slots` is the number of steps for which a neuron's input is kept."""

    unit: float
    cell_bytes: int
    slots: int

    @property
    def neuron_bytes(self) -> int:
        """Bytes that a neuron takes."""
        return self.cell_bytes * self.slots


class _Input(NamedTuple):
    """What weighs on the neurons of a population: a projection, or input from outside."""

    field: str  # of the network
    target: int  # population
    mean: float  # weight
    weights: tuple[float, ...]  # all that occur
    most: float  # that a neuron receives in a step, in magnitude


def of(description: Description) -> Ring:
    """The ring of a network. Raises BadInput for a weight that is too small beside the input of a neuron."""
    network = description.network
    slots = max((longest for _, longest in description.delays), default=0) + 1
    synapses = [
        _Input(f"projections.{i}.weight", network.numbers[p.target], p.weights.mean, p.weights.levels,
               (abs(p.weights.mean) + p.weights.furthest) * p.most_synapses)
        for i, p in enumerate(network.projections) if network.has_synapses(p)
    ]  # fmt: skip
    outside = [
        _Input(f"populations.{i}.external.weight", i, p.external.weight, (p.external.weight,),
               abs(p.external.weight) * most)
        for i, p in enumerate(network.populations) if (most := description.most_events(p))
    ]  # fmt: skip
    sums, largest = [0.0] * len(network.populations), []
    for inputs in (synapses, outside):
        for one in inputs:
            sums[one.target] += one.most
        largest.append(max(sums))
    every, in_all = synapses + outside, largest[-1]
    if synapse_bytes(network) < 8 and (unit := _narrow_unit({w for i in every for w in i.weights}, *largest)):
        return Ring(unit, NARROW, slots)
    unit = 2.0 ** (math.ceil(math.log2(in_all)) - 30)
    for one in every:
        if abs(one.mean) > 0 and round(abs(one.mean) / unit) < LEAST_UNITS:
            fullest = network.populations[sums.index(in_all)].name
            raise BadInput(
                f"network.{one.field}={one.mean:g}: 0 or at least {LEAST_UNITS * unit:.3g} in magnitude,"
                f" since the input of a neuron, up to {in_all:.3g} (in population {fullest}), is summed in"
                " 32-bit fixed point"
            )
    return Ring(unit, WIDE, slots)


def synapse_bytes(network: Network) -> int:
    """Bytes of a synapse: 8 where a projection has a weight for every synapse, else 4."""
    return 8 if any(p.weights.own and network.has_synapses(p) for p in network.projections) else 4


def _narrow_unit(weights: set[float], from_synapses: float, in_all: float) -> float:
    """A unit for which 16 bits suffice, given the most that a neuron receives in a step; 0 for none."""
    if in_all == 0:
        return 1.0
    smallest = min(abs(w) for w in weights if w)
    for unit in (smallest / part for part in range(1, PARTS + 1)):
        if from_synapses / unit > MOST_NARROW or in_all / unit > MOST_WIDE:
            return 0.0
        if all(abs(w / unit - round(w / unit)) <= ROUNDING for w in weights):
            return unit
    return 0.0
