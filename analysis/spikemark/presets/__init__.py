"""Known networks as run descriptions. A new preset is one module and one line in PRESETS."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel

from . import dpsnn, mam, mam_benchmark, microcircuit, music_cells


@dataclass(frozen=True)
class Preset:
    """A named network; `options` documents and checks what `describe(**options)` accepts.

    `rates_from`: the least values of options with which rates have been compared with the published ones.
    """

    name: str
    summary: str
    options: type[BaseModel]
    describe: Callable[..., dict]
    rates_from: dict[str, float] = field(default_factory=dict)


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("dpsnn", dpsnn.SUMMARY, dpsnn.Options, dpsnn.describe),
        Preset("mam", mam.SUMMARY, mam.Options, mam.describe, mam.RATES_FROM),
        Preset("mam-benchmark", mam_benchmark.SUMMARY, mam_benchmark.Options, mam_benchmark.describe),
        Preset(
            "microcircuit",
            microcircuit.SUMMARY,
            microcircuit.Options,
            microcircuit.describe,
            microcircuit.RATES_FROM,
        ),
        Preset("music-cells", music_cells.SUMMARY, music_cells.Options, music_cells.describe),
    )
}
