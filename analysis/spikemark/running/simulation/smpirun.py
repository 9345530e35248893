"""Programs under SimGrid (SMPI): the mini-app, and one that sends messages alone (replay.c)."""

import contextlib
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed, command_output, watch
from spikemark.launch.why_failed import own_line
from spikemark.models.loggp import Interconnect
from spikemark.records import run_files

from .platform import Platform, build

if TYPE_CHECKING:
    from scipy import sparse

#: Time limit of a simulation, s.
LIMIT_S = 24 * 3600.0
#: The file to which the mini-app writes its progress.
PROGRESS = "progress"
#: The file with compute times.
COMPUTE_FILE = "compute.f32"
#: From look to look at the progress, s.
LOOK_S = 0.2
#: Is called with the number of cycles that are done and that of all cycles.
Advance = Callable[[int, int], None]
MISSING = "smpirun: command not found: install the package libsimgrid-dev (setup/apt.txt)"
#: KiB, of a rank that only sends messages.
STACK = "--cfg=contexts/stack-size:128"
#: Messages of a replayed rank on their way at a time, as platform.AHEAD.
AHEAD = 16


def version() -> str:
    """The version that SimGrid reports. Raises BadInput if it is not installed."""
    if not shutil.which("smpirun"):
        raise BadInput(MISSING, code="file")
    return command_output("smpirun", "-version").strip()


def run(
    folder: Path,
    description: dict[str, Any],
    built: Platform,
    times: np.ndarray,
    advance: Advance | None = None,
    limit_s: float = LIMIT_S,
) -> Path:
    """Runs the mini-app in the workspace `folder`; returns the folder of its record.

    Args:
        folder: exists.
        description: of the run.
        built: the cluster.
        times: compute times, float32 [rank, cycle, phase], s.
        advance: is called now and then with the cycles that rank 0 has done, the warm-up included,
            and the cycles in all.
        limit_s: time after which it is stopped.

    Raises BadInput for what the mini-app refuses, and ProgramFailed if there is no whole record
    afterwards, which its exit status does not say.
    """
    write_json(folder / "run.json", description)
    np.asarray(times, np.float32).tofile(folder / COMPUTE_FILE)
    arguments = [
        "run.json",
        "--out",
        "record",
        "--progress",
        PROGRESS,
        "--compute-times",
        COMPUTE_FILE,
    ]
    start = _launch(folder, built, "miniapp_smpi", arguments)
    with followed(folder / PROGRESS, advance):
        status, output, errors = watch(start, limit_s)
    record = folder / "record"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((record / run_files.RECORD).read_text())["status"] == "complete":
            return record
    raise _failure(status, f"{output}\n{errors}")


def _launch(
    folder: Path,
    built: Platform,
    program: str,
    arguments: list[str],
) -> Launch:
    """How to start a program (places.program) on all ranks of a platform.

    The platform is written to `folder`. Arguments that are paths are relative to the folder:
    smpirun accepts none with spaces.
    """
    (folder / "platform.xml").write_text(built.xml)
    (folder / "hosts").write_text(built.hosts)
    ranks = built.hosts.count("\n")
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [*built.flags, str(places.program(program)), *arguments]
    environment = {"TMPDIR": ".", "OMP_NUM_THREADS": "1", **built.environment}
    return Launch(["env", f"--chdir={folder}", *command], environment)


@contextlib.contextmanager
def followed(file: Path, advance: Advance | None) -> Iterator[None]:
    """Now and then calls `advance` with the progress that the mini-app writes to a file.

    Example:
        >>> with followed(Path("progress"), advance=None):
        ...     print("the program runs")
        the program runs
    """
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


def _failure(status: int | None, output: str) -> Exception:
    """BadInput for what the program refused, else ProgramFailed with its most telling line."""
    refusal = own_line(output)
    if refusal:
        return BadInput(refusal, code="file")
    lines = [line.strip() for line in output.splitlines() if "/INFO]" not in line]
    for line in lines:
        if "deadlock" in line.lower() or "CRITICAL]" in line:
            return ProgramFailed(line)
    if lines:
        return ProgramFailed(lines[-1])
    return ProgramFailed(f"exit status {status}, no record and no message")


@dataclass(frozen=True)
class Messages:
    """The messages of a hop.

    Ranks meet in sets. In step d, a rank sends to the one d places before it in its set and
    receives from the one d places behind it.
    """

    bytes: "sparse.csr_array"  #: [sender, receiver]; an entry of 0 is an empty message
    stride: int  #: ranks of a set differ by multiples of it
    size: int  #: ranks of a set


def replay(hops: list[Messages], network: Interconnect) -> np.ndarray:
    """Simulated seconds until the last rank has ended each hop, [hop], of ranks that have a node
    each.

    Only messages are simulated, without spikes: thousands of ranks take minutes. Raises BadInput
    where SimGrid or the program is absent, and ProgramFailed if it prints no times.
    """
    ranks = hops[0].bytes.shape[0]
    version()
    parts = [np.array([ranks, len(hops), AHEAD])]
    for hop in hops:
        parts += _hop_content(hop, ranks)
    built = build(network, ranks)
    with tempfile.TemporaryDirectory(prefix="spikemark-replay-") as name:
        np.concatenate([part.astype(np.int32) for part in parts]).tofile(Path(name, "messages"))
        with_small_stack = replace(built, flags=[*built.flags, STACK])
        start = _launch(Path(name), with_small_stack, "replay_smpi", ["messages"])
        status, output, errors = watch(start, LIMIT_S)
    rows = [line.split()[2:] for line in output.splitlines() if line.startswith("time ")]
    if len(rows) != len(hops):
        raise _failure(status, f"{output}\n{errors}")
    return 1e-6 * np.array(rows, dtype=float)[:, 0]


def _hop_content(hop: Messages, ranks: int) -> list[np.ndarray]:
    """A hop as replay.c reads it.

    For what is sent, then for what is received: where the messages of each rank begin, and of each
    message the other rank, the bytes and the step.
    """
    entries = hop.bytes.tocoo()
    senders, receivers = entries.row, entries.col
    step = (senders // hop.stride - receivers // hop.stride) % hop.size
    arrays = []
    for this, other in ((senders, receivers), (receivers, senders)):
        order = np.lexsort((other, step, this))
        begin = np.concatenate([[0], np.cumsum(np.bincount(this, minlength=ranks))])
        arrays += [begin, other[order], np.rint(entries.data[order]), step[order]]
    return arrays
