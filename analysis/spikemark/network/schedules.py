"""The mini-app's schedules as one table: which lanes each has, and the placement that it implies.

A schedule is a list of lanes from narrow to wide. A synapse belongs to the first lane in whose groups of
ranks, or between whose areas, its source and its target lie (miniapp/FORMAT.md, docs/miniapp.md).
Everything else that the analysis needs to know about a schedule follows from its lanes.
"""

from dataclasses import dataclass

from spikemark.core.errors import BadInput

from .fields import Lane

LANES = "lanes"  # the name of a schedule whose lanes the description lists


@dataclass(frozen=True)
class LaneRule:
    """The ranks that a lane joins, and its period. None stands for the value of the run description."""

    name: str
    group: str | int = (
        "world"  # "area", "square" (blocks of about the square root of the ranks), ranks of a block
    )
    period: str | int = 1  # cycles of a window; "D": delay_ratio / (lag + 1); "auto": the longest exact one
    lag: int | None = 0  # windows until what is sent is due; None: the description's field `lag`
    source: tuple[str, ...] | None = None  # only from these areas
    target: tuple[str, ...] | None = None  # only to these areas

    @property
    def bound(self) -> bool:
        """True if the lane joins given areas only."""
        return self.source is not None or self.target is not None

    def window(self, delay_ratio: int, lag: int) -> int:
        """Cycles of a window with D = `delay_ratio`, which has to be a multiple of `lag` + 1."""
        if self.period != "D":
            return self.period
        if delay_ratio % (lag + 1):
            below = delay_ratio // (lag + 1) * (lag + 1)
            near = " or ".join(str(d) for d in (below, below + lag + 1) if d)
            allowed = f"a multiple of {lag + 1} is allowed, such as {near}"
            raise BadInput(f"delay_ratio={delay_ratio}: with lag={lag} {allowed}")
        return delay_ratio // (lag + 1)


@dataclass(frozen=True)
class Schedule:
    """A schedule of the mini-app; `label` is how pages call it."""

    name: str
    label: str
    placement: str  # of a run that names none
    lanes: tuple[LaneRule, ...]

    @property
    def uses_delay_ratio(self) -> bool:
        """True if the delay ratio D sets the window of any lane."""
        return any(lane.period == "D" for lane in self.lanes)

    @property
    def lagged(self) -> LaneRule | None:
        """The lane that takes the description's field `lag`."""
        return next((lane for lane in self.lanes if lane.lag is None), None)

    @property
    def blocks(self) -> LaneRule | None:
        """The lane in which blocks of ranks meet, neither the ranks of an area nor all."""
        return next((lane for lane in self.lanes if lane.group not in ("area", "world")), None)


_NEAR, _WORLD, _FAR = LaneRule("near", "area"), LaneRule("world"), LaneRule("far", period="D")

#: In the order in which they are listed.
SCHEDULES: dict[str, Schedule] = {
    schedule.name: schedule
    for schedule in (
        Schedule("conventional", "conventional", "round_robin", (_WORLD,)),
        Schedule("placement_only", "placement only", "area", (_WORLD,)),
        Schedule("structure_aware", "structure-aware", "area", (_NEAR, _FAR)),
        Schedule("overlapped", "overlapped", "area", (_NEAR, LaneRule("far", period="D", lag=None))),
        Schedule("hierarchical", "hierarchical", "area", (_NEAR, LaneRule("group", "square", "auto"), _FAR)),
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
            raise BadInput(f"schedule={schedule!r}: known are {', '.join(SCHEDULES)}, or a list of lanes")
        return SCHEDULES[schedule]
    rules = tuple(_rule(lane if isinstance(lane, Lane) else Lane.model_validate(lane)) for lane in schedule)
    for number in range(len(rules)):
        _check_order(rules, number)
    return Schedule(LANES, "lanes of its own", "area", rules)


def called(name: str) -> Schedule | None:
    """The schedule of that name; None for lanes of a description's own and for names of other versions."""
    return SCHEDULES.get(name)


def _rule(lane: Lane) -> LaneRule:
    source, target = (
        None if names is None else (names,) if isinstance(names, str) else tuple(names)
        for names in (lane.source, lane.target)
    )
    return LaneRule(lane.name, lane.group, lane.period, lane.lag, source, target)


def _check_order(rules: tuple[LaneRule, ...], number: int) -> None:
    """Lanes widen: area first, then blocks, each a multiple of the one before, then all ranks.

    Lanes between given areas may stand anywhere before that.
    """
    rule, before = rules[number], [r for r in rules[:number] if not r.bound]
    at = f"schedule.{number}"
    if any(r.name == rule.name for r in rules[:number]):
        raise BadInput(f"{at}.name={rule.name!r}: a name that no lane before it has")
    if rule.bound:
        if rule.group != "world":
            raise BadInput(f"{at}.group={rule.group!r}: 'world' in a lane that has from or to")
        return
    if rule.group == "world":
        if number + 1 < len(rules):
            raise BadInput(
                f"{at}.group='world': 'area' or an integer in all lanes but the last, or a field from or to"
            )
        return
    if rule.group == "area" and before:
        raise BadInput(f"{at}.group='area': only in the first lane without from and to")
    if before and before[-1].group != "area":
        last = before[-1].group
        if rule.group <= last or rule.group % last:
            raise BadInput(f"{at}.group={rule.group}: a larger multiple of the group before it, {last}")


def square(ranks: int) -> int:
    """The divisor of the ranks closest to their square root; of two, the smaller."""
    divisors = (d for d in range(1, ranks + 1) if ranks % d == 0)
    return min(divisors, key=lambda d: (abs(d - ranks**0.5), d))
