"""Runs `build/bench_exchange` under mpirun, keeps its raw repetitions, and updates exchanges.parquet."""

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spikemark.core import launch, places, process
from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically

from . import exchange_times
from .kernel_bench import BenchFailed, aligned, digits

if TYPE_CHECKING:
    import pandas as pd

    from .exchange_times import Curve

TABLE = "exchanges.parquet"
NAME = "bench_exchange"
LIMIT_S = 24 * 3600  # per number of ranks
BAD_INPUT = 2


@dataclass(frozen=True)
class Outcome:
    """`table`: what was measured (see `exchange_times.contract`); `raw`: the files with the repetitions.

    `notes`: what a reader of the times must know, exchanges left out among it.
    """

    table: "pd.DataFrame"
    raw: list[Path]
    notes: list[str]

    def content(self) -> dict[str, Any]:
        """All of it as plain data, times in seconds."""
        return {
            "raw": [str(path) for path in self.raw],
            "curves": [_plain(curve) for curve in exchange_times.curves(self.table)],
            "notes": self.notes,
        }


def default_ranks(cores: int) -> list[int]:
    """Powers of two up to the cores, and the cores."""
    return sorted({2**k for k in range(cores.bit_length())} | {cores})


def bench(
    out: Path,
    ranks: list[int] | None = None,
    options: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Measure the exchanges between each number of `ranks` (empty: up to the cores this process may use).

    `options`: those of bench_exchange without their dashes, such as {"filter": "rma"}. For each number of
    ranks, writes `out`/exchanges-TIMESTAMP-RANKS.json and updates `out`/exchanges.parquet before it goes on.
    `progress` is told how many numbers of ranks are done. Raises BadInput for what bench_exchange refuses and
    a missing program; BenchFailed if it fails or measures nothing.
    """
    import pandas as pd

    program, cores = str(places.bench_exchange()), launch.available_cores()
    given = [part for name, value in (options or {}).items() for part in (f"--{name}", str(value))]
    numbers = ranks or default_ranks(cores)
    tables, raws, notes = [], [], []
    for done, number in enumerate(numbers):
        progress(done, len(numbers))
        raw, table, more = _run([program, *given], number, cores, out)
        raws.append(raw)
        notes += [f"{_ranks(number)}: {line}" for line in more]
        if not len(table):
            continue
        notes += _save(out / TABLE, table)
        tables.append(table)
    progress(len(numbers), len(numbers))
    if not tables:
        raise BenchFailed(f"no exchange gave a time: {notes[0] if notes else 'none was left'}")
    return Outcome(pd.concat(tables, ignore_index=True), raws, notes)


def _run(command: list[str], ranks: int, cores: int, out: Path) -> tuple[Path, "pd.DataFrame", list[str]]:
    """The raw file, the table, and what to know about it."""
    started = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="spikemark-") as workspace:
        file = Path(workspace) / "raw.json"
        start = launch.mpirun([*command, "--out", str(file)], ranks, 1, cores)
        status, _, errors = process.watch(start, LIMIT_S)
        if status:
            _refuse(command[0], status, errors)
        raw = out / f"exchanges-{started:%Y%m%dT%H%M%S}.{started.microsecond // 1000:03d}Z-{ranks}.json"
        try:
            text = file.read_text()
            table, notes = exchange_times.repetitions(json.loads(text), raw.name)
        except (OSError, ValueError) as error:  # also BadInput: the user did not write this file
            raise BenchFailed(f"{command[0]}: exit status 0, but no valid JSON: {error}") from None
    write_atomically(raw, text)
    crowded = ranks > cores
    if crowded:
        notes.append(f"oversubscribed, on {cores} cores: the times are no evidence of speed")
    return raw, table.assign(oversubscribed=table["oversubscribed"] | crowded), notes


def _refuse(program: str, status: int | None, errors: str) -> None:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = [line.removeprefix(f"{NAME}: ") for line in lines if line.startswith(f"{NAME}: ")]
    if status == BAD_INPUT and said:
        raise BadInput(said[0])
    reason = (said or lines or ["without a message"])[0]
    raise BenchFailed(f"{program}: exit status {status}: {reason}")


def _save(path: Path, table: "pd.DataFrame") -> list[str]:
    notes = []
    try:
        old = exchange_times.read(path) if path.is_file() else None
    except BadInput as error:
        old = None
        notes.append(f"replaced: {error}")
    write_atomically(path, exchange_times.update(old, table).to_parquet(index=False))
    return notes


def text(outcome: Outcome) -> str:
    """A line for each curve: times at three sizes, and the fit."""
    rows = [_line(curve) for curve in exchange_times.curves(outcome.table)]
    heads = ("exchange", "targets", "fit (us, ns per byte)", "ranks", "skew (us)", "barrier (us)")
    heads += ("smallest", "middle", "largest (us)")
    counts = sorted(set(outcome.table.groupby([*exchange_times.CURVE, "bytes"]).size()))
    return "\n".join([
        f"time of the slowest rank from start to finish, median of {'/'.join(map(str, counts))} repetitions; "
        f"sizes are {_sizes(outcome.table)} bytes per pair of ranks",
        aligned([heads, *rows], words=3),
    ])  # fmt: skip


def fit_in_words(curve: "Curve") -> str:
    """The pieces of a fit, such as `4: 1.20 + 0.31 n`; latency in microseconds, slope in ns per byte."""
    if curve.fit is None:
        return "missing: fewer than 3 sizes"
    return "; ".join(
        f"{p.first}: {digits(1e6 * p.latency_s.value)} + {digits(1e9 * p.seconds_per_byte.value)} n"
        for p in curve.fit.pieces
    )


def _line(curve: "Curve") -> tuple[str, ...]:
    medians = [curve.medians_s[i] for i in (0, len(curve.sizes) // 2, -1)]
    ranks = f"{curve.ranks}{'*' if curve.oversubscribed else ''}"
    times = (digits(1e6 * t) for t in (curve.barrier_s, *medians))
    return (curve.exchange, curve.targets, fit_in_words(curve), ranks, f"{curve.skew_us:g}", *times)


def _sizes(table: "pd.DataFrame") -> str:
    sizes = sorted(set(table["bytes"]))
    return ", ".join(str(n) for n in dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1])))


def _plain(curve: "Curve") -> dict[str, Any]:
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
    return {
        "first": piece.first,
        "last": piece.last,
        "latency_s": piece.latency_s.content(),
        "seconds_per_byte": piece.seconds_per_byte.content(),
    }


def _ranks(number: int) -> str:
    return "1 rank" if number == 1 else f"{number} ranks"


#: Of one machine; mpirun would try to start any number.
MOST_RANKS = 1024


def numbers(text: str) -> list[int]:
    """`1,2,4` as numbers of ranks. Raises BadInput for others than whole numbers from 1 to MOST_RANKS."""
    return list(dict.fromkeys(_numbers(text.split(","))))


def _numbers(parts: Iterable[str]) -> Iterable[int]:
    for part in parts:
        if not (part.strip().isascii() and part.strip().isdigit()) or not 1 <= int(part) <= MOST_RANKS:
            raise BadInput(
                f"--ranks: {shown(part)}; allowed: whole numbers from 1 to {MOST_RANKS}, with commas between"
            )
        yield int(part)
