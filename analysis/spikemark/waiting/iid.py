"""`iid`: the published theory (Lober et al. 2026, eqs 2-12). All cycles of all ranks are draws from ONE
normal.

Its interval says how well the spread of the cycle times is known, allowing for serial correlation; it does
not allow for the theory being wrong.
"""

import numpy as np

from spikemark.models import order_statistics
from spikemark.waiting import series, simulated
from spikemark.waiting.plan import Plan
from spikemark.waiting.predictor import Expected, Predictor
from spikemark.waiting.source import Source

NUDGE = 1.05  # by which the spread is changed to see what waiting makes of it


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
        self.variance = series.mean(squares / fitted.ranks)  # of cycle times, s^2
        self.sd_s = self.variance.value**0.5
        self.overhead = series.mean(fitted.overhead_s)

    def expected(self, plan: Plan) -> Expected:
        """Eq 10 where all ranks meet and leave together, else drawn cycle times through the plan."""
        if plan.lockstep:
            value = self.sd_s * plan.window**0.5 * order_statistics.expected_maximum(plan.ranks)
            value, power, drawing = value * self.source.cycles / plan.window, 1.0, 0.0
        else:
            value, power, drawing = self._drawn(plan)
        relative = 0.5 * self.variance.error / self.variance.value if self.sd_s > 0 else 0.0
        meetings = 0.0 if plan.lag else self.source.cycles / plan.window
        parts = [power * relative * value, drawing, self.overhead.error * meetings]
        total = value + self.overhead.value * meetings
        return Expected(total, float(np.linalg.norm(parts)), self.variance.degrees)

    def _drawn(self, plan: Plan) -> tuple[float, float, float]:
        """Waiting, the power of the spread with which it grows, and the error from drawing."""

        def process(factor: float):
            mean, sd = plan.step * self.mean_s, factor * plan.step**0.5 * self.sd_s
            return lambda rng, runs, steps, ranks: mean + sd * rng.standard_normal((runs, steps, ranks))

        windows = self.source.windows(plan)
        found = simulated.drawn(process(1.0), plan, windows, self.source.exchange_s)
        wider = simulated.drawn(process(NUDGE), plan, windows, self.source.exchange_s)
        if not found.value > 0:
            return found.value, 0.0, found.error
        whole = self.source.cycles / (windows * plan.window)  # the last window may be shorter
        return found.value * whole, float(np.log(wider.value / found.value) / np.log(NUDGE)), found.error
