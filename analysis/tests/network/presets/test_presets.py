"""Presets: every one gives a run description, with what it promises, and refuses what cannot be."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.models import access
from spikemark.network.presets import PRESETS, mam_benchmark

TOP_LEVEL = {"format_version", "seed", "time", "schedule", "network"}


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset(name):
    preset = PRESETS[name]
    assert preset.name == name
    assert preset.summary
    description = preset.describe()
    assert set(description) >= TOP_LEVEL
    assert json.loads(json.dumps(description)) == description  # nothing that JSON would change
    # what fires as its input makes it has no rate in its description; for a ratio in (0, 1) any
    # would do
    rates = {
        p["name"]: p["neuron"].get("rate_hz", 1.0) for p in description["network"]["populations"]
    }
    assert 0 < access.expected(description, 1, 1, rates_hz=rates).ratio < 1
    with pytest.raises(BadInput, match="no_such_option"):
        preset.describe(no_such_option=1)
    for option, field in preset.options.model_fields.items():
        assert field.description or field.metadata, option


def containers(value) -> list[int]:
    """The identities of all dicts and lists in a value, one for each place."""
    if not isinstance(value, dict | list):
        return []
    parts = value.values() if isinstance(value, dict) else value
    return [id(value), *(identity for part in parts for identity in containers(part))]


@pytest.mark.parametrize("name", PRESETS)
def test_a_change_of_one_place_changes_no_other_and_no_later_description(name):
    options = {"columns": "3x3", "neurons_per_column": 50} if name == "dpsnn" else {}
    first = PRESETS[name].describe(**options)
    second = PRESETS[name].describe(**options)
    places = containers(first) + containers(second)
    assert len(places) == len(set(places)) > 50


@given(areas=st.integers(1, 6), indegree=st.integers(0, 51), delay_ratio=st.integers(1, 20))
def test_indegree_is_split_between_own_and_other_areas(areas, indegree, delay_ratio):
    description = mam_benchmark.describe(areas=areas, indegree=indegree, delay_ratio=delay_ratio)
    populations = [p["name"] for p in description["network"]["populations"]]
    assert len(populations) == areas
    for name in populations:
        incoming = [p for p in description["network"]["projections"] if p["target"] == name]
        assert sum(p["indegree"] for p in incoming) == indegree
        intra, *inter = sorted(incoming, key=lambda p: p["source"] != name)
        assert intra["indegree"] == indegree - (indegree // 2 if areas > 1 else 0)
        assert (intra["source"], intra["delay"]["min"]) == (name, 0.1)
        for p in inter:
            assert p["source"] == [n for n in populations if n != name]
            assert p["delay"]["min"] == pytest.approx(0.1 * delay_ratio)


def test_full_gives_the_published_network():
    description = mam_benchmark.describe(full=True)
    populations, projections = (
        description["network"]["populations"],
        description["network"]["projections"],
    )
    assert [p["size"] for p in populations] == [129_068] * 32
    assert {p["indegree"] for p in projections} == {2921}
    assert {p["neuron"]["rate_hz"] for p in populations} == {2.5}
    assert (description["time"]["resolution_ms"], description["time"]["cycle_ms"]) == (0.1, 0.1)
    intra, inter = (p["delay"] for p in projections[:2])
    assert intra == {"distribution": "normal", "mean": 0.5, "sd": 0.25, "min": 0.1, "max": 2.0}
    assert inter == {"distribution": "normal", "mean": 1.5, "sd": 0.75, "min": 1.0, "max": 2.0}


def test_areas_spread_as_asked():
    described = mam_benchmark.describe(
        areas=400, indegree=10, size_cv=0.2, seed=3, area_rate_cv=0.5, rate=3
    )
    populations = described["network"]["populations"]
    sizes, rates = (
        np.array(x)
        for x in zip(*((p["size"], p["neuron"]["rate_hz"]) for p in populations), strict=True)
    )
    assert sizes.mean() == pytest.approx(5000, rel=0.03)
    assert sizes.std() / sizes.mean() == pytest.approx(0.2, rel=0.15)
    assert rates.mean() == pytest.approx(3) and rates.std() / 3 == pytest.approx(0.48, rel=0.15)


def test_options_reach_the_description():
    run = {"schedule": "structure_aware", "placement": "area", "exchange": "alltoall", "seed": 7}
    time = {"resolution_ms": 0.05, "cycle_ms": 0.2, "warmup_ms": 20, "simulate_ms": 50}
    own = {
        "rate": 4,
        "rate_cv": 0.3,
        "delay_inter_min": 1.4,
        "delay_max": 3,
        "delay_intra": [0.6, 0.1],
    }
    description = mam_benchmark.describe(**run, **time, **own)
    assert description["time"] == time and {name: description[name] for name in run} == run
    neuron = description["network"]["populations"][0]["neuron"]
    assert neuron == {"model": "ignore_and_fire", "rate_hz": 4, "rate_cv": 0.3}
    intra, inter = (p["delay"] for p in description["network"]["projections"][:2])
    assert intra == {"distribution": "normal", "mean": 0.6, "sd": 0.1, "min": 0.2, "max": 3}
    assert inter["min"] == 1.4


MANY = "->".join(f"A{i}" for i in range(34))
#: Options that are refused, by preset and by the option that the line names.
BAD = {
    "dpsnn": {
        "state": ["up"],
        "columns": ["24", "200x200"],
        "neurons": [{"columns": "4x4", "neurons": 100}, 4],
        "neurons_per_column": [100],
        "weight_classes": [1],
        "resolution_ms": [2, 0.3],
    },
    "mam": {"scale": [0, 2], "indegree_scale": [-0.5], "seed": [-1], "schedule": ["often"]},
    "mam-benchmark": {
        "areas": [0, "some"],
        "neurons_per_area": [-1, {"size_cv": 0.1, "neurons_per_area": 100}],
        "indegree": [1.5],
        "rate": [float("nan")],
        "delay_intra.1": [{"delay_intra": (0.5,)}],
        "delay_max": [{"delay_ratio": 30}],
        "placement": ["near"],
        "exchange": ["post"],
    },
    "voxels": {
        "voxels": [0, {"voxels": 2000, "neurons": 100000}],
        "form": ["file"],
        "neurons": [{"neurons": 100, "voxels": 64}, 2000000],
    },
    "music-cells": {
        "applications": ["A", "A=>B", "A<->B,B->A", MANY],
        "structure": [1.5],
        "granularity": [{"np": 17}, {"scale": 1e-05}, {"granularity": 64, "full": True}],
    },
}


@pytest.mark.parametrize(
    ("name", "given", "field"),
    [
        (name, given, field)
        for name, fields in BAD.items()
        for field, cases in fields.items()
        for given in cases
    ],
)
def test_bad_options(name, given, field):
    with pytest.raises(BadInput) as caught:
        PRESETS[name].describe(**(given if isinstance(given, dict) else {field: given}))
    assert caught.value.field == field
    assert "\n" not in str(caught.value)
