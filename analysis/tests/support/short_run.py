"""Running the mini-app for a moment, for tests of what a network does."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Activity:
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
    (folder / "run.json").write_text(json.dumps(description | {"record": {"spikes": True, "cycles": False}}))
    done = subprocess.run(
        [os.environ.get("SPIKEMARK_MINIAPP", ROOT / "build" / "miniapp"), "run.json", "--out", "out"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    gid, step = np.load(folder / "out" / "spikes.npy").T
    time = description["time"]
    sizes = np.array([population["size"] for population in description["network"]["populations"]])
    counts = np.histogram(gid, bins=np.r_[0, sizes.cumsum()])[0]
    first = round(time["warmup_ms"] / time["resolution_ms"])
    bins = round(time["simulate_ms"] / 3)
    per_bin = np.bincount((step - first) // round(3 / time["resolution_ms"]), minlength=bins)[:bins]
    return Activity(counts / sizes / (time["simulate_ms"] / 1e3), sizes, per_bin)
