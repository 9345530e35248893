"""The one list of the files of a run record, and what their presence means.

This module imports nothing heavy.
"""

from pathlib import Path
from typing import NamedTuple

RECORD = "record.json"
RANKS = "ranks.csv"
CYCLES = "cycles.npy"
SPIKES = "spikes.npy"
COUNTERS = "counters.csv"
ENERGY = "energy.csv"
LAUNCH = "launch.json"
SIMULATION = "simulation.json"


class RunFile(NamedTuple):
    """A file of a run: which program writes it, and what it contains."""

    writer: str
    holds: str


#: Every file that the folder of a run may hold. `miniapp --list --json` names the same ones.
FILES = {
    RECORD: RunFile(
        "miniapp", "description, provenance, host, totals and times; a run is whole if it is there"
    ),
    RANKS: RunFile("miniapp", "counts and times of each rank"),
    CYCLES: RunFile("miniapp", "times of each rank, cycle and phase, with record.cycles"),
    SPIKES: RunFile("miniapp", "neuron and step of every spike, with record.spikes"),
    COUNTERS: RunFile("miniapp", "counters by rank, thread and phase, with record.counters"),
    ENERGY: RunFile("miniapp", "readings of the energy meters, with record.energy"),
    LAUNCH: RunFile("spikemark", "how a sweep started the run"),
    SIMULATION: RunFile("spikemark", "on which machine the run was simulated, and how"),
    ".snakemake_timestamp": RunFile("snakemake", "when a job made the folder"),
}


def whole(directory: Path) -> bool:
    """Says whether `directory` contains a run; records appear whole or not at all."""
    return (directory / RECORD).is_file()


def foreign(directory: Path) -> list[str]:
    """Sorted names of everything in `directory` that belongs to no run; none if there is no such folder."""
    present = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    return sorted(present - FILES.keys())
