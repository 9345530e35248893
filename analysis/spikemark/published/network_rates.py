"""What was published of the networks that presets stand for.

A preset's module may have RATES_HZ, mean rates in Hz by name of the population, or under "all" that of all
neurons; SOURCE, where they stand; and RATES_FOR, values of options without which they do not hold.
"""

import sys
from dataclasses import dataclass
from typing import Any

from spikemark.presets import PRESETS

ALL = "all"


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, spikes per neuron and second, and where they stand."""

    hz: dict[str, float]
    source: str

    @property
    def mean_hz(self) -> float | None:
        """Of all neurons, where that was published."""
        return self.hz.get(ALL)


def rates(preset: str | None, options: dict[str, Any] | None = None) -> PublishedRates | None:
    """What was published for a preset with these options; None for nothing, and for an unknown preset."""
    if preset not in PRESETS:
        return None
    module, fields = sys.modules[PRESETS[preset].describe.__module__], PRESETS[preset].options.model_fields
    hz = getattr(module, "RATES_HZ", None)
    for name, value in getattr(module, "RATES_FOR", {}).items():
        if (options or {}).get(name, fields[name].default) != value:
            return None
    return PublishedRates(hz, module.SOURCE) if hz else None
