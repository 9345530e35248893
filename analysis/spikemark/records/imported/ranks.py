"""Whose file is it? The ranks of files of one rank each, by the numbers in their paths.

Ranks are numbered from 0 (or 1) without gaps. The number of a path says the rank that counts the
files: after a word such as `rank`, or else the only number that differs. Nothing is guessed: gaps,
repetitions, and paths in which several numbers could be the rank are refused.
"""

import os
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from spikemark.core.errors import BadInput

MAX_VALUES_SHOWN = 5  # in a message
#: What stands before the number of a rank in a path, and before numbers that cannot be one.
RANK_WORD = re.compile(
    r"(?<![a-z])(?<!local.)(?<!node.)(mpi.?)?(rank|r|proc|procid|process|task|pe)[ ._=-]*$"
)
OTHER_WORD = re.compile(
    r"(?<![a-z])(seed|run|rep|repeat|repetition|trial|thread|tid|local.?rank|node.?rank)[ ._=-]*$"
)


def first_of(files: list[Path]) -> int:
    """The number of the first rank of files of one rank each, by their paths.

    Raises BadInput where paths do not tell the order.

    Example:
        >>> first_of([Path("run/times_2.csv"), Path("run/times_1.csv")])
        1
    """
    if len(files) < 2:
        return 0
    return min(_ranks_after_word(files) or _numbers_that_differ(files))


def in_order_of_ranks(files: list[Path]) -> tuple[list[Path], list[str]]:
    """Files of one rank each, in the order of their ranks; and remarks.

    Raises BadInput where paths do not tell the order.

    Example:
        >>> files = [Path(f"run/times_{rank}.csv") for rank in (1, 10, 0, 2, 3, 4, 5, 6, 7, 8, 9)]
        >>> [path.name for path in in_order_of_ranks(files)[0]][-2:]
        ['times_9.csv', 'times_10.csv']
    """
    if len(files) < 2:
        return list(files), []
    ranks = _ranks_after_word(files) or _numbers_that_differ(files)
    where = f"{files[0]} and {len(files) - 1} more: ranks by their names"
    remarks = check_numbers(where, ranks)
    ordered = sorted(zip(ranks, files, strict=True))
    return [path for _, path in ordered], remarks


def _ranks_after_word(files: list[Path]) -> list[int]:
    """The number of each file after a word such as `rank`.

    None where a path has no such number, or two. Raises BadInput where all files are of the same
    rank.
    """
    paths = [os.path.abspath(path) for path in files]
    common = os.path.commonpath([os.path.dirname(path) for path in paths])
    ranks: list[int] = []
    for path in paths:
        numbers = _numbers_after(RANK_WORD, os.path.relpath(path, common))
        if len(numbers) != 1:
            return []
        ranks += numbers
    if len({*ranks}) == 1:
        raise _untold(files, f"all are of rank {ranks[0]} by their names")
    return ranks


def _numbers_after(word: re.Pattern[str], path: str) -> set[int]:
    """The numbers of a path that stand after a word."""
    numbers = set()
    for digits in re.finditer(r"\d+", path):
        if word.search(path[: digits.start()].lower()):
            numbers.add(int(digits[0]))
    return numbers


def _numbers_that_differ(files: list[Path]) -> list[int]:
    """The number of each file that is not the same in all paths.

    Raises BadInput for none and several.
    """
    # Text and numbers by turns: "a", "1", ".csv"
    pieces = [re.split(r"(\d+)", os.path.abspath(path)) for path in files]
    texts = {tuple(pieces_of_path[::2]) for pieces_of_path in pieces}
    if len(texts) > 1:
        raise _untold(files, "their paths differ in more than numbers")
    numbers_of_paths = [list(map(int, pieces_of_path[1::2])) for pieces_of_path in pieces]
    different = {}  # the numbers of all paths at one place -> that place
    for place, numbers in enumerate(zip(*numbers_of_paths, strict=True)):
        if len({*numbers}) > 1:
            different[numbers] = place
    if not different:
        raise _untold(files, "no number in their paths differs")
    if len(different) > 1:
        choices = "; ".join(listed(numbers) for numbers in different)
        raise _untold(files, f"{len(different)} numbers in their paths differ: {choices}")
    ((numbers, place),) = different.items()
    before = "".join(pieces[0][: 2 * place + 1])
    word = OTHER_WORD.search(before.lower())
    if word:
        reason = f"the number that differs is that of a {word[1]}: {listed(numbers)}"
        raise _untold(files, reason)
    return list(numbers)


def _untold(files: list[Path], reason: str) -> BadInput:
    """The complaint about paths that do not say the rank."""
    expected = "one number that counts the ranks, as in times-0.csv, or rank.0/times.csv"
    return BadInput(
        f"{files[0]} and {len(files) - 1} more: which is which rank? {reason}; expected {expected}",
        code="file",
    )


def listed(values: Iterable[object]) -> str:
    """The first of some numbers or texts.

    Example:
        >>> listed(range(9))
        '0, 1, 2, 3, 4, …'
    """
    words = [str(value) for value in values]
    if len(words) > MAX_VALUES_SHOWN:
        words = [*words[:MAX_VALUES_SHOWN], "…"]
    return ", ".join(words)


def check_numbers(where: str, ranks: Iterable[int]) -> list[str]:
    """A remark if ranks are numbered from 1.

    Raises BadInput, which begins with `where`, unless they are from 0 or 1, each once.

    Example:
        >>> check_numbers("times.csv", [0, 1, 2])
        []
    """
    ranks = sorted(ranks)
    first = 0 if 0 in ranks else 1
    expected = list(range(first, first + len(ranks)))
    if ranks == expected:
        if first == 0 or len(ranks) == 1:
            return []
        return [f"ranks are numbered from 1 to {ranks[-1]}: is there none of number 0?"]
    twice = sorted({rank for rank, following in pairwise(ranks) if rank == following})
    if twice:
        reason = f"{listed(twice)} twice; expected each rank once"
        raise BadInput(f"{where}: {reason}", field="rank")
    end = first + 2 * len(ranks)
    if ranks[0] < 0 or ranks[-1] >= end:
        reason = f"{listed(ranks)}; expected {expected[0]} to {expected[-1]}"
        raise BadInput(
            f"{where}: {reason}",
            field="rank",
            code="range",
        )
    missing = sorted({*range(first, min(ranks[-1], end))} - {*ranks})
    word = "rank" if len(missing) == 1 else "ranks"
    raise BadInput(
        f"{where}: {word} {listed(missing)} missing; expected {first} to {ranks[-1]}, each once",
        field="rank",
        code="missing",
    )
