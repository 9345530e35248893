"""Power over time from readings of a meter: integrals, levels, and how well readings determine both.

Intervals cover the uncertainty from sampling and rounding, not the accuracy of the meter.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing, student, with_half

#: Two readings further apart than this many usual intervals have a gap between them.
GAP = 3.0
LEAST_READINGS, BLOCKS = 2, 10
#: A change must lower the sum of squares by this many times the variance of the noise times log n; 2 would do
#: for independent noise (Yao 1988), but meters average, so that their noise is correlated.
PENALTY = 8.0
LEAST_NOISE = 0.005  # assumed where readings repeat, as a share of the whole range
MOST_POINTS = 8000  # of a signal whose changes are sought; longer ones are averaged first
DECIMALS, LEAST_LEVELS = 6, 6  # finer readings count as not rounded; fewer levels may lie apart by chance


@dataclass(frozen=True)
class Trace:
    """Readings of one channel, or of several together.

    `time_s` [n >= 2], increasing, in seconds from any zero; one of `counter_j` [n] (joule, cumulative) and
    `power_w` [n] (watt, instantaneous) is given. `step_w`: what instantaneous readings were rounded to.
    """

    time_s: np.ndarray
    counter_j: np.ndarray | None = None
    power_w: np.ndarray | None = None
    step_w: float = 0.0

    @property
    def cumulative(self) -> bool:
        """A counter loses nothing between readings; instantaneous power is interpolated."""
        return self.counter_j is not None

    @cached_property
    def _integral_j(self) -> np.ndarray:
        if self.cumulative:
            return self.counter_j
        steps = np.diff(self.time_s) * (self.power_w[1:] + self.power_w[:-1]) / 2
        return np.append(0.0, np.cumsum(steps))

    @property
    def first(self) -> float:
        """Time of the first reading."""
        return float(self.time_s[0])

    @property
    def last(self) -> float:
        """Time of the last reading."""
        return float(self.time_s[-1])

    @cached_property
    def interval_s(self) -> float:
        """The usual time between two readings: the median."""
        return float(np.median(np.diff(self.time_s)))

    def covers(self, start: float, end: float) -> bool:
        """True if the trace covers this span, within its readings or less than an interval beyond them."""
        return self.first - self.interval_s <= start and end <= self.last + self.interval_s

    def integral_j(self, at: np.ndarray) -> np.ndarray:
        """Energy in J from the first reading to `at`; power is linear between readings, constant beyond."""
        at = np.asarray(at, dtype=float)
        i = np.clip(np.searchsorted(self.time_s, at, side="right") - 1, 0, len(self.time_s) - 2)
        if self.cumulative:
            slope = np.diff(self.counter_j)[i] / np.diff(self.time_s)[i]
            return self.counter_j[i] + (at - self.time_s[i]) * slope
        here, power = np.clip(at, self.first, self.last), np.interp(at, self.time_s, self.power_w)
        inside = self._integral_j[i] + (here - self.time_s[i]) * (self.power_w[i] + power) / 2
        return inside + (at - here) * power

    def energy_j(self, start: float, end: float) -> float:
        """Energy in J from `start` to `end`."""
        return float(np.subtract(*self.integral_j(np.array([end, start]))))

    def mean_w(self, start: float, end: float) -> float:
        """Mean power in W from `start` to `end`."""
        return self.energy_j(start, end) / (end - start)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Times in s and power in W, [m]: each reading, or a counter's mean between two, at its middle."""
        if not self.cumulative:
            return self.time_s, self.power_w
        return (self.time_s[1:] + self.time_s[:-1]) / 2, np.diff(self.counter_j) / np.diff(self.time_s)

    def moved(self, seconds: float) -> "Trace":
        """The trace moved to so many seconds later."""
        return Trace(self.time_s + seconds, self.counter_j, self.power_w, self.step_w)

    def inside(self, start: float, end: float) -> np.ndarray:
        """Places of the readings within a span."""
        return np.flatnonzero((self.time_s >= start) & (self.time_s <= end))


def total(traces: list[Trace]) -> Trace:
    """The sum of all traces where all have readings; it is exact, as it has the readings of each.

    Raises BadInput if there is no time at which all have readings.
    """
    if len(traces) == 1:
        return traces[0]
    first, last = max(t.first for t in traces), min(t.last for t in traces)
    times = np.unique(np.concatenate([t.time_s for t in traces]))
    times = times[(times >= first) & (times <= last)]
    if len(times) < 2:
        raise BadInput("the channels have no time in common at which all were read")
    step = float(np.sqrt(np.sum(np.square([t.step_w for t in traces]))))  # as uncertain as the sum
    if any(t.cumulative for t in traces):
        counted = sum(t.integral_j(times) for t in traces)
        return Trace(times, counter_j=counted - counted[0], step_w=step)
    return Trace(times, power_w=sum(np.interp(times, t.time_s, t.power_w) for t in traces), step_w=step)


def thinned(times: np.ndarray, watts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over neighbouring points, at most `most` of them."""
    parts = np.arange(0, len(times), -(-len(times) // most))
    counts = np.diff([*parts, len(times)])
    return np.add.reduceat(times, parts) / counts, np.add.reduceat(watts, parts) / counts


def rounding_w(watts: np.ndarray) -> float:
    """The step in W that readings [n] of one meter were rounded to; 0 where none shows.

    It is the last decimal in use or, with six or more different readings, the number that divides all their
    differences: with steps half as wide, chance would produce that in at most one case of 2^5.
    """
    levels = np.unique(watts)
    for decimals in range(DECIMALS + 1):
        units = np.round(levels * 10.0**decimals)
        if np.allclose(levels * 10.0**decimals, units, rtol=1e-12, atol=1e-6) and units.max() < 2**53:
            apart = np.diff(units.astype(np.int64))
            return int(np.gcd.reduce(apart) if len(levels) >= LEAST_LEVELS else 1) / 10**decimals
    return 0.0


def _widened(half_w: float, step: float) -> float:
    """Half an interval of a mean of rounded readings, whose scatter says `half_w`.

    Rounding may be off by half a step, in all readings alike (JCGM 100:2008, F.2.2.1).
    """
    return float(np.hypot(half_w, step / 2))


def energy(trace: Trace, start: float, end: float) -> Quantity:
    """Energy in J from `start` to `end`, with its uncertainty from sampling.

    A counter is read exactly, so only the ends are uncertain: the interval reaches from the readings inside
    to those around them. Instantaneous power may do anything between readings: the t interval of 95 % follows
    from the differences of successive readings (von Neumann 1941), of which slow changes of the load are no
    part, and from what the readings were rounded to; at each end, power may change anywhere between the two
    readings around it. Missing with fewer than LEAST_READINGS in the span.
    """
    at = trace.inside(start, end)
    if len(at) < LEAST_READINGS:
        every = f"one every {trace.interval_s:.3g} s"
        words = f"{len(at)} readings within {end - start:.3g} s, {every}; expected {LEAST_READINGS} or more"
        return missing(words, "J")
    value = trace.energy_j(start, end)
    if trace.cumulative:
        i, j = at[0], at[-1]
        if i == 0 or j == len(trace.time_s) - 1:
            return Quantity(value, unit="J", kind="measured")
        ends = (trace.counter_j[b] - trace.counter_j[a] for a, b in ((i, j), (i - 1, j + 1)))
        return Quantity(value, *map(float, ends), "J", "measured")
    inside = trace.power_w[at]
    if len(inside) < 3:
        return Quantity(value, unit="J", kind="measured")
    error = np.sqrt(np.mean(np.diff(inside) ** 2) / 2 / len(inside))
    half_w = _widened(student(len(inside) - 1) * error, trace.step_w)
    edges = np.clip(np.searchsorted(trace.time_s, [start, end]), 1, len(trace.time_s) - 1) - 1
    open_j = np.abs(np.diff(trace.power_w)[edges]) * np.diff(trace.time_s)[edges] / 2
    return with_half(value, half_w * (end - start) + float(open_j.sum()), "J", "measured")


def level(watts: np.ndarray, step_w: float = 0.0) -> Quantity:
    """Mean of a steady level [n] in W, rounded to `step_w`: t interval of 95 % of means over blocks."""
    blocks = min(BLOCKS, len(watts) // 2)
    if blocks < 2:
        return Quantity(float(np.mean(watts)), unit="W", kind="measured")
    means = [part.mean() for part in np.array_split(watts, blocks)]
    half = student(blocks - 1) * np.std(means, ddof=1) / np.sqrt(blocks)
    return with_half(float(np.mean(watts)), _widened(half, step_w), "W", "measured")


@dataclass(frozen=True)
class Sampling:
    """The readings within a span; for several channels the worst of each number.

    `interval_s`: median time between two; `longest_s`: longest time between two of which the span holds a
    part; `coverage`: share of the span that lies between two readings not more than GAP intervals apart.
    """

    readings: int
    interval_s: float
    longest_s: float
    coverage: float

    @classmethod
    def of(cls, traces: list[Trace], start: float, end: float) -> "Sampling":
        """Sampling of the span from `start` to `end`, in the time of the traces."""
        each = []
        for trace in traces:
            times = trace.time_s
            held = np.maximum(np.minimum(times[1:], end) - np.maximum(times[:-1], start), 0.0)
            apart = np.diff(times)
            longest = apart[held > 0].max() if (held > 0).any() else end - start
            share = held[apart <= GAP * trace.interval_s].sum() / (end - start)
            each.append((len(trace.inside(start, end)), trace.interval_s, float(longest), float(share)))
        readings, intervals, longest, shares = zip(*each, strict=True)
        return cls(min(readings), max(intervals), max(longest), min(shares))


@dataclass(frozen=True)
class Segment:
    """Readings `first` to `last` - 1 share a level, `mean`."""

    first: int
    last: int
    mean: float

    @property
    def readings(self) -> int:
        """How many."""
        return self.last - self.first


def segments(watts: np.ndarray) -> list[Segment]:
    """The levels of the signal `watts` [n]: penalised least squares over all piecewise constant signals.

    Found by PELT (Killick et al. 2012) in the library ruptures.
    """
    n = len(watts)
    spread = float(np.ptp(watts)) if n else 0.0
    if n < 4 or spread == 0:
        return [Segment(0, n, float(np.mean(watts)))] if n else []
    from ruptures import KernelCPD

    block = -(-n // MOST_POINTS)
    many = n // block
    means = watts[: many * block].reshape(many, block).mean(axis=1)
    noise = 1.4826 * float(np.median(np.abs(np.diff(means)))) / np.sqrt(2)
    noise = max(noise, LEAST_NOISE * spread)
    found = KernelCPD(kernel="linear", min_size=2).fit(means[:, None] / noise)
    ends = [int(end) * block for end in found.predict(pen=PENALTY * np.log(many))]
    ends[-1] = n
    return [
        Segment(a, b, float(watts[a:b].mean())) for a, b in zip([0, *ends[:-1]], ends, strict=True) if b > a
    ]
