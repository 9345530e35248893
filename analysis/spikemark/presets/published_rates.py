"""The published rates of the network that a preset represents."""

from dataclasses import dataclass, field
from typing import Any

ALL = "all"  # stands for all neurons where rates have no population


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, in spikes per neuron and second, with their source.

    They apply if options have the values of `hold_for`. They were compared with those of the preset for
    values of at least `compared_from`.
    """

    hz: dict[str, float]
    source: str
    hold_for: dict[str, Any] = field(default_factory=dict)
    compared_from: dict[str, float] = field(default_factory=dict)

    @property
    def mean_hz(self) -> float | None:
        """The mean of all neurons, if that was published."""
        return self.hz.get(ALL)
