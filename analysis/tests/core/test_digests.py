"""Digests of what JSON can hold."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core import digests

SAME = {
    "whole": [4, 4.0, 4e0, float("40e-1")],
    "zero": [0, 0.0, -0.0],
    "the last integer that has a float of its own": [2**53, 2.0**53],
    "beyond": [10**22, 1e22],
    "as records hold it": [0.1, 0.1 + 1e-17, 0.10000000000000001],
    "in lists and tuples": [[4.0, {"a": (1.0,)}], (4, {"a": [1]})],
}
DIFFERENT = {
    "neighbours": [2**53, 2**53 + 1],
    "an integer and a float that cannot hold it": [2**53 + 1, 2.0**53],
    "a number and its text": [4, "4"],
    "truth and number": [1, True],
    "nothing and zero": [0, None],
    "what is no number": [math.inf, -math.inf],
}


@pytest.mark.parametrize("name", SAME)
def test_a_number_has_one_digest_in_all_its_forms(name):
    assert len({digests.digest({"value": value}) for value in SAME[name]}) == 1


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_values_have_other_digests(name):
    values = DIFFERENT[name]
    assert len({digests.digest({"value": value}) for value in values}) == len(values)


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists))
def test_without_fractions_digests_are_those_of_earlier_versions(value):
    assert digests.digest(value) == digests.digest_as_written(value)
    assert digests.canonical_text(value) == json.dumps(value)


@given(st.floats(allow_nan=False))
def test_what_is_canonical_stays_as_it_is(value):
    once = digests.canonical(value)
    assert digests.canonical(once) == once
    assert math.isinf(value) or math.isclose(once, value, rel_tol=1e-14)
