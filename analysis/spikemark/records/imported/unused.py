"""Columns without a known name that seem to be the rank or the cycle of a line.

Files of others call the rank and the cycle anything. A column that divides the lines into parts of
one size, or that numbers them in another order than they have, is one that was overlooked; then the
file is refused, and the user says with `--column` what it is.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput

from .names import CYCLE, RANK
from .ranks import listed


def check_unused(
    where: Path,
    parts: list[pd.DataFrame],
    unused: list[str],
    with_ranks: bool,
) -> None:
    """Raises BadInput for a column that seems to be the rank or the cycle of a line.

    Args:
        where: the first file.
        parts: the lines of each file, with a column RANK.
        unused: columns without a meaning.
        with_ranks: whether another column is the rank.

    Example:
        >>> lines = pd.DataFrame({"rank": [0, 0, 1, 1], "hostname": ["a", "a", "b", "b"]})
        >>> check_unused(Path("times.csv"), [lines], ["hostname"], with_ranks=True)
    """
    for name in unused:
        if not all(name in lines for lines in parts):
            continue
        lines = pd.concat([lines[[RANK, name]] for lines in parts], ignore_index=True)
        if not pd.api.types.is_numeric_dtype(lines[name]):
            _check_labels(where, lines, name)
        elif lines.duplicated().any():
            _check_repeated(where, lines, name, with_ranks)
        elif _is_index_in_disorder(lines, name):
            expected = f"lines in order, a column `{CYCLE}`, or no such column"
            raise BadInput(
                f"column {name!r} numbers all lines, which are not in its order; expected"
                f" {expected}",
                field=name,
                file=where,
            )
        elif _is_cycle_in_disorder(lines[RANK], lines[name]):
            expected = f"--column {CYCLE}={name}, or no such column"
            raise BadInput(
                f"column {name!r} numbers the lines, but not in order: is it the cycle? expected"
                f" {expected}",
                field=name,
                file=where,
            )


def _check_labels(where: Path, lines: pd.DataFrame, name: str) -> None:
    """Raises BadInput for a column of text that divides the lines of a rank into parts of one size.

    So do names of phases, of nodes that count their ranks from 0, and of several runs in one file.
    Texts that come once on a rank divide nothing, unless they are the same on all ranks.
    """
    texts_of_rank = lines.groupby(RANK)[name]
    if texts_of_rank.nunique().max() == 1 or not _each_as_often(lines[name]):
        return
    ranks = lines[RANK].nunique()
    lines_of_value = lines[name].value_counts()
    same_on_all = ranks > 1 and bool((lines_of_value == ranks).all())
    if lines.duplicated().any() or same_on_all:
        question = "what is it? expected one line for each rank and cycle"
        raise _divided(where, name, lines[name], question)


def _check_repeated(
    where: Path,
    lines: pd.DataFrame,
    name: str,
    with_ranks: bool,
) -> None:
    """Raises BadInput for numbers that divide the lines into parts of one size.

    As ranks and runs do. Numbers that are the same in all lines of a rank, such as that of its
    node, belong to the rank.
    """
    numbers = lines[name]
    ranks = lines[RANK].nunique()
    belongs_to_rank = lines.groupby(RANK)[name].nunique().max() == 1
    if not _each_as_often(numbers):
        return
    if belongs_to_rank and (with_ranks or numbers.nunique() < ranks):
        return
    question = f"what is it? expected one line for each rank and cycle, or a column `{CYCLE}`"
    without_gaps = numbers.max() - numbers.min() == numbers.nunique() - 1
    if not with_ranks and without_gaps:
        question = f"is it the rank? expected --column {RANK}={name}, or no such column"
    raise _divided(where, name, numbers, question)


def _divided(where: Path, name: str, values: pd.Series, question: str) -> BadInput:
    """The complaint about a column that divides the lines into parts of one size."""
    texts = [str(value).removesuffix(".0") for value in values.unique()]
    reason = f"column {name!r} holds each of {listed(texts)} as often: {question}"
    return BadInput(reason, field=name, file=where)


def _each_as_often(values: pd.Series) -> bool:
    """Says whether a column has several values, each in as many lines."""
    counts = values.value_counts()
    return len(counts) > 1 and counts.nunique() == 1


def _is_index_in_disorder(lines: pd.DataFrame, name: str) -> bool:
    """Says whether a column counts all lines of several ranks, but falls within a rank.

    So it is with the index of a table that was sorted by something else before it was written.
    """
    numbers = lines[name]
    counts_all = numbers.is_unique and numbers.max() - numbers.min() == len(numbers) - 1
    if not counts_all or lines[RANK].nunique() == 1:
        return False
    return bool((lines.groupby(RANK)[name].diff() < 0).any())


def _is_cycle_in_disorder(ranks: pd.Series, numbers: pd.Series) -> bool:
    """Says whether numbers count cycles, but not rising and the same on all ranks.

    Numbers are each once on a rank; where they are unique, they number the lines of all ranks.
    """
    lengths = ranks.value_counts()
    several = len(lengths) > 1
    if lengths.nunique() > 1 or (several and numbers.is_unique):
        return False
    order_by_rank = np.argsort(ranks.to_numpy(), kind="stable")
    by_rank = numbers.to_numpy()[order_by_rank].reshape(len(lengths), -1)
    in_order = np.sort(by_rank, axis=1)
    same_on_all = several and bool((in_order == in_order[0]).all())
    if not same_on_all:
        are_whole = bool((numbers % 1 == 0).all())
        are_dense = numbers.max() - numbers.min() < 2 * lengths.max()
        if not (are_whole and are_dense):
            return False
    return bool((by_rank != in_order[0]).any())
