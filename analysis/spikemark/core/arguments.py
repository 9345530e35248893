"""Arguments of public functions: a wrong one is a BadInput that names the parameter.

`public` checks the arguments of a function against its annotations before it runs. Whole numbers
may be those of numpy; a truth value is no number. They count something, so that they are at least 1
(or see LEAST), and a sequence has an item unless none is what is taken by default. What a file or a
name stands for is checked by the function itself.
"""

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from numbers import Integral, Real
from typing import Any, Literal, ParamSpec, TextIO, TypeVar, Union, get_args, get_origin

from .errors import BadInput, unknown_name

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
#: Abstract classes of numbers that an annotation stands for.
NUMBERS: dict[object, type] = {int: Integral, float: Real}
MAX_ITEMS = 1000  #: of a sequence that are looked at
#: The least whole number that a parameter takes, where that is not 1.
LEAST = {"again": 0, "group": 2, "seed": 0, "skip": 0}
#: How annotations read in a complaint.
WORDS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    os.PathLike: "a path",
    type(None): "None",
}


def public(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function that refuses wrong arguments by the names of its parameters.

    Example:
        >>> @public
        ... def twice(number: int) -> int:
        ...     return 2 * number
        >>> twice(4)
        8
        >>> twice("4")
        Traceback (most recent call last):
        spikemark.core.errors.BadInput: number='4'; expected a whole number
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        _check_names(function, signature, args, kwargs)
        hints = _hints(function)
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].kind
            if kind is not inspect.Parameter.VAR_KEYWORD:
                check(name, value, hints[name])
                default = signature.parameters[name].default
                check_amount(name, value, hints[name], default)
        return function(*args, **kwargs)

    return checked


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function by the names of its parameters."""
    return typing.get_type_hints(function)


def _check_names(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Raises BadInput for a parameter that is unknown, missing, or given twice."""
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in kwargs:
            if name not in parameters:
                raise unknown_parameter(name, list(parameters))
    missing = [
        name
        for name, parameter in list(parameters.items())[len(args) :]
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and name not in kwargs
    ]
    if missing:
        expected = words_of(_hints(function)[missing[0]])
        raise BadInput(field=missing[0], reason="missing", expected=expected, code="missing")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        expected = f"by name: {', '.join(parameters)}"
        raise BadInput(field="arguments", reason=str(error), expected=expected) from None


def unknown_parameter(name: str, parameters: Sequence[str]) -> BadInput:
    """The complaint about an argument that a function does not have.

    Example:
        >>> unknown_parameter("node", ["nodes", "ranks"]).field
        'node'
    """
    closest = unknown_name("argument", name, parameters)
    return BadInput(str(closest).replace("argument=", "unknown argument ", 1), field=name)


def check(name: str, value: object, annotation: object) -> None:
    """Raises BadInput for a value that is not what a parameter takes.

    Example:
        >>> check("nodes", "4", int)
        Traceback (most recent call last):
        spikemark.core.errors.BadInput: nodes='4'; expected a whole number
    """
    if not matches(value, annotation):
        raise BadInput(field=name, value=value, expected=words_of(annotation), code="type")


def check_amount(name: str, value: object, annotation: object, default: object = None) -> None:
    """Raises BadInput for a whole number that is too small, also in a sequence or a mapping, and
    for a sequence or a text without anything in it, unless that is the default.

    Example:
        >>> check_amount("nodes", [4, 0], Sequence[int])
        Traceback (most recent call last):
        spikemark.core.errors.BadInput: nodes=[4, 0]; expected whole numbers from 1 on
        >>> check_amount("machines", [], Sequence[str])
        Traceback (most recent call last):
        spikemark.core.errors.BadInput: machines=[]; expected one or more
    """
    takes_whole_numbers = _takes_whole_numbers(annotation)
    may_be_empty = isinstance(value, Mapping) and not takes_whole_numbers
    if _is_empty(value) and not _is_empty(default) and not may_be_empty:
        expected = "a text that is not empty" if isinstance(value, str) else "one or more"
        raise BadInput(field=name, value=value, expected=expected, code="range")
    if not takes_whole_numbers:
        return
    expected = "whole numbers"
    numbers: Iterable[object]
    if isinstance(value, Mapping):
        numbers = value.values()
    elif isinstance(value, Iterable):
        numbers = value
    else:
        numbers = [value]
        expected = "a whole number"
    least = LEAST.get(name, 1)
    for number in numbers:
        if isinstance(number, Integral) and number < least:
            expected = f"{expected} from {least} on"
            raise BadInput(field=name, value=value, expected=expected, code="range")


def _is_empty(value: object) -> bool:
    """Whether a value is a sequence, an array, a mapping or a text with nothing in it."""
    return isinstance(value, Sized) and len(value) == 0


def _takes_whole_numbers(annotation: object) -> bool:
    """Whether a parameter takes whole numbers: one, or a sequence or a mapping of them."""
    inner = get_args(annotation)
    return annotation is int or any(_takes_whole_numbers(part) for part in inner)


def matches(value: object, annotation: object) -> bool:
    """Whether a value is of an annotated type.

    Example:
        >>> matches([1, 2], Sequence[int]), matches("12", Sequence[int]), matches(True, int)
        (True, False, False)
    """
    if annotation in (Any, object):
        return True
    if annotation is None:
        return value is None
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return any(matches(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is Mapping or origin is dict:
        if not isinstance(value, Mapping):
            return False
        key, item = inner
        return all(matches(k, key) and matches(v, item) for k, v in value.items())
    if origin in (Sequence, list, tuple):
        return _matches_sequence(value, inner)
    if origin is Callable:
        return callable(value)
    kind = origin or annotation
    if kind is TextIO:  # which no class of Python's streams inherits from
        return hasattr(value, "write")
    if kind in NUMBERS:
        return isinstance(value, NUMBERS[kind]) and not isinstance(value, bool)
    return not isinstance(kind, type) or isinstance(value, kind)


def _matches_sequence(value: Any, inner: tuple[Any, ...]) -> bool:
    """Whether a value has a length and items of an annotated type; a text or table is none."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
        return False
    if getattr(value, "ndim", 1) != 1:
        return False
    items = list(value[:MAX_ITEMS])
    return not inner or all(matches(item, inner[0]) for item in items)


def words_of(annotation: object) -> str:
    """What a parameter takes, in words.

    Example:
        >>> words_of(int | Sequence[int] | None)
        'a whole number, a sequence, each a whole number or None'
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        *others, last = [words_of(one) for one in inner]
        return f"{', '.join(others)} or {last}"
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (Sequence, list, tuple):
        return f"a sequence, each {words_of(inner[0])}"
    if origin in (Mapping, dict):
        return "a mapping"
    kind = origin or annotation
    return WORDS.get(kind) or f"a {getattr(kind, '__name__', kind)}"
