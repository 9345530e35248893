"""The interface of all predictors of waiting: fitted on a conventional run, asked about another schedule."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from spikemark.waiting import plan as plans
from spikemark.waiting.plan import Plan
from spikemark.waiting.series import LEVEL, quantile
from spikemark.waiting.source import Source, source


@dataclass(frozen=True)
class Expected:
    """Waiting over all cycles in s, mean over ranks; its standard error, with how many degrees of freedom."""

    value_s: float
    error_s: float
    degrees: float

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Interval of a positive quantity, of which the estimate is log-normal about the truth.

        With s the relative error, the estimate's logarithm lies s^2 / 2 too low on average.
        """
        if not self.value_s > 0:
            return 0.0, max(0.0, quantile(self.degrees, level) * self.error_s)
        relative = self.error_s / self.value_s
        centre = self.value_s * float(np.exp(relative**2 / 2))
        factor = float(np.exp(quantile(self.degrees, level) * relative))
        return centre / factor, centre * factor


@dataclass(frozen=True)
class Prediction:
    """Times in seconds over `cycles` cycles, as many as were fitted.

    `waiting_s` is the mean over ranks, what `timing.phases.synchronise.mean_s` (with a lag `overlap_wait`)
    of a record measures; `interval` holds its expectation with 95 %. `runtime_s` adds computing and
    exchanging.
    """

    waiting_s: float
    runtime_s: float
    interval: tuple[float, float]
    plan: Plan
    cycles: int

    @property
    def waiting_per_cycle_s(self) -> float:
        return self.waiting_s / self.cycles


class Predictor(ABC):
    """A model of the cycle times of one conventional run. A subclass says what waiting it expects."""

    name: str
    summary: str

    def __init__(self, fitted: Source):
        self.source = fitted

    @classmethod
    def fit(cls, run) -> "Predictor":
        """From a `Run`, a list of runs of one machine, cycle times [rank, cycle] in s, or a `Source`."""
        return cls(source(run))

    def predict(
        self,
        schedule: str,
        delay_ratio: int = 1,
        ranks: int | None = None,
        lag: int | None = None,
        group_period: int | None = None,
    ) -> Prediction:
        """Waiting and run time under another schedule, D, number of ranks (the fitted ones), lag.

        `lag` defaults to that of the schedule, `group_period` see `plan.plan`. Raises BadInput for a
        schedule or numbers that do not exist, and for fewer cycles than D needs.
        """
        wanted = plans.plan(
            schedule, delay_ratio, self.source.ranks if ranks is None else ranks, lag, group_period
        )
        self.source.check(wanted)
        found = self.expected(wanted)
        computing = float(self.source.compute.mean(dtype=np.float64)) * self.source.cycles
        runtime = computing + found.value_s + self.source.transport_s(wanted)
        return Prediction(found.value_s, runtime, found.interval(), wanted, self.source.cycles)

    @abstractmethod
    def expected(self, plan: Plan) -> Expected:
        """Waiting under `plan` over as many cycles as were fitted."""
