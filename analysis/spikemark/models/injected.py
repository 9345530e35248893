"""Compute times as the mini-app injects them: unequal ranks, serial correlation, a second mode."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

MANY_SERIES = 64  #: from which on a loop over steps is quicker than a solver


def ar1(correlation: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw normal autoregressive series of first order, of mean 0 and variance 1.

    x_k = rho x_{k-1} + sqrt(1 - rho^2) e_k, with independent standard normal e_k.

    Args:
        correlation: between neighbours, rho.
        shape: of the result; series run along its last axis.
        rng: source of random numbers.

    Example:
        >>> ar1(0.5, (2, 100), np.random.default_rng(1)).shape
        (2, 100)
    """
    return autoregressive(correlation, rng.standard_normal(shape))


def autoregressive(correlation: float | np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The autoregressive series that follow from standard normal numbers, [..., step].

    `correlation` may be different for each series. In memory, the same step of all series lies
    together.

    Example:
        >>> autoregressive(0.6, np.array([1.0, 0.0, 1.0])).round(2).tolist()
        [1.0, 0.6, 1.16]
    """
    by_step = np.moveaxis(noise, -1, 0)
    steps = np.empty(by_step.shape)  # [step, ...]
    steps[0] = by_step[0]
    np.multiply(by_step[1:], np.sqrt(1 - np.square(correlation)), out=steps[1:])
    if np.ndim(correlation) or steps[0].size >= MANY_SERIES:
        of_series = np.ascontiguousarray(np.broadcast_to(correlation, steps[0].shape))
        for before, after in itertools.pairwise(steps):
            after += of_series * before
        return np.moveaxis(steps, 0, -1)
    from scipy.linalg import solve_banded  # takes 1/15 of the time to import of scipy.signal

    bands = np.array([np.ones(len(steps)), np.full(len(steps), -correlation)])
    series = solve_banded((1, 0), bands, steps.reshape(len(steps), -1))
    return np.moveaxis(series.reshape(steps.shape), 0, -1)


@dataclass(frozen=True)
class Truth:
    """Compute times as the mini-app injects them (field `inject` of a run description).

    Normal about the rank's own mean, autoregressive of first order from cycle to cycle, some cycles
    `minor_factor` times as long, and not below 0.

    Example:
        >>> truth = Truth(mean_s=1e-3, sd_s=0.0)
        >>> truth.draw(np.random.default_rng(1), ranks=1, cycles=3)
        array([[0.001, 0.001, 0.001]])
    """

    mean_s: float  #: mean over ranks and cycles, s
    sd_s: float  #: standard deviation of the cycles of a rank, s
    correlation: float = 0.0  #: of successive cycles of a rank
    rank_sd_s: float = 0.0  #: standard deviation of the means of ranks, s
    minor_share: float = 0.0  #: probability of a longer cycle
    minor_factor: float = 1.0  #: how many times as long such a cycle is

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Truth":
        """What a run description injects; zero times if it has no field `inject`."""
        inject = description.get("inject") or {}
        minor_mode = inject.get("minor_mode") or {}
        return cls(
            mean_s=1e-6 * inject.get("mean_us", 0),
            sd_s=1e-6 * inject.get("sd_us", 0),
            correlation=inject.get("correlation", 0.0),
            rank_sd_s=1e-6 * inject.get("rank_sd_us", 0),
            minor_share=minor_mode.get("share", 0.0),
            minor_factor=minor_mode.get("factor", 1.0),
        )

    def draw(
        self, rng: np.random.Generator, ranks: int, cycles: int, runs: int | None = None
    ) -> np.ndarray:
        """Draw compute times in s, shape [rank, cycle], or [run, rank, cycle] for several runs."""
        shape = (ranks, cycles) if runs is None else (runs, ranks, cycles)
        deviation = ar1(self.correlation, shape, rng)
        means = self.mean_s + self.rank_sd_s * rng.standard_normal((*shape[:-1], 1))
        times = means + self.sd_s * deviation
        if self.minor_share > 0:
            times[rng.random(shape) < self.minor_share] *= self.minor_factor
        return np.maximum(times, 0.0)
