"""Starts the mini-app under SimGrid and tells whether it left a record, since its exit status does not."""

import contextlib
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core import places, reasons
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.launch import Launch
from spikemark.core.process import watch
from spikemark.records import run_files

from .platform import Platform

LIMIT_S = 24 * 3600.0
PROGRESS, LOOK_S = "progress", 0.2
#: Is called with the number of cycles that are done and that of all cycles.
Advance = Callable[[int, int], None]
MISSING = "smpirun: command not found: install the package libsimgrid-dev (setup/apt.txt)"


class SimulationFailed(RuntimeError):
    """A simulation left no record; the message is the reason, in one line."""


def version() -> str:
    """The version that SimGrid reports. Raises BadInput if it is not installed."""
    if not shutil.which("smpirun"):
        raise BadInput(MISSING)
    done = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, errors="replace")
    return done.stdout.strip()


def run(
    folder: Path,
    description: dict[str, Any],
    built: Platform,
    flags: list[str],
    times: np.ndarray | None,
    advance: Advance | None = None,
) -> Path:
    """Run the mini-app in the workspace `folder` and return the folder of its record.

    `times`: compute times as float32 [rank, cycle, phase]; None: those that its kernels need here. `advance`
    is called meanwhile with the cycles that rank 0 has done, the warm-up included, and the cycles in all.
    Raises BadInput for what the mini-app refuses, and SimulationFailed if there is no whole record
    afterwards.
    """
    write_json(folder / "run.json", description)
    arguments = ["run.json", "--out", "record", "--progress", PROGRESS]
    if times is not None:
        np.save(folder / "compute.npy", times)
        arguments += ["--compute-times", "compute.npy"]
    start = launch(folder, built, flags, "miniapp_smpi", arguments)
    with _told(folder / PROGRESS, advance):
        status, output, errors = watch(start, LIMIT_S)
    if not _whole(folder / "record"):
        explain(status, f"{output}\n{errors}")
    return folder / "record"


def launch(folder: Path, built: Platform, flags: list[str], program: str, arguments: list[str]) -> Launch:
    """How to start a program (places.program) on all ranks of a platform, which is written to `folder`.

    Arguments that are paths are relative to the folder: smpirun accepts none with spaces.
    """
    (folder / "platform.xml").write_text(built.xml)
    (folder / "hosts").write_text(built.hosts)
    ranks = built.hosts.count("\n")
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [*flags, str(places.program(program)), *arguments]
    return Launch(
        ["env", f"--chdir={folder}", *command], {"TMPDIR": ".", "OMP_NUM_THREADS": "1", **built.environment}
    )


@contextlib.contextmanager
def _told(file: Path, advance: Advance | None) -> Iterator[None]:
    """Now and then calls `advance` with the progress that the mini-app writes to a file."""
    if advance is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            with contextlib.suppress(OSError, ValueError):
                done, cycles = np.fromfile(file, dtype=np.uint32)
                advance(int(done), int(cycles))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _whole(record: Path) -> bool:
    try:
        return json.loads((record / run_files.RECORD).read_text())["status"] == "complete"
    except (OSError, ValueError, KeyError, TypeError):
        return False


def explain(status: int | None, output: str) -> None:
    """Raises BadInput for what the program refused, else SimulationFailed with its most telling line."""
    if said := reasons.own(output):
        raise BadInput(said)
    lines = [line for line in reasons.lines(output) if "/INFO]" not in line]
    telling = [line for line in lines if "deadlock" in line.lower() or "CRITICAL]" in line]
    raise SimulationFailed((telling or lines[-1:] or [f"exit status {status}, no record and no message"])[0])
