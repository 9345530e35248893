"""The published theory beside a run (Lober et al. 2026, eqs 2-12), and what says where it fails.

`iid` is what the theory predicts, `maxima` compares the slowest ranks with it, and `estimates` has
the parameters of the cycle times: how far they are from independent draws.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from spikemark.models import order_statistics, quantiles, serial
from spikemark.models.jitter_estimate import (
    Scattering,
    factor_limits,
    length_limits,
    of_ranks,
    scattering,
    share_limits,
)
from spikemark.models.statistics import lump
from spikemark.network.schedules import MeetingPlan
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.quotient import quotient

from .bootstrap import Draws, means
from .trace import CycleTrace

NO_THEORY = "the published theory has neither lags nor groups"
NOMINAL_SHARES = (0.5, 0.9, 0.95)
#: Parameters of jitter that `estimates` gives, as models/jitter.py calls them.
JITTER = (
    "common_share",
    "minor_share",
    "minor_factor",
    "spell_share",
    "spell_factor",
    "spell_cycles",
)


def iid(run: CycleTrace, plan: MeetingPlan) -> Quantity:
    """Waiting in s over the run if cycle times were independent draws from one normal distribution.

    In closed form (eqs 8-10), S/D sqrt(D) sigma x_M, with the cost of the meetings; nothing with a
    lag or groups, of which the theory says nothing.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.replay import Setting
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> iid(run, Setting.from_run(run).plan).unit
        's'
    """
    if not plan.lockstep:
        return missing(NO_THEORY, "s")
    return means(_variances_and_costs(run))(_iid_waiting(run, plan), "s")


def iid_without_interval(run: CycleTrace, plan: MeetingPlan) -> Quantity:
    """As `iid`; for means over many runs, since an interval takes a hundred times as long.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.replay import Setting
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> plan = Setting.from_run(run).plan
        >>> round(iid_without_interval(run, plan).value / iid(run, plan).value, 2)
        1.0
    """
    if not plan.lockstep:
        return missing(NO_THEORY, "s")
    seconds = float(_iid_waiting(run, plan)(_variances_and_costs(run).mean(axis=0)))
    return Quantity(max(seconds, 0.0), unit="s", kind="modelled")


def _variances_and_costs(run: CycleTrace) -> np.ndarray:
    """Variance between ranks of a cycle (s^2), and its share in the cost of a meeting (s).

    Returns:
        shape [cycle, 2].
    """
    mean = float(run.compute.mean(dtype=np.float64))
    n = run.compute.size
    squares = np.zeros(run.cycles)
    for times in run.compute:
        squares += (times - mean) ** 2
    variance = squares / run.ranks * n / (n - 1)
    cost = np.repeat(run.overhead / run.period, run.period)
    return np.stack([variance, cost], axis=1)


def _iid_waiting(run: CycleTrace, plan: MeetingPlan) -> Callable[[np.ndarray], np.ndarray]:
    """The function that maps means [..., (variance, cost)] to waiting in s over the run."""
    windows = run.cycles / plan.window
    x_m = order_statistics.expected_maximum(plan.ranks)

    def waiting(x: np.ndarray) -> np.ndarray:
        window_variance = plan.window * np.maximum(x[..., 0], 0)
        seconds: np.ndarray = windows * (x_m * window_variance**0.5 + x[..., 1])
        return seconds

    return waiting


@dataclass(frozen=True)
class ShareAboveQuantile:
    """Of the slowest rank's times, the share above the quantile that eq 12 names."""

    delay_ratio: int
    nominal: float  #: expected share
    measured: float  #: share


def maxima(run: CycleTrace, delay_ratio: int) -> list[ShareAboveQuantile]:
    """Eq 12 for single cycles and windows of D: P(maximum in the upper fraction p) = 1 - (1 - p)^M.

    p = 1 - (1 - s)^(1/M) for a nominal share s; quantiles are those of the measured times, pooled
    over ranks.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> first, *_ = maxima(run, delay_ratio=10)
        >>> first.delay_ratio, first.nominal, round(float(first.measured), 1)
        (1, 0.5, 0.5)
    """
    shares = []
    for window in dict.fromkeys((1, delay_ratio)):
        of_ranks_in_turn = partial(_lumped, run.compute, window)
        slowest = np.zeros(1)
        for times in of_ranks_in_turn():
            slowest = np.maximum(slowest, times)
        for nominal in NOMINAL_SHARES:
            quantile = quantiles.quantile(of_ranks_in_turn, (1 - nominal) ** (1 / run.ranks))
            measured = float((slowest >= quantile).mean())
            shares.append(ShareAboveQuantile(window, nominal, measured))
    return shares


def _lumped(compute: np.ndarray, window: int) -> Iterator[np.ndarray]:
    """Times [rank, cycle] of one rank after the other, each summed over windows."""
    for times in compute:
        yield lump(times, window)


@dataclass(frozen=True)
class Estimates:
    """The parameters of the cycle times of a run."""

    mean_s: Quantity
    own_sd_s: Quantity  #: SD of what differs between ranks from cycle to cycle
    rho_1: Quantity  #: its serial correlation from one cycle to the next
    correlation_time: float  #: of the same, in cycles
    common_share: Quantity  #: share of the variance of ordinary cycles that all ranks share
    minor_share: Quantity  #: share of the cycles that are long; missing where there are none
    minor_factor: Quantity  #: how many times as long as ordinary ones these are
    spell_share: Quantity  #: share of the cycles in slow spells; missing where there are none
    spell_factor: Quantity  #: how many times as long as others these are
    spell_cycles: Quantity  #: mean length of a slow spell, cycles
    effects_s: list[Quantity]  #: lasting differences of ranks from the mean, [rank]


def estimates(run: CycleTrace) -> Estimates:
    """The parameters of the cycle times of a run.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> [*vars(estimates(run))][:3]
        ['mean_s', 'own_sd_s', 'rho_1']
    """
    shared = np.zeros(run.cycles)
    for times in run.compute:
        shared += times
    shared /= run.ranks
    means_of_ranks = np.array([times.astype(np.float64).mean() for times in run.compute])
    mean = means_of_ranks.mean()
    effects = means_of_ranks - mean

    def fluctuations(rank: int) -> np.ndarray:
        return np.asarray(run.compute[rank] - shared - effects[rank])

    squares = np.zeros(run.cycles)
    neighbours = np.zeros(run.cycles - 1)
    for own in map(fluctuations, range(run.ranks)):
        squares += own**2
        neighbours += own[1:] * own[:-1]
    squares /= run.ranks - 1
    # The last cycle has no next one: the mean in its place keeps the mean of all.
    products = np.append(neighbours / (run.ranks - 1), 0.0)
    products[-1] = products[:-1].mean()
    draws = means(np.stack([shared, squares, products], axis=1))
    rho = missing("the times do not vary", mark="none found")
    correlation_time = 1.0
    is_idle = bool(run.compute.min() <= 0)
    reason = "a rank computes nothing in some cycles" if is_idle else "the times do not vary"
    jitter = {name: missing(reason, mark="none found") for name in JITTER}
    rounding = 8 * float(np.finfo(np.float32).eps) * mean
    if squares.mean() > rounding**2:
        rho = draws(_correlation, kind="measured", least=-1.0)
        autocorrelation = serial.autocorrelation_of_ranks(map(fluctuations, range(run.ranks)))
        correlation_time = max(serial.integrated_time(autocorrelation), 1.0)
        if not is_idle:
            jitter = _jitter(scattering(run.compute, run.window_cycles))
    return Estimates(
        mean_s=draws(lambda x: np.asarray(x[..., 0]), "s", "measured"),
        own_sd_s=draws(lambda x: np.maximum(x[..., 1], 0) ** 0.5, "s", "measured"),
        rho_1=rho,
        correlation_time=correlation_time,
        effects_s=_effects(means(run.compute.T), run.ranks),
        **jitter,
    )


def _correlation(x: np.ndarray) -> np.ndarray:
    """Product of neighbours over the square, of means [..., (shared, squares, products)]; 0 in a
    draw of cycles that do not vary.
    """
    products, squares = x[..., 2], np.asarray(x[..., 1])
    return np.asarray(np.clip(quotient(products, squares, otherwise=0.0), -1, 1))


def _jitter(scatter: Scattering) -> dict[str, Quantity]:
    """The parameters of JITTER that are in the times, by name; the others are missing."""
    ranks, cycles = scatter.long.shape
    none = missing("none in these times", mark="none found")
    quantities = dict.fromkeys(JITTER, none)
    total = np.zeros(cycles)
    of_ranks_alone = np.zeros(cycles)
    for ordinary in map(scatter.ordinary, range(ranks)):
        deviation = ordinary - ordinary.mean()
        total += deviation
        of_ranks_alone += deviation**2
    squares = np.stack([(total / ranks) ** 2, of_ranks_alone / ranks], axis=1)

    def common_share(x: np.ndarray) -> np.ndarray:
        of_squares = quotient(x[..., 0], np.asarray(x[..., 1]), otherwise=0.0)
        return np.asarray(np.clip(of_ranks(of_squares, ranks), 0, 1))

    quantities["common_share"] = means(squares)(common_share, kind="measured")
    if scatter.long.any():
        time_of_ordinary = np.zeros(cycles)
        time_of_long = np.zeros(cycles)
        for rank, long in enumerate(scatter.long):
            levelled = scatter.levelled(rank)
            time_of_ordinary += levelled * ~long
            time_of_long += levelled * long
        number_of_long = scatter.long.sum(axis=0)
        columns = [ranks - number_of_long, time_of_ordinary, number_of_long, time_of_long]
        draws = means(np.stack(columns, axis=1))
        quantities["minor_share"] = draws(lambda x: np.asarray(x[..., 2] / ranks), kind="measured")
        quantities["minor_factor"] = draws(
            _mean_over_first,
            kind="measured",
            least=1.0,
        )
    if scatter.spells:
        jitter = scatter.jitter
        limits = {
            "spell_share": share_limits(jitter.spell_share, scatter.spells),
            "spell_factor": factor_limits(scatter),
            "spell_cycles": length_limits(jitter.spell_cycles, scatter.ended),
        }
        for name, (low, high) in limits.items():
            unit = "cycles" if name == "spell_cycles" else ""
            quantities[name] = Quantity(getattr(jitter, name), low, high, unit, "measured")
    return quantities


def _mean_over_first(x: np.ndarray) -> np.ndarray:
    """Of means [..., (count, time) of ordinary and of long cycles]."""
    first = x[..., 1] / x[..., 0]
    return np.asarray(x[..., 3] / np.maximum(x[..., 2], 1e-12) / first)


def _effects(draws: Draws, ranks: int) -> list[Quantity]:
    """Lasting differences of ranks from the mean, [rank]; `draws`: of the mean of each rank."""

    def effect(rank: int) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: np.asarray(x[..., rank] - x.mean(axis=-1))

    return [draws(effect(rank), "s", "measured", -np.inf) for rank in range(ranks)]
