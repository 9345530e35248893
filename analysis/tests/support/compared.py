"""Sweeps of synthetic runs to be compared, and times of runs made of real cycles."""

import functools
from pathlib import Path

import numpy as np
import swept
from synthetic import write_run

from spikemark.diff.times import CYCLE, EXCHANGE, WAITING, Part, Times
from spikemark.waiting.bootstrap import means

QUIET = {"host__foreign_load": 0.0}
OWN = Path(__file__).parents[1] / "data" / "own-runs" / "two-ranks.npz"
STRETCH, CYCLES = 150, 3000


def sweep(folder: Path, slower: float = 1.0, spread: float = 0.01, seed: int = 0, **changes) -> Path:
    """A sweep of conventional runs whose cycles take `slower` times 50 us, with a spread between runs.

    `changes` are those of the experiment. Among them, `overrides` go to `write_run`, and `slower_of` gives a
    factor for each run.
    """
    overrides, slower_of = changes.pop("overrides", {}), changes.pop("slower_of", lambda run: 1.0)
    results, runs = swept.planned(folder, **{"repetitions": 5, **changes})
    rng = np.random.default_rng(seed)
    for number, run in enumerate(runs):
        mean_s = 50e-6 * slower * slower_of(run) * (1 + spread * rng.standard_normal())
        options = {"mean_s": mean_s, "cv": 0.05, "provenance__started": f"2026-01-01T00:00:{number:02d}Z"}
        swept.write(results, run, **{**options, **QUIET, **overrides})
    return results.path


def run(folder: Path, **options) -> Path:
    """The record of one run that nothing disturbed."""
    return write_run(folder, **{"cycles": 400, "cv": 0.05, **QUIET, **options})


@functools.cache
def _real() -> np.ndarray:
    """The times of a cycle in s of a run on a busy machine, mean over ranks, [cycle], without long stalls."""
    with np.load(OWN) as found:
        cycles = sum(found[name].mean(axis=0, dtype=np.float64) for name in found.files)
    return np.minimum(cycles, np.quantile(cycles, 0.98))


@functools.cache
def _pool(size: int = 300) -> list[Part]:
    """Means of runs made of stretches of real cycles, with the errors that their cycles imply."""
    rng, real, found = np.random.default_rng(1), _real(), []
    for _ in range(size):
        starts = rng.integers(0, len(real) - STRETCH, size=CYCLES // STRETCH)
        known = means(np.concatenate([real[at : at + STRETCH] for at in starts])[:, None])
        found.append(Part(float(known.value[0]), float(known.draws.std())))
    return found


def drawn(rng: np.random.Generator, factor: float = 1.0, spread: float = 0.02) -> Times:
    """A run made of stretches of real cycles, all longer by `factor` and by a draw of the spread."""
    of, longer = _pool()[rng.integers(300)], factor * (1 + spread * rng.standard_normal())
    part = Part(of.value * longer, of.error * longer)
    return Times({CYCLE: part, f"phase.{WAITING}": part, f"cause.{EXCHANGE}": part}, {})


def cycles_s(times: list[Times]) -> list[float]:
    """Their time per cycle in s."""
    return [one.parts[CYCLE].value for one in times]
