"""Memory of every rank, as `miniapp --explain` counts it before anything is built.

One process of the mini-app counts for all ranks; the answers of the last 64 questions are kept.
"""

import json
import os
import subprocess
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import to_json

from spikemark.core.errors import BadInput
from spikemark.core.places import program
from spikemark.core.single_process import ALONE, session_in
from spikemark.network.placement_text import field_of

from .layout import MachineLayout

TIMEOUT_S = 120  #: of the mini-app


@dataclass(frozen=True)
class Memory:
    """Memory of the ranks of a run, in bytes."""

    stays: np.ndarray  #: [rank], what stays once the network is built
    building: np.ndarray  #: [rank], what building takes on top at most
    synapses: float  #: of the whole network

    @property
    def most(self) -> np.ndarray:
        """The most that each rank holds at any time, [rank]."""
        most: np.ndarray = self.stays + self.building
        return most

    def node_bytes(self, layout: MachineLayout) -> float:
        """Memory of the node that holds most: of its ranks, at any time."""
        return float(np.bincount(layout.node_of, self.most).max())

    @property
    def per_synapse(self) -> float | None:
        """Bytes per synapse; None for a network without synapses."""
        if self.synapses:
            return float(self.most.sum()) / self.synapses
        return None


def of_run(description: dict[str, Any], ranks: int, threads: int) -> Memory:
    """The memory of a run on so many ranks of so many threads.

    Raises BadInput for what the mini-app refuses, and where it is not built.

    Example:
        >>> from spikemark.network.presets import microcircuit
        >>> of_run(microcircuit.describe(), ranks=2, threads=4).most.shape
        (2,)
    """
    placement = description.get("placement")
    if isinstance(placement, str):
        description = description | {"placement": field_of(placement)}
    return _explained(to_json(description), ranks, threads)  # 5 times as fast as json.dumps


def beside(description: dict[str, Any], ranks: int, threads: int) -> Future[Memory]:
    """The same as of `of_run`, counted while something else is computed.

    Example:
        >>> from spikemark.network.presets import microcircuit
        >>> counting = beside(microcircuit.describe(), ranks=2, threads=4)
        >>> counting.result().most.shape
        (2,)
    """
    executor = ThreadPoolExecutor(max_workers=1)
    counting = executor.submit(of_run, description, ranks, threads)
    executor.shutdown(wait=False)
    return counting


@lru_cache(maxsize=64)
def _explained(description: bytes, ranks: int, threads: int) -> Memory:
    """What the mini-app counts for a description in JSON."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "run.json"
        path.write_bytes(description)
        command = [str(program("miniapp")), "--explain", str(path)]
        command += ["--ranks", str(ranks), "--threads", str(threads), "--json"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=os.environ | ALONE | session_in(Path(folder)),
        )
    if done.returncode:
        raise BadInput(done.stderr.strip().removeprefix("miniapp: "), code="file")
    by_rank = json.loads(done.stdout)["per_rank"]
    return Memory(
        stays=_column(by_rank, "memory_bytes"),
        building=_column(by_rank, "building_bytes"),
        synapses=float(_column(by_rank, "synapses").sum()),
    )


def _column(by_rank: list[dict[str, Any]], name: str) -> np.ndarray:
    """A number of every rank, [rank]."""
    return np.array([counts[name] for counts in by_rank], dtype=float)
