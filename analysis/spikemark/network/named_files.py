"""The files that a run description names: of its placement, and of the exchanges of its lanes.

Inside the analysis their paths are absolute. A file that lies in a run record beside others, in one
JSON object by the names that the description has for them, is FILE#NAME.
"""

import hashlib
import json
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.reading import read_json

PLACEMENT = "placement"
#: Fields of an exchange that name files.
OF_EXCHANGES = ("order", "table")
#: Before the name of a part of a file.
PART_MARK = "#"
#: Time of the last change in ns, and size in bytes, of a file.
FileState = tuple[int, int]
#: From the field and the path of a file to its other path.
Change = Callable[[str, str], str]


def located(description: object, folder: Path) -> Any:
    """The description with the paths of its files made absolute; they start from `folder`.

    Example:
        >>> description = {"placement": {"file": "halves.npz"}}
        >>> located(description, Path("/networks"))["placement"]["file"]
        '/networks/halves.npz'
    """

    def absolute(_: str, file: str) -> str:
        if "\0" in file:
            return file  # no path; the check refuses it
        return str((folder / file).resolve())

    return _with_paths(description, absolute)


def copied(description: object, placement: Path, exchange: Path) -> Any:
    """The description with copies of its files.

    Args:
        description: with fields.
        placement: the copy of the file of the placement.
        exchange: a file with the copies of those of exchanges.

    Example:
        >>> description = {"placement": {"file": "/data/placed.json"}}
        >>> copied(description, Path("/copies/placement.json"), Path("/copies/exchange.json"))
        {'placement': {'file': '/copies/placement.json'}}
    """

    def copy(field: str, file: str) -> str:
        if field == PLACEMENT:
            return str(placement.resolve())
        return f"{exchange.resolve()}{PART_MARK}{file}"

    return _with_paths(description, copy)


def stored(
    description: dict[str, Any], keep: Callable[[str, Path], Path | None], folder: Path
) -> dict[str, Any]:
    """The description with copies of its files, which are written.

    Args:
        description: with fields.
        keep: where the copy of the file of a field is; None: nowhere.
        folder: of the file in which the description will be; its paths start from there.

    Raises:
        BadInput: where there is no such file.

    Example:
        >>> stored({"placement": "area"}, lambda field, file: None, Path())
        {'placement': 'area'}
    """

    def copy(field: str, file: str) -> str:
        path = keep(field, Path(file))
        if path is None:
            return file
        if not path.is_file() or digest(path) != digest(Path(file)):
            write_atomically(path, json.dumps(read_named_file(file)))
        return os.path.relpath(path, folder)

    result: dict[str, Any] = _with_paths(description, copy)
    return result


def with_content(description: dict[str, Any]) -> dict[str, Any]:
    """The description with a digest of each file in place of its path, for comparisons.

    Raises:
        BadInput: where a file cannot be read.

    Example:
        >>> with_content({"placement": "area"})
        {'placement': 'area'}
    """
    result: dict[str, Any] = _with_paths(description, lambda field, file: digest(Path(file)))
    return result


def digest(path: Path) -> str:
    """A digest of what a file says, however it is formatted.

    Raises:
        BadInput: where it cannot be read.

    Example:
        >>> file = Path("tests/golden/analysis/networks/equal-4.json")
        >>> digest(file) == digest(file.with_name("unequal-5.json"))
        False
    """
    file, _ = _file_and_part(str(path))
    return _digest(str(path), file_state(Path(file)))


def file_state(path: Path) -> FileState | None:
    """What changes when a file is written; None for no file.

    Example:
        >>> file_state(Path("nowhere")) is None
        True
    """
    if not path.is_file():
        return None
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _digest(path: str, state: FileState | None) -> str:
    """As `digest`; a file whose state has not changed is read once."""
    text = json.dumps(read_named_file(path), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_named_file(path: str) -> Any:
    """What a file says that a description names, or the part FILE#NAME of one.

    Raises:
        BadInput: without the file, or its part.

    Example:
        >>> sorted(read_named_file("tests/golden/analysis/networks/equal-4.json"))[:2]
        ['format_version', 'network']
    """
    file, part = _file_and_part(path)
    parts = read_json(Path(file), "`spikemark partition` writes such files")
    if not part:
        return parts
    if not isinstance(parts, dict) or part not in parts:
        raise BadInput(
            f"has no {part!r}, which the description names",
            file=file,
            code="file",
        )
    return parts[part]


def _file_and_part(path: str) -> tuple[str, str]:
    """The path of a file, and the name of the part of it that is meant; empty: all of it."""
    file, mark, part = path.partition(f".json{PART_MARK}")
    return (f"{file}.json", part) if mark else (path, "")


def _with_paths(description: object, change: Change) -> Any:
    """The description with other paths of its files; itself where it names none."""
    if not isinstance(description, dict):
        return description
    result = dict(description)
    placement = description.get(PLACEMENT)
    if isinstance(placement, dict) and isinstance(placement.get("file"), str):
        result[PLACEMENT] = placement | {"file": change(PLACEMENT, placement["file"])}
    exchange = description.get("exchange")
    if isinstance(exchange, dict):
        if "name" in exchange:
            result["exchange"] = _exchange_with_paths(exchange, change)
        else:
            result["exchange"] = {
                lane: _exchange_with_paths(choice, change) for lane, choice in exchange.items()
            }
    return description if result == description else result


def _exchange_with_paths(exchange: object, change: Change) -> Any:
    """The fields of an exchange with other paths of its files."""
    if not isinstance(exchange, dict):
        return exchange
    result = dict(exchange)
    for field in OF_EXCHANGES:
        if isinstance(exchange.get(field), str):
            result[field] = change(field, exchange[field])
    return result
