"""Weights of ranks: what each rank of an unequal machine shall have of a network."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import placement_weights
from spikemark.records.record import Run

LIMITS = 1e-6, 1e6  # of a weight


def read(text: str, ranks: int) -> np.ndarray:
    """[ranks] weights. Raises BadInput for what is not a list such as 1x64,0.5x2, and for other numbers."""
    found = placement_weights.read(text, f"--weights={text}", LIMITS)
    if len(found) != ranks:
        raise BadInput(
            f"--weights={text}: {len(found)} weights for {ranks} ranks; allowed: {placement_weights.ALLOWED}"
        )
    return found


def of_run(run: Run, ranks: int) -> np.ndarray:
    """[ranks] the neurons that each rank of a run computes in a second: its neurons over its mean cycle.

    With these weights, ranks compute equally long if a rank's time is in proportion to its neurons.
    Raises BadInput for a run of other ranks, and for one with a rank that has no neurons.
    """
    if len(run.ranks) != ranks:
        raise BadInput(f"--weights-from={run.path}: a run of {len(run.ranks)} ranks; allowed: one of {ranks}")
    neurons = run.ranks["neurons"].to_numpy(dtype=float)
    for rank in np.flatnonzero(neurons == 0)[:1]:
        raise BadInput(f"--weights-from={run.path}: rank {rank} has no neurons, so its speed is unknown")
    return neurons / run.compute().mean(axis=1)


def capacity(weights: np.ndarray | None) -> np.ndarray | None:
    """[ranks] weights of mean 1; None for equal ones."""
    if weights is None or (weights == weights[0]).all():
        return None
    return weights / weights.mean()
