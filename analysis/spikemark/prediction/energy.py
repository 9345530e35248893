"""Power and price of the nodes of a machine, from its profile (energy/power_model.py)."""

from spikemark.energy.power_model import PowerModel

from .inputs import Inputs
from .phases import Node

HOUR = 3600.0


def power_w(inputs: Inputs, shape: Node) -> float:
    """Of all nodes together: idle, a share for every busy core, and the card where there are several nodes.

    Cores wait busily, so that all of them are busy all the time.
    """
    cards = 1 if shape.nodes > 1 else 0
    model = PowerModel(
        inputs.profile.name,
        inputs.need("power.idle", "energy"),
        inputs.need("power.core", "energy"),
        inputs.need("power.card", "energy of the interconnect") if cards else 0.0,
    )
    busy = shape.busy * shape.nodes  # the last node may have fewer ranks; it is paid for whole
    return shape.nodes * model.idle_w + model.above_idle_w(busy, cards * shape.nodes)


def cost_per_s(inputs: Inputs, shape: Node) -> float:
    """EUR per second of wall-clock time for the nodes. Raises BadInput where the price is unknown."""
    return shape.nodes * inputs.need("price.node_hour", "the cost") / HOUR
