"""Times are in seconds inside, in microseconds per cycle where people read them."""

from spikemark.quantities.quantity import Quantity

MICRO = 1e6


def in_us(time: Quantity, cycles: int = 1) -> Quantity:
    """A time in s over several cycles as microseconds per cycle, rounded to 0.1 ns."""
    if not time:
        return time
    value, low, high = (
        None if x is None else round(MICRO * x / cycles, 4) for x in (time.value, time.low, time.high)
    )
    return Quantity(value, low, high, "µs", time.kind)
