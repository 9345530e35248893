"""The common part of all ways to carry out one run of a plan: what may start, and where its record goes.

`measure` and `simulate` are the two ways; a job of a sweep imports only the one it needs.
"""

import contextlib
import csv
import fcntl
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.layout import Spread
from spikemark.core.process import naming
from spikemark.records import run_files
from spikemark.records.plan import Plan, Planned
from spikemark.records.results import Results


class RunFailed(RuntimeError):
    """A run gave no valid record; the message is the reason, in one line, and `log` what else is kept."""

    def __init__(self, reason: str, log: str = ""):
        super().__init__(reason)
        self.log = log


def due(results: Results, run: str) -> tuple[Plan, Planned]:
    """The plan, and its run `run`, which can be carried out now.

    Raises BadInput if the plan lacks the run, the run exists already, other files are in its place, or its
    description is not one.
    """
    plan, planned = results.planned(run)
    place = results.run(run)
    if run_files.whole(place):
        raise BadInput(f"{place}: measured already; move or delete the folder to measure again")
    if foreign := run_files.foreign(place):
        raise BadInput(f"{place}: contains {foreign[0]!r}, which belongs to no record; move it away first")
    results.read_description(run)
    return plan, planned


def carry_out(
    planned: Planned, unchecked: Path, place: Path, failure: Path, work: Callable[[], dict[str, Any]]
) -> Path:
    """Has `work` fill the folder `unchecked`, and moves that to its place, which is returned.

    The folder above `unchecked` is created before and removed afterwards. `work` returns the content of
    launch.json and raises RunFailed. A failure leaves the file `failure` behind, whose first line is the
    reason, and passes on; so does a bug in the program, with its trace. Raises BadInput while another
    command, or a program that a killed command left behind, carries out the run.
    """
    workspace = unchecked.parent
    with _alone(workspace, planned.id):
        if left := still_running(workspace):
            raise BadInput(f"{planned.id}: the run {left}")
        return _carry_out(planned, unchecked, place, failure, work)


def still_running(folder: Path) -> str:
    """Says that programs of this host still write below `folder`, and what stops them; empty if none does.

    The ranks of a run whose command and mpirun were killed hold no lock, since mpirun closes it for them.
    """
    left = naming(f"--out\0{folder.resolve()}/")  # arguments of a command are separated by zeros
    if not left:
        return ""
    kill = f"kill {' '.join(map(str, left))}"
    return f"still runs here, without the command that started it; stop it with `{kill}`"


@contextlib.contextmanager
def _alone(workspace: Path, run: str) -> Iterator[None]:
    """Refuse a run that another command is carrying out; a file system without locks refuses nothing."""
    workspace.parent.mkdir(parents=True, exist_ok=True)
    path = workspace.with_name(f".{workspace.name}.lock")
    with open(path, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(lock.fileno()), path.stat()):  # one that has ended removed ours
                raise BlockingIOError
        except (BlockingIOError, FileNotFoundError):
            raise BadInput(
                f"{run}: another command is carrying out this run; wait for it or stop it"
            ) from None
        except OSError:
            pass
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _carry_out(
    planned: Planned, unchecked: Path, place: Path, failure: Path, work: Callable[[], dict[str, Any]]
) -> Path:
    workspace = unchecked.parent
    about = f"run: {planned.label}\nid: {planned.id}\n"
    try:
        discard(workspace)  # left by a run that was killed
        workspace.mkdir(parents=True)
        failure.unlink(missing_ok=True)
        began = time.monotonic()
        try:
            launched = work()
        except RunFailed as reason:
            write_atomically(failure, f"{reason}\n\n{about}{reason.log}")
            raise
        except (BadInput, OSError):
            raise
        except Exception as fault:
            reason = " ".join(f"{type(fault).__name__}: {fault}".split())
            write_atomically(failure, f"{reason}\n\n{about}\n{traceback.format_exc()}")
            raise
        write_json(unchecked / run_files.LAUNCH, {**launched, "wall_s": time.monotonic() - began})
        place.parent.mkdir(parents=True, exist_ok=True)
        if not run_files.whole(place):  # made by Snakemake, or remains of an old record
            discard(place)
        os.rename(unchecked, place)
    finally:
        discard(workspace)
    return place


def check_record(directory: Path, planned: Planned, spread: Spread | None = None) -> None:
    """Raises RunFailed with the reason if a program that ended well left no record of the planned run.

    `spread`: the nodes that its ranks were started on; None if they are not to be checked. Only what decides
    whether the run counts as done is checked. `gather` reads all of it, and takes a second to import what it
    needs.
    """
    try:
        found = json.loads((directory / run_files.RECORD).read_text())
        complete = found["status"] == "complete" and {"ranks", "threads"} <= found.keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunFailed(f"exit status 0, but no valid record: {error}") from None
    if not complete:
        raise RunFailed("exit status 0, but the record is not complete")
    for what in ("ranks", "threads"):
        asked, got = getattr(planned, what), found[what]
        if asked != got:
            why = ": the launcher and the MPI library of the mini-app do not belong together"
            raise RunFailed(
                f"asked for {asked} {what}, the record says {got}{why if what == 'ranks' else ''}"
            )
    if spread is not None:
        _check_nodes(directory, found, spread)
        if planned.binding == "cores":
            _check_binding(directory, found, planned.threads)


def _check_nodes(directory: Path, record: dict[str, Any], spread: Spread) -> None:
    """Raises RunFailed if ranks ran on other nodes than asked for, as far as the record says where."""
    host = record.get("host")
    if not isinstance(host, dict):
        return
    nodes, names = host.get("nodes"), host.get("node_names")
    if nodes is not None and nodes != spread.nodes:
        raise RunFailed(f"asked for nodes={spread.nodes}, the record says host.nodes={nodes}")
    where: dict[int, str] = {}
    for rank, node in _nodes_of_ranks(directory / run_files.RANKS):
        wanted = where.setdefault(spread.node(rank), node)
        if node != wanted or list(where.values()).count(node) > 1:
            said = names[int(node)] if isinstance(names, list) and node.isdigit() else node
            raise RunFailed(
                f"asked for distribution={spread.distribution}, ranks_per_node={spread.ranks_per_node},"
                f" the record says that rank {rank} ran on {said}"
            )


def _check_binding(directory: Path, record: dict[str, Any], threads: int) -> None:
    """Raises RunFailed if ranks of a node share hardware threads, or have too few, if the record tells."""
    host = record.get("host")
    binding = host.get("binding") if isinstance(host, dict) else None
    if not isinstance(binding, list):
        return
    taken: dict[tuple[str, int], int] = {}
    for rank, node in _nodes_of_ranks(directory / run_files.RANKS):
        own = binding[rank] if rank < len(binding) else None
        if not isinstance(own, list):
            continue
        if len(own) < threads:
            raise RunFailed(f"asked for binding=cores, the record says that rank {rank} may use only {own}")
        for cpu in own:
            other = taken.setdefault((node, cpu), rank)
            if other != rank:
                raise RunFailed(
                    f"asked for binding=cores, the record says that ranks {other} and {rank} share hardware"
                    f" thread {cpu} of a node"
                )


def _nodes_of_ranks(table: Path) -> list[tuple[int, str]]:
    """Ranks and their nodes as ranks.csv tells them; none if it does not."""
    try:
        with open(table, newline="") as file:
            return sorted((int(row["rank"]), row["node"]) for row in csv.DictReader(file))
    except (OSError, ValueError, KeyError, TypeError):
        return []
