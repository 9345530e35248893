"""Which of many combinations `make test` tries, and which only `make test-nightly`."""

from collections.abc import Iterable, Sequence
from itertools import product

import pytest


def half_by_night(*axes: Iterable) -> list:
    """All combinations, every second of them marked as nightly, as on a chessboard.

    So each value of each axis is tried by day with about half of the values of the others.
    """
    return one_of_by_day(2, *axes)


def one_of_by_day(number: int, *axes: Iterable) -> list:
    """All combinations, one of so many unmarked and the others marked as nightly, on diagonals.

    So each value of an axis is tried by day where another axis has at least so many values.
    """
    cases = []
    for numbered in product(*map(enumerate, axes)):
        places = [place for place, _ in numbered]
        marks = [pytest.mark.nightly] * (sum(places) % number > 0)
        cases.append(pytest.param(*(value for _, value in numbered), marks=marks))
    return cases


def more_by_night(cases: Sequence, number: int = 2) -> list:
    """Lists of cases for a test that judges all of a list together: one of so many cases by day,
    and all cases by night.
    """
    few = cases[::number]
    return [pytest.param(few, id="few"), pytest.param(cases, id="all", marks=pytest.mark.nightly)]
