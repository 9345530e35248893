"""Published runs: which are known of a machine, and which of them are of a network.

A run counts for a network that is the full preset of that name: neurons, synapses and spikes per second agree
within `ALIKE`. Lines of another variant, such as constant input, are shown and do not count.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from spikemark.machines.accelerated import DEVICE, DEVICES
from spikemark.machines.inputs import WITHIN
from spikemark.machines.loader import accelerated_names, load
from spikemark.machines.profile import Profile
from spikemark.models.published import papers
from spikemark.network.description import read
from spikemark.presets import PRESETS
from spikemark.quantities.quantity import Quantity, missing

from . import rates
from .asked import Network

ALIKE = 1.1  # times more, or less, of anything that is counted
KIND = "literature"
NO_ENERGY = "its energy was not published"


@dataclass(frozen=True)
class Result:
    """One published run. `real_time_factor` and `energy` (uJ per recurrent synaptic event) have intervals
    that reach at least as far as those of any literature value (machines/inputs.py): another host, driver or
    version of a program changes more than another seed.
    """

    network: str
    variant: str  # how it differs from the preset; "" if it does not
    who: str
    machine: str
    profile: str
    year: int
    nodes: int
    devices: int  # 0: CPU cores
    real_time_factor: Quantity
    energy: Quantity
    source: str
    energy_from: str

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {
            "network": self.network, "variant": self.variant, "program": self.who, "machine": self.machine,
            "year": self.year, "nodes": self.nodes, "devices": self.devices,
            "real_time_factor": self.real_time_factor.content(),
            "energy_per_recurrent_event_uj": self.energy.content(),
            "source": self.source, "energy_source": self.energy_from or None,
        }  # fmt: skip


@cache
def results() -> tuple[Result, ...]:
    """All published runs of machines that have a profile."""
    return tuple(_result(row) for row in papers.rows("real_time") if row["profile"])


def of_machine(name: str) -> list[Result]:
    """The runs of a machine, by the name of its profile."""
    return [found for found in results() if found.profile == name]


def network_of(network: Network, among: list[Result]) -> str | None:
    """The published network that this one is, of those that were run; None if it is none of them.

    Networks that no preset makes are none: their rates or synapses were not published.
    """
    for name in dict.fromkeys(found.network for found in among if found.network in PRESETS):
        pairs = zip(_size(network.description, network.rates.hz), _published_size(name), strict=True)
        if all(max(a, b) <= ALIKE * min(a, b) for a, b in pairs):
            return name
    return None


def of_device(profile: Profile) -> list[Result]:
    """The runs on devices of the same `accelerator.name`, which belong to any node that has such devices.

    Runs on several devices belong to nodes that have as many of them as those had.
    """
    name, each = profile.get(DEVICE), profile.need(DEVICES, "a comparison with published runs").value
    same = {known for known in accelerated_names() if name and load(known).get(DEVICE).value == name.value}
    found = [result for result in results() if result.profile in same]
    return [result for result in found if result.devices in (1, each * result.nodes)]


def of(network: Network, known: list[Result]) -> list[Result]:
    """Published runs of this network, other variants included."""
    name = network_of(network, known)
    return [found for found in known if found.network == name]


@cache
def _published_size(name: str) -> tuple[float, float, float]:
    description = PRESETS[name].describe(full=True)
    return _size(description, rates.of(description, None, name, {}).hz)


def _size(description: Any, hz: np.ndarray) -> tuple[float, float, float]:
    """Neurons, synapses, and spikes per second."""
    network = read(description).network
    neurons = np.array([population.size for population in network.populations], dtype=float)
    return float(neurons.sum()), float(network.synapses), float(neurons @ hz)


def _result(row: dict[str, str]) -> Result:
    printed = [float(row[name]) for name in ("real_time_factor", "low", "high") if row[name]]
    energy = [float(row["energy_uj"])] if row["energy_uj"] else []
    return Result(
        row["network"], row["variant"], row["who"], row["machine"], row["profile"], int(row["year"]),
        int(row["nodes"]), int(row["devices"]), _quantity(printed, "1"),
        _quantity(energy, "uJ") if energy else missing(NO_ENERGY, "uJ", mark="not published"),
        f"{row['source']}, {row['where']}", row["energy_where"],
    )  # fmt: skip


def _quantity(printed: list[float], unit: str) -> Quantity:
    """The first number, with an interval around all of them."""
    within = WITHIN[KIND]
    return Quantity(printed[0], min(printed) / within, max(printed) * within, unit, KIND)
