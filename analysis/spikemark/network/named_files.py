"""The files that a run description names: its placement, and order and table of the exchanges of its lanes.

Inside the analysis their paths are absolute. A file that lies in a run record beside others, in one JSON
object by the names that the description has for them, is FILE#NAME.
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

PLACEMENT, OF_EXCHANGES = "placement", ("order", "table")
INSIDE = "#"
Change = Callable[[str, str], str]  # of the field and the path of a file: its other path


def located(description: Any, folder: Path) -> Any:
    """The description with the paths of its files, which start from `folder`, made absolute."""
    return _changed(description, lambda field, file: str((folder / file).resolve()))


def copied(description: Any, placement: Path, exchange: Path) -> Any:
    """The description with the copies of its files: that of the placement, and those of exchanges in one."""

    def copy(field: str, file: str) -> str:
        return str(placement.resolve()) if field == PLACEMENT else f"{exchange.resolve()}{INSIDE}{file}"

    return _changed(description, copy)


def stored(
    description: dict[str, Any], keep: Callable[[str, Path], Path | None], folder: Path
) -> dict[str, Any]:
    """The description with copies of its files, for a file in `folder`.

    `keep` says where the copy of the file of a field is; None: nowhere. Raises BadInput where there is no
    such file.
    """

    def copy(field: str, file: str) -> str:
        path = keep(field, Path(file))
        if path is None:
            return file
        if not path.is_file() or digest(path) != digest(Path(file)):
            write_atomically(path, json.dumps(content(file)))
        return os.path.relpath(path, folder)

    return _changed(description, copy)


def with_content(description: dict[str, Any]) -> dict[str, Any]:
    """The description with a digest of each file in place of its path, for comparisons.

    Raises BadInput where a file cannot be read.
    """

    return _changed(description, lambda field, file: digest(Path(file)))


def digest(path: Path) -> str:
    """A digest of what a file says, however it is formatted. Raises BadInput where it cannot be read."""
    file = Path(_split(str(path))[0])
    known = file.stat() if file.is_file() else None
    return _digest(str(path), known and (known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=64)
def _digest(path: str, changed: tuple[int, int] | None) -> str:
    """As `digest`; a file that has not `changed` is read once."""
    return hashlib.sha256(json.dumps(content(path), sort_keys=True).encode()).hexdigest()[:12]


def content(path: str) -> Any:
    """What a file says that a description names, or the part FILE#NAME of one. Raises BadInput without it."""
    file, name = _split(path)
    found = read_json(Path(file), "`spikemark partition` writes such files")
    if name and not (isinstance(found, dict) and name in found):
        raise BadInput(f"{file}: has no {name!r}, which the description names")
    return found[name] if name else found


def _split(path: str) -> tuple[str, str]:
    """The path of a file, and the name of the part of it that is meant; empty: all of it."""
    file, mark, name = path.partition(f".json{INSIDE}")
    return (f"{file}.json", name) if mark else (path, "")


def _changed(description: Any, change: Change) -> Any:
    """The description with other paths of its files; itself where it names none."""
    if not isinstance(description, dict):
        return description

    def of(part: Any, *fields: str) -> Any:
        if not isinstance(part, dict):
            return part
        named = {f: part[f] for f in fields if isinstance(part.get(f), str)}
        return part | {f: change(PLACEMENT if f == "file" else f, file) for f, file in named.items()}

    exchange, found = description.get("exchange"), dict(description)
    if PLACEMENT in description:
        found[PLACEMENT] = of(description[PLACEMENT], "file")
    if isinstance(exchange, dict):
        by_lane = {lane: of(choice, *OF_EXCHANGES) for lane, choice in exchange.items()}
        found["exchange"] = of(exchange, *OF_EXCHANGES) if "name" in exchange else by_lane
    return description if found == description else found
