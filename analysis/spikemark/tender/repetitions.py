"""Repetitions of runs, from answers, results folders and single runs, for the statistics of a contract."""

import json
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.records import record
from spikemark.records.gather import OVERSUBSCRIBED, gather
from spikemark.records.record import Run
from spikemark.records.run_files import RECORD

from . import answer, figures
from .fields import FIGURES
from .statistics import Groups

PLAN = "plan.json"
CROWDED = "Some runs had more ranks than cores: their spread is not that of a machine that is used well."


def read(paths: list[Path], figure: str) -> tuple[Groups, list[str]]:
    """Runs that differ in nothing but their repetition, in groups, and what weakens them.

    A path is an answer, a results folder, or the folder of a run; single runs form groups among themselves.
    Raises BadInput for an unknown figure, another folder, and where no run is repeated.
    """
    if figure not in FIGURES:
        raise BadInput(f"figure={figure!r}; allowed: {', '.join(FIGURES)}")
    found: dict[str, list[float]] = {}
    weak: list[str] = []
    for path in paths:
        if (path / answer.FILE).is_file():
            _of_answer(path, figure, found)
        elif (path / PLAN).is_file():
            _of_runs([measured.run for measured in gather(path).runs], figure, found, weak)
        elif (path / RECORD).is_file():
            _of_runs([record.load(path)], figure, found, weak)
        else:
            needed = f"{answer.FILE} of an answer, {PLAN} of a sweep, {RECORD} of a run"
            raise BadInput(f"{path}: holds no runs; needed: {needed}")
    return Groups(list(found.values())), list(dict.fromkeys(weak))


def _of_answer(path: Path, figure: str, found: dict[str, list[float]]) -> None:
    content = answer.read(path)
    try:
        for run in content["runs"]:
            known = [one[figure] for one in run["repetitions"] if one.get(figure) is not None]
            if known:
                found[f"{path.resolve()} {run['name']}"] = [float(value) for value in known]
    except (KeyError, TypeError, ValueError, AttributeError):
        needed = f"a list of runs, each with a name and repetitions with a number as {figure}, is needed"
        raise BadInput(f"{path / answer.FILE}: runs: {needed}") from None


def _of_runs(runs: list[Run], figure: str, found: dict[str, list[float]], weak: list[str]) -> None:
    for run in runs:
        value = _figure(run, figure)
        if value is None:
            continue
        key: dict[str, Any] = {"description": run.record.description, "ranks": run.record.ranks}
        key |= {"threads": run.record.threads, "nodes": run.record.host.nodes, "kind": run.record.kind}
        found.setdefault(json.dumps(key, sort_keys=True), []).append(value)
        weak += [CROWDED] * any(text.startswith(OVERSUBSCRIBED) for text in run.record.warnings)


def _figure(run: Run, figure: str) -> float | None:
    if figure == "real_time_factor":
        return run.record.timing.real_time_factor
    return figures.of_run(run, figures.energy_of(run, None))[figure]
