"""One run of a plan: what may start, the run on this machine, checks of its record, and where that goes.

`simulation` is the other way to carry out a run. Imports nothing heavy: a process is started for every run.
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
from spikemark.core.errors import BadInput
from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.launch import Launch, default_launcher, launch, slurm
from spikemark.launch.layout import Layout, Spread
from spikemark.launch.process import Finished, ProgramFailed, left_over, watch
from spikemark.records import run_files
from spikemark.records.folder import Folder

from . import energy

LONGEST_S = 1e6  # the longest time limit that a plan may have
ENDING_S = 10.0  # after Slurm ended a step, the signal for the rest of the job follows
#: What Slurm says when a job is over.
JOB_ENDS = r"CANCELLED AT |Slurm job \d+ has expired|Job/step already completing"
LAYOUT = ("ranks", "threads", "ranks_per_node", "distribution", "binding")
#: What reading a file raises that is missing, is no JSON or CSV, or holds something else than expected.
UNREADABLE = OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError


@dataclass(frozen=True)
class Due:
    """A run of a plan: what it takes to start it. `entry` and `entries`: it and all runs, as in plan.json."""

    id: str
    label: str
    layout: Layout
    simulated: bool
    limit_s: float
    entry: dict[str, Any]
    entries: list[dict[str, Any]]


def find(results: Folder, run: str) -> Due:
    """Run id `run` of the plan. Raises BadInput if there is no such run, or no plan that can be read."""
    plan = read_json(results.plan, "a sweep writes it")
    try:
        entries, limit_s = plan["runs"], plan["experiment"]["time_limit_s"]
        entry = next((entry for entry in entries if entry["id"] == run), None)
        if not 0 < limit_s <= LONGEST_S:
            raise LookupError(f"time_limit_s={limit_s}")
        if entry is None:
            raise BadInput(f"run {run!r} is not in {results.plan}")
        layout = Layout(**{name: entry.get(name) for name in LAYOUT})
        return Due(run, entry["label"], layout, bool(entry.get("machine")), limit_s, entry, entries)
    except (LookupError, TypeError, AttributeError) as wrong:
        raise BadInput(f"{results.plan}: {wrong}; expected a whole plan, as a sweep writes it") from None


def claim(results: Folder, run: str, simulated: bool) -> Due:
    """Run id `run` of the plan, which may start.

    Raises BadInput as `find`, if the run exists already, other files are in its place, its description is
    missing, or if it is planned to be simulated and not measured, or vice versa.
    """
    due, place = find(results, run), results.run(run)
    if run_files.whole(place):
        raise BadInput(f"{place}: measured already; move or delete the folder to measure again")
    if foreign := run_files.foreign(place):
        raise BadInput(f"{place}: contains {foreign[0]!r}, which belongs to no record; move it away first")
    if due.simulated != simulated:
        where = (
            f"the simulated machine {due.entry['machine']['profile']}" if due.simulated else "this machine"
        )
        raise BadInput(f"run {run!r} is planned on {where}")
    if not results.description(run).is_file():
        raise BadInput(f"{results.description(run)}: not found; a sweep rewrites it")
    return due


def carry_out(
    run: Due, unchecked: Path, place: Path, failure: Path, work: Callable[[], dict[str, Any]]
) -> Path:
    """Has `work` fill the folder `unchecked`, and moves that to its place, which is returned.

    The folder above `unchecked` is created before and removed afterwards. `work` returns the content of
    launch.json and raises ProgramFailed. A failure leaves the file `failure` behind, whose first line is the
    reason, and passes on; so does a bug in the program, with its trace. Raises BadInput while a program that
    a killed command left behind still writes there.
    """
    workspace = unchecked.parent
    # Arguments of a command are separated by zeros. Ranks hold no lock, since mpirun closes it for them.
    if left := left_over(f"--out\0{workspace.resolve()}/"):
        stop = f"kill {' '.join(map(str, left))}"
        raise BadInput(f"{run.id}: a killed run still writes here; stop it with `{stop}`")
    try:
        discard(workspace)  # left by a run that was killed
        workspace.mkdir(parents=True)
        failure.unlink(missing_ok=True)
        began = time.monotonic()
        try:
            launched = work()
        except (BadInput, OSError):
            raise
        except Exception as fault:
            reason, rest = str(fault), getattr(fault, "log", "")
            if not isinstance(fault, ProgramFailed):
                reason = " ".join(f"{type(fault).__name__}: {fault}".split())
                rest = f"\n{traceback.format_exc()}"
            write_atomically(failure, f"{reason}\n\nrun: {run.label}\nid: {run.id}\n{rest}")
            raise
        write_json(unchecked / run_files.LAUNCH, {**launched, "wall_s": time.monotonic() - began})
        place.parent.mkdir(parents=True, exist_ok=True)
        if not run_files.whole(place):  # made by Snakemake, or remains of an old record
            discard(place)
        os.rename(unchecked, place)
    finally:
        discard(workspace)
    return place


def check_record(directory: Path, layout: Layout, spread: Spread | None = None) -> None:
    """Raises ProgramFailed with the reason if a program that ended well left no record of the planned run.

    `spread`: the nodes that its ranks were started on; None if they are not to be checked. Only what decides
    whether the run counts as done is checked; `collect` reads all of it, and takes a second to import.
    """
    try:
        found = json.loads((directory / run_files.RECORD).read_text())
        whole, got = found["status"] == "complete", {name: found[name] for name in ("ranks", "threads")}
        host = found.get("host")
    except UNREADABLE as error:
        raise ProgramFailed(f"exit status 0, but no valid record: {error}") from None
    if not whole:
        raise ProgramFailed("exit status 0, but the record is not complete")
    mixed = {"ranks": ": the launcher and the MPI library of the mini-app do not belong together"}
    for name, value in got.items():
        if value != (planned := getattr(layout, name)):
            raise ProgramFailed(f"planned {name}={planned}, the record has {value}{mixed.get(name, '')}")
    if spread is not None and isinstance(host, dict):
        _check_places(directory / run_files.RANKS, host, spread)


def _check_places(table: Path, host: dict[str, Any], spread: Spread) -> None:
    """Raises ProgramFailed if ranks ran on other nodes than planned, as far as the record says where."""
    nodes, names = host.get("nodes"), host.get("node_names")
    if nodes is not None and nodes != spread.nodes:
        raise ProgramFailed(f"planned nodes={spread.nodes}, the record has host.nodes={nodes}")
    try:
        with open(table, newline="") as file:
            rows = sorted((int(row["rank"]), row["node"]) for row in csv.DictReader(file))
    except UNREADABLE:
        return
    where: dict[int, str] = {}
    for rank, node in rows:
        if node != where.setdefault(spread.node(rank), node) or list(where.values()).count(node) > 1:
            found = names[int(node)] if isinstance(names, list) and node.isdigit() else node
            planned = f"distribution={spread.distribution}, ranks_per_node={spread.ranks_per_node}"
            raise ProgramFailed(f"planned {planned}, the record has rank {rank} on {found}")


def real_time_factor(place: Path) -> str:
    """The real-time factor of a record, in words; empty if unreadable."""
    with contextlib.suppress(*UNREADABLE):
        factor = json.loads((place / run_files.RECORD).read_text())["timing"]["real_time_factor"]
        return f"real-time factor {factor:.3g}"
    return ""


def measure(results: Folder, run: str, launcher: str | None = None, lock: int | None = None) -> Path:
    """Carry out run id `run` of the plan and return the directory of its record.

    The launcher inherits the descriptor `lock`. A failure leaves `failed/ID.log` behind, whose first line is
    the reason, and raises ProgramFailed. Raises BadInput, before anything is changed, for what `claim`
    refuses, an unknown launcher, and if the mini-app is missing.
    """
    due, out, description = claim(results, run, False), results.unchecked(run), results.description(run)
    launcher = launcher or default_launcher()
    start = launch(launcher, program("miniapp", description, out), due.layout)

    def work() -> dict[str, Any]:
        allocation, asked = slurm.allocation(), energy.wanted(description)
        nodes = start.spread.names if start.spread else ()
        with energy.metered(out, out.parent / "energy", asked, nodes, launcher):
            began_s = time.time()
            run_to_record(start, due, out, () if lock is None else (lock,))
        if allocation is not None:
            allocation["modules"] = list(filter(None, os.environ.get("LOADEDMODULES", "").split(":")))
        begun = {"launcher": launcher, "command": start.command, "environment": start.environment}
        return {**begun, "began_s": began_s, "allocation": allocation}

    return carry_out(due, out, results.run(run), results.failure(run), work)


def program(name: str, description: Path, out: Path) -> list[str]:
    """The command of a mini-app without its launcher. Raises BadInput if it is not built."""
    return [str(places.program(name)), str(description.resolve()), "--out", str(out.resolve())]


def run_to_record(start: Launch, due: Due, record: Path, keep: tuple[int, ...] = ()) -> Finished:
    """Run the mini-app to its end. Raises ProgramFailed without the planned run's record in `record`."""
    finished = watch(start, due.limit_s, keep)
    if finished.status != 0 and slurm.inside() and re.search(JOB_ENDS, finished.errors):
        time.sleep(ENDING_S)  # no fault of the run: this process is interrupted, too, if its job is over
    try:
        if finished.status != 0:
            raise ProgramFailed(why(finished))
        check_record(record, due.layout, start.spread)
    except ProgramFailed as failed:
        raise ProgramFailed(str(failed), log_text(start, finished)) from None
    return finished


def why(finished: Finished) -> str:
    """Why a program failed that an experiment gives time_limit_s."""
    return finished.reason + ("; time_limit_s of the experiment raises it" if finished.status is None else "")


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
