"""What the fields of several files share: checks, and setting one by its path."""

import re
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .errors import BadInput, invalid, shown

Model = TypeVar("Model", bound=BaseModel)


def checked(kind: type[Model], content: Any, path: Path, whole: str, mend: str = "") -> Model:
    """What the file `path` holds. Raises BadInput naming the file, the field or else `whole`, and `mend`."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        found = invalid(error, f"{path}: ", whole, kind, content)
        raise BadInput(f"{found}{mend}", field=found.field, code=found.code) from None


def no_boolean(value: Any) -> Any:
    """Refuses true and false where a number is needed, which pydantic would take for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value


def check_whole(name: str, value: float, least: int = 1) -> None:
    """Raises BadInput for a number that is not whole, or less than `least`."""
    if value < least or value != int(value):
        raise BadInput.of(name, value, f"an integer of at least {least}", code="range")


def assign(content: dict[str, Any], field: str, value: Any) -> None:
    """Sets `path.to.field` in place and makes what is missing on the way; list items go by number.

    Raises BadInput if the path does not exist.
    """
    *path, last = field.split(".")
    at: Any = content
    for step in path:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[_item(at, step, field)]
    at[last if isinstance(at, dict) else _item(at, last, field)] = value


def _item(at: Any, step: str, field: str) -> int:
    why = f"nothing can be set below {shown(at)}"
    if isinstance(at, list):
        if re.fullmatch("[0-9]{1,9}", step) and int(step) < len(at):
            return int(step)
        why = f"{step!r} is not an item of a list of {len(at)}"
    raise BadInput(f"field {field!r}: {why}", field=field, code="unknown")
