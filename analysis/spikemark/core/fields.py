"""What the fields of several files share: checks, and setting one by its path."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from . import validation
from .errors import BadInput, short_repr
from .yaml_file import YAML, lines_of_fields

#: Numbers of base 8, 16, 2 and 60, and with marks between digits, in the words of YAML 1.1 or 1.2.
NOT_DECIMAL = re.compile(
    r"[-+]?(0[0-9_]+|0x[0-9a-f_]+|0[bo][0-7_]+|[0-9_]+(:[0-9_]+)+|[0-9]+_[0-9_]*)(\.[0-9_]*)?",
    re.IGNORECASE,
)
#: Up to here, each whole number is a number of its own as a float.
MAX_EXACT_FLOAT = 2**53

#: Digits of a number in a record: the mini-app writes no more.
RECORDED_DIGITS = 15
#: Stands for a field that one side lacks.
ABSENT = "absent"

Model = TypeVar("Model", bound=BaseModel)


class FieldDifference(NamedTuple):
    """A field whose values differ."""

    path: str  #: parts are joined by dots, items of lists by number; empty for the whole
    value: Any  #: ABSENT where there is none
    expected: Any  #: ABSENT where there is none


def checked(
    model: type[Model],
    content: object,
    path: Path | str,
    subject: str,
    advice: str = "",
) -> Model:
    """The content of a file as a model.

    Args:
        model: the class of what the file should hold.
        content: what was read.
        path: the file, or what else to call it; complaints name it, and lines of YAML.
        subject: what to call the content where a complaint is about no field.
        advice: what to do about a wrong field; ends the line.

    Raises BadInput with all wrong fields.

    Example:
        >>> class Layout(BaseModel):
        ...     ranks: int
        ...     threads: int = 1
        >>> checked(Layout, {"ranks": 4}, "layout.yaml", "layout").threads
        1
        >>> try:
        ...     checked(Layout, {"ranks": "many"}, "layout.yaml", "layout")
        ... except BadInput as error:
        ...     print(error)
        layout.yaml: ranks='many'; expected a valid integer
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problem = validation.invalid(
            error, subject, model=model, content=content, line_of=_line_finder(path)
        )
        raise problem.within(file=path, advice=advice) from None


def _line_finder(path: Path | str) -> validation.LineOfField | None:
    """What finds the line of a field in a file; None where the file is not in YAML."""
    file = Path(path)
    if file.suffix not in YAML or not file.is_file():
        return None
    return lines_of_fields(file).get


def number(value: object) -> Any:
    """Refuses true, false and text where a number is needed, of which pydantic would make one.

    A validator of pydantic: raises ValueError.

    Example:
        >>> number(0.5)
        0.5
    """
    if isinstance(value, bool | str):
        raise ValueError("expected a number")
    return value


def whole_number(value: object) -> Any:
    """The same; a whole number may be written as 100.0 or 1e2.

    Example:
        >>> whole_number(1e2)
        100
    """
    if isinstance(value, bool | str):
        raise ValueError("expected an integer")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def whole_as_integer(value: object) -> Any:
    """A whole number up to 2^53 may be written as 100.0 or 1e2, also where fields are strict.

    Example:
        >>> whole_as_integer(1e6), whole_as_integer(2.5)
        (1000000, 2.5)
    """
    if isinstance(value, float) and abs(value) <= MAX_EXACT_FLOAT and value.is_integer():
        return int(value)
    return value


def check_whole(
    name: str,
    value: float,
    least: int = 1,
    most: int | None = None,
) -> None:
    """Raises BadInput for a number that is not whole, less than `least`, or more than `most`.

    Example:
        >>> check_whole("ranks", 4, most=8)
        >>> try:
        ...     check_whole("ranks", 16, most=8)
        ... except BadInput as error:
        ...     print(error)
        ranks=16; expected an integer from 1 to 8
    """
    if most is None:
        expected = f"an integer of at least {least}"
    else:
        expected = f"an integer from {least} to {most}"
    is_whole = math.isfinite(value) and value == int(value)
    too_large = most is not None and value > most
    if not is_whole or value < least or too_large:
        raise BadInput(
            field=name,
            value=value,
            expected=expected,
            code="range",
        )


def assign(content: dict[str, Any], field: str, value: object) -> None:
    """Sets `path.to.field` in place; makes mappings that are missing, finds items by their number.

    Raises BadInput if the path does not exist.

    Example:
        >>> content = {"grid": {"ranks": [1, 2]}}
        >>> assign(content, "grid.ranks.1", 8)
        >>> assign(content, "time.cycles", 100)
        >>> content
        {'grid': {'ranks': [1, 8]}, 'time': {'cycles': 100}}
    """
    *path, last = field.split(".")
    part: Any = content
    for step in path:
        if isinstance(part, dict):
            part = part.setdefault(step, {})
        else:
            part = part[_item_number(part, step, field)]
    if isinstance(part, dict):
        part[last] = value
    else:
        part[_item_number(part, last, field)] = value


def as_recorded(value: object) -> Any:
    """A number as a record of the mini-app holds it, in 15 digits; any other value as it is.

    Example:
        >>> as_recorded(3.236795775560451), as_recorded("area")
        (3.23679577556045, 'area')
    """
    if isinstance(value, float):
        return float(f"{value:.{RECORDED_DIGITS}g}")
    return value


def differing(value: object, expected: object, path: str = "") -> Iterator[FieldDifference]:
    """Each field in which two contents of JSON differ, in the order of the second one.

    Numbers are compared as records hold them: one that was written in full is equal to what a
    record says of it.

    Args:
        value: one content.
        expected: the other one.
        path: of both, if they are parts of something.

    Example:
        >>> told = {"rate": 3.236795775560451, "sizes": [10, 20]}
        >>> list(differing({"rate": 3.23679577556045, "sizes": [10, 25]}, told))
        [FieldDifference(path='sizes.1', value=25, expected=20)]
    """
    if as_recorded(value) == as_recorded(expected):
        return
    parts, expected_parts = _parts(value), _parts(expected)
    if value is ABSENT and expected_parts:
        parts = {}
    if expected is ABSENT and parts:
        expected_parts = {}
    if parts is None or expected_parts is None:
        yield FieldDifference(path, value, expected)
        return
    for name in expected_parts | parts:
        part = parts.get(name, ABSENT)
        expected_part = expected_parts.get(name, ABSENT)
        yield from differing(part, expected_part, f"{path}.{name}".lstrip("."))


def _parts(value: object) -> dict[Any, Any] | None:
    """The fields of a mapping, or the items of a list by number; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return None


def same(name: str, value: object, expected: object) -> Iterator[str]:
    """A text unless both values are equal, numbers as records hold them.

    It names the first field within them that differs, with both values.

    Example:
        >>> list(same("totals.spikes", 1200, 1200)), list(same("totals.spikes", 1100, 1200))
        ([], ['totals.spikes=1100; expected 1200'])
        >>> list(same("layout", {"ranks": 4, "threads": 1}, {"ranks": 4, "threads": 2}))
        ['layout.threads=1; expected 2']
    """
    differences = list(differing(value, expected, name))
    if not differences:
        return
    first = differences[0]
    shown, wanted = _apart(first.value, first.expected)
    text = f"{first.path}={shown}; expected {wanted}"
    if len(differences) > 1:
        text += f" (and {len(differences) - 1} more)"
    yield text


def _apart(value: object, expected: object) -> tuple[str, str]:
    """Two values that differ, in a line; of long texts, what follows their common beginning."""
    shown, wanted = short_repr(value), short_repr(expected)
    if shown != wanted:
        return shown, wanted
    text, other = str(value), str(expected)  # both were shortened
    begin = 0
    while text[begin : begin + 1] == other[begin : begin + 1] != "":
        begin += 1
    return short_repr(f"…{text[begin:]}"), short_repr(f"…{other[begin:]}")


def _item_number(part: object, step: str, field: str) -> int:
    """The number of an item of a list. Raises BadInput where there is no such item, or no list."""
    if not isinstance(part, list):
        _no_such_field(field, f"nothing can be set below {short_repr(part)}")
    if not re.fullmatch("[0-9]{1,9}", step) or int(step) >= len(part):
        _no_such_field(field, f"{step!r} is not an item of a list of {len(part)}")
    return int(step)


def _no_such_field(field: str, reason: str) -> NoReturn:
    raise BadInput(
        f"field {field!r}: {reason}",
        field=field,
        code="unknown",
    )
