"""Checks that the fields of several files share."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .errors import BadInput, first_complaint

Model = TypeVar("Model", bound=BaseModel)


def checked(kind: type[Model], content: Any, path: Path, whole: str, mend: str = "") -> Model:
    """What the file `path` holds. Raises BadInput naming the file, the field or else `whole`, and `mend`."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise BadInput(f"{path}: {first_complaint(error, whole)}{mend}") from None


def no_boolean(value: Any) -> Any:
    """Refuses true and false where a number is needed, which pydantic would take for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value
