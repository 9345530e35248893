"""One run of a plan: start it, watch it, check the record, keep it or say why not."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from spikemark import launch, project
from spikemark.errors import BadInput
from spikemark.files import write_atomically, write_json
from spikemark.results import Results

GRACE_S = 5


class RunFailed(RuntimeError):
    """A run gave no valid record; the message is the reason, in one line."""


def measure(results: Results, run: str, launcher: str = "mpirun") -> Path:
    """Carry out run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput if the plan does not have the run.
    """
    plan = results.read_plan()
    entry = next((r for r in plan["runs"] if r["id"] == run), None)
    if entry is None:
        raise BadInput(f"run {run!r} is not in {results.plan}")
    workspace = results.path / "unchecked" / run
    unchecked = workspace / "record"
    for leftover in (workspace, results.run(run)):
        shutil.rmtree(leftover, ignore_errors=True)
    workspace.mkdir(parents=True)
    results.failure(run).unlink(missing_ok=True)

    program = [
        str(project.miniapp()),
        str(results.description(run).resolve()),
        "--out",
        str(unchecked.resolve()),
    ]
    start = launch.launch(launcher, program, entry["ranks"], entry["threads"])
    began = time.monotonic()
    status, output, errors = watch(start, plan["experiment"]["time_limit_s"])
    try:
        _check(status, errors, unchecked, entry)
        write_json(
            unchecked / "launch.json",
            {"command": start.command, "environment": start.environment, "wall_s": time.monotonic() - began},
        )
        results.run(run).parent.mkdir(parents=True, exist_ok=True)
        os.rename(unchecked, results.run(run))
    except RunFailed as reason:
        write_atomically(results.failure(run), _log(reason, entry, start, status, output, errors))
        raise
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    return results.run(run)


def watch(start: launch.Launch, limit_s: float) -> tuple[int | None, str, str]:
    """Exit status (None: over the time limit), output and errors; ends all ranks when interrupted itself."""
    try:
        process = subprocess.Popen(
            start.command,
            env=start.full_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError:
        return 127, "", f"{start.command[0]}: command not found"
    try:
        output, errors = process.communicate(timeout=limit_s)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        _end(process)
        return None, "", f"not finished within the time limit of {limit_s:g} s"
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)
            return


def _check(status: int | None, errors: str, directory: Path, entry: dict[str, Any]) -> None:
    if status != 0:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        raise RunFailed(lines[-1] if lines else _without_message(status))
    # Only what decides whether this run counts as done: reading all of it is left to `collect`, which takes
    # a second to import what it needs.
    try:
        found = json.loads((directory / "record.json").read_text())
        complete = found["status"] == "complete" and {"ranks", "threads"} <= found.keys()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunFailed(f"exit status 0, but no valid record: {error}") from None
    if not complete:
        raise RunFailed("exit status 0, but the record is not complete")
    for what in ("ranks", "threads"):
        asked, got = entry[what], found[what]
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


def _log(reason, entry, start, status, output, errors) -> str:
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in start.environment.items())
    return (
        f"{reason}\n\nrun: {entry['label']}\nid: {entry['id']}\n"
        f"command: {variables} {shlex.join(start.command)}\n"
        f"exit status: {status}\n\nstandard error:\n{errors}\nstandard output:\n{output}\n"
    )
