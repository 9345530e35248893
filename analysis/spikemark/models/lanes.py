"""Which lane a synapse belongs to, by the areas of its source and target: the mini-app's rule, restated."""

from collections.abc import Sequence

import numpy as np

from spikemark.errors import BadInput


def pairs(schedule: str | list[dict], areas: Sequence[str]) -> dict[str, np.ndarray]:
    """Lanes of a schedule: name -> the pairs [source population, target population] whose synapses it holds.

    `areas`: name of each population's area. `schedule`: a name, or a list of lanes as in a run description.
    Raises BadInput for a schedule whose lanes depend on the ranks, which areas alone do not tell.
    """
    if isinstance(schedule, list):
        return _listed(schedule, np.array(areas))
    if schedule not in LANES:
        raise BadInput(f"schedule={schedule!r}: known are {', '.join(LANES)}, or a list of lanes")
    return LANES[schedule](np.array(areas))


def _one_lane(areas: np.ndarray) -> dict[str, np.ndarray]:
    return {"world": np.ones((len(areas), len(areas)), dtype=bool)}


def _near_and_far(areas: np.ndarray) -> dict[str, np.ndarray]:
    near = areas[:, None] == areas[None, :]
    return {"near": near, "far": ~near}


LANES = {
    "conventional": _one_lane,
    "placement_only": _one_lane,
    "structure_aware": _near_and_far,
    "overlapped": _near_and_far,
}


def _listed(lanes: list[dict], areas: np.ndarray) -> dict[str, np.ndarray]:
    """Each pair in the first lane that may hold it."""
    found = {}
    left = np.ones((len(areas), len(areas)), dtype=bool)
    for number, lane in enumerate(lanes):
        group = lane.get("group", "world")
        if group == "area":
            may = areas[:, None] == areas[None, :]
        elif group == "world":
            may = np.outer(_among(lane.get("from"), areas), _among(lane.get("to"), areas))
        else:
            raise BadInput(
                f"schedule.{number}.group={group!r}: known are 'area' and 'world', alone or with from and to"
            )
        found[lane["name"]] = left & may
        left &= ~may
    return found


def _among(names: str | list[str] | None, areas: np.ndarray) -> np.ndarray:
    """Whether each population lies in one of the areas; None: all do."""
    if names is None:
        return np.ones(len(areas), dtype=bool)
    return np.isin(areas, [names] if isinstance(names, str) else names)
