"""The files of a run record, and what their presence says. Imports nothing heavy."""

from pathlib import Path

RECORD = "record.json"
RANKS = "ranks.csv"
CYCLES = "cycles.npy"
SPIKES = "spikes.npy"
ACTIVITY = "activity.npy"
COUNTERS = "counters.csv"
ENERGY = "energy.csv"
LAUNCH = "launch.json"
SIMULATION = "simulation.json"
PLACEMENT = "placement.json"
EXCHANGE = "exchange.json"

#: Every file that the folder of a run may hold, and which program writes it. `miniapp --list` names
#: the same ones (a test compares them) and says what each holds.
FILES = {
    RECORD: "miniapp",
    RANKS: "miniapp",
    CYCLES: "miniapp",
    ACTIVITY: "miniapp",
    SPIKES: "miniapp",
    COUNTERS: "miniapp",
    PLACEMENT: "miniapp",
    EXCHANGE: "miniapp",
    ENERGY: "spikemark",
    LAUNCH: "spikemark",
    SIMULATION: "spikemark",
    ".snakemake_timestamp": "snakemake",
}


def is_complete(directory: Path) -> bool:
    """Says whether `directory` contains a run; records appear whole or not at all.

    Example:
        >>> is_complete(Path("nowhere"))
        False
    """
    return (directory / RECORD).is_file()


def foreign(directory: Path) -> list[str]:
    """Sorted names of everything in `directory` that belongs to no run.

    None if there is no such folder.

    Example:
        >>> foreign(Path("nowhere"))
        []
    """
    if not directory.is_dir():
        return []
    present = {path.name for path in directory.iterdir()}
    return sorted(present - FILES.keys())
