"""Up and down states: a population that alternates between firing and near silence, as in slow waves."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .trains import Rate

#: SD of the Gaussian that smooths the rate first, ms.
SMOOTH_MS = 20.0

#: Least share of the variance between the two states; one mode has 2/3 or less, equal spread 0.75.
LEAST_BIMODALITY = 0.75

#: Largest rate in down states over that in up states.
MOST_DOWN_OVER_UP = 0.5

#: Half the distance between the two thresholds, over the distance between the mean rates of the states.
HYSTERESIS = 0.15


@dataclass(frozen=True)
class UpDown:
    """The alternation of two states, or the `reason` why there is none.

    Times count from the start of the recording.
    """

    frequency_hz: float | None  # of the starts of up states; None with a reason
    reason: str | None
    bimodality: float | None  # share of the smoothed variance between the states; None: it is 0
    down_over_up: float | None  # mean rates of the two states
    ups_ms: np.ndarray  # [up state, (start, end)] that began and ended within the recording
    up_ms: np.ndarray  # [up state], durations
    down_ms: np.ndarray  # [down state], durations between two of them


NONE = np.empty(0)


def up_down_states(rate: Rate, smooth_ms: float = SMOOTH_MS) -> UpDown:
    """Up and down states by two thresholds on the smoothed rate.

    The threshold that splits the smoothed rate into two classes of the greatest variance between them (Otsu
    1979) is spread by a hysteresis, so that noise at the threshold makes no states. There is an alternation
    if the classes hold LEAST_BIMODALITY of the variance, the lower one fires at most half as much, and at
    least two up states begin and end within the recording.
    """
    smooth = gaussian_filter1d(np.asarray(rate.hz, dtype=np.float64), smooth_ms / rate.bin_ms)
    if np.ptp(smooth) <= 1e-9 * np.abs(smooth).max():
        return _none("the rate does not vary")
    threshold, bimodality = _split(smooth)
    up, down = smooth[smooth > threshold].mean(), smooth[smooth <= threshold].mean()
    found = {"bimodality": bimodality, "down_over_up": float(down / up)}
    if bimodality < LEAST_BIMODALITY:
        return _none(
            f"one mode: two states hold {bimodality:.2f} of the variance of the rate,"
            f" less than {LEAST_BIMODALITY:g}", **found
        )  # fmt: skip
    if down > MOST_DOWN_OVER_UP * up:
        return _none(
            f"shallow: the lower state fires {down / up:.2f} times as much as the upper,"
            f" more than {MOST_DOWN_OVER_UP:g}", **found
        )  # fmt: skip
    width = HYSTERESIS * (up - down)
    ups = rate.bin_ms * _excursions(smooth, threshold - width, threshold + width)
    if len(ups) < 2:
        return _none(f"{len(ups)} whole up states; an alternation has at least 2", **found)
    frequency = 1e3 * (len(ups) - 1) / (ups[-1, 0] - ups[0, 0])
    return UpDown(
        float(frequency), None, **found, ups_ms=ups, up_ms=ups[:, 1] - ups[:, 0],
        down_ms=ups[1:, 0] - ups[:-1, 1],
    )  # fmt: skip


def _none(reason: str, bimodality: float | None = None, down_over_up: float | None = None) -> UpDown:
    return UpDown(None, reason, bimodality, down_over_up, NONE.reshape(0, 2), NONE, NONE)


def _split(values: np.ndarray) -> tuple[float, float]:
    """Otsu's threshold and the share of the variance that lies between the two classes."""
    ordered = np.sort(values)
    n = len(ordered)
    below = np.arange(1, n)
    sums = np.cumsum(ordered)
    lower, upper = sums[:-1] / below, (sums[-1] - sums[:-1]) / (n - below)
    between = below * (n - below) / n**2 * (upper - lower) ** 2
    at = int(np.argmax(between))
    return float(ordered[at : at + 2].mean()), float(between[at] / ordered.var())


def _excursions(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """[excursion, (start, end)] in bins: from above `high` to below `low`, whole ones only."""
    mark = np.where(values > high, 1, np.where(values < low, -1, 0))
    set_at = np.flatnonzero(mark)
    state = mark[set_at]
    change = np.flatnonzero(np.diff(state)) + 1
    starts = set_at[change[state[change] == 1]]
    ends = set_at[change[state[change] == -1]]
    ends = ends[ends > starts[0]] if len(starts) else ends[:0]
    return np.column_stack([starts[: len(ends)], ends]).astype(np.float64)
