"""The field `placement` of a run description: a rule, perhaps with weights of ranks, or a file of ranges.

Inside the analysis a placement is one text: the name of its rule, such a name with weights as in
`area_group:1x64,0.5x2` (64 ranks of weight 1, then 2 of 0.5), or the path of its file.
"""

import math
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, shown

from .named_files import digest

FILE, FROM_FILE = ".json", "from_file"  # what names of files end in; name of the placement that reads one
SEPARATOR, TIMES = ":", "x"  # before weights in a text; between a weight and how many ranks have it
LARGEST, LIMITS = sys.float_info.max, (1e-12, 1e12)  # of a weight
ALLOWED = (
    f'a name, {{"name": NAME, "weights": [a number for each rank]}}, or {{"name": "{FROM_FILE}", "file":'
    f' "FILE{FILE}"}}'
)


def text_of(field: Any) -> Any:
    """The text for what a description says. Raises ValueError for what is not expected."""
    said = field if isinstance(field, dict) else {}
    name, file, weights = (said.get(part) for part in ("name", "file", "weights"))
    if set(said) == {"name", "weights"} and isinstance(name, str) and SEPARATOR not in name:
        numbers = isinstance(weights, list) and all(type(w) in (int, float) for w in weights)
        if not numbers or not weights or not all(abs(w) <= LARGEST for w in weights):
            raise ValueError(f"weights={shown(weights)}; expected a finite number for each rank")
        return name + SEPARATOR + _runs(map(float, weights), repr)
    if set(said) == {"name", "file"} and name == FROM_FILE and isinstance(file, str):
        if not file.endswith(FILE):
            expected = f"a {FILE} file as `spikemark partition --out X{FILE}` writes"
            raise ValueError(f"file={file!r}; expected {expected}")
        return file
    of_text = isinstance(field, str) and (field == FROM_FILE or field.endswith(FILE) or SEPARATOR in field)
    if of_text or isinstance(field, dict):
        raise ValueError(f"{shown(field)}; expected {ALLOWED}")
    return field


def _runs(weights: Any, form: Callable[[float], str]) -> str:
    runs = ((form(weight), len(list(same))) for weight, same in groupby(weights))
    return ",".join(f"{weight}{TIMES}{n}" if n > 1 else weight for weight, n in runs)


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
    said = Path(field["file"]).stem if "file" in field else _runs(field["weights"], "{:g}".format)
    return f"{field['name']} {said}"


def same(one: str | None, two: str | None) -> bool:
    """True if two texts stand for the same placement: the same rule, or files of the same content."""
    files = [name for name in (one, two) if name is not None and name.endswith(FILE)]
    return one == two or (len(files) == 2 and digest(Path(files[0])) == digest(Path(files[1])))


def split(text: str) -> tuple[str, np.ndarray | None]:
    """The rule and the weights [ranks] of a text; None for a rule alone or a file.

    Raises BadInput for bad weights.
    """
    rule, given, words = text.partition(SEPARATOR)
    if not given or text.endswith(FILE):
        return text, None
    return rule, weights_of(words, f"placement={shown(text)}: weights")


def weights_of(words: str, field: str, limits: tuple[float, float] = LIMITS) -> np.ndarray:
    """Weights of a text such as 1x64,0.5x2. Raises BadInput, which begins with `field`, for anything else."""
    found: list[float] = []
    for word in words.split(","):
        value, cross, times = word.partition(TIMES)
        try:
            weight, count = float(value), int(times) if cross else 1
        except ValueError:
            weight, count = math.nan, 0
        if not limits[0] <= weight <= limits[1] or not 1 <= count <= 1_000_000:
            raise BadInput(
                f"{field}: {shown(word)}; expected a positive number for each rank, as in 1x64,0.5x2"
            )
        found += [weight] * count
    return np.array(found)
