"""Known networks as run descriptions. A new preset is a module with SUMMARY and Options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from . import dpsnn, mam, mam_benchmark, microcircuit, music, voxels
from .options import PublishedRates


@dataclass(frozen=True)
class Preset:
    """A named network."""

    name: str  #: as commands take it
    summary: str  #: in one line
    options: type[BaseModel]  #: documents and checks what `describe(**options)` accepts
    describe: Callable[..., dict[str, Any]]  #: makes a run description
    rates: PublishedRates | None = None  #: what was published of it


PRESETS: dict[str, Preset] = {
    "dpsnn": Preset("dpsnn", dpsnn.SUMMARY, dpsnn.DpsnnOptions, dpsnn.describe, dpsnn.RATES),
    "mam": Preset("mam", mam.SUMMARY, mam.MamOptions, mam.describe, mam.RATES),
    "mam-benchmark": Preset(
        "mam-benchmark",
        mam_benchmark.SUMMARY,
        mam_benchmark.MamBenchmarkOptions,
        mam_benchmark.describe,
    ),
    "microcircuit": Preset(
        "microcircuit",
        microcircuit.SUMMARY,
        microcircuit.MicrocircuitOptions,
        microcircuit.describe,
        microcircuit.RATES,
    ),
    "music-cells": Preset("music-cells", music.SUMMARY, music.MusicOptions, music.describe),
    "voxels": Preset("voxels", voxels.SUMMARY, voxels.VoxelsOptions, voxels.describe),
}


def published_rates(
    name: str | None, options: Mapping[str, Any] | None = None
) -> PublishedRates | None:
    """What was published for a preset with these options.

    Returns:
        None for nothing, and for an unknown preset.

    Example:
        >>> published_rates("mam").mean_hz
        2.5
    """
    if name not in PRESETS:
        return None
    rates = PRESETS[name].rates
    if rates is None:
        return None
    fields = PRESETS[name].options.model_fields
    values = {option: field.default for option, field in fields.items()}
    values.update(options or {})
    return rates if rates.hold_for.items() <= values.items() else None


#: Names and modules that other packages may import.
__all__ = [
    "PRESETS",
    "Preset",
    "cortex",
    "dpsnn",
    "mam",
    "mam_benchmark",
    "music",
    "options",
    "published_rates",
    "voxels",
]
