"""Compute times as the mini-app injects them: unequal ranks, serial correlation, a second mode."""

from dataclasses import dataclass
from typing import Any

import numpy as np


def ar1(correlation: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Normal autoregressive series of first order along the last axis, of mean 0 and variance 1."""
    from scipy.linalg import solve_banded  # a fifteenth of the time that scipy.signal takes to import

    noise = rng.standard_normal(shape)
    noise[..., 1:] *= np.sqrt(1 - correlation**2)
    bands = np.array([np.ones(shape[-1]), np.full(shape[-1], -correlation)])
    return solve_banded((1, 0), bands, noise.reshape(-1, shape[-1]).T).T.reshape(shape)


@dataclass(frozen=True)
class Truth:
    """Compute times as the mini-app injects them (field `inject` of a run description), in seconds.

    Normal about the rank's own mean, autoregressive of first order from cycle to cycle, with probability
    `minor_share` `minor_factor` times as long, and not below 0.
    """

    mean_s: float
    sd_s: float
    correlation: float = 0.0
    rank_sd_s: float = 0.0
    minor_share: float = 0.0
    minor_factor: float = 1.0

    @classmethod
    def of(cls, description: dict[str, Any]) -> "Truth":
        """What a run description injects; nothing if it has no field `inject`."""
        given = description.get("inject") or {}
        minor = given.get("minor_mode") or {}
        return cls(
            mean_s=1e-6 * given.get("mean_us", 0),
            sd_s=1e-6 * given.get("sd_us", 0),
            correlation=given.get("correlation", 0.0),
            rank_sd_s=1e-6 * given.get("rank_sd_us", 0),
            minor_share=minor.get("share", 0.0),
            minor_factor=minor.get("factor", 1.0),
        )

    def draw(self, rng: np.random.Generator, ranks: int, cycles: int, runs: int | None = None) -> np.ndarray:
        """Compute times [rank, cycle], or [run, rank, cycle] for a number of `runs`."""
        shape = (ranks, cycles) if runs is None else (runs, ranks, cycles)
        deviation = ar1(self.correlation, shape, rng)
        means = self.mean_s + self.rank_sd_s * rng.standard_normal((*shape[:-1], 1))
        times = means + self.sd_s * deviation
        if self.minor_share > 0:
            times[rng.random(shape) < self.minor_share] *= self.minor_factor
        return np.maximum(times, 0.0)
