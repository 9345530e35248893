"""Runs on simulated machines of two parts, of which one may be slower."""

import json
from pathlib import Path

import machine_file
from four_areas import describe

from spikemark import machines
from spikemark.records import record
from spikemark.running import simulation

SLOWER = 1.5
FAR = {"latency": (40, "us"), "bandwidth": (0.1, "GB/s"), "gap": (8, "us")}
ON = {"fast": 3, "slow": 1}


def load(
    folder: Path, link: dict | None = None, slower: float = SLOWER, fast: int = 8, **changes
) -> machines.MachineOfParts:
    """Fast nodes and slow ones of 16 cores; `changes` of the profile of both."""
    parts = {"fast": {"nodes": fast, **changes}, "slow": {"nodes": 2, "slower": slower, **changes}}
    return machines.load_any(machine_file.write_parts(folder / "parts.yaml", link, **parts))


def full(description: dict, times: int = 10_000) -> dict:
    """Areas so many times as large; by default, messages cost next to nothing beside their compute
    times.
    """
    found = json.loads(json.dumps(description))
    for population in found["network"]["populations"]:
        population["size"] *= times
    return found


def simulate(
    out: Path, machine, schedule: str = "conventional", on: dict | None = None, **options
) -> record.Run:
    options = {"ranks_per_node": 1, "threads": 4, "on": on, **options}
    return record.load_run(simulation.simulate(describe(schedule), machine, 4, out, **options))
