"""The mini-app's time on a machine, by part: phases.py, waiting.py and exchange.py."""

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.machines.node import Node
from spikemark.models import recursion
from spikemark.network.lanes import Lane
from spikemark.records.phases import COMPUTE

from . import choices, exchange, phases, waiting
from .collectives import Collectives
from .loads import Loads
from .measured import Measured
from .traffic import Traffic

PARTS = (*COMPUTE, "waiting", "exchange")


def of_parts(loads: Loads, inputs: Inputs, node: Node, measured: Measured | None = None) -> dict[str, float]:
    """Seconds per simulated second of each of PARTS, as a mean over ranks.

    `measured`: compute times in place of those that kernel times predict. Raises BadInput for a value of the
    profile that is unknown.
    """
    parts = phases.seconds(loads, inputs, node) if measured is None else measured.mean_s(inputs)
    seconds = [*(part.mean() for part in parts), *_meetings(loads, sum(parts), inputs, node, measured)]
    return {name: float(s) / loads.cycle_s for name, s in zip(PARTS, seconds, strict=True)}


def at_least(loads: Loads, inputs: Inputs, node: Node, exchanging: bool = True) -> float:
    """A lower bound of the sum of all parts, quickly: without waiting, but for the slowest rank's mean.

    Without `exchanging` it is one for any exchange in any lane.
    """
    compute = sum(phases.seconds(loads, inputs, node))
    moving = 0.0
    if exchanging and loads.ranks > 1:
        net = network_of(loads, inputs, node)
        for lane, traffic in meeting(loads, node):
            if not lane.lag:
                moving += exchange.seconds(net, lane, traffic) / lane.period
    return (float(compute.max()) + moving) / loads.cycle_s


def network_of(loads: Loads, inputs: Inputs, node: Node) -> Collectives:
    """The calls between the ranks; what nobody stated of them is as bad as it may be (choices.py)."""
    met = meeting(loads, node)

    def cost(net: Collectives) -> float:
        return sum(
            (exchange.seconds(net, lane, t) + exchange.barrier(net, t)) / lane.period for lane, t in met
        )

    return choices.settled(inputs, node.nodes, cost)


def meeting(loads: Loads, node: Node) -> list[tuple[Lane, list[Traffic]]]:
    """The lanes in which anybody meets before the end of the run, and what the ranks send each other."""
    found = []
    for number, lane in enumerate(loads.lanes):
        whole = lane.period * (lane.lag + 1) >= loads.description.time.cycles
        traffic = exchange.groups(loads, number, node.ranks)
        if traffic and not (lane.shortest is None and whole):
            found.append((lane, traffic))
    return found


def _meetings(
    loads: Loads, compute: np.ndarray, inputs: Inputs, node: Node, measured: Measured | None
) -> tuple[float, float]:
    """Seconds per cycle spent waiting, barriers included, and in exchanges that are not hidden."""
    if loads.ranks == 1:
        return 0.0, 0.0
    net = network_of(loads, inputs, node)
    meetings, barriers, moving = [], 0.0, 0.0
    for lane, traffic in meeting(loads, node):
        seconds = exchange.seconds(net, lane, traffic)
        meetings.append(recursion.Lane(lane.period, lane.lag, tuple(lane.group), seconds))
        if not lane.lag:
            barriers += exchange.barrier(net, traffic) / lane.period
            moving += seconds / lane.period
    if not meetings:
        return 0.0, 0.0
    if measured is not None:
        return measured.waited_s(meetings, inputs, node.ranks) + barriers, moving
    jitter = Jitter.of(inputs, waiting.WHY)
    if len(meetings) == 1 and not meetings[0].lag and len(set(meetings[0].group)) == 1:
        waited = waiting.lockstep(compute, jitter, meetings[0].period, node.ranks)
    else:
        waited = waiting.through_lanes(compute, jitter, meetings, node.ranks)
    return waited + barriers, moving
