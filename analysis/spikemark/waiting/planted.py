"""Processes of cycle times whose waiting is known, because it can be simulated for as long as wanted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from spikemark.models import recursion, serial
from spikemark.models.injected import ar1
from spikemark.models.statistics import lump
from spikemark.network.meetings import Plan

MEAN_S, SD_S = 50e-6, 5e-6
RANKS = 8
RANK_EFFECTS_S = SD_S * np.array([-1.3, -0.8, -0.4, -0.1, 0.2, 0.5, 0.8, 1.1])

Draw = Callable[[np.random.Generator, int, int], np.ndarray]  # of runs, cycles -> [run, rank, cycle] in s


@dataclass(frozen=True)
class Planted:
    """A process, and the number of cycles of a run; strong correlation needs more cycles."""

    name: str
    draw: Draw
    cycles: int = 4000


def normal(correlation: float) -> Draw:
    """Equal ranks with normal times."""
    return lambda rng, runs, cycles: MEAN_S + SD_S * ar1(correlation, (runs, RANKS, cycles), rng)


def unequal(correlation: float) -> Draw:
    """The process `normal` with the same persistent rank effects in every run."""
    return lambda *asked: normal(correlation)(*asked) + RANK_EFFECTS_S[:, None]


def minor_mode(correlation: float, share: float, factor: float) -> Draw:
    """The process `normal`, but a cycle takes `factor` times as long with a probability of `share`."""

    def draw(rng: np.random.Generator, runs: int, cycles: int) -> np.ndarray:
        times = normal(correlation)(rng, runs, cycles)
        times[rng.random(times.shape) < share] *= factor
        return times

    return draw


def slow_phases(share: float, factor: float, length: float, sd_s: float = SD_S) -> Draw:
    """Slow cycles as in `minor_mode`, in phases of `length` cycles on average; the SD of jitter is `sd_s`."""

    def draw(rng: np.random.Generator, runs: int, cycles: int) -> np.ndarray:
        times = MEAN_S + sd_s * rng.standard_normal((runs, RANKS, cycles))
        slow = rng.random((runs, RANKS)) < share
        leave, enter = 1 / length, share / (1 - share) / length
        for cycle in range(cycles):
            times[:, :, cycle] *= np.where(slow, factor, 1.0)
            slow ^= rng.random(slow.shape) < np.where(slow, leave, enter)
        return times

    return draw


def common_mode(correlation: float) -> Draw:
    """The process `normal` with a drift twice as large that all ranks share."""

    def draw(rng: np.random.Generator, runs: int, cycles: int) -> np.ndarray:
        shared = 2 * SD_S * ar1(correlation, (runs, 1, cycles), rng)
        return np.maximum(normal(correlation)(rng, runs, cycles) + shared, 0.0)

    return draw


def stalls(rng: np.random.Generator, runs: int, cycles: int) -> np.ndarray:
    """Normal times without correlation on a machine that stands still for 20 cycles once in 2000."""
    alike = normal(0.0)(rng, runs, cycles)
    return alike + 20 * MEAN_S * (rng.random((runs, 1, cycles)) < 1 / 2000)


def heavy_tails(rng: np.random.Generator, runs: int, cycles: int) -> np.ndarray:
    """Independent log-normal times above a floor."""
    return 0.8 * MEAN_S + SD_S * rng.lognormal(0.3, 0.8, (runs, RANKS, cycles))


def unequal_ranks(effects: np.ndarray, correlation: float, rng: np.random.Generator, cycles: int):
    """Normal times [rank, cycle] in s of ranks with `effects` in s."""
    return MEAN_S + SD_S * ar1(correlation, (len(effects), cycles), rng) + effects[:, None]


def expected_waiting_of_ranks_s(effects: np.ndarray, correlation: float, window: int) -> float:
    """Waiting of `unequal_ranks` that all meet after one window, mean over ranks, by quadrature."""
    rho = correlation ** np.arange(window + 1)
    sd = SD_S * window * serial.lumped_cv_ratio(rho, window)
    means = window * (effects - effects.mean())
    grid = np.linspace(means.min() - 9 * sd, means.max() + 9 * sd, 3000)
    below = np.exp(special.log_ndtr((grid - means[:, None]) / sd).sum(axis=0))
    return float(grid[-1] - np.trapezoid(below, grid))


def frequent_phases(share: float) -> Draw:
    """Phases that are few in a run and stand out from the jitter, so that only their number is uncertain."""
    return slow_phases(share, 1.2, 200, 0.01 * MEAN_S)


PLANTED = [
    Planted("equal ranks, AR(1) 0", normal(0.0)),
    Planted("equal ranks, AR(1) 0.5", normal(0.5)),
    Planted("equal ranks, AR(1) 0.8", normal(0.8)),
    Planted("equal ranks, AR(1) 0.9", normal(0.9)),
    Planted("equal ranks, AR(1) 0.99", normal(0.99), 12_000),
    Planted("unequal ranks, AR(1) 0.5", unequal(0.5)),
    Planted("unequal ranks, AR(1) 0.9", unequal(0.9)),
    Planted("2 % of cycles twice as long, AR(1) 0", minor_mode(0.0, 0.02, 2.0)),
    Planted("2 % of cycles twice as long, AR(1) 0.8", minor_mode(0.8, 0.02, 2.0)),
    Planted("phases of 200 cycles 20 % longer, 10 % of the time", slow_phases(0.1, 1.2, 200), 12_000),
    Planted("phases of 200 cycles 20 % longer, 20 % of the time, jitter 1 %", frequent_phases(0.2), 12_000),
    Planted("phases of 200 cycles 20 % longer, half the time, jitter 1 %", frequent_phases(0.5), 12_000),
    Planted("shared drift, AR(1) 0.9", common_mode(0.9)),
    Planted("stalls of all ranks for 20 cycles, once in 2000", stalls),
    Planted("heavy tails (log-normal)", heavy_tails),
]


def expected_waiting_s(planted: Planted, plans: list[Plan], runs: int, seed: int = 0) -> list[float]:
    """Waiting in s over a run for each plan, by the recursion of lanes; mean over ranks and simulated runs.

    The cycles of a run must be whole windows.
    """
    rng = np.random.default_rng(seed)
    totals = np.zeros(len(plans))
    at_once = max(1, 2_000_000 // (RANKS * planted.cycles))
    batches = -(-runs // at_once)
    for _ in range(batches):
        times = planted.draw(rng, at_once, planted.cycles)
        for i, plan in enumerate(plans):
            lumped = lump(times, plan.window)
            if plan.lag:
                totals[i] += (
                    recursion.evaluate(lumped, [recursion.Lane(1, plan.lag)]).waiting_s.sum(-1).mean()
                )
            else:  # eqs 3-5
                totals[i] += (lumped.max(axis=1) - lumped.mean(axis=1)).sum(axis=-1).mean()
    return list(totals / batches)
