"""How long spike delivery takes: t = n_first t_first + n_synapses t_next + n_spikes t_spike.

A thread goes through n_spikes arrived spikes, enters n_first lists that hold a synapse of its own,
and visits n_synapses synapses, including the first of each list (an extension of Lober et al. 2026,
section 2.3). The three times are fitted by non-negative least squares of relative errors, so that
short deliveries count as much as long ones. Spikes whose list is empty on the thread separate
t_spike from t_first; without such spikes only their sum can be known, and it is given as t_first.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from spikemark.core.errors import BadInput

#: Share of spikes without a list below which t_spike and t_first cannot be separated.
MIN_SHARE_WITHOUT_LIST = 1e-3


@dataclass(frozen=True)
class DeliveryTimes:
    """The three times of the model, in s."""

    first: float  #: t_first, to enter a list of synapses
    next: float  #: t_next, to visit a synapse
    spike: float | None  #: t_spike, to look at a spike; None where it is part of `first`

    def predict(self, counts: np.ndarray) -> np.ndarray:
        """Time of delivery.

        Args:
            counts: shape [point, 3], the columns being n_first, n_synapses and n_spikes.

        Returns:
            Seconds, shape [point].

        Example:
            >>> DeliveryTimes(first=1e-7, next=1e-9, spike=None).predict([[10, 1000, 10]])
            array([2.e-06])
        """
        return np.asarray(counts, dtype=float) @ [self.first, self.next, self.spike or 0.0]


def fit(counts: np.ndarray, seconds: np.ndarray) -> DeliveryTimes:
    """Fit the three times to measured deliveries.

    Args:
        counts: shape [point, 3], the columns being n_first, n_synapses and n_spikes.
        seconds: measured times in s, shape [point].

    Raises:
        BadInput: for times that are not positive, and if all lists have one length.

    Example:
        >>> counts = np.array([[10, 10, 10], [10, 1000, 10]])
        >>> times = fit(counts, np.array([1.01e-6, 2.0e-6]))
        >>> f"{times.first:.1e} {times.next:.1e} {times.spike}"
        '1.0e-07 1.0e-09 None'
    """
    counts = np.asarray(counts, dtype=float)
    seconds = np.asarray(seconds, dtype=float)
    if not len(seconds) or not (seconds > 0).all():
        raise BadInput(
            f"seconds={seconds.tolist()}: a fit of delivery needs times above 0", field="seconds"
        )
    n_first, n_spikes = counts[:, 0], counts[:, 2]
    separable = bool((n_spikes > (1 + MIN_SHARE_WITHOUT_LIST) * n_first).any())
    columns = counts if separable else counts[:, :2]
    relative = columns / seconds[:, None]
    scale = relative.max(axis=0)
    if (scale <= 0).any() or _rank(relative / scale) < columns.shape[1]:
        raise BadInput(
            "list lengths: all alike; a fit of delivery needs runs with short lists and with long"
            " ones",
            field="list lengths",
        )
    solution, _ = optimize.nnls(relative / scale, np.ones(len(seconds)))
    times = [float(time) for time in solution / scale]
    return DeliveryTimes(times[0], times[1], times[2] if separable else None)


def _rank(matrix: np.ndarray) -> int:
    """Rank of a matrix, up to relative errors of 1e-6."""
    return int(np.linalg.matrix_rank(matrix, tol=1e-6))
