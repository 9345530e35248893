"""How compute times scatter on a machine: everything that uses a profile's `jitter` reads it here.

Kernel times of a profile are means over everything that was timed, interruptions included. So jitter scatters
times about the mean that kernel times give, and leaves the mean as it is: in each cycle, a rank whose mean is
m computes for m (1 + b) (1 + cv z) f / E[f], z being normal, autoregressive of first order from cycle to
cycle, and f the minor factor in a share of the cycles and 1 in the others; b is normal with the spread
between nodes and the same for all ranks of a node. `spikemark calibrate` reads cv, share and factor from runs
in the same sense (measuring/runs.py).
"""

from dataclasses import dataclass

import numpy as np

from spikemark.models.injected import Truth
from spikemark.models.serial import lumped_cv_ratio

from .values import Values

LEAST = 0.01  # the shortest correlation time in cycles, and the least mean time of a node over that of all


@dataclass(frozen=True)
class Jitter:
    """`cv` and `correlation_time` (integrated autocorrelation time, cycles) are those of ordinary cycles.

    `minor_share` of the cycles are `minor_factor` times as long. `node_spread`: SD of the nodes' mean times
    over their mean. `correlation`, where given, is that from one cycle to the next and takes the place of the
    correlation time.
    """

    cv: float
    correlation_time: float = 1.0
    minor_share: float = 0.0
    minor_factor: float = 1.0
    node_spread: float = 0.0
    correlation: float | None = None

    @classmethod
    def of(
        cls, values: Values, why: str, cv: float | None = None, correlation: float | None = None
    ) -> "Jitter":
        """The jitter of a profile; `cv` and `correlation` override it.

        Raises BadInput naming the value that is unknown, and `why` it is needed.
        """
        given = {"cv": cv, "correlation_time": None if correlation is None else 1.0}
        found = {
            name: values.need(f"jitter.{name}", why) if given.get(name) is None else given[name]
            for name in ("cv", "correlation_time", "minor_share", "minor_factor", "node_spread")
        }
        return cls(**found, correlation=correlation)

    @property
    def rho(self) -> float:
        """Correlation from one cycle to the next; that of a time below one cycle is negative.

        The integrated time of an autoregressive series of first order is (1 + rho) / (1 - rho).
        """
        if self.correlation is not None:
            return self.correlation
        time = max(self.correlation_time, LEAST)
        return (time - 1) / (time + 1)

    @property
    def mean(self) -> float:
        """E[f]: the mean of all cycles over that of the ordinary ones."""
        return 1 + self.minor_share * (self.minor_factor - 1)

    def lumped(self, window: int) -> float:
        """CV of the sum over a window of ordinary cycles."""
        return self.cv * lumped_cv_ratio(self.rho ** np.arange(window), window)

    def truth(self) -> Truth:
        """Times of a rank over their mean, that of its node apart."""
        return Truth(1 / self.mean, self.cv / self.mean, self.rho, 0.0, self.minor_share, self.minor_factor)

    def level(self, normal: np.ndarray) -> np.ndarray:
        """1 + b: mean times of nodes over the mean of all nodes, from standard normal numbers."""
        return np.maximum(1 + self.node_spread * normal, LEAST)
