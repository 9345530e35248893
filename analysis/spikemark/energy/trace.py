"""Power over time, from readings of a counter of energy or of power."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput

from .resolution import combined

#: Two readings further apart than this many usual intervals have a gap between them.
GAP = 3.0


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
        """Tells whether it is a counter, which loses nothing between readings.

        Instantaneous power is interpolated.
        """
        return self.counter_j is not None

    @cached_property
    def _integral_j(self) -> np.ndarray:
        if self.cumulative:
            return self.counter_j
        steps = np.diff(self.time_s) * (self.power_w[1:] + self.power_w[:-1]) / 2
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def first(self) -> float:
        return float(self.time_s[0])

    @property
    def last(self) -> float:
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
        since = at - self.time_s[i]
        step = np.diff(self.time_s)[i]
        if self.cumulative:
            return self._integral_j[i] + since * (self.counter_j[i + 1] - self.counter_j[i]) / step
        now = np.interp(at, self.time_s, self.power_w)
        inside = self._integral_j[i] + since * (self.power_w[i] + now) / 2
        after = self._integral_j[-1] + (at - self.last) * self.power_w[-1]
        before = (at - self.first) * self.power_w[0]
        return np.where(at > self.last, after, np.where(at < self.first, before, inside))

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
    step = combined([t.step_w for t in traces])
    if any(t.cumulative for t in traces):
        counted = sum(t.integral_j(times) for t in traces)
        return Trace(times, counter_j=counted - counted[0], step_w=step)
    return Trace(times, power_w=sum(np.interp(times, t.time_s, t.power_w) for t in traces), step_w=step)


def thinned(times: np.ndarray, watts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over neighbouring points, at most `most` of them."""
    block = -(-len(times) // most)
    if block == 1:
        return times, watts
    parts = np.arange(0, len(times), block)
    counts = np.diff([*parts, len(times)])
    return np.add.reduceat(times, parts) / counts, np.add.reduceat(watts, parts) / counts
