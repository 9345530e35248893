"""The text that names a placement inside the analysis.

It is the rule of the placement, such a rule with weights of ranks as in `area_group:1x64,0.5x2` (64
ranks of weight 1, then 2 of 0.5), or the path of its file. `text_of` and `field_of` translate
between such a text and the field of a run description.
"""

import math
import sys
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, short_repr

#: What names of files end in.
FILE = ".json"
#: Name of the placement that reads a file.
FROM_FILE = "from_file"
#: In a text: before weights, and between a weight and how many ranks have it.
SEPARATOR, TIMES = ":", "x"
#: Least and largest weight.
WEIGHT_LIMITS = (1e-12, 1e12)
MAX_PLACED_RANKS = 1_000_000
ALLOWED = (
    f'a name, {{"name": NAME, "weights": [a number for each rank]}}, or {{"name": "{FROM_FILE}",'
    f' "file": "FILE{FILE}"}}'
)


def text_of(field: object) -> Any:
    """The text for what a description says of its placement.

    Raises:
        ValueError: for what is not expected.

    Example:
        >>> text_of({"name": "area_group", "weights": [1, 1, 0.5]})
        'area_group:1.0x2,0.5'
        >>> text_of({"name": "from_file", "file": "placement.json"})
        'placement.json'
    """
    if isinstance(field, dict):
        return _text_of_mapping(field)
    if isinstance(field, str):
        is_name = field != FROM_FILE and not field.endswith(FILE) and SEPARATOR not in field
        if is_name:
            return field
    raise ValueError(f"{short_repr(field)}; expected {ALLOWED}")


def _text_of_mapping(field: dict[str, Any]) -> str:
    """The text for a rule with weights, or for a file."""
    name, file, weights = field.get("name"), field.get("file"), field.get("weights")
    if set(field) == {"name", "weights"} and isinstance(name, str) and SEPARATOR not in name:
        if not _are_finite(weights):
            raise ValueError(
                f"weights={short_repr(weights)}; expected a finite number for each rank"
            )
        return name + SEPARATOR + _runs([float(weight) for weight in weights or ()], repr)
    is_file = isinstance(file, str) and file.endswith(FILE)
    if set(field) == {"name", "file"} and name == FROM_FILE and is_file:
        return str(file)
    raise ValueError(f"{short_repr(field)}; expected {ALLOWED}")


def _are_finite(weights: object) -> bool:
    """True for a list of one or more finite numbers."""
    if not isinstance(weights, list) or not weights:
        return False
    return all(
        type(weight) in (int, float) and abs(weight) <= sys.float_info.max for weight in weights
    )


def _runs(weights: Iterable[float], form: Callable[[float], str]) -> str:
    """Weights as a text such as 1x64,0.5x2, each in some form."""
    runs = []
    for weight, equal_weights in groupby(weights):
        count = len(list(equal_weights))
        text = form(weight)
        runs.append(f"{text}{TIMES}{count}" if count > 1 else text)
    return ",".join(runs)


def field_of(placement: str) -> str | dict[str, Any]:
    """What a description says for such a text.

    Example:
        >>> field_of("area_group:1x2,0.5")
        {'name': 'area_group', 'weights': [1.0, 1.0, 0.5]}
    """
    if placement.endswith(FILE):
        return {"name": FROM_FILE, "file": placement}
    name, separator, words = placement.partition(SEPARATOR)
    if not separator:
        return placement
    return {"name": name, "weights": weights_of(words, "weights").tolist()}


def name_of(field: str | dict[str, Any]) -> str:
    """What a description says, in words that stand in a table or a label.

    Example:
        >>> name_of({"name": "area_group", "weights": [1.0, 1.0, 0.5]})
        'area_group 1x2,0.5'
    """
    if isinstance(field, str):
        return field
    if "file" in field:
        return f"{field['name']} {Path(field['file']).stem}"
    return f"{field['name']} {_runs(field['weights'], '{:g}'.format)}"


def split(text: str) -> tuple[str, np.ndarray | None]:
    """The rule and the weights [ranks] of a text; None for a rule alone or a file.

    Raises:
        BadInput: for bad weights.

    Example:
        >>> split("area_group")
        ('area_group', None)
    """
    rule, separator, words = text.partition(SEPARATOR)
    if not separator or text.endswith(FILE):
        return text, None
    return rule, weights_of(words, f"placement={short_repr(text)}: weights")


def weights_of(words: str, field: str, limits: tuple[float, float] = WEIGHT_LIMITS) -> np.ndarray:
    """Weights of a text such as 1x64,0.5x2, [ranks].

    Raises:
        BadInput: for anything else; the line begins with `field`.

    Example:
        >>> weights_of("1x2,0.5", "weights").tolist()
        [1.0, 1.0, 0.5]
    """
    weights: list[float] = []
    for word in words.split(","):
        value, cross, times = word.partition(TIMES)
        try:
            weight = float(value)
            count = int(times) if cross else 1
        except ValueError:
            weight = math.nan
            count = 0
        if not limits[0] <= weight <= limits[1] or not 1 <= count <= MAX_PLACED_RANKS:
            raise BadInput(
                f"{field}: {short_repr(word)}; expected a positive number for each rank, as in"
                " 1x64,0.5x2",
                field=field.partition("=")[0],
            )
        weights += [weight] * count
    return np.array(weights)
