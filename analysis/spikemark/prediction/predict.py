"""Predicts how a network would run on a machine: phases, waiting, exchange, power, energy, cost, memory.

Seconds per simulated second: their sum is the real-time factor. The models are in times.py, energy.py and
memory.py, and are the mini-app's; simulators.py says how much longer other programs take.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network.description import read
from spikemark.quantities.quantity import Quantity, missing, worst
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE, THREADS

from . import by_part, calls, energy, exchange, rates, room, simulators, validated
from .assumptions import assumptions
from .by_part import OfPart
from .calls import Call
from .intervals import COUNTED, EXTRAPOLATED, Moved, predicted
from .layout import Layout, inside
from .loads import Loads
from .measured import MODELLED, Measured
from .simulators import Simulator
from .times import PARTS, meeting, network_of, of_machine

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
MEMORY = (room.NEEDED, room.PER_SYNAPSE)
NOT_TIME = ("power.", "price.", *(s.path for s in simulators.SIMULATORS.values()))
SIMULATED_HOUR = 3600.0


@dataclass(frozen=True)
class Prediction:
    """`figures` has the names of FIGURES as keys.

    A figure is missing if the profile lacks a value that it needs.
    """

    machine: str
    title: str
    ranks: int
    threads: int
    layout: Layout
    schedule: str
    placement: str
    figures: dict[str, Quantity]
    assumptions: list[str]
    outside: list[str]  # how the question goes beyond the validated range
    fits: bool | None  # whether the ranks of each node fit into its memory; None: not known for sure
    roomy: bool  # False if they exceed the middle of its interval; True also where memory is unknown
    slowest: str | None  # the part that takes longest; None: unknown
    simulator: str
    calls: list[Call] = field(repr=False, compare=False)  # collective calls, with their algorithms
    loads: Loads = field(repr=False, compare=False)
    moves: dict[str, Moved] = field(repr=False, compare=False)  # by path of the profile
    measured: Measured | None = field(default=None, repr=False, compare=False)  # what computing comes from
    odd: tuple[str, ...] = ()  # values of the profile that may be wrong
    by_part: tuple[OfPart, ...] = ()  # of a machine of unequal nodes

    @property
    def node(self) -> Node:
        """How nodes are filled, where all are equal."""
        (share,) = self.layout.shares
        return share.node

    @property
    def nodes(self) -> int:
        return self.layout.nodes

    @property
    def reasons(self) -> dict[str, str]:
        """Why figures are missing, by their names."""
        return {name: found.reason for name, found in self.figures.items() if not found}


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
    on: dict[str, int] | None = None,
) -> Prediction:
    """A prediction for one number of ranks on a profile (spikemark.machines), or on a machine of parts.

    `on`: ranks by part, instead of each part filled before the next.
    `hz`: rates in Hz where the description states none. `factors`: path prefix of the profile -> factor, as
    fitted to published times. `simulator`: whose times, see simulators.SIMULATORS. `compute_from`: a dry run
    of this description, ranks and threads, whose compute times take the place of the modelled ones. Raises
    BadInput for more threads than a node has cores, networks that cannot be run this way, unknown values that
    times depend on, and questions too far outside the validated range.
    """
    description = read(simulators.find(simulator).taken(description))
    layout = Layout.of(profile, ranks, threads, ranks_per_node, on)
    if compute_from is not None and layout.named:
        raise BadInput(
            f"compute_from={compute_from.path}: a dry run measures nodes of one profile, and {profile.name}"
            " has unequal parts; leave it out"
        )
    validated.outside(description, ranks, threads)
    found_rates = hz if isinstance(hz, rates.Rates) else rates.of(description, hz)
    loads = Loads.of(description, ranks, threads, found_rates.hz, schedule, placement)
    measured = None if compute_from is None else Measured.of(compute_from, loads)
    question = Question(loads, layout, profile, simulators.find(simulator, description), measured=measured)
    return of_loads(loads, profile, layout, found_rates, factors, simulator, question)


def of_loads(
    loads: Loads,
    profile,
    layout: Layout,
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
    question = question or Question(loads, layout, profile, whose)
    lacking = question.lacking(inputs)
    of_machine, moves = predicted(inputs, question.evaluate)
    nets = network_of(loads, inputs, layout) if loads.ranks > 1 else None
    each, needed = room.of_shares(loads, layout)
    found = of_machine | room.figures(loads, layout, each, needed)
    found |= {name: missing(why, mark="unknown") for name, why in lacking.items()}
    units = {name: unit for name, (_, unit) in FIGURES.items()} | by_part.units(layout)
    figures = {name: replace(found[name], unit=unit) for name, unit in units.items()}
    own = () if question.measured is None else COMPUTE
    known = {name: f for name, f in figures.items() if f and f.kind != COUNTED and name not in own}
    if outside:
        figures |= {name: replace(figure, kind=EXTRAPOLATED) for name, figure in known.items()}
    elif own:
        figures |= {name: replace(f, kind=worst((f.kind, MODELLED))) for name, f in known.items()}
    no_memory = bool(lacking.get(MEMORY[0]))
    fits = [None if no_memory else fit for fit in room.fits(profile, layout, needed)]
    return Prediction(
        profile.name, str(getattr(profile, "title", profile.name)), loads.ranks, loads.threads, layout,
        loads.schedule.name, loads.placement, {name: figures[name] for name in FIGURES},
        assumptions(inputs, layout, loads, found_rates, nets, question.measured), outside,
        room.all_fit(fits), no_memory or room.likely(profile, layout, needed),
        None if lacking.get(PARTS[0]) else max(PARTS, key=lambda part: figures[part].value),
        whose.name, calls.of(nets.whole, meeting(loads, layout)) if nets else [], loads, moves,
        question.measured, tuple(getattr(profile, "odd", ())),
        by_part.collected(profile, layout, figures, fits),
    )  # fmt: skip


@dataclass
class Question:
    """A question about a machine. Times are kept while only values of power and price are moved."""

    loads: Loads
    layout: Layout
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
                ask(inputs, self.layout)
            except UnknownValue as reason:
                self.without |= dict.fromkeys(names, str(reason))
        self.without |= by_part.lacking(inputs, self.loads, self.layout)
        parts, memory = by_part.paths(self.layout, by_part.OF_TIME), by_part.paths(self.layout, MEMORY[:1])
        self.without |= self.simulator.lacking((*PARTS, *parts), (*MEMORY, *memory))
        if not self.events:
            self.without.setdefault(PER_EVENT, by_part.NO_EVENTS)
        inputs.used.clear()
        return self.without

    def times(self, inputs: Inputs) -> dict[str, float]:
        """Seconds per simulated second: the mini-app's by part, and the real-time factor of the simulator."""
        moved = inputs.moved.items()
        key = tuple(sorted(item for item in moved if not inside(item[0]).startswith(NOT_TIME)))
        if key not in self.kept:
            before, inputs.used = inputs.used, {}
            times = of_machine(self.loads, inputs, self.layout, self.measured)
            whole = {"real_time_factor": sum(times.parts.values())}
            self.kept[key] = {**times.parts, **times.by_part, **whole}, inputs.used
            inputs.used = before
        found, used = self.kept[key]
        inputs.used.update(used)
        return {
            **found,
            "real_time_factor": found["real_time_factor"] * self.simulator.factor(inputs, self.layout.nodes),
        }

    def evaluate(self, inputs: Inputs) -> dict[str, float]:
        """All figures that depend on the machine, of those that are not in `without`."""
        found = self.times(inputs)
        factor = found["real_time_factor"]
        found |= by_part.evaluate(inputs, self.loads, self.layout, found, self.without)
        if "power_w" not in self.without:
            power = energy.power_w(inputs, self.layout)
            found |= {"power_w": power, "energy_j": power * factor}
            if PER_EVENT not in self.without:
                found[PER_EVENT] = 1e6 * power * factor / self.events
        if "cost_eur" not in self.without:
            found["cost_eur"] = energy.cost_per_s(inputs, self.layout) * factor * SIMULATED_HOUR
        return found


def numbers(
    loads: Loads, profile, ranks_per_node: int | None = None, factors: dict | None = None
) -> dict[str, float]:
    """The figures as plain numbers, without intervals and refusals, for fits that need them often."""
    inputs = Inputs(profile, factors=factors or {})
    layout = Layout.of(profile, loads.ranks, loads.threads, ranks_per_node)
    question = Question(loads, layout, profile)
    question.lacking(inputs)
    return question.evaluate(inputs)
