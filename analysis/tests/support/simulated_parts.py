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


def load(folder: Path, link: dict | None = None, slower: float = SLOWER, fast: int = 8) -> machines.Machine:
    """Fast nodes and slow ones of 16 cores."""
    parts = {"fast": {"nodes": fast}, "slow": {"nodes": 2, "slower": slower}}
    return machines.load_any(machine_file.write_parts(folder / "parts.yaml", link, **parts))


def full(description: dict) -> dict:
    """Areas whose compute times are so long that messages cost next to nothing."""
    found = json.loads(json.dumps(description))
    for population in found["network"]["populations"]:
        population["size"] *= 10_000
    return found


def simulate(
    out: Path, machine, schedule: str = "conventional", on: dict | None = None, **options
) -> record.Run:
    options = {"ranks_per_node": 1, "threads": 4, "on": on, **options}
    return record.load(simulation.simulate(describe(schedule), machine, 4, out, **options))
