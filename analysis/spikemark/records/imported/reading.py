"""The one way from the files of another program to columns [rank, cycle] in s, or to sums.

Of any format: the format (`formats`) says what each file holds; here, names become ours (`names`),
numbers get one shape and one unit, files and lines are put together by rank (`ranks`, `lines`), and
times of whole cycles become compute times.
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.csv_file import is_value
from spikemark.core.errors import BadInput, short_repr, unknown_name
from spikemark.core.reading import check_file
from spikemark.records.arrays import check_possible

from .columns import Columns, FileColumns, FileContent, FileTimes, ReadTimes
from .durations import check_durations
from .formats import REGIONS, reader_of
from .lines import together
from .names import (
    COMMUNICATE,
    COMPUTE_COLUMN,
    CYCLE,
    CYCLE_TIME,
    MEANINGS,
    RANK,
    SAVED_COLUMNS,
    TIME_MEANINGS,
    UNIT_OF,
    UNITS,
    NamedColumn,
    columns_of,
    holds_units,
)
from .ranks import in_order_of_ranks
from .reader import CYCLE_MS, FACTS, LINE_PER_RANK, LINE_PER_RUN, PROCESSES, Names, Reader
from .sums import Sums, sums_of_files


def read_times(
    files: list[Path],
    unit: str | None = None,
    called: Names | None = None,
    skip: int = 0,
    keep: int | None = None,
    form: str | None = None,
) -> ReadTimes | Sums:
    """Reads files of another program: times of cycles, or sums.

    Args:
        files: one for all ranks, or one for each.
        unit: of tables, needed where the names of their columns hold none, and nowhere else.
        called: name of a column here -> its name in the files.
        skip: how many cycles are left out at the begin.
        keep: how many of the others are kept; None: all.
        form: name of the format; None: it is recognised.

    Raises BadInput naming the file or option and what is wrong.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> times = np.random.default_rng(1).normal(1.0, 0.1, (4, 100))  # [rank, cycle]
        >>> with TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "times.npy"), times)
        ...     columns = read_times([Path(folder, "times.npy")], unit="ms").columns
        >>> {name: values.shape for name, values in columns.items()}
        {'compute': (4, 100)}
    """
    files = [Path(path) for path in files]
    called = called or {}
    reader = reader_of(files, form)
    _check_options(reader, files, unit, called)
    remarks: list[str] = []
    if reader.sums == LINE_PER_RANK:
        files, remarks = in_order_of_ranks(files)
    parts = [_read_file(path, reader, called, unit) for path in files]
    facts = _facts_of(files, parts)
    for part in parts:
        remarks += part.remarks
    if reader.sums:
        _check_no_cycles_chosen(reader, skip, keep)
        sums = [part.columns.columns for part in parts]
        return sums_of_files(reader.name, files, sums, reader.sums == LINE_PER_RUN, remarks)
    unused = dict.fromkeys(itertools.chain.from_iterable(part.unused for part in parts))
    if unused:
        remarks.append(f"columns that are not used: {', '.join(unused)}")
    columns, first_rank, left_out = together(files, [part.columns for part in parts])
    times = reader.adjusted(files[0], columns)
    for name, column in times.columns.items():
        check_possible(column, name, files[0])
    check_durations(str(files[0]), times.columns, first_rank)
    columns = _with_computing(times.columns, files[0], first_rank)
    columns = _from_to(columns, skip, keep, times.meets_every)
    units = sorted({*itertools.chain.from_iterable(part.units for part in parts)})
    return ReadTimes(
        columns,
        remarks=(*remarks, *left_out, *times.remarks),
        cycle_ms=facts.get(CYCLE_MS) or None,
        meets_every=times.meets_every,
        first_rank=first_rank,
        unit=", ".join(units),
    )


def _facts_of(files: list[Path], parts: list[FileTimes]) -> dict[str, float]:
    """Numbers that files state of the whole run. Raises BadInput where files are missing."""
    facts: dict[str, float] = {}
    for part in parts:
        facts |= part.facts
    processes = facts.get(PROCESSES, len(files))
    if processes != len(files):
        reason = f"num_processes={processes:g}; expected as many files, not {len(files)}"
        raise BadInput(reason, field="num_processes", file=files[0])
    return facts


def _check_no_cycles_chosen(reader: Reader, skip: int, keep: int | None) -> None:
    """Raises BadInput for options that choose cycles, of which sums have none."""
    option = "skip" if skip else "cycles"
    if skip or keep:
        reason = f"expected none, since {reader.name} has sums"
        raise BadInput(field=option, reason=reason, code="conflict")


def _from_to(columns: Columns, skip: int, keep: int | None, every: int) -> Columns:
    """Columns [rank, cycle] without the first `skip` cycles, and `keep` of the others; None: all.

    Raises BadInput where there are not so many, or `skip` ends between two meetings, `every` cycles
    apart.
    """
    cycles = columns[COMPUTE_COLUMN].shape[1]
    if not 0 <= skip < cycles or skip % every:
        reason = f"expected 0 to {cycles - 1}, and a multiple of {every}"
        raise BadInput(
            field="skip",
            value=skip,
            reason=reason,
            code="range",
        )
    if keep is not None and not 1 <= keep <= cycles - skip:
        reason = f"expected 1 to {cycles - skip}"
        raise BadInput(
            field="cycles",
            value=keep,
            reason=reason,
            code="range",
        )
    end = None if keep is None else skip + keep
    return {name: times[:, skip:end] for name, times in columns.items()}


def _check_options(
    reader: Reader,
    files: list[Path],
    unit: str | None,
    called: Names,
) -> None:
    """Raises BadInput for options that do not belong to the format, and for a file given twice."""
    if "unit" in reader.takes and unit is not None and unit not in UNITS:
        expected = f"one of {', '.join(UNITS)}, as in --unit ms"
        raise unknown_name("unit", unit, UNITS, expected=expected)
    if "unit" not in reader.takes and unit not in (None, "s"):
        reason = f"expected no unit, since the format {reader.name} has seconds"
        raise BadInput(
            field="unit",
            value=unit,
            reason=reason,
            code="conflict",
        )
    if called and "column" not in reader.takes:
        reason = f"expected none, since the format {reader.name} names its own"
        raise BadInput(field="column", reason=reason, code="conflict")
    possible = MEANINGS if reader.is_table else REGIONS
    for name in called:
        if name not in possible:
            raise unknown_name("column", name, possible, expected=", ".join(possible))
    if len({*files}) < len(files):
        twice = max(files, key=files.count)
        reason = "given twice; expected one file for each rank"
        raise BadInput(reason=reason, file=twice, code="file")


def _read_file(
    path: Path,
    reader: Reader,
    called: Names,
    unit: str | None = None,
) -> FileTimes:
    """What a file holds as numbers >= 0: columns of one shape, times in s, and single facts.

    Args:
        path: the file.
        reader: its format.
        called: name of a column here -> its name in the file.
        unit: of times whose names hold none.

    Raises BadInput where the file is missing or damaged, lacks a column, or holds anything else.
    """
    check_file(path)
    try:
        content = reader.held(path, called)
        columns = _columns_in(path, reader, content.names, called)
        values = {}
        for name, column in columns.items():
            values[name] = _numbers_of(content, name, column.name, path)
        unused = _names_without_meaning(reader, content, columns)
        unit = _unit_of_lines(path, content, unused, unit)
        unused_columns = {}
        if CYCLE not in values:
            unused_columns = _numbers_and_texts(path, content, unused)
    except BadInput:
        raise
    except Exception as error:  # whatever readers make of damaged bytes
        kind = f"{path.suffix} file".strip()
        reason = f"not a whole {kind}: {' '.join(str(error).split())}"
        raise BadInput(
            reason=reason,
            file=path,
            code="file",
        ) from None
    facts = {}
    for name in FACTS:
        if name in values:
            facts[name] = _fact(path, columns[name].name, values.pop(name))
    _check_shapes(path, columns, values)
    units = _units(
        path, reader, {name: columns[name] for name in values if name in TIME_MEANINGS}, unit
    )
    for name, unit_of_times in units.items():
        if UNITS[unit_of_times] != 1:
            values[name] = _in_seconds(values[name], UNITS[unit_of_times])
    shape = next(iter(values.values())).shape
    unused_columns = {
        name: column for name, column in unused_columns.items() if column.shape == shape
    }
    return FileTimes(
        FileColumns(values, unused_columns),
        facts=facts,
        unused=tuple(name for name in unused if name and not holds_units(name)),
        units=tuple({*units.values()}),
        remarks=content.remarks,
    )


def _numbers_of(content: FileContent, meaning: str, name: str, path: Path) -> np.ndarray:
    """A column as numbers; of ranks also those behind a word that is the same in all lines.

    Raises BadInput as `FileContent.values`.
    """
    try:
        return content.values(name, path)
    except BadInput:
        if meaning != RANK:
            raise
        texts = content.texts(name)
        number_of = {}
        words = set()
        for text in pd.unique(texts):
            match = re.fullmatch(r"\s*([A-Za-z][\w .:-]*?)(\d+)\s*", text)
            if match is None:
                raise
            words.add(match[1])
            number_of[text] = float(match[2])
        if len(words) != 1:
            raise
        return np.array([number_of[text] for text in texts])


def _in_seconds(values: np.ndarray, unit_s: float) -> np.ndarray:
    """Times in s from times in units of `unit_s`; those in single precision are changed in place.

    They are rounded once.
    """
    if values.dtype != np.float32:
        return np.asarray(values * unit_s)
    np.multiply(values, unit_s, out=values, dtype=np.float64, casting="same_kind")
    return values


def _columns_in(
    path: Path, reader: Reader, names: list[str], called: Names
) -> dict[str, NamedColumn]:
    """The columns of a file by our names. Raises BadInput where one is missing."""
    if reader.is_table:
        columns = columns_of(path, names, called)
        if COMPUTE_COLUMN not in columns and CYCLE_TIME not in columns and _is_wide(names):
            expected = (
                "one line for each rank and cycle, with columns rank, cycle and compute, or a .npy"
                " file [rank, cycle]"
            )
            reason = f"columns {short_repr(names)}: one for each rank? expected {expected}"
            raise BadInput(reason, field="columns", file=path)
        if CYCLE_TIME in columns and not {COMPUTE_COLUMN, COMMUNICATE} & columns.keys():
            expected = (
                f"{COMMUNICATE} besides, or {COMPUTE_COLUMN} instead;"
                f" --column {COMMUNICATE}=… names another"
            )
            reason = f"columns {short_repr(names)}: {CYCLE_TIME} alone; expected {expected}"
            raise BadInput(reason, field=CYCLE_TIME, file=path)
        if (COMPUTE_COLUMN in columns) == (CYCLE_TIME in columns):
            expected = (
                f"either {COMPUTE_COLUMN} or {CYCLE_TIME};"
                f" --column {COMPUTE_COLUMN}={_likely_name(names)} says which"
            )
            reason = f"columns {short_repr(names)}; expected {expected}"
            raise BadInput(reason, field="columns", file=path)
        return columns
    for name in reader.needs:
        column = reader.names[name]
        if column not in names:
            reason = f"no column {column!r}; expected one of {short_repr(names)}"
            raise BadInput(
                reason,
                field=column,
                file=path,
                code="missing",
            )
    return {name: NamedColumn(column) for name, column in reader.names.items() if column in names}


def _likely_name(names: list[str]) -> str:
    """The only column that may hold the times of computing, by its name; else a placeholder.

    >>> _likely_name(["rank", "cycle", "t_compute_ms"]), _likely_name(["rank", "cycle", "t"])
    ('t_compute_ms', '…')
    """
    likely = [name for name in names if COMPUTE_COLUMN in name.lower()]
    return likely[0] if len(likely) == 1 else "…"


def _is_wide(names: list[str]) -> bool:
    """Whether most columns count something, as ranks, behind one word or none: r0, r1, …"""
    numbers: dict[str, list[int]] = {}
    for name in names:
        counted = re.fullmatch(r"(\D*)(\d+)\D*", name)
        if counted:
            numbers.setdefault(counted[1], []).append(int(counted[2]))
    for counts in numbers.values():
        first = min(counts)
        if len(counts) > 1 and first < 2 and sorted(counts) == [*range(first, first + len(counts))]:
            return len(counts) >= len(names) / 2
    return False


def _names_without_meaning(
    reader: Reader, content: FileContent, columns: dict[str, NamedColumn]
) -> list[str]:
    """The columns of a table that are none of `columns`; none of other formats."""
    if not reader.is_table:
        return []
    used = {column.name for column in columns.values()}
    return [name for name in content.names if name not in used]


def _unit_of_lines(
    path: Path,
    content: FileContent,
    unused: list[str],
    unit: str | None,
) -> str | None:
    """The unit of times whose names hold none: `unit`, or that of a column of units.

    Raises BadInput where lines of such a column differ, or say another unit than `unit`.
    """
    for name in unused:
        if not holds_units(name):
            continue
        texts = [str(text).strip().lower() for text in pd.unique(content.texts(name))]
        texts = [text.replace("µ", "u") for text in texts]
        units = {UNIT_OF.get(text, text) for text in texts}
        if len(units) > 1 or not units <= {*UNITS} or (unit is not None and units != {unit}):
            expected = f"one of {', '.join(UNITS)}"
            if unit is not None:
                expected = f"{unit}, as in --unit"
            reason = f"column {name!r} says {', '.join(texts[:3])}; expected {expected}"
            raise BadInput(reason, field=name, file=path)
        (unit,) = units
    return unit


def _numbers_and_texts(path: Path, content: FileContent, names: list[str]) -> Columns:
    """Those columns [line] that hold nothing but numbers, or nothing but names.

    Names are neither numbers nor times.
    """
    columns = {}
    for name in names:
        try:
            values = content.values(name, path)
        except BadInput:
            values = content.texts(name)
            if any(map(is_value, pd.unique(values))):
                continue
        if values.ndim == 1 and values.size:
            columns[name] = values
    return columns


def _fact(path: Path, name: str, values: np.ndarray) -> float:
    """The one number of a column. Raises BadInput for none and for several."""
    if values.size != 1 or np.isnan(values).any():
        reason = "expected one number"
        raise BadInput(
            field=name,
            value=values.tolist(),
            reason=reason,
            file=path,
        )
    return float(values.item())


def _check_shapes(path: Path, columns: dict[str, NamedColumn], values: Columns) -> None:
    """Raises BadInput unless all columns are [cycle], or all are [rank, cycle].

    With a column of ranks, they are [line].
    """
    shapes = {name: list(column.shape) for name, column in values.items()}
    first = next(iter(shapes.values()))
    dimensions = (1,) if RANK in shapes else (1, 2)
    for name, shape in shapes.items():
        if shape != first or len(shape) not in dimensions or not all(shape):
            expected = "[cycle] or [rank, cycle], as in other columns"
            reason = f"shape {shape}; expected {expected}"
            raise BadInput(
                field=columns[name].name,
                reason=reason,
                file=path,
            )


def _units(
    path: Path,
    reader: Reader,
    columns: dict[str, NamedColumn],
    unit: str | None,
) -> dict[str, str]:
    """The unit of each column of times: that in its name, or else `unit`; s of other formats.

    Raises BadInput where there is neither, and where they differ.
    """
    units = {}
    for name, column in columns.items():
        if not reader.is_table:
            units[name] = column.unit or "s"
        elif column.unit is None:
            if unit is None:
                possible = f"one of {', '.join(UNITS)}, as in --unit ms"
                expected = f"{possible}, or in the name of the column"
                reason = f"missing for column {column.name!r} of {path}; expected {expected}"
                raise BadInput(
                    field="unit",
                    reason=reason,
                    code="missing",
                )
            units[name] = unit
        else:
            if unit is not None and column.unit != unit:
                expected = f"--unit {column.unit}, or no --unit"
                says = f"column {column.name!r} says {column.unit}"
                expected = f"{expected}, since {says}"
                raise BadInput(
                    field="unit",
                    value=unit,
                    expected=expected,
                    file=path,
                )
            units[name] = column.unit
    return units


def _with_computing(columns: Columns, path: Path, first_rank: int) -> Columns:
    """Replaces times of whole cycles by compute times; columns are in the order of SAVED_COLUMNS.

    Raises BadInput, naming the file `path`, where cycles are shorter than their communication.
    """
    if CYCLE_TIME in columns:
        compute = np.subtract(columns[CYCLE_TIME], columns[COMMUNICATE], dtype=np.float64)
        if (compute < 0).any():
            rank, cycle = np.argwhere(compute < 0)[0]
            communicate_s = columns[COMMUNICATE][rank, cycle]
            reason = (
                f"{COMMUNICATE}={communicate_s:.3g} s of rank {first_rank + rank} in cycle {cycle};"
                f" expected at most the whole cycle, {columns[CYCLE_TIME][rank, cycle]:.3g} s"
            )
            raise BadInput(reason, field=COMMUNICATE, file=path)
        columns = columns | {COMPUTE_COLUMN: compute}
    return {name: columns[name] for name in SAVED_COLUMNS if name in columns}
