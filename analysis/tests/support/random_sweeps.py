"""Random sweeps with planted times: schedules, D, ranks, seeds, a further field, gaps, failures and
ties.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import swept

from spikemark.records.frames import Frames, load_folder

CYCLES = 60


@dataclass(frozen=True)
class Sweep:
    """A random sweep, as read from its folder. `complete`: no run is missing or failed."""

    frames: Frames
    complete: bool


def random_sweep(folder: Path, seed: int, planted: bool = True) -> Sweep:
    """Write and read a random sweep.

    `planted`: real-time factors are drawn, with ties; else they follow from the cycle times, so
    that the parts of a cycle add up to them.
    """
    rng = np.random.default_rng(seed)
    grid = _grid(rng)
    ranks = [[1], [2], [1, 2], [1, 2, 4]][rng.integers(4)]
    options = swept.OPTIONS | {
        "areas": 4,
        "neurons_per_area": 20,
        "indegree": 4,
        "simulate_ms": CYCLES / 10,
    }
    results, runs = swept.planned(
        folder,
        grid=grid,
        ranks=ranks,
        seeds=list(range(1, 2 + rng.integers(4))),
        repetitions=int(1 + rng.integers(2)),
        preset={"name": "mam-benchmark", "options": options},
    )
    gaps = [0.0, 0.1, 0.4][rng.integers(3)]
    noise = [0.0, 0.01, 0.2][rng.integers(3)]
    factors: dict[tuple, float] = {}
    complete = True
    for run in runs:
        fate = rng.random()
        if fate < gaps:
            complete = False
            if fate < gaps / 2:
                results.failure(run.id).parent.mkdir(exist_ok=True)
                results.failure(run.id).write_text("killed\n")
            continue
        description = run.description
        setup = (
            description["schedule"],
            description["delay_ratio"],
            run.ranks,
            description.get("exchange"),
        )
        factor = factors.setdefault(
            setup, float(rng.choice([0.5, 0.8, 1.0, rng.uniform(0.3, 2.0)]))
        )
        times = {}
        if planted:
            lasts_s = factor * (1 + 0.3 * run.seed) * float(np.exp(noise * rng.standard_normal()))
            model_s = CYCLES * 1e-4
            times = {"timing__simulate_s": lasts_s, "timing__real_time_factor": lasts_s / model_s}
        swept.write(results, run, cycles=CYCLES, mean_s=1e-2 * factor, **times)
    return Sweep(load_folder(results.path), complete)


def _grid(rng: np.random.Generator) -> list[dict]:
    """Entries of schedules, sometimes with a further field that makes cases, or exchanges."""
    grid: list[dict] = []
    plain = [name for name in ("conventional", "placement_only") if rng.random() < 0.8]
    if plain:
        grid.append({"schedule": plain})
    ratios = [d for d in (1, 2, 5, 10) if rng.random() < 0.5]
    if ratios or not grid:
        grid.append({"schedule": "structure_aware", "delay_ratio": ratios or [10]})
    further = [{}, {"preset.rate": [5, 20]}, {"exchange": ["alltoallv", "neighbor"]}][
        rng.integers(3)
    ]
    return [{**entry, **further} for entry in grid]
