"""Power and price of the nodes of a machine, from its profile (energy/power_model.py)."""

from spikemark.energy.power_model import PowerModel
from spikemark.machines.inputs import Inputs
from spikemark.machines.parts import Share

from .layout import Layout

HOUR = 3600.0


def power_w(inputs: Inputs, layout: Layout) -> float:
    """Power of all nodes together in W: idle, every busy core, and the cards if there are several nodes.

    Cores wait busily, so all of them are always busy.
    """
    return sum(share_w(inputs, layout, share) for share in layout.shares)


def share_w(inputs: Inputs, layout: Layout, share: Share) -> float:
    """The same of the nodes of one share."""
    cards = 1 if layout.nodes > 1 else 0

    def ask(of: Inputs, share: Share) -> float:
        node = share.node
        model = PowerModel(
            of.profile.name,
            of.need("power.idle", "energy"),
            of.need("power.core", "energy"),
            of.need("power.card", "energy of the interconnect") if cards else 0.0,
        )
        busy = node.busy * node.nodes  # the last node may have fewer ranks; all of it is paid for
        return node.nodes * model.idle_w + model.above_idle_w(busy, cards * node.nodes)

    return layout.ask(inputs, share, ask)


def cost_per_s(inputs: Inputs, layout: Layout) -> float:
    """EUR per second of wall-clock time for the nodes. Raises BadInput where a price is unknown."""

    def ask(of: Inputs, share: Share) -> float:
        return share.node.nodes * of.need("price.node_hour", "the cost") / HOUR

    return sum(layout.each(inputs, ask))
