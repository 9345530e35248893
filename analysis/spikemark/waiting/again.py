"""What a fitted run does not show of another run: what its meetings cost, and how single runs differ.

Intervals of predictors are those of expected waiting if a meeting costs as much as in the fitted run. It need
not. How far it may differ is bounded here by what the ledger showed (docs/ledger.md).
"""

from dataclasses import dataclass, replace

import numpy as np

from spikemark.network.meetings import Plan
from spikemark.quantities.quantity import Quantity

from . import series
from .source import Source

#: Share of a barrier that longer windows may hide: ranks that arrive far apart meet a part of it before the
#: last one comes. Simulated barriers took 0.84 to 1.0 of those of conventional runs.
HIDDEN = 0.3
#: How much longer an exchange may take for every doubling of its window, since more ranks have spikes for
#: each other. Simulated exchanges took up to 0.21 longer for a doubling.
LONGER = 0.3
#: By how much more a barrier of twice as many ranks may take, and by how much longer or shorter they may
#: compute, since their lists are others. Simulated: 0.22 to 0.42, and 0.04 to 0.08.
BARRIER, LISTS = 0.5, 0.1
#: By which factors waiting and computing of two runs of one setup differ (95 %), by the kind of their times.
#: Measured: runs of a quiet virtual machine. Simulated: placements differ, and with them what ranks compute.
WAITS = {"measured": 2.8, "simulated": 1.03}
COMPUTES = {"measured": 1.25, "simulated": 1.02}


@dataclass(frozen=True)
class Meetings:
    """How much less and more may be waited and exchanged than is taken for granted, in s over the run."""

    waiting: tuple[float, float]
    rest: tuple[float, float]  # of exchanging and computing

    @classmethod
    def of(cls, source: Source, plan: Plan) -> "Meetings":
        """Of a run under the plan, over as many cycles as were fitted; none if ranks meet as they did."""
        meetings = source.cycles / plan.window
        exchange = source.exchange_s * meetings
        longer = LONGER * float(np.log2(plan.window)) * exchange
        if plan.lag:  # messages are received while ranks wait for them
            return cls((0.0, exchange + longer), (0.0, 0.0))
        barrier = max(0.0, float(source.overhead_s.mean())) * meetings
        hidden = HIDDEN * barrier if plan.window > 1 else 0.0
        doublings = float(np.log2(plan.ranks / source.ranks))
        if not doublings:
            return cls((hidden, 0.0), (0.0, longer))
        computing = LISTS * abs(doublings) * float(source.compute.mean(dtype=np.float64)) * source.cycles
        partners = (plan.ranks - 1) / (source.ranks - 1)  # one message after another
        steps = (1 + BARRIER) ** doublings
        more = max(0.0, steps - 1) * barrier, max(0.0, partners - 1) * exchange
        less = max(0.0, 1 - steps) * barrier, max(0.0, 1 - partners) * exchange
        return cls((hidden + less[0], more[0]), (less[1] + computing, more[1] + longer + computing))

    def of_waiting(self, expected: Quantity) -> Quantity:
        """The waiting with a wider interval."""
        less, more = self.waiting
        return replace(expected, low=max(0.0, expected.low - less), high=expected.high + more)

    def of_runtime(self, expected: Quantity) -> Quantity:
        """The run time with a wider interval."""
        less, more = (a + b for a, b in zip(self.waiting, self.rest, strict=True))
        return replace(expected, low=max(0.0, expected.low - less), high=expected.high + more)


@dataclass(frozen=True)
class Again:
    """How much a single run may differ from expectation, as shares of waiting and of computing.

    `statistics` is how well a run as long as the predicted one knows its own expectation, over that of the
    fitted one. `computing_s` is the time that the predicted run computes.
    """

    waits: float
    computing_s: float
    statistics: float

    @classmethod
    def of(cls, source: Source, cycles: int) -> "Again":
        """Of a run of so many cycles."""
        kind = source.kind if source.kind in WAITS else "measured"
        course = series.mean(source.compute.mean(axis=0, dtype=np.float64))
        low, high = course.interval()
        chance = (high - low) / 2 * 2**0.5 if np.isfinite(high - low) else 0.0
        computing = float(source.compute.mean(dtype=np.float64))
        return cls(
            WAITS[kind],
            cycles * float(np.hypot((COMPUTES[kind] - 1) * computing, chance)),
            (source.cycles / cycles) ** 0.5,
        )

    def waiting(self, expected: Quantity) -> Quantity:
        """The interval of what a single run waits."""
        value = expected.value
        less, more = (
            np.hypot(1.0, self.statistics) * abs(value - end) for end in (expected.low, expected.high)
        )
        less, more = np.hypot(less, value * (1 - 1 / self.waits)), np.hypot(more, value * (self.waits - 1))
        return replace(expected, low=max(0.0, float(value - less)), high=float(value + more))

    def runtime(self, expected: Quantity, waiting: Quantity) -> Quantity:
        """The interval of how long a single run takes; `waiting` is that of its waiting."""
        wider = [
            float(np.hypot(np.hypot(a - b, self.computing_s), waiting.value - end))
            for a, b, end in (
                (expected.value, expected.low, waiting.low),
                (expected.value, expected.high, waiting.high),
            )
        ]
        return replace(expected, low=max(0.0, expected.value - wider[0]), high=expected.value + wider[1])
