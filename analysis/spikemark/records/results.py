"""The results folder of one experiment on one machine: its plan, and the runs that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput, short_repr, unknown_name
from spikemark.core.fields import checked
from spikemark.core.places import short
from spikemark.network.named_files import located

from .arrays import read_object
from .folder import Folder
from .plan import PLAN_VERSION, Planned, SweepPlan
from .record import Run, load_run


@dataclass(frozen=True)
class Results(Folder):
    """`results/EXPERIMENT/MACHINE` and its plan."""

    def read_description(self, run: str) -> dict[str, Any]:
        """The run description of the run with this id.

        Raises BadInput if it is missing or is not one.
        """
        path = self.description(run)
        description = read_object(path, "a sweep rewrites it")
        located_description: dict[str, Any] = located(description, path.parent)
        return located_description

    def read_plan(self) -> SweepPlan:
        """The plan.

        Raises BadInput if it is missing or is not one; where results lie one or two levels deeper,
        or the folder is one of their runs, it names them.
        """
        advice = "not a results folder, or no sweep has got as far as its plan"
        near = results_near(self.path)
        if near is not None and not self.plan.exists():
            raise BadInput(
                f"not found; did you mean {short(near)}?",
                file=self.plan,
                code="file",
                instead=short(near),
            )
        content = read_object(self.plan, advice, (PLAN_VERSION,))
        return checked(SweepPlan, content, self.plan, "plan")

    def planned(self, run: str) -> tuple[SweepPlan, Planned]:
        """The plan and its run with this id.

        Raises BadInput as `read_plan`, and for a run that is not in it.
        """
        plan = self.read_plan()
        planned = plan.run(run)
        if planned is None:
            ids = [entry.id for entry in plan.runs]
            expected = "the id of a run of the plan"
            raise unknown_name("run", run, ids, expected=expected, file=self.plan)
        return plan, planned


def results_near(folder: Path) -> Path | None:
    """Results that may be meant by a folder that is none: in it, or around it, if it is a run.

    Example:
        >>> results_near(Path("docs/notebooks/data"))
        PosixPath('docs/notebooks/data/waiting/jureca-dc')
    """
    for place in ("*/plan.json", "*/*/plan.json"):
        below = sorted(path.parent for path in folder.glob(place))
        if below:
            return below[0]
    around = folder.absolute().parents
    for outer in around[:2]:
        if (outer / Results(folder).plan.name).is_file():
            return outer
    return None


def beside(record: Path, path_of: Callable[[Results, str], Path]) -> Path | None:
    """Path where a results folder keeps something about a run; None outside of one.

    Args:
        record: the folder of the run.
        path_of: a method of Results, such as `Results.power`.

    Example:
        >>> beside(Path("out/conventional"), Results.power) is None  # a run that no sweep made
        True
    """
    folder = record.resolve()
    results = Results(folder.parent.parent)
    run = folder.name
    if results.plan.is_file() and folder == results.run(run).resolve():
        return path_of(results, run)
    return None


def load_planned(results: Results, planned: Planned, verified: bool = False) -> Run:
    """The record of a planned run; `verified` as in `load_run`.

    Raises BadInput if it cannot be read, or belongs to another run than planned: simulated instead
    of measured or vice versa, or with other ranks, threads or another seed.

    Example:
        >>> results = Results(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> planned = results.read_plan().runs[0]
        >>> load_planned(results, planned).record.ranks == planned.ranks
        True
    """
    try:
        run = load_run(results.run(planned.id), verified)
        _check_as_planned(run, planned)
    except BadInput as error:
        advice = "delete the folder of the run to measure it again"
        raise error.within(advice=advice) from None
    return run


def _check_as_planned(run: Run, planned: Planned) -> None:
    """Raises BadInput for a run of another kind, with other ranks or threads, or another seed."""
    record = run.record
    values = {
        "kind": (record.kind, "measured" if planned.machine is None else "simulated"),
        "ranks": (record.ranks, planned.ranks),
        "threads": (record.threads, planned.threads),
        "seed": (record.description.get("seed"), planned.seed),
    }
    for field, (value, planned_value) in values.items():
        if value != planned_value:
            reason = f"{field}={short_repr(value)}; the plan says {short_repr(planned_value)}"
            raise BadInput(reason, field=field, file=run.path)
