"""The fixed time of a cycle of the mini-app, measured with a network of next to nothing.

It is a median, unlike the kernel times: one interruption outweighs hundreds of such cycles, and what
interruptions add to cycles of a usual length is in the kernel times already.
"""

from pathlib import Path

import numpy as np

from spikemark.core.launch import Layout
from spikemark.machines.profile import Value
from spikemark.records import record

from . import mini_app
from .effort import Effort
from .site import Site
from .values import repeated

DETAIL = "one neuron on each rank, median of the cycles"


#: Seconds of a cycle with one rank, and with one on every core.
Round = tuple[float, float]


def one_round(site: Site, effort: Effort, folder: Path) -> Round:
    """Runs the mini-app alone and on all cores of a node. Makes `folder` for its files; raises RunFailed."""
    folder.mkdir()
    one = mini_app.run(Layout(1), folder / "one", 1, 1, effort.empty_ms)
    return seconds(one), seconds(mini_app.run(site.full(1), folder / "all", 1, 1, effort.empty_ms))


def values(rounds: list[Round]) -> dict[str, Value]:
    """Values by path, kernels.…."""
    return {
        f"kernels.{group}.cycle": repeated([1e9 * s for s in each], "ns", DETAIL)
        for group, each in zip(("one_core", "full_node"), zip(*rounds, strict=True), strict=True)
    }


def seconds(run: record.Run) -> float:
    """Seconds of the compute phases in a cycle: median over cycles, mean over ranks."""
    return float(np.median(run.compute(), axis=1).mean())
