"""`iid`: the published theory (Lober et al. 2026, eqs 2-12).

All cycles of all ranks are draws from ONE normal distribution. The interval says how well the spread of the
cycle times is known, allowing for serial correlation; it does not allow for errors of the theory. Mean and
standard deviation are those of models.waiting_iid; to their waiting comes what the barrier itself cost in the
fitted run, as with every predictor.
"""

import numpy as np

from spikemark.models.waiting_iid import IidWaiting
from spikemark.network.meetings import Plan

from . import series
from .predictor import Expected, Predictor, met
from .source import Source

NUDGE = 1.05  # by which the spread is changed to see how waiting responds
SEED, RUNS, MOST_VALUES, FEWEST_WINDOWS = 1, 8, 2_000_000, 500


class Iid(Predictor):
    """Mean `mean_s` and standard deviation `sd_s` of the cycle times, pooled over ranks and cycles."""

    name = "iid"
    summary = "independent normal cycle times, as published"

    def __init__(self, fitted: Source):
        super().__init__(fitted)
        self.mean_s = float(fitted.compute.mean(dtype=np.float64))
        squares = np.zeros(fitted.cycles)
        for times in fitted.compute:
            squares += (times - self.mean_s) ** 2
        apart = fitted.compute.size / (fitted.compute.size - 1)  # an unbiased variance, as IidWaiting.fit has
        self.variance = series.mean(apart * squares / fitted.ranks)  # of cycle times, s^2
        self.sd_s = self.variance.value**0.5
        self.overhead = series.mean(fitted.overhead_s)

    def expected(self, plan: Plan) -> Expected:
        """Waiting by eq 10 if all ranks meet and leave together, else from drawn cycle times."""
        if plan.lockstep:
            published = IidWaiting(self.mean_s, self.sd_s, self.source.ranks, self.source.cycles)
            value, power, drawing = published.predict(plan.window, plan.ranks).waiting_s, 1.0, 0.0
        else:
            value, power, drawing = self._drawn(plan)
        relative = 0.5 * self.variance.error / self.variance.value if self.sd_s > 0 else 0.0
        meetings = 0.0 if plan.lag else self.source.cycles / plan.window
        parts = [power * relative * value, drawing, self.overhead.error * meetings]
        total = value + self.overhead.value * meetings
        return Expected(total, float(np.linalg.norm(parts)), self.variance.degrees)

    def _drawn(self, plan: Plan) -> tuple[float, float, float]:
        """The waiting, the power of the spread with which it grows, and the error from drawing."""
        per = plan.window // plan.step
        wanted = self.source.length(plan) // plan.window
        windows = min(wanted, max(FEWEST_WINDOWS, MOST_VALUES // (2 * RUNS * plan.ranks * per)))
        rng = np.random.default_rng(SEED)
        z = rng.standard_normal((RUNS, plan.ranks, windows * per))
        times = plan.step * self.mean_s + plan.step**0.5 * self.sd_s * np.concatenate([z, NUDGE * z])
        found = met(times, plan, self.source.exchange_s)
        late = found.series[:, windows // 2 :].mean(axis=1)  # as in all the windows that were not drawn
        totals = found.series.sum(axis=1) + (wanted - windows) * late + found.drain
        plain, wider = np.split(totals * self.source.cycles / (wanted * plan.window), 2)
        value, drawing = float(plain.mean()), float(plain.std(ddof=1) / RUNS**0.5)
        return value, float(np.log(wider.mean() / value) / np.log(NUDGE)) if value > 0 else 0.0, drawing
