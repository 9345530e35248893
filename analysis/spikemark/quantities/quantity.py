"""The one class for a number that people see: value, interval, unit and kind, or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

#: What a number can be, from the surest to the least sure, with the words of the glossary.
KINDS = {
    "given": "chosen in the experiment",
    "counted": "counted exactly by the program",
    "measured": "read from a clock during the run",
    "simulated": "the real program on a simulated machine (SimGrid) or in simulated caches",
    "modelled": "computed from a model, not measured",
    "literature": "published by others, not measured here",
    "assumed": "taken for granted, with the reason given",
    "extrapolated": "computed outside the range in which the model was validated",
}
LEVEL = 0.95  # of every interval, unless its name says another
FEWEST = 3  # repetitions, or pairs of runs, that have an interval


@dataclass(frozen=True)
class Quantity:
    """A number with its 95 % interval, or the reason why there is none.

    For what was not measured, `value` is None with a `reason`, never 0. `low` and `high` are None where the
    interval is unknown. `unit` is written as in our files ("s", "us", "J"; "" for none). `kind` is a key of
    `KINDS`, or "" where the column that holds the number says it. `mark` stands in a table where there is no
    number. Raises ValueError for a missing value without a reason, half an interval, or an unknown kind.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    kind: str = ""
    reason: str | None = None
    mark: str = "missing"

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("a value of None needs a reason, and only that")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval needs both limits")
        if self.kind and self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r}; expected {', '.join(KINDS)}")

    def __bool__(self) -> bool:
        """Is there a number?"""
        return self.value is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Low and high; None where the interval is unknown."""
        return None if self.low is None else (self.low, self.high)

    @property
    def half(self) -> float | None:
        """Half the width of the interval; None where it is unknown."""
        return None if self.low is None else (self.high - self.low) / 2

    def times(self, factor: float, unit: str | None = None) -> "Quantity":
        """Multiplied by an exact number > 0, in another unit where one is given."""
        scaled = [None if x is None else x * factor for x in (self.value, self.low, self.high)]
        return replace(
            self, value=scaled[0], low=scaled[1], high=scaled[2], unit=self.unit if unit is None else unit
        )

    def widened(self, less: float, more: float) -> "Quantity":
        """Widens the interval downwards and upwards by these amounts >= 0, in its unit."""
        low, high = self.interval or (self.value, self.value)
        return replace(self, low=low - less, high=high + more)

    def content(self) -> dict[str, Any]:
        """The content for JSON: value, interval and what else is known; or null and the reason."""
        found: dict[str, Any] = {
            "value": self.value,
            "interval": None if self.low is None else [self.low, self.high],
        }
        for name in ("unit", "kind", "reason"):
            if text := getattr(self, name):
                found[name] = text
        return found


def missing(reason: str, unit: str = "", mark: str = "missing") -> Quantity:
    """No number, and why."""
    return Quantity(None, unit=unit, reason=reason, mark=mark)


def with_half(value: float, half: float | None, unit: str = "", kind: str = "") -> Quantity:
    """`value` ± `half`; None for an unknown interval."""
    if half is None:
        return Quantity(value, unit=unit, kind=kind)
    return Quantity(value, value - half, value + half, unit, kind)


def difference(first: Quantity, second: Quantity) -> Quantity:
    """First minus second, in their common unit, with independent errors; missing if one of them is."""
    for side in (first, second):
        if not side:
            return side
    half = None
    if first.half is not None and second.half is not None:
        half = (first.half**2 + second.half**2) ** 0.5
    return with_half(first.value - second.value, half, first.unit, first.kind)


def student(degrees: float, level: float = LEVEL) -> float:
    """Half width of a two-sided t interval with so many degrees of freedom, in standard errors."""
    return float(special.stdtrit(degrees, (1 + level) / 2))


def mean(values: Iterable[float], unit: str = "", kind: str = "") -> Quantity:
    """Mean of repetitions with its t interval, which is cut at 0 if none is negative.

    Missing if there are no repetitions. Fewer than `FEWEST` have no interval: with two, Student's t gives
    limits over many orders of magnitude.
    """
    found = np.asarray(list(values), dtype=float)
    if found.size == 0:
        return missing("no such run is complete", unit)
    middle = float(found.mean())
    if found.size < FEWEST:
        return Quantity(middle, unit=unit, kind=kind)
    half = student(found.size - 1) * float(found.std(ddof=1) / np.sqrt(found.size))
    lowest = 0.0 if found.min() >= 0 else -np.inf
    return Quantity(middle, max(middle - half, lowest), middle + half, unit, kind)
