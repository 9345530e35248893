"""`correlated`: unequal ranks whose times drift, distributed as measured.

Where all ranks meet and leave together, waiting is E[max] of independent times a_m + e_m, by quadrature,
minus their mean. The variance of sums over D cycles is that of the measured sums, which is
D sigma_e^2 (1 + 2 sum_{k<D} (1 - k/D) rho_k). Else the process is drawn and goes through the plan: the e_m
that were measured, each begun at a random cycle, plus a_m. That keeps their autocorrelation and distribution,
modes and phases too, and makes ranks independent.

Other numbers of ranks: further ranks are each like any of the fitted ones; fewer are a random choice of them.
"""

import numpy as np

from spikemark.waiting import series
from spikemark.waiting.components import Components
from spikemark.waiting.distribution import Distribution, Slowest
from spikemark.waiting.meeting import waits
from spikemark.waiting.plan import Plan
from spikemark.waiting.predictor import Expected, Predictor
from spikemark.waiting.source import Source

SEED, MOST_VALUES, MOST_RUNS = 1, 1_000_000, 8
LEAST = 1e-4


class Correlated(Predictor):
    """Persistent rank effects, a common mode, and drift with the measured autocorrelation."""

    name = "correlated"
    summary = "unequal ranks, drift, measured distribution; ranks independent of each other"

    def __init__(self, fitted: Source):
        super().__init__(fitted)
        self.cycles = Components(fitted.compute)

    def expected(self, plan: Plan) -> Expected:
        """Waiting over the run by quadrature or drawn, plus what the meetings cost."""
        parts = self.cycles if plan.step == 1 else Components(self.source.steps(plan))
        overhead = self.source.overhead(plan)
        windows = self.source.cycles / plan.window
        if not parts.varies or plan.ranks == 1:
            cost = series.mean(overhead)
            return Expected(cost.value * windows, cost.error * windows, cost.degrees)
        if plan.lockstep:
            value, influence, other = _slowest(parts, plan.ranks)
            known = series.mean(influence + overhead)
            spread = (parts.ranks / (parts.ranks - 1)) ** 0.5  # known from M - 1 deviations, not M
            error = float(np.hypot(spread * known.error, other))
            return Expected((value + float(overhead.mean())) * windows, error * windows, known.degrees)
        found = waits(_draws(parts, plan), plan, self.source.exchange_s)
        # the run as measured tells how well one run knows the expectation, the others the expectation
        course = series.mean(found.series[0] + overhead)
        totals = found.series[1:].sum(axis=1) + found.drain[1:] + overhead.sum()
        drawing = totals.std(ddof=1) / len(totals) ** 0.5 if len(totals) > 1 else 0.0
        whole = windows / self.source.windows(plan)
        errors = [course.error * windows, drawing * whole, found.drain_error[0]]
        return Expected(float(totals.mean()) * whole, float(np.linalg.norm(errors)), course.degrees)


def _distribution(parts: Components) -> Distribution:
    residuals = [parts.residual(rank) for rank in range(parts.ranks)]
    lowest = min(float(x.min()) for x in residuals)
    highest = max(float(x.max()) for x in residuals)
    sd = max(parts.own**0.5, LEAST * parts.across**0.5)  # also where ranks differ but never change
    return Distribution.of(residuals, sd, lowest, highest)


def _slowest(parts: Components, ranks: int) -> tuple[float, np.ndarray, float]:
    """E[max] - mean of a window; how each window moves it, [window], of mean about 0; all in s.

    The latter is the projection of the maximum on single ranks (Hajek): sum over ranks of E[max given y_m].
    The third is the standard error from not knowing further ranks, 0 where there are none.
    """
    effects = parts.rank_effects
    slowest = Slowest.of(_distribution(parts), effects, ranks)
    value = slowest.expected()
    step = slowest.grid[1] - slowest.grid[0]
    influence, by_rank = np.zeros(parts.steps), np.zeros(parts.ranks)
    for rank in range(parts.ranks):
        table = ranks / parts.ranks * (slowest.given(rank) - value)
        place = (parts.residual(rank) + (effects[rank] - slowest.grid[0])) / step
        moved = table[np.clip(place, 0, len(table) - 1).astype(np.int32)]
        influence += moved
        by_rank[rank] = moved.mean()
    other = float(by_rank.std(ddof=1) * parts.ranks**0.5) if ranks > parts.ranks else 0.0
    return value, influence - (parts.step_means - parts.mean - parts.common_course), other


def _draws(parts: Components, plan: Plan) -> np.ndarray:
    """Runs of the fitted process, [run, rank, step]: mean + a_m + e_m, the first with the e_m as measured.

    In the others each e_m begins at a random cycle, so that ranks are independent but keep their own course.
    What all share stays: nobody waits for it, but with a lag it matters how long a window lasts.
    """
    rng, ranks = np.random.default_rng(SEED), plan.ranks
    order = np.argsort(parts.rank_means) if plan.step == plan.window else np.arange(parts.ranks)
    runs = 1 + int(np.clip(MOST_VALUES // (ranks * parts.steps), 1, MOST_RUNS))
    residuals = [parts.residual(rank) for rank in range(parts.ranks)]
    found = np.empty((runs, ranks, parts.steps), dtype=parts.times.dtype)
    for run in range(runs):
        chosen = order[_chosen(rng, parts.ranks, ranks)]
        for place, rank in enumerate(chosen):
            moved = 0 if run == 0 and place < parts.ranks else rng.integers(parts.steps)
            found[run, place] = parts.rank_effects[rank] + np.roll(residuals[rank], moved)
    found += (parts.mean + parts.common_course).astype(found.dtype)
    return found


def _chosen(rng: np.random.Generator, fitted: int, ranks: int) -> np.ndarray:
    """As many ranks as wanted: a random choice, or all and further ones like them."""
    if ranks < fitted:
        return np.sort(rng.choice(fitted, ranks, replace=False))
    return np.concatenate([np.arange(fitted), rng.integers(fitted, size=ranks - fitted)])
