"""What the fields of files have in common."""

from typing import Any


def no_boolean(value: Any) -> Any:
    """Refuse true and false where a number is needed: pydantic takes them for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value
