"""The formats of cycle times, and what a file of each holds.

A format is an entry of READERS; the first that recognises a file reads it. To add one, write a
function that returns what a file holds (a `FileContent`), and a `Reader` that says what its columns
are called. All else is shared (`reading`). Some formats have only sums over a run (`sums`), which
answer fewer questions.

Tables: .npy, .npz, .csv and .parquet. One file holds all ranks, as arrays [rank, cycle] or with the
columns `rank` and, if its lines are not in order, `cycle` (`names` has their spellings, `lines`
puts lines together). Several files hold one rank each, and their paths number them (`ranks`). An
.npy file holds compute times, or fields.

Event traces: `otf2_trace`. Formats of NEST: `nest_formats`.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import parquet

from spikemark.core import memory
from spikemark.core.csv_file import read_csv
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.npy import load_npy, read_npz
from spikemark.records import otf2_trace

from .columns import Columns, FileContent, ReadTimes
from .lines import check_lengths
from .names import COMMUNICATE, COMPUTE_COLUMN, SAVED_COLUMNS, WAIT
from .nest_formats import BENNCH_TABLES, NEST, NEST_SUMS, STRUCTURE_AWARE
from .reader import TABLE_ENDINGS, TABLE_OPTIONS, Names, Reader

#: What the regions of a trace may be.
REGIONS = (COMMUNICATE, WAIT, "within")


def _table(path: Path, called: Names) -> FileContent:
    if path.suffix == ".npy":
        array = load_npy(path)
        if array.dtype.names:
            return FileContent({name: array[name] for name in array.dtype.names})
        return FileContent({called.get(COMPUTE_COLUMN, COMPUTE_COLUMN): array})
    if path.suffix == ".npz":
        return FileContent(read_npz(path))
    if path.suffix == ".csv":
        return FileContent(read_csv(path))
    return _parquet(path)


def _parquet(path: Path) -> FileContent:
    file = parquet.ParquetFile(path)
    names = file.schema_arrow.names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        reason = f"two columns {repeated[0]!r}; expected a name of its own for each column"
        raise BadInput(reason, field=repeated[0], file=path)
    about = file.metadata  # a short file may need more memory than there is
    memory.check(8 * about.num_rows * about.num_columns, f"{path}: its table")
    table = pd.read_parquet(path)
    indices = [name for name in table.index.names if name is not None]
    table = table.reset_index(indices)
    return FileContent({str(name).strip(): table[name] for name in table})


ANY_TABLE = Reader(
    name="table",
    summary="documented layout of .npy, .npz, .csv and .parquet, of any program",
    files=r".*\.(npy|npz|csv|parquet)",
    held=_table,
    names={},
    takes=TABLE_OPTIONS,
)


def _trace(path: Path, called: Names) -> FileContent:
    regions = [called.get(name, "") for name in REGIONS]
    cycles = otf2_trace.cycles(path, *regions)
    check_lengths(path, {rank: len(times) for rank, times in cycles.items()})
    by_column = np.moveaxis(np.array(list(cycles.values())), -1, 0)
    columns = dict(zip((COMPUTE_COLUMN, COMMUNICATE, WAIT), by_column, strict=True))
    if not called.get(WAIT):
        del columns[WAIT]
    return FileContent(columns)


def _trace_adjusted(path: Path, columns: Columns) -> ReadTimes:
    return ReadTimes(columns, (otf2_trace.NO_CYCLE,))


TRACES = Reader(
    name="otf2",
    summary=(
        "event traces of Score-P, .otf2: --column communicate=MPI_Alltoall names the call of a"
        " cycle"
    ),
    files=r".*\.otf2",
    held=_trace,
    names={name: name for name in SAVED_COLUMNS},
    takes=("column",),
    adjusted=_trace_adjusted,
)

#: Tables come last: they take any .npz and .csv.
READERS = {
    reader.name: reader
    for reader in (NEST, STRUCTURE_AWARE, NEST_SUMS, BENNCH_TABLES, TRACES, ANY_TABLE)
}


def reader_of(files: list[Path], name: str | None = None) -> Reader:
    """The format of these files: that of a name, or the first that recognises all of them.

    Raises BadInput for none, an unknown name, and several.

    Example:
        >>> reader_of([Path("times.csv")], "table").name
        'table'
    """
    if name is not None and name not in READERS:
        raise unknown_name("format", name, READERS)
    if not files:
        expected = "one file, or one for every rank"
        raise BadInput(
            f"FILE: missing; expected {expected}",
            field="FILE",
            code="missing",
        )
    if name is not None:
        return READERS[name]
    first = _recognised(Path(files[0]))
    for path in map(Path, files[1:]):
        reader = _recognised(path)
        if reader is not first:
            reason = f"format {reader.name}; expected {first.name}, as {files[0]}"
            raise BadInput(reason, field="format", file=path)
    return first


def _recognised(path: Path) -> Reader:
    """The first format that recognises a file. Raises BadInput where none does."""
    for reader in READERS.values():
        if reader.recognises(path):
            return reader
    expected = f"{', '.join(TABLE_ENDINGS)}, or --format with one of {', '.join(READERS)}"
    suffix = path.suffix or "without a suffix"
    raise BadInput(
        f"format {suffix!r}; expected {expected}", field="format", file=path, code="unknown"
    )
