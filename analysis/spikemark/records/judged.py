"""What a reader of the times must know, judged from the facts of a record (format_version 3 and later).

Imports nothing heavy: a process is started for every run.
"""

from collections.abc import Iterator
from typing import Any

HIGH_RATE_HZ = 200.0
REACHED = 0.01  # relative difference of a rate that counts as reached
CLOCK_STEP_S = 0.01
FOREIGN_CORES, STOLEN_CORES = 0.1, 0.02
OVERSUBSCRIBED = "oversubscribed"
#: Beginnings of warnings about other programs, and about ranks that share cores.
FOREIGN = ("foreign load", "stolen time")
SHARED = (OVERSUBSCRIBED, "bound too tightly", "shared cores")


def warnings(record: dict[str, Any]) -> list[str]:
    """Sentences about a run, each with its kind before a colon: `oversubscribed`, `silent`, …

    Args:
        record: record.json.
    """
    found = [*_network(record), *([] if record["kind"] == "simulated" else _host(record)), *_counters(record)]
    if dry := record.get("dry_run"):
        if dry["spikes"] != "exact":
            found.append(
                "dry run: neurons of other ranks whose spikes are not known fire at equal intervals,"
                f" {dry['rate_hz']:.10g} spikes/s, by chance"
            )
        if dry["routes"] != "exact":
            found.append("dry run: where the spikes of this rank go was drawn, with the right probabilities")
    for lane in record["lanes"]:
        if lane["blocks"]:
            found.append(f"lane {lane['name']}: exchange {lane['exchange']} blocks, so nothing overlaps")
    return found


def _network(record: dict[str, Any]) -> Iterator[str]:
    populations = record["description"]["network"]["populations"]
    step_ms, totals = record["description"]["time"]["resolution_ms"], record["totals"]
    if totals["spikes"] == 0:
        yield "silent: no neuron fired in the measured part"
    rate_hz = totals["spikes"] / totals["neurons"] / record["timing"]["model_s"] if totals["neurons"] else 0
    if rate_hz > max(HIGH_RATE_HZ, *(one["neuron"].get("rate_hz", 0) for one in populations)):
        yield f"high rate: {rate_hz:.4g} spikes/s per neuron; the network may have diverged"
    for population in populations:
        asked = population["neuron"].get("rate_hz", 0)
        if population["size"] == 0 or asked <= 0:
            continue
        has = 1000 / (step_ms * max(1, round(1000 / (asked * step_ms))))
        if abs(has - asked) > REACHED * asked:
            yield (
                f"rate_hz of population {population['name']}: {asked:.10g} becomes {has:.10g}, since spikes"
                f" are whole steps of {step_ms:.10g} ms apart"
            )


def _host(record: dict[str, Any]) -> Iterator[str]:
    host, threads = record["host"], record["threads"]
    nodes, waits = host["per_node"] or [], host["waiting"]
    crowded = [node for node in nodes if node["cores"] and node["ranks"] * threads > node["cores"]]
    if crowded:
        worst = max(crowded, key=lambda node: node["ranks"] / node["cores"])
        yield (
            f"oversubscribed: {worst['ranks']} ranks x {threads} threads on {worst['cores']} cores of node"
            f" {worst['name']}{_elsewhere(crowded)}; times are no evidence of speed"
        )
    yield from _binding(host, threads, {node["name"] for node in crowded})
    per_core = host["threads_per_core"] or 1
    spins = any(node["ranks"] * threads > node["cores"] * per_core for node in crowded)
    if waits and waits["passive"] and (spins or threads > 1):
        yield (
            f"passive waiting: threads sleep while they wait (set by the {waits['chosen_by']}), which takes"
            " longer than it does when each thread has a core"
        )
    elif waits and spins:
        yield "active waiting: threads that share hardware threads spin; try OMP_WAIT_POLICY=passive"
    step_s = record["timing"]["clock_step_s"]
    if step_s is not None and abs(step_s) > CLOCK_STEP_S:
        yield f"system clock: it was set by {step_s:+.3f} s during the run; times go on as before"
    if host["virtual_machine"]:
        yield "virtual machine: other guests and the hypervisor affect the times"
    if (load := host["foreign_load"] or 0) > FOREIGN_CORES:
        yield f"foreign load: other processes kept {load:.2f} cores busy"
    if (load := host["stolen_load"] or 0) > STOLEN_CORES:
        yield f"stolen time: the hypervisor took {load:.2f} cores away"


def _elsewhere(nodes: list) -> str:
    return f", and likewise on {len(nodes) - 1} other nodes" if len(nodes) > 1 else ""


def _lacking(usable: list[tuple[int, ...]], threads: int) -> int:
    """How many threads of ranks that may use these cores have none of their own, at least.

    Counted over all ranks, and over the ranks of each set of cores.
    """
    needed = {cores: min(threads, len(cores)) * usable.count(cores) for cores in {*usable}}
    everywhere = {core for cores in usable for core in cores}
    lacking = [need - len(cores) for cores, need in needed.items()]
    return max(sum(needed.values()) - len(everywhere), *lacking)


def _binding(host: dict[str, Any], threads: int, crowded: set[str]) -> Iterator[str]:
    """Ranks that are bound to fewer cores than they have threads, and ranks that must share cores."""
    nodes, of_rank = host["per_node"] or [], host["node_of_rank"]
    cores = host["usable_cores"]
    tight = [
        rank
        for rank, own in enumerate(cores)
        if nodes and 0 < len(own) < threads and len(own) != nodes[of_rank[rank]]["cores"]
    ]
    if tight:
        yield (
            f"bound too tightly: rank {tight[0]} on node {nodes[of_rank[tight[0]]]['name']} has {threads}"
            f" threads and may use {len(cores[tight[0]])} cores, and {len(tight)} of {len(cores)} ranks are"
            f" bound so; try srun --cpus-per-task={threads} --hint=nomultithread, or mpirun --bind-to none"
        )
    for number, node in enumerate(nodes):
        ranks = [rank for rank, at in enumerate(of_rank) if at == number and node["name"] not in crowded]
        if ranks and (lacking := _lacking([tuple(cores[rank]) for rank in ranks], threads)) > 0:
            yield (
                f"shared cores: {lacking} threads on node {node['name']} have no core of their own; bind each"
                " rank to cores of its own, as srun --hint=nomultithread does"
            )
            return


def _counters(record: dict[str, Any]) -> Iterator[str]:
    papi = [meter for meter in record["meters"] if meter["source"] == "papi"]
    missing: dict[str, list[str]] = {}
    for meter in papi:
        if meter["status"] != "ok" and "phase" not in meter:
            missing.setdefault(meter["reason"], []).append(meter["name"])
    for reason, names in missing.items():
        yield f"counters: {', '.join(names)} cannot be read: {reason}"
    if any(meter["status"] == "ok" for meter in papi):
        yield (
            "counters were read at the seams of every cycle: times are longer than without, see"
            " timing.counter_overhead"
        )
