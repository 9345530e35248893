"""Energy of a simulated run: the modelled power of its nodes over the simulated time, by part of the machine.

Cores wait busily, so power does not depend on what a rank does (`prediction.energy`). Energy per synaptic
event counts the events from outside, too; that of a part counts the events of its own ranks.
"""

from typing import Any

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.profile import UnknownValue
from spikemark.prediction import energy
from spikemark.records.record import Run

from .sources import Place

NO_EVENTS = "there are no synaptic events"


def modelled(place: Place, run: Run) -> dict[str, Any]:
    """W, J and uJ per synaptic event of the measured part of a run, of all nodes and of each named part.

    What is unknown is None, with the reason.
    """
    inputs, layout, seconds = Inputs(place.machine), place.layout, run.record.timing.simulate_s
    events = run.ranks[["synaptic_events", "external_events"]].to_numpy(dtype=float).sum(axis=1)

    def figures(share) -> dict[str, Any]:
        try:
            return _figures(energy.share_w(inputs, layout, share), seconds, events[share.slice])
        except UnknownValue as reason:
            return _unknown(str(reason))

    each = {share.part: figures(share) for share in layout.shares}
    if None in each:
        return {"kind": "modelled", **each[None]}
    lacking = next((one["reason"] for one in each.values() if one["power_w"] is None), None)
    power = 0.0 if lacking else sum(one["power_w"] for one in each.values())
    whole = _unknown(lacking) if lacking else _figures(power, seconds, events)
    return {"kind": "modelled", **whole, "parts": each}


def _figures(power_w: float, seconds: float, events: np.ndarray) -> dict[str, Any]:
    joules, number = power_w * seconds, float(events.sum())
    known = number > 0  # false for events that were not counted, too
    return {
        "power_w": power_w,
        "energy_j": joules,
        "energy_per_event_uj": 1e6 * joules / number if known else None,
        "reason": None if known else NO_EVENTS,
    }


def _unknown(reason: str) -> dict[str, Any]:
    return {"power_w": None, "energy_j": None, "energy_per_event_uj": None, "reason": reason}
