"""Predicts how a network would run on a machine: phases, waiting, exchange, power, energy, cost, memory.

Seconds per simulated second: their sum is the real-time factor. The models are in phases.py (compute),
waiting.py, exchange.py with collectives.py, energy.py and memory.py.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.models import recursion
from spikemark.network.description import read
from spikemark.network.lanes import chosen
from spikemark.quantities.quantity import Quantity, missing

from . import energy, exchange, memory, phases, rates, validated, waiting
from .collectives import Collectives
from .intervals import COUNTED, EXTRAPOLATED, predicted
from .loads import Loads

#: name -> (what it is, unit), in the order in which they are shown.
FIGURES = {
    "deliver": ("delivery", "s per simulated s"),
    "update": ("update", "s per simulated s"),
    "collocate": ("collocation", "s per simulated s"),
    "waiting": ("waiting for the slowest rank", "s per simulated s"),
    "exchange": ("exchange", "s per simulated s"),
    "real_time_factor": ("real-time factor", "1"),
    "power_w": ("power", "W"),
    "energy_j": ("energy", "J per simulated s"),
    "energy_per_event_uj": ("energy per synaptic event", "uJ"),
    "cost_eur": ("cost", "EUR per simulated h"),
    "memory_gb": ("memory of a node", "GB"),
    "bytes_per_synapse": ("memory per synapse", "B"),
}
PER_EVENT = "energy_per_event_uj"
POWER, COST = ("power_w", "energy_j", PER_EVENT), ("cost_eur",)
NOT_TIME = ("power.", "price.")
PARTS = ("deliver", "update", "collocate", "waiting", "exchange")
SIMULATED_HOUR = 3600.0
INDEPENDENT = "ranks fluctuate independently of each other"
BUSY = "cores wait busily: power does not depend on what a core does"
HIDDEN = "MPI works on an exchange while ranks compute, as far as the lane's lag allows"
STRUCTURES = "memory is that of the mini-app's own structures"


@dataclass(frozen=True)
class Prediction:
    """`figures` has the names of FIGURES as keys.

    A figure is missing if the profile lacks a value that it needs.
    """

    machine: str
    title: str
    ranks: int
    threads: int
    node: Node
    schedule: str
    placement: str
    figures: dict[str, Quantity]
    assumptions: list[str]
    outside: list[str]  # how the question goes beyond the validated range
    fits: bool | None  # whether the ranks of a node fit into its memory; None: unknown
    slowest: str  # the part that takes longest
    loads: Loads = field(repr=False, compare=False)

    @property
    def nodes(self) -> int:
        return self.node.nodes

    @property
    def reasons(self) -> dict[str, str]:
        """Why figures are missing, by their names."""
        return {name: figure.reason for name, figure in self.figures.items() if not figure}


def predict(
    description: dict,
    profile,
    ranks: int,
    threads: int,
    schedule: str | list | None = None,
    placement: str | None = None,
    ranks_per_node: int | None = None,
    hz: rates.Rates | float | dict | None = None,
    factors: dict[str, float] | None = None,
) -> Prediction:
    """A prediction for one number of ranks on a profile (spikemark.machines).

    `hz`: rates in Hz where the description states none. `factors`: path prefix of the profile -> factor, as
    fitted to published times. Raises BadInput for more threads than a node has cores, networks that cannot be
    run this way, unknown values that times depend on, and questions too far outside the validated range.
    """
    description, inputs = read(description), Inputs(profile, factors=factors or {})
    node = Node.of(profile, ranks, threads, ranks_per_node)
    outside = validated.outside(description, ranks, threads)
    found_rates = hz if isinstance(hz, rates.Rates) else rates.of(description, hz)
    schedule, placement = chosen(description, schedule, placement)
    loads = Loads.of(description, ranks, threads, found_rates.hz, schedule, placement)
    for lane in loads.lanes:
        exchange.check(lane)
    question = _Question(loads, node)
    lacking = question.lacking(inputs)
    found = {name: missing(why, mark="unknown") for name, why in lacking.items()}
    found |= predicted(inputs, question.evaluate) | _memory(loads, node)
    figures = {name: replace(found[name], unit=unit) for name, (_, unit) in FIGURES.items()}
    if outside:
        known = {name: f for name, f in figures.items() if f and f.kind != COUNTED}
        figures |= {name: replace(figure, kind=EXTRAPOLATED) for name, figure in known.items()}
    room = profile.get("node.memory")
    return Prediction(
        profile.name, str(getattr(profile, "title", profile.name)), ranks, threads, node,
        schedule.name, placement, figures, _assumptions(inputs, node, loads, found_rates), outside,
        None if room is None else bool(figures["memory_gb"].value <= room.value),
        max(PARTS, key=lambda part: figures[part].value), loads,
    )  # fmt: skip


@dataclass
class _Question:
    """What is asked of a machine. Times are kept while only values of power and price are moved."""

    loads: Loads
    node: Node
    without: dict[str, str] = field(default_factory=dict)
    kept: dict[tuple, dict[str, float]] = field(default_factory=dict)

    @property
    def events(self) -> float:
        """Synaptic events in a simulated second, those from outside included."""
        return (self.loads.total_events + self.loads.external) / self.loads.cycle_s

    def lacking(self, inputs: Inputs) -> dict[str, str]:
        """The names of the figures that the profile does not give, and why."""
        for names, ask in ((POWER, energy.power_w), (COST, energy.cost_per_s)):
            try:
                ask(inputs, self.node)
            except UnknownValue as reason:
                self.without |= dict.fromkeys(names, str(reason))
        if not self.events:
            self.without.setdefault(PER_EVENT, "there are no synaptic events")
        inputs.used.clear()
        return self.without

    def evaluate(self, inputs: Inputs) -> dict[str, float]:
        """All figures that depend on the machine."""
        key = tuple(sorted(item for item in inputs.moved.items() if not item[0].startswith(NOT_TIME)))
        if key not in self.kept:
            self.kept[key] = self._times(inputs)
        found = dict(self.kept[key])
        factor = found["real_time_factor"]
        if "power_w" not in self.without:
            power = energy.power_w(inputs, self.node)
            found |= {"power_w": power, "energy_j": power * factor}
            if PER_EVENT not in self.without:
                found[PER_EVENT] = 1e6 * power * factor / self.events
        if "cost_eur" not in self.without:
            found["cost_eur"] = energy.cost_per_s(inputs, self.node) * factor * SIMULATED_HOUR
        return found

    def _times(self, inputs: Inputs) -> dict[str, float]:
        """Seconds per simulated second, by part and in all."""
        loads = self.loads
        parts = phases.seconds(loads, inputs, self.node)
        seconds = [*(part.mean() for part in parts), *_meetings(loads, sum(parts), inputs, self.node)]
        found = {name: float(s) / loads.cycle_s for name, s in zip(PARTS, seconds, strict=True)}
        return {**found, "real_time_factor": sum(found.values())}


def numbers(
    loads: Loads, profile, ranks_per_node: int | None = None, factors: dict | None = None
) -> dict[str, float]:
    """The figures as plain numbers, without intervals and refusals, for fits that need them often."""
    inputs = Inputs(profile, factors=factors or {})
    question = _Question(loads, Node.of(profile, loads.ranks, loads.threads, ranks_per_node))
    question.lacking(inputs)
    return question.evaluate(inputs)


def _meetings(loads: Loads, compute: np.ndarray, inputs: Inputs, node: Node) -> tuple[float, float]:
    """Seconds per cycle spent waiting, barriers included, and in exchanges that are not hidden."""
    if loads.ranks == 1:
        return 0.0, 0.0
    jitter, net = Jitter.of(inputs, waiting.WHY), Collectives.of(inputs, node.nodes)
    meetings, barriers, moving = [], 0.0, 0.0
    for number, lane in enumerate(loads.lanes):
        traffic = exchange.groups(loads, number, node.ranks)
        if not traffic:
            continue
        seconds = exchange.seconds(net, lane, traffic)
        meetings.append(recursion.Lane(lane.period, lane.lag, tuple(lane.group), seconds))
        if not lane.lag:
            barriers += exchange.barrier(net, traffic) / lane.period
            moving += seconds / lane.period
    if not meetings:
        return 0.0, 0.0
    if len(meetings) == 1 and not meetings[0].lag and len(set(meetings[0].group)) == 1:
        waited = waiting.lockstep(compute, jitter, meetings[0].period, node.ranks)
    else:
        waited = waiting.through_lanes(compute, jitter, meetings, node.ranks)
    return waited + barriers, moving


def _memory(loads: Loads, node: Node) -> dict[str, Quantity]:
    each = memory.bytes_of_ranks(loads)
    whole = np.resize(each, node.nodes * node.ranks)
    whole[len(each) :] = 0
    fullest = float(whole.reshape(node.nodes, node.ranks).sum(axis=1).max())
    synapses = float(loads.synapses.sum())
    none = missing("the network has no synapses", mark="unknown")
    return {
        "memory_gb": _counted(1e-9 * fullest),
        "bytes_per_synapse": _counted(float(each.sum()) / synapses) if synapses else none,
    }


def _counted(value: float) -> Quantity:
    return Quantity(value, value, value, kind=COUNTED)


def _assumptions(inputs: Inputs, node: Node, loads: Loads, found: rates.Rates) -> list[str]:
    lines = [f"rates: {found.source}", *phases.assumptions(inputs, node), BUSY, STRUCTURES]
    if loads.ranks > 1:
        lines.append(INDEPENDENT)
    if any(lane.lag for lane in loads.lanes):
        lines.append(HIDDEN)
    lines += [f"{path}: times {factor:.3g}, as fitted" for path, factor in inputs.factors.items()]
    return lines
