"""The parts of a synthetic record (miniapp/FORMAT.md) that follow from counts and times."""

import hashlib
import json

import numpy as np

from spikemark.network.fields import Projection
from spikemark.records.record import COUNT_COLUMNS, SECONDS_COLUMNS

PHASES = ["deliver", "update", "thread_wait", "collocate", "synchronise", "exchange"]
RANK_COLUMNS = ["rank", *COUNT_COLUMNS, "peak_bytes", *SECONDS_COLUMNS]


def node(name: str, ranks: int) -> dict:
    """An entry of host.per_node."""
    frequency = {"governor": "performance", "governor_reason": None}
    frequency |= {"frequency_min_hz": 1_500_000_000, "frequency_max_hz": 3_000_000_000}
    return {
        "name": name,
        "cpu": "synthetic CPU",
        "cores": 2,
        "memory_bytes": 2**33,
        "ranks": ranks,
        **frequency,
    }


def rank_rows(counts, times, ranks, windows) -> list[dict]:
    """The lines of ranks.csv."""
    messages = windows * (ranks - 1)
    simulate = np.nansum(times, axis=(1, 2))
    return [
        {
            "rank": r,
            "neurons": int(counts.neurons[r]),
            "synapses": int(counts.synapses[r]),
            "spikes": int(counts.spikes[r]),
            "synaptic_events": int(counts.synaptic_events[r]),
            "external_events": 0,
            "first_accesses": int(counts.first_accesses[r]),
            "messages": messages,
            "bytes_sent": 8 * (messages + int(counts.spikes[r]) * (ranks - 1)),
            "peak_bytes": 20_000_000 + 24 * int(counts.synapses[r]),
            "build_s": 0.05,
            "simulate_s": float(simulate[r]),
        }
        for r in range(ranks)
    ]


def phase_summary(times, phases=PHASES) -> dict:
    """`timing.phases` of times in s, [rank, cycle, phase]; those of NaN were not timed."""
    return {name: _summary(times[:, :, i].sum(axis=1)) for i, name in enumerate(phases)}


def _summary(totals) -> dict:
    if np.isnan(totals).any():
        return {"mean_s": None, "max_s": None, "reason": "record.barrier is false"}
    return {"mean_s": float(totals.mean()), "max_s": float(totals.max())}


def as_told(times, record):
    """`times` scaled, phase by phase, to what the record says of them; the record gets their maxima."""
    times = times.copy()
    for i, name in enumerate(record["phases"]):
        told, own = record["timing"]["phases"][name], _summary(times[:, :, i].sum(axis=1))
        if told["mean_s"] is None:
            times[:, :, i] = np.nan
        elif told["mean_s"] != own["mean_s"] and own["mean_s"]:
            times[:, :, i] *= told["mean_s"] / own["mean_s"]
            told["max_s"] = own["max_s"] * told["mean_s"] / own["mean_s"]
        elif told["mean_s"] != own["mean_s"]:
            times[:, :, i] = told["mean_s"] / times.shape[1]
            told["max_s"] = told["mean_s"]
    return times


def _lanes(run, ranks, cycles, window, totals) -> list[dict]:
    cycle_ms = run["time"]["cycle_ms"]
    area = {p["name"]: p.get("area", p["name"]) for p in run["network"]["populations"]}
    size = {p["name"]: p["size"] for p in run["network"]["populations"]}

    def lane(name, period, back_end, sharing, inside):
        shortest, synapses = [], 0
        for p in run["network"].get("projections", []):
            sources = [p["source"]] if isinstance(p["source"], str) else p["source"]
            near = all(area[s] == area[p["target"]] for s in sources)
            if inside is None or near == inside:
                shortest.append(p["delay"].get("min", run["time"]["resolution_ms"]))
                synapses += round(Projection.model_validate(p).synapses) * size[p["target"]]
        spans = sharing > 1
        least = min(shortest) if shortest else None
        return {
            "name": name,
            "period": period,
            "lag": 0,
            "exchange": back_end if spans else "self",
            "ranks": sharing,
            "groups": ranks // sharing,
            "slack": None if least is None else round(least - period * cycle_ms, 9),
            "shortest_delay_ms": least,
            "synapses": synapses,
            "windows": -(-cycles // period),
            "messages": totals["messages"] if spans else 0,
            "bytes_sent": totals["bytes_sent"] if spans else 0,
            "spikes_sent": totals["spikes"] * (sharing - 1),
        }

    if run["schedule"] != "structure_aware":
        return [lane("world", 1, run["exchange"], ranks, None)]
    return [lane("near", 1, "self", 1, True), lane("far", window, run["exchange"], ranks, False)]


def whole(run, counts, times, per_rank, ranks, threads, seconds, window) -> dict:
    """The content of record.json."""
    cycles = times.shape[1]
    totals = {n: sum(row[n] for row in per_rank) for n in RANK_COLUMNS[1:9]}
    totals["external_events"] = 0
    simulate = max(row["simulate_s"] for row in per_rank)
    peak = sum(row["peak_bytes"] for row in per_rank)
    network = json.dumps([run["seed"], run["network"], run["time"]], sort_keys=True)
    digest = hashlib.sha256(network.encode()).hexdigest()
    return {
        "format_version": 2,
        "status": "complete",
        "checksum": digest[:16],
        "spike_checksum": digest[16:32],
        "description": run,
        "provenance": {
            "commit": "0" * 40,
            "dirty": False,
            "compiler": "synthetic 1.0",
            "flags": "-O2",
            "mpi_library": "synthetic MPI 3.1",
            "version": "0.1.0",
            "started": "2026-01-01T00:00:00Z",
        },
        "host": {
            "name": "synthetic",
            "system": "Linux",
            "cpu": "synthetic CPU",
            "cores": 2,
            "threads_per_core": 1,
            "sockets": 1,
            "memory_bytes": 8 * 2**30,
            "cache_bytes": {"L1d": 32768, "L2": 1048576, "L3": None},
            "virtual_machine": True,
            "nodes": 1,
            "foreign_load": 0.1,
            "binding": [[r] for r in range(ranks)],
        },
        "warnings": ["virtual machine: times may be disturbed by other guests"],
        "ranks": ranks,
        "threads": threads,
        "totals": totals,
        "timing": {
            "build_s": 0.05,
            "simulate_s": simulate,
            "model_s": seconds,
            "real_time_factor": simulate / seconds,
            "cycles": cycles,
            "timer_overhead": 6 * 25e-9 * cycles / simulate,
            "timer_read_s": 25e-9,
            "phases": phase_summary(times),
        },
        "memory": {
            "peak_bytes": peak,
            "bytes_per_synapse": peak / totals["synapses"] if totals["synapses"] else None,
            "parts": {
                "neurons": 16 * totals["neurons"],
                "synapses": 8 * totals["synapses"],
                "lists": 8 * counts.lists,
                "routes": 4 * counts.lists,
                "ring": 160 * totals["neurons"],
                "buffers": 65536 * ranks,
                "log": times.size * 4,
            },
        },
        "lanes": _lanes(run, ranks, cycles, window, totals),
        "phases": PHASES,
        "meters": [],
        "energy": None,
    }
