"""How long delivery takes: t = n_first t_first + n_synapses t_next + n_spikes t_spike.

A thread goes through n_spikes arrived spikes, enters n_first lists that hold a synapse of its own, and visits
n_synapses synapses, including the first of each list (an extension of Lober et al. 2026, section 2.3). The
three times are fitted by non-negative least squares of relative errors, so that short deliveries count as
much as long ones. Spikes whose list is empty on the thread separate t_spike from t_first; without such spikes
only their sum can be known, and it is given as t_first.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from spikemark.core.errors import BadInput

SAME = 1e-3  # share of spikes without a list below which t_spike and t_first cannot be separated


@dataclass(frozen=True)
class Times:
    """The three times in s; `spike` is None where it is part of `first`."""

    first: float
    next: float
    spike: float | None

    def predict(self, counts: np.ndarray) -> np.ndarray:
        """Time in s for `counts` [point, (n_first, n_synapses, n_spikes)]."""
        return np.asarray(counts, dtype=float) @ [self.first, self.next, self.spike or 0.0]


def fit(counts: np.ndarray, seconds: np.ndarray) -> Times:
    """The times that fit points best: `counts` [point, (n_first, n_synapses, n_spikes)], `seconds` [point].

    Raises BadInput for times that are not positive, and if all lists have one length.
    """
    counts, seconds = np.asarray(counts, dtype=float), np.asarray(seconds, dtype=float)
    if not len(seconds) or not (seconds > 0).all():
        raise BadInput(f"seconds={seconds.tolist()}: a fit of delivery needs times above 0")
    apart = bool((counts[:, 2] > (1 + SAME) * counts[:, 0]).any())
    used = counts[:, : 3 if apart else 2]
    relative = used / seconds[:, None]
    scale = relative.max(axis=0)
    if (scale <= 0).any() or np.linalg.matrix_rank(relative / scale, tol=1e-6) < used.shape[1]:
        raise BadInput(
            "list lengths: all alike; a fit of delivery needs runs with short lists and with long ones"
        )
    found = optimize.nnls(relative / scale, np.ones(len(seconds)))[0] / scale
    return Times(float(found[0]), float(found[1]), float(found[2]) if apart else None)
