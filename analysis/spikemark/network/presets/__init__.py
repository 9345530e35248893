"""Known networks as run descriptions. A new preset is a module with SUMMARY, Options and describe."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from . import dpsnn, mam, mam_benchmark, microcircuit, music, voxels
from .options import PublishedRates


@dataclass(frozen=True)
class Preset:
    """A named network; `options` documents and checks what `describe(**options)` accepts."""

    name: str
    summary: str
    options: type[BaseModel]
    describe: Callable[..., dict]
    rates: PublishedRates | None = None


PRESETS: dict[str, Preset] = {
    name: Preset(name, module.SUMMARY, module.Options, module.describe, getattr(module, "RATES", None))
    for name, module in (
        ("dpsnn", dpsnn),
        ("mam", mam),
        ("mam-benchmark", mam_benchmark),
        ("microcircuit", microcircuit),
        ("music-cells", music),
        ("voxels", voxels),
    )
}


def published_rates(name: str | None, given: dict[str, Any] | None = None) -> PublishedRates | None:
    """What was published for a preset with these options; None for nothing, and for an unknown preset."""
    preset, given = PRESETS.get(name), given or {}
    if preset is None or preset.rates is None:
        return None
    fields = preset.options.model_fields
    wanted = preset.rates.hold_for.items()
    return preset.rates if all(given.get(n, fields[n].default) == value for n, value in wanted) else None
