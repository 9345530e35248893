"""Tells how the file of an experiment differs by now from what a results folder holds."""

import contextlib
import json

from pydantic import ValidationError

from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment
from spikemark.records.plan import Plan

from .experiments import expand

LONGEST = 40  # characters of a value that is shown


def edited(experiment: Experiment, plan: Plan) -> str:
    """One line that names the fields that differ, and how many runs come and go; empty if nothing differs.

    `experiment`: as its file says now. Fields that the plan lacks, since it is older, count as their
    defaults. Raises BadInput as `expand` for an experiment that cannot be expanded.
    """
    planned, now = plan.experiment.model_dump(mode="json"), experiment.model_dump(mode="json")
    with contextlib.suppress(ValidationError):  # the plan of another version
        planned = Experiment.model_validate(planned).model_dump(mode="json")
    changes = []
    for name in dict.fromkeys([*now, *planned]):
        before, after = json.dumps(planned.get(name)), json.dumps(now.get(name))
        if before != after:
            short = max(len(before), len(after)) <= LONGEST
            changes.append(f"{name} (planned {before}, now {after})" if short else name)
    old, new = {run.id for run in plan.runs}, {run.id for run in expand(experiment)}
    if old == new and not changes:
        return ""
    found = f"the experiment's file is no longer as it was planned: {', '.join(changes) or 'its description'}"
    if old != new:
        came, gone = counted(len(new - old), "run"), counted(len(old - new), "run")
        found += f"; {came} of the file not in this report, {gone} of this report not in the file"
    return f"{found}. This report shows what was planned; `spikemark sweep` plans it again"
