"""What a machine would do with a network: time by phase, waiting, exchange, power, energy, cost, memory.

Seconds per simulated second: their sum is the real-time factor. MODELS: phases.py (compute), jitter.py
(waiting), exchange.py and network.py (exchange), energy.py, memory.py.
"""

from dataclasses import dataclass, field

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.recursion import Lane as Meeting
from spikemark.network.description import read
from spikemark.network.lanes import chosen

from . import energy, exchange, jitter, memory, phases, rates, validated
from . import inputs as values
from . import loads as counting
from .inputs import Figure, Inputs
from .jitter import Jitter
from .loads import Loads
from .network import Interconnect
from .phases import Node

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
POWER, COST = ("power_w", "energy_j", "energy_per_event_uj"), ("cost_eur",)
NOT_TIME = ("power.", "price.")
PARTS = ("deliver", "update", "collocate", "waiting", "exchange")
SIMULATED_HOUR = 3600.0
INDEPENDENT = "ranks fluctuate independently of each other"
BUSY = "cores wait busily: power does not depend on what a core does"
HIDDEN = "MPI works on an exchange while ranks compute, as far as the lane's lag allows"
STRUCTURES = "memory is that of the mini-app's own structures"


@dataclass(frozen=True)
class Prediction:
    """`figures` by the names of FIGURES, None where the profile lacks what it takes, with the `reasons`."""

    machine: str
    title: str
    ranks: int
    threads: int
    node: Node
    schedule: str
    placement: str
    figures: dict[str, Figure | None]
    reasons: dict[str, str]
    assumptions: list[str]
    outside: list[str]  # in what the question is outside the validated range
    fits: bool | None  # in the memory of a node; None: unknown
    slowest: str  # the part that takes longest
    loads: Loads = field(repr=False, compare=False)

    @property
    def nodes(self) -> int:
        return self.node.nodes


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
    fitted to published times. Raises BadInput for more threads than a node has cores, networks that cannot
    be run so, unknown values that times depend on, and questions too far outside the validated range.
    """
    inputs = Inputs(profile, factors=factors or {})
    shape = phases.node(inputs, ranks, threads, ranks_per_node)
    outside = validated.outside(description, ranks, threads)
    found_rates = hz if isinstance(hz, rates.Rates) else rates.of(description, hz)
    description = read(description)
    schedule, placement = chosen(description, schedule, placement)
    loads = counting.read(description, ranks, threads, found_rates.hz, schedule, placement)
    for lane in loads.lanes:
        exchange.check(lane)
    question = _Question(loads, shape)
    reasons = question.lacking(inputs)
    figures = values.figures(inputs, question.evaluate)
    figures |= dict.fromkeys(reasons)
    figures |= _memory(loads, shape)
    if outside:
        figures = {name: _extrapolated(figure) for name, figure in figures.items()}
    room = profile.get("node.memory")
    return Prediction(
        profile.name, str(getattr(profile, "title", profile.name)), ranks, threads, shape,
        schedule.name, placement,
        {name: figures[name] for name in FIGURES}, reasons,
        _assumptions(inputs, shape, loads, found_rates), outside,
        None if room is None else bool(figures["memory_gb"].value <= room.value),
        max(PARTS, key=lambda part: figures[part].value), loads,
    )  # fmt: skip


@dataclass
class _Question:
    """What is asked of a machine; times are kept while only values of power and price are moved."""

    loads: Loads
    shape: Node
    without: dict[str, str] = field(default_factory=dict)
    kept: dict[tuple, dict[str, float]] = field(default_factory=dict)

    def lacking(self, inputs: Inputs) -> dict[str, str]:
        """The figures that the profile does not tell, and why."""
        for names, ask in ((POWER, energy.power_w), (COST, energy.cost_per_s)):
            try:
                ask(inputs, self.shape)
            except BadInput as reason:
                self.without |= dict.fromkeys(names, str(reason))
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
            power = energy.power_w(inputs, self.shape)
            found |= {"power_w": power, "energy_j": power * factor}
            events = (self.loads.total_events + self.loads.external) / self.loads.cycle_s
            found["energy_per_event_uj"] = 1e6 * power * factor / events if events else np.nan
        if "cost_eur" not in self.without:
            found["cost_eur"] = energy.cost_per_s(inputs, self.shape) * factor * SIMULATED_HOUR
        return found

    def _times(self, inputs: Inputs) -> dict[str, float]:
        """Seconds per simulated second."""
        loads, own = self.loads, Jitter.of(inputs, self.loads.ranks)
        parts = phases.seconds(loads, inputs, self.shape)
        waiting, moving = _meetings(loads, sum(parts), own, inputs, self.shape)
        seconds = [*(own.longer * part.mean() for part in parts), waiting, moving]
        found = {name: float(s) / loads.cycle_s for name, s in zip(PARTS, seconds, strict=True)}
        return {**found, "real_time_factor": sum(found.values())}


def numbers(
    loads: Loads, profile, ranks_per_node: int | None = None, factors: dict | None = None
) -> dict[str, float]:
    """The figures as plain numbers, without intervals and refusals: for fits that ask often."""
    inputs = Inputs(profile, factors=factors or {})
    question = _Question(loads, phases.node(inputs, loads.ranks, loads.threads, ranks_per_node))
    question.lacking(inputs)
    return question.evaluate(inputs)


def _meetings(
    loads: Loads, compute: np.ndarray, own: Jitter, inputs: Inputs, shape: Node
) -> tuple[float, float]:
    """Seconds per cycle spent waiting, barriers included, and in exchanges that are not hidden."""
    if loads.ranks == 1:
        return 0.0, 0.0
    net = Interconnect.of(inputs, shape.nodes)
    meetings, barriers, moving = [], 0.0, 0.0
    for number, lane in enumerate(loads.lanes):
        traffic = exchange.groups(loads, number, shape.ranks)
        if not traffic:
            continue
        seconds = exchange.seconds(net, lane, traffic)
        meetings.append(Meeting(lane.period, lane.lag, tuple(lane.group), seconds))
        if not lane.lag:
            barriers += exchange.barrier(net, traffic) / lane.period
            moving += seconds / lane.period
    if not meetings:
        return 0.0, 0.0
    if len(meetings) == 1 and not meetings[0].lag and len(set(meetings[0].group)) == 1:
        return jitter.lockstep(compute, own, meetings[0].period) + barriers, moving
    return jitter.through_lanes(compute, own, meetings) + barriers, moving


def _memory(loads: Loads, shape: Node) -> dict[str, Figure]:
    each = memory.bytes_of_ranks(loads)
    whole = np.resize(each, shape.nodes * shape.ranks)
    whole[len(each) :] = 0
    fullest = float(whole.reshape(shape.nodes, shape.ranks).sum(axis=1).max())
    synapses = float(loads.synapses.sum())
    return {
        "memory_gb": _counted(1e-9 * fullest),
        "bytes_per_synapse": _counted(float(each.sum()) / synapses) if synapses else None,
    }


def _counted(value: float) -> Figure:
    return Figure(value, value, value, "counted")


def _extrapolated(figure: Figure | None) -> Figure | None:
    if figure is None or figure.kind == "counted":
        return figure
    return Figure(figure.value, figure.low, figure.high, "extrapolated", figure.depends)


def _assumptions(inputs: Inputs, shape: Node, loads: Loads, found: rates.Rates) -> list[str]:
    lines = [f"rates: {found.source}", *phases.assumptions(inputs, shape), BUSY, STRUCTURES]
    if loads.ranks > 1:
        lines.append(INDEPENDENT)
    if any(lane.lag for lane in loads.lanes):
        lines.append(HIDDEN)
    lines += [f"{path}: times {factor:.3g}, as fitted" for path, factor in inputs.factors.items()]
    return lines
