"""The interface of all predictors: they are fitted on a conventional run and asked about another schedule."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.models import recursion
from spikemark.models.recursion import Waits
from spikemark.network.meetings import Plan, plan
from spikemark.network.schedules import called
from spikemark.quantities.quantity import LEVEL, Quantity, student
from spikemark.records.record import Run

from . import further, series
from .again import Again, Meetings
from .further import Further
from .source import Source, source


@dataclass(frozen=True)
class Expected:
    """Waiting over all cycles in s, as a mean over ranks, and its standard error with its degrees of freedom.

    `others_s` says how much less and more it may be because of ranks that were not measured.
    """

    value_s: float
    error_s: float
    degrees: float
    others_s: tuple[float, float] = (0.0, 0.0)
    slope: float | None = None  # change of the error with the value; None: in proportion

    @classmethod
    def of(
        cls, value_s: float, known: series.Mean, times: float, further_s: Sequence[float] = (), **rest
    ) -> "Expected":
        """Waiting whose error is `times` that of a mean, with further errors in proportion to the value."""
        error, more = known.error * times, float(np.linalg.norm(further_s))
        total = float(np.hypot(error, more))
        if not (total > 0 and value_s > 0):
            return cls(value_s, total, known.degrees, **rest)
        slope = (error * known.slope + more**2 / value_s) / total
        return cls(value_s, total, known.degrees, slope=slope, **rest)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Interval of a positive quantity.

        If the error is in proportion to the value, the estimate is log-normal about the truth. With the
        relative error s, its logarithm lies s^2 / 2 too low on average.
        """
        less, more = self.others_s
        if not self.value_s > 0:
            return 0.0, max(0.0, student(self.degrees, level) * self.error_s) + more
        slope = self.error_s / self.value_s if self.slope is None else self.slope
        low, high = (self.value_s + self.error_s * z for z in series.ends(self.degrees, slope, level))
        return max(low - less, 0.0), high + more


@dataclass(frozen=True)
class Prediction:
    """Times in seconds over `cycles` cycles, as many as were asked for, else as were fitted.

    `waiting` is the mean over ranks, as `timing.phases.synchronise.mean_s` (with a lag, `overlap_wait`) of a
    record measures it; its interval is for the expectation. `runtime` adds computing and exchanging. `again`
    gives the intervals of a single run. Where
    waiting of the fitted run was not timed, `waiting` allows for its limits, and `as_derived` takes its
    middle for granted. What a meeting costs in all is known, so the run time hardly depends on them.
    """

    waiting: Quantity
    as_derived: Quantity
    runtime: Quantity
    plan: Plan
    cycles: int
    again: Again

    @property
    def runtime_s(self) -> float:
        return self.runtime.value

    @property
    def waiting_s(self) -> float:
        return self.waiting.value

    @property
    def waiting_per_cycle_s(self) -> float:
        return self.waiting_s / self.cycles


def asked(run: Run) -> dict[str, Any]:
    """Predictor arguments that match a run: its schedule and ranks, with a lag also its length."""
    lanes = {lane.name: lane for lane in run.record.lanes}
    arguments = {"schedule": run.schedule, "delay_ratio": run.delay_ratio, "ranks": run.record.ranks}
    schedule = called(run.schedule)
    if schedule and schedule.lagged:
        arguments |= {"lag": lanes[schedule.lagged.name].lag, "cycles": run.record.timing.cycles}
    if schedule and schedule.blocks:
        arguments["group_period"] = lanes[schedule.blocks.name].period
    return arguments


def met(compute: np.ndarray, plan: Plan, exchange_s: float = 0.0) -> Waits:
    """Says how ranks that meet as planned wait.

    `compute` [..., rank, step] in s: sums over the plan's steps.
    """
    return recursion.waits(compute, plan.lag, exchange_s, plan.group, plan.window // plan.step)


def cut(compute: np.ndarray, steps: int) -> np.ndarray:
    """`compute` [..., rank, step] cut into runs of so many steps: [..., run, rank, step]."""
    runs = compute.shape[-1] // steps
    if runs == 1:
        return compute[..., None, :, :steps]
    kept = compute[..., : runs * steps]
    return np.moveaxis(kept.reshape(*compute.shape[:-1], runs, steps), -2, -3)


class Predictor(ABC):
    """A model of the cycle times of one conventional run. A subclass says what waiting it expects."""

    name: str
    summary: str

    def __init__(self, fitted: Source):
        self.source = fitted

    @classmethod
    def fit(cls, run) -> "Predictor":
        """Fits to a `Run`, several of one machine or cluster, times [rank, cycle] in s, or a `Source`."""
        return cls(source(run))

    def predict(
        self,
        schedule: str,
        delay_ratio: int = 1,
        ranks: int | None = None,
        lag: int | None = None,
        group_period: int | None = None,
        cycles: int | None = None,
    ) -> Prediction:
        """Waiting and run time under another schedule, D, number of ranks or lag.

        `ranks` defaults to the fitted ones, `lag` to that of the schedule; for `group_period` see
        `meetings.plan`. `cycles` is the length of the predicted run, which matters with a lag: ranks wait
        less in the first cycles, and wait for each other at the end. Raises BadInput for an unknown schedule,
        impossible numbers, fewer cycles than D needs, and more ranks than the fitted ones can represent
        (`further.check`).
        """
        ranks = self.source.ranks if ranks is None else ranks
        wanted = plan(schedule, delay_ratio, ranks, lag, group_period)
        wanted = replace(wanted, cycles=0 if cycles is None else cycles)
        self.source.check(wanted)
        further.check(wanted.ranks, self.source.ranks)
        found = self.expected(wanted)
        computing = float(self.source.compute.mean(dtype=np.float64)) * self.source.cycles
        known = Quantity(found.value_s, *found.interval(), "s", "modelled")
        less, more = self._doubt_s(wanted, found.value_s)
        waiting = replace(known, low=max(known.low - less, 0.0), high=known.high + more)
        rest = computing + self.source.transport_s(wanted)
        total = waiting if wanted.lag else known  # without a lag, what is no waiting is exchange
        runtime = Quantity(*(rest + x for x in (total.value, total.low, total.high)), "s", "modelled")
        costs = Meetings.of(self.source, wanted)
        waiting, known = (costs.of_waiting(one) for one in (waiting, known))
        runtime = costs.of_runtime(runtime)
        times = 1.0 if cycles is None else cycles / self.source.cycles
        made = (one.times(times) for one in (waiting, known, runtime))
        length = self.source.cycles if cycles is None else cycles
        return Prediction(*made, wanted, length, Again.of(self.source, length))

    def _doubt_s(self, plan: Plan, expected_s: float) -> tuple[float, float]:
        """How much less and more waiting there may be over the run because that of the run was not timed.

        With a lag, it depends on how long an exchange takes: what ranks do not wait for, they exchange.
        """
        less, more = self.source.doubt_s or (0.0, 0.0)
        if not (less or more) or not plan.lag:
            meetings = self.source.cycles / plan.window
            return less * meetings, more * meetings
        shifts = [0.0]
        for moved in (less, -more):
            other = copy(self)
            other.source = replace(self.source, exchange_s=max(self.source.exchange_s + moved, 0.0))
            shifts.append(other.expected(plan).value_s - expected_s)
        return -min(shifts), max(shifts)

    @cached_property
    def further(self) -> Further:
        """Ranks that were not measured."""
        return Further(self.source.compute)

    def waits(self, compute: np.ndarray, plan: Plan) -> Waits:
        """The waiting of `compute` [..., rank, step] in s, cut into runs of the wanted length: [..., run]."""
        steps = self.source.stretch(plan) * plan.window // plan.step
        return met(cut(compute, steps), plan, self.source.exchange_s)

    def of_sets(self, batches: Iterable[np.ndarray], overhead: np.ndarray, plan: Plan) -> Expected:
        """Waiting from times [set, rank, step] in s with several sets of further ranks, in batches of sets.

        The error is that of the first set, plus the differences between the sets.
        """
        found = [self.waits(batch, plan) for batch in batches]
        windows, runs = self.source.cycles / plan.window, self.source.cycles / self.source.length(plan)
        per = self.source.length(plan) // plan.window
        waiting = [
            one.per_window(per).mean(axis=-1) * windows + one.drain.mean(axis=-1) * runs for one in found
        ]
        value, others = further.middle(np.concatenate(waiting) + overhead.mean() * windows)
        course = found[0].series[0].ravel()
        known = series.mean(course + overhead[: len(course)])
        times = max(plan.ranks / self.source.ranks, 1.0) ** 0.5  # further ranks repeat the measured ones
        drain_error = found[0].drain_error[0].mean() / found[0].drain.shape[-1] ** 0.5
        return Expected.of(value, known, times * windows, [times * runs * drain_error], others_s=others)

    @abstractmethod
    def expected(self, plan: Plan) -> Expected:
        """The waiting under `plan` over as many cycles as were fitted."""
