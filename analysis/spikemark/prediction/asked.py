"""The network that is asked about: a preset by name, or the file of a run description."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from spikemark.errors import BadInput, first_complaint
from spikemark.prediction import rates
from spikemark.prediction.rates import Rates
from spikemark.presets import PRESETS
from spikemark.reading import read_json

Wire = Literal["compact", "aer12"]


class _Neuron(BaseModel):
    model: str


class _External(BaseModel):
    rate_hz: Annotated[float, Field(ge=0)] = 0
    synapses: Annotated[int, Field(ge=0)] = 1


class _Population(BaseModel):
    name: str
    size: Annotated[int, Field(ge=0)]
    neuron: _Neuron
    area: str = ""
    external: _External | None = None


class _Indegree(BaseModel):
    mean: Annotated[float, Field(ge=0)]


class _Delay(BaseModel):
    mean: Annotated[float, Field(gt=0)]
    sd: Annotated[float, Field(ge=0)] = 0


class _Projection(BaseModel):
    source: str | list[str]
    target: str
    indegree: Annotated[int, Field(ge=0)] | _Indegree
    delay: _Delay


class _Parts(BaseModel):
    populations: Annotated[list[_Population], Field(min_length=1)]
    projections: list[_Projection] = []


class _Lane(BaseModel):
    name: str
    group: str | int = "world"
    period: Annotated[int, Field(ge=1)] | Literal["D", "auto"] = 1
    lag: Annotated[int, Field(ge=0)] = 0


class _Time(BaseModel):
    resolution_ms: Annotated[float, Field(gt=0)] = 0.1
    cycle_ms: Annotated[float, Field(gt=0)] = 0.1


class _File(BaseModel):
    """What a prediction reads of a run description; the mini-app checks the rest."""

    time: _Time
    delay_ratio: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
    lag: Annotated[int, Field(ge=1)] = 1
    schedule: str | list[_Lane] = "conventional"
    placement: str | None = None
    exchange: str | dict[str, Any] = {}
    wire: Wire | dict[str, Wire] = "compact"
    network: _Parts


@dataclass(frozen=True)
class Network:
    """A description, what it is called, and how its neurons fire."""

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
        if not sign:
            raise BadInput(f"option={option!r}: NAME=VALUE is needed")
        given[key.replace("-", "_")] = _plain(value)
    description = PRESETS[name].describe(full=full, **given) if full else PRESETS[name].describe(**given)
    title = " ".join([name, *(["full size"] if full else []), *(options or [])])
    return Network(title, description, rates.of(description, rate, name, given))


def of_file(path: Path, rate: float | None = None) -> Network:
    """A run description. Raises BadInput for a file that is none."""
    description = read_json(path)
    try:
        _File.model_validate(description, strict=True)
    except ValidationError as error:
        raise BadInput(f"{path}: {first_complaint(error, 'run description')}") from None
    return Network(path.name, description, rates.of(description, rate))


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
