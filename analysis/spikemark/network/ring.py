"""The ring of input: how wide its cells are, and how many a neuron has.

The mini-app sums input in fixed point. It uses 16 bits if all weights are multiples of one unit in
which a neuron's synapses stay within 16 bits and all its input within 32; as units it tries the
smallest weight and its halves, thirds, ... 64ths. Otherwise it uses 32 bits
(miniapp/src/description/network.c, base/ring.h).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

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


class _Input(NamedTuple):
    """What weighs on the neurons of a population: a projection, or input from outside."""

    field: str  #: path of the weight in the network
    target: int  #: number of the population
    mean: float  #: weight
    weights: tuple[float, ...]  #: all that occur
    most: float  #: that a neuron receives in a step, in magnitude


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
    sums = [0.0] * len(network.populations)  # of each population, in a step
    _add(sums, synapses)
    from_synapses = max(sums)
    _add(sums, outside)
    in_all = max(sums)
    inputs = synapses + outside
    if synapse_bytes(network) < 8:
        weights: set[float] = set()
        for source in inputs:
            weights.update(source.weights)
        unit = _narrow_unit(weights, from_synapses, in_all)
        if unit:
            return Ring(unit, NARROW, slots)
    unit = 2.0 ** (math.ceil(math.log2(in_all)) - 30)
    for source in inputs:
        if abs(source.mean) > 0 and round(abs(source.mean) / unit) < MIN_UNITS:
            fullest = network.populations[sums.index(in_all)].name
            field = f"network.{source.field}"
            raise BadInput(
                f"{field}={source.mean:g}: 0 or at least {MIN_UNITS * unit:.3g} in"
                f" magnitude, since the input of a neuron, up to {in_all:.3g} (in population"
                f" {fullest}), is summed in 32-bit fixed point",
                field=field,
            )
    return Ring(unit, WIDE, slots)


def _inputs_from_synapses(network: Network) -> list[_Input]:
    """The input from each projection that has synapses."""
    inputs = []
    for number, projection in enumerate(network.projections):
        if not network.has_synapses(projection):
            continue
        weights = projection.weights
        largest_weight = abs(weights.mean) + weights.furthest
        inputs.append(
            _Input(
                field=f"projections.{number}.weight",
                target=network.numbers[projection.target],
                mean=weights.mean,
                weights=weights.levels,
                most=largest_weight * projection.most_synapses,
            )
        )
    return inputs


def _inputs_from_outside(description: Description) -> list[_Input]:
    """The input from outside to each population that has any."""
    inputs = []
    for number, population in enumerate(description.network.populations):
        most_events = description.most_events(population)
        if population.external is None or not most_events:
            continue
        weight = population.external.weight
        inputs.append(
            _Input(
                field=f"populations.{number}.external.weight",
                target=number,
                mean=weight,
                weights=(weight,),
                most=abs(weight) * most_events,
            )
        )
    return inputs


def _add(sums: list[float], inputs: Iterable[_Input]) -> None:
    """Add inputs to the sums of their populations, in place."""
    for source in inputs:
        sums[source.target] += source.most


def synapse_bytes(network: Network) -> int:
    """Bytes of a synapse: 8 where a projection has a weight for every synapse, else 4.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> synapse_bytes(read_description(mam_benchmark.describe(areas=2)).network)
        4
    """
    for projection in network.projections:
        if projection.weights.own and network.has_synapses(projection):
            return 8
    return 4


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
