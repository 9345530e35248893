"""Schedules, and lanes of runs that were not made; tests/test_explained.py has those of the
mini-app.
"""

import pytest
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import lanes
from spikemark.network.description import read_description
from spikemark.network.schedules import find_schedule, plan


def periods(description: dict, ranks: int = 2) -> dict[str, int]:
    known = read_description(description)
    return {
        lane.name: lane.period
        for lane in lanes.plan_lanes(known, ranks, *lanes.schedule_and_placement(known, None, None))
    }


def test_automatic_delay_ratio_is_exact_in_all_lanes_that_use_it():
    """Two lanes follow D; their shortest delays allow 5 and 12 cycles, so D is 5 in both."""
    description = describe(areas=3, delay_ratio=5)
    lane = {"period": "D"}
    description |= {
        "delay_ratio": "auto",
        "schedule": [
            {"name": "near", "group": "area"},
            {"name": "back", "from": "area1", "to": "area0", **lane},
            {"name": "far", **lane},
        ],
    }
    back = {"distribution": "constant", "mean": 1.2}
    projections = description["network"]["projections"]
    projections.append({"source": "area1", "target": "area0", "indegree": 3, "delay": back})
    projections[1]["source"] = "area2"
    assert periods(description) == {"near": 1, "back": 5, "far": 5}


def test_the_lag_of_a_description_counts_and_areas_beyond_a_block_are_in_no_block():
    auto = describe(delay_ratio=10) | {"schedule": "overlapped", "lag": 2, "delay_ratio": "auto"}
    assert periods(auto) == {"near": 1, "far": 3}
    blocks = find_schedule([{"name": "block", "group": 2}, {"name": "all"}])
    for placement, inside in (("round_robin", False), ("area_group", True)):
        assert (
            lanes.pairs(read_description(describe(areas=4)), blocks, placement, 4)["block"].any()
            == inside
        )


def test_projections_without_synapses_have_no_say():
    description = describe(delay_ratio=10) | {"schedule": "structure_aware"}
    description["network"]["projections"].append(
        {"source": "area0", "target": "area1", "indegree": 0, "delay": {"mean": 0.1}}
    )
    assert periods(description)["far"] == 10


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("delay_ratio", 11, "delay_ratio"),  # windows longer than the shortest delay
        ("exchange", {"fat": "p2p"}, "exchange.fat"),
        ("schedule", [{"name": "a", "from": "nowhere"}, {"name": "b"}], "schedule.0.from"),
        ("schedule", [{"name": "a", "to": []}, {"name": "b"}], "schedule.0.to"),
        (
            "schedule",
            [{"name": "a", "group": "area"}],
            "schedule",
        ),  # synapses between areas without a lane
    ],
)
def test_what_the_mini_app_refuses(field, value, named):
    with pytest.raises(BadInput) as error:
        periods(describe(delay_ratio=10) | {"schedule": "structure_aware"} | {field: value})
    assert error.value.field == named


@pytest.mark.parametrize(
    ("schedule", "options", "expected"),
    [
        ("conventional", {}, (1, 1, 0, 1, 0)),
        ("placement_only", {}, (1, 1, 0, 1, 0)),
        ("structure_aware", {}, (12, 12, 0, 1, 0)),
        ("overlapped", {}, (12, 6, 1, 1, 0)),
        ("overlapped", {"lag": 2}, (12, 4, 2, 1, 0)),
        ("overlapped", {"lag": 0}, (12, 12, 0, 1, 0)),
        ("hierarchical", {}, (12, 12, 0, 4, 0)),
        ("hierarchical", {"group_period": 3}, (12, 12, 0, 4, 3)),
        ("hierarchical", {"group_period": 24}, (12, 12, 0, 4, 0)),
    ],
)
def test_meetings_of_the_lanes(schedule, options, expected):
    found = plan(schedule, 12, 16, **options)
    assert (found.delay_ratio, found.window, found.lag, found.group, found.base) == expected


def test_lanes_of_a_description_make_a_schedule():
    found = find_schedule(
        [
            {"name": "near", "group": "area"},
            {"name": "a", "from": "a"},
            {"name": "far", "period": "D"},
        ]
    )
    assert found.name == "lanes" and found.uses_delay_ratio and found.placement == "area"
    assert [lane.bound for lane in found.lanes] == [False, True, False]
    assert found.lanes[1].source == "a"


@pytest.mark.parametrize(
    ("lanes", "complaint"),
    [
        ([{"name": "a", "group": "area"}, {"name": "a"}], "schedule.1.name='a'"),
        ([{"name": "a"}, {"name": "b"}], "schedule.0.group='world'"),
        ([{"name": "a", "group": 2}, {"name": "b", "group": "area"}], "schedule.1.group='area'"),
        ([{"name": "a", "group": 2}, {"name": "b", "group": 3}], "schedule.1.group=3"),
        ([{"name": "a", "group": 2, "from": "x"}], "schedule.0.group=2"),
    ],
)
def test_lanes_out_of_order_are_refused(lanes, complaint):
    with pytest.raises(BadInput) as error:
        find_schedule(lanes)
    assert str(error.value).startswith(complaint)
