"""The mini-app's schedules as one table: which lanes each has, and the placement that it implies.

A schedule is a list of lanes from narrow to wide. A synapse belongs to the first lane in whose groups of
ranks, or between whose areas, its source and its target lie (miniapp/FORMAT.md, docs/miniapp.md).
Everything else that the analysis needs to know about a schedule follows from its lanes.
"""

from dataclasses import dataclass, replace

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole

from .description import Lane

LANES = "lanes"  # the name of a schedule whose lanes the description lists


def _lane(name: str, group: str = "world", **fields: int | str | None) -> Lane:
    """A lane as in a run description; besides, blocks of about the square root of the ranks ("square"), and
    the lag of the description's field `lag` (None)."""
    return Lane.model_construct(name=name, group=group, **fields)


@dataclass(frozen=True)
class Schedule:
    """A schedule of the mini-app; `label` is how pages call it."""

    name: str
    label: str
    placement: str  # of a run that names none
    lanes: tuple[Lane, ...]

    def of(self, lag: int, ranks: int) -> "Schedule":
        """The same with the lag of a description, and on so many ranks, in the lanes that leave them open."""
        lanes = (
            lane.model_copy(update={
                "lag": lag if lane.lag is None else lane.lag,
                "group": square(ranks) if lane.group == "square" else lane.group,
            })
            for lane in self.lanes
        )  # fmt: skip
        return replace(self, lanes=tuple(lanes))

    @property
    def uses_delay_ratio(self) -> bool:
        """True if the delay ratio D sets the window of any lane."""
        return any(lane.period == "D" for lane in self.lanes)

    @property
    def lagged(self) -> Lane | None:
        """The lane that takes the description's field `lag`."""
        return next((lane for lane in self.lanes if lane.lag is None), None)

    @property
    def blocks(self) -> Lane | None:
        """The lane in which blocks of ranks meet, neither the ranks of an area nor all."""
        return next((lane for lane in self.lanes if lane.group not in ("area", "world")), None)


_NEAR, _WORLD, _FAR = _lane("near", "area"), _lane("world"), _lane("far", period="D")

#: In the order in which they are listed.
SCHEDULES: dict[str, Schedule] = {
    schedule.name: schedule
    for schedule in (
        Schedule("conventional", "conventional", "round_robin", (_WORLD,)),
        Schedule("placement_only", "placement only", "area", (_WORLD,)),
        Schedule("structure_aware", "structure-aware", "area", (_NEAR, _FAR)),
        Schedule("overlapped", "overlapped", "area", (_NEAR, _lane("far", period="D", lag=None))),
        Schedule(
            "hierarchical", "hierarchical", "area", (_NEAR, _lane("group", "square", period="auto"), _FAR)
        ),
    )
}


def find(schedule: "str | list | Schedule") -> Schedule:
    """The schedule of that name, or of these lanes (as `Lane` or as in a run description).

    A schedule is returned as it is. Raises BadInput for a name that is not in SCHEDULES, and lanes that are
    not in order.
    """
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str):
        if schedule not in SCHEDULES:
            raise BadInput.of("schedule", schedule, f"{', '.join(SCHEDULES)}, or a list of lanes")
        return SCHEDULES[schedule]
    lanes = tuple(lane if isinstance(lane, Lane) else Lane.model_validate(lane) for lane in schedule)
    _check_order(lanes)
    return Schedule(LANES, "lanes of its own", "area", lanes)


def _check_order(lanes: tuple[Lane, ...]) -> None:
    """Lanes widen: area first, then blocks, each a multiple of the one before, then all ranks.

    Lanes between given areas may stand anywhere before that.
    """
    last: str | int = "none"  # group of the lane before, of those that join no given areas
    for number, lane in enumerate(lanes):
        group, free, final = lane.group, not lane.bound, number + 1 == len(lanes)
        wider = isinstance(group, str) or isinstance(last, str) or (group > last and group % last == 0)
        for right, field, expected in (
            (all(lane.name != other.name for other in lanes[:number]), "name", "a name of its own"),
            (free or group == "world", "group", "'world' in a lane that has from or to"),
            (final or not free or group != "world", "group", "'area' or an integer in all but the last lane"),
            (last == "none" or group != "area", "group", "blocks or 'world' after the first lane"),
            (wider, "group", f"a larger multiple of the group before it, {last}"),
        ):
            if not right:
                raise BadInput.of(f"schedule.{number}.{field}", getattr(lane, field), expected)
        last = group if free else last


def square(ranks: int) -> int:
    """The divisor of the ranks closest to their square root; of two, the smaller."""
    divisors = (d for d in range(1, ranks + 1) if ranks % d == 0)
    return min(divisors, key=lambda d: (abs(d - ranks**0.5), d))


@dataclass(frozen=True)
class Plan:
    """A schedule as waiting sees it: all ranks meet every `window` cycles, and what they send is due `lag`
    windows later.

    With `base` < `window`, blocks of `group` ranks meet every `base` cycles in between. A plan with a lag has
    no barrier.
    """

    schedule: str
    delay_ratio: int
    ranks: int
    window: int
    lag: int = 0
    group: int = 1
    base: int = 0  # cycles; 0: as `window`

    @property
    def lockstep(self) -> bool:
        """True if ranks meet at the ends of windows only, and leave them together."""
        return not self.lag and self.base in (0, self.window)


def plan(
    schedule: str, delay_ratio: int, ranks: int, lag: int | None = None, group_period: int | None = None
) -> Plan:
    """What the named schedule of the mini-app does with D = `delay_ratio`.

    `lag` is for a schedule with a lag (default 1), `group_period` for one in which blocks of ranks meet as
    rarely as is exact (default D: no meetings in between). An area is assumed to be on one rank. Raises
    BadInput for a name that is not in SCHEDULES, and for numbers that the schedule does not take.
    """
    if schedule not in SCHEDULES:
        raise BadInput.of("schedule", schedule, ", ".join(SCHEDULES))
    found = SCHEDULES[schedule]
    check_whole("delay_ratio", delay_ratio)
    check_whole("ranks", ranks)
    for name, given, lane in (("lag", lag, found.lagged), ("group_period", group_period, found.blocks)):
        if given and not lane:
            raise BadInput.of(name, given, f"no {name} with schedule {schedule}")
    check_whole("lag", lag or 0, 0)
    lag = 0 if found.lagged is None else 1 if lag is None else lag
    window = found.lanes[-1].window(delay_ratio, lag)
    ratio = delay_ratio if found.uses_delay_ratio else 1
    if not found.blocks:
        return Plan(schedule, ratio, ranks, window, lag)
    period = window if group_period is None else group_period
    if period < 1 or (window % period and period % window):
        raise BadInput.of("group_period", period, f"a divisor or a multiple of delay_ratio={delay_ratio}")
    base = 0 if period >= window else period  # who meets everybody anyway
    return Plan(schedule, ratio, ranks, window, lag, square(ranks), base)
