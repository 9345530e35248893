"""The command that measures the runs of a sweep, from the experiment in its plan."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.records.plan import PlannedExperiment
from spikemark.records.results import Results
from spikemark.running.experiments import changed, checked, load_experiment

#: What `--set` writes before the names of fields within these of an experiment.
PREFIXES = {"machine": "machine.", "set": ""}


def planned_experiment(folder: Path) -> PlannedExperiment | None:
    """The experiment in the plan of a results folder; None for a folder without a plan.

    Example:
        >>> planned_experiment(Path("docs/notebooks/data/waiting/jureca-dc")).name
        'waiting'
        >>> planned_experiment(Path("nowhere")) is None
        True
    """
    results = Results(Path(folder))
    if not results.plan.is_file():
        return None
    return results.read_plan().experiment


def sweep_command(experiment: PlannedExperiment) -> str:
    """The command that measures an experiment of ours, with what was set; empty for another one.

    What it gives was read again, and is the same experiment.

    Example:
        >>> from spikemark.running.experiments import changed, load_experiment
        >>> smoke = changed(load_experiment("smoke"), {"time.simulate_ms": 20, "repetitions": 2})
        >>> sweep_command(PlannedExperiment.model_validate(smoke.model_dump(mode="json")))
        'spikemark sweep smoke --set time.simulate_ms=20 --set repetitions=2'
    """
    try:
        ours = load_experiment(experiment.name)
        this = checked(experiment.model_dump(mode="json"), Path(experiment.name))
        differences = _differences(ours.model_dump(mode="json"), this.model_dump(mode="json"))
        again = changed(ours, differences)
    except BadInput:
        return ""
    if again.model_dump(mode="json") != this.model_dump(mode="json"):
        return ""
    settings = [f"{field}={json.dumps(value)}" for field, value in differences.items()]
    return command("sweep", experiment.name, set=settings)


def _differences(ours: Mapping[str, Any], this: Mapping[str, Any]) -> dict[str, Any]:
    """The values in which an experiment differs from ours, by the fields that `--set` takes."""
    differences = {}
    before, after = _flat(ours), _flat(this)
    for field, value in after.items():
        if field not in before or before[field] != value:
            differences[field] = value
    return differences


def _flat(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an experiment as `--set` names them."""
    fields: dict[str, Any] = {}
    for name, value in content.items():
        if name == "preset" and value:
            fields |= {f"preset.{option}": each for option, each in value["options"].items()}
        elif name in ("machine", "set") and value:
            fields |= {f"{PREFIXES[name]}{key}": each for key, each in value.items()}
        else:
            fields[name] = value
    return fields
