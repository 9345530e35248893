"""A network on an accelerated node: its published run, times from kernels, or nothing.

A published run counts first. Where there is none, the kernel times of one device give

    events * t_next + spikes * t_spike + neurons * steps * update(model) + steps * step   [s per simulated s]

with recurrent synaptic `events`, `spikes` and `steps` per simulated second. The update holds input from
outside, and t_next an unknown t_spike. Kernel times are known of one network at one size
(data/genn_kernels.csv in models/published). In a balanced network on the Titan RTX, a neuron took 1.8 times
as long with 11 250 neurons as with 225 000, and a synapse twice as long (hpc_benchmark.csv in
BrainsOnBoard/pygenn_paper). So an interval reaches `EXTRAPOLATED` times up and down. Several devices are not
modelled: what they exchange was not published by part.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.accelerated import DEVICES
from spikemark.machines.inputs import quantity
from spikemark.machines.profile import Profile
from spikemark.quantities.quantity import Quantity, missing, worst
from spikemark.quantities.words import counted, number

from . import runs_published
from .asked import Network
from .life import COST, NODES, PRICE, Life
from .loads import Counting
from .node_range import EXCLUDED, LIKELY, POSSIBLE, SURE
from .predict import PER_EVENT
from .runs_published import Result

EXTRAPOLATED = 3.0  # times longer or shorter than the times of kernels say, on another network
#: Of a synapse: the GTX 1650 holds the 0.299e9 synapses of the microcircuit in 4 GB (Knight et al. 2021).
BYTES = 4e9 / 0.299e9
UNKNOWN = "unknown"
WHY = "times of its kernels"


@dataclass(frozen=True)
class Events:
    """Synaptic events and spikes of the asked network in a simulated second."""

    recurrent: float
    outside: float
    spikes: float

    @classmethod
    def of(cls, counting: Counting) -> "Events":
        """Counted, at the rates of the network."""
        loads = counting.loads(1, 1, "conventional")
        found = loads.total_events, loads.external, float(loads.spikes.sum())
        return cls(*(number / loads.cycle_s for number in found))


@dataclass(frozen=True)
class Accelerated:
    """An accelerated node, and what is known of the network on it. Unknown is missing, with the reason.

    `figures` has real_time_factor, energy_j (J per simulated s), PER_EVENT (uJ, events from outside included,
    as in predictions) and the costs of life.py (EUR). `nodes` and `devices` are those of the published run;
    None: nothing is known. `results`: all published runs of the network on it, other variants included.
    """

    name: str
    title: str
    target: float
    figures: dict[str, Quantity]
    nodes: int | None
    devices: int | None
    how: str  # whose run, or WHY
    results: list[Result] = field(default_factory=list)

    @property
    def time(self) -> Quantity:
        """The real-time factor."""
        return self.figures["real_time_factor"]

    @property
    def word(self) -> str:
        """How sure the target is, as a key of node_range.WORDS, or UNKNOWN."""
        if not self.time:
            return UNKNOWN
        if self.time.low > self.target:
            return EXCLUDED
        if self.time.value > self.target:
            return POSSIBLE
        return SURE if self.time.high <= self.target else LIKELY

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {
            "name": self.name, "title": self.title, "target": self.word, "nodes": self.nodes,
            "devices": self.devices, "how": self.how,
            "figures": {name: found.content() for name, found in self.figures.items()},
            "published": [found.content() for found in self.results],
        }  # fmt: skip


def candidates(
    network: Network, profiles: Iterable[Profile], counting: Counting, target: float, life: Life
) -> list[Accelerated]:
    """One for each profile. Raises BadInput for a profile without the number of devices of a node."""
    profiles = list(profiles)
    for profile in profiles:  # refuses before work begins
        profile.need(DEVICES, "a comparison with published runs")
    events = Events.of(counting) if profiles else Events(0.0, 0.0, 0.0)
    return [_candidate(network, profile, counting, events, target, life) for profile in profiles]


def _candidate(
    network: Network, profile: Profile, counting: Counting, events: Events, target: float, life: Life
) -> Accelerated:
    found = runs_published.of(network, runs_published.of_device(profile))
    counted = [result for result in found if not result.variant]
    if counted:
        best = min(counted, key=lambda result: result.real_time_factor.value)
        each = profile.need(DEVICES, "the number of nodes").value
        nodes, devices, how = ceil(best.devices / each), best.devices, f"{best.who}, published {best.year}"
        time, energy = best.real_time_factor, _energy(found, best)
    else:
        time, how = _modelled(network, profile, counting, events), WHY
        nodes, devices = (1, 1) if time else (None, None)
        energy = missing(f"{profile.name}: {runs_published.NO_ENERGY}", "uJ", mark=UNKNOWN)
    figures = {"real_time_factor": time, **_energies(energy, events)}
    figures |= _costs(profile, figures, nodes, life)
    return Accelerated(
        profile.name, profile.title, target, figures, nodes, devices, how if time else UNKNOWN, found
    )


def _energy(found: list[Result], best: Result) -> Quantity:
    """The energy of the run that counts; of another one, it would be that of another time."""
    if best.energy:
        return best.energy
    others = [result for result in found if result.energy]
    also = f"; it is known of {others[0].who}, {others[0].year}" if others else ""
    return missing(f"{best.profile}: the energy of {best.who}, {best.year}, was not published{also}",
                   "uJ", mark=UNKNOWN)  # fmt: skip


def _energies(energy: Quantity, events: Events) -> dict[str, Quantity]:
    """J per simulated second, and uJ per event with those from outside, from uJ per recurrent event."""
    if not energy:
        return {"energy_j": replace(energy, unit="J per simulated s"), PER_EVENT: energy}
    share = events.recurrent / (events.recurrent + events.outside)
    return {
        "energy_j": energy.times(1e-6 * events.recurrent, "J per simulated s"),
        PER_EVENT: energy.times(share),
    }


def _costs(profile: Profile, figures: dict[str, Quantity], nodes: int | None, life: Life) -> dict:
    """The costs of the nodes, and of them with their energy, over the life of the machine."""
    price, time, energy = profile.get(PRICE), figures["real_time_factor"], figures["energy_j"]
    if not time or nodes is None:
        none = missing(f"{profile.name}: nothing is known of the network on it", "EUR", mark=UNKNOWN)
        return {NODES: none, COST: none}
    if price is None:
        none = missing(f"{profile.name}: {PRICE} is unknown, needed for its cost", "EUR", mark=UNKNOWN)
        return {NODES: none, COST: none}
    of_nodes = quantity(price).times(nodes * life.hours, "EUR")
    of_nodes = replace(of_nodes, kind=worst((of_nodes.kind, time.kind)))
    if life.price_kwh is None or not energy:
        reason = "the price of a kWh was not given (--price-kwh)" if energy else energy.reason
        return {NODES: of_nodes, COST: missing(reason, "EUR", mark=UNKNOWN)}
    scale = 1e-3 * life.hours * life.price_kwh  # EUR for each W
    low, high = energy.low / time.high, energy.high / time.low
    whole = Quantity(
        of_nodes.value + scale * energy.value / time.value, of_nodes.low + scale * low,
        of_nodes.high + scale * high, "EUR", worst((of_nodes.kind, energy.kind)),
    )  # fmt: skip
    return {NODES: of_nodes, COST: whole}


def _modelled(network: Network, profile: Profile, counting: Counting, events: Events) -> Quantity:
    """The real-time factor on one device from the times of its kernels; missing, and why."""
    try:
        found = _from_kernels(profile, counting, events)
    except BadInput as reason:
        none = f"{profile.name}: no run of {network.title} on it was published{_others(profile)}"
        why = f"{none}, and {_rest(profile, reason)}"
        return missing(why, "1", mark=UNKNOWN)
    return Quantity(
        found.value, found.low / EXTRAPOLATED, found.high * EXTRAPOLATED, "1", "extrapolated",
        depends=found.depends,
    )  # fmt: skip


def _others(profile: Profile) -> str:
    """The networks of which runs on it were published, each with its fastest run."""
    fastest: dict[str, Result] = {}
    for found in sorted(runs_published.of_device(profile), key=lambda one: one.real_time_factor.value):
        if not found.variant:
            fastest.setdefault(found.network, found)
    said = [
        f"{name} (real-time factor {number(found.real_time_factor.value)} on"
        f" {counted(found.devices, 'device')})"
        for name, found in fastest.items()
    ]
    return f", only of {', '.join(said)}" if said else ""


def _rest(profile: Profile, reason: BadInput) -> str:
    return str(reason).removeprefix(f"{profile.name}: ")


def _from_kernels(profile: Profile, counting: Counting, events: Events) -> Quantity:
    """Seconds per simulated second. Raises BadInput for what is unknown, and for too many synapses."""
    network, time = counting.description.network, counting.description.time
    steps = 1e3 / time.resolution_ms
    most = profile.need("accelerator.memory", "what a device holds").value * 1e9 / BYTES
    if network.synapses > most:
        raise BadInput(
            f"{network.synapses:.3g} synapses are more than the {most:.3g} that surely fit into a device,"
            " and times from kernels hold for one device"
        )
    parts: dict[str, float] = {"accelerator.t_next": events.recurrent, "accelerator.step": steps}
    if profile.get("accelerator.t_spike"):
        parts["accelerator.t_spike"] = events.spikes
    for population in network.populations:
        path = f"accelerator.update.{population.neuron.model}"
        parts[path] = parts.get(path, 0.0) + population.size * steps
    times = {p: quantity(profile.need(p, "times from kernels")).times(n, "s") for p, n in parts.items() if n}
    ends = np.array([[t.value, t.low, t.high] for t in times.values()]).sum(axis=0)
    order = tuple(sorted(times, key=lambda path: -times[path].value))
    return Quantity(*map(float, ends), "s", depends=order)
