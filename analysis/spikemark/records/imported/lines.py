"""Lines and arrays of all files put together: the rank and the cycle of every time.

A column says the rank of a line, or the file does (`ranks`). Lines come in the order of their
column of cycles, or else as they are in the file. Nothing is guessed: cycles that come twice, ranks
with more cycles than others, and columns without a known name that seem to be the rank or the cycle
(`unused`) are refused.
"""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput

from .columns import Columns, FileColumns
from .names import CYCLE, RANK, SPELLINGS
from .ranks import check_numbers, first_of, in_order_of_ranks
from .unused import check_unused


def together(files: list[Path], parts: list[FileColumns]) -> tuple[Columns, int, tuple[str, ...]]:
    """Columns [rank, cycle] of all files, the number of the first rank, and what was left out.

    Args:
        files: paths.
        parts: what each of them holds.

    Raises BadInput for files that differ in their columns, and for lines and arrays that do not
    make [rank, cycle].

    Example:
        >>> part = FileColumns(
        ...     {
        ...         "rank": np.array([0, 1, 0, 1]),
        ...         "cycle": np.array([0, 0, 1, 1]),
        ...         "compute": np.array([3.0, 1.0, 2.0, 4.0]),
        ...     }
        ... )
        >>> columns, _, left_out = together([Path("times.csv")], [part])
        >>> columns["compute"].tolist()  # [rank][cycle]
        [[3.0, 2.0], [1.0, 4.0]]
    """
    first = parts[0].columns
    for path, part in zip(files, parts, strict=True):
        if part.columns.keys() != first.keys():
            reason = f"columns {', '.join(part.columns)}; expected {', '.join(first)}"
            raise BadInput(reason, field="columns", file=path)
    are_arrays = next(iter(first.values())).ndim > 1
    if len(files) > 1 and are_arrays:
        reason = "a second file; expected one alone if it holds all ranks"
        raise BadInput(reason=reason, file=files[1], code="file")
    remarks: list[str] = []
    first_rank = 0
    if RANK not in first:
        first_rank = first_of(files)
        by_path = dict(zip(files, parts, strict=True))
        files, remarks = in_order_of_ranks(files)
        parts = [by_path[path] for path in files]
    numbered = RANK in first or CYCLE in first
    if numbered or parts[0].unused:  # lines take several times the memory of their values
        lines = [_lines_of(number, part) for number, part in enumerate(parts)]
        if CYCLE not in first:
            check_unused(files[0], lines, [*parts[0].unused], RANK in first)
    if numbered:
        used = [RANK, *(first.keys() - {RANK})]
        columns, left_out = _aligned(files, [part[used] for part in lines])
        if RANK in first:
            first_rank = min(int(part[RANK].min()) for part in lines)
        return columns, first_rank, (*remarks, *left_out)
    if not are_arrays:
        lengths = {}
        for path, part in zip(files, parts, strict=True):
            lengths[str(path)] = next(iter(part.columns.values())).size
        check_lengths(files[0].parent, lengths)
    stacked = {}
    for name in first:
        rows = [part.columns[name] for part in parts]
        stacked[name] = rows[0] if are_arrays else np.vstack(rows)
    return stacked, first_rank, tuple(remarks)


def _lines_of(number: int, part: FileColumns) -> pd.DataFrame:
    """The columns of a file as lines, each with its rank.

    That is a column of the file, or the row of an array, or the number of the file.
    """
    columns = part.columns | part.unused
    shape = next(iter(columns.values())).shape
    lines: dict[str, Any] = {RANK: number}
    if len(shape) > 1:
        rank_of_value, *_ = np.indices(shape)
        lines[RANK] = rank_of_value.ravel()
    for name, values in columns.items():
        lines[name] = values.ravel()
    return pd.DataFrame(lines)


def _aligned(files: list[Path], parts: list[pd.DataFrame]) -> tuple[Columns, tuple[str, ...]]:
    """Columns [rank, cycle] from lines with `rank` and perhaps `cycle`; and what was left out.

    Cycles that are not on all ranks are left out. Raises BadInput for cycles that come twice.
    """
    lines = pd.concat(parts, ignore_index=True)
    where = files[0]
    _check_whole_numbers(where, lines)
    if CYCLE not in lines:
        _check_one_file_per_rank(files, parts)
        check_lengths(where, lines[RANK].value_counts(sort=False).to_dict())
        _check_blocks(where, lines[RANK].to_numpy())
        lines[CYCLE] = lines.groupby(RANK).cumcount()
    twice = lines.duplicated([RANK, CYCLE])
    if twice.any():
        raise _twice(files, parts, lines[twice].iloc[0])
    remarks = check_numbers(f"{where}: {RANK}", lines[RANK].astype(int).unique())
    ranks = lines[RANK].nunique()
    cycles = lines[CYCLE].nunique()
    on_all_ranks = lines.groupby(CYCLE)[RANK].transform("count") == ranks
    lines = lines[on_all_ranks].sort_values([RANK, CYCLE])
    complete = len(lines) // ranks
    if 2 * complete < cycles:
        reason = f"all ranks have {complete} of {cycles} cycles; expected half"
        raise BadInput(field=CYCLE, reason=reason, file=where)
    if complete < cycles:
        remarks.append(
            f"{cycles - complete} of {cycles} cycles are not on all ranks and are left out"
        )
    remarks += _gaps(lines[CYCLE].to_numpy()[:complete])
    columns = {}
    for name in lines.columns:
        if name not in (RANK, CYCLE):
            columns[str(name)] = lines[name].to_numpy().reshape(ranks, -1)
    return columns, tuple(remarks)


def _check_whole_numbers(where: Path, lines: pd.DataFrame) -> None:
    """Raises BadInput for lines without a rank or cycle, and for a rank with a fraction."""
    for name in (RANK, CYCLE):
        if name not in lines:
            continue
        wrong = lines[name].isna()
        if name == RANK:
            wrong |= lines[name] % 1 != 0
        if wrong.any():
            value = lines[name][wrong].iloc[0]
            reason = f"{name}={value:g} in a line; expected a whole number in each"
            raise BadInput(reason, field=name, file=where)


def _check_one_file_per_rank(files: list[Path], parts: list[pd.DataFrame]) -> None:
    """Raises BadInput for a rank in two files whose lines have no cycle."""
    file_of_rank: dict[float, Path] = {}
    for path, lines in zip(files, parts, strict=True):
        for rank in lines[RANK].unique():
            if rank in file_of_rank:
                expected = f"each rank in one file, or a column `{CYCLE}`"
                reason = f"{RANK}={rank:g}: also in {file_of_rank[rank]}; expected {expected}"
                raise BadInput(reason, field=RANK, file=path)
            file_of_rank[rank] = path


def _check_blocks(where: Path, ranks: np.ndarray) -> None:
    """Raises BadInput where each rank has several blocks of lines, all of one length.

    So it is with ranks that count within a node, and with several runs in one file.
    """
    starts = np.flatnonzero(np.diff(ranks, prepend=np.nan) != 0)
    lengths = {*np.diff(starts, append=len(ranks)).tolist()}
    different_ranks = len(np.unique(ranks))
    if len(starts) > different_ranks > 1 and len(lengths) == 1 and lengths != {1}:
        repeated = ranks[starts[different_ranks]]
        reason = (
            f"{RANK}={repeated:g}: in several blocks of {lengths.pop()} lines; expected the lines"
            f" of a rank together, or a column `{CYCLE}`"
        )
        raise BadInput(reason, field=RANK, file=where)


def _twice(files: list[Path], parts: list[pd.DataFrame], line: pd.Series) -> BadInput:
    """The complaint about a cycle that comes twice on a rank."""
    reason = f"{CYCLE}={line[CYCLE]:g}: twice on rank {line[RANK]:g}; expected each cycle once"
    has_no_ranks = len(files) == 1 and (parts[0][RANK] == 0).all()
    if has_no_ranks:
        spellings = ", ".join(SPELLINGS[RANK][:2])
        reason += f", or a column of ranks ({spellings}, …; --column {RANK}=… names another)"
    return BadInput(reason, field=CYCLE, file=files[0])


def _gaps(cycles: np.ndarray) -> list[str]:
    """A remark where the numbers of cycles do not go on evenly."""
    steps = np.diff(cycles)
    if len(steps) < 2 or (steps == steps[0]).all():
        return []
    usual = np.median(steps)
    after = int((steps != usual).argmax())
    return [
        f"cycles are not numbered evenly: {cycles[after]:g} is followed by {cycles[after + 1]:g}"
    ]


def check_lengths(where: Path, cycles: Mapping[Any, int]) -> None:
    """Raises BadInput unless all ranks (or files) have as many cycles.

    Args:
        where: the file or folder, for the complaint.
        cycles: rank or file -> its number of cycles.

    Example:
        >>> check_lengths(Path("times.csv"), {"rank 0": 100, "rank 1": 99})
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: times.csv: rank or file rank 1 has 99 cycles, rank 0 ...
    """

    def length(rank_or_file: Hashable) -> int:
        return cycles[rank_or_file]

    least = min(cycles, key=length)
    most = max(cycles, key=length)
    if cycles[least] != cycles[most]:
        reason = (
            f"rank or file {least} has {cycles[least]} cycles, {most} has {cycles[most]}; expected"
            f" the same of all ranks, or a column `{CYCLE}` of numbers that says which are missing"
        )
        raise BadInput(reason=reason, file=where, code="file")
