"""The results folder of one experiment on one machine: its plan, and the runs that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput, shown
from spikemark.core.fields import checked
from spikemark.network.named_files import located

from .arrays import read_object
from .folder import Folder
from .plan import PLAN_VERSION, Plan, Planned
from .record import Run, load


@dataclass(frozen=True)
class Results(Folder):
    """`results/EXPERIMENT/MACHINE` and its plan."""

    def read_description(self, run: str) -> dict[str, Any]:
        """The run description of run id `run`; raises BadInput if it is missing or is not one."""
        path = self.description(run)
        return located(read_object(path, "a sweep rewrites it"), path.parent)

    def read_plan(self) -> Plan:
        """The plan; raises BadInput if it is missing or is not one."""
        advice = "not a results folder, or no sweep has got as far as its plan"
        return checked(Plan, read_object(self.plan, advice, (PLAN_VERSION,)), self.plan, "plan")

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


def load_planned(results: Results, planned: Planned, verified: bool = False) -> Run:
    """The record of a planned run; `verified` as in `load`.

    Raises BadInput if it cannot be read, or belongs to another run than planned: simulated instead of
    measured or vice versa, or with other ranks, threads or another seed.
    """
    kind = "measured" if planned.machine is None else "simulated"
    try:
        run = load(results.run(planned.id), verified)
        has = {name: getattr(run.record, name) for name in ("kind", "ranks", "threads")}
        has["seed"] = run.record.description.get("seed")
        for name, value in has.items():
            if value != (wanted := kind if name == "kind" else getattr(planned, name)):
                raise BadInput(f"{run.path}: {name}={shown(value)}; the plan says {shown(wanted)}")
    except BadInput as error:
        raise BadInput(f"{error}; delete the folder of the run to measure it again") from None
    return run
