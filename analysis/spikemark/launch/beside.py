"""Starts a sampler of energy (sampler.py) on every node of a run, beside it, and ends it after the run."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from spikemark.core import places

from . import launch, sampler
from .layout import Launch, Layout, Nodes
from .process import end, started

READY_S, POLL_S = 30.0, 0.02  # longest wait until every sampler has read once, and from look to look
ENDING_S = 20.0  # longest wait until samplers have seen that it is over
SAID = "said.log"  # what the samplers and their launcher printed: why there are no files


@contextlib.contextmanager
def sampling(
    folder: Path, nodes: tuple[str, ...], launcher: str, interval_s: float = 0.1,
    sensors: tuple[str, ...] = (),
) -> Iterator[None]:  # fmt: skip
    """Has the meters of the nodes read into `folder`, which all of them see, while the block runs.

    `nodes`: by name; none: this host. The block starts when every node has read once or has said that it
    cannot, READY_S at the latest. SPIKEMARK_SYSFS names a folder to read instead of /sys. Nothing is raised
    if a sampler fails: its files are missing then, and SAID tells why.
    """
    folder.mkdir(parents=True)
    program = [sys.executable, str(Path(sampler.__file__).resolve()), str(folder.resolve())]
    program += ["--interval", str(interval_s), "--root", os.environ.get("SPIKEMARK_SYSFS", "/sys")]
    start = Launch([*program, *(f"--sensor={name}" for name in sensors)])
    if [node.split(".")[0] for node in nodes] not in ([], [places.host().split(".")[0]]):
        one_each = Layout(len(nodes), ranks_per_node=1, binding="none")
        start = launch(launcher, start.command, one_each, Nodes((1,) * len(nodes), "the run", nodes))
    with open(folder / SAID, "w") as said:
        words = {"removed": start.removed, "stdout": said, "stderr": said}
        with started(start.command, start.environment, **words) as processes:
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
