"""The distribution of one run's compute times between two exchanges, or of sums of its cycles."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models import modes, statistics
from spikemark.models.waiting_iid import IidWaiting
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.gather import Measured
from spikemark.waiting.maxima import independent_ranks

LEVEL = 0.99
LONG_TAIL = 6  # ratio of longest to shortest time above which an axis is logarithmic


@dataclass(frozen=True)
class Distribution:
    """Times of one run per cycle; those of windows are divided by `window`. One rank has no maxima."""

    label: str
    schedule: str
    seed: int
    repetition: int
    window: int  # cycles
    times_s: np.ndarray  # [rank, window]
    maxima_s: np.ndarray | None  # [window]
    #: holds a maximum with probability LEVEL if the times are iid normal
    interval_s: tuple[float, float] | None
    inside: float | None  # share of the maxima that lie in it

    @property
    def name(self) -> str:
        """The label without the window."""
        return self.label.split(":")[0]

    @property
    def mean_s(self) -> float:
        return float(self.times_s.mean())

    @property
    def sd_s(self) -> float:
        return float(self.times_s.std(ddof=1))

    @property
    def longest_s(self) -> float:
        return float(self.times_s.max())

    @cached_property
    def modes(self) -> list[modes.Mode]:
        """Modes, the largest share first; none where the times do not vary."""
        return modes.modes(self.times_s)

    @cached_property
    def independent_ranks(self) -> Quantity:
        """Missing if the run cannot tell because it has one rank, few windows, or times that do not vary."""
        try:
            return independent_ranks(self.times_s)
        except BadInput as reason:
            return missing(str(reason))


def distribution(measured: Measured, window: int | None = None) -> Distribution:
    """Sums over `window` cycles, by default the run's own.

    The interval is computed from their mean and SD.
    """
    run, configuration = measured.run, measured.configuration
    summed = window is not None
    window = window if summed else run.window
    lumped = statistics.lump(statistics.times(run.compute()), window) / window
    label = configuration.label + (", summed: " if summed else ": ")
    label += f"windows of {window} cycles" if window > 1 else "single cycles"
    highest = interval = inside = None
    if run.record.ranks > 1 and lumped.size > 1:
        highest = lumped.max(axis=0)
        interval = IidWaiting.fit(lumped).interval_of_maxima(level=LEVEL)
        inside = statistics.share_inside(highest, interval)
    planned = measured.planned
    return Distribution(
        *(label, run.schedule, planned.seed, planned.repetition, window),
        *(lumped, highest, interval, inside),
    )


def axis(distributions: list[Distribution]) -> tuple[tuple[float, float], bool]:
    """Returns limits in s, which cut off the end of a long tail, and whether the axis is logarithmic."""
    low = min(np.percentile(d.times_s, 0.1) for d in distributions)
    high = max(np.percentile(d.times_s, 99.8) for d in distributions)
    if low > 0 and high / low > LONG_TAIL:
        return (low / 1.1, high * 1.1), True
    varies = high - low > 1e-9 * high  # more than by rounding
    margin = 0.04 * (high - low) if varies else 0.1 * high or 1e-9
    low, high = max(0.0, low - margin), high + margin
    return (low, high), low > 0 and high / low > LONG_TAIL
