"""Large made-up results, and what reading them costs."""

import cProfile
import gc
import pstats
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from planned import grid, write_experiment
from small_network import describe
from synthetic import write_run

from spikemark.records import frames, imported, record
from spikemark.records.collect import collect
from spikemark.report import sweep_page, times_page

COMPUTE_S, SPREAD_S, EXCHANGE_S = 1e-3, 1e-4, 2e-5


class Case(NamedTuple):
    """`make` writes results of size n into a folder, `use` reads them as users do."""

    make: Callable[[Path, int], object]
    use: Callable[[Path], object]
    least: int  # the smallest size at which the costs that grow are seen


def many_runs(folder: Path, runs: int) -> None:
    """A sweep with so many runs, in cells of four repetitions."""
    cells = grid(ranks=(2,), ratios=(1, 2), seeds=range(1, 1 + runs // 16), cycles=100)
    write_experiment(folder, [cell | {"repetition": n} for cell in cells for n in range(1, 5)])


def page_of_runs(folder: Path) -> None:
    """What the end of a sweep does."""
    sweep = frames.load_folder(folder / "demo" / "here")
    assert len(sweep.runs) == len(sweep.planned)
    collect(sweep)
    sweep_page.write(sweep, folder / "report.html")


def few_ranks(folder: Path, cycles: int) -> None:
    """Imported cycle times of four ranks."""
    rng = np.random.default_rng(1)
    compute = rng.normal(COMPUTE_S, SPREAD_S, (4, cycles)).astype(np.float32).clip(SPREAD_S)
    communicate = compute.max(axis=0) - compute + np.float32(EXCHANGE_S)
    about = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": 0.1}
    imported.save(
        folder / "times",
        imported.ReadTimes({"compute": compute, "communicate": communicate}),
        about,
    )


def many_ranks(folder: Path, ranks: int) -> None:
    """A run of so many ranks, and nothing but sums in it."""
    network = describe(areas=2, neurons=max(50, ranks), indegree=4)
    write_run(
        folder / "run", description=network | {"record": {"cycles": False}}, ranks=ranks, cycles=20
    )


CASES = {
    "runs": Case(many_runs, page_of_runs, 16),
    "cycles": Case(
        few_ranks,
        lambda folder: times_page.write(imported.load_cycle_times(folder / "times")),
        5000,
    ),
    "ranks": Case(many_ranks, lambda folder: record.load_run(folder / "run").ranks, 500),
}


def calls_and_bytes(use: Callable[[Path], object], folder: Path) -> tuple[int, int]:
    """Calls of functions, and the largest memory that is held at once; neither depends on other
    programs.

    What is no longer used is given back often, and what was there before is not looked through each
    time, so that the memory does not depend on when Python collects garbage.
    """
    profile = cProfile.Profile()
    profile.runcall(use, folder)
    gc.collect()
    gc.freeze()
    often = gc.get_threshold()
    gc.set_threshold(1000, 2, 2)
    tracemalloc.start()
    use(folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.set_threshold(*often)
    gc.unfreeze()
    return pstats.Stats(profile).total_calls, most
