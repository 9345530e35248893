"""Runs `build/bench_kernels`, keeps its raw repetitions, and updates kernels.parquet."""

import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.lock import locked
from spikemark.core.process import Finished, started

from . import kernels
from .kept import BenchFailed, keep_raw, stamp

TABLE = "kernels.parquet"
EXPERIMENT = "bench"  # its results lie beside those of the experiments
ALL = "."  # regular expression that every name matches
BUSY = 1.05  # ratio of wall-clock time to CPU time from which the machine counts as disturbed


#: Told how many of how many things are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """`table`: what this run measured (see `kernels.contract`); `dropped`: what could not be used, and why.

    `raw`: the file with the repetitions; `notes`: what a reader of the times must know.
    """

    table: pd.DataFrame
    raw: Path
    dropped: list[str]
    notes: list[str]

    def content(self) -> dict[str, Any]:
        """The outcome as plain data; times in nanoseconds per item."""
        return {
            "raw": str(self.raw),
            "kernels": self.table.to_dict("records"),
            "ratios": kernels.ratios(self.table).to_dict("records"),
            "dropped": self.dropped,
            "notes": self.notes,
        }


def folder(machine: str | None = None, root: Path | None = None) -> Path:
    """The folder with the times of a machine: `MACHINE` in `root`/bench, where `root` is `results`.

    By default, the machine is the one that this process computes on; a login node does not count as its
    cluster.
    """
    return (root or places.root() / "results") / EXPERIMENT / (machine or places.here_name())


def bench(
    out: Path,
    repetitions: int = 5,
    pattern: str = "",
    min_time_s: float = 0.2,
    progress: Progress = lambda done, total: None,
) -> Outcome:
    """Measure the kernels whose names match the regular expression `pattern` (empty: all).

    Every repetition of every kernel and size is one item of a random order, and takes at least `min_time_s`.
    Writes `out`/kernels-TIMESTAMP.json and updates `out`/kernels.parquet. `progress` is called with the
    kernels and sizes that are done. Raises BadInput for values that are not allowed, a pattern without a
    match and a missing program, and if another command is working in `out`; BenchFailed if the program fails
    or gives no time.
    """
    if repetitions < 1:
        raise BadInput(f"repetitions={repetitions}: a whole number >= 1")
    if not 0 < min_time_s < float("inf"):
        raise BadInput(f"min_time={min_time_s}: a number of seconds above 0")
    program = str(places.program("bench_kernels"))
    names = _names(program, pattern)
    options = {
        "filter": pattern or ALL,
        "repetitions": repetitions,
        "min_time": min_time_s,
        "enable_random_interleaving": "true",
        "report_aggregates_only": "false",
        "color": "false",
        "out_format": "json",
    }
    with locked(out):
        raw = out / f"kernels-{stamp(datetime.now(UTC))}.json"
        with tempfile.TemporaryDirectory(dir=out, prefix=".bench-") as workspace:
            options["out"] = Path(workspace) / "raw.json"
            _watch([program, *(f"--benchmark_{n}={x}" for n, x in options.items())], names, progress)
            rows, dropped = keep_raw(options["out"], raw, program, kernels.repetitions)
        if not len(rows):
            raise BenchFailed(f"no kernel gave a time, see {raw}: {dropped[0] if dropped else 'it is empty'}")
        table = kernels.aggregate(rows, raw.name)
        return Outcome(table, raw, dropped, _notes(table) + kernels.KEPT.save(out, table))


def _names(program: str, pattern: str) -> list[str]:
    """The names that the pattern matches; the program decides, since it knows its own regular expressions."""
    listed = _list(program, pattern or ALL)
    if not listed:
        known = sorted({name.split("/")[0] for name in _list(program, ALL)})
        raise BadInput(f"filter: {pattern!r} matches no kernel: there are {', '.join(known)}")
    return listed


def _list(program: str, pattern: str) -> list[str]:
    command = [program, "--benchmark_list_tests=true", f"--benchmark_filter={pattern}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise failed(program, Finished(done.returncode, "", done.stderr))
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def _watch(command: list[str], names: list[str], progress: Progress) -> None:
    """Runs to the end, and calls `progress` for every name that the program prints."""
    waiting = set(names)
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        with started(command, stdout=subprocess.PIPE, stderr=errors) as program:
            progress(0, len(names))
            for line in program.stdout:
                waiting.discard(line.split(maxsplit=1)[0] if line.strip() else "")
                progress(len(names) - len(waiting), len(names))
        if program.wait():
            errors.seek(0)
            raise failed(command[0], Finished(program.returncode, "", errors.read()))


def failed(program: str, finished: Finished) -> BenchFailed:
    """The error to raise if a program ended with another status than 0."""
    silent = not finished.errors.strip() or not 0 < (finished.status or 0) < 128
    ended = "" if silent else f"exit status {finished.status}: "
    return BenchFailed(f"{program}: {ended}{finished.reason}")


def _notes(table: pd.DataFrame) -> list[str]:
    """A warning if the machine was busy: CPU time excludes what ran in between, but caches suffered."""
    slowdown = float((table["real_median_ns"] / table["median_ns"]).median())
    if slowdown < BUSY:
        return []
    return [
        f"the machine was busy: the kernels took {slowdown:.2f} times their CPU time (median);"
        " measure again when it is quiet"
    ]
