"""Rates, irregularity and synchrony of spike trains, by groups of populations.

Everywhere, `groups` (label -> names of populations) defaults to every population on its own.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.records.recording import Groups, Recording, by_population, members

#: A neuron with fewer intervals has no coefficient of variation.
LEAST_INTERVALS = 3

#: Bins of the spike count whose variance over mean is the synchrony (Potjans & Diesmann 2014), ms.
SYNCHRONY_BIN_MS = 3.0


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
    """SD over mean of the inter-spike intervals of a neuron, averaged over the neurons of each group.

    SD with n in the denominator. Neurons with fewer than three intervals do not count. The ends of the
    recording cut off long intervals, so with few intervals per neuron a Poisson process is below 1.
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
    variance = np.bincount(owner, (intervals - mean[owner]) ** 2, neurons) / np.maximum(number, 1)
    enough = (number >= LEAST_INTERVALS) & (mean > 0)
    cv = np.sqrt(variance[enough]) / mean[enough]

    # the group of a neuron is that of a spike it might fire
    everyone = Recording(
        np.column_stack([np.arange(neurons), np.zeros(neurons)]).astype(np.uint32),
        recording.populations, recording.resolution_ms, 0, 1,
    )  # fmt: skip
    group = everyone.groups_of_spikes(groups)[enough]
    size = members(group, len(groups))
    total = np.bincount(group[group >= 0], cv[group >= 0], len(groups))
    return {
        label: Irregularity(float(total[i] / size[i]) if size[i] else None, int(size[i]))
        for i, label in enumerate(groups)
    }


def population_rate(recording: Recording, bin_ms: float, names: list[str] | None = None) -> Rate:
    """Mean rate over time of the named populations (default: all). A last bin that is cut off is left out.

    Raises BadInput for an unknown name, a bin that is no multiple of the resolution or longer than the run.
    """
    names = [p.name for p in recording.populations] if names is None else names
    groups = {"all": names}
    counts = _binned(recording, groups, bin_ms)[0]
    neurons = int(recording.sizes(groups)[0])
    if not neurons:
        raise BadInput("population_rate: the populations hold no neurons")
    return Rate(counts / neurons / (1e-3 * bin_ms), bin_ms, neurons)


def fano_factors(
    recording: Recording, groups: Groups | None = None, bin_ms: float = SYNCHRONY_BIN_MS
) -> dict[str, float | None]:
    """Variance over mean of the spike count of each group in bins, 1 for independent Poisson processes.

    The synchrony of Potjans & Diesmann 2014; it grows with the number of neurons where they are correlated.
    None for a group without spikes. Raises BadInput as population_rate.
    """
    groups = by_population(recording) if groups is None else groups
    counts = _binned(recording, groups, bin_ms)
    return {
        label: float(row.var() / row.mean()) if row.any() else None
        for label, row in zip(groups, counts, strict=True)
    }


def _binned(recording: Recording, groups: Groups, bin_ms: float) -> np.ndarray:
    """Spikes [group, bin]."""
    width = round(bin_ms / recording.resolution_ms)
    if width < 1 or abs(width * recording.resolution_ms - bin_ms) > 1e-6 * bin_ms:
        raise BadInput(f"bin_ms={bin_ms}: allowed is a multiple of {recording.resolution_ms}, the resolution")
    bins = recording.steps // width
    if bins < 1:
        raise BadInput(f"bin_ms={bin_ms}: allowed is at most {1e3 * recording.seconds:g}, the time recorded")
    at, group = recording.steps_since_start // width, recording.groups_of_spikes(groups)
    inside = (group >= 0) & (at < bins)
    flat = np.bincount(group[inside] * bins + at[inside], minlength=len(groups) * bins)
    return flat.reshape(len(groups), bins)
