"""`replay`: no distribution at all. The measured traces meet as planned.

Other numbers of ranks where all meet and leave together: of fewer, the mean over all choices of them,
exactly; with a lag or in groups, a few such choices are drawn. More: the measured ranks and further ones,
whose traces are measured ones begun at another time, with effects of their own (`further`).
"""

import numpy as np
from scipy import special

from spikemark.waiting import further, series
from spikemark.waiting.meeting import Waits, waits
from spikemark.waiting.plan import Plan
from spikemark.waiting.predictor import Expected, Predictor

SEED, CHOICES = 1, 4


class Replay(Predictor):
    """The traces themselves; long phases survive, and so does what ranks share."""

    name = "replay"
    summary = "the measured cycle times, summed and compared"

    def expected(self, plan: Plan) -> Expected:
        """Mean over windows of what the traces wait, plus what the meetings cost."""
        times, overhead = self.source.steps(plan), self.source.overhead(plan)
        if plan.ranks > self.source.ranks:
            return self._with_further(times, overhead, plan)
        found = self._found(times, plan)
        course = np.mean([one.series for one in found], axis=0)
        known = series.mean(course + overhead)
        windows = self.source.cycles / plan.window
        totals = [one.series.sum() + one.drain for one in found]
        other = float(np.std(totals, ddof=1)) if len(found) > 1 else 0.0
        drain = [float(np.mean([getattr(one, name) for one in found])) for name in ("drain", "drain_error")]
        return Expected.of(known.value * windows + drain[0], known, windows, [other, drain[1]])

    def _with_further(self, times: np.ndarray, overhead: np.ndarray, plan: Plan) -> Expected:
        """The error of one set of further ranks, and what the sets make of the waiting."""
        batches = self.further.times(times, plan.step, plan.ranks)
        found = [waits(batch, plan, self.source.exchange_s) for batch in batches]
        windows = self.source.cycles / plan.window
        waiting = np.concatenate([one.series.mean(axis=-1) * windows + one.drain for one in found])
        value, others = further.middle(waiting + overhead.mean() * windows)
        known = series.mean(found[0].series[0] + overhead)
        times = self.spoken_for(plan)
        more = [times * found[0].drain_error[0]]
        return Expected.of(value, known, times * windows, more, others_s=others)

    def _found(self, times: np.ndarray, plan: Plan) -> list[Waits]:
        exchange = self.source.exchange_s
        if plan.ranks == self.source.ranks:
            return [waits(times, plan, exchange)]
        if plan.lockstep:
            return [_of_all_choices(times, plan.ranks)]
        if plan.step == plan.window:  # no groups: the numbers of the ranks mean nothing
            times = times[np.argsort(times.mean(axis=1, dtype=np.float64))]
        draws = (np.random.default_rng([SEED, draw]) for draw in range(CHOICES))
        chosen = (np.sort(rng.choice(len(times), plan.ranks, replace=False)) for rng in draws)
        return [waits(times[some], plan, exchange) for some in chosen]


def _of_all_choices(times: np.ndarray, ranks: int) -> Waits:
    """Mean over all sets of `ranks`: the i-th smallest of M is the slowest in C(i-1, m-1) of C(M, m) sets."""
    of = len(times)
    i = np.arange(1, of + 1)
    with np.errstate(divide="ignore"):
        log_weight = _log_choose(i - 1, ranks - 1) - _log_choose(of, ranks)
    weights = np.where(i >= ranks, np.exp(log_weight), 0.0)
    slowest = weights @ np.sort(times, axis=0)
    return Waits(np.maximum(slowest - times.mean(axis=0, dtype=np.float64), 0.0), np.zeros(()), np.zeros(()))


def _log_choose(n, k):
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(np.maximum(n - k, 0) + 1)
