"""Lanes of runs that have not been made; tests/test_explained.py compares them with the mini-app's."""

import pytest
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import lanes
from spikemark.network.description import read


def periods(description: dict, ranks: int = 2) -> dict[str, int]:
    known = read(description)
    return {lane.name: lane.period for lane in lanes.read(known, ranks, *lanes.chosen(known, None, None))}


def test_automatic_delay_ratio_is_exact_in_all_lanes_that_use_it():
    """Two lanes follow D; their shortest delays allow 5 and 12 cycles, so D is 5 in both."""
    description = describe(areas=3, delay_ratio=5)
    lane = {"period": "D"}
    description |= {"delay_ratio": "auto", "schedule": [
        {"name": "near", "group": "area"}, {"name": "back", "from": "area1", "to": "area0", **lane},
        {"name": "far", **lane},
    ]}  # fmt: skip
    back = {"distribution": "constant", "mean": 1.2}
    projections = description["network"]["projections"]
    projections.append({"source": "area1", "target": "area0", "indegree": 3, "delay": back})
    projections[1]["source"] = "area2"
    assert periods(description) == {"near": 1, "back": 5, "far": 5}


def test_automatic_delay_ratio_is_a_multiple_of_lag_and_one():
    description = describe(delay_ratio=11) | {"schedule": "overlapped", "delay_ratio": "auto", "lag": 2}
    assert periods(description) == {"near": 1, "far": 3}


def test_a_lane_without_synapses_keeps_no_delay():
    description = describe(areas=1) | {"schedule": "structure_aware", "delay_ratio": "auto"}
    assert periods(description, 1) == {"near": 1, "far": 1000}  # the cycles of the run


def test_no_automatic_delay_ratio_is_beyond_what_a_description_may_have():
    description = describe(areas=1) | {"schedule": "overlapped", "delay_ratio": "auto", "lag": 2}
    description["time"]["simulate_ms"] = 1e6
    assert periods(description, 1) == {"near": 1, "far": 333_333}


def test_projections_without_synapses_have_no_say():
    description = describe(delay_ratio=10) | {"schedule": "structure_aware"}
    description["network"]["projections"].append(
        {"source": "area0", "target": "area1", "indegree": 0, "delay": {"mean": 0.1}}
    )
    assert periods(description)["far"] == 10


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        (
            "delay_ratio",
            11,
            "schedule=structure_aware: lane far has windows of 11 cycles; its shortest delay",
        ),
        ("exchange", {"fat": "p2p"}, "exchange: no lane 'fat'; there are near, far"),
        (
            "schedule",
            [{"name": "a", "from": "nowhere"}, {"name": "b"}],
            "schedule.0.from='nowhere': an area of",
        ),
        ("schedule", [{"name": "a", "to": []}, {"name": "b"}], "schedule.0.to=[]: at least one area"),
        (
            "schedule",
            [{"name": "a", "group": "area"}],
            "schedule: no lane for network.projections.1, from area",
        ),
    ],
)
def test_what_the_mini_app_refuses(field, value, complaint):
    with pytest.raises(BadInput) as error:
        periods(describe(delay_ratio=10) | {"schedule": "structure_aware"} | {field: value})
    assert str(error.value).startswith(complaint)
