"""Which of many combinations `make test` tries, and which only `make test-nightly`."""

from collections.abc import Iterable
from itertools import product

import pytest


def half_by_night(*axes: Iterable) -> list:
    """All combinations, every second of them marked as nightly, as on a chessboard.

    So each value of each axis is tried by day with about half of the values of the others.
    """
    cases = []
    for numbered in product(*map(enumerate, axes)):
        places = [place for place, _ in numbered]
        marks = [pytest.mark.nightly] * (sum(places) % 2)
        cases.append(pytest.param(*(value for _, value in numbered), marks=marks))
    return cases
