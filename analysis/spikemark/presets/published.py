"""What was published of the networks that presets stand for."""

import sys
from dataclasses import dataclass

from spikemark.presets import PRESETS


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, spikes per neuron and second, and where they stand."""

    hz: dict[str, float]
    source: str


def rates(preset: str | None) -> PublishedRates | None:
    """RATES_HZ and SOURCE of the module of a preset; None where it has none, or for an unknown preset."""
    if preset not in PRESETS:
        return None
    module = sys.modules[PRESETS[preset].describe.__module__]
    hz = getattr(module, "RATES_HZ", None)
    return PublishedRates(hz, module.SOURCE) if hz else None
