"""The one class for a number that people see: value, interval, unit and kind, or a reason for none.

Functions that compute numbers return a Quantity where somebody will look at it; from there on, the
number cannot lose its interval, its unit, or the word for how it came about.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
#: Level of confidence of every interval, unless its name says another.
LEVEL = 0.95
#: Repetitions, or pairs of runs, that it takes for an interval.
FEWEST = 3


@dataclass(frozen=True)
class Quantity:
    """A number with its 95 % interval, or the reason why there is none.

    For what was not measured, `value` is None with a `reason`, never 0. A quantity is true if there
    is a number.

    Raises ValueError for a missing value without a reason, half an interval, or an unknown kind.

    Example:
        >>> Quantity(2.0, 1.5, 2.5, "s", "measured").times(1000, "ms")
        Quantity(value=2000.0, low=1500.0, high=2500.0, unit='ms', kind='measured', reason=None, \
mark='missing')
    """

    value: float | None  #: None where there is no number
    low: float | None = None  #: lower limit of the interval; None where it is unknown
    high: float | None = None  #: upper limit of the interval; None where it is unknown
    unit: str = ""  #: as in our files ("s", "us", "J"); "" for none
    kind: str = ""  #: a key of KINDS, or "" where the column that holds the number says it
    reason: str | None = None  #: why there is no number
    mark: str = "missing"  #: what stands in a table where there is no number

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("a value of None needs a reason, and only that")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval needs both limits")
        if self.kind and self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r}; expected {', '.join(KINDS)}")

    def __bool__(self) -> bool:
        """Whether there is a number."""
        return self.value is not None

    @property
    def number(self) -> float:
        """The value of a quantity that has one.

        Raises ValueError, with the reason, where there is none.
        """
        if self.value is None:
            raise ValueError(self.reason)
        return self.value

    @property
    def limits(self) -> tuple[float, float]:
        """Low and high; twice the value where the interval is unknown."""
        if self.low is None or self.high is None:
            return self.number, self.number
        return self.low, self.high

    @property
    def interval(self) -> tuple[float, float] | None:
        """Lower and upper limit; None where the interval is unknown."""
        if self.low is None or self.high is None:
            return None
        return self.low, self.high

    @property
    def half(self) -> float | None:
        """Half the width of the interval; None where it is unknown."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def times(self, factor: float, unit: str | None = None) -> "Quantity":
        """Multiplied by an exact number > 0, in another unit where one is given."""

        def scaled(number: float | None) -> float | None:
            return None if number is None else number * factor

        return replace(
            self,
            value=scaled(self.value),
            low=scaled(self.low),
            high=scaled(self.high),
            unit=self.unit if unit is None else unit,
        )

    def widened(self, less: float, more: float) -> "Quantity":
        """With an interval that is wider by `less` downwards and by `more` upwards, both >= 0.

        A number without an interval gets one around it. Raises ValueError where there is no number.
        """
        if self.value is None:
            raise ValueError("a missing value has no interval")
        low, high = self.interval or (self.value, self.value)
        return replace(self, low=low - less, high=high + more)

    def content(self) -> dict[str, Any]:
        """The content for JSON: value, interval and what else is known; or null and the reason."""
        content: dict[str, Any] = {"value": self.value, "interval": None}
        if self.interval is not None:
            content["interval"] = list(self.interval)
        for name in ("unit", "kind", "reason"):
            text = getattr(self, name)
            if text:
                content[name] = text
        return content


def missing(reason: str, unit: str = "", mark: str = "missing") -> Quantity:
    """No number, and why.

    Example:
        >>> waiting = missing("not timed on its own", unit="s")
        >>> bool(waiting), waiting.mark
        (False, 'missing')
    """
    return Quantity(None, unit=unit, reason=reason, mark=mark)


def with_half(
    value: float,
    half: float | None,
    unit: str = "",
    kind: str = "",
) -> Quantity:
    """`value` ± `half`; None for an unknown interval.

    Example:
        >>> with_half(10.0, 2.0, "J", "measured").interval
        (8.0, 12.0)
    """
    if half is None:
        return Quantity(value, unit=unit, kind=kind)
    return Quantity(value, value - half, value + half, unit, kind)


def difference(first: Quantity, second: Quantity) -> Quantity:
    """First minus second, in their common unit, with independent errors.

    Half widths of intervals add up as squares. Missing if one of the two is.

    Example:
        >>> difference(with_half(10.0, 3.0, "W"), with_half(4.0, 4.0, "W")).interval
        (1.0, 11.0)
    """
    if first.value is None:
        return first
    if second.value is None:
        return second
    half = None
    if first.half is not None and second.half is not None:
        half = (first.half**2 + second.half**2) ** 0.5
    return with_half(first.value - second.value, half, first.unit, first.kind)


def student(degrees: float, level: float = LEVEL) -> float:
    """Half width of a two-sided t interval with so many degrees of freedom, in standard errors.

    Example:
        >>> round(student(2), 2), round(student(1000), 2)
        (4.3, 1.96)
    """
    from scipy import special  # a quarter of the time to import of a sweep, which needs none

    return float(special.stdtrit(degrees, (1 + level) / 2))


def mean(values: Iterable[float], unit: str = "", kind: str = "") -> Quantity:
    """Mean of repetitions with its t interval, which is cut at 0 if none is negative.

    Missing if there are no repetitions. Fewer than `FEWEST` have no interval: with two, Student's t
    gives limits over many orders of magnitude.

    Example:
        >>> low, high = mean([1.0, 2.0, 3.0], "s").interval
        >>> low, round(high, 2)
        (0.0, 4.48)
    """
    repetitions = np.asarray(list(values), dtype=float)
    count = repetitions.size
    if count == 0:
        return missing("no such run is complete", unit)
    middle = float(repetitions.mean())
    if count < FEWEST:
        return Quantity(middle, unit=unit, kind=kind)
    standard_error = float(repetitions.std(ddof=1) / np.sqrt(count))
    half = student(count - 1) * standard_error
    low = middle - half
    if repetitions.min() >= 0:
        low = max(low, 0.0)
    return Quantity(middle, low, middle + half, unit, kind)
