"""Sweeps of synthetic runs to be compared, and times of runs made of real cycles."""

import functools
from pathlib import Path

import numpy as np
import swept
from synthetic import write_run

from spikemark.diff.times import CYCLE, EXCHANGE, WAITING, MeanTime, RunTimes
from spikemark.waiting.bootstrap import means

CYCLE_S = 5e-3  # so that the measured part of a run lasts longer than 0.2 s
QUIET = {"host__foreign_load": 0.0}
OWN_RUN = Path(__file__).parents[1] / "data" / "own-runs" / "two-ranks.npz"
STRETCH, CYCLES = 150, 3000


def sweep(
    folder: Path, slower: float = 1.0, spread: float = 0.01, seed: int = 0, **changes
) -> Path:
    """A sweep of conventional runs whose cycles take `slower` times 5 ms, with a spread.

    `changes` are those of the experiment. Among them, `overrides` go to `write_run`, and
    `slower_of` gives a factor for each run.
    """
    overrides, slower_of = changes.pop("overrides", {}), changes.pop("slower_of", lambda run: 1.0)
    results, runs = swept.planned(folder, **{"repetitions": 5, **changes})
    rng = np.random.default_rng(seed)
    for number, run in enumerate(runs):
        mean_s = CYCLE_S * slower * slower_of(run) * (1 + spread * rng.standard_normal())
        options = {
            "mean_s": mean_s,
            "cv": 0.05,
            "provenance__started": f"2026-01-01T00:00:{number:02d}Z",
        }
        swept.write(results, run, **{**options, **QUIET, **overrides})
    return results.path


def run(folder: Path, **options) -> Path:
    """The record of one run that nothing disturbed."""
    return write_run(folder, **{"cycles": 400, "cv": 0.05, "mean_s": CYCLE_S, **QUIET, **options})


@functools.cache
def _real() -> np.ndarray:
    """Times of a run on a busy machine without long stalls, [cycle], s, mean over ranks."""
    with np.load(OWN_RUN) as phases:
        cycles = sum(phases[name].mean(axis=0, dtype=np.float64) for name in phases.files)
    return np.minimum(cycles, np.quantile(cycles, 0.98))


@functools.cache
def _pool(size: int = 300) -> list[MeanTime]:
    """Means of runs made of stretches of real cycles, with the errors that their cycles imply."""
    rng, real = np.random.default_rng(1), _real()
    pool = []
    for _ in range(size):
        starts = rng.integers(0, len(real) - STRETCH, size=CYCLES // STRETCH)
        cycles = np.concatenate([real[start : start + STRETCH] for start in starts])
        mean = means(cycles[:, None])
        pool.append(MeanTime(float(mean.value[0]), float(mean.draws.std())))
    return pool


def drawn(rng: np.random.Generator, factor: float = 1.0, spread: float = 0.02) -> RunTimes:
    """A run made of stretches of real cycles, longer by `factor` and by a draw of the spread."""
    mean = _pool()[rng.integers(300)]
    longer = factor * (1 + spread * rng.standard_normal())
    part = MeanTime(mean.value * longer, mean.error * longer)
    return RunTimes({CYCLE: part, f"phase.{WAITING}": part, f"cause.{EXCHANGE}": part}, {})


def cycles_s(times: list[RunTimes]) -> list[float]:
    """Their time per cycle in s."""
    return [run_times.parts[CYCLE].value for run_times in times]
