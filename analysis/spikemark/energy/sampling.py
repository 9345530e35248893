"""How well readings cover a span of time, and how well they determine the mean power in it."""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import Quantity, missing, student, with_half

from .resolution import widened
from .trace import GAP, Trace

#: Fewer readings within a span only say what was drawn before and after it.
LEAST_READINGS = 2
BLOCKS = 10


@dataclass(frozen=True)
class Sampling:
    """The readings within a span; for several channels the worst of each number."""

    readings: int
    interval_s: float  # median time between two
    longest_s: float  # longest time between two of which the span holds a part
    coverage: float  # share of the span that lies between two readings not more than GAP intervals apart

    @property
    def rate_hz(self) -> float:
        return 1 / self.interval_s


def sampling(traces: list[Trace], start: float, end: float) -> Sampling:
    """Sampling of the span from `start` to `end`, in the time of the traces."""
    each = [_one(trace, start, end) for trace in traces]
    return Sampling(
        min(s.readings for s in each),
        max(s.interval_s for s in each),
        max(s.longest_s for s in each),
        min(s.coverage for s in each),
    )


def _one(trace: Trace, start: float, end: float) -> Sampling:
    times = trace.time_s
    low, high = np.maximum(times[:-1], start), np.minimum(times[1:], end)
    inside, apart = np.maximum(high - low, 0.0), np.diff(times)
    close = apart <= GAP * trace.interval_s
    longest = apart[inside > 0].max() if (inside > 0).any() else end - start
    readings = int(((times >= start) & (times <= end)).sum())
    return Sampling(readings, trace.interval_s, float(longest), float(inside[close].sum() / (end - start)))


def energy(trace: Trace, start: float, end: float) -> Quantity:
    """Energy in J from `start` to `end`, with its uncertainty from sampling.

    A counter is read exactly, so only the ends are uncertain: the interval reaches from the readings inside
    to those around them. Instantaneous power may do anything between readings: the t interval of 95 % follows
    from the differences of successive readings (von Neumann 1941), of which slow changes of the load are no
    part, and from what the readings were rounded to; at each end, power may change anywhere between the two
    readings around it. Missing with fewer than LEAST_READINGS in the span.
    """
    count = int(((trace.time_s >= start) & (trace.time_s <= end)).sum())
    if count < LEAST_READINGS:
        return missing(
            f"{count} readings within {end - start:.3g} s, one every {trace.interval_s:.3g} s;"
            f" allowed: {LEAST_READINGS} or more",
            "J",
        )
    value = trace.energy_j(start, end)
    if trace.cumulative:
        return Quantity(value, *_ends_j(trace, start, end), "J", "measured")
    inside = trace.power_w[(trace.time_s >= start) & (trace.time_s <= end)]
    if len(inside) < 3:
        return Quantity(value, unit="J", kind="measured")
    error = np.sqrt(np.mean(np.diff(inside) ** 2) / 2 / len(inside))
    half_w = widened(student(len(inside) - 1) * error, trace.step_w)
    half_j = half_w * (end - start) + _open_j(trace, start) + _open_j(trace, end)
    return with_half(value, half_j, "J", "measured")


def _open_j(trace: Trace, at: float) -> float:
    """How many J the energy up to `at` may differ if power changes in one step between two readings."""
    i = int(np.clip(np.searchsorted(trace.time_s, at), 1, len(trace.time_s) - 1))
    return float(abs(np.diff(trace.power_w)[i - 1]) * np.diff(trace.time_s)[i - 1] / 2)


def _ends_j(trace: Trace, start: float, end: float) -> tuple[float, float] | tuple[None, None]:
    """Energy in J between the outermost readings inside, and between those around them."""
    inside = np.flatnonzero((trace.time_s >= start) & (trace.time_s <= end))
    if len(inside) < 2 or inside[0] == 0 or inside[-1] == len(trace.time_s) - 1:
        return None, None
    i, j = inside[0], inside[-1]
    return float(trace.counter_j[j] - trace.counter_j[i]), float(
        trace.counter_j[j + 1] - trace.counter_j[i - 1]
    )


def level(watts: np.ndarray, step_w: float = 0.0) -> Quantity:
    """Mean of a steady level [n] in W, rounded to `step_w`: t interval of 95 % of means over blocks."""
    number = min(BLOCKS, len(watts) // 2)
    if number < 2:
        return Quantity(float(np.mean(watts)), unit="W", kind="measured")
    means = [part.mean() for part in np.array_split(watts, number)]
    half = student(number - 1) * np.std(means, ddof=1) / np.sqrt(number)
    return with_half(float(np.mean(watts)), widened(half, step_w), "W", "measured")
