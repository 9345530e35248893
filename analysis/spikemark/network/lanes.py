"""The lanes of a run that has not been made: the synapses, period, lag and groups of ranks of each.

These are the rules of the mini-app (miniapp/FORMAT.md; miniapp/src/schedule).
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput

from .description import MOST_DELAY_RATIO, Description
from .description import Lane as Rule
from .exchanges import COMPOSED, DIRECT, Composed
from .placement import areas_on_ranks, sharing, spans
from .schedules import Schedule, find

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
    own = find(description.schedule) if schedule is None or placement is None else None
    found = own if schedule is None else find(schedule)
    if placement is None and found == own:
        placement = description.placement
    return found, found.placement if placement is None else placement


def read(description: Description, ranks: int, schedule: Schedule, placement: str) -> list[Lane]:
    """The lanes of `ranks` ranks. Raises BadInput for what the mini-app would refuse: synapses without a
    lane, periods that are longer than the shortest delay, a D that is not a multiple of lag + 1."""
    own, schedule = find(description.schedule) == schedule, schedule.of(description.lag, ranks)
    held = pairs(description, schedule, placement, ranks)
    shortest = _shortest(description, held)
    where = areas_on_ranks(description, placement, ranks)
    for field in ("exchange", "wire"):
        given = getattr(description, field)
        by_lane = own and isinstance(given, dict) and "name" not in given
        for lane in (lane for lane in (given if by_lane else ()) if lane not in held):
            raise BadInput(f"{field}: no lane {lane!r}; there are {', '.join(held)}")
    longest = {r.name: _longest(description, shortest[r.name], r.lag) for r in schedule.lanes}
    largest = min((longest[rule.name] for rule in schedule.lanes if rule.period == "D"), default=1)
    ratio = largest if description.delay_ratio == "auto" else description.delay_ratio
    if not ratio:
        expected = "a schedule with shorter windows: a lane has delays of less than lag + 1 cycles"
        raise BadInput.of("delay_ratio", "auto", expected)
    found = []
    for rule in schedule.lanes:
        name, wire, lag, due = rule.name, description.wire, rule.lag, shortest[rule.name]
        most = _cycles(description, due) // (1 if due is None else lag + 1)
        period = max(1, most) if rule.period == "auto" else rule.window(ratio, lag)
        if due is not None and period > most:  # spikes would depend on the schedule
            hint = f"; the largest exact delay_ratio is {largest}" * bool(rule.period == "D" and largest)
            windows = f"lane {name} has windows of {period} cycles; its shortest delay allows {most}"
            raise BadInput(f"schedule={schedule.name}: {windows} (lag {lag}){hint}")
        exchange, composed = exchange_of(description.exchange, name, lag)
        word = WORD_BYTES[wire.get(name, "compact") if isinstance(wire, dict) else wire]
        group = _group(description, rule, where, ranks)
        found.append(Lane(name, period, lag, held[name], group, exchange, word, composed, due))
    return found


def pairs(description: Description, schedule: Schedule, placement: str, ranks: int) -> dict[str, np.ndarray]:
    """The pairs of areas that each lane connects, boolean [source area, target area].

    A pair is in at most one lane. Raises BadInput for groups that do not divide the ranks, and for areas that
    the network does not have.
    """
    first, n = np.array(spans(description, placement, ranks)).reshape(-1, 2).T
    names = description.network.areas
    free = np.ones((len(names), len(names)), dtype=bool)
    found = {}
    for number, rule in enumerate(schedule.of(description.lag, ranks).lanes):
        ends = []
        for field, listed in zip(("from", "to"), rule.ends, strict=True):
            listed = names if listed is None else listed
            unknown = [n for i, n in enumerate(listed) if n not in names or n in listed[:i]]
            if unknown or not listed:
                expected = f"areas of the network, none twice: {', '.join(names)}"
                raise BadInput.of(f"schedule.{number}.{field}", unknown[0] if unknown else [], expected)
            ends.append(np.isin(names, listed))
        joined = free & np.outer(*ends)
        if rule.group == "area":
            joined &= np.eye(len(names), dtype=bool)
        elif rule.group != "world":
            if ranks % rule.group:
                raise BadInput.of(f"schedule.{number}.group", rule.group, f"a divisor of the {ranks} ranks")
            block = first // rule.group
            whole = block == (first + n - 1) // rule.group  # an area in several blocks belongs to none
            joined &= (block[:, None] == block) & whole & whole[:, None]
        found[rule.name] = joined
        free &= ~joined
    return found


def _shortest(description: Description, held: dict[str, np.ndarray]) -> dict[str, int | None]:
    """The shortest delay of each lane in steps; None where it has no synapses.

    Raises BadInput for synapses that are in no lane.
    """
    delays, network = description.shortest, description.network
    missed = np.isfinite(delays) & ~np.any(list(held.values()), axis=0)
    for source, target in np.argwhere(missed)[:1]:
        ends = f"from area {network.areas[source]!r} to area {network.areas[target]!r}"
        raise BadInput(f"schedule: no lane for synapses {ends}; every synapse needs one")
    found = {name: np.min(delays, where=inside, initial=np.inf) for name, inside in held.items()}
    return {name: int(delay) if np.isfinite(delay) else None for name, delay in found.items()}


def largest_delay_ratio(description: Description, schedule: Schedule, lanes: list[Lane]) -> int | None:
    """The largest D that is exact in all lanes which use it; None where no lane does (`delay_ratio`)."""
    if delay_ratio(schedule, lanes) is None:
        return None
    follow = (lane for rule, lane in zip(schedule.lanes, lanes, strict=True) if rule.period == "D")
    return min(_longest(description, lane.shortest, lane.lag) for lane in follow)


def largest_between_areas(description: Description, lag: int = 0) -> int | None:
    """The largest D that is exact if every area has ranks of its own; None without synapses between areas.

    Raises BadInput where none is exact with this lag.
    """
    between = description.shortest[~np.eye(len(description.network.areas), dtype=bool)]
    if not np.isfinite(between).any():
        return None
    found, most = (_longest(description, int(between.min()), windows) for windows in (lag, 0))
    if not found:
        raise BadInput.of("lag", lag, f"below the {most} cycles that delays between areas allow")
    return found


def delay_ratio(schedule: Schedule, lanes: list[Lane]) -> int | None:
    """D of lanes that were read for the schedule.

    None where nothing uses D: no lane of the schedule, or only lanes without synapses that join no ranks.
    """
    follow = (lane for rule, lane in zip(schedule.lanes, lanes, strict=True) if rule.period == "D")
    used = (lane for lane in follow if lane.shortest is not None or not lane.alone)
    return next((lane.period * (lane.lag + 1) for lane in used), None)


def _longest(description: Description, shortest: int | None, lag: int) -> int:
    """The largest D that is exact in a lane with this shortest delay; 0 where none is."""
    most = min(_cycles(description, shortest), MOST_DELAY_RATIO)
    return most - most % (lag + 1)


def _cycles(description: Description, shortest: int | None) -> int:
    """Whole cycles in the shortest delay; without a delay, those of the run."""
    if shortest is None:
        return max(1, description.time.cycles)
    return shortest // description.time.cycle_steps


def _group(description: Description, rule: Rule, where: np.ndarray, ranks: int) -> np.ndarray:
    """The number of each rank's group, [rank]; `where` as from `areas_on_ranks`."""
    if rule.group == "area":
        return sharing(where, ranks)
    if rule.group != "world":
        return np.arange(ranks) // rule.group
    if not rule.bound:
        return np.zeros(ranks, dtype=int)
    names = description.network.areas
    ends = {name for listed in rule.ends for name in (names if listed is None else listed)}
    joined = np.zeros(ranks, dtype=bool)
    for number, first, n in where:
        joined[first : first + n] |= names[number] in ends
    return np.where(joined, 0, np.arange(ranks) + 1)


def exchange_of(given: str | dict, lane: str, lag: int) -> tuple[str, Composed]:
    """The name and the fields of the exchange of a lane, from the field `exchange` of a description."""
    if isinstance(given, dict) and "name" not in given:
        given = given.get(lane, {})
    if not isinstance(given, dict):
        given = {"name": given}
    name = given.get("name") or ("ialltoallv" if lag else "alltoallv")
    return name, Composed.of(name, given)
