"""What a conventional run says about its cycle times: parameters of `components`, with intervals.

Every interval is that of the mean of one series (`series`): for a parameter that is not a mean, the series
says how much each cycle moves the estimate.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.models.modes import modes
from spikemark.quantities.quantity import LEVEL, Quantity, missing, student, with_half

from . import series
from .components import Components

NONE = "none found"
FEWEST_INDEPENDENT = 100  # fewer times wander so slowly that they imitate modes
MOST_SEARCHED = 1_000_000  # times of all ranks in which modes are searched


@dataclass(frozen=True)
class Estimates:
    """Parameters of cycle times.

    `rho_1` is missing if the times do not vary, and the minor mode if they have only one mode.
    """

    mean_s: Quantity
    own_sd_s: Quantity  # of e
    common_sd_s: Quantity  # of g
    rank_effects_s: list[Quantity]  # a_m
    rho_1: Quantity  # autocorrelation of e from one cycle to the next
    correlation_time: float  # integrated autocorrelation time of e, cycles
    minor_share: Quantity
    minor_factor: Quantity  # mean time of the minor mode over that of the major one


def estimates(parts: Components, level: float = LEVEL) -> Estimates:
    """The parameters of the components of single cycles, with intervals of the given level."""
    own = series.mean(parts.step_variances)
    error, degrees = parts.rank_mean_known
    half = student(degrees, level) * error
    share, factor = _modes(parts, level)
    return Estimates(
        mean_s=_estimate(series.mean(parts.step_means), level, "s"),
        own_sd_s=_root(parts.own, own, level),
        common_sd_s=_root(parts.shared.value, parts.shared, level),
        rank_effects_s=[with_half(float(a), float(half), "s", "measured") for a in parts.rank_effects],
        rho_1=_rho_1(parts, level),
        correlation_time=parts.correlation_time,
        minor_share=share,
        minor_factor=factor,
    )


def _estimate(known: series.Mean, level: float, unit: str = "", value: float | None = None) -> Quantity:
    half = student(known.degrees, level) * known.error
    return with_half(known.value if value is None else value, half, unit, "measured")


def _root(variance: float, known: series.Mean, level: float) -> Quantity:
    """Standard deviation in s from a variance that is known as well as `known`."""
    found = _estimate(known, level, value=variance)
    return Quantity(*(max(x, 0.0) ** 0.5 for x in (found.value, found.low, found.high)), "s", "measured")


def _rho_1(parts: Components, level: float) -> Quantity:
    if not parts.fluctuates:
        return missing("the times do not vary", mark=NONE)
    lost = parts.rank_mean_known[0] ** 2  # what the deviations from estimated means lack, at every lag
    zero, one = parts.autocovariance[:2] + lost
    rho = float(one / zero)
    moved = np.zeros(parts.steps - 1)
    for times, mean in zip(parts.times, parts.rank_means, strict=True):
        own = times - parts.step_means - (mean - parts.mean)
        moved += own[:-1] * own[1:] - rho * own[:-1] ** 2
    known = series.mean(moved / ((parts.ranks - 1) * zero))
    return _estimate(known, level, value=rho)


def _modes(parts: Components, level: float) -> tuple[Quantity, Quantity]:
    """Share of the minor mode, and its mean time over that of the major one."""

    def times(rank: int) -> np.ndarray:
        return parts.times[rank] - parts.common_course - parts.rank_effects[rank]

    every = max(1, parts.times.size // MOST_SEARCHED)
    searched = np.stack([times(rank)[::every] for rank in range(parts.ranks)])
    enough = parts.fluctuates and parts.times.size > FEWEST_INDEPENDENT * parts.correlation_time
    found = modes(searched) if enough else []
    if len(found) < 2:
        none = missing("the times have one mode", mark=NONE)
        return none, none
    sums = np.zeros(
        (2, 2, parts.steps)
    )  # of the major and of the minor mode: how many ranks, and their times
    for rank in range(parts.ranks):
        course = times(rank)
        for mode, of in zip(found, sums, strict=False):
            held = mode.holds(course)
            of += held, held * course
    numbers, totals = sums[:, 0], sums[:, 1]
    shares, means = numbers.mean(axis=1) / parts.ranks, totals.sum(axis=1) / numbers.sum(axis=1)
    factor = float(means[1] / means[0])
    beyond = (
        (totals - means[:, None] * numbers) / parts.ranks / shares[:, None]
    )  # how a cycle moves each mean
    moved = (beyond[1] - factor * beyond[0]) / means[0]
    return (
        _estimate(series.mean(numbers[1] / parts.ranks), level),
        _estimate(series.mean(moved), level, value=factor),
    )
