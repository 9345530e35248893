"""A run of a sweep under Score-P, for `spikemark run --scorep`."""

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.launch import launch
from spikemark.launch.process import ProgramFailed
from spikemark.records.folder import Folder
from spikemark.records.run_files import is_complete
from spikemark.running.measure import carry_out, find_run, log_text, program, run_to_record

from .scorep_files import PROFILE, TRACE, files

#: Files, and the variable that asks for each.
ASKED_BY = {PROFILE: "SCOREP_ENABLE_PROFILING", TRACE: "SCOREP_ENABLE_TRACING"}
#: Taken where the environment does not say otherwise. The memory, of each process, is that of a
#: long run: a Score-P that has to write events out in between disturbs what it measures.
SETTINGS = {
    "SCOREP_ENABLE_PROFILING": "true",
    "SCOREP_ENABLE_TRACING": "true",
    "SCOREP_TOTAL_MEMORY": "400M",
}
TRUE = ("true", "yes", "on", "1")


def measure(results: Folder, run: str, launcher: str | None = None) -> Path:
    """Carries out run id `run` of the plan under Score-P and returns the folder for `scorep.check`.

    A failure leaves `failed/ID.scorep.log` behind and raises ProgramFailed. Raises BadInput if the
    plan lacks the run, the result exists already, or the instrumented mini-app is missing.

    Example:
        >>> measure(Folder(Path("nowhere")), "conventional-r2-s1-1a2b3c4d")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/plan.json: not found; a sweep writes it
    """
    planned = find_run(results, run)
    target = results.scorep(run)
    if is_complete(target / "record"):
        reason = "measured already; move or delete the folder to measure again"
        raise BadInput(reason, file=target, code="file")
    settings = {name: os.environ.get(name, value) for name, value in SETTINGS.items()}
    asked = [name for name, variable in ASKED_BY.items() if settings[variable].lower() in TRUE]
    measurement = results.unchecked(f"{run}.scorep")
    record = measurement.parent / "run"
    command = program("miniapp_scorep", results.description(run), record)
    start = launch(launcher, command, planned.layout)
    settings["SCOREP_EXPERIMENT_DIRECTORY"] = str(measurement.resolve())
    start = replace(start, environment={**start.environment, **settings})
    for empty in (target / "record", target):  # made by Snakemake; anything else is an error here
        with contextlib.suppress(FileNotFoundError):
            empty.rmdir()

    def work() -> dict[str, Any]:
        finished = run_to_record(start, planned, record)
        for name in asked:
            if not (measurement / name).is_file():
                problem = f"exit status 0, but Score-P wrote no {name}"
                reason = f"{problem}: is {command[0]} instrumented?"
                raise ProgramFailed(reason, log_text(start, finished))
        sha256.write(measurement, files(measurement))
        os.rename(record, measurement / "record")
        return {"command": start.command, "environment": start.environment}

    return carry_out(planned, measurement, target, results.failure(f"{run}.scorep"), work)
