"""Power over time from readings of a meter: energy, levels, and how well readings determine both.

Intervals cover the uncertainty from sampling and rounding, not the accuracy of the meter.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing, student, with_half

#: Two readings further apart than this many usual intervals have a gap between them.
GAP_INTERVALS = 3.0
#: Readings that a span needs for an energy.
MIN_READINGS = 2
#: Blocks whose means give the interval of a level.
BLOCKS = 10
#: A change must lower the sum of squares by this many times the variance of the noise times log n;
#: 2 would do for independent noise (Yao 1988), but meters average, so that their noise is
#: correlated.
CHANGE_PENALTY = 8.0
#: Noise assumed where readings repeat, as a share of the whole range.
MIN_NOISE_SHARE = 0.005
#: Points of a signal whose changes are sought; longer signals are averaged first.
MAX_SEARCHED_POINTS = 8000
#: Decimals of readings; finer ones count as not rounded.
MAX_DECIMALS = 6
#: Different readings from which their common divisor is no chance.
MIN_LEVELS_FOR_DIVISOR = 6
#: Roundings of times that are recognised, in s.
TIME_STEPS_S = (60.0, 1.0, 0.1, 0.01, 0.001)


@dataclass(frozen=True)
class PowerTrace:
    """Readings of one channel, or of several together: energy or power over time.

    One of `counter_j` and `power_w` is given.
    """

    time_s: np.ndarray  #: [n >= 2] increasing, seconds from any zero
    counter_j: np.ndarray | None = None  #: [n] energy since some zero, J
    power_w: np.ndarray | None = None  #: [n] instantaneous power, W
    step_w: float = 0.0  #: what instantaneous readings were rounded to, W
    resolution_s: float = 0.0  #: what times were rounded to, up or down, s

    @property
    def cumulative(self) -> bool:
        """True for a counter of energy, which loses nothing between readings."""
        return self.counter_j is not None

    @cached_property
    def _energy_j(self) -> np.ndarray:
        """Energy until each reading, J: of the counter, or since the first reading."""
        if self.counter_j is not None:
            return self.counter_j
        power_w = self._watts
        steps = np.diff(self.time_s) * (power_w[1:] + power_w[:-1]) / 2
        return np.append(0.0, np.cumsum(steps))

    @property
    def _watts(self) -> np.ndarray:
        """Instantaneous power, which a trace without a counter has."""
        if self.power_w is None:
            raise TypeError("a trace of power needs power_w")
        return self.power_w

    @property
    def first(self) -> float:
        """Time of the first reading, s."""
        return float(self.time_s[0])

    @property
    def last(self) -> float:
        """Time of the last reading, s."""
        return float(self.time_s[-1])

    @cached_property
    def interval_s(self) -> float:
        """The usual time between two readings: the median."""
        return float(np.median(np.diff(self.time_s)))

    def covers(self, start: float, end: float) -> bool:
        """True if the span lies within the readings, or less than an interval beyond them."""
        return self.first - self.interval_s <= start and end <= self.last + self.interval_s

    def integral_j(self, at: np.ndarray) -> np.ndarray:
        """Energy in J from the first reading (or a counter's zero) to the times `at`, in s.

        Power is linear between readings, constant beyond; that of a counter is constant between
        readings.
        """
        at = np.asarray(at, dtype=float)
        i = np.clip(np.searchsorted(self.time_s, at, side="right") - 1, 0, len(self.time_s) - 2)
        until_reading_j = self._energy_j[i]
        energy_j: np.ndarray
        if self.cumulative:
            slope_w = np.diff(self._energy_j)[i] / np.diff(self.time_s)[i]
            energy_j = until_reading_j + (at - self.time_s[i]) * slope_w
            return energy_j
        inside = np.clip(at, self.first, self.last)
        power_w = np.interp(at, self.time_s, self._watts)
        mean_w = (self._watts[i] + power_w) / 2
        energy_j = until_reading_j + (inside - self.time_s[i]) * mean_w + (at - inside) * power_w
        return energy_j

    def energy_j(self, start: float, end: float) -> float:
        """Energy in J from `start` to `end`, in s.

        Example:
            >>> watts = np.array([100.0, 200.0, 200.0])
            >>> trace = PowerTrace(np.array([0.0, 1.0, 2.0]), power_w=watts)
            >>> trace.energy_j(0.0, 2.0)
            350.0
        """
        until_start, until_end = self.integral_j(np.array([start, end]))
        return float(until_end - until_start)

    def mean_w(self, start: float, end: float) -> float:
        """Mean power in W from `start` to `end`, in s."""
        return self.energy_j(start, end) / (end - start)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Times in s and power in W, [m]: each reading, or a counter's mean between two readings.

        The time of such a mean is the middle between the two.
        """
        if self.counter_j is None:
            return self.time_s, self._watts
        middles = (self.time_s[1:] + self.time_s[:-1]) / 2
        return middles, np.diff(self.counter_j) / np.diff(self.time_s)

    def moved(self, seconds: float) -> "PowerTrace":
        """The trace moved to so many seconds later."""
        return replace(self, time_s=self.time_s + seconds)

    def inside(self, start: float, end: float) -> np.ndarray:
        """Numbers of the readings from `start` to `end`, in s."""
        return np.flatnonzero((self.time_s >= start) & (self.time_s <= end))


def total(traces: list[PowerTrace]) -> PowerTrace:
    """The sum of all traces where all have readings; it is exact, as it has the readings of each.

    Raises:
        BadInput: if there is no time at which all have readings.

    Example:
        >>> trace = PowerTrace(np.array([0.0, 1.0]), power_w=np.array([50.0, 60.0]))
        >>> total([trace, trace]).power_w
        array([100., 120.])
    """
    if len(traces) == 1:
        return traces[0]
    first = max(trace.first for trace in traces)
    last = min(trace.last for trace in traces)
    times = np.unique(np.concatenate([trace.time_s for trace in traces]))
    times = times[(times >= first) & (times <= last)]
    if len(times) < 2:
        raise BadInput("the channels have no time in common at which all were read", code="file")
    steps_w = np.array([trace.step_w for trace in traces])
    step_w = float(np.sqrt(np.sum(np.square(steps_w))))  # as uncertain as the sum
    if any(trace.cumulative for trace in traces):
        counted_j = np.sum([trace.integral_j(times) for trace in traces], axis=0)
        return PowerTrace(
            times,
            counter_j=counted_j - counted_j[0],
            step_w=step_w,
        )
    watts = np.sum([np.interp(times, trace.time_s, trace._watts) for trace in traces], axis=0)
    resolution_s = max(trace.resolution_s for trace in traces)
    return PowerTrace(
        times,
        power_w=watts,
        step_w=step_w,
        resolution_s=resolution_s,
    )


def thinned(times: np.ndarray, watts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over neighbouring points, so that there are at most `most` of them.

    Example:
        >>> thinned(np.array([0.0, 1.0, 2.0, 3.0]), np.array([5.0, 7.0, 9.0, 9.0]), most=2)
        (array([0.5, 2.5]), array([6., 9.]))
    """
    points_per_mean = -(-len(times) // most)
    starts = np.arange(0, len(times), points_per_mean)
    counts = np.diff([*starts, len(times)])
    return np.add.reduceat(times, starts) / counts, np.add.reduceat(watts, starts) / counts


def rounding_w(watts: np.ndarray) -> float:
    """The step in W that readings [n] of one meter were rounded to; 0 where none shows.

    It is the last decimal in use or, with six or more different readings, the number that divides
    all their differences: with steps half as wide, chance would produce that in at most one case of
    2^5.

    Example:
        >>> rounding_w(np.array([100.25, 101.5, 100.75]))
        0.01
    """
    levels = np.unique(watts)
    for decimals in range(MAX_DECIMALS + 1):
        scaled = levels * 10.0**decimals
        units = np.round(scaled)
        rounded = np.allclose(scaled, units, rtol=1e-12, atol=1e-6)
        if not rounded or units.max() >= 2**53:
            continue
        step = 1
        if len(levels) >= MIN_LEVELS_FOR_DIVISOR:
            step = int(np.gcd.reduce(np.diff(units.astype(np.int64))))
        return float(step / 10**decimals)
    return 0.0


def resolution_s(times: np.ndarray) -> float:
    """What times [n], s, were rounded to; 0 for what is finer than a millisecond.

    Example:
        >>> resolution_s(np.array([0.1, 0.5, 2.0]))
        0.1
    """
    for step in TIME_STEPS_S:
        units = times / step
        if np.allclose(units, np.round(units), rtol=1e-14, atol=1e-4):
            return step
    return 0.0


def _widened(half_w: float, step: float) -> float:
    """Half an interval of a mean of rounded readings, whose scatter says `half_w`.

    Rounding may be off by half a step, in all readings alike (JCGM 100:2008, F.2.2.1).
    """
    return float(np.hypot(half_w, step / 2))


def energy(trace: PowerTrace, start: float, end: float) -> Quantity:
    """Energy in J from `start` to `end`, in s, with its uncertainty from sampling.

    A counter is read exactly, so only the ends are uncertain: the interval reaches from the
    readings inside to those around them. Instantaneous power may do anything between readings: the
    t interval of 95 % follows from the differences of successive readings (von Neumann 1941), of
    which slow changes of the load are no part, and from what the readings were rounded to; at each
    end, power may change anywhere between the two readings around it. Where times were rounded, up
    or down, the span may be that much earlier or later.

    Returns:
        The energy; missing with fewer than MIN_READINGS in the span.

    Example:
        >>> trace = PowerTrace(np.arange(11.0), power_w=np.full(11, 100.0))
        >>> energy(trace, 2.0, 8.0).value
        600.0
    """
    estimate = _energy_of_span(trace, start, end)
    if estimate.interval is None:
        return estimate
    intervals = [estimate.interval]
    if trace.resolution_s:
        for share in (-1.0, -0.5, 0.5, 1.0):
            move = share * trace.resolution_s
            interval = _energy_of_span(trace, start + move, end + move).interval
            if interval is not None:
                intervals.append(interval)
    low = min(interval[0] for interval in intervals)
    high = max(interval[1] for interval in intervals)
    return replace(estimate, low=float(low), high=float(high))


def energy_of_all(traces: list[PowerTrace], start: float, end: float) -> Quantity:
    """Energy in J of all traces together, from `start` to `end`, in s.

    Their intervals add up, since power may change in all at once. That of `total` would be too
    narrow: its readings lie closer together than those of each trace.

    Example:
        >>> trace = PowerTrace(np.arange(11.0), power_w=np.full(11, 100.0))
        >>> energy_of_all([trace, trace], 2.0, 8.0).value
        1200.0
    """
    value = 0.0
    intervals = []
    for trace in traces:
        part = energy(trace, start, end)
        if part.value is None:
            return part
        value += part.value
        intervals.append(part.interval)
    limits = [interval for interval in intervals if interval is not None]
    if len(limits) < len(intervals):
        return Quantity(value, unit="J", kind="measured")
    low = sum(interval[0] for interval in limits)
    high = sum(interval[1] for interval in limits)
    return Quantity(value, low, high, "J", "measured")


def _energy_of_span(trace: PowerTrace, start: float, end: float) -> Quantity:
    """`energy`, but for the rounding of times."""
    inside = trace.inside(start, end)
    if len(inside) < MIN_READINGS:
        reason = (
            f"{len(inside)} readings within {end - start:.3g} s, one every"
            f" {trace.interval_s:.3g} s; expected {MIN_READINGS} or more"
        )
        return missing(reason, "J")
    value = trace.energy_j(start, end)
    if trace.counter_j is not None:
        return _counted_energy(value, trace.counter_j, inside[0], inside[-1])
    watts = trace._watts
    readings = watts[inside]
    if len(readings) < 3:
        return Quantity(value, unit="J", kind="measured")
    error_w = np.sqrt(np.mean(np.diff(readings) ** 2) / 2 / len(readings))
    half_w = _widened(student(len(readings) - 1) * error_w, trace.step_w)
    after_ends = np.searchsorted(trace.time_s, [start, end])
    before_ends = np.clip(after_ends, 1, len(trace.time_s) - 1) - 1
    at_ends_j = np.abs(np.diff(watts)[before_ends]) * np.diff(trace.time_s)[before_ends] / 2
    half_j = half_w * (end - start) + float(at_ends_j.sum())
    return with_half(value, half_j, "J", "measured")


def _counted_energy(value: float, counter_j: np.ndarray, first: int, last: int) -> Quantity:
    """Energy from a counter whose readings `first` to `last` lie in the span."""
    if first == 0 or last == len(counter_j) - 1:
        return Quantity(value, unit="J", kind="measured")
    low = float(counter_j[last] - counter_j[first])
    high = float(counter_j[last + 1] - counter_j[first - 1])
    return Quantity(value, low, high, "J", "measured")


def level(watts: np.ndarray, step_w: float = 0.0) -> Quantity:
    """Mean of a steady level [n] in W: t interval of 95 % of means over blocks.

    Args:
        watts: readings of power.
        step_w: what they were rounded to.

    Example:
        >>> level(np.full(20, 80.0)).value
        80.0
    """
    mean_w = float(np.mean(watts))
    blocks = min(BLOCKS, len(watts) // 2)
    if blocks < 2:
        return Quantity(mean_w, unit="W", kind="measured")
    means = [block.mean() for block in np.array_split(watts, blocks)]
    half_w = student(blocks - 1) * np.std(means, ddof=1) / np.sqrt(blocks)
    return with_half(mean_w, _widened(float(half_w), step_w), "W", "measured")


@dataclass(frozen=True)
class Sampling:
    """The readings within a span; for several channels the worst of each number."""

    readings: int  #: number of readings
    interval_s: float  #: median time between two
    longest_s: float  #: longest time between two of which the span holds a part
    coverage: float  #: share of the span between readings at most GAP_INTERVALS intervals apart

    @classmethod
    def from_traces(cls, traces: list[PowerTrace], start: float, end: float) -> "Sampling":
        """Sampling of the span from `start` to `end`, in the time of the traces."""
        parts = [cls._of_trace(trace, start, end) for trace in traces]
        return cls(
            readings=min(part.readings for part in parts),
            interval_s=max(part.interval_s for part in parts),
            longest_s=max(part.longest_s for part in parts),
            coverage=min(part.coverage for part in parts),
        )

    @classmethod
    def _of_trace(cls, trace: PowerTrace, start: float, end: float) -> "Sampling":
        """Sampling of the span by one channel."""
        times = trace.time_s
        distances = np.diff(times)
        within = np.minimum(times[1:], end) - np.maximum(times[:-1], start)
        within = np.maximum(within, 0.0)  # of the distance between two readings, inside the span
        longest_s = end - start
        if (within > 0).any():
            longest_s = distances[within > 0].max()
        close = distances <= GAP_INTERVALS * trace.interval_s
        return cls(
            readings=len(trace.inside(start, end)),
            interval_s=trace.interval_s,
            longest_s=float(longest_s),
            coverage=float(within[close].sum() / (end - start)),
        )


@dataclass(frozen=True)
class Segment:
    """Successive readings that share a level."""

    first: int  #: number of the first reading
    last: int  #: number behind that of the last reading
    mean: float  #: of the readings, W

    @property
    def readings(self) -> int:
        """How many."""
        return self.last - self.first


def segments(watts: np.ndarray) -> list[Segment]:
    """The levels of a signal: penalised least squares over all piecewise constant signals.

    Found by PELT (Killick et al. 2012) in the library ruptures.

    Args:
        watts: power in W, shape [n].

    Example:
        >>> watts = np.repeat([100.0, 300.0], 20)
        >>> [(part.first, part.last, part.mean) for part in segments(watts)]
        [(0, 20, 100.0), (20, 40, 300.0)]
    """
    n = len(watts)
    if not n:
        return []
    spread = float(np.ptp(watts))
    if n < 4 or spread == 0:
        return [Segment(0, n, float(np.mean(watts)))]
    from ruptures import KernelCPD

    block = -(-n // MAX_SEARCHED_POINTS)
    blocks = n // block
    means = watts[: blocks * block].reshape(blocks, block).mean(axis=1)
    noise = 1.4826 * float(np.median(np.abs(np.diff(means)))) / np.sqrt(2)
    noise = max(noise, MIN_NOISE_SHARE * spread)
    detector = KernelCPD(kernel="linear", min_size=2).fit(means[:, None] / noise)
    ends = [int(end) * block for end in detector.predict(pen=CHANGE_PENALTY * np.log(blocks))]
    ends[-1] = n
    starts = [0, *ends[:-1]]
    return [
        Segment(start, end, float(watts[start:end].mean()))
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]
