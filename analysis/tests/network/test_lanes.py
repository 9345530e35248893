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


def test_projections_without_synapses_have_no_say():
    description = describe(delay_ratio=10) | {"schedule": "structure_aware"}
    description["network"]["projections"].append(
        {"source": "area0", "target": "area1", "indegree": 0, "delay": {"mean": 0.1}}
    )
    assert periods(description)["far"] == 10


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("delay_ratio", 11, "schedule"),  # windows longer than the shortest delay
        ("exchange", {"fat": "p2p"}, "exchange"),
        ("schedule", [{"name": "a", "from": "nowhere"}, {"name": "b"}], "schedule.0.from"),
        ("schedule", [{"name": "a", "to": []}, {"name": "b"}], "schedule.0.to"),
        ("schedule", [{"name": "a", "group": "area"}], "schedule"),  # synapses between areas without a lane
    ],
)
def test_what_the_mini_app_refuses(field, value, named):
    with pytest.raises(BadInput) as error:
        periods(describe(delay_ratio=10) | {"schedule": "structure_aware"} | {field: value})
    assert error.value.field == named
