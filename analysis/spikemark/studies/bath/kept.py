"""Results that are computed one by one and kept in the results folder, so that a study can go on later."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.quantities.quantity import Quantity, missing

Result = dict[str, Any]


def digest(*about: Any) -> str:
    """Changes with what results depend on."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def load(path: Path, digests: dict[str, str]) -> dict[str, Result]:
    """The results by their keys; those whose digest has changed since are left out."""
    found = read_json(path) if path.is_file() else {}
    return {key: found[key] for key, own in digests.items() if found.get(key, {}).get("digest") == own}


def compute(
    path: Path, digests: dict[str, str], result: Callable[[str], Result], keys: Iterable[str] | None = None
) -> Iterator[str]:
    """Compute what is missing, and yield what cannot be; the next call goes on after an interruption."""
    known = load(path, digests)
    lacking = [key for key in (digests if keys is None else keys) if key not in known]
    for number, key in enumerate(lacking, 1):
        print(f"bath: {number} of {len(lacking)}: {key}", flush=True)
        try:
            known[key] = {"digest": digests[key], **result(key)}
        except BadInput as reason:
            yield f"{key}: {reason}"
            continue
        write_json(path, known)


def content(found: dict[str, Quantity]) -> dict[str, list[float]]:
    """Numbers with their intervals, for JSON."""
    return {name: [q.value, q.low, q.high] for name, q in found.items()}


def quantity(numbers: dict[str, Any], name: str, factor: float = 1.0) -> Quantity:
    """A number that was kept, times `factor`; missing where the numbers say why there are none."""
    if "refused" in numbers:
        return missing(numbers["refused"], mark="–")
    return Quantity(*(factor * x for x in numbers[name]))


def error(said: Quantity, known: Quantity) -> Quantity | float:
    """One number over another, minus 1, in per cent; missing if one of them is."""
    for one in (said, known):
        if not one:
            return one
    return 100 * (said.value / known.value - 1) if known.value else missing("nothing to compare with")
