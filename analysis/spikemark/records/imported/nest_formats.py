"""Formats of NEST: logs of cycles, stopwatches, the structure-aware benchmark, tables of beNNch.

Cycle log of NEST 3.10 (docs/other-simulators.md): `nest.cycle_time_log`, in s. `time_update` is the
whole cycle, `time_communicate_spike_data` the collective call (nestkernel/cycle_time_log.cpp).

Structure-aware benchmark (Lober et al. 2026; multi-area-model/model.py of
mlober/beNNch-models-morph): one line per cycle, in s: whole cycle, communication, that of all
ranks, that within an area, barrier, spikes. Whether communication includes the barrier is not
documented. The files tell: ranks leave a barrier together and exchange for about as long, so
communication varies among ranks only if it includes the waiting.

Stopwatches and tables of beNNch hold sums over whole runs.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.csv_file import read_csv
from spikemark.core.errors import BadInput, short_repr
from spikemark.core.npy import read_npz

from .columns import Columns, FileContent, ReadTimes
from .names import COMMUNICATE, CYCLE_TIME, WAIT
from .reader import CYCLE_MS, LINE_PER_RANK, LINE_PER_RUN, OLDER_NAMES, PROCESSES, Names, Reader

SPENT = {COMMUNICATE: "time_communicate_spike_data"}
KERNEL = {PROCESSES: "num_processes", CYCLE_MS: "min_delay"}
STOPWATCHES = SPENT | {CYCLE_TIME: "time_simulate", WAIT: "time_mpi_synchronization"}
#: Beginning of the names of log files with stopwatches, `logfile_3`.
LOG_PREFIX = "logfile_"
NUMBER_PATTERN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")


def _cycle_log(path: Path, called: Names) -> FileContent:
    return FileContent(read_npz(path))


def _stopwatches(path: Path, called: Names) -> FileContent:
    return FileContent(_stopwatches_in(path))


def _stopwatches_in(path: Path) -> dict[str, list[float]]:
    """Numbers by key of a file with `key value` lines; of one for each thread, the largest.

    A list of numbers may go on over several lines. Later lines of a key count.
    """
    values_of_key: dict[str, list[float]] = {}
    key = None
    for line in path.read_text(errors="replace").splitlines():
        begins = re.match(r"([A-Za-z_]\w*) (.*)", line)
        text = line
        if begins:
            key, text = begins.groups()
            values_of_key.pop(key, None)
        words = [word.strip(",") for word in text.strip(" []()\t").split()]
        if key and words and all(NUMBER_PATTERN.fullmatch(word) for word in words):
            values_of_key.setdefault(key, []).extend(map(float, words))
        else:
            key = None
    return {key: [max(values)] for key, values in values_of_key.items()}


NEST = Reader(
    name="nest",
    summary="nest.cycle_time_log of NEST 3.10, .npz, one file per rank",
    files=r".*\.npz",
    held=_cycle_log,
    names=SPENT | {CYCLE_TIME: "time_update"} | KERNEL,
    needs=(CYCLE_TIME, COMMUNICATE),
)
NEST_SUMS = Reader(
    name="nest-sums",
    summary="NEST's stopwatches, logfile_<rank> with a `key value` per line: sums only",
    files=rf"{LOG_PREFIX}.*",
    held=_stopwatches,
    names=STOPWATCHES | KERNEL,
    needs=(CYCLE_TIME, COMMUNICATE),
    sums=LINE_PER_RANK,
)

GLOBAL = "communicate_global"
SIX_COLUMNS = (CYCLE_TIME, COMMUNICATE, GLOBAL, "communicate_local", WAIT, "spikes")
CYCLES_PREFIX = "cycle_time_log_"


def _six_columns(path: Path, called: Names) -> FileContent:
    """The columns of a file, and facts of the log beside it."""
    table = pd.read_csv(
        path, compression=None, sep=r"\s+", header=None, comment="#", dtype=np.float64
    )
    if table.shape[1] != len(SIX_COLUMNS):
        expected = f"{len(SIX_COLUMNS)}, {', '.join(SIX_COLUMNS)}"
        raise ValueError(f"{table.shape[1]} columns; expected {expected}")
    incomplete = table.isna().any(axis=1)
    if incomplete.any():
        raise ValueError(f"line {int(incomplete.to_numpy().argmax()) + 1} is not complete")
    log = path.with_name(path.name.replace(CYCLES_PREFIX, LOG_PREFIX, 1))
    facts = _stopwatches_in(log) if log.is_file() else {}
    columns = {name: table[number] for number, name in enumerate(SIX_COLUMNS)}
    return FileContent(facts | columns)


def _six_columns_adjusted(path: Path, columns: Columns) -> ReadTimes:
    """Whether the barrier is a part of communication, and how often all ranks meet."""
    communicate = columns[COMMUNICATE]
    wait = columns[WAIT]
    spread = communicate.std(axis=0).sum()
    spread_without_wait = (communicate - wait).std(axis=0).sum()
    remarks: tuple[str, ...] = ()
    if wait.any() and (wait.sum() > communicate.sum() or spread < spread_without_wait):
        remarks = (
            "the time at the barrier is taken to be beside the communication, not a part of it",
        )
        communicate = communicate + wait
    times = {CYCLE_TIME: columns[CYCLE_TIME], COMMUNICATE: communicate}
    if wait.any():  # else, NEST was not built with a barrier before the exchange
        times[WAIT] = wait
    return ReadTimes(times, remarks, meets_every=_meets_every(path, columns[GLOBAL]))


def _meets_every(path: Path, exchange_of_all: np.ndarray) -> int:
    """Every how many cycles all ranks exchange, from their times [rank, cycle] in s.

    Raises BadInput where that is not regular.
    """
    meetings = np.flatnonzero((exchange_of_all > 0).any(axis=0))
    if not meetings.size:
        return 1
    cycles = exchange_of_all.shape[1]
    every = int(meetings[0]) + 1
    if not np.array_equal(meetings, np.arange(every - 1, cycles, every)):
        reason = (
            f"all ranks exchange in {meetings.size} of {cycles} cycles, the first in cycle"
            f" {meetings[0]}; expected every D-th cycle"
        )
        raise BadInput(field=GLOBAL, reason=reason, file=path)
    return every


STRUCTURE_AWARE = Reader(
    name="structure-aware",
    summary="cycle_time_log_<rank> of the structure-aware NEST benchmark, six columns",
    files=rf"{CYCLES_PREFIX}[^.]*",
    held=_six_columns,
    names={name: name for name in SIX_COLUMNS} | KERNEL,
    needs=SIX_COLUMNS,
    adjusted=_six_columns_adjusted,
)

BENNCH = {
    "nodes": "num_nodes",
    "per_node": "tasks_per_node",
    "model_ms": "model_time_sim",
    "seed": "rng_seed",
}


def _bennch(path: Path, called: Names) -> FileContent:
    """The runs whose times are numbers; of others, a remark names line and column."""
    table = read_csv(path)
    used_names = {*STOPWATCHES.values(), *BENNCH.values()}
    name_of_column = {}
    for column in table.names:
        name = OLDER_NAMES.get(column, column)
        if name in used_names:
            name_of_column[column] = name
    if len({*name_of_column.values()}) < len(name_of_column):
        listed = short_repr([*name_of_column])
        reason = f"columns {listed}; expected older or newer names, not both of one"
        raise BadInput(reason, field="columns", file=path)
    columns = {}
    problems: dict[int, BadInput] = {}
    for column, name in name_of_column.items():
        values = table.numbers(column, gaps=True)
        columns[name] = values
        if name in (STOPWATCHES[CYCLE_TIME], STOPWATCHES[COMMUNICATE]):
            for row in np.flatnonzero(np.isnan(values)):
                problem = table.bad_cell(int(row), column, "a time in s")
                problems.setdefault(int(row), problem)
    if len(problems) == len(table.cells) > 0:
        raise problems[0]
    good = [row for row in range(len(table.cells)) if row not in problems]
    remarks = [f"{problems[row]}; this run is left out" for row in sorted(problems)]
    return FileContent({name: values[good] for name, values in columns.items()}, tuple(remarks))


BENNCH_TABLES = Reader(
    name="bennch",
    summary="tables of beNNch, .csv with a line per run: sums only",
    files=r".*\.csv",
    held=_bennch,
    names=STOPWATCHES | BENNCH,
    needs=(CYCLE_TIME, COMMUNICATE),
    sums=LINE_PER_RUN,
)
