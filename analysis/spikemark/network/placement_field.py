"""The field `placement` of a run description: a rule, perhaps with weights of ranks, or a file of ranges.

Inside the analysis a placement is one text: the name of its rule, such a name with weights as in
`area_group:1x64,0.5x2` (placement_weights.py), or the path of its file.
"""

import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from spikemark.core.errors import shown

from .named_files import digest

FILE, FROM_FILE = ".json", "from_file"  # what names of files end in; name of the placement that reads one
SEPARATOR, TIMES = ":", "x"  # before weights in a text; between a weight and how many ranks have it
LARGEST = sys.float_info.max
ALLOWED = (
    f'a name, {{"name": NAME, "weights": [a number for each rank]}}, or {{"name": "{FROM_FILE}", "file":'
    f' "FILE{FILE}"}}'
)


def text_of(field: Any) -> Any:
    """The text that stands for what a description says. Raises ValueError for what is not allowed."""
    if isinstance(field, str) and (field == FROM_FILE or field.endswith(FILE) or SEPARATOR in field):
        raise ValueError(f"{shown(field)}; allowed: {ALLOWED}")
    if not isinstance(field, dict):
        return field
    name, file = field.get("name"), field.get("file")
    if set(field) == {"name", "weights"} and isinstance(name, str) and SEPARATOR not in name:
        return _joined(name, field["weights"])
    if name != FROM_FILE or not isinstance(file, str) or set(field) != {"name", "file"}:
        raise ValueError(f"{shown(field)}; allowed: {ALLOWED}")
    if not file.endswith(FILE):
        raise ValueError(
            f"file={file!r}; allowed: a {FILE} file, as `spikemark partition --out X{FILE}` writes"
        )
    return file


def _joined(rule: str, weights: Any) -> str:
    """The text of a rule and weights. Raises ValueError for what is no list of finite numbers."""
    numbers = isinstance(weights, list) and all(type(w) in (int, float) for w in weights)
    if not numbers or not weights or not all(abs(w) <= LARGEST for w in weights):
        raise ValueError(f"weights={shown(weights)}; allowed: a finite number for each rank")
    runs = ((weight, len(list(same))) for weight, same in groupby(map(float, weights)))
    return rule + SEPARATOR + ",".join(f"{w!r}{TIMES}{n}" if n > 1 else repr(w) for w, n in runs)


def field_of(placement: str) -> str | dict[str, Any]:
    """What a description says for such a text."""
    if placement.endswith(FILE):
        return {"name": FROM_FILE, "file": placement}
    name, given, words = placement.partition(SEPARATOR)
    if not given:
        return placement
    runs = (word.partition(TIMES) for word in words.split(","))
    return {"name": name, "weights": [float(w) for w, _, n in runs for _ in range(int(n or 1))]}


def name_of(field: str | dict[str, Any]) -> str:
    """What a description says, in words that stand in a table or a label."""
    if isinstance(field, str):
        return field
    return f"{field['name']} {Path(field['file']).stem}" if "file" in field else f"{field['name']} by weights"


def same(one: str | None, two: str | None) -> bool:
    """True if two texts stand for the same placement: the same rule, or files of the same content."""
    files = [name for name in (one, two) if name is not None and name.endswith(FILE)]
    return one == two or (len(files) == 2 and digest(Path(files[0])) == digest(Path(files[1])))
