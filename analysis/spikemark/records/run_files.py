"""The files of a run record, and what their presence says. Imports nothing heavy."""

from pathlib import Path

from spikemark.core.errors import BadInput

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


#: Where the runs of a folder may lie: folders of runs, of results, of experiments, of everything.
PLACES_OF_RUNS = ("*", "runs/*", "*/runs/*", "*/*/runs/*")


def runs_below(folder: Path) -> list[Path]:
    """The folders of complete runs in a folder of several, sorted; those of one level.

    Example:
        >>> [run.name for run in runs_below(Path("docs/notebooks/data/waiting/jureca-dc"))][:1]
        ['conventional-r4-s1-824ee450']
    """
    for place in PLACES_OF_RUNS:
        runs = sorted(path for path in folder.glob(place) if is_complete(path))
        if runs:
            return runs
    return []


def refuse_several(folder: Path) -> None:
    """Raises BadInput, which names one, for a folder that is no run but has runs in it.

    Example:
        >>> refuse_several(Path("docs/notebooks/data/waiting/jureca-dc"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: ...: holds 3 runs; expected one of them, such as ...
    """
    if is_complete(folder):
        return
    runs = runs_below(folder)
    if runs:
        raise BadInput(
            reason=f"holds {len(runs)} {'run' if len(runs) == 1 else 'runs'}",
            expected=f"one of them, such as {runs[0]}",
            file=folder,
            code="file",
            instead=runs[0],
        )


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
