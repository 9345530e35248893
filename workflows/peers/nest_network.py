#!/usr/bin/env python
"""Simulates the network of a run description (miniapp/FORMAT.md) with NEST; prints its times.

What it took is one line of JSON. Runs in .venv-peers (workflows/peers/install.sh), without the
packages of the project. Same populations, in-degrees, delays, rates and phases as in the mini-app,
drawn from the same distributions by NEST's own generators: the same network in distribution, not
synapse by synapse. Exit status 2, with one line, for what NEST cannot do alike. Neurons and
synapses are counted without what drives them from outside.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from nest_neurons import KINDS, NOTES, Population, Refusal, population

#: Seeds that NEST allows: 1 to this one.
MAX_SEED = 2**32 - 1
DISTRIBUTIONS = ("normal", "exponential", "constant")
#: Cores that others may keep busy before the time is doubted.
BUSY = 0.2
#: Shortest time that the clock of /proc/stat can tell the load of, s.
MIN_LOAD_S = 0.2
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Delay(NamedTuple):
    """Delays of a projection in ms, drawn again outside of [min, max]."""

    distribution: str
    mean: float
    sd: float
    min: float
    max: float


class Weight(NamedTuple):
    """Weights of a projection: normal without limits.

    The mini-app's classes of weights have the same mean and standard deviation.
    """

    mean: float
    sd: float


class Projection(NamedTuple):
    """Synapses from the neurons of some populations to those of one."""

    sources: list[str]
    target: str
    indegree: int
    weight: Weight
    delay: Delay


class Network:
    """A run description with its defaults filled in. Times in ms; raises Refusal."""

    def __init__(self, description: dict[str, Any], kind: str) -> None:
        times, network = description["time"], description["network"]
        self.step = float(times.get("resolution_ms", 0.1))
        self.cycle = float(times.get("cycle_ms", self.step))
        self.warmup = float(times.get("warmup_ms", 0))
        self.simulate = float(times["simulate_ms"])
        self.seed = int(description.get("seed", 1)) % MAX_SEED or MAX_SEED
        as_described = kind == "described"
        self.populations: dict[str, Population] = {}
        for part in network["populations"]:
            self.populations[part["name"]] = population(part, as_described)
        self.projections: list[Projection] = []
        for part in network.get("projections", []):
            projection = self._projection(part)
            if projection is not None:
                self.projections.append(projection)

    @property
    def neurons(self) -> int:
        """Number of neurons."""
        return sum(population.size for population in self.populations.values())

    @property
    def driven_sizes(self) -> list[int]:
        """Neurons that a poisson_generator drives, by generator."""
        populations = self.populations.values()
        return [p.size for p in populations if p.size and p.external]

    @property
    def longest_delay(self) -> float:
        return max([self.cycle, *(projection.delay.max for projection in self.projections)])

    def _projection(self, description: dict[str, Any]) -> Projection | None:
        """A projection of the description; None where it has no synapses."""
        target, indegree = description["target"], description["indegree"]
        names = description["source"]
        if not isinstance(names, list):
            names = [names]
        for name in [*names, target]:
            if name not in self.populations:
                raise Refusal(f"projection: {name!r} is not a population")
        if isinstance(indegree, dict):
            raise Refusal(f"projection to {target!r}: indegree: {indegree}; expected a number")
        if not indegree or not self.populations[target].size:
            return None
        sources = [name for name in names if self.populations[name].size]
        if not sources:
            raise Refusal(f"projection to {target!r}: the source population has no neurons")
        weight = _weight(description.get("weight", 1))
        delay = _delay(description["delay"], self.step)
        return Projection(sources, target, indegree, weight, delay)


def _weight(description: dict[str, Any] | float) -> Weight:
    """The weights of a projection, as the description states them."""
    if isinstance(description, dict):
        return Weight(float(description["mean"]), float(description.get("sd", 0)))
    return Weight(float(description), 0.0)


def _delay(description: dict[str, Any], step: float) -> Delay:
    """The delays of a projection, as the description states them."""
    distribution = description.get("distribution", "normal")
    if distribution not in DISTRIBUTIONS:
        expected = ", ".join(DISTRIBUTIONS)
        raise Refusal(f"delay.distribution: {distribution!r}; expected {expected}")
    mean, sd = description["mean"], description.get("sd", 0)
    shortest = description.get("min", step)
    if distribution == "constant":
        return Delay(distribution, mean, 0, shortest, mean)
    longest = 5 * mean if distribution == "exponential" else mean + 4 * sd
    return Delay(distribution, mean, sd, shortest, description.get("max", longest))


def build(nest: Any, network: Network, kind: str, synapse: str, threads: int) -> dict[str, float]:
    """Creates, connects, prepares: the seconds of each."""
    nest.ResetKernel()
    nest.set(
        resolution=network.step,
        min_delay=network.cycle,
        max_delay=math.ceil(round(network.longest_delay / network.step, 6)) * network.step,
        local_num_threads=threads,
        rng_seed=network.seed,
    )
    began = time.perf_counter()
    nodes = _create(nest, network, kind)
    created = time.perf_counter()
    _drive(nest, network, nodes)
    _connect(nest, network, nodes, synapse)
    connected = time.perf_counter()
    nest.Prepare()
    prepared = time.perf_counter()
    return {
        "create_s": created - began,
        "connect_s": connected - created,
        "prepare_s": prepared - connected,
    }


def _create(nest: Any, network: Network, kind: str) -> dict[str, Any]:
    """The neurons of each population that has some, by name."""
    nodes = {}
    for name, part in network.populations.items():
        if part.size:
            model = part.model or kind
            parameters = KINDS[kind](nest, part, network.step)
            nodes[name] = nest.Create(model, part.size, params=parameters)
    return nodes


def _drive(nest: Any, network: Network, nodes: dict[str, Any]) -> None:
    """Connects a generator to each population with input from outside."""
    for name, part in network.populations.items():
        if part.size and part.external:
            generator = nest.Create("poisson_generator", 1, params={"rate": part.external.rate})
            synapses = {
                "synapse_model": "static_synapse",
                "weight": part.external.weight,
                "delay": network.cycle,
            }
            nest.Connect(generator, nodes[name], "all_to_all", synapses)


def _connect(nest: Any, network: Network, nodes: dict[str, Any], synapse: str) -> None:
    """Makes the synapses of all projections."""
    for projection in network.projections:
        sources = nodes[projection.sources[0]]
        for name in projection.sources[1:]:
            sources = sources + nodes[name]
        rule = {
            "rule": "fixed_indegree",
            "indegree": projection.indegree,
            "allow_multapses": True,
            "allow_autapses": True,
        }
        synapses = {"synapse_model": synapse, "delay": _nest_delay(nest, projection.delay)}
        if synapse != "static_synapse_hom_w":
            synapses["weight"] = _nest_weight(nest, projection.weight)
        nest.Connect(sources, nodes[projection.target], rule, synapses)


def _nest_weight(nest: Any, weight: Weight) -> Any:
    """What NEST draws weights from."""
    if not weight.sd:
        return weight.mean
    return nest.random.normal(mean=weight.mean, std=weight.sd)


def _nest_delay(nest: Any, delay: Delay) -> Any:
    """What NEST draws delays from, which it rounds to its grid, as the mini-app does."""
    if delay.distribution == "exponential":
        drawn = nest.random.exponential(beta=delay.mean)
    elif delay.sd:
        drawn = nest.random.normal(mean=delay.mean, std=delay.sd)
    else:
        return delay.mean
    return nest.math.redraw(drawn, min=delay.min, max=delay.max)


class CpuTimes(NamedTuple):
    """CPU time so far, s."""

    machine: float  #: since boot, of all processes and the hypervisor
    process: float  #: of this process


def measure(nest: Any, network: Network, kind: str, synapse: str, threads: int) -> dict[str, Any]:
    """Builds and simulates the network; everything that goes into the JSON line."""
    baseline = _high_water_mark()
    parts = build(nest, network, kind, synapse, threads)
    if network.warmup:
        nest.Run(network.warmup)
    before = _cpu_times()
    began = time.perf_counter()
    nest.Run(network.simulate)
    wall_s = time.perf_counter() - began
    after = _cpu_times()
    status = nest.GetKernelStatus()
    spikes = int(status["local_spike_counter"])  # of the last Run: NEST starts it anew with each
    nest.Cleanup()
    model_s = network.simulate / 1000
    cpu_s = None
    if before is not None and after is not None:
        cpu_s = after.process - before.process
    return {
        "program": "nest",
        "version": nest.__version__,
        "python": platform.python_version(),
        "model": kind,
        "synapse_model": synapse,
        "note": NOTES[kind],
        "ranks": int(status["num_processes"]),
        "threads": int(status["local_num_threads"]),
        "neurons": int(status["network_size"]) - len(network.driven_sizes),
        "synapses": int(status["num_connections"]) - sum(network.driven_sizes),
        "build_s": sum(parts.values()),
        **parts,
        "simulate_s": wall_s,
        "simulate_cpu_s": cpu_s,
        "model_s": model_s,
        "communicate_s": communicated(status, model_s),
        "spikes": spikes,
        "mean_rate_hz": spikes / network.neurons / model_s,
        "peak_bytes": _high_water_mark(),
        "baseline_bytes": baseline,
        "foreign_load": _foreign_load(before, after, wall_s),
    }


def communicated(status: dict[str, Any], model_s: float) -> float | None:
    """Seconds of exchanging spikes per simulated second, by NEST's own timers, if it has them."""
    spent_s = status.get("time_communicate_spike_data")
    if isinstance(spent_s, (tuple, list)):
        spent_s = max(spent_s)
    return spent_s / model_s if spent_s else None


def _high_water_mark() -> int | None:
    """Largest resident size of this process so far, bytes; None where the kernel does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def _cpu_times() -> CpuTimes | None:
    """CPU times now; None where the kernel does not tell."""
    try:
        first_line = Path("/proc/stat").read_text().split("\n")[0]
        ticks = [int(number) for number in first_line.split()[1:9]]
    except (OSError, ValueError):
        return None
    user, nice, system, _, _, irq, softirq, steal = ticks
    busy = user + nice + system + irq + softirq + steal
    return CpuTimes(busy / TICKS_PER_S, time.process_time())


def _foreign_load(before: CpuTimes | None, after: CpuTimes | None, wall_s: float) -> float | None:
    """Cores that others kept busy, a mean; None where unknown, or too short to tell."""
    if before is None or after is None or wall_s < MIN_LOAD_S:
        return None
    machine_s, process_s = after.machine - before.machine, after.process - before.process
    return max(0.0, (machine_s - process_s) / wall_s)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("description", type=Path, help="run.json")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--model", choices=list(KINDS), default="ignore_and_fire", help="which neurons of NEST"
    )
    parser.add_argument(
        "--synapse", choices=["static_synapse", "static_synapse_hom_w"], default="static_synapse"
    )
    parser.add_argument(
        "--table",
        type=Path,
        help="CSV file to which this run is added; its line of JSON goes to a .jsonl beside it",
    )
    parser.add_argument("--nodes", type=int, default=1, help="nodes of this run, for the table")
    options = parser.parse_args(arguments)
    try:
        network = Network(json.loads(options.description.read_text()), options.model)
    except Refusal as reason:
        return _fail(str(reason))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return _fail(f"{options.description}: not a run description: {error!r}")
    os.environ["PYNEST_QUIET"] = "1"
    try:
        import nest
    except ImportError as error:
        return _fail(f"NEST is not there, install it with workflows/peers/install.sh: {error}")
    nest.verbosity = nest.VerbosityLevel.ERROR
    result = measure(nest, network, options.model, options.synapse, options.threads)
    if nest.Rank() == 0:
        print(json.dumps(result))
        if options.table:
            add(options.table, options.nodes, result)
        load = result["foreign_load"] or 0
        if load > BUSY:
            print(f"nest_network: other programs kept {load:.1f} cores busy", file=sys.stderr)
    return 0


def add(table: Path, nodes: int, result: dict[str, Any]) -> None:
    """Adds a line to the table that `spikemark anchor` reads, and the result to the file beside it.

    The file gets nothing else: NEST and the MPI library also write to the standard output.
    """
    with table.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
    real_time_factor = result["simulate_s"] / result["model_s"]
    row = [nodes, result["ranks"], result["threads"], f"{real_time_factor:.6g}"]
    with table.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([*row, result["communicate_s"] or ""])


def _fail(reason: str) -> int:
    """Says what is wrong, in one line, and gives the exit status."""
    print(f"nest_network: {' '.join(reason.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
