#!/usr/bin/env python
"""Simulates the network of a run description (miniapp/FORMAT.md) with NEST; prints what it took as JSON.

Runs in .venv-peers (workflows/peers/install.sh), without the packages of the project. Same populations,
in-degrees, delays, rates and phases as in the mini-app, drawn from the same distributions by NEST's own
generators: the same network in distribution, not synapse by synapse. Exit status 2, with one line, for what
NEST cannot do alike. Neurons and synapses are counted without what drives them from outside.
"""

import argparse
import csv
import json
import math
import os
import platform
import sys
import time
from pathlib import Path

from nest_neurons import KINDS, NOTES, Refusal, population

SEEDS = 2**32 - 1
DISTRIBUTIONS = ("normal", "exponential", "constant")
BUSY = 0.2  # cores that others may keep busy before the time is doubted
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Network:
    """A run description with its defaults filled in. Times in ms; raises Refusal."""

    def __init__(self, description, kind):
        times = description["time"]
        self.h = float(times.get("resolution_ms", 0.1))
        self.cycle = float(times.get("cycle_ms", self.h))
        self.warmup = float(times.get("warmup_ms", 0))
        self.simulate = float(times["simulate_ms"])
        # NEST allows 1 to 2^32 - 1.
        self.seed = int(description.get("seed", 1)) % SEEDS or SEEDS
        self.populations = {
            p["name"]: population(p, kind == "described") for p in description["network"]["populations"]
        }
        self.projections = [self._projection(p) for p in description["network"].get("projections", [])]
        self.projections = [p for p in self.projections if p is not None]

    @property
    def neurons(self):
        return sum(p["size"] for p in self.populations.values())

    @property
    def drives(self):
        """Neurons that a poisson_generator drives, by generator."""
        return [p["size"] for p in self.populations.values() if p["size"] and p["external"]]

    @property
    def longest_delay(self):
        return max([self.cycle, *(p["delay"]["max"] for p in self.projections)])

    def _projection(self, given):
        names = given["source"] if isinstance(given["source"], list) else [given["source"]]
        for name in [*names, given["target"]]:
            if name not in self.populations:
                raise Refusal(f"projection: {name!r} is not a population")
        sources = [name for name in names if self.populations[name]["size"]]
        indegree = given["indegree"]
        if isinstance(indegree, dict):
            raise Refusal(f"projection to {given['target']!r}: indegree: {indegree}; expected a number")
        if not indegree or not self.populations[given["target"]]["size"]:
            return None
        if not sources:
            raise Refusal(f"projection to {given['target']!r}: the source population has no neurons")
        delay = dict(given["delay"])
        kind = delay.setdefault("distribution", "normal")
        if kind not in DISTRIBUTIONS:
            raise Refusal(f"delay.distribution: {kind!r}; expected {', '.join(DISTRIBUTIONS)}")
        delay.setdefault("sd", 0)
        delay.setdefault("min", self.h)
        delay.setdefault(
            "max", delay["mean"] * 5 if kind == "exponential" else delay["mean"] + 4 * delay["sd"]
        )
        if kind == "constant":
            delay.update(sd=0, max=delay["mean"])
        weight = given.get("weight", 1)
        weight = dict(weight) if isinstance(weight, dict) else {"mean": weight}
        return {
            "sources": sources,
            "target": given["target"],
            "indegree": indegree,
            "weight": {"mean": float(weight["mean"]), "sd": float(weight.get("sd", 0))},
            "delay": delay,
        }


def build(nest, network, kind, synapse, threads):
    """Create, connect, prepare: the seconds of each."""
    nest.ResetKernel()
    nest.set(
        resolution=network.h,
        min_delay=network.cycle,
        max_delay=math.ceil(round(network.longest_delay / network.h, 6)) * network.h,
        local_num_threads=threads,
        rng_seed=network.seed,
    )
    began = time.perf_counter()
    nodes = {}
    for name, p in network.populations.items():
        if p["size"]:
            model, parameters = KINDS[kind](nest, p, network.h)
            nodes[name] = nest.Create(model, p["size"], params=parameters)
    created = time.perf_counter()
    for name, p in network.populations.items():
        if p["size"] and p["external"]:
            drive = nest.Create("poisson_generator", 1, params={"rate": p["external"]["rate"]})
            synapses = {"synapse_model": "static_synapse", "weight": p["external"]["weight"]}
            nest.Connect(drive, nodes[name], "all_to_all", {**synapses, "delay": network.cycle})
    for projection in network.projections:
        pool = nodes[projection["sources"][0]]
        for name in projection["sources"][1:]:
            pool = pool + nodes[name]
        rule = {"rule": "fixed_indegree", "indegree": projection["indegree"]}
        specification = {"synapse_model": synapse, "delay": _delay(nest, projection["delay"])}
        if synapse != "static_synapse_hom_w":
            specification["weight"] = _weight(nest, projection["weight"])
        multiples = {"allow_multapses": True, "allow_autapses": True}
        nest.Connect(pool, nodes[projection["target"]], {**rule, **multiples}, specification)
    connected = time.perf_counter()
    nest.Prepare()
    prepared = time.perf_counter()
    return {
        "create_s": created - began,
        "connect_s": connected - created,
        "prepare_s": prepared - connected,
    }


def _weight(nest, weight):
    """Normal without limits; the mini-app's classes of it have the same mean and SD."""
    return nest.random.normal(mean=weight["mean"], std=weight["sd"]) if weight["sd"] else weight["mean"]


def _delay(nest, delay):
    """Outside of [min, max] drawn again; NEST rounds to its grid, as the mini-app does."""
    if delay["distribution"] == "exponential":
        spread = nest.random.exponential(beta=delay["mean"])
    elif delay["sd"]:
        spread = nest.random.normal(mean=delay["mean"], std=delay["sd"])
    else:
        return delay["mean"]
    return nest.math.redraw(spread, min=delay["min"], max=delay["max"])


def measure(nest, network, kind, synapse, threads):
    """Build and simulate; everything that goes into the JSON line."""
    baseline = _high_water_mark()
    parts = build(nest, network, kind, synapse, threads)
    if network.warmup:
        nest.Run(network.warmup)
    before = _cpu_seconds()
    began = time.perf_counter()
    nest.Run(network.simulate)
    wall = time.perf_counter() - began
    after = _cpu_seconds()
    status = nest.GetKernelStatus()
    spikes = int(status["local_spike_counter"])  # of the last Run: NEST starts it anew with each
    nest.Cleanup()
    model_s = network.simulate / 1000
    return {
        "program": "nest",
        "version": nest.__version__,
        "python": platform.python_version(),
        "model": kind,
        "synapse_model": synapse,
        "note": NOTES[kind],
        "ranks": int(status["num_processes"]),
        "threads": int(status["local_num_threads"]),
        "neurons": int(status["network_size"]) - len(network.drives),
        "synapses": int(status["num_connections"]) - sum(network.drives),
        "build_s": sum(parts.values()),
        **parts,
        "simulate_s": wall,
        "simulate_cpu_s": None if before is None or after is None else after[1] - before[1],
        "model_s": model_s,
        "communicate_s": communicated(status, model_s),
        "spikes": spikes,
        "mean_rate_hz": spikes / network.neurons / model_s,
        "peak_bytes": _high_water_mark(),
        "baseline_bytes": baseline,
        "foreign_load": _foreign_load(before, after, wall),
    }


def communicated(status, model_s):
    """Seconds of exchanging spikes per simulated second, by NEST's own timers; None without them."""
    spent = status.get("time_communicate_spike_data")
    spent = max(spent) if isinstance(spent, (tuple, list)) else spent
    return spent / model_s if spent else None


def _high_water_mark():
    """Largest resident size of this process so far, bytes; None where the kernel does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None


def _cpu_seconds():
    """CPU time since boot that all processes and the hypervisor took, and that of this process; or None."""
    try:
        ticks = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    user, nice, system, _, _, irq, softirq, steal = ticks
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_S, time.process_time()


def _foreign_load(before, after, wall):
    """Cores that others kept busy, a mean; None where unknown or too short for the clock of /proc/stat."""
    if before is None or after is None or wall < 0.2:
        return None
    return max(0.0, (after[0] - before[0] - (after[1] - before[1])) / wall)


def main(arguments=None):
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("description", type=Path, help="run.json")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--model", choices=list(KINDS), default="ignore_and_fire", help="which neurons of NEST"
    )
    parser.add_argument(
        "--synapse", choices=["static_synapse", "static_synapse_hom_w"], default="static_synapse"
    )
    parser.add_argument("--table", type=Path, help="CSV file to which this run is added")
    parser.add_argument("--nodes", type=int, default=1, help="nodes of this run, for the table")
    chosen = parser.parse_args(arguments)
    try:
        network = Network(json.loads(chosen.description.read_text()), chosen.model)
    except Refusal as reason:
        return _fail(str(reason))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return _fail(f"{chosen.description}: not a run description: {error!r}")
    os.environ["PYNEST_QUIET"] = "1"
    try:
        import nest
    except ImportError as error:
        return _fail(f"NEST is not there, install it with workflows/peers/install.sh: {error}")
    nest.verbosity = nest.VerbosityLevel.ERROR
    found = measure(nest, network, chosen.model, chosen.synapse, chosen.threads)
    if nest.Rank() == 0:
        print(json.dumps(found))
        if chosen.table:
            add(chosen.table, chosen.nodes, found)
        if (found["foreign_load"] or 0) > BUSY:
            print(
                f"nest_network: other programs kept {found['foreign_load']:.1f} cores busy", file=sys.stderr
            )
    return 0


def add(table, nodes, found):
    """A line for the table that `spikemark anchor` reads."""
    row = [nodes, found["ranks"], found["threads"], f"{found['simulate_s'] / found['model_s']:.6g}"]
    with table.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([*row, found["communicate_s"] or ""])


def _fail(line):
    print(f"nest_network: {' '.join(line.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
