"""`replay`: the measured traces meet as planned, without any distribution.

For fewer ranks that all meet and leave together, it uses the exact mean over all choices of ranks; with a lag
or in groups, a few such choices are drawn. For more ranks, it adds further ones to the measured ones. Their
traces are measured traces begun at another time, with their own effects (`further`).
"""

import numpy as np
from scipy import special

from spikemark.models.recursion import Waits
from spikemark.network.meetings import Plan

from . import series
from .predictor import Expected, Predictor

SEED, CHOICES = 1, 4


class Replay(Predictor):
    """Predicts from the traces themselves, which preserves long phases and what ranks have in common."""

    name = "replay"
    summary = "the cycle times of the run, summed and compared"

    def expected(self, plan: Plan) -> Expected:
        """The mean over windows of what the traces wait, plus what the meetings cost."""
        times, overhead = self.source.steps(plan), self.source.overhead(plan)
        if plan.ranks > self.source.ranks:
            batches = self.further.times(times, plan.step, plan.ranks)
            return self.of_sets(batches, overhead, plan)
        found = self._found(times, plan)
        course = np.mean([one.series.ravel() for one in found], axis=0)
        known = series.mean(course + overhead[: len(course)])
        windows, runs = self.source.cycles / plan.window, self.source.cycles / self.source.length(plan)
        per = self.source.length(plan) // plan.window
        waited = [one.per_window(per).mean() for one in found]
        totals = [one * windows + w.drain.mean() * runs for one, w in zip(waited, found, strict=True)]
        other = float(np.std(totals, ddof=1)) if len(found) > 1 else 0.0
        drain = runs * np.mean([one.drain.mean() for one in found])
        drain_error = runs * np.mean([one.drain_error.mean() for one in found]) / found[0].drain.size ** 0.5
        value = (np.mean(waited) + overhead.mean()) * windows + drain
        return Expected.of(float(value), known, windows, [other, drain_error])

    def _found(self, times: np.ndarray, plan: Plan) -> list[Waits]:
        if plan.ranks == self.source.ranks:
            return [self.waits(times, plan)]
        if plan.lockstep:
            return [_of_all_choices(times, plan.ranks)]
        if plan.step == plan.window:  # without groups the numbers of the ranks have no meaning
            times = times[np.argsort(times.mean(axis=1, dtype=np.float64))]
        draws = (np.random.default_rng([SEED, draw]) for draw in range(CHOICES))
        chosen = (np.sort(rng.choice(len(times), plan.ranks, replace=False)) for rng in draws)
        return [self.waits(times[some], plan) for some in chosen]


def _of_all_choices(times: np.ndarray, ranks: int) -> Waits:
    """Mean over all sets of `ranks`: the i-th smallest of M is the slowest in C(i-1, m-1) of C(M, m) sets."""
    of = len(times)
    i = np.arange(1, of + 1)
    with np.errstate(divide="ignore"):
        log_weight = _log_choose(i - 1, ranks - 1) - _log_choose(of, ranks)
    weights = np.where(i >= ranks, np.exp(log_weight), 0.0)
    slowest = weights @ np.sort(times, axis=0)
    series = np.maximum(slowest - times.mean(axis=0, dtype=np.float64), 0.0)
    return Waits(series[None], np.zeros(1), np.zeros(1))


def _log_choose(n, k):
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(np.maximum(n - k, 0) + 1)
