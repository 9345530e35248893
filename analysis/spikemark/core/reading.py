"""Reads files that may contain anything, and are perhaps none.

Complains about a file that cannot be used in one line that names it. `check_file` looks at the kind
and the size of what a path names before it is opened, since a FIFO without a writer blocks whoever
opens it, and /dev/zero never ends; every reader calls it. Text is UTF-8, with or without a byte
order mark.
"""

import codecs
import json
import json.decoder
import json.scanner
import math
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import BadInput, short_repr

#: Nothing Spikemark reads is nested deeper than a few levels; recursion would end at some hundreds.
MAX_DEPTH = 100
#: Digits of the longest whole number.
MAX_DIGITS = 4300
#: Longest text that is read, bytes; the mini-app has the same limit.
MAX_TEXT = 2**31 - 1
#: How much longer than what it takes on the disk a long file may be; a disk may compress what it
#: stores.
MAX_HOLES = 100
#: Bytes of what `os.stat` calls a block.
STAT_BLOCK_BYTES = 512
#: Bytes that are read at a time, from what may be endless.
READ_BYTES = 2**20
#: Paths by which the shell hands over what another program prints: `<(...)` and standard input.
STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
#: What a path may name instead of a file.
NO_FILES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def check_file(path: Path, advice: str = "", most: int | None = None) -> None:
    """Refuses, before it is opened, what is no file, and files that are too long or mostly holes.

    STREAMS are taken, whatever is behind.

    Args:
        path: the file.
        advice: what to do where there is nothing at `path`.
        most: the largest size that is taken, in bytes.

    Raises BadInput.

    Example:
        >>> check_file(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere: not found
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise _file_problem(path, "not found").within(advice=advice) from None
    except NotADirectoryError:
        raise _no_folder(path) from None
    except OSError as error:
        raise _unreadable(path, str(error.strerror or error)) from None
    except ValueError as error:  # a zero byte in the path
        raise _unreadable(path, str(error)) from None
    if str(path).startswith(STREAMS):
        return
    for is_kind, name in NO_FILES:
        if is_kind(status.st_mode):
            raise _unreadable(path, f"{name}; expected a file")
    if most is not None and status.st_size > most:
        raise _too_long(path, most)
    if status.st_size > max(MAX_TEXT, MAX_HOLES * STAT_BLOCK_BYTES * status.st_blocks):
        raise _unreadable(path, f"{status.st_size} bytes, nearly all of them holes")


def _file_problem(path: Path | str, sentence: str) -> BadInput:
    """A complaint about a whole file."""
    return BadInput(sentence, file=path, code="file")


def _unreadable(path: Path, reason: str) -> BadInput:
    return _file_problem(path, f"cannot be read: {reason}")


def _no_folder(path: Path) -> BadInput:
    """That a file stands where `path` needs a folder; the folder of the file may be meant."""
    file = next(parent for parent in path.parents if parent.exists())
    expected = f"a folder with {path.relative_to(file)}"
    instead = None
    if file.name == path.name:
        instead = file.parent
        expected = f"its folder, {instead}"
    return BadInput(file=file, reason="a file", expected=expected, code="file", instead=instead)


def _too_long(path: Path, most: int) -> BadInput:
    return _unreadable(path, f"too long; expected at most {most} bytes")


def read_text(path: Path, advice: str = "") -> str:
    """The text of a file in UTF-8, without its byte order mark; lines end in a line feed.

    Raises BadInput, with `advice` if the file is missing.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "notes.txt")
        ...     _ = path.write_text("quiet machine")
        ...     read_text(path)
        'quiet machine'
    """
    check_file(path, advice, MAX_TEXT)
    data = bytearray()
    try:
        with open(path, "rb") as stream:
            while block := stream.read(READ_BYTES):
                data += block
                _check_block(path, block, len(data))
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _file_problem(path, f"not UTF-8 at byte {error.start}") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _check_block(path: Path, block: bytes, end: int) -> None:
    """Refuses a block that ends at byte `end` of a file where it cannot be a part of UTF-8 text."""
    is_first = end == len(block)
    if is_first and block.startswith(UTF_16):
        expected = "expected UTF-8 (`iconv -f UTF-16 -t UTF-8`)"
        raise _file_problem(path, f"not UTF-8 but UTF-16; {expected}")
    zero = block.find(0)
    if zero >= 0:
        position = end - len(block) + zero
        reason = f"not UTF-8 text: byte {position} is zero, as in UTF-16 and in data"
        raise _file_problem(path, reason)
    if end > MAX_TEXT:
        raise _too_long(path, MAX_TEXT)


def read_json(path: Path, advice: str = "") -> Any:
    """The value in a JSON file.

    Raises BadInput if it is truncated, has a key twice, is nested too deep, or holds NaN or
    infinity; with `advice` if it is missing.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "plan.json")
        ...     _ = path.write_text('{"ranks": 4}')
        ...     read_json(path)
        {'ranks': 4}
    """
    return parsed_json(read_text(path, advice), path)


def parsed_json(text: str, path: Path | str) -> Any:
    """The value of the JSON text of a file, or of what `path` calls it.

    Raises BadInput as `read_json`.

    Example:
        >>> parsed_json('{"ranks": [1, 2]}', "plan.json")
        {'ranks': [1, 2]}
        >>> try:
        ...     parsed_json('{"ranks": [1, 2}', "plan.json")
        ... except BadInput as error:
        ...     print(error)
        plan.json: truncated or not JSON at line 1, column 16: Expecting ',' delimiter
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_repeated_key,
            parse_int=_whole_number,
        )
    except _RepeatedKey as error:
        line = _line_of_repeated_key(text) if "\n" in text else None
        raise error.within(file=path, line=line) from None
    except _LongNumber as error:
        line = 1 + text.count("\n", 0, text.find(error.digits)) if "\n" in text else None
        raise error.within(file=path, line=line) from None
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        reason = f"truncated or not JSON at {position}: {error.msg}"
        raise _file_problem(path, reason) from None
    except RecursionError:
        raise too_deep(path) from None
    check_plain(value, path, encoded=True)
    return value


class _RepeatedKey(BadInput):
    """A key that stands twice in one object of JSON."""


class _LongNumber(BadInput):
    """A number with more than MAX_DIGITS digits."""

    digits = ""


def _without_repeated_key(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _RepeatedKey(f"key {name!r} is there twice in one object", field=name)
        members[name] = value
    return members


def _line_of_repeated_key(text: str) -> int | None:
    """The line with the first object that has a key twice, from its brace.

    Python's decoder tells no positions to the functions that make objects, so that the text is
    parsed again, with the slow decoder and a function of our own. None if that finds nothing.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeated_key)
    begins: list[int] = []

    # typeshed lacks what the decoder is made of.
    def parse_object(text_and_begin: tuple[str, int], *arguments: object) -> tuple[Any, int]:
        begins.append(text_and_begin[1] - 1)
        value, end = json.decoder.JSONObject(text_and_begin, *arguments)  # type: ignore[attr-defined]
        begins.pop()
        return value, end

    decoder.parse_object = parse_object  # type: ignore[attr-defined]
    decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    try:
        decoder.decode(text)
    except BadInput:
        return 1 + text.count("\n", 0, begins[-1])
    except (ValueError, RecursionError):
        pass
    return None


def _whole_number(digits: str) -> int:
    """A whole number.

    Python takes quadratic time for long ones, and refuses them from MAX_DIGITS on.
    """
    if len(digits) > MAX_DIGITS:
        error = _LongNumber(
            f"a number of {len(digits)} digits; expected at most {MAX_DIGITS}", code="file"
        )
        error.digits = digits
        raise error
    return int(digits)


def too_deep(path: Path | str) -> BadInput:
    """The complaint about a file that is nested too deep.

    Example:
        >>> too_deep(Path("nested.json")).file
        PosixPath('nested.json')
    """
    return _file_problem(path, f"nested more than {MAX_DEPTH} deep")


def check_plain(value: object, path: Path | str, encoded: bool = False) -> None:
    """Refuses what JSON cannot express: dates, sets, keys that are not text, infinity, …

    Args:
        value: what was read.
        path: the file, or what else it is to be called.
        encoded: says that the value comes from JSON, whose texts need no look.

    Raises BadInput naming the field of the file, also for too deep nesting.

    Example:
        >>> check_plain({"ranks": [1, 2]}, "content") is None
        True
    """
    plain_types: set[type] = {int, bool, type(None)}
    if encoded:
        plain_types.add(str)
    pending: list[tuple[str, Any, int]] = [("", value, 0)]
    while pending:
        field, part, depth = pending.pop()
        if not isinstance(part, dict | list):
            expected = None if type(part) in plain_types else _expected(part)
            if expected is not None:
                raise BadInput(
                    field=field or "top",
                    value=part,
                    expected=expected,
                    file=path,
                )
            continue
        if depth >= MAX_DEPTH:
            raise too_deep(path)
        items: Iterable[tuple[Any, Any]] = enumerate(part)
        if isinstance(part, dict):
            if not encoded:
                _check_keys(part, field or "top", path)
            items = part.items()
        for step, item in items:
            if type(item) not in plain_types:
                pending.append((f"{field}.{step}".lstrip("."), item, depth + 1))


def _check_keys(mapping: dict[Any, Any], field: str, path: Path | str) -> None:
    """Raises BadInput for a key that is not text, or holds characters that are none."""
    for key in mapping:
        if not isinstance(key, str) or not encodable(key):
            expected = "text; quote a key that looks like anything else"
            message = f"{field}: key {short_repr(key)}; expected {expected}"
            raise BadInput(message, field=field, file=path)


def _expected(leaf: object) -> str | None:
    """What a value should be that JSON cannot express; None for one that it can."""
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return "a finite number"
    if isinstance(leaf, str):
        return None if encodable(leaf) else "whole characters"
    if leaf is None or isinstance(leaf, int | float):
        return None
    kinds = "text, number, true, false, null, list or mapping"
    return f"{kinds}; quote text that looks like anything else"


def encodable(text: str) -> bool:
    """True if a text can be written as UTF-8; one with half of a surrogate pair cannot.

    Example:
        >>> encodable("µ"), encodable("\\ud800")
        (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
