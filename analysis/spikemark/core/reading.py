"""Reads files that may contain anything.

Complains about a file that cannot be used in one line that names it.
"""

import json
import math
from pathlib import Path
from typing import Any

from .errors import BadInput, shown

#: Nothing Spikemark reads is nested deeper than a few levels; recursion would end at some hundreds.
MAX_DEPTH = 100


def read_text(path: Path, advice: str = "") -> str:
    """The UTF-8 text of a file. Raises BadInput, with `advice` if the file is missing."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"{path}: not found{advice and '; '}{advice}", code="file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}", code="file") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}", code="file") from None


def read_json(path: Path, advice: str = "") -> Any:
    """The value in a JSON file.

    Raises BadInput if it is truncated, has a key twice, is nested too deep, or holds NaN or infinity.
    """
    text = read_text(path, advice)
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        why = f"at line {error.lineno}, column {error.colno}: {error.msg}"
        raise BadInput(f"{path}: truncated or not JSON {why}", code="file") from None
    except ValueError as error:  # a key twice, or a number too long to be converted
        raise BadInput(f"{path}: {error}") from None
    except RecursionError:
        raise too_deep(path) from None
    check_plain(value, path, encoded=True)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(n for n in names if names.count(n) > 1)!r} is there twice in one object")
    return found


def too_deep(path: Path) -> BadInput:
    """The complaint about a file that is nested too deep."""
    return BadInput(f"{path}: nested more than {MAX_DEPTH} deep", code="file")


def check_plain(value: Any, path: Path, encoded: bool = False) -> None:
    """Refuses what JSON cannot express: dates, sets, keys that are not text, infinity, …

    `encoded`: the value comes from JSON, whose texts need no look. Raises BadInput naming the field of the
    file `path`, also for too deep nesting.
    """
    fine = {int, bool, type(None)} | ({str} if encoded else set())
    pending = [("", value, 0)]
    while pending:
        where, at, depth = pending.pop()
        if not isinstance(at, dict | list):
            if at.__class__ not in fine and (expected := _expected(at)):
                raise BadInput.of(where or "top", at, expected, file=path)
            continue
        if depth >= MAX_DEPTH:
            raise too_deep(path)
        for key, part in at.items() if isinstance(at, dict) else enumerate(at):
            if isinstance(at, dict) and not (isinstance(key, str) and (encoded or encodable(key))):
                expected = "text; quote a key that looks like anything else"
                raise BadInput(f"{path}: {where or 'top'}: key {shown(key)}; expected {expected}")
            if part.__class__ not in fine:
                pending.append((f"{where}.{key}".lstrip("."), part, depth + 1))


def _expected(leaf: Any) -> str | None:
    """What a value should be that JSON cannot express."""
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return "a finite number"
    if isinstance(leaf, str):
        return None if encodable(leaf) else "whole characters"
    if leaf is None or isinstance(leaf, int | float):
        return None
    return "text, number, true, false, null, list or mapping; quote text that looks like anything else"


def encodable(text: str) -> bool:
    """True if a text can be written as UTF-8; one with half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
