"""Starts a sampler of energy (sampler.py) on every node of a run, beside it, and ends it after the run."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from spikemark.core import places

from . import LAUNCHERS, sampler
from .command import Launch
from .layout import Layout, Nodes
from .process import end, started

READY_S = 30.0  # longest wait until every sampler has read once
POLL_S = 0.02
SAID = "said.log"  # what the samplers and their launcher printed: why there are no files
ENDING_S = 20.0  # longest wait until samplers have seen that it is over


def command(nodes: tuple[str, ...], launcher: str, program: list[str]) -> Launch:
    """One process of `program` on each of the nodes; a plain one if that is this host, or none is named."""
    if not nodes or [node.split(".")[0] for node in nodes] == [places.host().split(".")[0]]:
        return Launch(program)
    layout = Layout(len(nodes), ranks_per_node=1, binding="none")
    return LAUNCHERS[launcher].start(program, layout, Nodes((1,) * len(nodes), "the run", nodes))


@contextlib.contextmanager
def sampling(
    folder: Path,
    nodes: tuple[str, ...],
    launcher: str,
    interval_s: float = 0.1,
    sensors: tuple[str, ...] = (),
) -> Iterator[None]:
    """Has the meters of the nodes read into `folder`, which all of them see, while the block runs.

    `nodes`: by name; none: this host. The block starts when every node has read once or has said that it
    cannot, READY_S at the latest. SPIKEMARK_SYSFS names a folder to read instead of /sys. Nothing is raised
    if a sampler fails: its files are missing then, and SAID tells why.
    """
    folder.mkdir(parents=True)
    root = os.environ.get("SPIKEMARK_SYSFS", "/sys")
    program = [sys.executable, str(Path(sampler.__file__).resolve()), str(folder.resolve())]
    program += ["--interval", str(interval_s), "--root", root]
    start = command(nodes, launcher, [*program, *(f"--sensor={name}" for name in sensors)])
    with (
        open(folder / SAID, "w") as said,
        started(
            start.command, start.environment, removed=start.removed, stdout=said, stderr=said
        ) as processes,
    ):
        latest = time.monotonic() + READY_S
        while len(list(folder.glob("*.json"))) < max(1, len(nodes)) and time.monotonic() < latest:
            if processes.poll() is not None:
                break
            time.sleep(POLL_S)
        yield
        (folder / sampler.OVER).touch()  # srun and mpirun may kill what they started when they are ended
        with contextlib.suppress(subprocess.TimeoutExpired):
            processes.wait(timeout=ENDING_S)
        end(processes)
