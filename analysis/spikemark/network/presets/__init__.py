"""Known networks as run descriptions. A new preset is a module with SUMMARY and Options."""

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
    rates: PublishedRates | None


PRESETS: dict[str, Preset] = {
    name: Preset(name, module.SUMMARY, module.Options, module.describe, getattr(module, "RATES", None))
    for name, module in {
        "dpsnn": dpsnn, "mam": mam, "mam-benchmark": mam_benchmark, "microcircuit": microcircuit,
        "music-cells": music, "voxels": voxels,
    }.items()
}  # fmt: skip


def published_rates(name: str | None, given: dict[str, Any] | None = None) -> PublishedRates | None:
    """What was published for a preset with these options; None for nothing, and for an unknown preset."""
    if name not in PRESETS or (rates := PRESETS[name].rates) is None:
        return None
    chosen = {n: field.default for n, field in PRESETS[name].options.model_fields.items()} | (given or {})
    return rates if rates.hold_for.items() <= chosen.items() else None
