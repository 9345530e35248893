"""What simulated results follow from, as digests: they show whether results still hold."""

from collections.abc import Iterable

from spikemark import machines
from spikemark.machines.node import Node
from spikemark.prediction import phases
from spikemark.running import experiments
from spikemark.running.experiments import RunSpec
from spikemark.running.simulation import networks, platform
from spikemark.running.simulation.sources import full_network

PLAN = "the experiment or the profile"
COMPUTE = "the modelled compute times"
NETWORK = "the simulated network"
DIGITS = 4  # of a compute time: more would tell one computer from another


def of(name: str) -> dict[str, str]:
    """Digests by what they are of, for the experiment of that name, all runs of which are simulated.

    Run ids follow from descriptions and from the values of profiles. The mean compute times are those that
    the runs are given, and the network is what SimGrid and its options are told.
    """
    runs = experiments.expand(experiments.load(name))
    modelled = [run for run in runs if run.machine.compute == "model"]
    return {
        PLAN: _digest(run.id for run in runs),
        COMPUTE: _digest(sorted({_compute_times(run) for run in modelled})),
        NETWORK: _digest(sorted({_network(run) for run in runs})),
    }


def _digest(values: Iterable[str]) -> str:
    return experiments.digest(sorted(values))[:16]


def _compute_times(run: RunSpec) -> str:
    machine = run.machine
    profile = machines.filled(machines.load(machine.profile))
    threads = Node.of(profile, run.ranks, None, machine.ranks_per_node).threads
    network = full_network(run.description, run.compute_of)
    found = phases.phase_times(
        network, profile, run.ranks, threads, ranks_per_node=machine.ranks_per_node, hz=machine.rate_hz
    )
    return " ".join(f"{limit(part):.{DIGITS}g}" for part in found.of_one_thread for limit in (min, max))


def _network(run: RunSpec) -> str:
    profile, each = machines.filled(machines.load(run.machine.profile)), run.machine.ranks_per_node
    built = platform.build(networks.of_nodes(profile, run.ranks, each), run.ranks, each)
    return f"{built.xml} {' '.join(built.flags)} {built.environment}"


def changed(then: dict[str, str], now: dict[str, str]) -> list[str]:
    """What differs."""
    return [name for name, value in now.items() if then.get(name) != value]
