"""Energy of a run as if it had taken as long on a machine whose power is stated or assumed.

Power follows from that of idle nodes, sockets, cores and cards (models/node_power.py). The interval
comes from draws of these values (prediction/draws.py), as that of a predicted energy does. Of nodes
whose cores are all busy, it is what an offer states (`offer.watts`), without an interval.
"""

import math
import re
from typing import NamedTuple

import numpy as np

from spikemark import machines
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.machines import Profile, Value
from spikemark.machines.values import limits
from spikemark.models.node_power import sockets_awake
from spikemark.prediction import draws
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted
from spikemark.records.record import Run

from .energy import Energy, PowerModel
from .host import processor_name

#: A power that a profile states without an interval is known to within 30 %: so far apart are idle
#: and full power of servers whose processors have the same TDP (rows `per: power.tdp` of
#: machines/priors.yaml).
STATED_SPREAD = 0.3
PURPOSE = "modelled energy"
OFFERED = "offer.watts"  #: power of a busy node


class DrawnPower(NamedTuple):
    """The power of all idle nodes, busy cores, or cards."""

    watts: float
    drawn: draws.Draws  #: [draw]
    stated_w: float  #: of a node, a core, or a card
    source: str  #: a line on it


def on_machine(run: Run, profile: Profile, nodes: int | None = None, word: str = "") -> Energy:
    """Energy as if the run had taken as long on a machine, every thread busy on a core of its own.

    Args:
        run: whose time it is.
        profile: of the machine.
        nodes: those of a simulated run, or else as few as provide the cores, by default.
        word: how a command names the machine, such as a path; empty where none can.

    Raises BadInput for nodes with too few cores and for a profile without the power.

    Example:
        >>> from spikemark.records.record import load_run
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> energy = on_machine(run, machines.load("jureca-dc"))
        >>> energy.kind, energy.model.nodes
        ('modelled', 1)
    """
    node_count, busy_cores = _nodes_and_cores(run, profile, nodes)
    machine = machines.filled(profile)
    cores = int(machine.need("node.cores", PURPOSE).value)
    stated = machine.get("node.sockets")
    sockets = int(stated.value) if stated else 1
    awake = sockets_awake(math.ceil(busy_cores / node_count), cores, sockets)
    counts = {"idle": node_count, "core": busy_cores}
    if machine.need("power.socket", PURPOSE).value:
        counts["socket"] = node_count * awake
    if node_count > 1:
        counts["card"] = node_count
    recorder = draws.Recorder()
    powers = {}
    for name, count in counts.items():
        value = machine.need(f"power.{name}", PURPOSE)
        powers[name] = _drawn(recorder, profile, name, value, count)
    idle = powers["idle"]
    gross_parts = list(powers.values())
    offered = machine.get(OFFERED)
    remarks = _remarks(run, profile, word)
    if offered is not None and busy_cores < node_count * cores:
        stated_w = f"{OFFERED} = {offered.value:g} W is that of a busy node, and not used"
        idle_cores = f"only {busy_cores} of {counted(node_count * cores, 'core')} are busy"
        remarks.append(f"{profile.name}: {stated_w}: {idle_cores}.")
    elif offered is not None:
        powers["offer"] = _offered(profile, offered, node_count)
        gross_parts = [powers["offer"]]
    gross_watts = 0.0
    gross_drawn = np.zeros_like(idle.drawn)
    for part in gross_parts:
        gross_watts += part.watts
        gross_drawn = gross_drawn + part.drawn
    model = PowerModel(
        name=profile.title,
        nodes=node_count,
        idle_w=idle.watts,
        watts={f"{name}_w": part.stated_w for name, part in powers.items()},
        sources={f"{name}_w": part.source for name, part in powers.items()},
        remarks=remarks,
    )
    duration_s = run.record.timing.simulate_s
    gross_w = _quantity(gross_watts, gross_drawn)
    net_w = _quantity(gross_watts - idle.watts, gross_drawn - idle.drawn)
    return Energy(
        run,
        "modelled",
        duration_s,
        gross_j=gross_w.times(duration_s, "J"),
        idle_w=_quantity(idle.watts, idle.drawn),
        model=model,
        modelled_net_j=net_w.times(duration_s, "J"),
    )


def _nodes_and_cores(run: Run, profile: Profile, nodes: int | None) -> tuple[int, int]:
    """How many nodes and cores the run would use. Raises BadInput for nodes with too few cores."""
    ranks, threads = run.record.ranks, run.record.threads
    if run.simulation is not None:
        threads = run.simulation["threads"]
        if nodes is None:
            nodes = math.ceil(ranks / run.simulation["ranks_per_node"])
    busy_cores = ranks * threads
    fewest = math.ceil(busy_cores / int(profile.need("node.cores", PURPOSE).value))
    if nodes is None:
        nodes = fewest
    if nodes < fewest:
        layout = f"{counted(ranks, 'rank')} x {counted(threads, 'thread')}"
        expected = f"{fewest} or more nodes of {profile.name} for {layout}"
        raise BadInput(field="nodes", value=nodes, expected=expected)
    return nodes, busy_cores


def _drawn(
    recorder: draws.Recorder,
    profile: Profile,
    name: str,
    value: Value,
    count: int,
) -> DrawnPower:
    """So many times a power of a profile."""
    path = f"power.{name}"
    low, high = _power_limits(path, value)
    stated_w = float(value.value)
    drawn = recorder(f"{profile.name}/{path}", stated_w, low, high, value)
    interval = f"{low:.3g} to {high:.3g} W"
    about = f"{path} = {value.value:g} W, {interval}, of {profile.name}"
    source = f"{about} ({value.kind}): {value.reference}"
    watts = count * stated_w
    return DrawnPower(watts, count * drawn, watts / count, source)


def _offered(profile: Profile, value: Value, nodes: int) -> DrawnPower:
    """The power of so many busy nodes, as an offer states it."""
    stated_w = float(value.value)
    source = f"{OFFERED} = {stated_w:g} W of {profile.name} ({value.kind}): {value.reference}"
    watts = nodes * stated_w
    return DrawnPower(watts, np.full(draws.N, watts), stated_w, source)


def _power_limits(path: str, value: Value) -> tuple[float, float]:
    """The 95 % interval of a power of a profile, W."""
    low, high = limits(path, value)
    if high > low:
        return low, high
    return low / (1 + STATED_SPREAD), high * (1 + STATED_SPREAD)


def _quantity(watts: float, drawn: draws.Draws) -> Quantity:
    """A power in W with the central 95 % of its draws, which contain it."""
    _, low, high = draws.interval(drawn)
    return Quantity(watts, min(low, watts), max(high, watts), "W", "modelled")


def _remarks(run: Run, profile: Profile, word: str) -> list[str]:
    """A remark where nothing shows that the run took its time on a machine of `profile`, which
    commands call by a word.
    """
    if run.simulation is not None:
        machine = str(run.simulation["machine"])
        same_machine = machine == profile.name
    else:
        host = run.record.host
        machine = f"{host.name} ({host.cpu})" if host.cpu else host.name
        same_machine = _same_processor(run, profile)
    if same_machine:
        return []
    line = f"The run took its time on {machine}, not shown to be {profile.name}"
    if not word and profile.name in machines.names():
        word = profile.name
    if not word:
        return [f"{line}."]
    prediction = command("predict", run.path, machine=word)
    return [f"{line}; `{prediction}` predicts what it would take there."]


def _same_processor(run: Run, profile: Profile) -> bool:
    """Whether a profile is that of the run's processor: its name or title has every word of it."""
    host = run.record.host
    if host.cpu is None or host.cores != int(profile.need("node.cores", PURPOSE).value):
        return False
    words = set(processor_name(host.cpu).split("-"))
    profile_words = set(re.findall(r"[a-z0-9]+", f"{profile.name} {profile.title}".lower()))
    virtual = profile.name.endswith("-vm")
    return words <= profile_words and virtual == bool(host.virtual_machine)
