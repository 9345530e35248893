"""The fixed time of a cycle of the mini-app, measured with a network of next to nothing.

It is a median, unlike the kernel times: one interruption outweighs hundreds of such cycles, and what
interruptions add to cycles of a usual length is in the kernel times already.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.machines.profile import Value
from spikemark.presets import mam_benchmark
from spikemark.records import record

from . import mini_app
from .effort import Effort
from .values import repeated

DETAIL = "one neuron on each rank, median of the cycles"


@dataclass(frozen=True)
class Round:
    """Seconds of a cycle with one rank, and with one on every core."""

    one_core: float
    full_node: float


def one_round(cores: int, effort: Effort, folder: Path) -> Round:
    """Runs the mini-app alone and on all cores; `folder` is made for its files. Raises RunFailed."""
    folder.mkdir()
    one = seconds(_run(1, cores, effort, folder / "one"))
    return Round(one, seconds(_run(cores, cores, effort, folder / "all")))


def values(rounds: list[Round]) -> dict[str, Value]:
    """Values by path, kernels.…."""
    return {
        f"kernels.{group}.cycle": repeated([1e9 * getattr(r, group) for r in rounds], "ns", DETAIL)
        for group in ("one_core", "full_node")
    }


def seconds(run: record.Run) -> float:
    """Seconds of the compute phases in a cycle: median over cycles, mean over ranks."""
    return float(np.median(run.compute(), axis=1).mean())


def _run(ranks: int, cores: int, effort: Effort, out: Path) -> record.Run:
    description = mam_benchmark.describe(
        areas=ranks, neurons_per_area=1, indegree=1, simulate_ms=effort.empty_ms, schedule="conventional",
        placement="area",
    )  # fmt: skip
    return mini_app.run(description, ranks, cores, out)
