"""The lanes of a run that has not been made: the synapses, period, lag and groups of ranks of each.

These are the rules of the mini-app (miniapp/FORMAT.md; miniapp/src/schedule).
"""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from spikemark.core.errors import BadInput

from .composed import COMPOSED, DIRECT, Composed
from .description import Description
from .fields import MOST_DELAY_RATIO
from .placement import areas_on_ranks, sharing
from .placement import spans as spans_of
from .schedules import LaneRule, Schedule, find, square

WORD_BYTES = {"compact": 4, "aer12": 12}  # of a spike in a message, by wire format


@dataclass(frozen=True)
class Lane:
    """A lane as it will run. `group` is equal for ranks that exchange with each other."""

    name: str
    period: int  # P, cycles
    lag: int  # L, windows
    held: np.ndarray  # boolean [source area, target area]
    group: np.ndarray  # [rank]
    exchange: str
    word_bytes: int  # of a spike in a message
    composed: Composed = DIRECT  # where the exchange is composed of others
    shortest: int | None = None  # delay in steps; None for a lane without synapses

    @property
    def sizes(self) -> np.ndarray:
        """Ranks in the group of each rank, [rank]."""
        return np.bincount(self.group)[self.group]

    @property
    def exchanges(self) -> tuple[str, ...]:
        """The exchange, and those that it is composed of."""
        return (self.exchange, *(self.composed.parts if self.exchange in COMPOSED else ()))

    @property
    def alone(self) -> bool:
        """True if no rank exchanges with another one."""
        return bool((self.sizes == 1).all())


def chosen(
    description: Description, schedule: str | list | Schedule | None, placement: str | None
) -> tuple[Schedule, str]:
    """Schedule and placement: as given, else the description's, else the placement the schedule implies.

    The description's placement counts only with the description's schedule. Raises BadInput for an unknown
    schedule.
    """
    described = find(description.schedule) if schedule is None or placement is None else None
    found = described if schedule is None else find(schedule)
    if placement is None and found == described:
        placement = description.placement
    return found, found.placement if placement is None else placement


def read(description: Description, ranks: int, schedule: Schedule, placement: str) -> list[Lane]:
    """The lanes of `ranks` ranks. Raises BadInput for what the mini-app would refuse: synapses without a
    lane, periods that are longer than the shortest delay, a D that is not a multiple of lag + 1."""
    held = pairs(description, schedule, placement, ranks)
    shortest = _shortest(description, held)
    where = areas_on_ranks(description, placement, ranks)
    for field in ("exchange", "wire"):
        if find(description.schedule) == schedule:
            _check_names(field, getattr(description, field), list(held))
    ratio = _delay_ratio(description, schedule, shortest)
    found = []
    for rule in schedule.lanes:
        lag = _lag(description, rule)
        period = _period(description, schedule, rule, lag, ratio, shortest)
        exchange, composed = exchange_of(description.exchange, rule.name, lag)
        found.append(Lane(
            rule.name, period, lag, held[rule.name], _group(description, rule, where, ranks), exchange,
            _bytes(description.wire, rule.name), composed, shortest[rule.name],
        ))  # fmt: skip
    return found


def pairs(description: Description, schedule: Schedule, placement: str, ranks: int) -> dict[str, np.ndarray]:
    """The pairs of areas that each lane connects, boolean [source area, target area].

    A pair is in at most one lane.

    Raises BadInput for groups that do not divide the ranks, and for areas that the network does not have.
    """
    spans = np.array(spans_of(description, placement, ranks)).reshape(-1, 2)
    names = description.network.areas
    free = np.ones((len(names), len(names)), dtype=bool)
    found = {}
    for number, rule in enumerate(schedule.lanes):
        held = free & _joined(rule, number, spans, ranks)
        ends = [_ends(rule, number, field, names) for field in ("from", "to")]
        held &= np.outer(*ends)
        found[rule.name] = held
        free &= ~held
    return found


def _ends(rule: LaneRule, number: int, field: str, names: list[str]) -> np.ndarray:
    """The areas at one end of a lane, boolean [area]."""
    listed = rule.source if field == "from" else rule.target
    if listed is None:
        return np.ones(len(names), dtype=bool)
    for i, name in enumerate(listed):
        if name not in names or name in listed[:i]:
            raise BadInput(
                f"schedule.{number}.{field}={name!r}: an area of the network, or a list of them, none twice:"
                f" {', '.join(names)}"
            )
    if not listed:
        raise BadInput(f"schedule.{number}.{field}=[]: at least one area of {', '.join(names)}")
    return np.isin(names, listed)


def _joined(rule: LaneRule, number: int, spans: np.ndarray, ranks: int) -> np.ndarray:
    """Pairs of areas that lie in one group of ranks of the lane, [source area, target area]."""
    if rule.group == "area":
        return np.eye(len(spans), dtype=bool)
    if rule.group == "world":
        return np.ones((len(spans), len(spans)), dtype=bool)
    size = _block(rule, ranks)
    if ranks % size:
        raise BadInput(f"schedule.{number}.group: {size}; allowed: a divisor of the {ranks} ranks")
    first, last = spans[:, 0] // size, (spans[:, 0] + spans[:, 1] - 1) // size
    whole = first == last  # an area that is spread over several groups belongs to none
    return (first[:, None] == first) & whole & whole[:, None]


def _block(rule: LaneRule, ranks: int) -> int:
    """Ranks of a block of a lane of blocks."""
    return square(ranks) if rule.group == "square" else rule.group


def _shortest(description: Description, held: dict[str, np.ndarray]) -> dict[str, int | None]:
    """The shortest delay of each lane in steps; None where it has no synapses.

    Raises BadInput for synapses that are in no lane.
    """
    delays = description.shortest
    missed = np.isfinite(delays) & ~np.any(list(held.values()), axis=0)
    if missed.any():
        _refuse_synapses(description, missed)
    found = {name: np.min(delays, where=inside, initial=np.inf) for name, inside in held.items()}
    return {name: int(delay) if np.isfinite(delay) else None for name, delay in found.items()}


def _refuse_synapses(description: Description, missed: np.ndarray) -> NoReturn:
    """Refuses the first synapses that are in no lane; `missed` [source area, target area]."""
    network = description.network
    for i, projection in enumerate(network.projections):
        if not network.has_synapses(projection):
            continue
        target = network.area_of[network.numbers[projection.target]]
        filled = [n for n in map(network.numbers.get, projection.sources) if network.populations[n].size]
        for source in dict.fromkeys(network.area_of[n] for n in filled):
            if missed[source, target]:
                raise BadInput(
                    f"schedule: no lane for network.projections.{i}, from area {network.areas[source]!r} to"
                    f" area {network.areas[target]!r}; every synapse needs one"
                )
    raise AssertionError("synapses between these areas were found before")


def _lag(description: Description, rule: LaneRule) -> int:
    return description.lag if rule.lag is None else rule.lag


def _delay_ratio(description: Description, schedule: Schedule, shortest: dict[str, int | None]) -> int:
    """D; `auto` is the largest that is exact in all lanes which use it."""
    if description.delay_ratio != "auto":
        return description.delay_ratio
    ratio = _largest(description, schedule, shortest)
    if not ratio:
        raise BadInput(
            "delay_ratio='auto': no D is exact, since a lane has delays of less than lag + 1 cycles; allowed:"
            " a schedule with shorter windows"
        )
    return ratio


def largest_delay_ratio(description: Description, schedule: Schedule, lanes: list[Lane]) -> int | None:
    """The largest D that is exact in all lanes which use it; None where no lane does (`delay_ratio`)."""
    if delay_ratio(schedule, lanes) is None:
        return None
    return _largest(description, schedule, {lane.name: lane.shortest for lane in lanes})


def largest_between_areas(description: Description, lag: int = 0) -> int | None:
    """The largest D that is exact if every area has ranks of its own; None without synapses between areas.

    Raises BadInput where none is exact with this lag.
    """
    between = description.shortest[~np.eye(len(description.network.areas), dtype=bool)]
    if not np.isfinite(between).any():
        return None
    most = min(_cycles(description, int(between.min())), MOST_DELAY_RATIO)
    if most < lag + 1:
        raise BadInput(f"lag={lag}: delays between areas allow windows of {most} cycles; at most {most - 1}")
    return most - most % (lag + 1)


def delay_ratio(schedule: Schedule, lanes: list[Lane]) -> int | None:
    """D of lanes that were read for the schedule.

    None where nothing uses D: no lane of the schedule, or only lanes without synapses that join no ranks.
    """
    windows = {
        lane.name: lane.period * (lane.lag + 1)
        for lane in lanes
        if not (lane.alone and lane.shortest is None)
    }
    return next((windows[r.name] for r in schedule.lanes if r.period == "D" and r.name in windows), None)


def _largest(description: Description, schedule: Schedule, shortest: dict[str, int | None]) -> int:
    """The largest D that is exact; 0 where none is."""
    found = []
    for rule in schedule.lanes:
        if rule.period == "D":
            most = min(_cycles(description, shortest[rule.name]), MOST_DELAY_RATIO)
            found.append(most - most % (_lag(description, rule) + 1))
    return min(found, default=1)


def _cycles(description: Description, shortest: int | None) -> int:
    """Whole cycles in the shortest delay; without a delay, those of the run."""
    if shortest is None:
        return max(1, description.time.cycles)
    return shortest // description.time.cycle_steps


def _period(
    description: Description, schedule: Schedule, rule: LaneRule, lag: int, ratio: int, shortest: dict
) -> int:
    """Cycles of a window; the check makes the spikes independent of the schedule."""
    delay = shortest[rule.name]
    most = _cycles(description, delay) // (1 if delay is None else lag + 1)
    period = max(1, most) if rule.period == "auto" else rule.window(ratio, lag)
    if delay is not None and period > most:
        largest = _largest(description, schedule, shortest) if rule.period == "D" else 0
        raise BadInput(
            f"schedule={schedule.name}: lane {rule.name} has windows of {period} cycles; its shortest delay"
            f" allows {most} (lag {lag}){f'; the largest exact delay_ratio is {largest}' if largest else ''}"
        )
    return period


def _group(description: Description, rule: LaneRule, where: np.ndarray, ranks: int) -> np.ndarray:
    """The number of each rank's group, [rank]; `where` as from `areas_on_ranks`."""
    if rule.group == "area":
        return sharing(where, ranks)
    if rule.group != "world":
        return np.arange(ranks) // _block(rule, ranks)
    if not rule.bound:
        return np.zeros(ranks, dtype=int)
    names = description.network.areas
    ends = {*(rule.source or names), *(rule.target or names)}
    joined = np.zeros(ranks, dtype=bool)
    for number, first, n in where:
        joined[first : first + n] |= names[number] in ends
    return np.where(joined, 0, np.arange(ranks) + 1)


def _check_names(field: str, given: object, lanes: list[str]) -> None:
    """Refuses a choice for a lane that does not exist."""
    if isinstance(given, dict) and "name" not in given:
        for lane in given:
            if lane not in lanes:
                raise BadInput(f"{field}: no lane {lane!r}; there are {', '.join(lanes)}")


def exchange_of(given: str | dict, lane: str, lag: int) -> tuple[str, Composed]:
    """The name and the fields of the exchange of a lane, from the field `exchange` of a description."""
    if isinstance(given, dict) and "name" not in given:
        given = given.get(lane, {})
    if not isinstance(given, dict):
        given = {"name": given}
    name = given.get("name") or ("ialltoallv" if lag else "alltoallv")
    return name, Composed.of(name, given)


def _bytes(wire: str | dict, lane: str) -> int:
    return WORD_BYTES[wire.get(lane, "compact") if isinstance(wire, dict) else wire]
