"""`replay`: no distribution at all. The measured traces meet as planned.

Other numbers of ranks where all meet and leave together: of fewer, the mean over all choices of them,
exactly. More ranks are the measured ones and further ones, each a measured trace drawn at random and begun
at a random cycle (what all ranks share stays in its place). With a lag or in groups, a few such choices are
drawn.
"""

import numpy as np
from scipy import special

from spikemark.waiting import series
from spikemark.waiting.components import Components
from spikemark.waiting.meeting import Waits, waits
from spikemark.waiting.plan import Plan
from spikemark.waiting.predictor import Expected, Predictor

SEED, CASTS = 1, 4


class Replay(Predictor):
    """The traces themselves; long phases survive, and so does what ranks share."""

    name = "replay"
    summary = "the measured cycle times, summed and compared"

    def expected(self, plan: Plan) -> Expected:
        """Mean over windows of what the traces wait, plus what the meetings cost."""
        times = self.source.steps(plan)
        found = self._found(times, plan)
        course = np.mean([one.series for one in found], axis=0)
        known = series.mean(course + self.source.overhead(plan))
        windows = self.source.cycles / plan.window
        totals = [one.series.sum() + one.drain for one in found]
        other = float(np.std(totals, ddof=1)) if len(found) > 1 else 0.0
        drain = [float(np.mean([getattr(one, name) for one in found])) for name in ("drain", "drain_error")]
        errors = [known.error * windows, other, drain[1]]
        return Expected(known.value * windows + drain[0], float(np.linalg.norm(errors)), known.degrees)

    def _found(self, times: np.ndarray, plan: Plan) -> list[Waits]:
        exchange = self.source.exchange_s
        if plan.ranks == self.source.ranks:
            return [waits(times, plan, exchange)]
        if plan.lockstep and plan.ranks < self.source.ranks:
            return [_of_all_choices(times, plan.ranks)]
        if plan.step == plan.window:  # no groups: the numbers of the ranks mean nothing
            times = times[np.argsort(times.mean(axis=1, dtype=np.float64))]
        casts = (_cast(np.random.default_rng([SEED, cast]), times, plan.ranks) for cast in range(CASTS))
        return [waits(cast, plan, exchange) for cast in casts]


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


def _cast(rng: np.random.Generator, times: np.ndarray, ranks: int) -> np.ndarray:
    measured, steps = times.shape
    if ranks < measured:
        return times[np.sort(rng.choice(measured, ranks, replace=False))]
    shared = Components(times).common_course
    further = []
    for _ in range(ranks - measured):
        rank, shift = rng.integers(measured), rng.integers(1, steps)
        further.append(np.roll(times[rank] - shared, shift) + shared)
    return np.concatenate([times, np.asarray(further, dtype=times.dtype)])
