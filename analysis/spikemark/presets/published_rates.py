"""What was published of the rates of a network that a preset stands for."""

from dataclasses import dataclass, field
from typing import Any

ALL = "all"  # stands for all neurons where rates have no population


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, spikes per neuron and second, and where they stand.

    They hold where options have the values of `hold_for`. They were compared with those of the preset from
    the values in `compared_from` on.
    """

    hz: dict[str, float]
    source: str
    hold_for: dict[str, Any] = field(default_factory=dict)
    compared_from: dict[str, float] = field(default_factory=dict)

    @property
    def mean_hz(self) -> float | None:
        """The mean of all neurons, where that was published."""
        return self.hz.get(ALL)
