"""Compute time of every rank in a cycle, from its loads and the kernel times of a machine's profile.

A thread takes t_first per list entered, t_next per synapse visited, t_spike per spike it goes through
(models/delivery_time.py), and t_update per neuron and step. The master thread alone writes spikes into send
buffers: t_leave per spike that leaves, t_route per rank that it goes to. The fixed time of every cycle counts
into update. The slowest thread of a rank sets its time; how long a mean thread waits for it is `thread_wait`,
as in the mini-app. Kernel times depend on how many cores of the node are busy: those of the profile are for
one core and for all; in between, they are interpolated linearly in the number of busy cores.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.parts import Share
from spikemark.network.description import read
from spikemark.network.fields import Population

from . import cache, measured, rates
from .layout import Layout
from .loads import Loads

ONE, FULL, CYCLE = "kernels.one_core", "kernels.full_node", "cycle"
BARRIERS = 2  # barriers of the threads in a cycle
ROUTES = 4  # ranks that get a spike in the profile's time per spike (miniapp/bench/kernels_network.c)
LEAVE, ROUTE, WARM = "t_leave", "t_route", "collocate"
INTERPOLATED = "kernel times with part of the node busy: interpolated between one core and all, linearly"
NO_CYCLE = (
    "the time of a cycle besides its kernels (`cycle`) is unknown and left out, so cycles of a few "
    "microseconds are predicted too short"
)
NOT_BETWEEN = (
    "collocation takes as long as with routes in the caches; after a delivery it takes several times as long"
    " (`t_leave`, `t_route`: unknown)"
)
THREADS = "a barrier of threads takes log2(threads) latencies within the node"


@dataclass(frozen=True)
class PhaseTimes:
    """Mean seconds per cycle, [rank]."""

    deliver_s: np.ndarray
    update_s: np.ndarray
    thread_wait_s: np.ndarray
    collocate_s: np.ndarray
    assumptions: list[str]

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        """[rank] of each part of records.phases.COMPUTE."""
        return self.deliver_s, self.update_s, self.thread_wait_s, self.collocate_s

    @property
    def of_one_thread(self) -> tuple[np.ndarray, ...]:
        """Deliver, update and collocate, [rank] each, of one thread that stands for all of its rank."""
        return self.deliver_s, self.update_s + self.thread_wait_s, self.collocate_s

    @property
    def compute_s(self) -> np.ndarray:
        """All parts together, [rank]."""
        return sum(self.parts)


def phase_times(
    description: dict,
    profile,
    ranks: int,
    threads: int,
    schedule: str | list | None = None,
    placement: str | None = None,
    ranks_per_node: int | None = None,
    hz: float | dict | None = None,
    on: dict[str, int] | None = None,
) -> PhaseTimes:
    """Mean compute times of every rank on a machine, seconds per cycle.

    `profile`: of spikemark.machines, or a machine of parts; unknown values that are needed raise BadInput
    (`machines.filled` assumes them). `hz`: rates in Hz of all neurons, or by population, where the
    description's models state none. `on`: ranks by part.
    """
    known = read(description)  # once: a large network takes a second
    loads = Loads.of(known, ranks, threads, rates.of(known, hz).hz, schedule, placement)
    inputs, layout = Inputs(profile), Layout.of(profile, ranks, threads, ranks_per_node, on)
    times = of_ranks(loads, inputs, layout)
    return PhaseTimes(*times, assumptions(inputs, layout, loads))


def assumptions(inputs: Inputs, layout: Layout, loads: Loads) -> list[str]:
    """What the times assume: assumed values of the profile, then assumptions of the model."""

    def ask(of: Inputs, share: Share) -> list[str]:
        return [f"{layout.prefix(share)}{line}" for line in _of_model(of, share.node, loads)]

    values = assumed(inputs)  # before the model asks for more
    return [*values, *(line for lines in layout.each(inputs, ask) for line in lines)]


def _of_model(inputs: Inputs, node: Node, loads: Loads) -> list[str]:
    def known(name: str) -> float:
        return _known(inputs, name, node)

    found = [] if cache.is_measured(known) else [cache.ASSUMED]
    if cache.leaves_out_far(loads, known):
        found.append(cache.NOT_FAR)
    if np.isnan(known(LEAVE)):
        found.append(NOT_BETWEEN)
    if 1 < node.busy < node.cores:
        found.append(INTERPOLATED)
    if any(inputs.profile.get(f"{group}.{CYCLE}") is None for group in _groups(node)):
        found.append(NO_CYCLE)
    if node.threads > 1:
        found.append(THREADS)
    return found


def assumed(inputs: Inputs) -> list[str]:
    """The assumed numbers of the profile that were used, each with its reason."""
    used = {path for path, value in inputs.used.items() if value.kind == "assumed"} - {*measured.PATHS}
    values = {path: inputs.profile.get(path) for path in inputs.used if path in used}
    return [
        f"{path} = {value.value:g}{'' if value.unit == '1' else f' {value.unit}'}: {value.reference}"
        for path, value in values.items()
        if not isinstance(value.value, str | list | tuple)
    ]


def of_ranks(loads: Loads, inputs: Inputs, layout: Layout) -> tuple[np.ndarray, ...]:
    """Mean seconds per cycle in each part of records.phases.COMPUTE, [rank], on the nodes of each rank."""

    def ask(of: Inputs, share: Share) -> list[np.ndarray]:
        return [part[share.slice] for part in seconds(loads, of, share.node)]

    return tuple(np.concatenate(part) for part in zip(*layout.each(inputs, ask), strict=True))


def seconds(loads: Loads, inputs: Inputs, node: Node) -> tuple[np.ndarray, ...]:
    """The same if all ranks were on nodes of one profile."""

    def kernel(name: str) -> float:
        return _kernel(inputs, name, node)

    def known(name: str) -> float:
        return _known(inputs, name, node)

    visit = kernel("t_next") + cache.miss_s(loads, inputs, known)
    enter = np.maximum(kernel("t_first") + cache.far_s(loads, known), 0.0)
    delivery = loads.lists.sum(axis=0) * enter + loads.events * visit
    going_through = loads.arriving * kernel("t_spike")
    each = loads.steps * _update(loads.description.network.populations, kernel)
    advancing = each @ loads.neurons + cache.row_s(loads, known) * loads.neurons.sum(axis=0)
    of_thread = (delivery + advancing)[loads.column]
    deliver = delivery[loads.column].mean(axis=1) + going_through
    update = advancing[loads.column].mean(axis=1) + _kernel(inputs, CYCLE, node, Inputs.get, 0.0)
    waited = np.maximum(of_thread.max(axis=1) - of_thread.mean(axis=1), 0.0)  # rounding aside, >= 0
    return deliver, update, waited + _barriers(inputs, node), _collocation(loads, inputs, node)


def _collocation(loads: Loads, inputs: Inputs, node: Node) -> np.ndarray:
    """Seconds per cycle in which the master thread writes spikes into send buffers, [rank]."""
    alone = Node(node.cores, node.ranks, 1, node.nodes)  # the master threads, while the others wait
    leave, route = _known(inputs, LEAVE, alone), _known(inputs, ROUTE, alone)
    if np.isnan(leave) or np.isnan(route):
        return loads.collocated / ROUTES * _kernel(inputs, WARM, alone)
    return loads.spikes * leave + loads.collocated * route


def _update(populations: list[Population], kernel) -> np.ndarray:
    """Seconds per neuron and step, [population]."""
    models = {p.neuron.model for p in populations}
    times = {model: kernel(f"update.{model}") for model in sorted(models)}
    external = kernel("external") if any(p.outside_hz for p in populations) else 0.0
    return np.array([times[p.neuron.model] + external * (p.outside_hz > 0) for p in populations])


def _kernel(inputs: Inputs, name: str, node: Node, ask: Callable = Inputs.need, *other: float) -> float:
    """Seconds of a kernel by how many cores are busy. `ask`: Inputs.get gives `other` where unknown."""
    share = _share(node)
    why = other or (f"{node.busy} of {node.cores} busy cores",)
    times = {group: ask(inputs, f"{group}.{name}", *why) for group in _groups(node)}
    return (1 - share) * times.get(ONE, 0.0) + share * times.get(FULL, 0.0)


def _known(inputs: Inputs, name: str, node: Node) -> float:
    """Seconds of a kernel, NaN where the profile does not have it."""
    return _kernel(inputs, name, node, Inputs.get, np.nan)


def _share(node: Node) -> float:
    """The node's position between one busy core (0) and all (1)."""
    return (node.busy - 1) / (node.cores - 1) if node.cores > 1 else 0.0


def _groups(node: Node) -> list[str]:
    """The groups of kernel times that are needed."""
    return [ONE] * (_share(node) < 1) + [FULL] * (_share(node) > 0)


def _barriers(inputs: Inputs, node: Node) -> float:
    if node.threads == 1:
        return 0.0
    return BARRIERS * np.log2(node.threads) * inputs.need("interconnect.latency_node", "barriers of threads")
