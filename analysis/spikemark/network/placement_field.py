"""The field `placement` of a run description: the name of a rule, or the file that places the neurons.

Inside the analysis a placement is one text: the name of its rule, or the path of its file.
"""

import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core.errors import shown
from spikemark.core.files import write_atomically
from spikemark.core.reading import read_json, read_text

FILE, FROM_FILE = ".json", "from_file"  # what names of files end in; name of the placement that reads one
ALLOWED = f'a name, or {{"name": "{FROM_FILE}", "file": "FILE{FILE}"}}'


def text_of(field: Any) -> Any:
    """The text that stands for what a description says. Raises ValueError for what is not allowed."""
    if isinstance(field, str) and (field == FROM_FILE or field.endswith(FILE)):
        raise ValueError(f"{shown(field)}; allowed: {ALLOWED}")
    if not isinstance(field, dict):
        return field
    name, file = field.get("name"), field.get("file")
    if name != FROM_FILE or not isinstance(file, str) or set(field) != {"name", "file"}:
        raise ValueError(f"{shown(field)}; allowed: {ALLOWED}")
    if not file.endswith(FILE):
        raise ValueError(
            f"file={file!r}; allowed: a {FILE} file, as `spikemark partition --out X{FILE}` writes"
        )
    return file


def field_of(placement: str) -> str | dict[str, str]:
    """What a description says for such a text."""
    return {"name": FROM_FILE, "file": placement} if placement.endswith(FILE) else placement


def name_of(field: str | dict[str, str]) -> str:
    """What a description says, in words that stand in a table or a label."""
    return field if isinstance(field, str) else f"{field['name']} {Path(field['file']).stem}"


def file_of(description: Any) -> str | None:
    """The path of the placement file as the description gives it; None where it names none."""
    field = description.get("placement") if isinstance(description, dict) else None
    file = field.get("file") if isinstance(field, dict) else None
    return file if isinstance(file, str) else None


def located(description: Any, folder: Path) -> Any:
    """The description with the path of its placement file, which starts from `folder`, made absolute."""
    file = file_of(description)
    return description if file is None else _with_file(description, (folder / file).resolve())


def copied(description: Any, path: Path) -> Any:
    """The description with the copy of its placement file at `path`."""
    return description if file_of(description) is None else _with_file(description, path.resolve())


def stored(description: dict[str, Any], path: Path, folder: Path) -> dict[str, Any]:
    """The description with a copy of its placement file at `path`, as it stands in a file in `folder`.

    Raises BadInput where there is no such file.
    """
    file = file_of(description)
    if file is None:
        return description
    if not path.is_file() or digest(path) != digest(Path(file)):
        write_atomically(path, read_text(Path(file)))
    return _with_file(description, os.path.relpath(path, folder))


def with_content(description: dict[str, Any]) -> dict[str, Any]:
    """The description with a digest of the placement file in place of its path, for comparisons.

    Raises BadInput where the file cannot be read.
    """
    file = file_of(description)
    return description if file is None else _with_file(description, digest(Path(file)))


def same(one: str | None, two: str | None) -> bool:
    """Whether two texts stand for the same placement: the same rule, or files of the same content."""
    files = [name for name in (one, two) if name is not None and name.endswith(FILE)]
    return one == two or (len(files) == 2 and digest(Path(files[0])) == digest(Path(files[1])))


def digest(path: Path) -> str:
    """A digest of what a placement file says, however it is formatted.

    Raises BadInput where the file cannot be read.
    """
    known = path.stat() if path.is_file() else None
    return _digest(path, known and (known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=64)
def _digest(path: Path, changed: tuple[int, int] | None) -> str:
    """As `digest`; a file that has not `changed` is read once."""
    content = read_json(path, "`spikemark partition` writes one")
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _with_file(description: dict[str, Any], file: Path | str) -> dict[str, Any]:
    return description | {"placement": description["placement"] | {"file": str(file)}}
