"""Times of exchanges on their own, by build/bench_exchange: `spikemark bench --exchange`.

miniapp/FORMAT.md states the JSON of the program. A table of times has a row per repetition, with
the columns of DTYPES: `exchange_s` is the slowest rank's time from start to finish, `barrier_s`
that of a barrier beside it, both medians over the rounds of a repetition. A curve holds the times
of one exchange between one number of ranks, over sizes.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import optimize

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.core.reading import read_text
from spikemark.launch.process import ProgramFailed
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted

from .bench_program import run_bench

FILE = "exchanges.csv"
FOLDER = "bench"  # results of benches lie beside those of the experiments
#: Longest time that exchanges between one number of ranks may take, s.
EXCHANGE_LIMIT_S = 24 * 3600
CURVE = ["exchange", "ranks", "nodes"]  # shared by all times of a curve
DTYPES = {
    "exchange": "str",
    "ranks": "int64",
    "nodes": "int64",
    "bytes": "int64",
    "repetition": "int64",
    "exchange_s": "float64",
    "barrier_s": "float64",
    "oversubscribed": "bool",
    "mpi_library": "str",
}
#: Called with the share that is done, and words on it.
Progress = Callable[[float, str], None]


def folder(machine: str | None = None, root: Path | None = None) -> Path:
    """Where the benches of a machine lie: `root`/bench/MACHINE.

    By default, that of this machine in results/ of the current folder. A login node does not
    count as its cluster.

    Example:
        >>> folder("my-cluster", root=Path("/results")).as_posix()
        '/results/bench/my-cluster'
    """
    return (root or Path("results")).resolve() / FOLDER / (machine or launch.here_name())


def repetitions(content: Any) -> tuple[pd.DataFrame, list[str]]:
    """The table of one JSON of bench_exchange, and the exchanges left out, with reasons.

    Example:
        >>> content = {"ranks": 2, "nodes": 1, "oversubscribed": False, "skipped": []}
        >>> content["provenance"] = {"mpi_library": "Open MPI 5"}
        >>> content["cases"] = [["alltoall", 64]]
        >>> content["measurements"] = [[0, 0, 1e-6, 5e-6]]
        >>> times, skipped = repetitions(content)
        >>> times[["exchange", "bytes", "exchange_s"]].to_dict("records")
        [{'exchange': 'alltoall', 'bytes': 64, 'exchange_s': 5e-06}]
    """
    cases = pd.DataFrame(content["cases"], columns=["exchange", "bytes"])
    columns = ["case", "repetition", "barrier_s", "exchange_s"]
    times = pd.DataFrame(content["measurements"], columns=columns).join(cases, on="case")
    for name in ("ranks", "nodes", "oversubscribed"):
        times[name] = content[name]
    times["mpi_library"] = content["provenance"]["mpi_library"]
    skipped = [f"{case['exchange']}: left out: {case['reason']}" for case in content["skipped"]]
    return _ordered(times), skipped


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns and types of DTYPES, in order. Raises ValueError or KeyError."""
    typed = table[list(DTYPES)].astype(DTYPES)
    times, counts = typed[["exchange_s", "barrier_s"]], typed[["ranks", "nodes", "bytes"]]
    above_zero = np.isfinite(times) & (times > 0)
    if typed.isna().any(axis=None) or not above_zero.all(axis=None):
        raise ValueError("expected times above 0 in every row")
    if (counts < 1).any(axis=None):
        raise ValueError("expected at least one rank, node and byte")
    return typed.sort_values([*CURVE, "bytes", "repetition"], ignore_index=True)


def read_exchange_times(path: Path) -> pd.DataFrame:
    """A table that `bench` wrote. Raises BadInput naming the file.

    Example:
        >>> read_exchange_times(Path("nowhere/exchanges.csv"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/exchanges.csv: not found: run `spikemark ...
    """
    if not path.is_file():
        reason = "not found: run `spikemark bench --exchange`"
        raise BadInput(reason, file=path, code="file")
    try:
        return _ordered(pd.read_csv(io.StringIO(read_text(path))))
    except (ValueError, KeyError) as error:  # errors of pandas are ValueErrors
        reason = " ".join(str(error).split())
        raise BadInput(
            f"not a table of exchanges: {reason}",
            file=path,
            code="file",
        ) from None


def default_ranks(cores: int) -> list[int]:
    """The powers of two up to the number of cores, and that number itself.

    >>> default_ranks(6)
    [1, 2, 4, 6]
    """
    return sorted({cores, *(2**k for k in range(cores.bit_length()))})


def measure(
    layout: launch.LaunchLayout, options: dict[str, Any], launcher: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Times on one layout of ranks, and the exchanges left out, with reasons.

    `options`: of bench_exchange, without dashes. Raises as `bench_program.run_bench`.
    """
    words = []
    for name, value in options.items():
        words += [f"--{name}", str(value)]
    return run_bench("bench_exchange", words, layout, repetitions, launcher, EXCHANGE_LIMIT_S)


@dataclass(frozen=True)
class ExchangeTimes:
    """Times of exchanges that a bench measured."""

    table: pd.DataFrame  #: all of them
    path: Path  #: the file with these and earlier ones
    notes: list[str]  #: what a reader must know


def bench(
    out: Path,
    ranks: list[int] | None = None,
    options: dict[str, Any] | None = None,
    progress: Progress = lambda share, words: None,
    launcher: str | None = None,
    ranks_per_node: int | None = None,
) -> ExchangeTimes:
    """Measures the exchanges between each number of ranks.

    Keeps `out`/exchanges.csv up to date after each number of ranks; new times replace those of the
    same curve.

    Args:
        out: the folder of the file.
        ranks: numbers of ranks; None: up to the cores of the nodes at hand.
        options: of bench_exchange, without dashes.
        progress: called before each number of ranks.
        launcher: mpirun or srun; None: the default of this host.
        ranks_per_node: of all layouts.

    Raises as `measure`, and ProgramFailed if no exchange gave a time.
    """
    cores = sum(launch.nodes_at_hand().cores)
    numbers = ranks or default_ranks(cores)
    path = out / FILE
    tables = []
    notes = []
    with locked(out):
        for done, number in enumerate(numbers):
            progress(done / len(numbers), f"{done} of {len(numbers)}")
            layout = launch.LaunchLayout(number, ranks_per_node=ranks_per_node)
            times, skipped = measure(layout, options or {}, launcher)
            title = counted(number, "rank")
            notes += [f"{title}: {line}" for line in skipped]
            if number > cores:
                times["oversubscribed"] = True
                notes.append(f"{title}: oversubscribed, {cores} cores: no evidence of speed")
            if not times.empty:
                tables.append(times)
                _replace_curves(path, times)
    if not tables:
        raise ProgramFailed(f"no exchange gave a time: {notes[0] if notes else 'none was left'}")
    return ExchangeTimes(pd.concat(tables, ignore_index=True), path, notes)


def _replace_curves(path: Path, times: pd.DataFrame) -> None:
    """Writes times into the file; those of the same curves go."""
    if path.is_file():
        earlier = read_exchange_times(path)
        same_curve = pd.MultiIndex.from_frame(earlier[CURVE]).isin(
            pd.MultiIndex.from_frame(times[CURVE])
        )
        times = _ordered(pd.concat([earlier[~same_curve], times]))
    write_atomically(path, times.to_csv(index=False))


@dataclass(frozen=True)
class Curve:
    """Times of one exchange between one number of ranks, over sizes."""

    exchange: str
    ranks: int
    nodes: int
    oversubscribed: bool  #: more ranks than cores
    sizes: np.ndarray  #: [size], bytes from each rank to each other
    times_s: np.ndarray  #: [repetition, size]
    barrier_s: float  #: median over everything

    @property
    def medians_s(self) -> np.ndarray:
        """Medians over repetitions, [size]."""
        return cast(np.ndarray, np.median(self.times_s, axis=0))

    @property
    def line(self) -> tuple[float, float]:
        """Latency in s and seconds per byte (Hockney 1994).

        Least squares of relative errors, both at least 0.
        """
        rows = np.column_stack([np.ones(len(self.sizes)), self.sizes]) / self.medians_s[:, None]
        latency, per_byte = optimize.nnls(rows, np.ones(len(self.sizes)))[0]
        return float(latency), float(per_byte)


def curves(table: pd.DataFrame) -> Iterator[Curve]:
    """Yields the curves in the order of the table.

    Example:
        >>> times = {"bytes": [4, 64, 4, 64], "repetition": [0, 0, 1, 1]}
        >>> times["exchange_s"] = [1e-6, 3e-6, 1e-6, 3e-6]
        >>> table = pd.DataFrame(times).assign(exchange="alltoall", ranks=2, nodes=1)
        >>> (curve,) = curves(table.assign(oversubscribed=False, barrier_s=1e-6))
        >>> curve.exchange, curve.sizes.tolist(), curve.medians_s.tolist()
        ('alltoall', [4, 64], [1e-06, 3e-06])
    """
    for key, rows in table.groupby(CURVE, sort=False):
        exchange, ranks, nodes = cast(tuple[str, int, int], key)
        times = rows.pivot(
            index="repetition",
            columns="bytes",
            values="exchange_s",
        )
        times = times.sort_index(axis=1)
        yield Curve(
            exchange,
            ranks,
            nodes,
            oversubscribed=bool(rows["oversubscribed"].any()),
            sizes=times.columns.to_numpy(),
            times_s=times.to_numpy(),
            barrier_s=float(rows["barrier_s"].median()),
        )


def exchange_table(times: pd.DataFrame) -> Table:
    """A row per curve: times at three sizes, and the line through all of them.

    Example:
        >>> times = {"bytes": [4, 64, 4, 64], "repetition": [0, 0, 1, 1]}
        >>> times["exchange_s"] = [1e-6, 3e-6, 1e-6, 3e-6]
        >>> measured = pd.DataFrame(times).assign(exchange="alltoall", ranks=2, nodes=1)
        >>> (row,) = exchange_table(measured.assign(oversubscribed=False, barrier_s=1e-6)).rows
        >>> row["exchange"], float(row["smallest_us"]), float(row["largest_us"])
        ('alltoall', 1.0, 3.0)
    """

    def middle_us(curve: Curve) -> float:
        return float(1e6 * curve.medians_s[len(curve.sizes) // 2])

    columns = {
        Column("exchange", "exchange"): lambda curve: curve.exchange,
        Column("ranks", "ranks"): _ranks_marked,
        Column("nodes", "nodes"): lambda curve: curve.nodes,
        Column("latency_us", "latency (µs)", "modelled"): lambda curve: 1e6 * curve.line[0],
        Column("ns_per_byte", "ns per byte", "modelled"): lambda curve: 1e9 * curve.line[1],
        Column("barrier_us", "barrier (µs)", "measured"): lambda curve: 1e6 * curve.barrier_s,
        Column("smallest_us", "smallest (µs)", "measured"): lambda curve: 1e6 * curve.medians_s[0],
        Column("middle_us", "middle (µs)", "measured"): middle_us,
        Column("largest_us", "largest (µs)", "measured"): lambda curve: 1e6 * curve.medians_s[-1],
    }
    sizes = sorted(set(times["bytes"]))
    three_sizes = dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1]))
    words = ", ".join(str(size) for size in three_sizes)
    title = f"Time of the slowest rank, medians; sizes are {words} bytes per pair of ranks"
    return Table.from_items(columns, curves(times), title)


def _ranks_marked(curve: Curve) -> str | int:
    """The ranks of a curve, with a star where they share cores."""
    return f"{curve.ranks}*" if curve.oversubscribed else curve.ranks
