"""One run of a plan: start it, watch it, check the record, keep it or say why not."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import time
from pathlib import Path

from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically, write_json
from spikemark.core.process import watch
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from . import simulated_runs

#: What a folder of a run may hold that has no record.json and so is not measured.
PARTS = {"ranks.csv", "cycles.npy", "spikes.npy", "launch.json", "simulation.json", ".snakemake_timestamp"}


class RunFailed(RuntimeError):
    """A run gave no valid record; the message is the reason, in one line."""


def measure(results: Results, run: str, launcher: str = "mpirun") -> Path:
    """Carry out run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, if the plan does not have the run, the run is measured already,
    other files are in its place, its description is no description, the launcher is unknown or the mini-app
    is missing. A run with a `machine` is simulated, whatever the launcher.
    """
    plan = results.read_plan()
    planned = plan.run(run)
    if planned is None:
        raise BadInput(f"run {run!r} is not in {results.plan}")
    if results.measured(run):
        raise BadInput(f"{results.run(run)}: measured already; move or delete the folder to measure again")
    if foreign := sorted({path.name for path in results.run(run).glob("*")} - PARTS):
        raise BadInput(f"{results.run(run)}: holds {foreign[0]!r}, which is of no record; move it away first")
    results.read_description(run)
    workspace = results.path / "unchecked" / run
    unchecked = workspace / "record"
    start = None if planned.machine else _start(results, run, launcher, planned, unchecked)

    try:
        shutil.rmtree(workspace, ignore_errors=True)  # left by one that was killed
        workspace.mkdir(parents=True)
        results.failure(run).unlink(missing_ok=True)
        began, limit_s = time.monotonic(), plan.experiment.time_limit_s
        if start is None:
            launched = _simulate(results, planned, unchecked, limit_s)
        else:
            status, output, errors = watch(start, limit_s)
            try:
                check_record(status, errors, unchecked, planned)
            except RunFailed as reason:
                text = log_text(reason, planned, start, status, output, errors)
                write_atomically(results.failure(run), text)
                raise
            launched = {"command": start.command, "environment": start.environment}
        write_json(unchecked / "launch.json", {**launched, "wall_s": time.monotonic() - began})
        results.run(run).parent.mkdir(parents=True, exist_ok=True)
        if not results.measured(run):  # what Snakemake made, or what is left of an old record
            shutil.rmtree(results.run(run), ignore_errors=True)
        os.rename(unchecked, results.run(run))
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    return results.run(run)


def _start(results: Results, run: str, launcher: str, planned: Planned, out: Path) -> launch.Launch:
    description = str(results.description(run).resolve())
    program = [str(places.miniapp()), description, "--out", str(out.resolve())]
    return launch.launch(launcher, program, planned.ranks, planned.threads)


def _simulate(results: Results, planned: Planned, out: Path, limit_s: float) -> dict:
    try:
        launched = simulated_runs.simulate(results, planned, out, limit_s)
        check_record(0, "", out, planned)
    except (ValueError, RuntimeError, OSError) as error:  # those of `simulate`, and what it could not write
        reason = " ".join(str(error).split())
        write_atomically(results.failure(planned.id), f"{reason}\n\nrun: {planned.label}\nid: {planned.id}\n")
        raise RunFailed(reason) from None
    return launched


def check_record(status: int | None, errors: str, directory: Path, planned: Planned) -> None:
    """Raises RunFailed with the reason if the program that ended so left no record of the planned run."""
    if status != 0:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        raise RunFailed(lines[-1] if lines else _without_message(status))
    # Only what decides whether this run counts as done: reading all of it is left to `collect`, which takes
    # a second to import what it needs.
    try:
        found = json.loads((directory / "record.json").read_text())
        complete = found["status"] == "complete" and {"ranks", "threads"} <= found.keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunFailed(f"exit status 0, but no valid record: {error}") from None
    if not complete:
        raise RunFailed("exit status 0, but the record is not complete")
    for what in ("ranks", "threads"):
        asked, got = getattr(planned, what), found[what]
        if asked != got:
            raise RunFailed(
                f"asked for {asked} {what}, the record says {got}"
                + (
                    ": mpirun and the MPI library of the mini-app do not belong together"
                    if what == "ranks"
                    else ""
                )
            )


def _without_message(status: int | None) -> str:
    if status is not None and status > 128:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(status - 128).name}"
    return f"exit status {status} without a message: try the command of the log without --quiet"


def log_text(reason, planned, start, status, output, errors) -> str:
    """What is kept of a failed run; the reason is its first line."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in start.environment.items())
    return (
        f"{reason}\n\nrun: {planned.label}\nid: {planned.id}\n"
        f"command: {variables} {shlex.join(start.command)}\n"
        f"exit status: {status}\n\nstandard error:\n{errors}\nstandard output:\n{output}\n"
    )
