"""What measured times say of effects and costs: their most probable values, and the covariance.

A run takes as long as its parts, and a part p as long as its costs c:

    log T = log sum_p exp(sum_e act[p, e] x[e] + expected[p]) sum_(c of p) count[c] exp(cost[c])

with effects x and log costs as unknowns. Measured log T have normal errors, and the unknowns normal
priors. Gauss-Newton: each step takes log T as linear around the present values and solves the
normal equations; it is halved until it gains enough of what it promises. At the mode, the inverse
of their matrix is the covariance (Laplace approximation).

A step solves linear equations in as many unknowns as there are effects and free costs: about 100,
for which some tenths of a millisecond are enough.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spikemark.core.errors import BadInput

Array = NDArray[np.float64]
MAX_STEPS = 500  #: where runs agree, about ten are enough
LARGEST_STEP = 0.7  #: of a logarithm in one step
SMALLEST_STEP = 1e-4  #: below which the search for the mode ends
#: Of what the slope promises, a step gains so much at least (Armijo's rule); one that ends beyond
#: the mode, as far away as before, gains nothing.
LEAST_GAIN = 0.25


@dataclass(frozen=True, eq=False)
class MeasuredTimes:
    """Measured runs of one program, and what their times are made of."""

    log_seconds: Array  #: per simulated second, [run]
    weights: Array  #: inverse variances of these, [run]
    counts: Array  #: how often each cost occurs per simulated second, [run, cost]
    of_part: NDArray[np.bool_]  #: which costs belong to a part, [part, cost]
    acting: Array  #: how much each effect acts on a part, [part, run, effect]
    expected: Array  #: what is known to come on top of the effects of a part, [part, run]
    in_seconds: NDArray[np.bool_]  #: whether the measured time holds a part, [part, run]

    def linearised(self, unknowns: Array) -> tuple[Array, Array]:
        """Log seconds of the model, [run], and their derivatives by the unknowns, [run, unknown].

        `unknowns`: effects, then log costs.

        Example:
            >>> times = MeasuredTimes(
            ...     log_seconds=np.log([6.0]),
            ...     weights=np.ones(1),
            ...     counts=np.array([[3.0, 1.0]]),
            ...     of_part=np.eye(2, dtype=bool),
            ...     acting=np.array([[[1.0]], [[0.0]]]),  # on the first part alone
            ...     expected=np.zeros((2, 1)),
            ...     in_seconds=np.ones((2, 1), dtype=bool),
            ... )
            >>> log_seconds, derivatives = times.linearised(np.zeros(3))
            >>> np.exp(log_seconds).round(1).tolist(), derivatives.tolist()
            ([4.0], [[0.75, 0.75, 0.25]])
        """
        cost_s, factor, part_s = self._parts(unknowns)
        total_s = part_s.sum(axis=0)
        share_of_part = (part_s / total_s)[:, :, np.newaxis]
        by_effect = (share_of_part * self.acting).sum(axis=0)
        factor_of_cost = factor[self.of_part.argmax(axis=0)].T  # [run, cost]
        by_cost = cost_s * factor_of_cost / total_s[:, np.newaxis]
        return np.log(total_s), np.hstack([by_effect, by_cost])

    def modelled(self, unknowns: Array) -> Array:
        """Log seconds of the model, [run]; `unknowns`: effects, then log costs.

        Example:
            >>> times = MeasuredTimes(
            ...     log_seconds=np.log([6.0]),
            ...     weights=np.ones(1),
            ...     counts=np.array([[3.0, 1.0]]),
            ...     of_part=np.eye(2, dtype=bool),
            ...     acting=np.array([[[1.0]], [[0.0]]]),
            ...     expected=np.zeros((2, 1)),
            ...     in_seconds=np.ones((2, 1), dtype=bool),
            ... )
            >>> np.exp(times.modelled(np.log([2.0, 1.0, 1.0]))).round(1).tolist()
            [7.0]
        """
        _, _, part_s = self._parts(unknowns)
        log_seconds: Array = np.log(part_s.sum(axis=0))
        return log_seconds

    def _parts(self, unknowns: Array) -> tuple[Array, Array, Array]:
        """Seconds of the costs, [run, cost], the factor of the effects of each part, and its
        seconds, [part, run].
        """
        number = self.acting.shape[2]
        effects, log_costs = unknowns[:number], unknowns[number:]
        cost_s = self.counts * np.exp(log_costs)
        factor = np.exp(self.acting @ effects + self.expected) * self.in_seconds
        return cost_s, factor, factor * (self.of_part @ cost_s.T)


@dataclass(frozen=True, eq=False)
class Prior:
    """Normal distributions of the unknowns before any run, independent of each other."""

    mean: Array  #: [unknown]
    sd: Array  #: [unknown]


class Posterior(NamedTuple):
    """The unknowns after all runs."""

    mode: Array  #: of all unknowns, [unknown]
    covariance: Array  #: of the free ones, [unknown, unknown]


def posterior(times: MeasuredTimes, prior: Prior, start: Array, free: int) -> Posterior:
    """The most probable unknowns, and their covariance there.

    Args:
        times: the measured runs.
        prior: of the unknowns.
        start: where the search begins, [unknown].
        free: so many unknowns are estimated, from the first; the others keep their start.

    Raises BadInput where MAX_STEPS were not enough: runs that contradict each other beyond all
    priors.

    Example:
        One effect with as wide a prior as the error of its only measurement: half way.

        >>> times = MeasuredTimes(
        ...     log_seconds=np.array([0.4]),
        ...     weights=np.ones(1),
        ...     counts=np.ones((1, 1)),
        ...     of_part=np.ones((1, 1), dtype=bool),
        ...     acting=np.ones((1, 1, 1)),
        ...     expected=np.zeros((1, 1)),
        ...     in_seconds=np.ones((1, 1), dtype=bool),
        ... )
        >>> found = posterior(times, Prior(np.zeros(2), np.ones(2)), start=np.zeros(2), free=1)
        >>> found.mode.round(6).tolist(), found.covariance.tolist()
        ([0.2, 0.0], [[0.5]])
    """
    unknowns = start.copy()
    precision = prior.sd**-2.0
    misfit = _misfit(times, prior, unknowns)
    for _ in range(MAX_STEPS):
        log_seconds, derivatives = times.linearised(unknowns)
        by_free = derivatives[:, :free]
        hessian = (by_free.T * times.weights) @ by_free + np.diag(precision[:free])
        from_runs = by_free.T @ (times.weights * (times.log_seconds - log_seconds))
        from_prior = (precision * (unknowns - prior.mean))[:free]
        uphill = from_runs - from_prior  # of the density, by the free unknowns
        step = np.linalg.solve(hessian, uphill)
        step *= min(1.0, LARGEST_STEP / max(abs(step).max(), 1e-9))
        moved = unknowns.copy()
        moved[:free] += step
        misfit_there = _misfit(times, prior, moved)
        while misfit - misfit_there < LEAST_GAIN * (uphill @ step):
            step /= 2
            moved[:free] = unknowns[:free] + step
            misfit_there = _misfit(times, prior, moved)
            if abs(step).max() < SMALLEST_STEP:
                break
        unknowns, misfit = moved, misfit_there
        if abs(step).max() < SMALLEST_STEP:
            break
    else:
        raise BadInput(
            f"measured runs: no most probable costs were found in {MAX_STEPS} steps; expected times"
            " that one set of costs can explain, so look for a wrong time or unit among them",
            field="anchor",
        )
    covariance = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
    return Posterior(unknowns, covariance)


def _misfit(times: MeasuredTimes, prior: Prior, unknowns: Array) -> float:
    """Minus the log of the posterior density, up to a constant: what the mode makes smallest."""
    of_runs = times.weights @ (times.log_seconds - times.modelled(unknowns)) ** 2
    of_prior = (((unknowns - prior.mean) / prior.sd) ** 2).sum()
    return float(of_runs + of_prior) / 2
