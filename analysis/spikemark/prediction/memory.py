"""Memory of every rank, as `miniapp --explain` counts it before anything is built."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.places import program
from spikemark.network.placement_file import field_of

from .layout import Layout

LONGEST_S = 120
#: A single process of Open MPI that starts no daemon and looks for no network: a third of a second less.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self"}


@dataclass(frozen=True)
class Memory:
    """Bytes, [rank] each: what stays once the network is built, and what building takes on top at most."""

    stays: np.ndarray
    building: np.ndarray
    synapses: float

    @property
    def most(self) -> np.ndarray:
        return self.stays + self.building

    def node_bytes(self, layout: Layout) -> float:
        """Of the fullest node."""
        return float(np.bincount(layout.node_of, self.most).max())

    @property
    def per_synapse(self) -> float | None:
        """Bytes per synapse; None for a network without synapses."""
        return float(self.most.sum()) / self.synapses if self.synapses else None


def of_run(description: dict[str, Any], ranks: int, threads: int) -> Memory:
    """The memory of a run. Raises BadInput for what the mini-app refuses, and where it is not built."""
    if isinstance(description.get("placement"), str):
        description = description | {"placement": field_of(description["placement"])}
    return _explained(json.dumps(description), ranks, threads)


@lru_cache(maxsize=64)
def _explained(description: str, ranks: int, threads: int) -> Memory:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(description)
        command = [program("miniapp"), "--explain", path, "--ranks", str(ranks), "--threads", str(threads)]
        done = subprocess.run(
            [*command, "--json"], capture_output=True, text=True, timeout=LONGEST_S, env=os.environ | ALONE
        )
    if done.returncode:
        raise BadInput(done.stderr.strip().removeprefix("miniapp: "))
    each = json.loads(done.stdout)["per_rank"]
    names = "memory_bytes", "building_bytes", "synapses"
    stays, building, synapses = np.array([[one[name] for one in each] for name in names], dtype=float)
    return Memory(stays, building, float(synapses.sum()))
