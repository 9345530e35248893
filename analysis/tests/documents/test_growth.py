"""The growth table: its programs answer, and what they say follows from the network."""

import math

import pytest

from spikemark.core.errors import BadInput
from spikemark.documents import growth
from spikemark.documents.modelled import TABLES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("ranks", "threads"), [(2, 128), (128, 128)])
def test_a_thread_has_the_lists_of_its_place_in_the_machine(ranks, threads):
    found = growth.delivered(ranks, threads, repetitions=1)
    per_rank = growth.INDEGREE / ranks / -math.expm1(-growth.INDEGREE / ranks)
    assert found["length"] == pytest.approx(per_rank / threads, rel=1e-4)
    assert found["lookups"] * found["length"] == pytest.approx(1, rel=0.02)
    assert found["ns"] > 0


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
@pytest.mark.parametrize(("ranks", "threads", "most"), [(2, 2, 4.5), (2, 128, 4.5), (128, 128, 5.0)])
def test_bytes_per_synapse_stay_below_the_goal(ranks, threads, most, schedule):
    assert 4 < growth.bytes_per_synapse(ranks, threads, schedule) <= most


def test_between_the_corners_a_synapse_takes_hardly_more():
    """Most where lists have about three synapses, which fill lines least well (docs/delivery-growth.md)."""
    found = {(m, t): growth.bytes_per_synapse(m, t) for m in growth.SIZES for t in growth.SIZES}
    assert max(found, key=found.get) == (128, 16) and 5.0 < found[128, 16] < 5.1


def test_building_is_measured_for_every_machine(monkeypatch):
    monkeypatch.setattr(growth, "SIZES", (2, 4))
    table = growth._building(neurons=200, indegree=20, repetitions=1)
    assert [row["ranks"] for row in table.rows] == [2, 4]
    assert table.rows[0]["relative"] == 1 and all(row["ns"] > 0 for row in table.rows)


def test_a_program_that_refuses_is_quoted():
    with pytest.raises(BadInput, match=r"bench_growth.*--ranks 0"):
        growth.delivered(0, 2)


def test_growth_is_one_of_the_families():
    assert TABLES["growth"].kind == "measured"
