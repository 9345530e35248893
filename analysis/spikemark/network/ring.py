"""The ring of input: how wide its cells are, and how many a neuron has.

The mini-app sums input in fixed point. It uses 16 bits if all weights are multiples of one unit in
which a neuron's synapses stay within 16 bits and all its input within 32; as units it tries the
smallest weight and its halves, thirds, ... 64ths. Otherwise it uses 32 bits
(miniapp/src/description/network.c, base/ring.h).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spikemark.core.errors import BadInput

from .description import Description, Network

#: Bytes of a cell, and the largest number that it holds.
NARROW, WIDE = 2, 4
MAX_NARROW, MAX_WIDE = 2**15 - 1, 2**31 - 1
#: Parts of the smallest weight that are tried as the unit.
MAX_PARTS = 64
#: Units by which a weight may miss a multiple, as decimal fractions do.
UNIT_ROUNDING = 1e-9
#: Units of a weight in 32 bits, so that it can be told from others.
MIN_UNITS = 16


@dataclass(frozen=True)
class Ring:
    """The cells in which the input of a neuron is summed, one for each step."""

    unit: float  #: weight of a 1 in a cell, pA or mV
    cell_bytes: int  #: bytes of a cell
    slots: int  #: steps for which a neuron's input is kept

    @property
    def neuron_bytes(self) -> int:
        """Bytes that a neuron takes."""
        return self.cell_bytes * self.slots


class _Inputs(NamedTuple):
    """What weighs on neurons: projections, or input from outside; [input] each."""

    field: str  #: path of the weight of one of them in the network, with its number for {}
    number: np.ndarray  #: of the projection, or of the population
    target: np.ndarray  #: number of the population
    mean: np.ndarray  #: weight
    most: np.ndarray  #: that a neuron receives in a step, in magnitude
    weights: set[float]  #: all that occur


def input_ring(description: Description) -> Ring:
    """The ring of a network.

    Raises:
        BadInput: for a weight that is too small beside the input of a neuron.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = mam_benchmark.describe(areas=2, neurons_per_area=600, indegree=40)
        >>> input_ring(read_description(network)).cell_bytes
        2
    """
    network = description.network
    slots = max((longest for _, longest in description.delays), default=0) + 1
    synapses = _inputs_from_synapses(network)
    outside = _inputs_from_outside(description)
    sums = np.zeros(len(network.populations))  # of each population, in a step
    np.add.at(sums, synapses.target, synapses.most)
    from_synapses = float(sums.max())
    np.add.at(sums, outside.target, outside.most)
    in_all = float(sums.max())
    if synapse_bytes(network) < 8:
        unit = _narrow_unit(synapses.weights | outside.weights, from_synapses, in_all)
        if unit:
            return Ring(unit, NARROW, slots)
    unit = 2.0 ** (math.ceil(math.log2(in_all)) - 30)
    for inputs in (synapses, outside):
        magnitude = np.abs(inputs.mean)
        too_small = (magnitude > 0) & (np.rint(magnitude / unit) < MIN_UNITS)
        if too_small.any():
            first = int(np.argmax(too_small))
            fullest = network.populations[int(np.argmax(sums))].name
            field = f"network.{inputs.field.format(inputs.number[first])}"
            raise BadInput(
                f"{field}={inputs.mean[first]:g}: 0 or at least {MIN_UNITS * unit:.3g} in"
                f" magnitude, since the input of a neuron, up to {in_all:.3g} (in population"
                f" {fullest}), is summed in 32-bit fixed point",
                field=field,
            )
    return Ring(unit, WIDE, slots)


def _inputs_from_synapses(network: Network) -> _Inputs:
    """The input from projections that have synapses."""
    number = np.flatnonzero(network.most_synapses)
    different, of = network.weights
    weights_of = np.array(of, dtype=np.int64)[number]
    means = np.array([weights.mean for weights in different])
    largest = np.array([abs(weights.mean) + weights.furthest for weights in different])
    weights: set[float] = set()
    for place in np.unique(weights_of).tolist():
        weights.update(different[place].levels)
    return _Inputs(
        field="projections.{}.weight",
        number=number,
        target=network.target_of[number],
        mean=means[weights_of],
        most=largest[weights_of] * network.most_synapses[number],
        weights=weights,
    )


def _inputs_from_outside(description: Description) -> _Inputs:
    """The input from outside to populations that have any."""
    numbers = []
    means = []
    most = []
    for number, population in enumerate(description.network.populations):
        most_events = description.most_events(population)
        if population.external is None or not most_events:
            continue
        numbers.append(number)
        means.append(population.external.weight)
        most.append(abs(population.external.weight) * most_events)
    target = np.array(numbers, dtype=np.int64)
    return _Inputs(
        field="populations.{}.external.weight",
        number=target,
        target=target,
        mean=np.array(means, dtype=float),
        most=np.array(most, dtype=float),
        weights=set(means),
    )


def synapse_bytes(network: Network) -> int:
    """Bytes of a synapse: 8 where a projection has a weight for every synapse, else 4.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> synapse_bytes(read_description(mam_benchmark.describe(areas=2)).network)
        4
    """
    different, of = network.weights
    own = np.array([weights.own for weights in different], dtype=bool)
    has_synapses = network.most_synapses > 0
    return 8 if own[of][has_synapses].any() else 4


def _narrow_unit(weights: set[float], from_synapses: float, in_all: float) -> float:
    """A unit for which 16 bits suffice; 0 if there is none.

    Args:
        weights: all that occur.
        from_synapses: the most that a neuron receives from synapses in a step.
        in_all: the same, with input from outside.
    """
    if in_all == 0:
        return 1.0
    smallest = min(abs(weight) for weight in weights if weight)
    for part in range(1, MAX_PARTS + 1):
        unit = smallest / part
        if from_synapses / unit > MAX_NARROW or in_all / unit > MAX_WIDE:
            return 0.0
        if all(_is_multiple(weight, unit) for weight in weights):
            return unit
    return 0.0


def _is_multiple(weight: float, unit: float) -> bool:
    """True if a weight is a multiple of the unit, as far as decimal fractions can be."""
    return abs(weight / unit - round(weight / unit)) <= UNIT_ROUNDING
