"""The activity of a network: rates, irregularity, spectrum, up and down states of recorded spikes.

recording = activity.recording_of(run)             # a run with record.spikes
activity.rates_hz(recording)                       # {population: Hz}
rate = activity.population_rate(recording, 5.0)    # Hz over time, all neurons together
activity.spectrum(rate).peak_hz, activity.up_down_states(rate).frequency_hz

Everywhere, `groups` (label -> names of populations) defaults to every population on its own.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.ndimage import gaussian_filter1d

from spikemark.core.errors import BadInput
from spikemark.records.recording import (
    Groups,
    Recording,
    by_area,
    by_population,
    members,
    rates_hz,
    recording,
    recording_of,
)

__all__ = [
    "Recording",
    "by_area",
    "by_population",
    "isi_cv",
    "population_rate",
    "rates_hz",
    "recording",
    "recording_of",
    "up_down_states",
]

#: A neuron with fewer intervals has no coefficient of variation.
LEAST_INTERVALS = 3


@dataclass(frozen=True)
class Irregularity:
    """Coefficient of variation of inter-spike intervals: 0 for clocks, 1 for Poisson processes."""

    cv: float | None  # mean over the neurons that count; None where none does
    neurons: int  # with at least LEAST_INTERVALS intervals


@dataclass(frozen=True)
class Rate:
    """Firing rate over time, mean over neurons."""

    hz: np.ndarray  # float64 [bin]
    bin_ms: float
    neurons: int


def isi_cv(recording: Recording, groups: Groups | None = None) -> dict[str, Irregularity]:
    """SD over mean of the inter-spike intervals of a neuron, averaged over the neurons of each
    group.

    SD with n in the denominator. Neurons with fewer than three intervals do not count. The ends of
    the recording cut off long intervals, so with few intervals per neuron a Poisson process is
    below 1.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.records.recording import recording
        >>> spikes = np.array([[0, 1000], [0, 1010], [0, 1020], [0, 1030]], dtype=np.uint32)
        >>> isi_cv(recording(mam_benchmark.describe(areas=1), spikes))  # one neuron fires regularly
        {'area0': Irregularity(cv=0.0, neurons=1)}
    """
    groups = by_population(recording) if groups is None else groups
    order = np.argsort(recording.gids, kind="stable")  # spikes are sorted by time
    gids = recording.gids[order].astype(np.int64)
    same = np.diff(gids) == 0
    intervals = np.diff(recording.steps_since_start[order])[same].astype(np.float64)
    owner = gids[1:][same]

    neurons = sum(p.size for p in recording.populations)
    number = np.bincount(owner, minlength=neurons)
    mean = np.bincount(owner, intervals, neurons) / np.maximum(number, 1)
    squares = np.bincount(owner, (intervals - mean[owner]) ** 2, neurons)
    variance = squares / np.maximum(number, 1)
    enough = (number >= LEAST_INTERVALS) & (mean > 0)
    cv = np.sqrt(variance[enough]) / mean[enough]

    # the group of a neuron is that of a spike it might fire
    everyone = Recording(
        np.column_stack([np.arange(neurons), np.zeros(neurons)]).astype(np.uint32),
        recording.populations,
        recording.resolution_ms,
        0,
        1,
    )
    group = everyone.groups_of_spikes(groups)[enough]
    size = members(group, len(groups))
    total = np.bincount(group[group >= 0], cv[group >= 0], len(groups))
    return {
        label: Irregularity(float(total[i] / size[i]) if size[i] else None, int(size[i]))
        for i, label in enumerate(groups)
    }


def population_rate(recording: Recording, bin_ms: float, names: list[str] | None = None) -> Rate:
    """Mean rate over time of the named populations (default: all). A last bin that is cut off is
    left out.

    Raises BadInput for an unknown name, a bin that is no multiple of the resolution or longer than
    the run.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.records.recording import recording
        >>> spikes = np.array([[0, 1000], [1, 1005], [2, 1010]], dtype=np.uint32)  # (gid, step)
        >>> network = mam_benchmark.describe(areas=1)
        >>> bool(population_rate(recording(network, spikes), bin_ms=1.0).hz.max() > 0)
        True
    """
    names = [p.name for p in recording.populations] if names is None else names
    groups = {"all": names}
    counts = _binned(recording, groups, bin_ms)[0]
    neurons = int(recording.sizes(groups)[0])
    if not neurons:
        raise BadInput(field="population_rate", reason="the populations hold no neurons")
    return Rate(counts / neurons / (1e-3 * bin_ms), bin_ms, neurons)


def _binned(recording: Recording, groups: Groups, bin_ms: float) -> np.ndarray:
    """Spikes [group, bin]."""
    width = round(bin_ms / recording.resolution_ms)
    if width < 1 or abs(width * recording.resolution_ms - bin_ms) > 1e-6 * bin_ms:
        expected = f"a multiple of {recording.resolution_ms}, the resolution"
        raise BadInput(field="bin_ms", value=bin_ms, expected=expected)
    bins = recording.steps // width
    if bins < 1:
        expected = f"at most {1e3 * recording.seconds:g}, the time recorded"
        raise BadInput(field="bin_ms", value=bin_ms, expected=expected, code="range")
    at, group = recording.steps_since_start // width, recording.groups_of_spikes(groups)
    inside = (group >= 0) & (at < bins)
    flat = np.bincount(group[inside] * bins + at[inside], minlength=len(groups) * bins)
    return flat.reshape(len(groups), bins)


#: The recording is cut into so many parts, and as many between them again; more give less noise,
#: less detail.
PARTS = 4

#: Chance that the spectrum of independent spikes has a peak.
FALSE_ALARM = 0.01

LEAST_BINS = 16


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral density of a rate, without its mean."""

    frequencies_hz: np.ndarray  # [frequency], above 0
    density: (
        np.ndarray
    )  # [frequency], Hz^2 per Hz; its sum over frequencies is the variance of the rate
    peak_hz: float | None  # of the most prominent peak; None if nothing stands out of noise
    prominence: float | None  # density at the peak over that of the higher valley beside it


def spectrum(rate: Rate, parts: int = PARTS) -> Spectrum:
    """Welch's estimate (1967): mean over half-overlapping Hann windows, each a 1 / `parts` of the
    recording.

    A peak is reported if its prominence exceeds the highest over lowest density that noise of equal
    power at all frequencies shows with a probability of FALSE_ALARM. Raises BadInput for less than
    16 bins per part.

    Example:
        >>> ms = np.arange(4096)
        >>> hz = 8 + 2 * np.sin(2 * np.pi * 0.040 * ms)  # a gamma rhythm of 40 Hz
        >>> round(spectrum(Rate(hz, bin_ms=1.0, neurons=1000)).peak_hz)
        40
    """
    length = len(rate.hz) // parts
    if length < LEAST_BINS:
        reason = f"{len(rate.hz)} bins of {rate.bin_ms:g} ms"
        expected = f"at least {parts * LEAST_BINS}"
        raise BadInput(field="spectrum", reason=reason, expected=expected)
    from scipy.signal import welch

    frequencies, density = welch(rate.hz, 1e3 / rate.bin_ms, nperseg=length)
    frequencies, density = frequencies[1:], density[1:]
    peak, prominence = _peak(density, parts)
    return Spectrum(
        frequencies, density, None if peak is None else float(frequencies[peak]), prominence
    )


def _peak(density: np.ndarray, parts: int) -> tuple[int | None, float | None]:
    from scipy.signal import find_peaks

    if not density.min() > 0:
        return None, None
    peaks, properties = find_peaks(np.log(density), prominence=0)
    if not len(peaks):
        return None, None
    best = int(np.argmax(properties["prominences"]))
    prominence = float(np.exp(properties["prominences"][best]))
    windows = 2 * parts - 1  # that overlap by half
    freedom = 36 * windows**2 / (19 * windows - 1)  # Percival & Walden 1993, section 6.17
    tail = FALSE_ALARM / 2 / len(density)
    limit = special.chdtri(freedom, tail) / special.chdtri(freedom, 1 - tail)
    return (int(peaks[best]), prominence) if prominence > limit else (None, None)


#: SD of the Gaussian that smooths the rate first, ms.
SMOOTH_MS = 20.0

#: Least share of the variance between the two states; one mode has 2/3 or less, equal spread 0.75.
LEAST_BIMODALITY = 0.75

#: Largest rate in down states over that in up states.
MOST_DOWN_OVER_UP = 0.5

#: Half the distance between the two thresholds, over the distance between the mean rates of the
#: states.
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

    The threshold that splits the smoothed rate into two classes of the greatest variance between
    them (Otsu 1979) is spread by a hysteresis, so that noise at the threshold makes no states.
    There is an alternation if the classes hold LEAST_BIMODALITY of the variance, the lower one
    fires at most half as much, and at least two up states begin and end within the recording.

    Example:
        >>> second = np.repeat([0.1, 5.0], 500)  # half a second down, half a second up, spikes/s
        >>> states = up_down_states(Rate(np.tile(second, 6), bin_ms=1.0, neurons=1000))
        >>> round(states.frequency_hz, 2)
        1.0
    """
    smooth = gaussian_filter1d(np.asarray(rate.hz, dtype=np.float64), smooth_ms / rate.bin_ms)
    if np.ptp(smooth) <= 1e-9 * np.abs(smooth).max():
        return _none("the rate does not vary")
    threshold, bimodality = _split(smooth)
    up, down = smooth[smooth > threshold].mean(), smooth[smooth <= threshold].mean()
    shape = {"bimodality": bimodality, "down_over_up": float(down / up)}
    if bimodality < LEAST_BIMODALITY:
        return _none(
            f"one mode: two states hold {bimodality:.2f} of the variance of the rate,"
            f" less than {LEAST_BIMODALITY:g}",
            **shape,
        )
    if down > MOST_DOWN_OVER_UP * up:
        return _none(
            f"shallow: the lower state fires {down / up:.2f} times as much as the upper,"
            f" more than {MOST_DOWN_OVER_UP:g}",
            **shape,
        )
    width = HYSTERESIS * (up - down)
    ups = rate.bin_ms * _excursions(smooth, threshold - width, threshold + width)
    if len(ups) < 2:
        return _none(f"{len(ups)} whole up states; an alternation has at least 2", **shape)
    frequency = 1e3 * (len(ups) - 1) / (ups[-1, 0] - ups[0, 0])
    return UpDown(
        float(frequency),
        None,
        **shape,
        ups_ms=ups,
        up_ms=ups[:, 1] - ups[:, 0],
        down_ms=ups[1:, 0] - ups[:-1, 1],
    )


def _none(
    reason: str, bimodality: float | None = None, down_over_up: float | None = None
) -> UpDown:
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
