"""Power of a machine from its profile, and the energy that a run of the same duration would need there."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.records import run_files
from spikemark.records.record import Run

from . import analysis
from .analysis import Energy
from .power_model import PowerModel

if TYPE_CHECKING:
    from spikemark.machines import Profile

WHY = "modelled energy"


def power_model(profile: "Profile", nodes: int = 1) -> PowerModel:
    """The power of so many nodes. Raises BadInput where the profile does not say what they draw.

    Only a single node needs no interconnect card.
    """
    names = {"idle_w": "power.idle", "core_w": "power.core"} | ({"card_w": "power.card"} if nodes > 1 else {})
    values = {name: profile.need(path, WHY) for name, path in names.items()}
    watts = {name: float(value.value) for name, value in values.items()}
    watts["idle_w"] *= nodes
    sources = {
        name: f"{names[name]} = {value.value:g} W of {profile.name} ({value.kind}): {value.reference}"
        for name, value in values.items()
    }
    return PowerModel(profile.title, **{"card_w": 0.0, **watts}, sources=sources)


def energy(run: Run, profile: "Profile", nodes: int | None = None) -> Energy:
    """Energy as if the run had taken as long on nodes of `profile`, with every thread on a core always busy.

    `nodes` defaults to those of a simulated run, or else to as few as provide the cores. Raises BadInput for
    nodes with too few cores and for a profile without the power.
    """
    ranks, threads = run.record.ranks, run.record.threads
    if run.simulation is not None:
        placed = run.path / run_files.SIMULATION
        each, threads = (_count(run.simulation, name, placed) for name in ("ranks_per_node", "threads"))
        nodes = nodes or math.ceil(ranks / each)
    cores = int(profile.need("node.cores", WHY).value)
    busy = ranks * threads
    nodes = nodes or math.ceil(busy / cores)
    if busy > nodes * cores:
        raise BadInput(
            f"nodes={nodes}: {ranks} ranks x {threads} threads need {math.ceil(busy / cores)} nodes of"
            f" {profile.name}, which have {cores} cores each"
        )
    model = power_model(machines.filled(profile), nodes)
    return analysis.modelled(run, model, busy, nodes if nodes > 1 else 0)


def _count(about: dict[str, Any], name: str, path: Path) -> int:
    value = about.get(name)
    if not isinstance(value, int) or value < 1:
        raise BadInput(f"{path}: {name}={value!r}; allowed: a whole number from 1 on")
    return value
