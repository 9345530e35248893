"""What a prediction assumes, one line each."""

from spikemark.machines import algorithms
from spikemark.machines.inputs import Inputs
from spikemark.machines.parts import Share

from . import phases, rates
from .layout import Layout
from .loads import Loads
from .measured import Measured
from .networks import Networks

INDEPENDENT = "ranks fluctuate independently of each other"
BUSY = "cores wait busily: power does not depend on what a core does"
HIDDEN = "MPI works on an exchange while ranks compute, as far as the lane's lag allows"
STRUCTURES = "memory is that of the mini-app's own structures, at most while it builds the network"


def assumptions(
    inputs: Inputs,
    layout: Layout,
    loads: Loads,
    found: rates.Rates,
    nets: Networks | None,
    measured: Measured | None,
) -> list[str]:
    """All lines. `nets`: None for a single rank."""
    of_times = phases.assumed(inputs) if measured else phases.assumptions(inputs, layout, loads)
    lines = [f"rates: {found.source}", *of_times, BUSY, STRUCTURES]
    lines += [line for some in layout.each(inputs, _memory) for line in some]
    if nets is not None:
        lines += [INDEPENDENT, algorithms.words(nets.whole.net.selector, loads.ranks), *nets.said(inputs)]
        used = [name for lane in loads.lanes if not lane.alone for name in lane.exchanges]
        own = [layout.shares[of[0]] for of in nets.calls if len(of) == 1]  # only these have tables
        paths = {path for share in own for path in layout.profile(inputs.profile, share).values}
        lines += algorithms.differences(used, paths, layout.routed(inputs.profile))
    if any(lane.lag for lane in loads.lanes):
        lines.append(HIDDEN)
    return lines + [f"{path}: times {factor:.3g}, as fitted" for path, factor in inputs.factors.items()]


def _memory(inputs: Inputs, _: Share) -> list[str]:
    room = inputs.profile.get("node.memory")
    if room is None or room.kind != "assumed":
        return []
    return [f"{inputs.start}node.memory = {room.value:g} GB: {room.reference}"]
