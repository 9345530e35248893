"""Reads files that may hold anything, with bounds. What cannot be used is said in one line (Unusable)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat

MOST_BYTES = 256 * 2**20  # of a text file
MOST_FILES = 200_000
LONGEST_INTEGER = 19  # digits; counts of the formats fit into 64 bits


class Unusable(Exception):
    """Why a file or a value cannot be used."""


class Absent(Unusable):
    """A file is not there."""


def text_of(path: str) -> str:
    """The UTF-8 text of a regular file. Raises Absent or Unusable."""
    with contextlib.ExitStack() as stack:
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode):
                raise Unusable("not a regular file")
            if found.st_size > MOST_BYTES:
                raise Unusable(f"{found.st_size} bytes; allowed are {MOST_BYTES}")
            content = stack.enter_context(open(path, "rb")).read(MOST_BYTES + 1)
        except FileNotFoundError:
            raise Absent("not there") from None
        except (OSError, ValueError) as error:
            raise Unusable(f"cannot be read: {error}") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(f"not UTF-8 at byte {error.start}") from None


def json_of(path: str):
    """The value in a JSON file. Raises Absent or Unusable.

    Refused are: a key twice, NaN and infinity, integers beyond 64 bits, deep nesting, halves of characters.
    """
    try:
        value = json.loads(
            text_of(path),
            object_pairs_hook=_each_once,
            parse_constant=_not_finite,
            parse_float=_finite,
            parse_int=_bounded,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except RecursionError:
        raise Unusable("nested too deep") from None
    except UnicodeEncodeError:
        raise Unusable("a text holds half a character") from None
    except json.JSONDecodeError as error:
        raise Unusable(f"not JSON at line {error.lineno}: {error.msg}") from None


def _each_once(pairs: list) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unusable("a key stands twice in one object")
    return found


def _not_finite(text: str):
    raise Unusable(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Unusable(f"{text[:40]} is too large")
    return value


def _bounded(text: str) -> int:
    if len(text) > LONGEST_INTEGER + 1:
        raise Unusable(f"{text[:40]} is too large")
    return int(text)


def sha256_of(path: str) -> tuple:
    """(bytes, hex digest) of a regular file, read in pieces. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as stream:
        while True:
            piece = stream.read(2**20)
            if not piece:
                return size, digest.hexdigest()
            digest.update(piece)
            size += len(piece)


def files_below(folder: str) -> tuple:
    """(regular files, other things) below a folder as paths with /, sorted; links are not followed.

    An empty folder is another thing. Raises Unusable for more than MOST_FILES entries.
    """
    files, others, waiting = [], [], [""]
    while waiting:
        at = waiting.pop()
        try:
            entries = sorted(os.listdir(os.path.join(folder, at)))
        except OSError:
            others.append(at or ".")
            continue
        if not entries and at:
            others.append(at)
        for entry in entries:
            name = f"{at}/{entry}" if at else entry
            mode = os.lstat(os.path.join(folder, name)).st_mode
            (files if stat.S_ISREG(mode) else waiting if stat.S_ISDIR(mode) else others).append(name)
            if len(files) + len(others) + len(waiting) > MOST_FILES:
                raise Unusable(f"more than {MOST_FILES} files")
    return sorted(files), sorted(others)
