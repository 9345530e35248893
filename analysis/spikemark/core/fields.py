"""Checks that the fields of several files share."""

from typing import Any


def no_boolean(value: Any) -> Any:
    """Refuses true and false where a number is needed, which pydantic would take for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value
