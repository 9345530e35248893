"""The data dictionary: what each column of a results folder is, its unit, and where it is from.

Four tables (records/frames.py): `runs`, `phases`, `ranks` and `cycles`. Names and dtypes stand
where the tables are made; headings, meanings and sources in quantities/terms.yaml, once for all
tables. docs/columns.md is generated from here, and Parquet files say the same in the metadata of
their columns.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from spikemark.quantities.terms import AS_THE_RUN, term

from .phases import PHASES
from .record import RANK_COLUMNS
from .runs_table import PART, PHASE_COLUMNS, RUN_COLUMNS, TEXT, unit_of


@dataclass(frozen=True)
class DataColumn:
    """A column of a table of results."""

    name: str
    dtype: str  #: of pandas or numpy
    unit: str  #: "" for a count, a ratio, or no number
    kind: str  #: of its numbers: a key of quantity.KINDS, or `run`: as the run; "" for no number
    means: str  #: a sentence
    source: str  #: file, and field of the file


@dataclass(frozen=True)
class DataTable:
    """A table of results."""

    name: str  #: as in `Frames`
    rows: str  #: what a row is
    dtypes: Mapping[str, str]  #: of each column, in order
    source: str = ""  #: the file of all columns; empty where each has its own
    unit: str = ""  #: of all columns; empty where each has its own

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """All columns, in order.

        Example:
            >>> [column.unit for column in RESULT_TABLES["phases"].columns]
            ['', '', 's', 's', '']
        """
        return tuple(self.column(name) for name in self.dtypes)

    def column(self, name: str) -> DataColumn:
        """What a column is; one that the grid of a sweep added has its name only.

        Example:
            >>> RESULT_TABLES["runs"].column("simulate_s").unit
            's'
        """
        is_part = bool(self.unit)  # as in `cycles`: times of the parts of a cycle
        entry = term(PART + name if is_part else name)
        unit = self.unit or unit_of(name)
        kind = entry.origin or entry.kind
        if name.startswith(PART) or self.unit:
            kind = AS_THE_RUN
        return DataColumn(
            name=name,
            dtype=self.dtypes.get(name, ""),
            unit=unit,
            kind=kind,
            means=entry.means,
            source=self.source or entry.source,
        )


def _tables() -> Iterable[DataTable]:
    """All tables, without the columns that the grid of a sweep adds to `runs`."""
    yield DataTable("runs", "a complete run", RUN_COLUMNS)
    yield DataTable("phases", "a run and a phase of the cycle", PHASE_COLUMNS)
    ranks = {"id": TEXT, **RANK_COLUMNS}
    yield DataTable("ranks", "a run and a rank", ranks, source="ranks.csv")
    cycles = dict.fromkeys(PHASES, "float32")
    yield DataTable(
        "cycles", "a rank and a cycle, for each run", cycles, source="cycles.npy", unit="s"
    )


#: The tables by name.
RESULT_TABLES = {table.name: table for table in _tables()}


def parquet_bytes(frame: pd.DataFrame, table: DataTable) -> bytes:
    """A frame as a Parquet file whose columns say their unit, kind and meaning.

    Args:
        frame: with columns of `table`, and perhaps fields of a grid.
        table: one of RESULT_TABLES.

    Example:
        >>> frame = pd.DataFrame({"id": ["a"], "mean_s": [1.5]})
        >>> file = parquet.read_table(io.BytesIO(parquet_bytes(frame, RESULT_TABLES["phases"])))
        >>> file.schema.field("mean_s").metadata[b"unit"]
        b's'
    """
    content = pa.Table.from_pandas(frame, preserve_index=False)
    fields = []
    for field in content.schema:
        column = table.column(field.name)
        metadata = {
            "unit": column.unit,
            "kind": column.kind,
            "meaning": column.means,
            "source": column.source,
        }
        fields.append(field.with_metadata({key: text for key, text in metadata.items() if text}))
    schema = pa.schema(fields, metadata=content.schema.metadata)
    file = io.BytesIO()
    parquet.write_table(content.cast(schema), file)
    return file.getvalue()


def csv_text(frame: pd.DataFrame, table: DataTable) -> str:
    """A frame as CSV; lines that begin with # come first, one for each column, with its unit.

    Args:
        frame: with columns of `table`, and perhaps fields of a grid.
        table: one of RESULT_TABLES.

    Example:
        >>> frame = pd.DataFrame({"id": ["a"], "mean_s": [1.5]})
        >>> print(csv_text(frame, RESULT_TABLES["phases"]), end="")
        # id: Names the run, its folder and its files.
        # mean_s [s]: Time in a phase over the measured part, mean over ranks.
        "id","mean_s"
        "a",1.5
        >>> pd.read_csv(io.StringIO(csv_text(frame, RESULT_TABLES["phases"])), comment="#").shape
        (1, 2)
    """
    lines = []
    for name in frame.columns:
        column = table.column(str(name))
        unit = f" [{column.unit}]" if column.unit else ""
        means = f": {column.means}" if column.means else ""
        lines.append(f"# {name}{unit}{means}\n")
    return "".join(lines) + frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def markdown(table: DataTable) -> str:
    """The columns of a table, as a table in Markdown for docs/columns.md.

    Example:
        >>> markdown(RESULT_TABLES["phases"]).splitlines()[0]
        '| column | dtype | unit | kind | what it means | from |'
    """
    lines = ["| column | dtype | unit | kind | what it means | from |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for column in table.columns:
        kind = "as the run" if column.kind == AS_THE_RUN else column.kind
        cells = [
            f"`{column.name}`",
            column.dtype,
            column.unit,
            kind,
            column.means,
            column.source,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
