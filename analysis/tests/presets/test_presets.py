"""Presets: every one gives a run description, with what it promises, and refuses what cannot be."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.models import access
from spikemark.presets import PRESETS, mam_benchmark

TOP_LEVEL = {"format_version", "seed", "time", "schedule", "network"}


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset(name):
    preset = PRESETS[name]
    assert preset.name == name
    assert preset.summary
    description = preset.describe()
    assert set(description) >= TOP_LEVEL
    assert json.loads(json.dumps(description)) == description  # nothing that JSON would change
    # what fires as its input makes it has no rate in its description; for a ratio in (0, 1) any would do
    rates = {p["name"]: p["neuron"].get("rate_hz", 1.0) for p in description["network"]["populations"]}
    assert 0 < access.expected(description, 1, 1, rates_hz=rates).ratio < 1
    with pytest.raises(BadInput, match="no_such_option"):
        preset.describe(no_such_option=1)
    for option, field in preset.options.model_fields.items():
        assert field.description or field.metadata, option


def sizes(description: dict) -> list[int]:
    return [p["size"] for p in description["network"]["populations"]]


@given(areas=st.integers(1, 6), indegree=st.integers(0, 51), delay_ratio=st.integers(1, 20))
def test_indegree_is_split_between_own_and_other_areas(areas, indegree, delay_ratio):
    description = mam_benchmark.describe(areas=areas, indegree=indegree, delay_ratio=delay_ratio)
    populations = [p["name"] for p in description["network"]["populations"]]
    assert len(populations) == areas
    for name in populations:
        incoming = [p for p in description["network"]["projections"] if p["target"] == name]
        assert sum(p["indegree"] for p in incoming) == indegree
        intra = [p for p in incoming if p["source"] == name]
        inter = [p for p in incoming if p["source"] != name]
        assert [p["indegree"] for p in intra] == [indegree - (indegree // 2 if areas > 1 else 0)]
        assert all(p["source"] == [n for n in populations if n != name] for p in inter)
        assert all(p["delay"]["min"] == 0.1 for p in intra)
        assert all(p["delay"]["min"] == pytest.approx(0.1 * delay_ratio) for p in inter)


def test_full_gives_the_published_network():
    description = mam_benchmark.describe(full=True)
    assert sizes(description) == [129_068] * 32
    assert {p["indegree"] for p in description["network"]["projections"]} == {2921}
    assert {p["neuron"]["rate_hz"] for p in description["network"]["populations"]} == {2.5}
    assert (description["time"]["resolution_ms"], description["time"]["cycle_ms"]) == (0.1, 0.1)
    intra, inter = (p["delay"] for p in description["network"]["projections"][:2])
    assert intra == {"distribution": "normal", "mean": 0.5, "sd": 0.25, "min": 0.1, "max": 2.0}
    assert inter == {"distribution": "normal", "mean": 1.5, "sd": 0.75, "min": 1.0, "max": 2.0}


def test_given_options_outrank_full():
    assert sizes(mam_benchmark.describe(full=True, areas=2, neurons_per_area=None)) == [129_068] * 2


def test_area_sizes_spread_as_asked():
    drawn = np.array(
        sizes(mam_benchmark.describe(areas=400, neurons_per_area=5000, indegree=10, size_cv=0.2, seed=3))
    )
    assert drawn.mean() == pytest.approx(5000, rel=0.03)
    assert drawn.std() / drawn.mean() == pytest.approx(0.2, rel=0.15)


def test_small_areas_are_redrawn():
    drawn = sizes(mam_benchmark.describe(areas=200, neurons_per_area=600, indegree=500, size_cv=0.5))
    assert min(drawn) > 500


def test_sizes_follow_from_the_seed_alone():
    options = {"areas": 8, "size_cv": 0.2}
    first = sizes(mam_benchmark.describe(**options, seed=1))
    assert sizes(mam_benchmark.describe(**options, seed=1, schedule="structure_aware", rate=9)) == first
    assert sizes(mam_benchmark.describe(**options, seed=2)) != first


def test_options_reach_the_description():
    description = mam_benchmark.describe(
        rate=4,
        rate_cv=0.3,
        seed=7,
        schedule="structure_aware",
        placement="area",
        exchange="alltoall",
        simulate_ms=50,
        warmup_ms=20,
        cycle_ms=0.2,
        resolution_ms=0.05,
        delay_inter_min=1.4,
        delay_max=3,
        delay_intra=[0.6, 0.1],
    )
    assert description["seed"] == 7
    assert description["time"] == {"resolution_ms": 0.05, "cycle_ms": 0.2, "warmup_ms": 20, "simulate_ms": 50}
    assert [description[n] for n in ("schedule", "placement", "exchange")] == [
        "structure_aware",
        "area",
        "alltoall",
    ]
    neuron = description["network"]["populations"][0]["neuron"]
    assert neuron == {"model": "ignore_and_fire", "rate_hz": 4, "rate_cv": 0.3}
    intra, inter = (p["delay"] for p in description["network"]["projections"][:2])
    assert intra == {"distribution": "normal", "mean": 0.6, "sd": 0.1, "min": 0.2, "max": 3}
    assert inter["min"] == 1.4


def test_placement_is_left_to_the_schedule():
    assert "placement" not in mam_benchmark.describe()


BAD = {
    "dpsnn": [
        ({"state": "up"}, "state='up': Input should be 'aw' or 'sw'"),
        ({"kernel": "flat"}, "kernel='flat': Input should be 'exponential' or 'gaussian'"),
        ({"columns": "24"}, "columns='24': width x height"),
        ({"columns": "0x3"}, "columns='0x3'"),
        (
            {"columns": "200x200"},
            "columns='200x200': width x height, such as 24x24, of at most 10000 columns",
        ),
        ({"columns": "4x4", "neurons": 100}, "neurons=100: with columns, neurons_per_column says how many"),
        ({"neurons_per_column": 100}, "neurons_per_column=100: only with columns"),
        (
            {"columns": "90x90", "neurons_per_column": 1_000_000},
            "neurons_per_column=1000000: 8100000000 neurons",
        ),
        ({"neurons": 4}, "neurons=4"),
        ({"scale": 0.0001}, r"scale=0\.0001: at least 5 neurons"),
        ({"reach": 0}, "reach=0"),
        ({"stimulation": -1}, "stimulation=-1"),
        ({"weight_classes": 1}, "weight_classes=1: 0, or at least 2"),
        ({"resolution_ms": 2}, "resolution_ms=2"),
        ({"resolution_ms": 0.3}, r"resolution_ms=0\.3: a whole number of steps in 1 ms"),
        ({"full": 1}, "full=1: true or false"),
    ],
    "mam": [
        ({"scale": 0}, "scale=0"),
        ({"scale": 2}, "scale=2"),
        ({"indegree_scale": -0.5}, r"indegree_scale=-0\.5"),
        ({"full": "yes"}, "full='yes': true or false"),
        ({"from_": 3}, "from_=3"),
        ({"seed": -1}, "seed=-1"),
    ],
    "mam-benchmark": [
        ({"areas": 0}, "areas=0"),
        ({"areas": "some"}, "areas='some'"),
        ({"neurons_per_area": -1}, "neurons_per_area=-1"),
        ({"indegree": -1}, "indegree=-1"),
        ({"indegree": 1.5}, r"indegree=1\.5"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"delay_ratio": 0}, "delay_ratio=0"),
        ({"delay_intra": (0.5,)}, r"delay_intra\.1"),
        ({"delay_inter": (-1, 0.5)}, r"delay_inter\.0=-1"),
        ({"delay_ratio": 30}, r"delay_max=2\.0: at least the shortest delay, 3\.0 ms"),
        (
            {"size_cv": 0.1, "neurons_per_area": 100},
            "neurons_per_area=100: with size_cv > 0 above indegree=500",
        ),
        ({"size_cv": -0.1}, r"size_cv=-0\.1"),
        ({"size_cv": 1e308}, r"size_cv=1e\+308"),
        ({"areas": 10**26}, "areas=1000"),
        ({"areas": 10**5}, "areas=100000"),
        ({"areas": True}, "areas=True"),
        ({"rate": True}, "rate=True"),
        ({"delay_intra": (0.5, True)}, r"delay_intra=\(0\.5, True\)"),
        ({"full": "nonsense"}, "full='nonsense': true or false"),
        ({"full": 1}, "full=1: true or false"),
        ({"neurons_per_area": 1e26}, r"neurons_per_area=1e\+26"),
        ({"neurons_per_area": 2_000_000_000, "areas": 3}, "3 areas have 6000000000 neurons together"),
        (
            {"neurons_per_area": 2_000_000_000, "areas": 2, "size_cv": 1, "seed": 1},
            r"2 areas have \d+ neurons together",
        ),
        ({"indegree": 10**10}, "indegree=10000000000"),
        ({"delay_ratio": 10**7}, "delay_ratio=10000000"),
        ({"cycle_ms": 1e308}, "delay_max"),
        ({"rate": 1e300}, "rate="),
        ({"seed": 2**53 + 1}, "seed="),
        ({"simulate_ms": 0}, "simulate_ms=0"),
    ],
    "microcircuit": [
        ({"scale": 0}, "scale=0"),
        ({"scale": 1.1}, r"scale=1\.1"),
        ({"scale": True}, "scale=True"),
        ({"indegree_scale": 2}, "indegree_scale=2"),
        ({"full": 1}, "full=1: true or false"),
        ({"simulate_ms": -1}, "simulate_ms=-1"),
    ],
    "voxels": [
        ({"voxels": 0}, "voxels=0"),
        ({"neurons": 100, "voxels": 64}, "neurons=100: at least 256, four for each voxel"),
        ({"neurons": 2_000_000}, "neurons=2000000: at most 1000000 in a run description; form=graph"),
        ({"voxels": 2000, "neurons": 100_000}, "voxels=2000: 1000000 connected pairs; a run description has"),
        ({"connected": 0}, "connected=0"),
        ({"lambda_": 0}, "lambda_=0"),
        ({"geometry": "torus"}, "geometry='torus': Input should be 'ball' or 'sheet'"),
        ({"form": "file"}, "form='file': Input should be 'run' or 'graph'"),
        ({"unevenness": -1}, "unevenness=-1"),
    ],
    "music-cells": [
        ({"applications": "A"}, "applications='A': 'A' is not a chain; allowed are names with arrows"),
        ({"applications": "A->B,"}, "applications='A->B,': '' is not a chain"),
        ({"applications": "A=>B"}, "'A=>B' is not a chain"),
        ({"applications": "A->2"}, "'A->2' is not a chain"),
        ({"applications": "A<->B,B->A"}, "B->A twice; allowed is one connection"),
        ({"applications": "A<->A"}, "A->A twice"),
        ({"applications": "->".join(f"A{i}" for i in range(34))}, "33 connections .* at most 32"),
        ({"communication": "pigeon"}, "communication='pigeon': allowed are collective or point-to-point"),
        ({"np": 0}, "np=0"),
        ({"np": 17}, "granularity=8: A has 17 processes, as 1 x 17 patches; allowed are at least 17"),
        ({"scale": 1e-5}, "granularity=8: 64 tiles for 10 cells of A; allowed are at most 3"),
        ({"granularity": 64}, "granularity=64: 4096 tiles for 2048 cells"),
        ({"granularity": 64, "full": True}, "granularity=64: with structure=0.0 33554432 pairs"),
        ({"structure": 1.5}, "structure=1.5"),
        ({"cells": "2k"}, "cells='2k': Input should be '1k' or '10k'"),
        ({"scale": 0}, "scale=0"),
        ({"rate": True}, "rate=True"),
        ({"delay": 0}, "delay=0"),
        ({"full": "yes"}, "full='yes': true or false"),
    ],
}


@pytest.mark.parametrize(
    ("name", "options", "message"), [(name, *case) for name, cases in BAD.items() for case in cases]
)
def test_bad_options(name, options, message):
    with pytest.raises(BadInput, match=message) as caught:
        PRESETS[name].describe(**options)
    assert "\n" not in str(caught.value)


def test_one_area_does_not_care_for_the_delay_between_areas():
    description = mam_benchmark.describe(areas=1, delay_ratio=30)
    assert len(description["network"]["projections"]) == 1


@pytest.mark.parametrize("field", ["schedule", "placement", "exchange", "wire"])
def test_no_preset_takes_a_name_that_the_mini_app_does_not_know(field):
    with_field = [p for p in PRESETS.values() if field in p.options.model_fields]
    assert with_field
    for preset in with_field:
        with pytest.raises(BadInput, match=f"^{field}.*(allowed|should be)"):
            preset.describe(**{field: "no such thing"})
