"""The files of a run record, and what their presence says. Imports nothing heavy."""

from pathlib import Path

RECORD = "record.json"
RANKS = "ranks.csv"
CYCLES = "cycles.npy"
SPIKES = "spikes.npy"
COUNTERS = "counters.csv"
ENERGY = "energy.csv"
LAUNCH = "launch.json"
SIMULATION = "simulation.json"
PLACEMENT = "placement.json"
EXCHANGE = "exchange.json"

#: Every file that the folder of a run may hold, and which program writes it. `miniapp --list` names
#: the same ones (a test compares them) and says what each holds.
FILES = {
    **dict.fromkeys((RECORD, RANKS, CYCLES, SPIKES, COUNTERS, PLACEMENT, EXCHANGE), "miniapp"),
    **dict.fromkeys((ENERGY, LAUNCH, SIMULATION), "spikemark"),
    ".snakemake_timestamp": "snakemake",
}


def whole(directory: Path) -> bool:
    """Says whether `directory` contains a run; records appear whole or not at all."""
    return (directory / RECORD).is_file()


def foreign(directory: Path) -> list[str]:
    """Sorted names of everything in `directory` that belongs to no run; none if there is no such folder."""
    present = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    return sorted(present - FILES.keys())
