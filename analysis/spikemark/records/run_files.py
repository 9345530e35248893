"""The files of a run record: the one list of them, and what their presence says. Imports nothing heavy."""

from pathlib import Path

RECORD = "record.json"
RANKS = "ranks.csv"
CYCLES = "cycles.npy"
SPIKES = "spikes.npy"
COUNTERS = "counters.csv"
ENERGY = "energy.csv"
LAUNCH = "launch.json"
SIMULATION = "simulation.json"

#: Every file that the folder of a run may hold, and what it is. `miniapp --list --json` names the same files.
FILES = {
    RECORD: "description, provenance, host, totals and times; the run is whole when it is there",
    RANKS: "counts and times of each rank",
    CYCLES: "times of each rank in each cycle and phase, with record.cycles",
    SPIKES: "neuron and step of every spike, with record.spikes",
    COUNTERS: "hardware counters by rank and phase, with record.counters",
    ENERGY: "readings of the energy meters, with record.energy",
    LAUNCH: "how a sweep started the run",
    SIMULATION: "on which machine the run was simulated, and how",
}

#: What Snakemake leaves in a folder that a job shall write; it belongs to no record.
MADE_BY_SNAKEMAKE = ".snakemake_timestamp"


def whole(directory: Path) -> bool:
    """Says whether a run is in `directory`: records appear whole or not at all."""
    return (directory / RECORD).is_file()


def foreign(directory: Path) -> list[str]:
    """Names of what lies in `directory` and belongs to no run, sorted; none where there is no such folder."""
    present = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    return sorted(present - FILES.keys() - {MADE_BY_SNAKEMAKE})
