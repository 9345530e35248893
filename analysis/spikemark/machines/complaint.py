"""One line that says what is wrong with a profile, or a machine of parts: path, value and what is allowed."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from spikemark.core.errors import shown

from .schema import Leaf, ProfileFile

LEAF = "a mapping with value, unit, kind and reference"
#: What pydantic adds to a path: for a key that is not allowed, and the start of the tag of a union.
KEY, TAG = "[key]", "<"


def one_line(error: ValidationError, of: type[BaseModel] = ProfileFile) -> str:
    """The first complaint about a file of the kind `of`, and how many more there are."""
    first, *others = error.errors(include_url=False)
    more = f" (and {len(others)} more)" if others else ""
    return _text(first, of) + more


def _text(first: dict[str, Any], of: type[BaseModel]) -> str:
    what, value = first["type"], first["input"]
    place = tuple(step for step in first["loc"] if step != KEY and not str(step).startswith(TAG))
    path = ".".join(map(str, place))
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if KEY in first["loc"]:
        return f"{path}: allowed: names of lower-case letters, digits and '_', starting with a letter"
    if what == "missing":
        return f"{path} is missing"
    if what == "extra_forbidden":
        return f"{path}: unknown field; allowed: {', '.join(_at(place[:-1], of).model_fields)}"
    if what == "value_error":
        return f"{path}: {message}"
    if what in ("model_type", "dict_type"):
        return f"{path}: {shown(value)}; allowed: {_mapping(_at(place, of))}"
    if what in ("float_type", "int_type"):
        message = "a number, such as 1.5e-3" if what == "float_type" else "a whole number"
    if what == "string_too_short":
        message = "a text that is not empty"
    if what == "too_short":
        message = "at least one"
    if what == "literal_error" and "'" in message and not isinstance(value, str):
        message += ", in quotes"
    return f"{path}={shown(value)}; allowed: {message}"


def _at(place: tuple, of: type[BaseModel]) -> Any:
    """What may stand at a place: a model, or a dict of models by name; None for anything else."""
    at: Any = of
    for step in place:
        inside = at.model_fields[step].annotation if step in getattr(at, "model_fields", {}) else None
        at = _kind(get_args(at)[1] if get_origin(at) is dict else inside)
    return at


def _kind(annotation: Any) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin in (Union, UnionType):
        return next((kind for kind in map(_kind, inner) if kind is not None), None)
    is_model = isinstance(annotation, type) and origin is None and issubclass(annotation, BaseModel)
    return annotation if is_model or origin is dict else None


def _mapping(kind: Any) -> str:
    """The mapping that is allowed: the fields of a group that needs some, names, or values."""
    fields = getattr(kind, "model_fields", {})
    if get_origin(kind) is dict and not issubclass(get_args(kind)[1], Leaf):
        return "a mapping of names"
    if any(field.is_required() for field in fields.values()) and not issubclass(kind, Leaf):
        return f"a mapping with {', '.join(fields)}"
    return f"{LEAF}, or a group of such; what is unknown is left out"


#: Pairs of which the first must not be larger than the second.
ORDERED = (
    ("node.sockets", "node.cores"),
    ("node.l3_cores", "node.cores"),
    ("node.bandwidth_core", "node.bandwidth"),
    ("node.bandwidth", "node.bandwidth_peak"),
)


def impossible(values: Mapping[str, Any]) -> str | None:
    """Says which values (by path) cannot be true together; None if all can."""
    for small, large in ORDERED:
        if small in values and large in values and values[small].value > values[large].value:
            both = ", ".join(f"{path}={values[path].value:g}" for path in (small, large))
            return f"{both}; allowed: {small} up to {large}"
    return None
