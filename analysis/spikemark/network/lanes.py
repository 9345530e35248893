"""The lanes of a run that has not been made: their periods, lags and groups of ranks, from its description.

The rules of the mini-app's schedules, restated (miniapp/FORMAT.md, docs/miniapp.md); which synapses a lane
holds is known to `models.lanes`.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput

from . import placement as placements
from . import schedules as models

EPSILON = 1e-9


@dataclass(frozen=True)
class Lane:
    """`held`: boolean [source area, target area]; `group`: equal for ranks that exchange with each other."""

    name: str
    period: int  # P, cycles
    lag: int  # L, windows
    held: np.ndarray
    group: np.ndarray  # [rank]
    exchange: str
    word_bytes: int  # of a spike in a message
    composed: tuple = ("alltoallv", "alltoallv", None)  # of two_level: inner, outer, ranks of a block

    @property
    def sizes(self) -> np.ndarray:
        """Ranks in the group of each rank, [rank]."""
        return np.bincount(self.group)[self.group]

    @property
    def alone(self) -> bool:
        """No rank exchanges with another one."""
        return bool((self.sizes == 1).all())


def chosen(description: dict, schedule: str | list | None, placement: str | None) -> tuple[str | list, str]:
    """Schedule and placement: those given, else the description's, else what the schedule implies."""
    described = description.get("schedule", "conventional")
    schedule = described if schedule is None else schedule
    if isinstance(schedule, str) and schedule not in models.SCHEDULES:
        raise BadInput(f"schedule={schedule!r}: known are {', '.join(models.SCHEDULES)}, or a list of lanes")
    if placement is None and schedule == described:
        placement = description.get("placement")
    return schedule, models.implied_placement(schedule) if placement is None else placement


def read(description: dict, ranks: int, schedule: str | list, placement: str) -> list[Lane]:
    """The lanes of `ranks` ranks. Raises BadInput for what the mini-app would refuse: unknown names, periods
    that are longer than the shortest delay, a D that the lag does not divide."""
    held = models.pairs(description, schedule, placement, ranks)
    rules = models.SCHEDULES[schedule] if isinstance(schedule, str) else schedule
    shortest = _shortest_cycles(description)
    spans = placements.spans(description, placement, ranks)
    names = list(dict.fromkeys(placements.area_names(description["network"]["populations"])))
    _all_held(shortest, held, names)
    if schedule == description.get("schedule", "conventional"):
        for field in ("exchange", "wire"):
            _known(description, field, list(held))
    found = []
    for rule in rules:
        name = rule["name"]
        lag = _lag(description, schedule, rule)
        most = _most(shortest, held[name], lag)
        period = _period(description, schedule, rule, lag, most)
        group = _group(rule, spans, names, ranks)
        if most is not None and period > most:
            raise BadInput(
                f"schedule={schedule if isinstance(schedule, str) else 'lanes'}: lane {name} has windows of"
                f" {period} cycles; its shortest delay allows {most} (lag {lag})"
            )
        exchange, composed = _exchange(description, name, lag)
        found.append(Lane(
            name, period, lag, held[name], group, exchange, _bytes(description, name), composed
        ))  # fmt: skip
    return found


def _all_held(shortest: dict, held: dict[str, np.ndarray], names: list[str]) -> None:
    for source, target in shortest:
        if not any(lane[source, target] for lane in held.values()):
            raise BadInput(f"schedule: no lane for the synapses from {names[source]!r} to {names[target]!r}")


def _known(description: dict, field: str, lanes: list[str]) -> None:
    given = description.get(field)
    if isinstance(given, dict) and "name" not in given:
        for lane in given:
            if lane not in lanes:
                raise BadInput(f"{field}: no lane {lane!r}; there are {', '.join(lanes)}")


def _lag(description: dict, schedule: str | list, rule: dict) -> int:
    if schedule == "overlapped":
        return int(description.get("lag", 1)) if rule["name"] == "far" else 0
    return int(rule.get("lag", 0))


def _period(description: dict, schedule: str | list, rule: dict, lag: int, most: int | None) -> int:
    wanted = rule.get("period", 1)
    if isinstance(schedule, str):
        wanted = {"far": "D", "group": "auto"}.get(rule["name"], 1)
    if wanted == "auto":
        return max(1, most or 1)
    if wanted != "D":
        return int(wanted)
    ratio = description.get("delay_ratio", 1)
    if ratio == "auto":
        return max(1, most or 1)
    if ratio % (lag + 1):
        raise BadInput(f"delay_ratio={ratio}: with lag={lag} a multiple of {lag + 1}")
    return ratio // (lag + 1)


def _most(shortest: dict, held: np.ndarray, lag: int) -> int | None:
    """The longest exact period of a lane, cycles; None where it has no synapses."""
    cycles = [n for (source, target), n in shortest.items() if held[source, target]]
    return min(cycles) // (lag + 1) if cycles else None


def _shortest_cycles(description: dict) -> dict[tuple[int, int], int]:
    """Whole cycles in the shortest delay, by source and target area."""
    time, populations = description["time"], description["network"]["populations"]
    step = time.get("resolution_ms", 0.1)
    steps = max(1, round(time.get("cycle_ms", step) / step))
    areas = dict(zip((p["name"] for p in populations), placements.areas_of(populations), strict=True))
    found: dict[tuple[int, int], int] = {}
    for projection in description["network"].get("projections", []):
        delay = projection["delay"]
        kind = delay.get("distribution", "normal")
        fixed = kind == "constant" or (kind == "normal" and delay.get("sd", 0) == 0)
        low = (delay["mean"] if fixed else delay.get("min", step)) / step
        cycles = int(np.floor(low + 0.5 + EPSILON)) // steps
        sources = projection["source"]
        for source in [sources] if isinstance(sources, str) else sources:
            pair = areas[source], areas[projection["target"]]
            found[pair] = min(found.get(pair, cycles), cycles)
    return found


def _group(rule: dict, spans: list[tuple[int, int]], names: list[str], ranks: int) -> np.ndarray:
    kind = rule.get("group", "world")
    if kind == "area":
        group = np.arange(ranks)
        for first, n in spans:
            group[first : first + n] = np.minimum(group[first : first + n], first)
        return np.unique(group, return_inverse=True)[1]
    if kind != "world":
        return np.arange(ranks) // (models.square(ranks) if kind == "square" else int(kind))
    if "from" not in rule and "to" not in rule:
        return np.zeros(ranks, dtype=int)
    ends = {n for end in ("from", "to") for n in _listed(rule.get(end, names))}
    joined = np.zeros(ranks, dtype=bool)
    for name, (first, n) in zip(names, spans, strict=True):
        joined[first : first + n] |= name in ends
    return np.where(joined, 0, np.arange(ranks) + 1)


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _exchange(description: dict, lane: str, lag: int) -> tuple[str, tuple]:
    given = description.get("exchange", {})
    if isinstance(given, dict) and "name" not in given:
        given = given.get(lane, {})
    if not isinstance(given, dict):
        given = {"name": given}
    inner, outer = given.get("inner", "alltoallv"), given.get("outer", "alltoallv")
    return given.get("name") or ("ialltoallv" if lag else "alltoallv"), (inner, outer, given.get("group"))


def _bytes(description: dict, lane: str) -> int:
    wire = description.get("wire", "compact")
    return {"compact": 4, "aer12": 12}[wire.get(lane, "compact") if isinstance(wire, dict) else wire]
