"""One run of a plan: what may start, the run on this machine, and checks of its record.

A run fills a folder of its own, which takes its place among the results once its record has been
checked. `simulation` is the other way to carry out a run. Imports nothing heavy: a process is
started for every run.
"""

import contextlib
import csv
import json
import os
import re
import shlex
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.launch import Launch, default_launcher, launch, slurm
from spikemark.launch.layout import LaunchLayout, RanksOnNodes
from spikemark.launch.process import FinishedProgram, ProgramFailed, left_over, watch
from spikemark.records import run_files
from spikemark.records.folder import Folder

from . import energy

#: The longest time limit that a plan may have, s.
MAX_TIME_LIMIT_S = 1e6
#: After Slurm ended a step, the signal for the rest of the job follows within so many s.
JOB_ENDING_S = 10.0
#: What Slurm says when a job is over.
JOB_ENDS = r"CANCELLED AT |Slurm job \d+ has expired|Job/step already completing"
LAYOUT = ("ranks", "threads", "ranks_per_node", "distribution", "binding")
#: What reading a file raises that is missing, is no JSON or CSV, or holds something else than
#: expected.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class PlannedRun:
    """A run of a plan: what it takes to start it."""

    id: str
    label: str
    layout: LaunchLayout
    simulated: bool  #: whether it is to run on a simulated machine
    limit_s: float  #: time after which it is stopped
    entry: dict[str, Any]  #: the run as in plan.json
    entries: list[dict[str, Any]]  #: all runs as in plan.json


def find_run(results: Folder, run: str) -> PlannedRun:
    """The run of the plan with the id `run`.

    Raises BadInput if there is no such run, or no plan that can be read.

    Example:
        >>> find_run(Folder(Path("nowhere")), "conventional-r2-s1-1a2b3c4d")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/plan.json: not found; a sweep writes it
    """
    plan = read_json(results.plan, "a sweep writes it")
    try:
        entries = plan["runs"]
        limit_s = plan["experiment"]["time_limit_s"]
        matching = [entry for entry in entries if entry["id"] == run]
        if not 0 < limit_s <= MAX_TIME_LIMIT_S:
            raise LookupError(f"time_limit_s={limit_s}")
        if not matching:
            ids = [entry["id"] for entry in entries]
            expected = "the id of a run of the plan"
            raise unknown_name("run", run, ids, expected=expected, file=results.plan)
        entry = matching[0]
        layout = LaunchLayout(**{name: entry.get(name) for name in LAYOUT})
        return PlannedRun(
            run, entry["label"], layout, bool(entry.get("machine")), limit_s, entry, entries
        )
    except (LookupError, TypeError, AttributeError) as error:
        message = f"{error}; expected a whole plan, as a sweep writes it"
        raise BadInput(
            message,
            file=results.plan,
            code="file",
        ) from None


def claim(results: Folder, run: str, simulated: bool) -> PlannedRun:
    """The run of the plan with the id `run`, which may start.

    Raises BadInput as `find_run`, if the run exists already, other files are in its place, its
    description is missing, or if it is planned to be simulated and not measured, or vice versa.

    Example:
        >>> claim(Folder(Path("nowhere")), "conventional-r2-s1-1a2b3c4d", simulated=False)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/plan.json: not found; a sweep writes it
    """
    due = find_run(results, run)
    place = results.run(run)
    if run_files.is_complete(place):
        message = "measured already; move or delete the folder to measure again"
        raise BadInput(message, file=place, code="file")
    foreign = run_files.foreign(place)
    if foreign:
        message = f"contains {foreign[0]!r}, which belongs to no record; move it away first"
        raise BadInput(message, file=place, code="file")
    if due.simulated != simulated:
        machine = "this machine"
        if due.simulated:
            machine = f"the simulated machine {due.entry['machine']['profile']}"
        raise BadInput(
            f"run {run!r} is planned on {machine}",
            field="run",
            code="conflict",
        )
    description = results.description(run)
    if not description.is_file():
        raise BadInput(
            "not found; a sweep rewrites it",
            file=description,
            code="file",
        )
    return due


def carry_out(
    run: PlannedRun,
    unchecked: Path,
    place: Path,
    failure: Path,
    work: Callable[[], dict[str, Any]],
) -> Path:
    """Has `work` fill the folder `unchecked`, and moves that to its place, which is returned.

    A record that another job has put there in the meantime stays. The folder above `unchecked` is
    created before and removed afterwards. `work` returns the
    content of launch.json and raises ProgramFailed. A failure leaves the file `failure` behind,
    whose first line is the reason, and passes on; so does a bug in the program, with its trace.
    Raises BadInput while a program that a killed command left behind still writes there.

    Example:
        >>> import tempfile
        >>> from spikemark.core.files import write_json
        >>> run = PlannedRun("a", "D=10", LaunchLayout(4), False, 60.0, entry={}, entries=[])
        >>> with tempfile.TemporaryDirectory() as name:
        ...     results = Folder(Path(name))
        ...     unchecked = results.unchecked("a")
        ...
        ...     def work() -> dict[str, Any]:
        ...         write_json(unchecked / "record.json", {"status": "complete"})
        ...         return {"launcher": "mpirun"}
        ...
        ...     place = carry_out(run, unchecked, results.run("a"), results.failure("a"), work)
        ...     print(sorted(path.name for path in place.iterdir()))
        ['launch.json', 'record.json']
    """
    workspace = unchecked.parent
    # Arguments of a command are separated by zeros. Ranks hold no lock, since mpirun closes it for
    # them.
    processes = left_over(f"--out\0{workspace.resolve()}/")
    if processes:
        command = " ".join(["kill", *(str(process) for process in processes)])
        message = f"{run.id}: a killed run still writes here; stop it with `{command}`"
        raise BadInput(message, code="file")
    try:
        discard(workspace)  # left by a run that was killed
        workspace.mkdir(parents=True)
        failure.unlink(missing_ok=True)
        began = time.monotonic()
        try:
            launched = work()
        except (BadInput, OSError):
            raise
        except Exception as error:
            _write_failure(failure, run, error)
            raise
        write_json(unchecked / run_files.LAUNCH, {**launched, "wall_s": time.monotonic() - began})
        place.parent.mkdir(parents=True, exist_ok=True)
        if run_files.is_complete(place):  # measured meanwhile by a job that a lock does not reach
            return place
        discard(place)  # made by Snakemake, or remains of an old record
        os.rename(unchecked, place)
    finally:
        discard(workspace)
    return place


def _write_failure(path: Path, run: PlannedRun, error: Exception) -> None:
    """Writes why a run failed; the first line is the reason."""
    if isinstance(error, ProgramFailed):
        reason = str(error)
        log = error.log
    else:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        log = f"\n{traceback.format_exc()}"
    write_atomically(path, f"{reason}\n\nrun: {run.label}\nid: {run.id}\n{log}")


def check_record(directory: Path, layout: LaunchLayout, spread: RanksOnNodes | None = None) -> None:
    """Checks that a program that ended well left a record of the planned run.

    Only what decides whether the run counts as done is checked; `collect` reads all of it, and
    takes a second to import.

    Args:
        directory: of the record.
        layout: as planned.
        spread: the nodes that its ranks were started on; None if they are not to be checked.

    Raises ProgramFailed with the reason.

    Example:
        >>> folder = Path("tests/golden/analysis/records/aware-4")
        >>> check_record(folder, LaunchLayout(ranks=4))
        >>> check_record(folder, LaunchLayout(ranks=8))
        Traceback (most recent call last):
            ...
        spikemark.launch.process.ProgramFailed: planned ranks=8, the record has 4: the ...
    """
    try:
        record = json.loads((directory / run_files.RECORD).read_text())
        is_complete = record["status"] == "complete"
        numbers = {"ranks": record["ranks"], "threads": record["threads"]}
        host = record.get("host")
    except UNREADABLE as error:
        raise ProgramFailed(f"exit status 0, but no valid record: {error}") from None
    if not is_complete:
        raise ProgramFailed("exit status 0, but the record is not complete")
    for name, number in numbers.items():
        planned = getattr(layout, name)
        if number != planned:
            reason = f"planned {name}={planned}, the record has {number}"
            if name == "ranks":
                reason += (
                    ": the launcher and the MPI library of the mini-app do not belong together"
                )
            raise ProgramFailed(reason)
    if spread is not None and isinstance(host, dict):
        _check_places(directory / run_files.RANKS, host, spread)


def _check_places(table: Path, host: dict[str, Any], spread: RanksOnNodes) -> None:
    """Checks that ranks ran on the nodes that were planned, as far as the record says where.

    Raises ProgramFailed.
    """
    nodes = host.get("nodes")
    names = host.get("node_names")
    if nodes is not None and nodes != spread.nodes:
        raise ProgramFailed(f"planned nodes={spread.nodes}, the record has host.nodes={nodes}")
    try:
        with open(table, encoding="utf-8", newline="") as file:
            rows = sorted((int(row["rank"]), row["node"]) for row in csv.DictReader(file))
    except UNREADABLE:
        return
    node_of_planned: dict[int, str] = {}
    for rank, node in rows:
        expected = node_of_planned.setdefault(spread.node(rank), node)
        repeated = list(node_of_planned.values()).count(node) > 1
        if node != expected or repeated:
            name = names[int(node)] if isinstance(names, list) and node.isdigit() else node
            planned = f"distribution={spread.distribution}, ranks_per_node={spread.ranks_per_node}"
            raise ProgramFailed(f"planned {planned}, the record has rank {rank} on {name}")


def real_time_factor(place: Path) -> str:
    """The real-time factor of a record, in words; empty if unreadable.

    Example:
        >>> real_time_factor(Path("tests/golden/analysis/records/aware-4"))
        'real-time factor 4.34'
    """
    with contextlib.suppress(*UNREADABLE):
        record = json.loads((place / run_files.RECORD).read_text())
        factor = record["timing"]["real_time_factor"]
        return f"real-time factor {factor:.3g}"
    return ""


def measure(
    results: Folder,
    run: str,
    launcher: str | None = None,
    lock: int | None = None,
) -> Path:
    """Carries out the run of the plan with the id `run`; returns the directory of its record.

    The launcher inherits the descriptor `lock`. A failure leaves `failed/ID.log` behind, whose
    first line is the reason, and raises ProgramFailed. Raises BadInput, before anything is changed,
    for what `claim` refuses, an unknown launcher, and if the mini-app is missing.

    Example:
        >>> measure(Folder(Path("nowhere")), "conventional-r2-s1-1a2b3c4d")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/plan.json: not found; a sweep writes it
    """
    due = claim(results, run, simulated=False)
    out = results.unchecked(run)
    description = results.description(run)
    launcher = launcher or default_launcher()
    start = launch(launcher, program("miniapp", description, out), due.layout)
    keep = () if lock is None else (lock,)

    def work() -> dict[str, Any]:
        allocation = slurm.allocation()
        request = energy.energy_request(description)
        nodes = start.spread.names if start.spread else ()
        with energy.metered(out, out.parent / "energy", request, nodes, launcher):
            began_s = time.time()
            run_to_record(start, due, out, keep)
        if allocation is not None:
            modules = os.environ.get("LOADEDMODULES", "").split(":")
            allocation["modules"] = [module for module in modules if module]
        return {
            "launcher": launcher,
            "command": start.command,
            "environment": start.environment,
            "began_s": began_s,
            "allocation": allocation,
        }

    return carry_out(due, out, results.run(run), results.failure(run), work)


def program(name: str, description: Path, out: Path) -> list[str]:
    """The command of a mini-app without its launcher. Raises BadInput if it is not built.

    Example:
        >>> program("no_miniapp", Path("run.json"), Path("out"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: no_miniapp: ...
    """
    return [str(places.program(name)), str(description.resolve()), "--out", str(out.resolve())]


def run_to_record(
    start: Launch,
    due: PlannedRun,
    record: Path,
    keep: tuple[int, ...] = (),
) -> FinishedProgram:
    """Runs the mini-app to its end.

    Raises ProgramFailed without the planned run's record in `record`. `keep`: file descriptors that
    the launcher inherits.

    Example:
        >>> run = PlannedRun("a", "D=10", LaunchLayout(4), False, 60.0, entry={}, entries=[])
        >>> run_to_record(Launch(["false"]), run, Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.launch.process.ProgramFailed: exit status 1 without a message
    """
    finished = watch(start, due.limit_s, keep)
    if finished.status != 0 and slurm.inside() and re.search(JOB_ENDS, finished.errors):
        # No fault of the run: this process is interrupted, too, if its job is over.
        time.sleep(JOB_ENDING_S)
    try:
        if finished.status != 0:
            raise ProgramFailed(why(finished))
        check_record(record, due.layout, start.spread)
    except ProgramFailed as error:
        raise ProgramFailed(str(error), log_text(start, finished)) from None
    return finished


def why(finished: FinishedProgram) -> str:
    """Why a program failed that an experiment gives time_limit_s.

    Example:
        >>> why(FinishedProgram(status=1, output="", errors="miniapp: no memory"))
        'miniapp: no memory'
    """
    if finished.status is None:
        return f"{finished.reason}; time_limit_s of the experiment raises it"
    return finished.reason


def log_text(start: Launch, finished: FinishedProgram) -> str:
    """Facts about a program that failed: its command, how it ended and what it printed.

    Example:
        >>> finished = FinishedProgram(status=1, output="", errors="no memory")
        >>> start = Launch(["miniapp", "run.json"], {"OMP_NUM_THREADS": "4"}, removed=())
        >>> print(log_text(start, finished).splitlines()[0])
        command: OMP_NUM_THREADS=4 miniapp run.json
    """
    variables = [f"{name}={shlex.quote(value)}" for name, value in start.environment.items()]
    if start.removed:
        variables = ["env", *(f"--unset={name}" for name in start.removed), *variables]
    return (
        f"command: {' '.join(variables)} {shlex.join(start.command)}\n"
        f"exit status: {finished.status}\n\nstandard error:\n{finished.errors}\n"
        f"standard output:\n{finished.output}\n"
    )
