"""Large made-up results, and what reading them costs.

`python analysis/tests/support/large.py` in the checkout prints the table of docs/reliability.md, each line
from a process of its own.
"""

import cProfile
import gc
import json
import pstats
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

COMPUTE_S, SPREAD_S, EXCHANGE_S = 1e-3, 1e-4, 2e-5


class Case(NamedTuple):
    """`make` writes results of size n into a folder, `use` reads them as users do; `full`: a large n."""

    words: str
    make: Callable[[Path, int], None]
    use: Callable[[Path], None]
    full: int
    least: int  # the smallest size at which the costs that grow are seen


def many_runs(folder: Path, runs: int) -> None:
    """A sweep with so many runs, in cells of four repetitions."""
    from planned import grid, write_experiment

    cells = grid(ranks=(2,), ratios=(1, 2), seeds=range(1, 1 + runs // 16), cycles=100)
    write_experiment(folder, [cell | {"repetition": n} for cell in cells for n in range(1, 5)])


def page_of_runs(folder: Path) -> None:
    """What the end of a sweep does."""
    from spikemark.records.collect import collect
    from spikemark.records.gather import gather
    from spikemark.report import build

    sweep = gather(folder / "demo" / "here")
    assert len(sweep.runs) == len(sweep.planned)
    collect(sweep)
    build(sweep, folder / "report.html")


def many_cycles(folder: Path, cycles: int, ranks: int = 128) -> None:
    """Imported cycle times."""
    from spikemark.records import imported

    rng = np.random.default_rng(1)
    compute = rng.normal(COMPUTE_S, SPREAD_S, (ranks, cycles)).astype(np.float32).clip(SPREAD_S)
    communicate = compute.max(axis=0) - compute + np.float32(EXCHANGE_S)
    about = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": 0.1}
    imported.save(folder / "times", imported.Found({"compute": compute, "communicate": communicate}), about)


def few_ranks(folder: Path, cycles: int) -> None:
    """The same of four ranks, for tests."""
    many_cycles(folder, cycles, 4)


def page_of_times(folder: Path) -> None:
    """What `spikemark report DIR` does."""
    from spikemark.records import imported
    from spikemark.report import times_page

    times_page.write(imported.load(folder / "times"))


def many_ranks(folder: Path, ranks: int) -> None:
    """A run of so many ranks, and nothing but sums in it."""
    from small_network import describe
    from synthetic import write_run

    network = describe(areas=2, neurons=max(50, ranks), indegree=4)
    write_run(folder / "run", description=network | {"record": {"cycles": False}}, ranks=ranks, cycles=20)


def record_of_ranks(folder: Path) -> None:
    """Reading the record with its ranks.csv."""
    from spikemark.records import record

    assert len(record.load(folder / "run").ranks) > 0


CASES = {
    "runs": Case("runs of a sweep: tables and page", many_runs, page_of_runs, 1000, 16),
    "cycles": Case("cycles of 128 ranks: page", many_cycles, page_of_times, 100_000, 5000),
    "ranks": Case("ranks in ranks.csv: record", many_ranks, record_of_ranks, 10_000, 500),
}


def calls_and_bytes(use: Callable[[Path], None], folder: Path) -> tuple[int, int]:
    """Calls of functions, and the largest memory that is held at once; neither depends on other programs.

    What is no longer used is given back often, and what was there before is not looked through each time, so
    that the memory does not depend on when Python collects garbage.
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


def measured(name: str, size: int) -> dict[str, float]:
    """Processor time in s and largest resident memory in bytes of a process that only reads."""
    case = CASES[name]
    with tempfile.TemporaryDirectory(prefix="large-") as folder:
        program = [sys.executable, __file__, name, str(size), folder]
        subprocess.run([*program, "make"], check=True)
        done = subprocess.run([*program, "use"], check=True, capture_output=True, text=True)
    return {"case": case.words, "n": size} | json.loads(done.stdout.splitlines()[-1])


def main(arguments: list[str]) -> None:
    """Prints the table, or does one part of it."""
    if arguments:
        name, size, folder, what = arguments
        case = CASES[name]
        if what == "make":
            return case.make(Path(folder), int(size))
        began, clock = time.process_time(), time.monotonic()
        case.use(Path(folder))
        used = {"processor_s": time.process_time() - began, "clock_s": time.monotonic() - clock}
        return print(json.dumps(used | {"bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
    print("| What | n | Processor time, s | Memory, MB |\n| --- | ---: | ---: | ---: |")
    for name, case in CASES.items():
        for size in (case.full // 4, case.full // 2, case.full):
            found = measured(name, size)
            words = f"{found['processor_s']:.3g} | {found['bytes'] / 1e6:.0f} |"
            print(f"| {found['case']} | {size} | {words}", flush=True)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
