"""The activity of a network: rates, irregularity, synchrony, spectrum, up and down states of recorded spikes.

recording = activity.of(run)                       # a run with record.spikes
activity.rates_hz(recording)                       # {population: Hz}
rate = activity.population_rate(recording, 5.0)    # Hz over time, all neurons together
activity.spectrum(rate).peak_hz, activity.up_down_states(rate).frequency_hz
"""

from spikemark.records.recording import Population, Recording, by_area, by_population, of, rates_hz, recording

from .spectrum import Spectrum, spectrum
from .states import UpDown, up_down_states
from .trains import Irregularity, Rate, fano_factors, isi_cv, population_rate

__all__ = [
    "Irregularity",
    "Population",
    "Rate",
    "Recording",
    "Spectrum",
    "UpDown",
    "by_area",
    "by_population",
    "fano_factors",
    "isi_cv",
    "of",
    "population_rate",
    "rates_hz",
    "recording",
    "spectrum",
    "up_down_states",
]
