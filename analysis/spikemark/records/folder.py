"""Where the files of a results folder are. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path

from . import run_files

#: Folder of the records of disturbed runs.
DISTURBED = "runs-disturbed"


@dataclass(frozen=True)
class Folder:
    """`results/EXPERIMENT/MACHINE`.

    Methods with an argument `run` give the path of something about a run, by its id.
    """

    path: Path

    @property
    def plan(self) -> Path:
        """The experiment as read, the shuffle seed, and the runs in the order of measuring."""
        return self.path / "plan.json"

    @property
    def summary(self) -> Path:
        """A table with a row per run, for other tools."""
        return self.path / "summary.parquet"

    @property
    def phases(self) -> Path:
        """A table with a row per run and phase, for other tools."""
        return self.path / "phases.parquet"

    @property
    def report(self) -> Path:
        """The page that `spikemark report` writes."""
        return self.path / "report.html"

    @property
    def workflow_log(self) -> Path:
        """What Snakemake printed during the last sweep."""
        return self.path / "workflow.log"

    @property
    def experiment(self) -> Path:
        """The experiment as the last sweep gave it to Snakemake."""
        return self.path / "experiment.json"

    def description(self, run: str) -> Path:
        """The run description."""
        return self.path / f"descriptions/{run}.json"

    def compute_of(self, run: str) -> Path:
        """The network whose compute times a simulated run uses, if it is not its own."""
        return self.path / f"descriptions/{run}.compute-of.json"

    @property
    def runs(self) -> Path:
        """The folder of all run records."""
        return self.path / "runs"

    def run(self, run: str) -> Path:
        """The run record, a directory."""
        return self.runs / run

    def unchecked(self, run: str) -> Path:
        """Where the run record lies until it is whole and moved to its place."""
        return self.path / f"unchecked/{run}/record"

    def scorep(self, run: str) -> Path:
        """What Score-P measured when the run was repeated, with a record of its own."""
        return self.path / f"scorep/{run}"

    def cachesim(self, run: str) -> Path:
        """Misses in simulated caches."""
        return self.path / f"cachesim/{run}.json"

    def power(self, run: str) -> Path:
        """The power that an external meter read during the run, and how it was placed in time."""
        return self.path / f"power/{run}.json"

    def run_log(self, run: str) -> Path:
        """What the process printed that last carried out a run."""
        return self.path / f"log/{run}.log"

    def failure(self, run: str) -> Path:
        """Why a run failed; the first line is the reason."""
        return self.path / f"failed/{run}.log"

    def placement(self, name: str) -> Path:
        """The copy of a placement file that runs use, by its name."""
        return self.path / f"placements/{name}"

    def set_aside(self, run: str) -> Path:
        """Moves the record of a disturbed run to `runs-disturbed/ID-N`.

        A sweep then measures the run again.
        """
        folder = self.path / DISTURBED
        folder.mkdir(exist_ok=True)
        earlier = list(folder.glob(f"{run}-*"))
        return self.run(run).rename(folder / f"{run}-{len(earlier) + 1}")

    def aside(self) -> int:
        """How many records of disturbed runs were set aside."""
        return len(list((self.path / DISTURBED).glob("*-*")))

    def measured(self, run: str) -> bool:
        """Says whether the record is there; records appear whole or not at all."""
        return run_files.is_complete(self.run(run))
