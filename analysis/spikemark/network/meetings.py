"""Schedules as waiting sees them: after how many cycles who meets whom. One line of `SCHEDULES` each."""

from collections.abc import Callable
from dataclasses import dataclass

from spikemark.core.errors import BadInput

from . import schedules


@dataclass(frozen=True)
class Plan:
    """All ranks exchange every `window` cycles, what is due `lag` windows later.

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
        """Cycles that need not be told apart: the shortest time between two meetings."""
        return self.base or self.window

    @property
    def lockstep(self) -> bool:
        """Is the end of a window the only time that ranks meet, and do they leave it together?"""
        return not self.lag and self.step == self.window


def plan(
    schedule: str, delay_ratio: int, ranks: int, lag: int | None = None, group_period: int | None = None
) -> Plan:
    """What the named schedule of the mini-app does with D = `delay_ratio`.

    `lag` (1) is for `overlapped`, whose window is D / (lag + 1) cycles; `group_period` (D: no meetings in
    between) for `hierarchical`. Raises BadInput for a name that is not in `SCHEDULES`, and for numbers that
    the schedule does not take.
    """
    if schedule not in SCHEDULES:
        raise BadInput(f"schedule={schedule!r}: known are {', '.join(SCHEDULES)}")
    if delay_ratio < 1 or delay_ratio != int(delay_ratio):
        raise BadInput(f"delay_ratio={delay_ratio}: an integer of at least 1")
    if ranks < 1 or ranks != int(ranks):
        raise BadInput(f"ranks={ranks}: an integer of at least 1")
    if lag and schedule != "overlapped":
        raise BadInput(f"lag={lag}: only the schedule overlapped has one")
    if group_period is not None and schedule != "hierarchical":
        raise BadInput(f"group_period={group_period}: only the schedule hierarchical has one")
    return SCHEDULES[schedule](schedule, delay_ratio, ranks, lag, group_period)


def _every_cycle(name: str, delay_ratio: int, ranks: int, lag: None, group_period: None) -> Plan:
    return Plan(name, 1, ranks, 1)


def _every_window(name: str, delay_ratio: int, ranks: int, lag: None, group_period: None) -> Plan:
    return Plan(name, delay_ratio, ranks, delay_ratio)


def _overlapped(name: str, delay_ratio: int, ranks: int, lag: int | None, group_period: None) -> Plan:
    lag = 1 if lag is None else lag
    if lag < 0 or lag != int(lag):
        raise BadInput(f"lag={lag}: an integer of at least 0")
    if delay_ratio % (lag + 1):
        raise BadInput(f"delay_ratio={delay_ratio}: with lag={lag} a multiple of {lag + 1}")
    return Plan(name, delay_ratio, ranks, delay_ratio // (lag + 1), lag)


def _hierarchical(name: str, delay_ratio: int, ranks: int, lag: None, group_period: int | None) -> Plan:
    period = delay_ratio if group_period is None else group_period
    if period < 1 or (delay_ratio % period and period % delay_ratio):
        raise BadInput(f"group_period={period}: a divisor or a multiple of delay_ratio={delay_ratio}")
    base = 0 if period >= delay_ratio else period  # who meets everybody anyway
    return Plan(name, delay_ratio, ranks, delay_ratio, group=schedules.square(ranks), base=base)


SCHEDULES: dict[str, Callable[..., Plan]] = {
    "conventional": _every_cycle,
    "placement_only": _every_cycle,
    "structure_aware": _every_window,
    "overlapped": _overlapped,
    "hierarchical": _hierarchical,
}
