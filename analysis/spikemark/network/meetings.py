"""Schedules as waiting sees them: which ranks meet after how many cycles. This follows from their lanes."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole

from .schedules import SCHEDULES, LaneRule, square


@dataclass(frozen=True)
class Plan:
    """All ranks exchange every `window` cycles, and what they send is due `lag` windows later.

    With `base` < `window`, blocks of `group` ranks meet every `base` cycles in between. A plan with a lag has
    no barrier.
    """

    schedule: str
    delay_ratio: int
    ranks: int
    window: int
    lag: int = 0
    group: int = 1
    base: int = 0  # cycles; 0 stands for `window`
    cycles: int = 0  # of a run; 0 stands for as many as the fitted runs have

    @property
    def step(self) -> int:
        """Cycles that need not be distinguished: the shortest time between two meetings."""
        return self.base or self.window

    @property
    def lockstep(self) -> bool:
        """True if ranks meet at the ends of windows only, and leave them together."""
        return not self.lag and self.step == self.window


def plan(
    schedule: str, delay_ratio: int, ranks: int, lag: int | None = None, group_period: int | None = None
) -> Plan:
    """What the named schedule of the mini-app does with D = `delay_ratio`.

    `lag` is for a schedule with a lag (default 1), `group_period` for one in which blocks of ranks meet as
    rarely as is exact (default D: no meetings in between). An area is assumed to be on one rank. Raises
    BadInput for a name that is not in SCHEDULES, and for numbers that the schedule does not take.
    """
    if schedule not in SCHEDULES:
        raise BadInput(f"schedule={schedule!r}: known are {', '.join(SCHEDULES)}")
    found = SCHEDULES[schedule]
    check_whole("delay_ratio", delay_ratio)
    check_whole("ranks", ranks)
    if lag and not found.lagged:
        raise BadInput(f"lag={lag}: only the schedule {_having(lambda s: s.lagged)} has one")
    if group_period is not None and not found.blocks:
        raise BadInput(
            f"group_period={group_period}: only the schedule {_having(lambda s: s.blocks)} has one"
        )
    lag = _lag(found.lanes[-1], lag)
    window = found.lanes[-1].window(delay_ratio, lag)
    ratio = delay_ratio if found.uses_delay_ratio else 1
    if not found.blocks:
        return Plan(schedule, ratio, ranks, window, lag)
    period = window if group_period is None else group_period
    if period < 1 or (window % period and period % window):
        raise BadInput(f"group_period={period}: a divisor or a multiple of delay_ratio={delay_ratio}")
    base = 0 if period >= window else period  # who meets everybody anyway
    return Plan(schedule, ratio, ranks, window, lag, square(ranks), base)


def _lag(rule: LaneRule, lag: int | None) -> int:
    """Windows of lag of the lane of all ranks."""
    if rule.lag is not None:
        return rule.lag
    lag = 1 if lag is None else lag
    check_whole("lag", lag, 0)
    return lag


def _having(what) -> str:
    """Names of the schedules for which `what` is true."""
    return ", ".join(name for name, schedule in SCHEDULES.items() if what(schedule))
