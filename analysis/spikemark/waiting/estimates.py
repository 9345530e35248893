"""What a conventional run says about its cycle times: parameters of `components` and `modes`, with intervals.

Every interval is that of the mean of one series (`series`): for a parameter that is no mean, the series is by
how much each cycle moves the estimate.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.models.latency_bandwidth import Estimate

from . import modes, series
from .components import Components
from .modes import Modes


@dataclass(frozen=True)
class Estimates:
    """Times in s. `rho_1` and the modes are None where the times do not vary, or have one mode."""

    mean_s: Estimate
    own_sd_s: Estimate  # of e
    common_sd_s: Estimate  # of g
    rank_effects_s: list[Estimate]  # a_m
    rho_1: Estimate | None  # autocorrelation of e from one cycle to the next
    correlation_time: float  # integrated autocorrelation time of e, cycles
    minor_share: Estimate | None
    minor_factor: Estimate | None  # mean time of the minor mode over that of the major one


def estimates(parts: Components, level: float = series.LEVEL) -> Estimates:
    """From the components of single cycles; intervals of the given level."""
    own = series.mean(parts.step_variances)
    error, degrees = parts.rank_mean_known
    half = series.quantile(degrees, level) * error
    share, factor = _modes(parts, level)
    return Estimates(
        mean_s=_estimate(series.mean(parts.step_means), level),
        own_sd_s=_root(parts.own, own, level),
        common_sd_s=_root(parts.shared.value, parts.shared, level),
        rank_effects_s=[Estimate(float(a), float(a - half), float(a + half)) for a in parts.rank_effects],
        rho_1=_rho_1(parts, level) if parts.fluctuates else None,
        correlation_time=parts.correlation_time,
        minor_share=share,
        minor_factor=factor,
    )


def _estimate(known: series.Mean, level: float, value: float | None = None) -> Estimate:
    half = series.quantile(known.degrees, level) * known.error
    value = known.value if value is None else value
    return Estimate(value, value - half, value + half)


def _root(variance: float, known: series.Mean, level: float) -> Estimate:
    """Standard deviation from a variance that is known as well as `known`."""
    found = _estimate(known, level, variance)
    return Estimate(*(max(x, 0.0) ** 0.5 for x in (found.value, found.low, found.high)))


def _rho_1(parts: Components, level: float) -> Estimate:
    lost = parts.rank_mean_known[0] ** 2  # what the deviations from estimated means lack, at every lag
    zero, one = parts.autocovariance[:2] + lost
    rho = float(one / zero)
    moved = np.zeros(parts.steps - 1)
    for times, mean in zip(parts.times, parts.rank_means, strict=True):
        own = times - parts.step_means - (mean - parts.mean)
        moved += own[:-1] * own[1:] - rho * own[:-1] ** 2
    known = series.mean(moved / ((parts.ranks - 1) * zero))
    return _estimate(known, level, rho)


def _modes(parts: Components, level: float) -> tuple[Estimate | None, Estimate | None]:
    def times(rank: int) -> np.ndarray:
        return parts.times[rank] - parts.common_course - parts.rank_effects[rank]

    if not parts.fluctuates:
        return None, None
    bins = modes.histogram([times(rank) for rank in range(parts.ranks)])
    found = modes.find(*bins, parts.times.size / parts.correlation_time)
    if found is None:
        return None, None
    minor, moved = np.zeros(parts.steps), np.zeros(parts.steps)
    for rank in range(parts.ranks):
        course = times(rank)
        probability = found.minor(course)
        minor += probability / parts.ranks
        moved += _moved_factor(found, course, probability) / parts.ranks
    return _estimate(series.mean(minor), level, found.share), _estimate(
        series.mean(moved), level, found.factor
    )


def _moved_factor(found: Modes, times: np.ndarray, minor: np.ndarray) -> np.ndarray:
    major_mean, minor_mean = found.means
    return minor * (times - minor_mean) / (found.share * major_mean) - found.factor * (1 - minor) * (
        times - major_mean
    ) / ((1 - found.share) * major_mean)
