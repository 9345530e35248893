"""The mini-app's time on a machine, by part: phases.py, waiting.py and exchange.py.

On a machine of unequal parts, all ranks go through the same cycles: computing and waiting are also known for
the ranks on each part of the machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.machines.parts import Share
from spikemark.models import recursion
from spikemark.network.lanes import Lane
from spikemark.records.phases import COMPUTE

from . import exchange, networks, phases, waiting
from .layout import Layout, figure
from .loads import Loads
from .measured import Measured
from .networks import Networks
from .traffic import Traffic

PARTS = (*COMPUTE, "waiting", "exchange")
#: What is known of the ranks on each part of a machine.
COMPUTING, WAITED = "compute", "waiting"


@dataclass(frozen=True)
class Times:
    """Seconds per simulated second: of each of PARTS, as a mean over ranks, and of parts of a machine.

    `by_part`: COMPUTING and WAITED, by `layout.figure`; empty where all nodes are equal.
    """

    parts: dict[str, float]
    by_part: dict[str, float]


def of_parts(
    loads: Loads, inputs: Inputs, layout: Layout, measured: Measured | None = None
) -> dict[str, float]:
    """Seconds per simulated second of each of PARTS, as a mean over ranks; raises as `of_machine` does."""
    return of_machine(loads, inputs, layout, measured).parts


def of_machine(loads: Loads, inputs: Inputs, layout: Layout, measured: Measured | None = None) -> Times:
    """All times. `measured`: compute times in place of those that kernel times predict.

    Raises BadInput for a value of the profile that is unknown.
    """
    parts = phases.of_ranks(loads, inputs, layout) if measured is None else measured.mean_s(inputs)
    compute = sum(parts)
    waited, moving = _meetings(loads, compute, inputs, layout, measured)
    ranks = np.array([share.ranks for share in layout.shares])
    seconds = [*(part.mean() for part in parts), ranks / loads.ranks @ waited, moving]
    by_part = {}
    for share, wait in zip(layout.shares, waited, strict=True):
        if share.part is not None:
            by_part[figure(share, COMPUTING)] = float(compute[share.slice].mean()) / loads.cycle_s
            by_part[figure(share, WAITED)] = float(wait) / loads.cycle_s
    return Times({name: float(s) / loads.cycle_s for name, s in zip(PARTS, seconds, strict=True)}, by_part)


def at_least(loads: Loads, inputs: Inputs, layout: Layout, exchanging: bool = True) -> float:
    """A lower bound of the sum of all parts, quickly: without waiting, but for the slowest rank's mean.

    Without `exchanging` it is one for any exchange in any lane.
    """
    compute = sum(phases.of_ranks(loads, inputs, layout))
    moving = 0.0
    if exchanging and loads.ranks > 1:
        nets = network_of(loads, inputs, layout)
        for lane, traffic in meeting(loads, layout):
            if not lane.lag:
                moving += nets.exchange_s(lane, traffic) / lane.period
    return (float(compute.max()) + moving) / loads.cycle_s


def network_of(loads: Loads, inputs: Inputs, layout: Layout) -> Networks:
    """The calls between the ranks; what nobody stated of them is as bad as it may be (choices.py)."""
    return networks.of(inputs, layout, meeting(loads, layout))


def meeting(loads: Loads, layout: Layout) -> list[tuple[Lane, list[Traffic]]]:
    """The lanes in which anybody meets before the end of the run, and what the ranks send each other."""
    found = []
    for number, lane in enumerate(loads.lanes):
        whole = lane.period * (lane.lag + 1) >= loads.description.time.cycles
        traffic = exchange.groups(loads, number, layout)
        if traffic and not (lane.shortest is None and whole):
            found.append((lane, traffic))
    return found


def _meetings(
    loads: Loads, compute: np.ndarray, inputs: Inputs, layout: Layout, measured: Measured | None
) -> tuple[np.ndarray, float]:
    """Seconds per cycle: waited by the ranks of each share, barriers included, and in exchanges that are not
    hidden."""
    nobody = np.zeros(len(layout.shares))
    if loads.ranks == 1:
        return nobody, 0.0
    nets = network_of(loads, inputs, layout)
    meetings, barriers, moving = [], [], 0.0
    for lane, traffic in meeting(loads, layout):
        seconds = nets.exchange_s(lane, traffic)
        meetings.append(recursion.Lane(lane.period, lane.lag, tuple(lane.group), seconds))
        if not lane.lag:
            barriers.append((lane, traffic))
            moving += seconds / lane.period
    if not meetings:
        return nobody, 0.0
    if measured is not None:
        (share,) = layout.shares
        waited = np.array([measured.waited_s(meetings, inputs, share.node.ranks)])
        return _after_barriers(waited, moving, barriers, nets, partial(measured.arrivals, inputs))

    def group(of: Inputs, share: Share) -> waiting.Group:
        return waiting.Group(compute[share.slice], Jitter.of(of, waiting.WHY), share.node.ranks)

    groups = layout.each(inputs, group)
    if len(meetings) == 1 and not meetings[0].lag and len(set(meetings[0].group)) == 1:
        waited = waiting.lockstep(groups, meetings[0].period)
    else:
        waited = waiting.through_lanes(groups, meetings)
    return _after_barriers(waited, moving, barriers, nets, partial(waiting.arrivals, groups))


def _after_barriers(
    waited: np.ndarray,
    moving: float,
    barriers: list[tuple[Lane, list[Traffic]]],
    nets: Networks,
    arrivals: Callable[[list[waiting.Met]], np.ndarray],
) -> tuple[np.ndarray, float]:
    """Adds barriers to the waiting for the last rank. Who leaves one early waits in the exchange instead.

    `arrivals` of all ranks at the barrier of a lane that has met others in earlier ones, [draw, rank] in s.
    """
    for number, (lane, traffic) in enumerate(barriers):
        met = [(earlier.period, earlier.group) for earlier, _ in barriers[:number]]
        after = nets.barrier_after(lane, arrivals([*met, (lane.period, lane.group)]))
        own = np.array([after[share.slice].mean() for share in nets.layout.shares])
        moving += max(0.0, nets.barrier_s(traffic) - float(after.mean())) / lane.period
        waited = waited + own / lane.period
    return waited, moving
