"""The mini-app's schedules as one table: which lanes each has, and the placement that it implies.

A schedule is a list of lanes from narrow to wide. A synapse belongs to the first lane in whose
groups of ranks, or between whose areas, its source and its target lie (miniapp/FORMAT.md,
docs/miniapp.md). Everything else that the analysis needs to know about a schedule follows from its
lanes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.fields import check_whole

from .description import LaneRule, check_lanes

#: Name of a schedule whose lanes the description lists.
LANES = "lanes"
#: Group of a lane of blocks of about the square root of the ranks.
SQUARE = "square"


def _lane(name: str, group: str = "world", **fields: Any) -> LaneRule:
    """A lane as in a run description, which may leave two fields open.

    The group may be SQUARE, and the lag None, that of the description's field `lag`.
    """
    return LaneRule.model_construct(name=name, group=group, **fields)


@dataclass(frozen=True)
class Schedule:
    """A schedule of the mini-app: its lanes, from narrow to wide."""

    name: str  #: as in a run description
    label: str  #: how pages call it
    placement: str  #: of a run that names none
    lanes: tuple[LaneRule, ...]  #: may leave lags and groups open, see `for_ranks`

    def for_ranks(self, lag: int, ranks: int) -> "Schedule":
        """The schedule on so many ranks, with the lag of a description where lanes leave it open.

        Example:
            >>> SCHEDULES["hierarchical"].for_ranks(lag=0, ranks=12).lanes[1].group
            3
        """
        lanes = []
        for lane in self.lanes:
            update: dict[str, int] = {}
            if lane.lag is None:
                update["lag"] = lag
            if lane.group == SQUARE:
                update["group"] = square(ranks)
            lanes.append(lane.model_copy(update=update))
        return replace(self, lanes=tuple(lanes))

    @property
    def uses_delay_ratio(self) -> bool:
        """True if the delay ratio D sets the window of any lane."""
        return any(lane.period == "D" for lane in self.lanes)

    @property
    def lagged(self) -> LaneRule | None:
        """The lane that takes the description's field `lag`."""
        for lane in self.lanes:
            if lane.lag is None:
                return lane
        return None

    @property
    def blocks(self) -> LaneRule | None:
        """The lane in which blocks of ranks meet, neither the ranks of an area nor all."""
        for lane in self.lanes:
            if lane.group not in ("area", "world"):
                return lane
        return None


#: Whatever says which schedule: a name, lanes as in a run description, or the schedule itself.
AnySchedule = str | Sequence[LaneRule | Mapping[str, Any]] | Schedule

_NEAR = _lane("near", "area")
_WORLD = _lane("world")
_FAR = _lane("far", period="D")
_LAGGED_FAR = _lane("far", period="D", lag=None)
_BLOCKS = _lane("group", SQUARE, period="auto")

#: By name, in the order in which they are listed.
SCHEDULES: dict[str, Schedule] = {
    "conventional": Schedule("conventional", "conventional", "round_robin", (_WORLD,)),
    "placement_only": Schedule("placement_only", "placement only", "area", (_WORLD,)),
    "structure_aware": Schedule("structure_aware", "structure-aware", "area", (_NEAR, _FAR)),
    "overlapped": Schedule("overlapped", "overlapped", "area", (_NEAR, _LAGGED_FAR)),
    "hierarchical": Schedule("hierarchical", "hierarchical", "area", (_NEAR, _BLOCKS, _FAR)),
}


def find_schedule(schedule: AnySchedule) -> Schedule:
    """The schedule of that name, or of these lanes; a schedule is returned as it is.

    Raises:
        BadInput: for a name that is not in SCHEDULES, and lanes that are not in order.

    Example:
        >>> find_schedule("structure_aware").placement
        'area'
        >>> find_schedule([{"name": "all"}]).lanes[0].group
        'world'
    """
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str):
        if schedule not in SCHEDULES:
            expected = f"{', '.join(SCHEDULES)}, or a list of lanes"
            raise unknown_name("schedule", schedule, SCHEDULES, expected=expected)
        return SCHEDULES[schedule]
    lanes = tuple(
        lane if isinstance(lane, LaneRule) else LaneRule.model_validate(lane) for lane in schedule
    )
    check_lanes(lanes)
    return Schedule(LANES, "lanes of its own", "area", lanes)


def square(ranks: int) -> int:
    """The divisor of the ranks closest to their square root; of two, the smaller.

    Example:
        >>> square(12)
        3
    """
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    return min(divisors, key=lambda d: (abs(d - ranks**0.5), d))


@dataclass(frozen=True)
class MeetingPlan:
    """A schedule as waiting sees it: when which ranks meet.

    All ranks meet every `window` cycles, and what they send is due `lag` windows later. A plan with
    a lag has no barrier.
    """

    schedule: str  #: name
    delay_ratio: int  #: D; 1 where the schedule does not use it
    ranks: int  #: number of ranks
    window: int  #: cycles between two meetings of all ranks
    lag: int = 0  #: windows until what is sent is due
    group: int = 1  #: ranks of a block, which meet every `base` cycles in between
    base: int = 0  #: cycles; 0: as `window`
    #: [rank] equal for ranks that share an area and meet in every cycle; empty where none do.
    near: tuple[int, ...] = ()

    @property
    def lockstep(self) -> bool:
        """True if ranks meet at the ends of windows only, and leave them together."""
        return not self.lag and not self.near and self.base in (0, self.window)


def plan(
    schedule: str,
    delay_ratio: int,
    ranks: int,
    lag: int | None = None,
    group_period: int | None = None,
) -> MeetingPlan:
    """When ranks meet under a named schedule of the mini-app. An area is assumed to be on one rank.

    Args:
        schedule: one of SCHEDULES.
        delay_ratio: D.
        ranks: number of ranks.
        lag: for a schedule with a lag; 1 by default.
        group_period: cycles between meetings of blocks of ranks, where they meet as rarely as is
            exact; D by default, which means no meetings in between.

    Raises:
        BadInput: for a name that is not in SCHEDULES, and for numbers that the schedule does not
            take.

    Example:
        >>> plan("structure_aware", delay_ratio=10, ranks=32).window
        10
    """
    if schedule not in SCHEDULES:
        raise unknown_name("schedule", schedule, SCHEDULES, expected=", ".join(SCHEDULES))
    rules = SCHEDULES[schedule]
    check_whole("delay_ratio", delay_ratio)
    check_whole("ranks", ranks)
    _refuse_unused("lag", lag, rules.lagged, schedule)
    _refuse_unused("group_period", group_period, rules.blocks, schedule)
    check_whole("lag", lag or 0, 0)
    if rules.lagged is None:
        lag = 0
    elif lag is None:
        lag = 1
    window = rules.lanes[-1].window(delay_ratio, lag)
    if not rules.uses_delay_ratio:
        delay_ratio = 1
    if not rules.blocks:
        return MeetingPlan(schedule, delay_ratio, ranks, window, lag)
    period = window if group_period is None else group_period
    if period < 1 or (window % period and period % window):
        expected = f"a divisor or a multiple of delay_ratio={delay_ratio}"
        raise BadInput(
            field="group_period",
            value=period,
            expected=expected,
        )
    base = 0 if period >= window else period  # who meets everybody anyway
    return MeetingPlan(schedule, delay_ratio, ranks, window, lag, square(ranks), base)


def _refuse_unused(
    field: str,
    value: int | None,
    lane: LaneRule | None,
    schedule: str,
) -> None:
    """Raises BadInput for a value that no lane of the schedule takes."""
    if value and not lane:
        expected = f"no {field} with schedule {schedule}"
        raise BadInput(
            field=field,
            value=value,
            expected=expected,
            code="conflict",
        )
