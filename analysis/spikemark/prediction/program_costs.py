"""Costs of production programs: what their time grows with, and a first guess of each.

NEST, DPSNN, or a program that only the user has measured: its costs are seconds of a core at
REFERENCE_GHZ for a synaptic event, a list entered, a neuron step, ..., and seconds of an exchange.
`spikemark score --fit` fits them to the published runs (spreads.yaml). A program that was never
fitted grows as DPSNN does, with events and messages.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PARTS = ("kernel", "exchange")
REFERENCE_GHZ = 3.2  #: clock of the core that costs are stated for


@dataclass(frozen=True)
class Cost:
    """What time grows with."""

    part: str  #: of PARTS
    name: str  #: what is counted
    seconds: float  #: a first guess of what one takes on a core of REFERENCE_GHZ
    phase: str = ""  #: of a cycle, in which a core spends it; "" on the network


@dataclass(frozen=True)
class Bytes:
    """Bytes of something in memory, with the ends of a 95 % interval, and where that is from."""

    value: float
    low: float
    high: float
    reference: str


@dataclass(frozen=True)
class ProgramMemory:
    """What a production program keeps in memory."""

    synapse: Bytes
    neuron: Bytes

    def gigabytes(self, neurons: float, synapses: float) -> tuple[float, float, float]:
        """Memory of a network in GB, and the ends of its 95 % interval.

        Example:
            >>> assert NEST.memory is not None
            >>> [round(number) for number in NEST.memory.gigabytes(neurons=8e4, synapses=3e8)]
            [13, 5, 20]
        """
        of_synapses, of_neurons = self.synapse, self.neuron
        return (
            1e-9 * (synapses * of_synapses.value + neurons * of_neurons.value),
            1e-9 * (synapses * of_synapses.low + neurons * of_neurons.low),
            1e-9 * (synapses * of_synapses.high + neurons * of_neurons.high),
        )


@dataclass(frozen=True)
class ProgramCosts:
    """What the time of a production program grows with."""

    name: str  #: id, as commands and points take it
    title: str  #: for readers
    costs: tuple[Cost, ...]
    fitted: bool = True  #: whether costs are fitted to published runs
    memory: ProgramMemory | None = None  #: None: nobody has measured it

    @cached_property
    def guesses(self) -> NDArray[np.float64]:
        """Logarithms of the first guesses, [cost]."""
        return np.log([cost.seconds for cost in self.costs])

    @cached_property
    def of_part(self) -> NDArray[np.bool_]:
        """Which costs belong to a part, [part, cost]."""
        parts = np.array([cost.part for cost in self.costs])
        of_part: NDArray[np.bool_] = parts == np.array(PARTS)[:, np.newaxis]
        return of_part


#: Lower ends are what a synapse is without the tables that find it, so that no network is refused
#: which might fit.
MEMORY_OF_NEST = ProgramMemory(
    synapse=Bytes(
        value=42,
        low=16,
        high=65,
        reference="literature: an object of 16 B in the 4g kernel, 48 B in 3g (Kunkel et al. 2014,"
        " doi:10.3389/fninf.2014.00078, Table 1); NEST 2.12 takes 45 to 47 B in all (Pastorelli et"
        " al. 2019, Table 3); measured: NEST 3 takes 37 to 42 B at most (spikemark peers)",
    ),
    neuron=Bytes(
        value=1124,
        low=600,
        high=3000,
        reference="literature: iaf_psc_alpha with its overhead (Kunkel et al. 2014, Table 1); the"
        " interval is assumed",
    ),
)
MEMORY_OF_DPSNN = ProgramMemory(
    synapse=Bytes(
        value=28,
        low=12,
        high=48,
        reference="literature: 12 B without plasticity (Pastorelli et al. 2019, Table 1), 25 to"
        " 33 B in all on 1 to 1024 cores (Figure 5A), 18 to 22 B (Table 3); measured: 26 to 48 B",
    ),
    neuron=Bytes(value=1000, low=0, high=3000, reference="assumed"),
)
NEST = ProgramCosts(
    "nest",
    "NEST",
    (
        Cost("kernel", "synaptic event", 5e-9, "deliver"),
        Cost("kernel", "synaptic event that misses the cache", 1e-7, "deliver"),
        Cost("kernel", "plastic synaptic event", 2e-7, "deliver"),
        Cost("kernel", "list of synapses", 1.5e-7, "deliver"),
        Cost("kernel", "neuron step", 6e-9, "update"),
        Cost("kernel", "neuron step that misses the cache", 1.5e-7, "update"),
        Cost("kernel", "neuron step with Poisson input", 1e-7, "update"),
        Cost("exchange", "round of an exchange, in software", 3e-6, "collocate"),
        Cost("exchange", "second of messages on the network", 1.0),
        Cost("exchange", "spike received", 1e-6, "collocate"),
    ),
    memory=MEMORY_OF_NEST,
)
DPSNN = ProgramCosts(
    "dpsnn",
    "DPSNN",
    (
        Cost("kernel", "synaptic event", 1.5e-7, "deliver"),
        Cost("kernel", "synaptic event that misses the cache", 1.5e-7, "deliver"),
        Cost("exchange", "message, in software", 4e-5, "collocate"),
        Cost("exchange", "second of messages on the network", 1.0),
    ),
    memory=MEMORY_OF_DPSNN,
)
PROGRAMS = {costs.name: costs for costs in (NEST, DPSNN)}  #: those with fitted costs


def find(name: str) -> ProgramCosts:
    """The costs of a program by its id; one that was never fitted has the costs of DPSNN.

    Example:
        >>> find("nest").name
        'nest'
    """
    return PROGRAMS.get(name) or ProgramCosts(name, name, DPSNN.costs, fitted=False)
