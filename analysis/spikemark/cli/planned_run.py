"""One run of a plan, as the workflow starts it for every record.

    python -m spikemark.cli.planned_run RESULTS_DIR ID

It does what `spikemark run RESULTS_DIR ID` does, and starts in less than half the time, 0.07 s:
neither Typer nor pydantic is imported.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

from spikemark.core import streams
from spikemark.core.errors import BadInput, ending, plain
from spikemark.core.interrupts import interruptible
from spikemark.core.lock import open_locked
from spikemark.launch import slurm
from spikemark.launch.process import ProgramFailed
from spikemark.records.folder import Folder
from spikemark.records.run_files import is_complete
from spikemark.running import durations
from spikemark.running.durations import Durations, RunEvent, minutes
from spikemark.running.measure import PlannedRun, find_run, measure, real_time_factor

#: Only one run at a time is measured on a host, whoever starts it.
LOCK = Path(os.environ.get("SPIKEMARK_LOCK", "/tmp/spikemark-measuring.lock"))
SIGNAL_AT_END_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux
#: Names the pid of Snakemake, which the rules start this from (workflows/rules/common.smk).
PARENT = "SPIKEMARK_PARENT"
#: Names the pid of the batch script, which on SIGTERM ends as at the limit of its job
#: (allocation.sh).
BATCH = "SPIKEMARK_BATCH"
END_OF_JOB_S = 20.0  # kept of an allocation for ending
MAX_OVER_EXPECTED = 1.25  # how many times as long as expected a run may take
FAILED, LEFT_TO_NEXT_JOB, INTERRUPTED = 1, 75, 130  # exit statuses


def main(folder: str, run: str) -> NoReturn:
    """Carry out run id `run` of the plan in `folder`, and exit.

    Prints one line on standard error unless all went well.
    """
    interruptible()
    streams.prepare()
    try:
        status = carry_out(Path(folder), run)
    except KeyboardInterrupt:
        status = _complain("interrupted: the same command continues from here", INTERRUPTED)
    except (BadInput, OSError) as error:
        line, status = ending(error)
        _complain(line, status)
    sys.exit(status)


def carry_out(
    folder: Path,
    run: str,
    launcher: str | None = None,
    scorep: bool = False,
) -> int:
    """Carry out one run of a plan; the exit status.

    Args:
        folder: a results folder, with the plan.
        run: the id of the run.
        launcher: mpirun or srun; None for the one that is usual here.
        scorep: whether the program that is instrumented for Score-P runs.

    A run on this host waits until no other one is measured here, and until no other host measures
    the same one: several jobs may work in one folder. It ends with the process that started this
    one. The status is LEFT_TO_NEXT_JOB if the run would not end before its job does.

    Raises BadInput as `measure`, `simulate_planned` and `measuring.scorep_run.measure`.
    """
    _end_with_parent()
    results = Folder(folder.resolve())
    planned = find_run(results, run)
    if planned.simulated:
        from spikemark.records.results import Results
        from spikemark.running.simulation.run import simulate_planned

        with _locked_run(results, run):
            if is_complete(results.run(run)):
                return 0
            return _reported(results, planned, lambda: simulate_planned(Results(results.path), run))
    with open_locked(LOCK, wait=True) as lock, _locked_run(results, run):
        if scorep:
            from spikemark.measuring.scorep_run import measure as measure_scorep

            return _reported(results, planned, lambda: measure_scorep(results, run, launcher))
        if is_complete(results.run(run)):  # by a run that waited for the lock, too
            return 0
        return _reported(results, planned, lambda: measure(results, run, launcher, lock))


def _locked_run(results: Folder, run: str) -> AbstractContextManager[object]:
    """Holds the lock of a run, for which jobs on other hosts wait; none of a run that has no
    description, which `measure` refuses.
    """
    description = results.description(run)
    if not description.is_file():
        return nullcontext()
    return open_locked(description, wait=True)


def _end_with_parent() -> None:
    """Have Linux send SIGTERM when the thread that started this process ends.

    Raises KeyboardInterrupt if the process that PARENT names has ended before.
    """
    ctypes.CDLL(None).prctl(SIGNAL_AT_END_OF_PARENT, int(signal.SIGTERM))
    if os.environ.get(PARENT) not in (None, str(os.getppid())):
        raise KeyboardInterrupt


def _reported(results: Folder, planned: PlannedRun, work: Callable[[], Path]) -> int:
    """Do the work of a run, and print its beginning and its end; the exit status.

    Nothing is done where the job would probably end before the run.
    """
    left_s = slurm.left_s()
    if left_s is not None:
        expected_s = _expected_s(results, planned)
        if expected_s is not None and MAX_OVER_EXPECTED * expected_s + END_OF_JOB_S > left_s:
            batch_script = os.environ.get(BATCH)
            if batch_script:
                os.kill(int(batch_script), signal.SIGTERM)
            return _complain(
                f"{planned.label}: takes about {minutes(expected_s)}, and the job ends in"
                f" {minutes(left_s)}: left to the next job",
                LEFT_TO_NEXT_JOB,
            )
    _print(str(RunEvent(planned.id, durations.BEGAN, planned.label)))
    began = time.monotonic()
    try:
        work()
    except Exception as error:
        _print(str(RunEvent(planned.id, durations.FAILED, " ".join(str(error).split()))))
        if not isinstance(error, ProgramFailed):
            raise
        return _complain(f"run {planned.id} failed: {error}", FAILED)
    took_s = time.monotonic() - began
    factor = real_time_factor(results.run(planned.id))
    _print(str(RunEvent(planned.id, durations.DONE, factor, took_s)))
    return 0


def _expected_s(results: Folder, planned: PlannedRun) -> float | None:
    """How long the run will take, s; None before any run of the plan has finished."""
    expected = Durations(planned.entries, results)
    return expected.expected_s(planned.entry) if expected.finished else None


def _print(line: str) -> None:
    print(plain(line), flush=True)


def _complain(text: str, status: int) -> int:
    print("spikemark:", plain(text), file=sys.stderr)
    return status


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as spikemark/__main__.py says
    results_dir, run_id = sys.argv[1:]
    main(results_dir, run_id)
