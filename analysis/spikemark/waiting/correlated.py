"""`correlated`: unequal ranks whose times drift and are distributed as measured.

Where all ranks meet and leave together, waiting is E[max] of independent times a_m + e_m, by quadrature,
minus their mean. The variance of sums over D cycles is that of the measured sums, which is D sigma_e^2 (1 + 2
sum_{k<D} (1 - k/D) rho_k). Else the process is drawn and goes through the plan: the e_m that were measured,
each begun at a random cycle, plus a_m. That keeps their autocorrelation and distribution, including modes and
phases, and makes ranks independent.

Other numbers of ranks: fewer are a random choice of the fitted ones; further ones have effects
of their own and an e like that of fitted ranks (`further`).
"""

from collections.abc import Iterator

import numpy as np

from spikemark.network.meetings import Plan

from . import further, series
from .components import Components
from .distribution import Distribution, Slowest
from .further import Cast
from .predictor import Expected, Predictor
from .source import Source

SEED, MOST_VALUES, MOST_RUNS = 1, 1_000_000, 8
LEAST = 1e-4
NUDGE = 1.02  # by which residuals are stretched to see the effect


class Correlated(Predictor):
    """Persistent rank effects, a common mode, and drift with the measured autocorrelation."""

    name = "correlated"
    summary = "unequal ranks, drift, distribution as in the run; ranks independent of each other"

    def __init__(self, fitted: Source):
        super().__init__(fitted)
        self.cycles = Components(fitted.compute)

    def expected(self, plan: Plan) -> Expected:
        """Waiting over the run, by quadrature or from draws, plus what the meetings cost."""
        parts = self.cycles if plan.step == 1 else Components(self.source.steps(plan))
        overhead = self.source.overhead(plan)
        windows = self.source.cycles / plan.window
        if not parts.varies or plan.ranks == 1:
            cost = series.mean(overhead)
            return Expected.of(cost.value * windows, cost, windows)
        if plan.lockstep:
            return self._together(parts, overhead, plan)
        if plan.ranks > parts.ranks:
            return self.of_sets(self._sets(parts, plan), overhead, plan)
        found = self.waits(_draws(parts, plan), plan)
        # the measured run shows how well one run knows the expectation; the others give the expectation
        first = found.series[0].ravel()
        course = series.mean(first + overhead[: len(first)])
        runs = self.source.cycles / self.source.length(plan)
        per = self.source.length(plan) // plan.window
        totals = found.per_window(per)[1:].mean(axis=1) * windows + found.drain[1:].mean(axis=1) * runs
        drawing = totals.std(ddof=1) / len(totals) ** 0.5 if len(totals) > 1 else 0.0
        more = [drawing, runs * found.drain_error[0].mean() / found.drain.shape[1] ** 0.5]
        return Expected.of(float(totals.mean() + overhead.mean() * windows), course, windows, more)

    def _together(self, parts: Components, overhead: np.ndarray, plan: Plan) -> Expected:
        """Waiting where all ranks meet and leave together, by quadrature."""
        own, effects = _distributions(parts), [parts.rank_effects]
        if plan.ranks > parts.ranks:
            casts = self.further.casts(plan.ranks, parts.own**0.5 / plan.step)
            effects = [np.append(parts.rank_effects, plan.step * cast.effects) for cast in casts]
            own += [_pooled(parts)] * (plan.ranks - parts.ranks)
        slowest = Slowest.of(own, effects[0], plan.ranks)
        waiting = [slowest.expected(), *(Slowest.of(own, a, plan.ranks).expected() for a in effects[1:])]
        cost = overhead - overhead.mean()

        def weighted(weights: np.ndarray) -> tuple[float, np.ndarray]:
            others = _distributions(parts, weights) + own[parts.ranks :]
            value, influence = _moved(parts, others, effects[0], plan, weights)
            return value + float(np.average(cost, weights=weights)), influence + cost

        _, influence = _moved(parts, own, effects[0], plan, np.ones(parts.steps))
        known = series.mean(influence + overhead, weighted)
        windows = self.source.cycles / plan.window
        mean = [a.mean() for a in effects]
        value, others = further.middle((np.subtract(waiting, mean) + overhead.mean()) * windows)
        spread = (parts.ranks / (parts.ranks - 1)) ** 0.5  # what pairs of ranks add beyond the influence
        return Expected.of(value, known, spread * windows, others_s=others)

    def _sets(self, parts: Components, plan: Plan) -> Iterator[np.ndarray]:
        """Batches [set, rank, step] of drawn runs, each with other further ranks."""
        residuals = [parts.residual(rank) for rank in range(parts.ranks)]
        casts = self.further.casts(plan.ranks, parts.own**0.5 / plan.step)
        for some in further.batches(plan.ranks * parts.steps):
            yield np.stack([_drawn(parts, residuals, plan, casts[draw], draw) for draw in some])


def _distributions(parts: Components, weights: np.ndarray | None = None) -> list[Distribution]:
    """Distributions of the residuals, one for each rank; the weights of windows, if given, have mean 1."""
    bins = _bins(parts)
    found = [Distribution.of(parts.residual(rank), *bins, weights) for rank in range(parts.ranks)]
    if weights is None or not parts.fluctuates:
        return found
    v, q = parts.own_variances, parts.own_squares
    scale = float((weights @ v / (weights @ q)) ** 0.5) / parts.scale
    return [one.stretched(a, scale) for one, a in zip(found, _rest(parts, found), strict=True)]


def _rest(parts: Components, own: list[Distribution]) -> np.ndarray:
    """Means of the residuals; those of ranks that were not measured are 0."""
    return np.append(
        (1 - parts.shrinkage) * (parts.rank_means - parts.mean), np.zeros(len(own) - parts.ranks)
    )


def _pooled(parts: Components) -> Distribution:
    """The distribution of the residuals of all ranks."""
    return Distribution.of(np.concatenate([parts.residual(m) for m in range(parts.ranks)]), *_bins(parts))


def _bins(parts: Components) -> tuple[float, float, float]:
    """A spread, which is above 0 even if ranks never change, and the lowest and highest residual."""
    return max(parts.own**0.5, LEAST * parts.across**0.5), *parts.residual_range


def _moved(
    parts: Components, own: list[Distribution], effects: np.ndarray, plan: Plan, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """E[max] - mean of e_m with the distributions `own`, and how each window moves it, [window], in s.

    A window moves it by what it adds to the distribution of each rank, which is the sum over ranks of
    E[max given y_m], and by what it adds to V, which sets the scale of the residuals.
    """
    slowest = Slowest.of(own, effects, plan.ranks)
    value, step = slowest.expected(), slowest.grid[1] - slowest.grid[0]
    influence = np.zeros(parts.steps)
    for rank in range(parts.ranks):
        table = slowest.ranks / parts.ranks * (slowest.given(rank) - value)
        place = (parts.residual(rank) + (parts.rank_effects[rank] - slowest.grid[0])) / step
        influence += table[np.clip(place, 0, len(table) - 1).astype(np.int32)]
    mean = parts.step_means - parts.mean - parts.common_course
    influence -= mean
    if parts.fluctuates:
        stretched = [one.stretched(a, NUDGE) for one, a in zip(own, _rest(parts, own), strict=True)]
        by_scale = (Slowest.of(stretched, effects, plan.ranks).expected() - value) / (NUDGE - 1)
        v, q = parts.own_variances, parts.own_squares
        influence += by_scale / 2 * (v / (weights @ v) - q / (weights @ q)) * weights.sum()
    influence -= np.average(influence, weights=weights)
    return value - float(np.average(mean, weights=weights)), influence


def _draws(parts: Components, plan: Plan) -> np.ndarray:
    """Runs of the fitted process, [run, rank, step]: mean + a_m + e_m. The first has the e_m as measured.

    In the others, each e_m begins at a random cycle, so that ranks are independent but keep their own course.
    What all ranks share stays: nobody waits for it, but with a lag the length of a window matters.
    """
    rng, ranks = np.random.default_rng(SEED), plan.ranks
    order = _order(parts, plan)
    runs = 1 + int(np.clip(MOST_VALUES // (ranks * parts.steps), 1, MOST_RUNS))
    residuals = [parts.residual(rank) for rank in range(parts.ranks)]
    found = np.empty((runs, ranks, parts.steps), dtype=parts.times.dtype)
    for run in range(runs):
        chosen = (
            order if ranks == parts.ranks else order[np.sort(rng.choice(parts.ranks, ranks, replace=False))]
        )
        for place, rank in enumerate(chosen):
            moved = 0 if run == 0 else rng.integers(parts.steps)
            further.begun_later(residuals[rank], moved, parts.rank_effects[rank], found[run, place])
    found += (parts.mean + parts.common_course).astype(found.dtype)
    return found


def _drawn(parts: Components, residuals: list, plan: Plan, cast: Cast, draw: int) -> np.ndarray:
    """One run of the fitted ranks and of further ones, [rank, step]; the first with the e_m as measured."""
    rng, fitted = np.random.default_rng([SEED, draw]), _order(parts, plan)
    found = np.empty((plan.ranks, parts.steps), dtype=parts.times.dtype)
    begin = rng.integers(parts.steps, size=parts.ranks) if draw else np.zeros(parts.ranks, dtype=int)
    begin = np.append(begin, (cast.begin * parts.steps).astype(int))
    effects = np.append(parts.rank_effects[fitted], plan.step * cast.effects)
    for place, rank in enumerate(np.append(fitted, cast.like)):
        further.begun_later(residuals[rank], begin[place], effects[place], found[place])
    return found + (parts.mean + parts.common_course).astype(found.dtype)


def _order(parts: Components, plan: Plan) -> np.ndarray:
    """The order of the ranks: by their means, since their numbers have no meaning unless they form groups."""
    return np.argsort(parts.rank_means) if plan.step == plan.window else np.arange(parts.ranks)
