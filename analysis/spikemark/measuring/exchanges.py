"""Times of exchanges on their own by build/bench_exchange: `spikemark bench --exchange`, and a calibration.

miniapp/FORMAT.md states the JSON of the program. A table of times has a row per repetition, in seconds:
`exchange_s` is the slowest rank's time from start to finish, `barrier_s` that of a barrier beside it, both
medians over the rounds of a repetition.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.launch.process import ProgramFailed
from spikemark.machines.fields import BETWEEN, FULL, LAYOUTS, WITHIN
from spikemark.machines.profile import Value
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted

from .kernels import benched
from .site import ALONE, ONE_NODE, Effort, Site, measured

FILE = "exchanges.csv"
FOLDER = "bench"  # results of benches lie beside those of the experiments
LIMIT_S = 24 * 3600  # per number of ranks
CURVE = ["exchange", "ranks", "nodes"]  # shared by all times of a curve
DTYPES = {
    "exchange": "str", "ranks": "int64", "nodes": "int64", "bytes": "int64", "repetition": "int64",
    "exchange_s": "float64", "barrier_s": "float64", "oversubscribed": "bool", "mpi_library": "str",
}  # fmt: skip
CALIBRATED = ("alltoall", "allgather")
SELECTORS = {"Open MPI": "ompi", "Intel": "impi", "MPICH": "mpich"}


def folder(machine: str | None = None, root: Path | None = None) -> Path:
    """Where the benches of a machine lie: `root`/bench/MACHINE, by default results/ and this machine.

    A login node does not count as its cluster.
    """
    return (root or places.own("results")) / FOLDER / (machine or launch.here_name())


def repetitions(content: Any) -> tuple[pd.DataFrame, list[str]]:
    """The table of one JSON of bench_exchange, and the exchanges left out, with reasons."""
    cases = pd.DataFrame(content["cases"], columns=["exchange", "bytes"])
    rows = pd.DataFrame(content["measurements"], columns=["case", "repetition", "barrier_s", "exchange_s"])
    same = {name: content[name] for name in ("ranks", "nodes", "oversubscribed")}
    same["mpi_library"] = content["provenance"]["mpi_library"]
    skipped = [f"{s['exchange']}: left out: {s['reason']}" for s in content["skipped"]]
    return ordered(rows.join(cases, on="case").assign(**same)), skipped


def ordered(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns and types of DTYPES, in order. Raises ValueError or KeyError."""
    found = table[list(DTYPES)].astype(DTYPES)
    times, counts = found[["exchange_s", "barrier_s"]], found[["ranks", "nodes", "bytes"]]
    if found.isna().any(axis=None) or not (np.isfinite(times) & (times > 0)).all(axis=None):
        raise ValueError("expected times above 0 in every row")
    if (counts < 1).any(axis=None):
        raise ValueError("expected at least one rank, node and byte")
    return found.sort_values([*CURVE, "bytes", "repetition"], ignore_index=True)


def read(path: Path) -> pd.DataFrame:
    """A table that `bench` wrote. Raises BadInput naming the file."""
    if not path.is_file():
        raise BadInput(f"{path}: not found: run `spikemark bench --exchange`", code="file")
    try:
        return ordered(pd.read_csv(path))
    except (ValueError, KeyError) as error:  # errors of pandas are ValueErrors
        raise BadInput(f"{path}: not a table of exchanges: {' '.join(str(error).split())}") from None


def default_ranks(cores: int) -> list[int]:
    """The powers of two up to the number of cores, and that number itself."""
    return sorted({2**k for k in range(cores.bit_length())} | {cores})


def measure(
    layout: launch.Layout, options: dict[str, Any], launcher: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Times on one layout of ranks. `options`: of bench_exchange. Raises as `kernels.benched`."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return benched("bench_exchange", words, layout, repetitions, launcher, LIMIT_S)


@dataclass(frozen=True)
class Bench:
    """`table`: all times; `path`: the file with these and earlier ones; `notes`: what a reader must know."""

    table: pd.DataFrame
    path: Path
    notes: list[str]


def bench(
    out: Path, ranks: list[int] | None = None, options: dict[str, Any] | None = None,
    progress: Callable[[float, str], None] = lambda share, what: None, launcher: str | None = None,
    ranks_per_node: int | None = None,
) -> Bench:  # fmt: skip
    """Measures the exchanges between each number of `ranks` (None: up to the cores of the nodes at hand).

    Keeps `out`/exchanges.csv up to date after each number of ranks; new times replace those of the same
    curve. Raises as `measure`, and ProgramFailed if no exchange gave a time.
    """
    cores, tables, notes = sum(launch.nodes_at_hand().cores), [], []
    numbers, path = ranks or default_ranks(cores), out / FILE
    with locked(out):
        for done, n in enumerate(numbers):
            progress(done / len(numbers), f"{done} of {len(numbers)}")
            layout = launch.Layout(n, ranks_per_node=ranks_per_node)
            found, skipped = measure(layout, options or {}, launcher)
            notes += [f"{counted(n, 'rank')}: {line}" for line in skipped]
            if n > cores:
                found["oversubscribed"] = True
                notes.append(f"{counted(n, 'rank')}: oversubscribed, {cores} cores: no evidence of speed")
            if not len(found):
                continue
            tables.append(found)
            old = read(path) if path.is_file() else found.head(0)
            new = pd.MultiIndex.from_frame(found[CURVE])
            kept = old[~pd.MultiIndex.from_frame(old[CURVE]).isin(new)]
            write_atomically(path, ordered(pd.concat([kept, found])).to_csv(index=False))
    if not tables:
        raise ProgramFailed(f"no exchange gave a time: {notes[0] if notes else 'none was left'}")
    return Bench(pd.concat(tables, ignore_index=True), path, notes)


@dataclass(frozen=True)
class Curve:
    """Times of one exchange over `sizes` [size], bytes from each rank to each other: `times_s` [repetition,
    size]; `barrier_s`: median over everything."""

    exchange: str
    ranks: int
    nodes: int
    oversubscribed: bool
    sizes: np.ndarray
    times_s: np.ndarray
    barrier_s: float

    @property
    def medians_s(self) -> np.ndarray:
        return np.median(self.times_s, axis=0)

    @property
    def line(self) -> tuple[float, float]:
        """Latency in s and seconds per byte (Hockney 1994): least squares of relative errors, both from 0."""
        rows = np.column_stack([np.ones(len(self.sizes)), self.sizes]) / self.medians_s[:, None]
        latency, per_byte = optimize.nnls(rows, np.ones(len(self.sizes)))[0]
        return float(latency), float(per_byte)


def curves(table: pd.DataFrame) -> Iterator[Curve]:
    """Yields the curves in the order of the table."""
    for key, rows in table.groupby(CURVE, sort=False):
        times = rows.pivot(index="repetition", columns="bytes", values="exchange_s").sort_index(axis=1)
        sizes, barrier = times.columns.to_numpy(), float(rows["barrier_s"].median())
        yield Curve(*key, bool(rows["oversubscribed"].any()), sizes, times.to_numpy(), barrier)


def shown(times: pd.DataFrame) -> Table:
    """A row per curve: times at three sizes, and the line through all of them."""

    columns = {
        Column("exchange", "exchange"): lambda c: c.exchange,
        Column("ranks", "ranks"): lambda c: f"{c.ranks}*" if c.oversubscribed else c.ranks,
        Column("nodes", "nodes"): lambda c: c.nodes,
        Column("latency_us", "latency (µs)", "modelled"): lambda c: 1e6 * c.line[0],
        Column("ns_per_byte", "ns per byte", "modelled"): lambda c: 1e9 * c.line[1],
        Column("barrier_us", "barrier (µs)", "measured"): lambda c: 1e6 * c.barrier_s,
        Column("smallest_us", "smallest (µs)", "measured"): lambda c: 1e6 * c.medians_s[0],
        Column("middle_us", "middle (µs)", "measured"): lambda c: 1e6 * c.medians_s[len(c.sizes) // 2],
        Column("largest_us", "largest (µs)", "measured"): lambda c: 1e6 * c.medians_s[-1],
    }
    sizes = sorted(set(times["bytes"]))
    three = ", ".join(map(str, dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1]))))
    title = f"Time of the slowest rank, medians; sizes are {three} bytes per pair of ranks"
    return Table.of(columns, curves(times), title)


# ---------------------------------------------------------------- calibration

#: Times by layout of ranks (machines/fields).
Tables = dict[str, pd.DataFrame]


def one_round(site: Site, effort: Effort, folder: Path, earlier: list[Tables]) -> Tables:
    """One repetition for a calibration; nothing on one core alone. Raises ProgramFailed."""
    options = {"filter": f"^({'|'.join(CALIBRATED)})$", "bytes": ",".join(map(str, effort.bytes)),
               "repetitions": 1, "min-time": effort.exchange_s}  # fmt: skip
    ways = {
        WITHIN: ([n for n in default_ranks(site.cores) if n > 1], site.cores),
        BETWEEN: (site.sizes, 1),
        FULL: ([n * site.cores for n in site.sizes if site.cores > 1], site.cores),
    }
    found: Tables = {}
    for layout, (ranks, each) in ways.items():
        tables = [measure(launch.Layout(n, ranks_per_node=each), options)[0] for n in ranks]
        if tables:
            found[layout] = pd.concat(tables)
    return found


def values(rounds: list[Tables], site: Site) -> tuple[dict[str, Any], dict[str, str]]:
    """Tables and selector by path, interconnect.…, and what is unknown about it, with reasons."""
    found: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    for layout in LAYOUTS:
        parts = [each[layout] for each in rounds if layout in each]
        if not parts:
            unknown[f"interconnect.{layout}"] = ALONE if layout == WITHIN or site.nodes > 1 else ONE_NODE
            continue
        table = pd.concat(parts)
        for name in CALIBRATED:
            groups = table[table["exchange"] == name].groupby(["ranks", "bytes"])["exchange_s"]
            found[f"interconnect.{layout}.{name}"] = _rows(groups)
        barriers = table.assign(bytes=0).groupby(["ranks", "bytes"])["barrier_s"]
        found[f"interconnect.{layout}.barrier"] = _rows(barriers)
    libraries = [table["mpi_library"].iloc[0] for each in rounds for table in each.values()]
    if not libraries:
        return found, unknown | {"interconnect.selector": ALONE}
    for start, name in SELECTORS.items():
        if libraries[0].startswith(start):
            found["interconnect.selector"] = measured(name, None, detail=libraries[0].split(",")[0])
    return found, unknown


def _rows(groups) -> Value:
    """A table of medians in us; its reference says how far repetitions are apart."""
    low, high = (groups.min() / groups.median()).min(), (groups.max() / groups.median()).max()
    rows = [(int(ranks), int(size), 1e6 * float(s)) for (ranks, size), s in groups.median().items()]
    detail = f"medians; single repetitions are {low:.2g} to {high:.2g} times as long"
    return measured(rows, "us", detail=detail)
