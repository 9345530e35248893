"""Programs under SimGrid (SMPI): the mini-app, and miniapp/serial/replay.c, which sends messages alone."""

import contextlib
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed, own_line, said, watch
from spikemark.models.loggp import Interconnect
from spikemark.records import run_files

from .platform import Platform, build

LIMIT_S = 24 * 3600.0
PROGRESS, COMPUTE, LOOK_S = "progress", "compute.f32", 0.2
#: Is called with the number of cycles that are done and that of all cycles.
Advance = Callable[[int, int], None]
MISSING = "smpirun: command not found: install the package libsimgrid-dev (setup/apt.txt)"
STACK = "--cfg=contexts/stack-size:128"  # KiB, of a rank that only sends messages
AHEAD = 16  # messages of a replayed rank on their way at a time, as platform.AHEAD


def version() -> str:
    """The version that SimGrid reports. Raises BadInput if it is not installed."""
    if not shutil.which("smpirun"):
        raise BadInput(MISSING)
    return said("smpirun", "-version").strip()


def run(
    folder: Path,
    description: dict[str, Any],
    built: Platform,
    times: np.ndarray,
    advance: Advance | None = None,
    limit_s: float = LIMIT_S,
) -> Path:
    """Run the mini-app in the workspace `folder` and return the folder of its record.

    `times`: compute times as float32 [rank, cycle, phase]. `advance` is called now and then with the cycles
    that rank 0 has done, the warm-up included, and the cycles in all. Raises BadInput for what the mini-app
    refuses, and ProgramFailed if there is no whole record afterwards, which its exit status does not say.
    """
    write_json(folder / "run.json", description)
    np.asarray(times, np.float32).tofile(folder / COMPUTE)
    arguments = ["run.json", "--out", "record", "--progress", PROGRESS, "--compute-times", COMPUTE]
    with _followed(folder / PROGRESS, advance):
        status, output, errors = watch(launch(folder, built, "miniapp_smpi", arguments), limit_s)
    record = folder / "record"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((record / run_files.RECORD).read_text())["status"] == "complete":
            return record
    raise _failure(status, f"{output}\n{errors}")


def launch(folder: Path, built: Platform, program: str, arguments: list[str]) -> Launch:
    """How to start a program (places.program) on all ranks of a platform, which is written to `folder`.

    Arguments that are paths are relative to the folder: smpirun accepts none with spaces.
    """
    (folder / "platform.xml").write_text(built.xml)
    (folder / "hosts").write_text(built.hosts)
    ranks = built.hosts.count("\n")
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [*built.flags, str(places.program(program)), *arguments]
    return Launch(
        ["env", f"--chdir={folder}", *command], {"TMPDIR": ".", "OMP_NUM_THREADS": "1", **built.environment}
    )


@contextlib.contextmanager
def _followed(file: Path, advance: Advance | None) -> Iterator[None]:
    """Now and then calls `advance` with the progress that the mini-app writes to a file."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            with contextlib.suppress(OSError, ValueError):
                done, cycles = np.fromfile(file, dtype=np.uint32)
                advance(int(done), int(cycles))

    thread = threading.Thread(target=look, daemon=True)
    if advance:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if advance:
            thread.join()


def _failure(status: int | None, output: str) -> Exception:
    """BadInput for what the program refused, else ProgramFailed with its most telling line."""
    if refusal := own_line(output):
        return BadInput(refusal)
    lines = [line for line in map(str.strip, output.splitlines()) if "/INFO]" not in line]
    telling = [line for line in lines if "deadlock" in line.lower() or "CRITICAL]" in line]
    return ProgramFailed((telling or lines[-1:] or [f"exit status {status}, no record and no message"])[0])


@dataclass(frozen=True)
class Messages:
    """A hop: `bytes` [sender, receiver], an entry of 0 is an empty message. A set has `size` ranks, which
    differ by multiples of `stride`. In step d, a rank sends to the one d places before it in its set and
    receives from the one d places behind it."""

    bytes: sparse.csr_array
    stride: int
    size: int


def replay(hops: list[Messages], network: Interconnect) -> np.ndarray:
    """Simulated seconds until the last rank has ended each hop, [hop], of ranks that have a node each.

    Only messages are simulated, without spikes: thousands of ranks take minutes. Raises BadInput where
    SimGrid or the program is absent, and ProgramFailed if it prints no times.
    """
    ranks = hops[0].bytes.shape[0]
    version()
    parts = [np.array([ranks, len(hops), AHEAD])]
    for hop in hops:
        entries = hop.bytes.tocoo()
        step = (entries.row // hop.stride - entries.col // hop.stride) % hop.size
        for own, other in ((entries.row, entries.col), (entries.col, entries.row)):
            order = np.lexsort((other, step, own))
            begin = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=ranks))])
            parts += [begin, other[order], np.rint(entries.data[order]), step[order]]
    with tempfile.TemporaryDirectory(prefix="spikemark-replay-") as name:
        np.concatenate([part.astype(np.int32) for part in parts]).tofile(Path(name, "messages"))
        built = build(network, ranks)
        start = launch(Path(name), replace(built, flags=[*built.flags, STACK]), "replay_smpi", ["messages"])
        status, output, errors = watch(start, LIMIT_S)
    rows = [line.split()[2:] for line in output.splitlines() if line.startswith("time ")]
    if len(rows) != len(hops):
        raise _failure(status, f"{output}\n{errors}")
    return 1e-6 * np.array(rows, dtype=float)[:, 0]
