"""One run of a plan on this machine: start it, watch it, check the record, keep it or say why not."""

import functools
import os
import shlex
import time
from pathlib import Path
from typing import Any

from spikemark.core import places, slurm
from spikemark.core.errors import BadInput
from spikemark.core.launch import Launch, default_launcher, launch
from spikemark.core.process import Finished, watch
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from .carry_out import RunFailed, carry_out, check_record, due


def measure(results: Results, run: str, launcher: str | None = None) -> Path:
    """Carry out run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, for what `carry_out.due` refuses, a run that is planned on a
    simulated machine, an unknown launcher, and if the mini-app is missing.
    """
    plan, planned = due(results, run)
    if planned.machine is not None:
        raise BadInput(f"run {run!r} is planned on the simulated machine {planned.machine.name}")
    out = results.unchecked(run)
    launcher = launcher or default_launcher()
    program = [
        str(places.program("miniapp")),
        str(results.description(run).resolve()),
        "--out",
        str(out.resolve()),
    ]
    start = launch(launcher, program, planned.layout)

    def work() -> dict[str, Any]:
        allocation, began_s = _allocation(), time.time()
        run_to_record(start, plan.experiment.time_limit_s, out, planned)
        started = {"launcher": launcher, "command": start.command, "environment": start.environment}
        return {**started, "began_s": began_s, "allocation": allocation}

    return carry_out(planned, out, results.run(run), results.failure(run), work)


@functools.cache
def _allocation() -> dict[str, Any] | None:
    """Facts to keep about the allocation of this process, with the modules that are loaded."""
    found = slurm.allocation()
    modules = list(filter(None, os.environ.get("LOADEDMODULES", "").split(":")))
    return None if found is None else {**found.content(), "modules": modules}


def run_to_record(start: Launch, limit_s: float, record: Path, planned: Planned) -> Finished:
    """Run the mini-app to its end. Raises RunFailed unless it leaves the planned run's record in `record`."""
    finished = watch(start, limit_s)
    try:
        if finished.status != 0:
            raise RunFailed(why(finished))
        check_record(record, planned, start.spread)
    except RunFailed as failed:
        raise RunFailed(str(failed), log_text(start, finished)) from None
    return finished


def why(finished: Finished) -> str:
    """Why a program failed that an experiment gives time_limit_s."""
    return (
        f"{finished.reason}{'; time_limit_s of the experiment raises it' if finished.status is None else ''}"
    )


def log_text(start: Launch, finished: Finished) -> str:
    """Facts to keep about a program that failed: its command, how it ended and what it printed."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in start.environment.items()]
    if start.removed:
        variables = ["env", *(f"--unset={name}" for name in start.removed), *variables]
    return (
        f"command: {' '.join(variables)} {shlex.join(start.command)}\n"
        f"exit status: {finished.status}\n\nstandard error:\n{finished.errors}\n"
        f"standard output:\n{finished.output}\n"
    )
