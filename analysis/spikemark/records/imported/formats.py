"""The formats of cycle times, and the one way from the files of any of them to columns [rank, cycle] in s.

A format is an entry of READERS; the first that recognises a file reads it. It says what a file holds, by our
names of columns; all else is shared: numbers of one shape, ranks that are put together, compute times.
Some formats have only sums over a run (`sums`), which answer fewer questions.

Tables: .npy, .npz, .csv and .parquet. One file holds all ranks, as arrays [rank, cycle] or with the columns
`rank` and, if its lines are not in order, `cycle`. Several files hold one rank each, in the order of the
numbers in their names. An .npy file holds compute times.

Cycle log of NEST 3.10 (docs/other-simulators.md): `nest.cycle_time_log`, in s. `time_update` is the whole
cycle, `time_communicate_spike_data` the collective call (nestkernel/cycle_time_log.cpp).

Structure-aware benchmark (Lober et al. 2026; multi-area-model/model.py of mlober/beNNch-models-morph): one
line per cycle, in s: whole cycle, communication, that of all ranks, that within an area, barrier, spikes.
Whether communication includes the barrier is not documented. The files tell: ranks leave a barrier together
and exchange for about as long, so communication varies among ranks only if it includes the waiting.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd
from pyarrow import parquet

from spikemark.core import memory
from spikemark.core.errors import BadInput, shown
from spikemark.core.npy import read_npy, read_npz
from spikemark.records import otf2_trace
from spikemark.records.arrays import numbers

from .sums import Sums, of_files

COMPUTE, COMMUNICATE, WAIT = COLUMNS = "compute", "communicate", "wait"
WHOLE, RANK, CYCLE, GLOBAL = "cycle_time", "rank", "cycle", "communicate_global"
PROCESSES, CYCLE_MS = FACTS = "processes", "cycle_ms"  # numbers that a program states of the whole run
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
FORMATS = (".npy", ".npz", ".csv", ".parquet")
RANKS, RUNS = "ranks", "runs"
PREFIX, BESIDE = "cycle_time_log_", "logfile_"
SIX = (WHOLE, COMMUNICATE, GLOBAL, "communicate_local", WAIT, "spikes")

OLDER = {"wall_time_sim": "time_simulate", "wall_time_phase_communicate": "time_communicate_spike_data"}
REGIONS = (COMMUNICATE, WAIT, "within")  # what the regions of a trace may be
TABLES = ("unit", "column")  # options of tables

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")

#: Our name of a column or fact -> its name in the files.
Names = dict[str, str]
#: Columns of one file or of all: arrays [rank, cycle] or, of one rank, [cycle].
Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Found:
    """Columns [rank, cycle] in s. All ranks meet in every `meets_every`-th cycle.

    `remarks` say what was left out or is odd.
    """

    columns: Columns
    remarks: tuple[str, ...] = ()
    cycle_ms: float | None = None
    meets_every: int = 1


@dataclass(frozen=True)
class Reader:
    """A format. `files`: a pattern of their names; columns of `needs` are in every file.

    `held`: what a file holds, by `names` there, given those that the user calls columns by. `takes`: which of
    the options `unit` and `column` belong to it. `adjusted`: what columns of several ranks mean, and how
    often these meet. `sums`: of sums over runs, what a line is of, RANKS or RUNS.
    """

    name: str
    summary: str
    files: str
    held: Callable[[Path, Names], dict[str, Any]]
    names: Names
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    adjusted: Callable[[Path, Columns], Found] = lambda path, columns: Found(columns)
    sums: str = ""

    def recognises(self, path: Path) -> bool:
        """Says whether a file is of this format, by its name and, of a table, the names of its columns."""
        if not re.fullmatch(self.files, path.name):
            return False
        named = path.suffix in FORMATS and {self.names[name] for name in self.needs}
        return not named or named <= _columns(path)


def _columns(path: Path) -> set[str]:
    """The names of the columns of an .npz or .csv file."""
    try:
        if path.suffix == ".npz":
            with ZipFile(path) as archive:
                return {name.removesuffix(".npy") for name in archive.namelist()}
        with path.open(errors="replace") as file:
            return {OLDER.get(name, name) for name in file.readline().strip().split(",")}
    except (OSError, BadZipFile):
        return set()


def reader_of(files: list[Path], name: str | None = None) -> Reader:
    """The format of these files. Raises BadInput for none, an unknown name, and several."""
    if name is not None and name not in READERS:
        raise BadInput(f"format={name!r}: expected one of {', '.join(READERS)}")
    if not files:
        raise BadInput("FILE: missing; expected one file, or one for every rank")
    if name is not None:
        return READERS[name]
    first = None
    for path in map(Path, files):
        found = next((one for one in READERS.values() if one.recognises(path)), None)
        if found is None:
            raise BadInput(
                f"{path}: format {path.suffix or 'without a suffix'!r}; expected {', '.join(FORMATS)},"
                f" or --format with one of {', '.join(READERS)}"
            )
        first = first or found
        if found is not first:
            raise BadInput(f"{path}: format {found.name}; expected {first.name}, as {files[0]}")
    return first


def read(
    files: list[Path],
    unit: str | None = None,
    called: Names | None = None,
    skip: int = 0,
    keep: int | None = None,
    form: str | None = None,
) -> Found | Sums:
    """Reads files of another program: times of cycles, or sums.

    `unit`: of tables, needed there and nowhere else. `called`: name of a column here -> its name in the
    files. The first `skip` cycles are left out, and `keep` of the others are kept. Raises BadInput naming the
    file or option and what is wrong.
    """
    reader, files = reader_of(files, form), sorted(map(Path, files), key=of_name)
    seconds = _options(reader, files, unit, called or {})
    if reader.takes == TABLES and called:
        reader = replace(reader, names=reader.names | called, needs=(*called,))
    parts = [contents(path, reader, called or {}) for path in files]
    facts = {name: float(part.pop(name).max()) for part in parts for name in FACTS if name in part}
    if (processes := facts.get(PROCESSES, len(files))) != len(files):
        raise BadInput(f"{files[0]}: num_processes={processes:g}; expected as many files, not {len(files)}")
    if reader.sums:
        if skip or keep:
            raise BadInput(f"{'skip' if skip else 'cycles'}: expected none, since {reader.name} has sums")
        return of_files(reader.name, files, parts, reader.sums == RUNS)
    columns, remarks = together(files, parts)
    found = reader.adjusted(files[0], columns)
    columns, every = computing(found.columns, files[0]), found.meets_every
    cycles = columns[COMPUTE].shape[1]
    if not 0 <= skip < cycles or skip % every:
        raise BadInput(f"skip={skip}: expected 0 to {cycles - 1}, and a multiple of {every}")
    if keep is not None and not 1 <= keep <= cycles - skip:
        raise BadInput(f"cycles={keep}: expected 1 to {cycles - skip}")
    kept = slice(skip, None if keep is None else skip + keep)
    columns = {name: seconds * times[:, kept] for name, times in columns.items()}
    return Found(columns, (*remarks, *found.remarks), facts.get(CYCLE_MS) or None, every)


def _options(reader: Reader, files: list[Path], unit: str | None, called: Names) -> float:
    """The unit in s. Raises BadInput for options that do not belong to the format, and a file given twice."""
    if "unit" in reader.takes and unit not in UNITS:
        given = "unit: missing" if unit is None else f"unit={unit!r}"
        raise BadInput(f"{given}; expected one of {', '.join(UNITS)}, as in --unit ms")
    if "unit" not in reader.takes and unit not in (None, "s"):
        raise BadInput(f"unit={unit!r}: expected no unit, since the format {reader.name} has seconds")
    if called and "column" not in reader.takes:
        raise BadInput(f"column: expected none, since the format {reader.name} names its own")
    known = reader.names if reader.takes == TABLES else REGIONS
    if wrong := [name for name in called if name not in known]:
        raise BadInput(f"column={wrong[0]!r}: expected {', '.join(known)}")
    if len({*files}) < len(files):
        raise BadInput(f"{max(files, key=files.count)}: given twice; expected one file for each rank")
    return UNITS[unit or "s"]


def contents(path: Path, reader: Reader, called: Names) -> Columns:
    """What a file holds as numbers >= 0, NaN where it has none; columns are of one shape, facts are single.

    Raises BadInput where the file is missing or damaged, lacks a column, or holds anything else.
    """
    if not path.is_file():
        raise BadInput(f"{path}: not found", code="file")
    found: Columns = {}
    try:
        held = reader.held(path, called)
        if lacks := [reader.names[name] for name in reader.needs if reader.names[name] not in held]:
            raise BadInput(f"{path}: no column {lacks[0]!r}; expected one of {shown([*held])}")
        for name, theirs in ((name, theirs) for name, theirs in reader.names.items() if theirs in held):
            column = pd.Series(np.ravel(held[theirs]), name=theirs)
            found[name] = numbers(column, "float64", path).to_numpy().reshape(np.shape(held[theirs]))
    except BadInput:
        raise
    except Exception as error:  # whatever readers make of damaged bytes
        what = f"{path.suffix} file".strip()
        raise BadInput(f"{path}: not a whole {what}: {' '.join(str(error).split())}", code="file") from None
    if reader.takes == TABLES and (COMPUTE in found) == (WHOLE in found):
        raise BadInput(f"{path}: columns {shown([*held])}; expected either {COMPUTE} or {WHOLE}")
    for name in found.keys() & FACTS:
        if found[name].size != 1 or np.isnan(found[name]).any():
            raise BadInput(f"{path}: {reader.names[name]}={shown(found[name].tolist())}: expected one number")
    shapes = {name: list(values.shape) for name, values in found.items() if name not in FACTS}
    first = next(iter(shapes.values()))
    for name, shape in shapes.items():
        if shape != first or len(shape) not in (1, 2) or not all(shape) or (RANK in found and len(shape) > 1):
            expected = "[cycle] or [rank, cycle], as in other columns"
            raise BadInput(f"{path}: {reader.names[name]}: shape {shape}; expected {expected}")
    return found


def of_name(path: Path) -> list[int]:
    """The numbers in the name of a file."""
    return [int(n) for n in re.findall(r"\d+", path.name)]


def equal(where: Path, cycles: dict) -> None:
    """Raises BadInput unless all ranks (or files) have as many cycles."""
    least, most = min(cycles, key=cycles.get), max(cycles, key=cycles.get)
    if cycles[least] != cycles[most]:
        raise BadInput(
            f"{where}: rank or file {least} has {cycles[least]} cycles, {most} has {cycles[most]}; expected"
            f" the same of all ranks, or a column `{CYCLE}` of numbers that says which are missing"
        )


def together(files: list[Path], parts: list[Columns]) -> tuple[Columns, tuple[str, ...]]:
    """Columns [rank, cycle] of all files, and what was left out. Raises BadInput for files that differ."""
    first = parts[0]
    for path, columns in zip(files, parts, strict=True):
        if columns.keys() != first.keys():
            raise BadInput(f"{path}: columns {', '.join(columns)}; expected {', '.join(first)}")
    if RANK in first or (CYCLE in first and len(parts) > 1):
        lines = [pd.DataFrame({RANK: number} | one) for number, one in enumerate(parts)]
        return aligned(files[0], pd.concat(lines))
    if len(files) > 1 and next(iter(first.values())).ndim > 1:
        raise BadInput(f"{files[1]}: a second file; expected one alone if it holds all ranks")
    lengths = [next(iter(columns.values())).shape[-1] for columns in parts]
    equal(files[0].parent, dict(zip((path.name for path in files), lengths, strict=True)))
    return {name: np.vstack([columns[name] for columns in parts]) for name in first if name != CYCLE}, ()


def aligned(where: Path, lines: pd.DataFrame) -> tuple[Columns, tuple[str, ...]]:
    """Columns [rank, cycle] from lines with `rank` and perhaps `cycle`; and what was left out.

    Cycles that are not on all ranks are left out. Raises BadInput for cycles that come twice.
    """
    if CYCLE not in lines:
        equal(where, lines[RANK].value_counts(sort=False).to_dict())
        lines = lines.assign(**{CYCLE: lines.groupby(RANK).cumcount()})
    for name in (RANK, CYCLE):
        if lines[name].isna().any():
            raise BadInput(f"{where}: {name}: empty in a line; expected a number in each")
    if len(twice := lines[lines.duplicated([RANK, CYCLE])]):
        rank, cycle = twice[[RANK, CYCLE]].iloc[0]
        raise BadInput(f"{where}: {CYCLE}={cycle:g}: twice on rank {rank:g}; expected each cycle once")
    ranks, every = lines[RANK].nunique(), lines[CYCLE].nunique()
    lines = lines[lines.groupby(CYCLE)[RANK].transform("count") == ranks].sort_values([RANK, CYCLE])
    kept, remarks = len(lines) // ranks, ()
    if 2 * kept < every:
        raise BadInput(f"{where}: {CYCLE}: all ranks have {kept} of {every} cycles; expected half")
    if kept < every:
        remarks = (f"{every - kept} of {every} cycles are not on all ranks and are left out",)
    lines = lines.drop(columns=[RANK, CYCLE])
    return {name: lines[name].to_numpy().reshape(ranks, -1) for name in lines}, remarks


def computing(found: Columns, path: Path) -> Columns:
    """Replaces times of whole cycles by compute times; columns in the order of COLUMNS."""
    if WHOLE in found:
        if COMMUNICATE not in found:
            raise BadInput(f"{path}: {WHOLE} without {COMMUNICATE}; expected both, or {COMPUTE}")
        compute = found[WHOLE] - found[COMMUNICATE]
        if (compute < 0).any():
            rank, cycle = np.argwhere(compute < 0)[0]
            raise BadInput(
                f"{path}: {COMMUNICATE}={found[COMMUNICATE][rank, cycle]:.3g} of rank {rank} in cycle"
                f" {cycle}; expected at most the whole cycle, {found[WHOLE][rank, cycle]:.3g}"
            )
        found = found | {COMPUTE: compute}
    return {name: found[name] for name in COLUMNS if name in found}


# ---------------------------------------------------------------- what a file of each format holds


def _table(path: Path, called: Names) -> dict[str, Any]:
    if path.suffix == ".npy":
        return {called.get(COMPUTE, COMPUTE): read_npy(path)}
    if path.suffix == ".npz":
        return read_npz(path)
    if path.suffix == ".parquet":  # a short file may need more memory than there is
        about = parquet.ParquetFile(path).metadata
        memory.check(8 * about.num_rows * about.num_columns, f"{path}: its table")
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, compression=None)
    held = {str(name).strip(): table[name] for name in table}
    if held and all(NUMBER.fullmatch(name) for name in held):
        raise BadInput(
            f"{path}: the first line holds numbers, {next(iter(held))} first; expected names of columns,"
            f" such as {COMPUTE}, or {RANK},{CYCLE},{COMPUTE}"
        )
    return held


def _six(path: Path, called: Names) -> dict[str, Any]:
    """The columns of a file, and facts of the log beside it."""
    table = pd.read_csv(path, compression=None, sep=r"\s+", header=None, comment="#", dtype=np.float64)
    if table.shape[1] != len(SIX):
        raise ValueError(f"{table.shape[1]} columns; expected {len(SIX)}, {', '.join(SIX)}")
    if table.isna().any(axis=None):
        raise ValueError(f"line {int(table.isna().any(axis=1).idxmax()) + 1} is not complete")
    log = path.with_name(path.name.replace(PREFIX, BESIDE, 1))
    facts = stopwatches(log) if log.is_file() else {}
    return facts | {name: table[number] for number, name in enumerate(SIX)}


def _met(path: Path, columns: Columns) -> Found:
    """Six columns: whether the barrier is a part of communication, and how often all ranks meet."""
    whole, communicate, everywhere, _, wait, _ = (columns[name] for name in SIX)
    spread, without = (x.std(axis=0).sum() for x in (communicate, communicate - wait))
    remarks = ()
    if wait.any() and (wait.sum() > communicate.sum() or spread < without):
        remarks = ("the time at the barrier is taken to be beside the communication, not a part of it",)
        communicate = communicate + wait
    found = {WHOLE: whole, COMMUNICATE: communicate}
    if wait.any():  # else, NEST was not built with a barrier before the exchange
        found[WAIT] = wait
    met, cycles = np.flatnonzero((everywhere > 0).any(axis=0)), everywhere.shape[1]
    every = int(met[0]) + 1 if met.size else 1
    if met.size and not np.array_equal(met, np.arange(every - 1, cycles, every)):
        raise BadInput(
            f"{path}: {GLOBAL}: all ranks exchange in {met.size} of {cycles} cycles, the first in cycle"
            f" {met[0]}; expected every D-th cycle"
        )
    return Found(found, remarks, meets_every=every)


def stopwatches(path: Path, called: Names | None = None) -> dict[str, list[float]]:
    """Numbers by key of a file with `key value` lines; of one for each thread, the largest.

    A list of numbers may go on over several lines.
    """
    found, name = {}, None
    for line in path.read_text(errors="replace").splitlines():
        if begins := re.match(r"([A-Za-z_]\w*) (.*)", line):
            name, line = begins.groups()
            found.pop(name, None)  # later lines of a key count
        words = [word.strip(",") for word in line.strip(" []()\t").split()]
        if name and words and all(NUMBER.fullmatch(word) for word in words):
            found.setdefault(name, []).extend(map(float, words))
        else:
            name = None
    return {name: [max(values)] for name, values in found.items()}


def _bennch(path: Path, called: Names) -> dict[str, Any]:
    return dict(pd.read_csv(path, compression=None).rename(columns=OLDER))


def _trace(path: Path, called: Names) -> dict[str, Any]:
    cycles = otf2_trace.cycles(path, *(called.get(name, "") for name in REGIONS))
    equal(path, {rank: len(times) for rank, times in cycles.items()})
    held = dict(zip(COLUMNS, np.moveaxis(np.array(list(cycles.values())), -1, 0), strict=True))
    return held if called.get(WAIT) else {name: held[name] for name in (COMPUTE, COMMUNICATE)}


SPENT = {COMMUNICATE: "time_communicate_spike_data"}
KERNEL = {PROCESSES: "num_processes", CYCLE_MS: "min_delay"}
STOPWATCHES = SPENT | {WHOLE: "time_simulate", WAIT: "time_mpi_synchronization"}
BENNCH = {
    "nodes": "num_nodes",
    "per_node": "tasks_per_node",
    "model_ms": "model_time_sim",
    "seed": "rng_seed",
}
#: Tables come last: they take any .npz and .csv.
READERS = {one.name: one for one in (
    Reader(
        "nest", "nest.cycle_time_log of NEST 3.10, .npz, one file per rank", r".*\.npz",
        lambda path, called: read_npz(path), SPENT | {WHOLE: "time_update"} | KERNEL, (WHOLE, COMMUNICATE),
    ),
    Reader(
        "structure-aware", "cycle_time_log_<rank> of the structure-aware NEST benchmark, six columns",
        rf"{PREFIX}[^.]*", _six, {name: name for name in SIX} | KERNEL, SIX, adjusted=_met,
    ),
    Reader(
        "nest-sums", "NEST's stopwatches, logfile_<rank> with a `key value` per line: sums only",
        rf"{BESIDE}.*", stopwatches, STOPWATCHES | KERNEL, (WHOLE, COMMUNICATE), sums=RANKS,
    ),
    Reader(
        "bennch", "tables of beNNch, .csv with a line per run: sums only", r".*\.csv", _bennch,
        STOPWATCHES | BENNCH, (WHOLE, COMMUNICATE), sums=RUNS,
    ),
    Reader(
        "otf2", "event traces of Score-P, .otf2: --column communicate=MPI_Alltoall names the call of a cycle",
        r".*\.otf2", _trace, {name: name for name in COLUMNS}, takes=("column",),
        adjusted=lambda path, columns: Found(columns, (otf2_trace.NO_CYCLE,)),
    ),
    Reader(
        "table", "documented layout of .npy, .npz, .csv and .parquet, of any program",
        r".*\.(npy|npz|csv|parquet)", _table, {name: name for name in (*COLUMNS, WHOLE, RANK, CYCLE)},
        takes=TABLES,
    ),
)}  # fmt: skip
