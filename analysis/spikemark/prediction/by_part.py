"""Figures of each part of a machine: computing, waiting, power, energy and memory of the ranks on it.

All parts run as long as the slowest rank needs. So the energy of a part is its power times the real-time
factor, and its energy per synaptic event counts the events of its own neurons.
"""

from dataclasses import dataclass
from typing import Any

from spikemark.machines.inputs import Inputs
from spikemark.machines.parts import Share
from spikemark.machines.profile import UnknownValue
from spikemark.quantities.quantity import Quantity

from . import energy
from .layout import Layout, figure
from .loads import Loads
from .times import COMPUTING, WAITED

SHARE, POWER, ENERGY, PER_EVENT, MEMORY = (
    "compute_share", "power_w", "energy_j", "energy_per_event_uj", "memory_gb",
)  # fmt: skip
#: name -> (what it is, unit), in the order in which they are shown.
FIGURES = {
    COMPUTING: ("computing", "s per simulated s"),
    SHARE: ("share of the time that ranks compute", "1"),
    WAITED: ("waiting for the slowest rank", "s per simulated s"),
    POWER: ("power", "W"),
    ENERGY: ("energy", "J per simulated s"),
    PER_EVENT: ("energy per own synaptic event", "uJ"),
    MEMORY: ("memory of a node", "GB"),
}
OF_TIME = (COMPUTING, SHARE, WAITED)
NO_EVENTS = "there are no synaptic events"


@dataclass(frozen=True)
class OfPart:
    """Prediction for one part; `figures` has the names of FIGURES as keys. `fits` as in a prediction."""

    share: Share
    profile: str
    figures: dict[str, Quantity]
    fits: bool | None

    @property
    def reasons(self) -> dict[str, str]:
        """Why figures are missing, by their names."""
        return {name: found.reason for name, found in self.figures.items() if not found}


def events(loads: Loads, layout: Layout) -> dict[str, float]:
    """Synaptic events in a simulated second of each named part, those from outside included."""
    network = loads.description.network
    own = loads.of_rank(loads.events) / loads.cycle_s
    outside = [p.outside_hz for p in network.populations] @ loads.of_rank(loads.neurons)
    return {share.part: float((own + outside)[share.slice].sum()) for share in layout.named}


def lacking(inputs: Inputs, loads: Loads, layout: Layout) -> dict[str, str]:
    """Figures of parts that their profiles do not give, and why."""
    if not layout.named:
        return {}
    found, happens = {}, events(loads, layout)
    for share in layout.named:
        try:
            energy.share_w(inputs, layout, share)
        except UnknownValue as reason:
            found |= {figure(share, name): str(reason) for name in (POWER, ENERGY, PER_EVENT)}
        if not happens[share.part]:
            found.setdefault(figure(share, PER_EVENT), NO_EVENTS)
    return found


def evaluate(
    inputs: Inputs, loads: Loads, layout: Layout, times: dict[str, float], without: dict[str, str]
) -> dict[str, float]:
    """The figures that follow from `times`, of those that are not in `without`; none where nodes are equal.

    `times`: as of a machine, with its real-time factor.
    """
    if not layout.named:
        return {}
    found, happens = {}, events(loads, layout)
    factor = times["real_time_factor"]
    for share in layout.named:
        computing = times[figure(share, COMPUTING)]
        known = {SHARE: min(1.0, computing / factor)}  # waiting may be drawn
        if figure(share, POWER) not in without:
            power = energy.share_w(inputs, layout, share)
            known |= {POWER: power, ENERGY: power * factor}
            if figure(share, PER_EVENT) not in without:
                known[PER_EVENT] = 1e6 * power * factor / happens[share.part]
        found |= {figure(share, name): value for name, value in known.items()}
    return found


def paths(layout: Layout, names: tuple[str, ...]) -> tuple[str, ...]:
    """What these figures of all named parts are called."""
    return tuple(figure(share, name) for share in layout.named for name in names)


def units(layout: Layout) -> dict[str, str]:
    """The unit of every figure of every named part."""
    return {figure(share, name): unit for share in layout.named for name, (_, unit) in FIGURES.items()}


def collected(
    machine: Any, layout: Layout, found: dict[str, Quantity], fits: list[bool | None]
) -> tuple[OfPart, ...]:
    """The parts with their figures, of all that were found. `fits`: [share]."""
    return tuple(
        OfPart(share, layout.profile(machine, share).name,
               {name: found[figure(share, name)] for name in FIGURES}, fit)
        for share, fit in zip(layout.shares, fits, strict=True) if share.part is not None
    )  # fmt: skip
