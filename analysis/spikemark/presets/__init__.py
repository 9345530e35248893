"""Known networks as run descriptions. A new preset is one module and one line in PRESETS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from . import dpsnn, mam, mam_benchmark, microcircuit, music_cells, voxels
from .published_rates import PublishedRates


@dataclass(frozen=True)
class Preset:
    """A named network; `options` documents and checks what `describe(**options)` accepts."""

    name: str
    summary: str
    options: type[BaseModel]
    describe: Callable[..., dict]
    rates: PublishedRates | None = None

    def rates_with(self, options: dict[str, Any]) -> PublishedRates | None:
        """The rates that were published for the network with these options; None if there are none."""
        fields = self.options.model_fields
        for name, value in (self.rates.hold_for if self.rates else {}).items():
            if options.get(name, fields[name].default) != value:
                return None
        return self.rates


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("dpsnn", dpsnn.SUMMARY, dpsnn.Options, dpsnn.describe, dpsnn.RATES),
        Preset("mam", mam.SUMMARY, mam.Options, mam.describe, mam.RATES),
        Preset("mam-benchmark", mam_benchmark.SUMMARY, mam_benchmark.Options, mam_benchmark.describe),
        Preset(
            "microcircuit",
            microcircuit.SUMMARY,
            microcircuit.Options,
            microcircuit.describe,
            microcircuit.RATES,
        ),
        Preset("music-cells", music_cells.SUMMARY, music_cells.Options, music_cells.describe),
        Preset("voxels", voxels.SUMMARY, voxels.Options, voxels.describe),
    )
}


def published_rates(preset: str | None, options: dict[str, Any] | None = None) -> PublishedRates | None:
    """What was published for a preset with these options; None for nothing, and for an unknown preset."""
    return PRESETS[preset].rates_with(options or {}) if preset in PRESETS else None
