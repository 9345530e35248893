"""The published theory beside a run (Lober et al. 2026, eqs 2-12), and what says where it fails."""

from dataclasses import dataclass

import numpy as np

from spikemark.models import order_statistics, serial
from spikemark.models.modes import modes
from spikemark.models.statistics import lump
from spikemark.network.schedules import Plan
from spikemark.quantities.quantity import Quantity, missing

from .bootstrap import means
from .trace import Trace

NOMINAL = (0.5, 0.9, 0.95)
MOST_SEARCHED = 1_000_000


def iid(run: Trace, plan: Plan) -> Quantity:
    """Waiting in s over the run if cycle times were independent draws from one normal distribution.

    In closed form (eqs 8-10), S/D sqrt(D) sigma x_M, with the cost of the meetings; nothing with a lag or
    groups, of which the theory says nothing.
    """
    if not plan.lockstep:
        return missing("the published theory has neither lags nor groups", "s")
    windows = run.cycles / plan.window
    x_m = order_statistics.expected_maximum(plan.ranks)
    middle, n = float(run.compute.mean(dtype=np.float64)), run.compute.size
    squares = ((run.compute - middle) ** 2).mean(axis=0, dtype=np.float64) * n / (n - 1)
    cost = np.repeat(run.overhead / run.period, run.period)  # per cycle
    draws = means(np.stack([squares, cost], axis=1))
    return draws(lambda x: windows * (x_m * (plan.window * np.maximum(x[..., 0], 0)) ** 0.5 + x[..., 1]), "s")


@dataclass(frozen=True)
class Share:
    """Of the slowest rank's times, the share above the quantile that eq 12 names; `nominal` is expected."""

    delay_ratio: int
    nominal: float
    found: float


def maxima(run: Trace, delay_ratio: int) -> list[Share]:
    """Eq 12 for single cycles and windows of D: P(maximum in the upper fraction p) = 1 - (1 - p)^M.

    p = 1 - (1 - s)^(1/M) for a nominal share s; quantiles are those of the measured times, pooled over ranks.
    """
    found = []
    for d in dict.fromkeys((1, delay_ratio)):
        times = lump(run.compute, d)
        highest = times.max(axis=0)
        for s in NOMINAL:
            low = np.quantile(times, (1 - s) ** (1 / run.ranks))
            found.append(Share(d, s, float((highest >= low).mean())))
    return found


@dataclass(frozen=True)
class Estimates:
    """Cycle times: mean, SD of what differs between ranks from cycle to cycle, and its serial correlation.

    `correlation_time` in cycles. `minor_*`: the second mode, its share of the times and its mean over that of
    the first; missing where there is one mode. `effects_s` [rank]: lasting differences from the mean.
    """

    mean_s: Quantity
    own_sd_s: Quantity
    rho_1: Quantity
    correlation_time: float
    minor_share: Quantity
    minor_factor: Quantity
    effects_s: list[Quantity]


def estimates(run: Trace) -> Estimates:
    """The parameters of the cycle times of a run."""
    c = run.compute.astype(np.float64)
    shared, effects = c.mean(axis=0), c.mean(axis=1) - c.mean()
    own = c - shared - effects[:, None]
    squares = (own**2).sum(axis=0) / (run.ranks - 1)
    products = np.append((own[:, 1:] * own[:, :-1]).sum(axis=0) / (run.ranks - 1), 0.0)
    products[-1] = products[:-1].mean()
    draws, rows = means(np.stack([shared, squares, products], axis=1)), means(c.T)
    rho, time = missing("the times do not vary", mark="none found"), 1.0
    share = factor = missing("the times have one mode", mark="none found")
    if squares.mean() > (8 * float(np.finfo(np.float32).eps) * c.mean()) ** 2:  # they vary
        rho = draws(lambda x: np.clip(x[..., 2] / x[..., 1], -1, 1), kind="measured", least=-1.0)
        time = max(serial.integrated_time(serial.pooled_autocorrelation(own)), 1.0)
        level = c - effects[:, None]
        found = modes(level[:, :: max(1, level.size // MOST_SEARCHED)])
        if len(found) > 1:
            held = [one.holds(level) for one in found[:2]]
            columns = [x for one in held for x in (one.sum(axis=0), (c * one).sum(axis=0))]
            kept = means(np.stack(columns, axis=1))
            share = kept(lambda x: x[..., 2] / run.ranks, kind="measured")
            factor = kept(lambda x: x[..., 3] / x[..., 2] / (x[..., 1] / x[..., 0]), kind="measured")
    return Estimates(
        draws(lambda x: x[..., 0], "s", "measured"),
        draws(lambda x: np.maximum(x[..., 1], 0) ** 0.5, "s", "measured"), rho, time, share, factor,
        [rows(lambda x, m=m: x[..., m] - x.mean(axis=-1), "s", "measured", -np.inf) for m in range(len(c))],
    )  # fmt: skip
