"""Which exchange serves each lane best on a machine; what nobody stated counts as in choices.py."""

from contextlib import suppress
from dataclasses import replace

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.network.lanes import Lane

from . import choices
from .collectives import Collectives
from .exchange import EXCHANGES, OVERLAPPING, groups, seconds
from .intervals import predicted
from .layout import Layout
from .loads import Loads
from .traffic import Traffic


def least(loads: Loads, layout: Layout, profile) -> dict[str, str]:
    """The exchange that takes the least time in each lane in which ranks exchange, by lane."""
    inputs, found = Inputs(profile), {}
    for number, lane in enumerate(loads.lanes):
        traffic = groups(loads, number, layout)
        if traffic:
            times = {}
            for name in EXCHANGES:
                if not lane.lag or name in OVERLAPPING:
                    with suppress(BadInput):  # one that cannot serve these ranks
                        times[name] = _slowest(replace(lane, exchange=name), traffic, inputs, layout)
            own = lane.exchange if times.get(lane.exchange) == min(times.values()) else None
            found[lane.name] = own or min(times, key=times.get)
    return found


def _slowest(lane: Lane, traffic: list[Traffic], inputs: Inputs, layout: Layout) -> float:
    """Seconds of a lane's exchange, with the library and the topology with which it takes longest."""

    def cost(net: Collectives) -> float:
        return seconds(net, lane, traffic)

    return cost(choices.settled(inputs, layout.nodes, cost))


def surely(wanted: dict[str, str], loads: Loads, layout: Layout, profile) -> dict[str, str]:
    """Exchanges by lane whose whole interval says that they are faster than the lane's own;
    in other lanes, the lane's own."""
    return {
        lane.name: wanted[lane.name]
        if _faster(wanted[lane.name], lane, groups(loads, number, layout), layout, profile)
        else lane.exchange
        for number, lane in enumerate(loads.lanes)
        if lane.name in wanted
    }


def _faster(name: str, lane: Lane, traffic: list[Traffic], layout: Layout, profile) -> bool:
    if name == lane.exchange:
        return False

    other = replace(lane, exchange=name)

    def share(net: Collectives) -> float:
        return seconds(net, other, traffic) / seconds(net, lane, traffic)

    def evaluate(inputs: Inputs) -> dict[str, float]:
        return {"ratio": 1 / share(choices.settled(inputs, layout.nodes, share))}

    return predicted(Inputs(profile), evaluate)[0]["ratio"].low > 1
