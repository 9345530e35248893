"""The lanes of a run that has not been made: the synapses, period, lag and groups of ranks of each.

These are the rules of the mini-app (miniapp/FORMAT.md; miniapp/src/schedule).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput

from .description import MAX_DELAY_RATIO, Description, LaneRule
from .exchanges import COMPOSED, DIRECT, ComposedExchange
from .fields import refusal, unknown_field
from .placement import areas_on_ranks, sharing, spans
from .placement_file import Placement
from .schedules import AnySchedule, Schedule, find_schedule

#: Bytes of a spike in a message, by wire format.
SPIKE_BYTES = {"compact": 4, "aer12": 12}


@dataclass(frozen=True)
class Lane:
    """A lane as it will run."""

    name: str  #: as in the schedule
    period: int  #: P, cycles between two exchanges
    lag: int  #: L, windows until what is sent is due
    held: np.ndarray  #: [source area, target area] True where its synapses are in the lane
    group: np.ndarray  #: [rank] equal for ranks that exchange with each other
    exchange: str  #: name of the exchange
    word_bytes: int  #: of a spike in a message
    composed: ComposedExchange = DIRECT  #: fields of an exchange that is composed of others
    shortest: int | None = None  #: delay in steps; None for a lane without synapses

    @property
    def sizes(self) -> np.ndarray:
        """Ranks in the group of each rank, [rank]."""
        return np.asarray(np.bincount(self.group)[self.group])

    @property
    def exchanges(self) -> tuple[str, ...]:
        """The exchange, and those that it is composed of."""
        if self.exchange not in COMPOSED:
            return (self.exchange,)
        return (self.exchange, *self.composed.parts)

    @property
    def alone(self) -> bool:
        """True if no rank exchanges with another one."""
        return bool((self.sizes == 1).all())


def schedule_and_placement(
    description: Description, schedule: AnySchedule | None, placement: str | Placement | None
) -> tuple[Schedule, str | Placement]:
    """Schedule and placement of a run that may differ from its description.

    Args:
        description: of the run.
        schedule: None for that of the description.
        placement: None for that of the description, if its schedule is taken, too; else for the
            placement that the schedule implies.

    Raises:
        BadInput: for an unknown schedule.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> schedule, placement = schedule_and_placement(network, "structure_aware", None)
        >>> schedule.name, placement
        ('structure_aware', 'area')
    """
    chosen_schedule = find_schedule(description.schedule if schedule is None else schedule)
    if placement is None and chosen_schedule == find_schedule(description.schedule):
        placement = description.placement
    if placement is None:
        placement = chosen_schedule.placement
    return chosen_schedule, placement


def plan_lanes(
    description: Description,
    ranks: int,
    schedule: Schedule,
    placement: str | Placement,
) -> list[Lane]:
    """The lanes of a run.

    Args:
        description: of the run.
        ranks: number of ranks.
        schedule: that of the description, or another one.
        placement: of the neurons.

    Raises:
        BadInput: for what the mini-app would refuse: synapses without a lane, periods that are
            longer than the shortest delay, a D that is not a multiple of lag + 1.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> lanes = plan_lanes(network, 2, find_schedule("structure_aware"), "area")
        >>> [(lane.name, lane.period, lane.group.tolist()) for lane in lanes]
        [('near', 1, [0, 1]), ('far', 10, [0, 0])]
    """
    description.check_ranks(ranks)
    is_own_schedule = find_schedule(description.schedule) == schedule
    schedule = schedule.for_ranks(description.lag, ranks)
    pairs_by_lane = pairs(description, schedule, placement, ranks)
    shortest = _shortest(description, pairs_by_lane)
    ranks_of_areas = areas_on_ranks(description, placement, ranks)
    if is_own_schedule:
        _check_lane_names(description, list(pairs_by_lane))
    largest = _largest_of_rules(description, schedule.lanes, shortest)
    ratio = description.delay_ratio
    if isinstance(ratio, str):
        ratio = largest
    if not ratio:
        expected = "a schedule with shorter windows: a lane has delays of less than lag + 1 cycles"
        raise BadInput(
            field="delay_ratio",
            value="auto",
            expected=expected,
        )
    lanes = []
    for number, rule in enumerate(schedule.lanes):
        due = shortest[rule.name]
        longest_window = _longest_window(description, due, rule.lag)
        period = _period(rule, ratio, longest_window)
        if due is not None and period > longest_window:  # spikes would depend on the schedule
            field, value = _too_long(description, rule, f"schedule.{number}", due, ratio)
            hint = ""
            if rule.period == "D" and largest:
                hint = f"; the largest exact delay_ratio is {largest}"
            raise BadInput(
                f"{field}={value}: lane {rule.name} has windows of {period} cycles; its shortest"
                f" delay allows {longest_window} (lag {rule.lag}){hint}",
                field=field,
                code="conflict",
            )
        exchange, composed = exchange_of(description.exchange, rule.name, rule.lag)
        lane = Lane(
            name=rule.name,
            period=period,
            lag=rule.lag,
            held=pairs_by_lane[rule.name],
            group=_groups(description, rule, ranks_of_areas, ranks),
            exchange=exchange,
            word_bytes=_word_bytes(description, rule.name),
            composed=composed,
            shortest=due,
        )
        lanes.append(lane)
    return lanes


def _period(rule: LaneRule, ratio: int, longest_window: int) -> int:
    """Cycles of a window of a lane, with D = `ratio`."""
    if rule.period == "auto":
        return max(1, longest_window)
    return rule.window(ratio, rule.lag)


def _check_lane_names(description: Description, lanes: list[str]) -> None:
    """Raises BadInput for an exchange or a wire format of a lane that does not exist."""
    for field in ("exchange", "wire"):
        choice = getattr(description, field)
        if not isinstance(choice, dict) or "name" in choice:
            continue  # for all lanes
        for lane in choice:
            if lane not in lanes:
                raise unknown_field(f"{field}.{lane}", lanes)


def _largest_of_rules(
    description: Description, rules: Iterable[LaneRule], shortest: Mapping[str, int | None]
) -> int:
    """The largest D that is exact in all lanes which use it; 1 where none does."""
    ratios = [
        _largest_ratio(description, shortest[rule.name], rule.lag)
        for rule in rules
        if rule.period == "D"
    ]
    return min(ratios, default=1)


def _longest_window(description: Description, shortest: int | None, lag: int) -> int:
    """Cycles of the longest window that is exact with this shortest delay, in steps."""
    cycles = _cycles(description, shortest)
    return cycles if shortest is None else cycles // (lag + 1)


def _word_bytes(description: Description, lane: str) -> int:
    """Bytes of a spike in a message of a lane."""
    wire = description.wire
    if isinstance(wire, dict):
        wire = wire.get(lane, "compact")
    return SPIKE_BYTES[wire]


def _too_long(
    description: Description,
    rule: LaneRule,
    path: str,
    due: int,
    ratio: int,
) -> tuple[str, Any]:
    """The field, and its value, that makes the window of a lane too long.

    Args:
        description: of the run.
        rule: the lane.
        path: of the lane in the description.
        due: its shortest delay in steps.
        ratio: D.
    """
    if due < description.time.cycle_steps:
        return "time.cycle_ms", description.time.cycle_ms
    if rule.period == "D":
        return "delay_ratio", ratio
    if due // description.time.cycle_steps <= rule.lag:
        return f"{path}.lag", rule.lag
    return f"{path}.period", rule.period


def pairs(
    description: Description,
    schedule: Schedule,
    placement: str | Placement,
    ranks: int,
) -> dict[str, np.ndarray]:
    """The pairs of areas that each lane connects, by lane, boolean [source area, target area].

    A pair is in at most one lane.

    Raises:
        BadInput: for groups that do not divide the ranks, and for areas that the network does not
            have.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> pairs(network, find_schedule("structure_aware"), "area", ranks=2)["near"].tolist()
        [[True, False], [False, True]]
    """
    first, number_of_ranks = np.array(spans(description, placement, ranks)).reshape(-1, 2).T
    last = first + number_of_ranks - 1
    areas = len(description.network.areas)
    free = np.ones((areas, areas), dtype=bool)
    pairs_by_lane = {}
    for number, rule in enumerate(schedule.for_ranks(description.lag, ranks).lanes):
        sources, targets = _ends(description, rule, f"schedule.{number}")
        joined = free & np.outer(sources, targets)
        if rule.group == "area":
            joined &= np.eye(areas, dtype=bool)
        elif isinstance(rule.group, int):
            if ranks % rule.group:
                expected = f"a divisor of the {ranks} ranks"
                raise refusal(f"schedule.{number}.group", rule.group, expected)
            block = first // rule.group
            in_one_block = block == last // rule.group  # else an area belongs to none
            joined &= (block[:, None] == block) & in_one_block & in_one_block[:, None]
        pairs_by_lane[rule.name] = joined
        free &= ~joined
    return pairs_by_lane


def _ends(description: Description, rule: LaneRule, path: str) -> list[np.ndarray]:
    """The areas that a lane comes from, and those that it goes to, boolean [area] each."""
    areas = description.network.areas
    ends = []
    for field, names in zip(("from", "to"), rule.ends, strict=True):
        if names is None:
            ends.append(np.ones(len(areas), dtype=bool))
            continue
        wrong = [name for i, name in enumerate(names) if name not in areas or name in names[:i]]
        if wrong or not names:
            expected = f"areas of the network, none twice: {', '.join(areas)}"
            raise refusal(f"{path}.{field}", wrong[0] if wrong else [], expected)
        ends.append(np.isin(areas, names))
    return ends


def _shortest(description: Description, held: Mapping[str, np.ndarray]) -> dict[str, int | None]:
    """The shortest delay of each lane in steps; None where it has no synapses.

    Raises BadInput for synapses that are in no lane.
    """
    delays, network = description.shortest, description.network
    in_no_lane = np.isfinite(delays) & ~np.any(list(held.values()), axis=0)
    if in_no_lane.any():
        source, target = np.argwhere(in_no_lane)[0]
        ends = f"from area {network.areas[source]!r} to area {network.areas[target]!r}"
        raise BadInput(
            f"schedule: no lane for synapses {ends}; every synapse needs one", field="schedule"
        )
    shortest: dict[str, int | None] = {}
    for name, inside in held.items():
        delay = np.min(delays, where=inside, initial=np.inf)
        shortest[name] = int(delay) if np.isfinite(delay) else None
    return shortest


def largest_delay_ratio(
    description: Description, schedule: Schedule, lanes: list[Lane]
) -> int | None:
    """The largest D that is exact in all lanes which use it; None where no lane does.

    See `delay_ratio` for when a lane uses D.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> schedule = find_schedule("structure_aware")
        >>> largest_delay_ratio(network, schedule, plan_lanes(network, 2, schedule, "area"))
        10
    """
    if delay_ratio(schedule, lanes) is None:
        return None
    return min(
        _largest_ratio(description, lane.shortest, lane.lag)
        for lane in _lanes_with_ratio(schedule, lanes)
    )


def largest_between_areas(description: Description, lag: int = 0) -> int | None:
    """The largest D that is exact if every area has ranks of its own.

    Returns:
        None without synapses between areas.

    Raises:
        BadInput: where none is exact with this lag.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> largest_between_areas(read_description(mam_benchmark.describe(areas=2)))  # cycles
        10
    """
    between = description.shortest[~np.eye(len(description.network.areas), dtype=bool)]
    if not np.isfinite(between).any():
        return None
    shortest = int(between.min())
    largest = _largest_ratio(description, shortest, lag)
    if not largest:
        cycles = _largest_ratio(description, shortest, 0)
        expected = f"below the {cycles} cycles that delays between areas allow"
        raise BadInput(field="lag", value=lag, expected=expected)
    return largest


def largest_periods(
    description: Description,
    schedule: Schedule,
    placement: str | Placement,
    ranks: int,
) -> dict[str, int]:
    """The most cycles that each lane of a schedule may have, by name of the lane: D where it sets
    the window, else the window itself; 0 where no window is exact.

    Args:
        description: of the network; its own schedule, D and lag do not count.
        schedule: with its lags.
        placement: of the neurons.
        ranks: number of ranks.

    Raises:
        BadInput: as `pairs`, and for synapses that are in no lane.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> schedule = find_schedule("structure_aware").for_ranks(lag=0, ranks=2)
        >>> largest_periods(network, schedule, "area", ranks=2)  # cycles
        {'near': 1, 'far': 10}
    """
    shortest = _shortest(description, pairs(description, schedule, placement, ranks))
    periods = {}
    for rule in schedule.lanes:
        due = shortest[rule.name]
        if rule.period == "D":
            periods[rule.name] = _largest_ratio(description, due, rule.lag)
        else:
            periods[rule.name] = _longest_window(description, due, rule.lag)
    return periods


def delay_ratio(schedule: Schedule, lanes: list[Lane]) -> int | None:
    """D of lanes that were read for the schedule.

    Returns:
        None where nothing uses D: no lane of the schedule, or only lanes without synapses that join
        no ranks.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2))
        >>> schedule = find_schedule("structure_aware")
        >>> delay_ratio(schedule, plan_lanes(network, 2, schedule, "area"))
        10
    """
    for lane in _lanes_with_ratio(schedule, lanes):
        if lane.shortest is not None or not lane.alone:
            return lane.period * (lane.lag + 1)
    return None


def _lanes_with_ratio(schedule: Schedule, lanes: list[Lane]) -> list[Lane]:
    """The lanes whose windows D sets."""
    rules = zip(schedule.lanes, lanes, strict=True)
    return [lane for rule, lane in rules if rule.period == "D"]


def _largest_ratio(description: Description, shortest: int | None, lag: int) -> int:
    """The largest D that is exact in a lane with this shortest delay; 0 where none is."""
    cycles = min(_cycles(description, shortest), MAX_DELAY_RATIO)
    return cycles - cycles % (lag + 1)


def _cycles(description: Description, shortest: int | None) -> int:
    """Whole cycles in the shortest delay; without a delay, those of the run."""
    if shortest is None:
        return max(1, description.time.cycles)
    return shortest // description.time.cycle_steps


def _groups(
    description: Description,
    rule: LaneRule,
    ranks_of_areas: np.ndarray,
    ranks: int,
) -> np.ndarray:
    """The number of each rank's group, [rank]; `ranks_of_areas` as from `areas_on_ranks`."""
    if rule.group == "area":
        return sharing(ranks_of_areas, ranks)
    if isinstance(rule.group, int):
        return np.arange(ranks) // rule.group
    if not rule.bound:
        return np.zeros(ranks, dtype=int)
    areas = description.network.areas
    joined_areas: set[str] = set()
    for names in rule.ends:
        joined_areas.update(areas if names is None else names)
    joined = np.zeros(ranks, dtype=bool)
    for area, first, number_of_ranks in ranks_of_areas:
        if areas[area] in joined_areas:
            joined[first : first + number_of_ranks] = True
    return np.where(joined, 0, np.arange(ranks) + 1)


def exchange_of(choice: str | dict[str, Any], lane: str, lag: int) -> tuple[str, ComposedExchange]:
    """The name and the fields of the exchange of a lane.

    Args:
        choice: the field `exchange` of a description.
        lane: name of the lane.
        lag: of the lane, windows; with one, the exchange goes on while ranks compute.

    Example:
        >>> exchange_of({}, "far", lag=1)[0]
        'ialltoallv'
    """
    if isinstance(choice, dict) and "name" not in choice:
        choice = choice.get(lane, {})
    fields = choice if isinstance(choice, dict) else {"name": choice}
    default = "ialltoallv" if lag else "alltoallv"
    name = fields.get("name") or default
    return name, ComposedExchange.from_fields(name, fields)
