"""Running the mini-app for a moment, for tests of what a network does."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import program


class Activity(NamedTuple):
    """Spikes of a short run: `rates_hz` and `sizes` by population, in the order of the description."""

    rates_hz: np.ndarray
    sizes: np.ndarray
    per_bin: np.ndarray  # spikes of all neurons in bins of 3 ms

    @property
    def mean_hz(self) -> float:
        """Mean over all neurons."""
        return float(self.rates_hz @ self.sizes / self.sizes.sum())


def activity(description: dict, folder: Path) -> Activity:
    """Run `description` in one process with two threads; the spikes do not depend on that."""
    path, time = folder / "run.json", description["time"]
    path.write_text(json.dumps(description | {"record": {"spikes": True, "cycles": False}}))
    program.record_of(folder / "out", description=path, threads=2)
    gid, step = np.load(folder / "out" / "spikes.npy").T
    sizes = np.array([population["size"] for population in description["network"]["populations"]])
    counts = np.histogram(gid, bins=np.r_[0, sizes.cumsum()])[0]
    first, bins = round(time["warmup_ms"] / time["resolution_ms"]), round(time["simulate_ms"] / 3)
    per_bin = np.bincount((step - first) // round(3 / time["resolution_ms"]), minlength=bins)[:bins]
    return Activity(counts / sizes / (time["simulate_ms"] / 1e3), sizes, per_bin)
