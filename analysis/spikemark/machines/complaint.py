"""One line that says what is wrong with a profile: path, value and what is allowed."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from spikemark.core.errors import shown

from .schema import ProfileFile

LEAF = "a mapping with value, unit, kind and reference"


def one_line(error: ValidationError, content: Any) -> str:
    """The first complaint about `content`, and how many more there are."""
    first, *others = error.errors(include_url=False)
    path = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(others)} more)" if others else ""
    return _text(first, path, content) + more


def _text(first: dict[str, Any], path: str, content: Any) -> str:
    what, value = first["type"], first["input"]
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if what == "missing":
        return f"{path} is missing"
    if what == "extra_forbidden":
        return f"{path}: unknown field; {_allowed(first['loc'], content)}"
    if what == "value_error":
        return f"{path}: {message}"
    if what in ("model_type", "dict_type"):
        return f"{path}: {shown(value)}; allowed: {LEAF}, or a group of such; what is unknown is left out"
    if what in ("float_type", "int_type"):
        message = "a number, such as 1.5e-3" if what == "float_type" else "a whole number"
    if what == "string_too_short":
        message = "a text that is not empty"
    if what == "literal_error" and "'" in message and not isinstance(value, str):
        message += ", in quotes"
    return f"{path}={shown(value)}; allowed: {message}"


def _allowed(place: tuple, content: Any) -> str:
    """The fields that the group of an unknown field allows."""
    at = ProfileFile
    for part in place[:-1]:
        at = at.model_fields[part].annotation if part in getattr(at, "model_fields", {}) else None
        if getattr(at, "__origin__", None) is dict:
            at = None
    if at is None:
        return "allowed: value, unit, kind, reference, interval"
    return f"allowed: {', '.join(at.model_fields)}"


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
