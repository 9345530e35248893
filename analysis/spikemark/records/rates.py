"""Firing rates of a run, where its description does not state them."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import placement

from . import recording
from .record import Run


def rates_hz(run: Run) -> dict[str, float] | None:
    """The mean rate of each population as counted, Hz; None where the description states all rates.

    Rates are counted from the spikes where they were recorded, else from ranks.csv if no rank holds two
    populations. Raises BadInput saying what is missing if neither is possible.
    """
    populations = run.record.described.network.populations
    if all(p.neuron.rate_hz is not None for p in populations):
        return None
    if run.spikes is not None:
        return {p.name: 0.0 for p in populations} | recording.rates_hz(recording.of(run))
    held = placement.neurons(
        run.record.described, run.record.described.placement, run.record.ranks, run.record.threads
    ).sum(axis=2)
    if (np.count_nonzero(held, axis=0) > 1).any() or run.ranks["spikes"].isna().any():
        raise BadInput("rates of the neurons are not known: run again with record.spikes=true")
    fired = (held > 0) @ run.ranks["spikes"].to_numpy(np.int64)  # [population]
    seconds = np.maximum(held.sum(axis=1), 1) * run.record.timing.model_s
    return {p.name: float(rate) for p, rate in zip(populations, fired / seconds, strict=True)}
