"""The exchange that a simulated run takes where its description names none for a lane with a lag."""

import pytest

from spikemark.core.errors import BadInput
from spikemark.presets import mam_benchmark
from spikemark.running.simulation import exchanges

RANKS = 4
NETWORK = mam_benchmark.describe(areas=RANKS, neurons_per_area=100, indegree=20, delay_ratio=10)
OVERLAPPED = {**NETWORK, "schedule": "overlapped"}
LANES = [{"name": "near", "group": "area"}, {"name": "far", "period": 5, "lag": 1}]


@pytest.mark.parametrize("schedule", ["overlapped", LANES])
@pytest.mark.parametrize("given", [None, {}, {"near": "alltoall"}, {"far": {}}])
def test_a_lane_with_a_lag_gets_one_that_can_be_simulated_in_time(schedule, given):
    description = {**OVERLAPPED, "schedule": schedule} | ({} if given is None else {"exchange": given})
    before = dict(description)
    found, (line,) = exchanges.chosen(description, RANKS)
    assert found == {**description, "exchange": {**(given or {}), "far": "direct"}}
    assert "exchange = 'direct' for lane far" in line and "ialltoallv" in line
    assert description == before


@pytest.mark.parametrize(
    "given", ["ialltoallv", {"far": "p2p"}, {"far": {"name": "two_level"}}, {"name": "two_level", "group": 2}]
)
def test_an_exchange_that_is_named_stays(given):
    description = {**OVERLAPPED, "exchange": given}
    assert exchanges.chosen(description, RANKS) == (description, [])


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_lanes_without_a_lag_stay(schedule):
    description = {**OVERLAPPED, "schedule": schedule}
    assert exchanges.chosen(description, RANKS) == (description, [])
    assert exchanges.chosen(OVERLAPPED, 1) == (OVERLAPPED, [])  # one rank has nobody to tell


def test_a_description_that_cannot_be_run_is_refused():
    with pytest.raises(BadInput, match="lane far has windows of"):
        exchanges.chosen({**OVERLAPPED, "delay_ratio": 30}, RANKS)
