"""Experiments: `spikemark.sweep`."""

import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from spikemark import machines
from spikemark.core.arguments import public
from spikemark.core.errors import BadInput
from spikemark.report import conclude
from spikemark.running import sweeps
from spikemark.running.experiments import changed, load_experiment
from spikemark.running.sweeps import SweepOutcome, SweepPlanAnswer

FilePath = str | PathLike[str]


@public
def sweep(
    experiment: FilePath,
    *,
    changes: Mapping[str, Any] | None = None,
    machine: str | None = None,
    results: FilePath | None = None,
    dry_run: bool = False,
    again: int | None = None,
    stream: TextIO | None = None,
) -> SweepOutcome | SweepPlanAnswer:
    """Measure an experiment's missing runs with Snakemake, then write its report.

    After an interruption, the same call continues. A finished run is never measured again unless
    other programs disturbed it.

    Args:
        experiment: the name of a file in workflows/experiments, or the path of such a file.
        changes: other values of fields of the experiment, by their paths, such as `repetitions`,
            `preset.areas` or `time.simulate_ms`.
        machine: name of the results folder; that of the host by default.
        results: folder of all results; results/ in the current folder by default.
        dry_run: only lists the runs, done and missing, and what they will take.
        again: most runs to measure again because other programs disturbed them; half of all by
            default.
        stream: where lines about the progress go; standard output by default. Points of the grid
            that cannot run are named on standard error before anything runs.

    Returns:
        SweepOutcome: `headline` is the answer, `failed` has the reason of each run that failed,
        `frames` the results as `spikemark.load` reads them. SweepPlanAnswer for a dry run: `table`
        has a row for each run.

    Raises:
        BadInput: for an unknown experiment, a field of its file, a machine that is no profile, a
            missing mini-app, and results that cannot be written.

    Example:
        >>> answer = sweep("demo", dry_run=True)
        >>> answer.table.columns.tolist(), len(answer.table) == len(answer.runs)
        (['id', 'label', 'ranks', 'threads', 'done'], True)
    """
    if dry_run and again is not None:
        reason = "beside dry_run, which measures nothing"
        raise BadInput(field="again", reason=reason, expected="one of them", code="conflict")
    plan = changed(load_experiment(str(experiment)), changes or {})
    folder = sweeps.folder(plan, machine, None if results is None else Path(results))
    sifted = sweeps.planned(plan, folder)
    for line in sifted.lines:
        print(line, file=sys.stderr)
    for profile in sorted({run.machine.profile for run in sifted.runs if run.machine}):
        machines.filled(machines.load_any(profile))  # refuses a bad one before anything runs
    if dry_run:
        return sweeps.dry_run(sifted.runs, folder, sifted.lines)
    if again is None:
        again = -(-len(sifted.runs) // 2)
    outcome = sweeps.sweep(plan, sifted.runs, folder, conclude, stream, again)
    outcome.left_out = sifted.lines
    return outcome
