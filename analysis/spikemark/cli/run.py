"""`spikemark run`: one run of a plan, as the workflow calls it for every record.

Starts in under 0.1 s: imports neither pydantic nor typer.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from spikemark.core.errors import BadInput, ending, plain
from spikemark.core.lock import open_locked
from spikemark.launch import slurm
from spikemark.launch.process import ProgramFailed, interruptible
from spikemark.records.folder import Folder
from spikemark.records.run_files import whole
from spikemark.running import durations
from spikemark.running.durations import Durations, Said, minutes
from spikemark.running.measure import Due, find, measure, real_time_factor

#: Only one run at a time is measured on a host, whoever starts it.
LOCK = Path(os.environ.get("SPIKEMARK_LOCK", "/tmp/spikemark-measuring.lock"))
SIGNAL_AT_END_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux
#: Names the pid of Snakemake, which the rules start this from (workflows/rules/common.smk).
PARENT = "SPIKEMARK_PARENT"
#: Names the pid of the batch script, which on SIGTERM ends as at the limit of its job (allocation.sh).
BATCH = "SPIKEMARK_BATCH"
#: Kept of an allocation for ending, s, and how many times as long as expected a run may take.
MARGIN_S, SLACK = 20.0, 1.25
FAILED, LATER, INTERRUPTED = 1, 75, 130  # exit statuses


def main(folder: str, run: str) -> NoReturn:
    """The command line `spikemark run RESULTS_DIR ID`; one line on standard error unless all went well."""
    interruptible()
    try:
        status = carry_out(Path(folder), run)
    except KeyboardInterrupt:
        status = _complain("interrupted: the same command continues from here", INTERRUPTED)
    except (BadInput, OSError) as error:
        status = _complain(*ending(error))
    sys.exit(status)


def carry_out(folder: Path, run: str, launcher: str | None = None, scorep: bool = False) -> int:
    """Carries out one run and returns the exit status; LATER if it would not end before its job does.

    A run on this host waits until no other one is measured here. It ends with the process that started this
    one. Raises BadInput as `measure`, `simulate_planned` and `measuring.scorep.measure`.
    """
    _end_with_parent()
    results = Folder(folder.resolve())
    due = find(results, run)
    if due.simulated:
        from spikemark.records.results import Results
        from spikemark.running.simulation.run import simulate_planned

        with open_locked(results.description(run), wait=True):
            if whole(results.run(run)):
                return 0
            return _told(results, due, lambda: simulate_planned(Results(results.path), run))
    with open_locked(LOCK, wait=True) as lock:
        if scorep:
            from spikemark.measuring.scorep import measure as measure_scorep

            return _told(results, due, lambda: measure_scorep(results, run, launcher))
        if whole(results.run(run)):  # by a run that waited for the lock, too
            return 0
        return _told(results, due, lambda: measure(results, run, launcher, lock))


def _end_with_parent() -> None:
    """Has Linux send SIGTERM when the thread that started this process ends. Raises KeyboardInterrupt if the
    process that PARENT names has ended before.
    """
    ctypes.CDLL(None).prctl(SIGNAL_AT_END_OF_PARENT, int(signal.SIGTERM))
    if os.environ.get(PARENT) not in (None, str(os.getppid())):
        raise KeyboardInterrupt


def _told(results: Folder, due: Due, work: Callable[[], Path]) -> int:
    left_s = slurm.left_s()
    expected = Durations(due.entries, results) if left_s is not None else None
    if expected and expected.finished and SLACK * expected.of(due.entry) + MARGIN_S > left_s:
        if batch := os.environ.get(BATCH):
            os.kill(int(batch), signal.SIGTERM)
        lasts = f"{due.label}: takes about {minutes(expected.of(due.entry))}"
        return _complain(f"{lasts}, and the job ends in {minutes(left_s)}: left to the next job", LATER)
    _print(str(Said(due.id, durations.BEGAN, due.label)))
    began = time.monotonic()
    try:
        work()
    except Exception as reason:
        _print(str(Said(due.id, durations.FAILED, " ".join(str(reason).split()))))
        if not isinstance(reason, ProgramFailed):
            raise
        return _complain(f"run {due.id} failed: {reason}", FAILED)
    took_s = time.monotonic() - began
    _print(str(Said(due.id, durations.DONE, real_time_factor(results.run(due.id)), took_s)))
    return 0


def _print(line: str) -> None:
    print(plain(line), flush=True)


def _complain(line: str, status: int) -> int:
    print("spikemark:", plain(" ".join(line.splitlines())), file=sys.stderr)
    return status
