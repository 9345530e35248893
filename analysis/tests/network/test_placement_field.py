"""Placements of a description: by name or from a file, and where the neurons are then."""

import pytest
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import placement, placement_field, placement_file
from spikemark.network.description import read
from spikemark.network.placement import PLACEMENTS, areas_on_ranks, neurons, ranges, sharing, spans
from spikemark.network.placement_file import Placement

FROM_FILE = {"name": "from_file", "file": "near/cut.json"}


@pytest.fixture
def network():
    """Five areas; the third one has no neurons."""
    found = describe(areas=5)
    for population, size in zip(found["network"]["populations"], (7, 40, 0, 25, 28), strict=True):
        population["size"] = size
    found["network"]["projections"] = []
    return read(found)


def written(path, placed: Placement) -> str:
    path.parent.mkdir(exist_ok=True)
    placement_file.write(path, placed)
    return str(path)


def test_a_file_stands_for_itself_and_back():
    assert read(describe() | {"placement": FROM_FILE}).placement == "near/cut.json"
    for field in (*PLACEMENTS, FROM_FILE):
        assert placement_field.field_of(placement_field.text_of(field)) == field
    assert placement_field.name_of(FROM_FILE) == "from_file cut"
    assert placement_field.name_of("area") == "area"
    weighed = {"name": "area_group", "weights": [1.0, 0.5, 0.5]}
    assert read(describe() | {"placement": weighed}).placement == "area_group:1.0,0.5x2"
    assert placement_field.field_of(placement_field.text_of(weighed)) == weighed
    assert placement_field.name_of(weighed) == "area_group 1,0.5x2"


@pytest.mark.parametrize(
    "field",
    ["from_file", "cut.json", {"name": "from_file"}, {"name": "area", "file": "p.json"}, {"file": "p.json"},
     {**FROM_FILE, "ranks": 2}, {"name": "from_file", "file": 3}, {"name": "from_file", "file": "p.npz"}],
)  # fmt: skip
def test_what_is_neither_is_refused(field):
    with pytest.raises(BadInput, match=r"^run: placement: .*; expected .*\.json") as error:
        read(describe() | {"placement": field}, "run: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("weights", [[], "1", [True], [1e400, 1], [10**400, 1], [float("nan")]])
def test_weights_that_are_no_finite_numbers_are_refused_by_name(weights):
    said = r"^run: placement: weights=.*; expected a finite number for each rank$"
    with pytest.raises(BadInput, match=said):
        read(describe() | {"placement": {"name": "area_group", "weights": weights}}, "run: ")


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("rule", PLACEMENTS)
def test_a_file_places_as_the_rule_that_it_states(rule, ranks, network, tmp_path):
    path = written(tmp_path / "p.json", ranges(network.network, rule, ranks)[0])
    for threads in (1, 3):
        mine, ruled = (neurons(network, name, ranks, threads) for name in (path, rule))
        assert (mine.sum(axis=2) == ruled.sum(axis=2)).all()
        if rule == "round_robin":
            assert (mine == ruled).all()
        each = mine.sum(axis=0)  # [rank, thread]
        assert (each.max(axis=1) - each.min(axis=1) <= 1).all()
    filled = [0, 1, 3, 4]
    mine, ruled = (spans(network, name, ranks) for name in (path, rule))
    assert [mine[i] for i in filled] == [ruled[i] for i in filled]


def test_areas_on_ranks_that_do_not_follow_each_other(network, tmp_path):
    """The first area lies on ranks 0 and 4, the second on 1, the fourth on 2 and 3, the last one on 3."""
    placed = Placement.of(6, [5, 7, 47, 72, 100], [0, 4, 1, 2, 3], [1, 1, 1, 2, 1])
    path = written(tmp_path / "p.json", placed)
    where = areas_on_ranks(network, path, 6)
    assert where.tolist() == [[0, 0, 1], [0, 4, 1], [1, 1, 1], [3, 2, 2], [4, 3, 1]]
    assert sharing(where, 6).tolist() == [0, 1, 2, 2, 0, 3]
    assert spans(network, path, 6) == [(0, 5), (1, 1), (0, 1), (2, 2), (3, 1)]


def test_a_file_for_others_is_refused(network, tmp_path):
    path = written(tmp_path / "p.json", Placement.of(2, [50, 99], [0, 1]))
    with pytest.raises(BadInput, match="end=99; expected 100"):
        neurons(network, path, 2, 1)
    written(tmp_path / "p.json", Placement.of(2, [50, 100], [0, 1]))  # read again, as it has changed
    assert neurons(network, path, 2, 1).sum() == 100
    with pytest.raises(BadInput, match=r"ranks=3: .*p\.json is for 2"):
        neurons(network, path, 3, 1)
    with pytest.raises(BadInput, match=r"absent\.json: not found"):
        spans(network, str(tmp_path / "absent.json"), 2)
    with pytest.raises(BadInput, match="placement='far'; expected round_robin, area, area_group, or a file"):
        placement.check_name("far")
