"""The formats of cycle times, and the one table that all of them fill: columns [rank, cycle] in s.

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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd
from pyarrow import parquet

from spikemark.core import memory
from spikemark.core.errors import BadInput, shown
from spikemark.core.npy import read_npy, read_npz
from spikemark.records import otf2_trace

COMPUTE, COMMUNICATE, WAIT = COLUMNS = "compute", "communicate", "wait"
WHOLE, RANK, CYCLE = "cycle_time", "rank", "cycle"
NAMES = (*COLUMNS, WHOLE, RANK, CYCLE)
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
FORMATS = (".npy", ".npz", ".csv", ".parquet")
LOGGED = {WHOLE: "time_update", COMMUNICATE: "time_communicate_spike_data"}
PREFIX, BESIDE = "cycle_time_log_", "logfile_"
GLOBAL = "communicate_global"
SIX = (WHOLE, COMMUNICATE, GLOBAL, "communicate_local", WAIT, "spikes")
SMALLEST, LARGEST = 1e-9, 1e15  # of numbers that a program states

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")

#: Columns of one file: arrays [rank, cycle] or, of one rank, [cycle].
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
    """A format: `read` gets files in the order of ranks, the unit, and their names of columns by ours.

    `takes`: which of the options `unit` and `column` belong to it.
    """

    name: str
    summary: str
    recognises: Callable[[Path], bool]
    read: Callable[[list[Path], str, dict[str, str]], Found]
    takes: tuple[str, ...] = ()


def contents(path: Path, load: Callable[[Path], dict]) -> dict:
    """What a file holds. Raises BadInput where it is missing or damaged."""
    if not path.is_file():
        raise BadInput(f"{path}: not found", code="file")
    try:
        return load(path)
    except BadInput:
        raise
    except Exception as error:  # whatever readers make of damaged bytes
        what = f"{path.suffix} file".strip()
        raise BadInput(f"{path}: not a whole {what}: {' '.join(str(error).split())}", code="file") from None


def numbers(path: Path, held: dict, called: dict[str, str], *dimensions: int) -> Columns:
    """The columns of a file by our names, all of one shape; `called`: our name -> its name in the file.

    Raises BadInput for what holds no numbers, with the first value that is none.
    """
    found: Columns = {}
    for name, theirs in ((name, theirs) for name, theirs in called.items() if theirs in held):
        values = np.asarray(held[theirs])
        if values.dtype.kind not in "fiu":
            wrong = next(
                (one for one in values.reshape(-1)[:1000].tolist() if not _number(one)), str(values.dtype)
            )
            raise BadInput(f"{path}: {theirs}={shown(wrong)}: expected numbers")
        shape = next(iter(found.values()), values).shape
        if values.ndim not in dimensions or not values.size or values.shape != shape:
            wanted = " or ".join("[cycle]" if n == 1 else "[rank, cycle]" for n in dimensions)
            raise BadInput(
                f"{path}: {theirs}: shape {list(values.shape)}; expected {wanted}, as in other columns"
            )
        found[name] = values.astype(np.float64)
    return found


def _number(value: object) -> bool:
    with suppress(TypeError, ValueError):
        return float(value) == float(value)  # not NaN
    return False


def stated(where: Path, name: str, value: object) -> float:
    """A number that a file states, such as the length of a cycle. Raises BadInput for what cannot be one."""
    given = np.asarray(value)
    number = float(given) if given.shape == () and given.dtype.kind in "fiu" else np.nan
    if not (number == 0 or SMALLEST <= number <= LARGEST):
        raise BadInput(f"{where}: {name}={shown(given.tolist())}: expected 0, or {SMALLEST:g} to {LARGEST:g}")
    return number


def numbers_in(path: Path) -> dict[str, list[float]]:
    """Numbers by key of a file with `key value` lines. A list of numbers may go on over several lines."""
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
    return found


def of_name(path: Path) -> list[int]:
    """The numbers in the name of a file."""
    return [int(n) for n in re.findall(r"\d+", path.name)]


def check_all(files: list[Path], processes: float | None) -> None:
    """Raises BadInput unless there is a file of each rank, of which a program states the number."""
    if processes is not None and processes != len(files):
        raise BadInput(f"{files[0]}: num_processes={processes:g}; expected as many files, not {len(files)}")


def equal(where: Path, cycles: dict) -> None:
    """Raises BadInput unless all ranks (or files) have as many cycles."""
    least, most = min(cycles, key=cycles.get), max(cycles, key=cycles.get)
    if cycles[least] != cycles[most]:
        raise BadInput(
            f"{where}: rank or file {least} has {cycles[least]} cycles, {most} has {cycles[most]}; expected"
            f" the same of all ranks, or a column `{CYCLE}` of numbers that says which are missing"
        )


def stacked(files: list[Path], parts: list[Columns]) -> Columns:
    """Columns [rank, cycle] of files that hold one rank each. Raises BadInput for files that differ."""
    first = parts[0]
    for path, columns in zip(files, parts, strict=True):
        if columns.keys() != first.keys():
            raise BadInput(f"{path}: columns {', '.join(columns)}; expected {', '.join(first)}")
    lengths = [len(next(iter(columns.values()))) for columns in parts]
    equal(files[0].parent, dict(zip((path.name for path in files), lengths, strict=True)))
    return {name: np.stack([columns[name] for columns in parts]) for name in first}


def aligned(where: Path, lines: pd.DataFrame) -> tuple[Columns, tuple[str, ...]]:
    """Columns [rank, cycle] from lines with `rank` and perhaps `cycle`; and what was left out.

    Cycles that are not on all ranks are left out. Raises BadInput for cycles that come twice.
    """
    if CYCLE not in lines:
        equal(where, lines[RANK].value_counts(sort=False).to_dict())
        lines = lines.assign(**{CYCLE: lines.groupby(RANK).cumcount()})
    for name in (RANK, CYCLE):
        if len(wrong := lines.loc[~np.isfinite(lines[name]), name]):
            raise BadInput.of(name, float(wrong.iloc[0]), "whole numbers", file=where)
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


def _held(path: Path, names: dict[str, str]) -> dict:
    """What a file of a table holds, by the names in it."""
    if path.suffix == ".npy":
        return {names[COMPUTE]: read_npy(path)}
    if path.suffix == ".npz":
        return read_npz(path)
    if path.suffix == ".parquet":  # a short file may need more memory than there is
        about = parquet.ParquetFile(path).metadata
        memory.check(8 * about.num_rows * about.num_columns, f"{path}: its table")
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, compression=None)
    return {str(name).strip(): table[name].to_numpy() for name in table}


def _read_tables(files: list[Path], unit: str, called: dict[str, str]) -> Found:
    if unit not in UNITS:
        raise BadInput(f"unit={unit!r}: expected {', '.join(UNITS)}")
    if wrong := [name for name in called if name not in NAMES]:
        raise BadInput(f"column={wrong[0]!r}: expected {', '.join(NAMES)}")
    names, parts = {name: called.get(name, name) for name in NAMES}, []
    for path in files:
        held = contents(path, lambda path: _held(path, names))
        if lacks := [theirs for theirs in called.values() if theirs not in held]:
            raise BadInput(f"{path}: no column {lacks[0]!r}; expected one of {', '.join(held)}")
        if held and all(NUMBER.fullmatch(name) for name in held):
            raise BadInput(
                f"{path}: the first line holds numbers, {next(iter(held))} first; expected names of columns,"
                f" such as {COMPUTE}, or {RANK},{CYCLE},{COMPUTE}"
            )
        if (names[COMPUTE] in held) == (names[WHOLE] in held):
            raise BadInput(f"{path}: columns {', '.join(held)}; expected either {COMPUTE} or {WHOLE}")
        of_lines = len(files) > 1 or names[RANK] in held
        parts.append(numbers(path, held, names, *((1,) if of_lines else (1, 2))))
    first, remarks = parts[0], ()
    if RANK in first or (CYCLE in first and len(parts) > 1):
        lines = [pd.DataFrame(one) for one in parts]
        lines = lines if RANK in first else [one.assign(**{RANK: n}) for n, one in enumerate(lines)]
        columns, remarks = aligned(files[0], pd.concat(lines))
    elif len(parts) > 1:
        columns = stacked(files, parts)
    else:
        columns = {name: np.atleast_2d(values) for name, values in first.items() if name != CYCLE}
    made = computing(columns, files[0])
    return Found({name: UNITS[unit] * times for name, times in made.items()}, remarks)


def _is_nest(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return {f"{LOGGED[name]}.npy" for name in (WHOLE, COMMUNICATE)} <= set(archive.namelist())
    except (OSError, BadZipFile):
        return False


def _read_nest(files: list[Path], unit: str, called: dict[str, str]) -> Found:
    parts, kernel = [], {}
    for path in files:
        held = contents(path, read_npz)
        if lacks := [LOGGED[name] for name in (WHOLE, COMMUNICATE) if LOGGED[name] not in held]:
            raise BadInput(
                f"{path}: no array {lacks[0]!r}; expected nest.cycle_time_log (docs/other-simulators.md)"
            )
        parts.append(numbers(path, held, LOGGED, 1))
        kernel |= {
            name: stated(path, name, held[name]) for name in ("num_processes", "min_delay") if name in held
        }
    check_all(files, kernel.get("num_processes"))
    return Found(computing(stacked(files, parts), files[0]), cycle_ms=kernel.get("min_delay") or None)


def _read_six(files: list[Path], unit: str, called: dict[str, str]) -> Found:
    six = stacked(files, [contents(path, _lines) for path in files])
    log, kernel = files[0].with_name(files[0].name.replace(PREFIX, BESIDE, 1)), {}
    if log.is_file():
        kernel = {name: values[0] for name, values in contents(log, numbers_in).items()}
    check_all(files, kernel.get("num_processes"))
    communicate, wait = six[COMMUNICATE], six.pop(WAIT)
    spread, without = (x.std(axis=0).sum() for x in (communicate, communicate - wait))
    remarks = ()
    if wait.any() and (wait.sum() > communicate.sum() or spread < without):
        remarks = ("the time at the barrier is taken to be beside the communication, not a part of it",)
        six[COMMUNICATE] = communicate + wait
    if wait.any():  # else, NEST was not built with a barrier before the exchange
        six[WAIT] = wait
    return Found(
        computing(six, files[0]), remarks, kernel.get("min_delay") or None, _meetings(files[0], six[GLOBAL])
    )


def _lines(path: Path) -> Columns:
    table = pd.read_csv(path, compression=None, sep=r"\s+", header=None, comment="#", dtype=np.float64)
    if table.shape[1] != len(SIX):
        raise ValueError(f"{table.shape[1]} columns; expected {len(SIX)}, {', '.join(SIX)}")
    if table.isna().any(axis=None):
        raise ValueError(f"line {int(table.isna().any(axis=1).idxmax()) + 1} is not complete")
    return {name: table[number].to_numpy() for number, name in enumerate(SIX)}


def _meetings(path: Path, everywhere: np.ndarray) -> int:
    """Cycles from one exchange of all ranks to the next; 1 where none is marked."""
    met = np.flatnonzero((everywhere > 0).any(axis=0))
    if not met.size or met.size == everywhere.shape[1]:
        return 1
    every = int(met[0]) + 1
    if not np.array_equal(met, np.arange(every - 1, everywhere.shape[1], every)):
        raise BadInput(
            f"{path}: {GLOBAL}: all ranks exchange in {met.size} of {everywhere.shape[1]} cycles, the first"
            f" in cycle {met[0]}; expected every D-th cycle"
        )
    return every


def _read_trace(files: list[Path], unit: str, called: dict[str, str]) -> Found:
    cycles, remark = otf2_trace.cycles(files, called)
    equal(files[0], {rank: len(times) for rank, times in cycles.items()})
    times = np.array(list(cycles.values()))
    columns = {name: times[:, :, at] for at, name in enumerate((COMPUTE, COMMUNICATE, WAIT))}
    if not called.get(WAIT):
        del columns[WAIT]
    return Found(columns, (remark,))


READERS = (
    Reader("nest", "nest.cycle_time_log of NEST 3.10, .npz, one file per rank", _is_nest, _read_nest),
    Reader(
        "structure-aware", "cycle_time_log_<rank> of the structure-aware NEST benchmark, six columns",
        lambda path: path.name.startswith(PREFIX) and path.suffix == "", _read_six,
    ),
    Reader(
        "otf2", "event traces of Score-P, .otf2: --column communicate=MPI_Alltoall names the call of a cycle",
        lambda path: path.suffix == ".otf2", _read_trace, ("column",),
    ),
    Reader(
        "table", "documented layout of .npy, .npz, .csv and .parquet, of any program",
        lambda path: path.suffix in FORMATS, _read_tables, ("unit", "column"),
    ),
)  # fmt: skip
