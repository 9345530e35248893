"""The network that is asked about: a preset by name, or the file of a run description."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.network.description import read
from spikemark.presets import PRESETS

from . import rates
from .rates import Rates


@dataclass(frozen=True)
class Network:
    """A description, its title, and the rates at which its neurons fire."""

    title: str
    description: dict[str, Any]
    rates: Rates


def of_preset(
    name: str, full: bool = False, options: list[str] | None = None, rate: float | None = None
) -> Network:
    """A preset with `options` as 'areas=64'. Raises BadInput for an unknown name and what it refuses."""
    if name not in PRESETS:
        raise BadInput(f"preset={name!r}: known are {', '.join(PRESETS)}")
    given: dict[str, Any] = {}
    for option in options or []:
        key, sign, value = option.partition("=")
        key = key.replace("-", "_")
        if not (key and sign):
            raise BadInput(f"option={option!r}: NAME=VALUE is needed")
        if key in given:
            raise BadInput(f"option={option!r}: {key} is given twice")
        given[key] = _plain(value)
    description = PRESETS[name].describe(full=full, **given) if full else PRESETS[name].describe(**given)
    read(description)
    title = " ".join([name, *(["full size"] if full else []), *(options or [])])
    return Network(title, description, rates.of(description, rate, name, given))


def of_file(path: Path, rate: float | None = None) -> Network:
    """The run description in a file. Raises BadInput for a file that holds none."""
    description = read_json(path)
    read(description, f"{path}: ")
    return Network(path.name, description, rates.of(description, rate))


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
