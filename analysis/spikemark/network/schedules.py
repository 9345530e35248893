"""Which lane of a schedule the synapses from one area to another belong to.

The rules of the mini-app's schedules, restated: a schedule is a list of lanes from narrow to wide, and a
synapse belongs to the first one in whose groups of ranks, or between whose areas, its source and its target
lie (miniapp/FORMAT.md).
"""

import numpy as np

from spikemark.core.errors import BadInput

from . import placement as placements

NEAR, FAR = {"name": "near", "group": "area"}, {"name": "far"}
SCHEDULES: dict[str, list[dict]] = {
    "conventional": [{"name": "world"}],
    "placement_only": [{"name": "world"}],
    "structure_aware": [NEAR, FAR],
    "overlapped": [NEAR, FAR],
    "hierarchical": [NEAR, {"name": "group", "group": "square"}, FAR],
}


def implied_placement(schedule: str | list) -> str:
    """The placement of a run that names none."""
    return "round_robin" if schedule == "conventional" else "area"


def pairs(description: dict, schedule: str | list[dict], placement: str, ranks: int) -> dict[str, np.ndarray]:
    """Lane -> the pairs it holds, boolean [source area, target area]; a pair is in one lane, or in none.

    `schedule` is a name or a list of lanes as in a run description. Raises BadInput for an unknown schedule
    and groups that do not divide the ranks.
    """
    if isinstance(schedule, str) and schedule not in SCHEDULES:
        raise BadInput(f"schedule={schedule!r}: known are {', '.join(SCHEDULES)}, or a list of lanes")
    spans = np.array(placements.spans(description, placement, ranks)).reshape(-1, 2)
    names = list(dict.fromkeys(placements.area_names(description["network"]["populations"])))
    free = np.ones((len(names), len(names)), dtype=bool)
    found = {}
    for number, lane in enumerate(SCHEDULES[schedule] if isinstance(schedule, str) else schedule):
        held = free & _joined(lane, number, spans, ranks)
        held &= np.outer(np.isin(names, lane.get("from", names)), np.isin(names, lane.get("to", names)))
        found[lane["name"]] = held
        free &= ~held
    return found


def _joined(lane: dict, number: int, spans: np.ndarray, ranks: int) -> np.ndarray:
    """Pairs of areas that lie in one group of ranks of the lane, [source area, target area]."""
    group = lane.get("group", "world")
    if group == "area":
        return np.eye(len(spans), dtype=bool)
    if group == "world":
        return np.ones((len(spans), len(spans)), dtype=bool)
    size = square(ranks) if group == "square" else group
    if not isinstance(size, int) or size < 1 or ranks % size:
        raise BadInput(f"schedule.{number}.group: {size}; allowed: a divisor of the {ranks} ranks")
    first, last = spans[:, 0] // size, (spans[:, 0] + spans[:, 1] - 1) // size
    whole = first == last  # an area spread over several groups is in none
    return (first[:, None] == first) & whole & whole[:, None]


def square(ranks: int) -> int:
    """The divisor of the ranks closest to their square root; of two, the smaller."""
    divisors = (d for d in range(1, ranks + 1) if ranks % d == 0)
    return min(divisors, key=lambda d: (abs(d - ranks**0.5), d))
