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
REFERENCE_GHZ = 2.25  #: clock of the core that costs are stated for


@dataclass(frozen=True)
class Cost:
    """What time grows with."""

    part: str  #: of PARTS
    name: str  #: what is counted
    seconds: float  #: a first guess of what one takes on a core of REFERENCE_GHZ
    phase: str = ""  #: of a cycle, in which a core spends it; "" on the network


@dataclass(frozen=True)
class ProgramCosts:
    """What the time of a production program grows with."""

    name: str  #: id, as commands and points take it
    title: str  #: for readers
    costs: tuple[Cost, ...]
    fitted: bool = True  #: whether costs are fitted to published runs

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
)
PROGRAMS = {costs.name: costs for costs in (NEST, DPSNN)}  #: those with fitted costs


def find(name: str) -> ProgramCosts:
    """The costs of a program by its id; one that was never fitted has the costs of DPSNN.

    Example:
        >>> find("nest").name
        'nest'
    """
    return PROGRAMS.get(name) or ProgramCosts(name, name, DPSNN.costs, fitted=False)
