"""Carries a method out: shows progress, keeps to a time limit, and goes on after an interruption."""

import hashlib
import io
import math
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.npz import read_npz
from spikemark.network.placement_file import Placement

from .graph import Graph
from .methods import weighted
from .problem import Method, Pieces, Problem, State, unevenness_of
from .traffic import check_memory

KEPT_EVERY_S, SAID_EVERY_S = 10.0, 5.0


@dataclass(frozen=True)
class Divided:
    """A placement, and what it took; `finished` is false where the time limit ended the method."""

    placement: Placement
    seconds: float
    finished: bool


def divide(
    graph: Graph,
    ranks: int,
    method: Method,
    seed: int = 1,
    capacity: np.ndarray | None = None,
    time_limit_s: float | None = None,
    kept: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
    clock: Callable[[], float] = time.monotonic,
) -> Divided:
    """Place the graph on so many ranks, equal ones or with `capacity` [ranks] as of `weights.capacity`.

    `kept` is a file for the state of the method. It is written every few seconds, read at the next start with
    the same graph, ranks, method and seed, and stays; whoever has kept a finished placement removes it. The
    time limit counts from this start. `clock` says what it counts: seconds that pass, or those of the
    processor. A method that does not search ends by itself, whatever the limit.
    Raises BadInput for fewer than one rank, for more ranks than neurons, or than memory is for, and for a
    method that knows equal ranks only.
    """
    if capacity is not None and not method.weighted:
        raise BadInput(f"--weights: method {method.name!r} knows equal ranks only; allowed: {weighted()}")
    if not 1 <= ranks <= graph.neurons:
        raise BadInput(f"ranks={ranks}: 1 to {graph.neurons}, the number of neurons")
    began = clock()
    check_memory(ranks)
    if method.direct is not None:
        problem = Problem(graph, ranks, Pieces.cut(np.ones(graph.atoms, np.int64)), seed, capacity)
        return Divided(method.direct(problem), clock() - began, True)
    smallest = ranks if capacity is None else math.ceil(ranks / capacity.min())  # as if all were that small
    problem = Problem(graph, ranks, Pieces.cut(method.cut(graph, smallest)), seed, capacity)
    key = _key(problem, method.name)
    earlier = _earlier(kept, key)
    if earlier is not None:
        say(f"going on from {kept}")
    state, finished, saved, said = earlier, True, began, began
    for state in method.place(problem, earlier):
        now = clock()
        if method.searches and time_limit_s is not None and now - began >= time_limit_s:
            finished = False
            break
        if kept is not None and now - saved >= KEPT_EVERY_S:
            _keep(kept, key, state)
            saved = now
        if now - said >= SAID_EVERY_S:
            size, out = unevenness_of(problem.loads, state["rank"], problem.capacity)
            say(f"{now - began:.0f} s: largest over mean {size:.3f} neurons, {out:.3f} traffic of voxels")
            said = now
    if kept is not None and (saved > began or not finished):
        _keep(kept, key, state)
    return Divided(problem.placement(state["rank"], method.name), clock() - began, finished)


def _key(problem: Problem, method: str) -> str:
    """What a state belongs to, in short."""
    digest = hashlib.sha256(f"{method} {problem.ranks} {problem.seed}".encode())
    g = problem.graph
    for part in (g.sizes, g.miss.indptr, g.miss.data, problem.pieces.of, problem.capacity):
        digest.update(np.ascontiguousarray(part))
    return digest.hexdigest()


def _keep(path: Path, key: str, state: State) -> None:
    stream = io.BytesIO()
    np.savez(stream, key=key, digest=_digest(state), **state)
    write_atomically(path, stream.getvalue())


def _digest(state: State) -> str:
    """Of the names, types, shapes and values of a state, by which a damaged one is known."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        array = np.ascontiguousarray(values)
        digest.update(f"{name} {array.dtype} {np.shape(values)} ".encode() + array.tobytes())
    return digest.hexdigest()


def _earlier(path: Path | None, key: str) -> State | None:
    """The state in the file; None where there is none, that of another question, or a damaged one."""
    if path is None or not path.is_file():
        return None
    try:
        file = read_npz(path)
        ours, whole = str(file.pop("key")) == key, str(file.pop("digest"))
        return file if ours and _digest(file) == whole else None
    except (BadInput, OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None  # not whole: the method restarts
