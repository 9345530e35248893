"""Power spectrum of a population rate, and whether a rhythm stands out in it."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from spikemark.core.errors import BadInput

from .trains import Rate

#: The recording is cut into so many parts, and as many between them again; more give less noise, less detail.
PARTS = 4

#: Chance that the spectrum of independent spikes has a peak.
FALSE_ALARM = 0.01

LEAST_BINS = 16


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral density of a rate, without its mean."""

    frequencies_hz: np.ndarray  # [frequency], above 0
    density: np.ndarray  # [frequency], Hz^2 per Hz; its sum over frequencies is the variance of the rate
    peak_hz: float | None  # of the most prominent peak; None if nothing stands out of noise
    prominence: float | None  # density at the peak over that of the higher valley beside it


def spectrum(rate: Rate, parts: int = PARTS) -> Spectrum:
    """Welch's estimate (1967): mean over half-overlapping Hann windows, each a 1 / `parts` of the recording.

    A peak is reported if its prominence exceeds the highest over lowest density that noise of equal power at
    all frequencies shows with a probability of FALSE_ALARM. Raises BadInput for less than 16 bins per part.
    """
    length = len(rate.hz) // parts
    if length < LEAST_BINS:
        raise BadInput(
            f"spectrum: {len(rate.hz)} bins of {rate.bin_ms:g} ms; allowed are at least {parts * LEAST_BINS}"
        )
    from scipy.signal import welch

    frequencies, density = welch(rate.hz, 1e3 / rate.bin_ms, nperseg=length)
    frequencies, density = frequencies[1:], density[1:]
    peak, prominence = _peak(density, parts)
    return Spectrum(frequencies, density, None if peak is None else float(frequencies[peak]), prominence)


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
