"""Runs `build/bench_exchange`, keeps its raw repetitions, and updates exchanges.parquet."""

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core import launch, places
from spikemark.core.errors import BadInput, shown
from spikemark.core.lock import locked
from spikemark.core.process import watch
from spikemark.quantities.words import counted

from . import exchange_times
from .exchange_times import Curve
from .kept import BenchFailed, keep_raw, stamp
from .kernel_bench import Progress, failed

TABLE = "exchanges.parquet"
LIMIT_S = 24 * 3600  # per number of ranks


@dataclass(frozen=True)
class Outcome:
    """`table`: what was measured (see `exchange_times.contract`); `raw`: the files with the repetitions.

    `notes`: what a reader of the times must know, such as exchanges that were left out.
    """

    table: pd.DataFrame
    raw: list[Path]
    notes: list[str]

    def content(self) -> dict[str, Any]:
        """The outcome as plain data, times in seconds."""
        return {
            "raw": [str(path) for path in self.raw],
            "curves": [_plain(curve) for curve in exchange_times.curves(self.table)],
            "notes": self.notes,
        }


def default_ranks(cores: int) -> list[int]:
    """The powers of two up to the number of cores, and that number itself."""
    return sorted({2**k for k in range(cores.bit_length())} | {cores})


def bench(
    out: Path,
    ranks: list[int] | None = None,
    options: dict[str, Any] | None = None,
    progress: Progress = lambda done, total: None,
    launcher: str | None = None,
    ranks_per_node: int | None = None,
) -> Outcome:
    """Measure the exchanges between each number of `ranks` (empty: up to the cores of the nodes at hand).

    `options`: those of bench_exchange without their dashes, such as {"filter": "rma"}. For each number of
    ranks, writes `out`/exchanges-TIMESTAMP-RANKS.json and updates `out`/exchanges.parquet before it goes on.
    `progress` is called with the numbers of ranks that are done; `launcher` is one of launch.LAUNCHERS; None
    stands for the default. Ranks fill the nodes at hand, `ranks_per_node` on each (None: on every core).
    Raises BadInput for what bench_exchange or the launcher refuses, for a missing program, and if another
    command is working in `out`; BenchFailed if it fails or measures nothing.
    """
    program, cores = str(places.program("bench_exchange")), sum(launch.nodes_at_hand().cores)
    given = [part for name, value in (options or {}).items() for part in (f"--{name}", str(value))]
    numbers = ranks or default_ranks(cores)
    tables, raws, notes = [], [], []
    with locked(out):
        for done, number in enumerate(numbers):
            progress(done, len(numbers))
            raw, table, more = _run(
                [program, *given], launch.Layout(number, ranks_per_node=ranks_per_node), cores, out, launcher
            )
            raws.append(raw)
            notes += [f"{counted(number, 'rank')}: {line}" for line in more]
            if not len(table):
                continue
            notes += exchange_times.KEPT.save(out, table)
            tables.append(table)
        progress(len(numbers), len(numbers))
    if not tables:
        raise BenchFailed(f"no exchange gave a time: {notes[0] if notes else 'none was left'}")
    return Outcome(pd.concat(tables, ignore_index=True), raws, notes)


def _run(
    command: list[str], layout: launch.Layout, cores: int, out: Path, launcher: str | None
) -> tuple[Path, pd.DataFrame, list[str]]:
    """Measures with one layout of ranks. Returns the raw file, its table, and what to know about it."""
    raw = out / f"exchanges-{stamp(datetime.now(UTC))}-{layout.ranks}.json"
    with tempfile.TemporaryDirectory(prefix=".exchanges-", dir=out) as workspace:  # seen by all nodes
        file = Path(workspace).absolute() / "raw.json"
        start = launch.launch(launcher, [*command, "--out", str(file)], layout)
        finished = watch(start, LIMIT_S)
        if finished.status != 0:
            if finished.refusal is not None:
                raise BadInput(finished.refusal)
            raise failed(command[0], finished)
        read = partial(exchange_times.repetitions, raw=raw.name)
        table, notes = keep_raw(file, raw, command[0], read)
    crowded = layout.ranks > cores
    if crowded:
        notes.append(f"oversubscribed, on {cores} cores: the times are no evidence of speed")
    return raw, table.assign(oversubscribed=table["oversubscribed"] | crowded), notes


def _plain(curve: Curve) -> dict[str, Any]:
    fit = curve.fit
    return {
        **{name: getattr(curve, name) for name in (*exchange_times.CURVE, "oversubscribed", "mpi_library")},
        "barrier_s": curve.barrier_s,
        "bytes": curve.sizes.tolist(),
        "exchange_s": curve.medians_s.tolist(),
        "fit": None if fit is None else [_piece(p) for p in fit.pieces],
        "ratios": [vars(r) for window in exchange_times.WINDOWS for r in curve.ratios(window)],
    }


def _piece(piece) -> dict[str, Any]:
    fitted = {name: getattr(piece, name).content() for name in ("latency_s", "seconds_per_byte")}
    return {"first": piece.first, "last": piece.last, **fitted}


#: Most ranks on one machine; mpirun would try to start any number.
MOST_RANKS = 1024


def numbers(text: str) -> list[int]:
    """Numbers of ranks from text such as `1,2,4`. Raises BadInput unless all are whole, 1 to MOST_RANKS."""
    for part in text.split(","):
        if not (part.strip().isascii() and part.strip().isdigit()) or not 1 <= int(part) <= MOST_RANKS:
            raise BadInput(
                f"--ranks: {shown(part)}; allowed: whole numbers from 1 to {MOST_RANKS}, separated by commas"
            )
    return list(dict.fromkeys(map(int, text.split(","))))
