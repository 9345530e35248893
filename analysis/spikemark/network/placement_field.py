"""The field `placement` of a run description: the name of a rule, or the file that places the neurons.

Inside the analysis a placement is one text: the name of its rule, or the path of its file.
"""

from pathlib import Path
from typing import Any

from spikemark.core.errors import shown

from .named_files import digest

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


def same(one: str | None, two: str | None) -> bool:
    """Whether two texts stand for the same placement: the same rule, or files of the same content."""
    files = [name for name in (one, two) if name is not None and name.endswith(FILE)]
    return one == two or (len(files) == 2 and digest(Path(files[0])) == digest(Path(files[1])))
