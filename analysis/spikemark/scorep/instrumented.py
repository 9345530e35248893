"""One run of a plan with the program instrumented for Score-P, beside the timed run."""

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from spikemark.core import places, sha256
from spikemark.core.errors import BadInput
from spikemark.core.launch import launch
from spikemark.records.results import Results
from spikemark.records.run_files import whole
from spikemark.running.carry_out import RunFailed, carry_out
from spikemark.running.measure import log_text, run_to_record

from . import files

#: Taken where the environment does not say otherwise. The memory, of each process, is that of a long run: a
#: Score-P that has to write events out in between disturbs what it measures.
SETTINGS = {
    "SCOREP_ENABLE_PROFILING": "true",
    "SCOREP_ENABLE_TRACING": "true",
    "SCOREP_TOTAL_MEMORY": "400M",
}


def measure(results: Results, run: str, launcher: str | None = None) -> Path:
    """Carries out run id `run` of the plan under Score-P and returns the directory for `scorep.check`.

    A failure leaves `failed/ID.scorep.log` behind and raises RunFailed. Raises BadInput if the plan
    lacks the run, the result exists already, the instrumented mini-app is missing, or Score-P is to write
    nothing.
    """
    (plan, planned), target = results.planned(run), results.scorep(run)
    if whole(target / "record"):
        raise BadInput(f"{target}: measured already; move or delete the folder to measure again")
    results.read_description(run)
    measurement = results.unchecked(f"{run}.scorep")
    record, description = measurement.parent / "run", results.description(run)
    program = [
        str(places.program("miniapp_scorep")),
        str(description.resolve()),
        "--out",
        str(record.resolve()),
    ]
    start = launch(launcher, program, planned.layout)
    settings = files.environment(SETTINGS)
    settings["SCOREP_EXPERIMENT_DIRECTORY"] = str(measurement.resolve())
    start = replace(start, environment={**start.environment, **settings})
    for empty in (target / "record", target):  # made by Snakemake; anything else is an error here
        with contextlib.suppress(FileNotFoundError):
            empty.rmdir()

    def work() -> dict[str, Any]:
        finished = run_to_record(start, plan.experiment.time_limit_s, record, planned)
        for name in files.asked(settings):
            if not (measurement / name).is_file():
                reason = f"exit status 0, but Score-P wrote no {name}: is {program[0]} instrumented?"
                raise RunFailed(reason, log_text(start, finished))
        sha256.write(measurement, files.read_later(measurement))
        os.rename(record, measurement / "record")
        return {"command": start.command, "environment": start.environment}

    return carry_out(planned, measurement, target, results.failure(f"{run}.scorep"), work)
