"""Waiting that was not timed: what the other times say of it, and the limits between which it is.

A clock around a barrier before the exchange would show two times: until the last rank comes, and from then
until the barrier lets a rank go. The first one follows from the times of computing and communication
(`timeline`). The second is hidden in what is left of communication, together with the exchange of data, and
so are time slices that a rank loses in the barrier. So waiting is at least the first one and at most all
communication. Where meetings with many spikes take longer than those with few, that excess is data, and no
waiting.

The middle gives the barrier a share of what is left: `SHARE`, which lies between those of our own records
(0.09 to 0.31; docs/imported.md). In one without a barrier of its own time, it is none.
"""

from dataclasses import dataclass

import numpy as np

from . import timeline

SHARE = 0.25  # of the time from the last rank's coming to the end of the exchange that a barrier takes
THIRD, SURE = 3, 4.0  # meetings with fewest and most spikes: 1 of so many; standard errors of their medians


@dataclass(frozen=True)
class Derived:
    """Mean waiting over ranks at each meeting, [meeting] in s, and the limits of its mean over meetings.

    `limits` is (lowest, highest) in s; None if communication was not timed, so that nothing limits it.
    """

    waiting: np.ndarray
    limits: tuple[float, float] | None = None


def waiting(compute: np.ndarray, communicate: np.ndarray | None, spikes: np.ndarray | None = None) -> Derived:
    """Waiting from times [rank, meeting] in s, and from the spikes [rank, meeting] of each rank, if known."""
    implied = compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)
    if communicate is None:
        return Derived(implied)
    whole = communicate.mean(axis=0, dtype=np.float64)
    line = timeline.of(compute, communicate)
    until = np.minimum(np.where(line.fits, line.until_last, implied), whole)
    left = whole - until
    data = np.zeros_like(left) if spikes is None else _of_data(left, spikes.sum(axis=0, dtype=np.float64))
    low = np.where(line.fits, until - line.doubt, 0.0).mean()
    return Derived(until + SHARE * (left - data), (max(float(low), 0.0), float((whole - data).mean())))


def _of_data(left: np.ndarray, spikes: np.ndarray) -> np.ndarray:
    """What more spikes than in meetings with few surely add to the times `left`, both [meeting] in s."""
    order, some = np.argsort(spikes, kind="stable"), len(spikes) // THIRD
    few, many = order[:some], order[-some:]
    more = spikes[many].mean() - spikes[few].mean() if some else 0.0
    if not more > 0:
        return np.zeros_like(left)
    (low, low_error), (high, high_error) = _median(left[few]), _median(left[many])
    surely = high - low - SURE * float(np.hypot(low_error, high_error))
    each = max(surely, 0.0) / more
    return np.clip(each * (spikes - spikes[few].mean()), 0.0, left)


def _median(values: np.ndarray) -> tuple[float, float]:
    """The median, and its standard error from the values that far from the middle of all."""
    n = len(values)
    below, middle, above = np.quantile(values, np.clip([0.5 - 0.5 / n**0.5, 0.5, 0.5 + 0.5 / n**0.5], 0, 1))
    return float(middle), float(above - below) / 2
