"""Power and price of the nodes of a machine, from its profile (energy/power_model.py)."""

from spikemark.energy.power_model import PowerModel
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node

HOUR = 3600.0


def power_w(inputs: Inputs, node: Node) -> float:
    """Power of all nodes together in W: idle, every busy core, and the cards if there are several nodes.

    Cores wait busily, so all of them are always busy.
    """
    cards = 1 if node.nodes > 1 else 0
    model = PowerModel(
        inputs.profile.name,
        inputs.need("power.idle", "energy"),
        inputs.need("power.core", "energy"),
        inputs.need("power.card", "energy of the interconnect") if cards else 0.0,
    )
    busy = node.busy * node.nodes  # the last node may have fewer ranks; all of it is paid for
    return node.nodes * model.idle_w + model.above_idle_w(busy, cards * node.nodes)


def cost_per_s(inputs: Inputs, node: Node) -> float:
    """EUR per second of wall-clock time for the nodes. Raises BadInput where the price is unknown."""
    return node.nodes * inputs.need("price.node_hour", "the cost") / HOUR
