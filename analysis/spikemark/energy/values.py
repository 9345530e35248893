"""A number with its interval, or the reason why there is none."""

from dataclasses import dataclass

MICRO = 1e6


@dataclass(frozen=True)
class Value:
    """`value` is None with a `reason`, never 0 for what was not measured; an unknown interval is None."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("a value of None needs a reason, and only that")

    def __bool__(self) -> bool:
        return self.value is not None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None else (self.high - self.low) / 2

    def times(self, factor: float) -> "Value":
        """Scaled by an exact number > 0."""
        return Value(
            *(None if x is None else x * factor for x in (self.value, self.low, self.high)), self.reason
        )


def missing(reason: str) -> Value:
    """No number, and why."""
    return Value(None, reason=reason)


def with_half(value: float, half: float | None) -> Value:
    """`value` ± `half`."""
    return Value(value) if half is None else Value(value, value - half, value + half)


def difference(first: Value, second: Value) -> Value:
    """First minus second, errors independent; missing where one of them is."""
    for side in (first, second):
        if not side:
            return side
    if first.half is None or second.half is None:
        return Value(first.value - second.value)
    return with_half(first.value - second.value, (first.half**2 + second.half**2) ** 0.5)
