"""The ring of input: how wide its cells are, and how many a neuron has.

The mini-app sums input in fixed point. It uses 16 bits if all weights are multiples of one unit in which a
neuron's synapses stay within 16 bits and all its input within 32; as units it tries the smallest weight and
its halves, thirds, ... 64ths. Otherwise it uses 32 bits (miniapp/src/description/network.c, base/ring.h).
"""

import math
from dataclasses import dataclass

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


def of(description: Description) -> Ring:
    """The ring of a network. Raises BadInput for a weight that is too small beside the input of a neuron."""
    network = description.network
    slots = max((longest for _, longest in description.delays), default=0) + 1
    from_synapses, in_all, fullest = _largest_input(description)
    unit = _narrow_unit(description, from_synapses, in_all)
    if unit:
        return Ring(unit, NARROW, slots)
    unit = 2.0 ** (math.ceil(math.log2(in_all)) - 30)
    for where, weight in _named_weights(description):
        if abs(weight) > 0 and round(abs(weight) / unit) < LEAST_UNITS:
            raise BadInput(
                f"network.{where}={weight:g}: 0 or at least {LEAST_UNITS * unit:.3g} in magnitude, since the"
                f" input of a neuron, up to {in_all:.3g} (in population {network.populations[fullest].name}),"
                " is summed in 32-bit fixed point"
            )
    return Ring(unit, WIDE, slots)


def synapse_bytes(network: Network) -> int:
    """Bytes of a synapse: 8 where a projection has a weight for every synapse, else 4."""
    return 8 if any(p.weights.own and network.has_synapses(p) for p in network.projections) else 4


def _largest_input(description: Description) -> tuple[float, float, int]:
    """The most that a neuron receives in a step, from synapses and in all, and its population."""
    populations, numbers = description.network.populations, description.network.numbers
    sums = [0.0] * len(populations)
    for p in filter(description.network.has_synapses, description.network.projections):
        sums[numbers[p.target]] += (abs(p.weights.mean) + p.weights.furthest) * p.most_synapses
    from_synapses = max(sums)
    for i, population in enumerate(populations):
        if most := description.most_events(population):
            sums[i] += abs(population.external.weight) * most
    in_all = max(sums)
    return from_synapses, in_all, sums.index(in_all)


def _narrow_unit(description: Description, from_synapses: float, in_all: float) -> float:
    """A unit for which 16 bits suffice; 0 if there is none."""
    network = description.network
    if synapse_bytes(network) == 8:
        return 0.0
    if in_all == 0:
        return 1.0
    weights = {w for p in filter(network.has_synapses, network.projections) for w in p.weights.levels}
    weights |= {p.external.weight for p in network.populations if description.most_events(p)}
    smallest = min(abs(w) for w in weights if w)
    for part in range(1, PARTS + 1):
        unit = smallest / part
        if from_synapses / unit > MOST_NARROW or in_all / unit > MOST_WIDE:
            return 0.0
        if all(abs(w / unit - round(w / unit)) <= ROUNDING for w in weights):
            return unit
    return 0.0


def _named_weights(description: Description) -> list[tuple[str, float]]:
    """The mean weights that can become input, each with its field."""
    network = description.network
    found = [
        (f"projections.{i}.weight", p.weights.mean)
        for i, p in enumerate(network.projections)
        if network.has_synapses(p)
    ]
    found += [
        (f"populations.{i}.external.weight", p.external.weight)
        for i, p in enumerate(network.populations)
        if description.most_events(p)
    ]
    return found
