"""The results folder of one experiment on one machine, and where its files are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.network.named_files import located

from . import run_files
from .plan import PLAN_VERSION, Plan, Planned


@dataclass(frozen=True)
class Results:
    """`results/NAME/MACHINE`; `path` is that folder."""

    path: Path

    @property
    def plan(self) -> Path:
        """The experiment as read, the shuffle seed and the list of runs in the order of measuring."""
        return self.path / "plan.json"

    @property
    def summary(self) -> Path:
        """One row per run, for other tools."""
        return self.path / "summary.parquet"

    @property
    def phases(self) -> Path:
        """One row per run and phase, for other tools."""
        return self.path / "phases.parquet"

    @property
    def report(self) -> Path:
        """The page."""
        return self.path / "report.html"

    @property
    def workflow_log(self) -> Path:
        """What the worker or the workflow printed during the last sweep."""
        return self.path / "workflow.log"

    @property
    def campaign(self) -> Path:
        """How the jobs of the last campaign on a cluster were submitted; they lie in jobs/."""
        return self.path / "campaign.json"

    def description(self, run: str) -> Path:
        """The run description of run id `run`."""
        return self.path / "descriptions" / f"{run}.json"

    def compute_of(self, run: str) -> Path:
        """The network whose compute times the simulated run id `run` uses, if it is not its own."""
        return self.path / "descriptions" / f"{run}.compute-of.json"

    def run(self, run: str) -> Path:
        """The run record of run id `run`, a directory."""
        return self.path / "runs" / run

    def unchecked(self, run: str) -> Path:
        """The record of run id `run` until it is whole and moved to its place."""
        return self.path / "unchecked" / run / "record"

    def scorep(self, run: str) -> Path:
        """What Score-P measured when run id `run` was repeated, with a record of its own."""
        return self.path / "scorep" / run

    def cachesim(self, run: str) -> Path:
        """The misses of run id `run` in simulated caches."""
        return self.path / "cachesim" / f"{run}.json"

    def power(self, run: str) -> Path:
        """The power that an external meter read during run id `run`, and how it was placed in time."""
        return self.path / "power" / f"{run}.json"

    def failure(self, run: str) -> Path:
        """Why run id `run` failed; its first line is the reason."""
        return self.path / "failed" / f"{run}.log"

    def job_log(self, run: str) -> Path:
        """What the job of run id `run` printed."""
        return self.path / "log" / f"{run}.log"

    def measured(self, run: str) -> bool:
        """Says whether the record is there; records appear whole or not at all."""
        return run_files.whole(self.run(run))

    def read_description(self, run: str) -> dict[str, Any]:
        """The run description of run id `run`; raises BadInput if it is missing or is not one."""
        try:
            description = read_json(self.description(run))
        except BadInput as error:
            raise BadInput(f"{error}; a sweep rewrites it") from None
        if not isinstance(description, dict):
            raise BadInput(f"{self.description(run)}: not a run description; a sweep rewrites it")
        return located(description, self.description(run).parent)

    def placement(self, name: str) -> Path:
        """The copy of a placement file that runs use."""
        return self.path / "placements" / name

    def read_plan(self) -> Plan:
        """The plan; raises BadInput if it is missing or is not one."""
        if not self.plan.is_file():
            raise BadInput(
                f"{self.path}: no plan.json: not a results folder, or no sweep has got as far as its plan"
            )
        content = read_json(self.plan)
        version = content.get("format_version") if isinstance(content, dict) else None
        if version is None:
            raise BadInput(f"{self.plan}: not a plan: one JSON object with format_version is needed")
        if version != PLAN_VERSION or isinstance(version, bool):
            raise BadInput(
                f"{self.plan}: format_version {version!r} is not allowed: this program reads {PLAN_VERSION}"
            )
        return checked(Plan, content, self.plan, "plan")

    def planned(self, run: str) -> tuple[Plan, Planned]:
        """The plan and its run `run`; raises BadInput as `read_plan`, and for a run that is not in it."""
        plan = self.read_plan()
        planned = plan.run(run)
        if planned is None:
            raise BadInput(f"run {run!r} is not in {self.plan}")
        return plan, planned


def beside(record: Path, kept: Callable[[Results, str], Path]) -> Path | None:
    """Path where a results folder keeps something about a run, as Results.power; None outside of one."""
    results, run = Results(record.resolve().parent.parent), record.resolve().name
    inside = results.plan.is_file() and record.resolve() == results.run(run).resolve()
    return kept(results, run) if inside else None
