"""What a prediction reads of a run description (miniapp/FORMAT.md), and the line for what is wrong."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from spikemark.core.errors import BadInput, shown

WHOLE = 1e-6  # of the number of steps of a cycle
MOST_HZ, MOST_MS, MOST_SYNAPSES, MOST_WEIGHT = 1e6, 1e6, 4_000_000_000, 1e12


def _number(**limits: float) -> Any:
    return Annotated[float, Field(allow_inf_nan=False, **limits)]


Wire = Literal["compact", "aer12"]
Milliseconds = _number(ge=1e-6, le=MOST_MS)
Spread = _number(ge=0, le=MOST_MS)
Names = str | list[str]


class _Known(BaseModel):
    """Refuses fields that the mini-app does not know either: a misspelt one would be predicted without."""

    @model_validator(mode="before")
    @classmethod
    def _no_other(cls, given: Any) -> Any:
        names = [about.alias or name for name, about in cls.model_fields.items()]
        unknown = [name for name in given if name not in names] if isinstance(given, dict) else []
        if unknown:
            raise ValueError(f"{unknown[0]}: unknown field; allowed: {', '.join(names)}")
        return given


class _Neuron(BaseModel):
    model: str
    rate_hz: _number(ge=0, le=MOST_HZ) = 0


class _External(_Known):
    rate_hz: _number(ge=0, le=MOST_HZ) = 0
    synapses: Annotated[int, Field(ge=0, le=MOST_SYNAPSES)] = 1
    weight: Any = None


class _Population(_Known):
    name: str
    size: Annotated[int, Field(ge=0)]
    neuron: _Neuron
    area: str = ""
    external: _External | None = None


class _Indegree(_Known):
    mean: _number(ge=0, le=MOST_HZ)
    distribution: Any = None


class _Delay(_Known):
    distribution: Literal["normal", "exponential", "constant"] = "normal"
    mean: Milliseconds
    sd: Spread = 0
    min: Spread = 0
    max: Milliseconds = MOST_MS

    @model_validator(mode="after")
    def _ordered(self) -> "_Delay":
        if self.min > self.max:
            raise ValueError(f"min={self.min:g}: at most the longest, {self.max:g} ms")
        return self


class _Weight(_Known):
    mean: _number(ge=-MOST_WEIGHT, le=MOST_WEIGHT)
    sd: Any = None
    classes: Any = None


class _Projection(_Known):
    source: Names
    target: str
    indegree: Annotated[int, Field(ge=0, le=MOST_SYNAPSES)] | _Indegree
    delay: _Delay
    weight: _number(ge=-MOST_WEIGHT, le=MOST_WEIGHT) | _Weight = 1


class _Parts(_Known):
    populations: Annotated[list[_Population], Field(min_length=1)]
    projections: list[_Projection] = []


class _Lane(_Known):
    name: str
    group: str | int = "world"
    source: Names = Field("", alias="from")
    target: Names = Field("", alias="to")
    period: Annotated[int, Field(ge=1, le=MOST_SYNAPSES)] | Literal["D", "auto"] = 1
    lag: Annotated[int, Field(ge=0, le=MOST_SYNAPSES)] = 0


class _Time(_Known):
    resolution_ms: Milliseconds = 0.1
    cycle_ms: Milliseconds | None = None
    warmup_ms: Any = None
    simulate_ms: Any = None

    @model_validator(mode="after")
    def _whole(self) -> "_Time":
        steps = (self.cycle_ms or self.resolution_ms) / self.resolution_ms
        if abs(steps - round(steps)) > WHOLE * steps or round(steps) < 1:
            raise ValueError(
                f"cycle_ms={self.cycle_ms:g}: a multiple of the resolution, {self.resolution_ms:g}"
            )
        return self


class _File(_Known):
    """What a prediction reads of a run description; what is `Any`, and the neurons, the mini-app checks."""

    format_version: Any = None
    seed: Any = None
    time: _Time
    delay_ratio: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["auto"] = 1
    lag: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    schedule: str | Annotated[list[_Lane], Field(min_length=1)] = "conventional"
    placement: str | None = None
    exchange: str | dict[str, Any] = {}
    wire: Wire | dict[str, Wire] = "compact"
    network: _Parts
    record: Any = None
    inject: Any = None


def check(description: Any, where: str = "") -> None:
    """Raises BadInput for what is no run description; the line begins with `where`."""
    try:
        _File.model_validate(description, strict=True)
    except ValidationError as error:
        raise BadInput(where + _complaint(error, description)) from None


def _complaint(error: ValidationError, description: Any) -> str:
    """Field, value, what is allowed; where one of several kinds is allowed, of all of them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for problem in error.errors(include_url=False):
        at, path = description, []
        for part in problem["loc"]:  # names of kinds are no fields
            inside = part in at if isinstance(at, dict) else isinstance(at, list) and isinstance(part, int)
            if inside or (problem["type"] == "missing" and part == problem["loc"][-1]):
                path.append(str(part))
                at = at[part] if inside else None
        found.setdefault(".".join(path), []).append(problem)
    found = {field: problems for field, problems in found.items() if not _any_inside(field, found)}
    field, problems = next(iter(found.items()))
    said = " or ".join(dict.fromkeys(_allowed(problem) for problem in problems))
    if problems[0]["type"] in ("missing", "value_error"):
        line = ": ".join(part for part in (field, said) if part)
    else:
        line = f"{field or 'run description'}={shown(problems[0]['input'])}; allowed: {said}"
    return line if len(found) == 1 else f"{line} (and {len(found) - 1} more)"


def _any_inside(field: str, others: dict[str, Any]) -> bool:
    """Is a part of the field complained of? Then it is of the kind that has such parts."""
    return any(other.startswith(f"{field}.") for other in others)


def _allowed(problem: dict[str, Any]) -> str:
    if problem["type"] in ("model_type", "dict_type"):
        return "a mapping of fields"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return "missing" if problem["type"] == "missing" else message
