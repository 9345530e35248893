"""Reads the options of a preset; errors are stated in one line."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from spikemark.core.errors import BadInput, shown


class Strict(BaseModel):
    """Options that are known and finite, and numbers where numbers are required."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_booleans(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name, value in given.items():
            parts = value if isinstance(value, list | tuple) else [value]
            if name in cls.model_fields and any(isinstance(part, bool) for part in parts):
                raise ValueError(f"{name}={shown(value)}: true and false are not allowed")  # would be 1 and 0
        return given


Chosen = TypeVar("Chosen", bound=Strict)


def choose(kind: type[Chosen], given: dict[str, Any], full: bool, published: dict[str, Any]) -> Chosen:
    """Options of the given `kind`; None stands for the default. Raises BadInput: option, value, allowed.

    With `full`, options that are not given take their `published` values.
    """
    if not isinstance(full, bool):
        raise BadInput(f"full={shown(full)}: true or false is needed")
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return kind.model_validate((published if full else {}) | given)
    except ValidationError as error:
        raise BadInput(_complaint(error, ("full", *kind.model_fields))) from None


def _complaint(error: ValidationError, known: tuple[str, ...]) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    option = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{option}={shown(first['input'])}: unknown; options are {', '.join(known)}"
    return f"{option}={shown(first['input'])}: {first['msg']}"
