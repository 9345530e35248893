"""Where the files of a results folder are. Imports nothing heavy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import run_files


def _file(name: str) -> property:
    return property(lambda self: self.path / name)


def _of_run(place: str) -> Callable[["Folder", str], Path]:
    """A method that gives the path of something about a run, by its id."""
    return lambda self, run: self.path / place.format(run)


@dataclass(frozen=True)
class Folder:
    """`results/EXPERIMENT/MACHINE`; `path` is that folder."""

    path: Path

    #: The experiment as read, the shuffle seed and the list of runs in the order of measuring.
    plan = _file("plan.json")
    #: One row per run, and one per run and phase, for other tools.
    summary, phases = _file("summary.parquet"), _file("phases.parquet")
    #: The page; what Snakemake said during the last sweep; the experiment as that sweep gave it to Snakemake.
    report, workflow_log, experiment = _file("report.html"), _file("workflow.log"), _file("experiment.json")
    #: The run description, and the network whose compute times a simulated run uses, if it is not its own.
    description, compute_of = _of_run("descriptions/{}.json"), _of_run("descriptions/{}.compute-of.json")
    #: The run record, a directory, and where it lies until it is whole and moved to its place.
    run, unchecked = _of_run("runs/{}"), _of_run("unchecked/{}/record")
    #: What Score-P measured when the run was repeated, with a record of its own; misses in simulated caches.
    scorep, cachesim = _of_run("scorep/{}"), _of_run("cachesim/{}.json")
    #: The power that an external meter read during the run, and how it was placed in time.
    power = _of_run("power/{}.json")
    #: Why a run failed; its first line is the reason.
    failure = _of_run("failed/{}.log")
    #: The copy of a placement file that runs use, by its name.
    placement = _of_run("placements/{}")

    def set_aside(self, run: str) -> Path:
        """Moves the record of a disturbed run to `runs-disturbed/ID-N`, for a sweep to measure it again."""
        kept = self.path / "runs-disturbed"
        kept.mkdir(exist_ok=True)
        return self.run(run).rename(kept / f"{run}-{len(list(kept.glob(f'{run}-*'))) + 1}")

    def aside(self) -> int:
        """How many records of disturbed runs were set aside."""
        return len(list((self.path / "runs-disturbed").glob("*-*")))

    def measured(self, run: str) -> bool:
        """Says whether the record is there; records appear whole or not at all."""
        return run_files.whole(self.run(run))
