"""Predicts how a network would run on a machine: phases, waiting, exchange, power, energy, cost, memory.

Seconds per simulated second: their sum is the real-time factor. The models are in times.py, energy.py and
memory.py, and are the mini-app's; simulators.py says how much longer other programs take.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spikemark.machines import algorithms
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network.description import read
from spikemark.quantities.quantity import Quantity, missing, worst
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE, THREADS

from . import building, calls, choices, energy, exchange, memory, phases, rates, simulators, validated
from .calls import Call
from .collectives import Collectives
from .intervals import COUNTED, EXTRAPOLATED, Moved, predicted
from .loads import Loads
from .measured import MODELLED, Measured
from .simulators import Simulator
from .times import PARTS, meeting, network_of, of_parts

#: name -> (what it is, unit), in the order in which they are shown.
FIGURES = {
    "deliver": ("delivery", "s per simulated s"),
    "update": ("update", "s per simulated s"),
    THREADS: ("waiting for threads", "s per simulated s"),
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
MEMORY = ("memory_gb", "bytes_per_synapse")
NOT_TIME = ("power.", "price.", *(s.path for s in simulators.SIMULATORS.values()))
SIMULATED_HOUR = 3600.0
INDEPENDENT = "ranks fluctuate independently of each other"
BUSY = "cores wait busily: power does not depend on what a core does"
HIDDEN = "MPI works on an exchange while ranks compute, as far as the lane's lag allows"
STRUCTURES = "memory is that of the mini-app's own structures, at most while it builds the network"


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
    fits: bool | None  # whether the ranks of a node fit into its memory; None: not known for sure
    roomy: bool  # False if they exceed the middle of its interval; True also where memory is unknown
    slowest: str | None  # the part that takes longest; None: unknown
    simulator: str
    calls: list[Call] = field(repr=False, compare=False)  # collective calls, with their algorithms
    loads: Loads = field(repr=False, compare=False)
    moves: dict[str, Moved] = field(repr=False, compare=False)  # by path of the profile
    measured: Measured | None = field(default=None, repr=False, compare=False)  # what computing comes from
    odd: tuple[str, ...] = ()  # values of the profile that may be wrong

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
    simulator: str = "mini_app",
    compute_from: DryRun | None = None,
) -> Prediction:
    """A prediction for one number of ranks on a profile (spikemark.machines).

    `hz`: rates in Hz where the description states none. `factors`: path prefix of the profile -> factor, as
    fitted to published times. `simulator`: whose times, see simulators.SIMULATORS. `compute_from`: a dry run
    of this description, ranks and threads, whose compute times take the place of the modelled ones. Raises
    BadInput for more threads than a node has cores, networks that cannot be run this way, unknown values that
    times depend on, and questions too far outside the validated range.
    """
    description = read(simulators.find(simulator).taken(description))
    node = Node.of(profile, ranks, threads, ranks_per_node)
    validated.outside(description, ranks, threads)
    found_rates = hz if isinstance(hz, rates.Rates) else rates.of(description, hz)
    loads = Loads.of(description, ranks, threads, found_rates.hz, schedule, placement)
    measured = None if compute_from is None else Measured.of(compute_from, loads)
    question = Question(loads, node, profile, simulators.find(simulator, description), measured=measured)
    return of_loads(loads, profile, node, found_rates, factors, simulator, question)


def of_loads(
    loads: Loads,
    profile,
    node: Node,
    found_rates: rates.Rates,
    factors: dict[str, float] | None = None,
    simulator: str = "mini_app",
    question: "Question | None" = None,
) -> Prediction:
    """The prediction for loads that were counted; raises as `predict` does.

    `question`: the same question, if parts of it were answered before.
    """
    inputs, whose = Inputs(profile, factors=factors or {}), simulators.find(simulator, loads.description)
    outside = validated.outside(loads.description, loads.ranks, loads.threads)
    whose.check(loads.schedule.name, loads.placement, None, None)
    for lane in loads.lanes:
        exchange.check(lane)
    if whose.runs:
        outside.append(f"simulator={whose.name}: the models are the mini-app's")
    question = question or Question(loads, node, profile, whose)
    lacking = question.lacking(inputs)
    of_machine, moves = predicted(inputs, question.evaluate)
    net = network_of(loads, inputs, node) if loads.ranks > 1 else None
    found = of_machine | _memory(loads, node)
    found |= {name: missing(why, mark="unknown") for name, why in lacking.items()}
    figures = {name: replace(found[name], unit=unit) for name, (_, unit) in FIGURES.items()}
    own = () if question.measured is None else COMPUTE
    known = {name: f for name, f in figures.items() if f and f.kind != COUNTED and name not in own}
    if outside:
        figures |= {name: replace(figure, kind=EXTRAPOLATED) for name, figure in known.items()}
    elif own:
        figures |= {name: replace(f, kind=worst((f.kind, MODELLED))) for name, f in known.items()}
    return Prediction(
        profile.name, str(getattr(profile, "title", profile.name)), loads.ranks, loads.threads, node,
        loads.schedule.name, loads.placement, figures,
        _assumptions(inputs, node, loads, found_rates, net, question.measured), outside,
        None if lacking.get(MEMORY[0]) else fits(profile, loads, node),
        bool(lacking.get(MEMORY[0])) or memory.likely(profile, figures[MEMORY[0]].value),
        None if lacking.get(PARTS[0]) else max(PARTS, key=lambda part: figures[part].value),
        whose.name, calls.of(net, meeting(loads, node)) if net else [], loads, moves,
        question.measured, tuple(getattr(profile, "odd", ())),
    )  # fmt: skip


@dataclass
class Question:
    """What is asked of a machine. Times are kept while only values of power and price are moved."""

    loads: Loads
    node: Node
    profile: Any
    simulator: Simulator = simulators.MINI_APP
    without: dict[str, str] = field(default_factory=dict)
    kept: dict[tuple, tuple[dict[str, float], dict]] = field(default_factory=dict)  # times, values used
    measured: Measured | None = None

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
        self.without |= self.simulator.lacking(PARTS, MEMORY)
        if not self.events:
            self.without.setdefault(PER_EVENT, "there are no synaptic events")
        inputs.used.clear()
        return self.without

    def times(self, inputs: Inputs) -> dict[str, float]:
        """Seconds per simulated second: the mini-app's by part, and the real-time factor of the simulator."""
        key = tuple(sorted(item for item in inputs.moved.items() if not item[0].startswith(NOT_TIME)))
        if key not in self.kept:
            before, inputs.used = inputs.used, {}
            parts = of_parts(self.loads, inputs, self.node, self.measured)
            self.kept[key] = {**parts, "real_time_factor": sum(parts.values())}, inputs.used
            inputs.used = before
        found, used = self.kept[key]
        inputs.used.update(used)
        return {
            **found,
            "real_time_factor": found["real_time_factor"] * self.simulator.factor(inputs, self.node.nodes),
        }

    def evaluate(self, inputs: Inputs) -> dict[str, float]:
        """All figures that depend on the machine, of those that are not in `without`."""
        found = self.times(inputs)
        factor = found["real_time_factor"]
        if "power_w" not in self.without:
            power = energy.power_w(inputs, self.node)
            found |= {"power_w": power, "energy_j": power * factor}
            if PER_EVENT not in self.without:
                found[PER_EVENT] = 1e6 * power * factor / self.events
        if "cost_eur" not in self.without:
            found["cost_eur"] = energy.cost_per_s(inputs, self.node) * factor * SIMULATED_HOUR
        return found


def numbers(
    loads: Loads, profile, ranks_per_node: int | None = None, factors: dict | None = None
) -> dict[str, float]:
    """The figures as plain numbers, without intervals and refusals, for fits that need them often."""
    inputs = Inputs(profile, factors=factors or {})
    node = Node.of(profile, loads.ranks, loads.threads, ranks_per_node)
    question = Question(loads, node, profile)
    question.lacking(inputs)
    return question.evaluate(inputs)


def fits(profile, loads: Loads, node: Node) -> bool | None:
    """Whether the ranks of a node fit into its memory; None where that is not known for sure."""
    return memory.fits(profile, _memory(loads, node)["memory_gb"].value)


def _memory(loads: Loads, node: Node) -> dict[str, Quantity]:
    each = building.bytes_at_most(loads)
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


def _assumptions(
    inputs: Inputs,
    node: Node,
    loads: Loads,
    found: rates.Rates,
    net: Collectives | None,
    measured: Measured | None,
) -> list[str]:
    of_times = phases.assumed(inputs) if measured else phases.assumptions(inputs, node, loads)
    lines = [f"rates: {found.source}", *of_times, BUSY, STRUCTURES]
    room = inputs.profile.get("node.memory")
    if room is not None and room.kind == "assumed":
        lines.append(f"node.memory = {room.value:g} GB: {room.reference}")
    if net is not None:
        lines += [INDEPENDENT, algorithms.words(net.net.selector, loads.ranks), *choices.said(inputs, net)]
        used = [name for lane in loads.lanes if not lane.alone for name in lane.exchanges]
        lines += algorithms.differences(used, inputs.profile.values)
    if any(lane.lag for lane in loads.lanes):
        lines.append(HIDDEN)
    lines += [f"{path}: times {factor:.3g}, as fitted" for path, factor in inputs.factors.items()]
    return lines
