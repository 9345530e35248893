"""Contents of JSON side by side: numbers as records hold them, and the field that differs."""

import copy
import json

import numpy as np
import pytest

from spikemark.core.fields import ABSENT, as_recorded, assign, differing, same


def description(rng):
    """Fields with numbers of up to 17 digits, whole ones, texts and lists."""
    populations = [
        {"name": f"area{number}", "size": int(rng.integers(1, 1000)), "rate_hz": rate}
        for number, rate in enumerate(10 ** rng.uniform(-6, 6, size=5))
    ]
    delay = {"mean": float(rng.uniform(0.1, 10)), "sd": 0.5}
    return {"network": {"populations": populations}, "delay": delay, "seed": 1, "lanes": ["a", "b"]}


def recorded(content):
    """What a record of the mini-app says of it: numbers in 15 digits."""
    return json.loads(json.dumps(content), parse_float=lambda text: float(f"{float(text):.15g}"))


@pytest.mark.parametrize("seed", range(20))
def test_a_record_of_a_content_does_not_differ_from_it_and_planted_changes_are_named(seed):
    rng = np.random.default_rng(seed)
    told = description(rng)
    written = recorded(told)
    assert list(differing(written, told)) == list(differing(told, written)) == []
    assert list(same("description", written, told)) == []
    rate = told["network"]["populations"][3]["rate_hz"]
    for path, value, expected in (
        ("network.populations.3.rate_hz", rate * (1 + 1e-13), rate),
        ("network.populations.0.name", "V1", "area0"),
        ("delay.sd", 0.6, 0.5),
        ("lanes.1", "c", "b"),
    ):
        changed = copy.deepcopy(written)
        assign(changed, path, value)
        assert list(differing(changed, told)) == [(path, value, expected)]
        (text,) = same("description", changed, told)
        assert f"description.{path}=" in text
        assert repr(value) in text and repr(expected) in text


def test_what_one_side_lacks_is_named():
    both = {"network": {"populations": [{"size": 10}]}}
    fewer = {"network": {"populations": []}}
    path = "network.populations.0.size"
    assert list(differing(fewer, both)) == [(path, ABSENT, 10)]
    assert list(differing(both, fewer)) == [(path, 10, ABSENT)]
    assert [difference.path for difference in differing({}, both)] == [path]


def test_of_long_texts_the_part_that_differs_is_shown():
    flags = "-O3 -march=native " * 20
    (text,) = same("flags", f"{flags}-ffast-math", f"{flags}-fno-math-errno")
    assert "fast-math" in text and "no-math-errno" in text and len(text) < 150


def test_a_number_is_recorded_as_the_mini_app_writes_it():
    assert as_recorded(3.236795775560451) == 3.23679577556045
    for value in (1, True, None, "0.1", 2**60 + 1):
        assert as_recorded(value) is value
