"""Placements by name, with weights or from a file, and the other files that a description names."""

import json

import numpy as np
import pytest
from scipy.sparse import csgraph
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import named_files, placement, placement_file, placement_text, pools
from spikemark.network.description import read_description
from spikemark.network.placement import PLACEMENTS, areas_on_ranks, neurons, ranges, sharing, spans
from spikemark.network.placement_file import Placement
from spikemark.network.presets import PRESETS
from spikemark.prediction.workload import Counting

FROM_FILE = {"name": "from_file", "file": "near/cut.json"}
ORDER = {"kind": "rank_order", "format_version": 1, "order": [1, 0]}
LEVELS = {"name": "multi_level", "order": "near/order.json", "table": "near/table.json"}


@pytest.fixture
def network():
    """Five areas; the third one has no neurons."""
    found = describe(areas=5)
    for population, size in zip(found["network"]["populations"], (7, 40, 0, 25, 28), strict=True):
        population["size"] = size
    found["network"]["projections"] = []
    return read_description(found)


def written(path, placed: Placement) -> str:
    path.parent.mkdir(exist_ok=True)
    placement_file.write(path, placed)
    return str(path)


def test_a_file_stands_for_itself_and_back():
    assert read_description(describe() | {"placement": FROM_FILE}).placement == "near/cut.json"
    for field in (*PLACEMENTS, FROM_FILE):
        assert placement_text.field_of(placement_text.text_of(field)) == field
    assert placement_text.name_of(FROM_FILE) == "from_file cut"
    assert placement_text.name_of("area") == "area"
    weighed = {"name": "area_group", "weights": [1.0, 0.5, 0.5]}
    assert read_description(describe() | {"placement": weighed}).placement == "area_group:1.0,0.5x2"
    assert placement_text.field_of(placement_text.text_of(weighed)) == weighed
    assert placement_text.name_of(weighed) == "area_group 1,0.5x2"


def test_what_is_neither_is_refused():
    for field in (
        "from_file",
        {"name": "from_file"},
        {**FROM_FILE, "ranks": 2},
        FROM_FILE | {"file": "p.npz"},
    ):
        with pytest.raises(BadInput, match=r"^run: placement.*; expected ") as error:
            read_description(describe() | {"placement": field}, "run: ")
        assert error.value.field.split(".")[0] == "placement"
    for weights in ([], "1", [1e400, 1]):
        with pytest.raises(BadInput, match=r"^run: placement.*weights.*; expected "):
            read_description(
                describe() | {"placement": {"name": "area_group", "weights": weights}}, "run: "
            )


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
    """The first area lies on ranks 0 and 4, the second on 1, the fourth on 2 and 3, the last one on
    3.
    """
    placed = Placement.from_ranges(6, [5, 7, 47, 72, 100], [0, 4, 1, 2, 3], [1, 1, 1, 2, 1])
    path = written(tmp_path / "p.json", placed)
    where = areas_on_ranks(network, path, 6)
    assert where.tolist() == [[0, 0, 1], [0, 4, 1], [1, 1, 1], [3, 2, 2], [4, 3, 1]]
    assert sharing(where, 6).tolist() == [0, 1, 2, 2, 0, 3]
    assert spans(network, path, 6) == [(0, 5), (1, 1), (0, 1), (2, 2), (3, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_the_connected_components_of_ranks_that_share_an_area(seed):
    random = np.random.default_rng(seed)
    ranks, rows = random.integers(1, 40, size=2).tolist()
    first = random.integers(0, ranks, rows)
    number = np.minimum(random.integers(1, 4, rows), ranks - first)
    where = np.c_[np.sort(random.integers(0, 12, rows)), first, number]
    linked = np.zeros((ranks, ranks))
    for area in where[:, 0]:
        of_area = where[where[:, 0] == area]
        members = np.concatenate([np.arange(begin, begin + n) for _, begin, n in of_area])
        linked[members[0], members] = 1
    for _, begin, n in where:
        linked[begin, begin : begin + n] = 1
    components = csgraph.connected_components(linked, directed=False)[1]
    assert sharing(where, ranks).tolist() == components.tolist()


@pytest.mark.parametrize(
    "preset", [pytest.param("mam", marks=pytest.mark.slow), "microcircuit", "voxels"]
)
def test_dense_and_sparse_matrices_of_pools_are_the_same(monkeypatch, preset):
    network = read_description(PRESETS[preset].describe()).network
    drawn = pools.source_pools(network)
    for of_pair in (drawn.pair_misses, drawn.pair_hits, np.zeros(len(drawn.source))):
        monkeypatch.setattr(pools, "DENSE_POPULATIONS", len(network.populations))
        dense = drawn.matrix(of_pair)
        monkeypatch.setattr(pools, "DENSE_POPULATIONS", 0)
        assert isinstance(dense, np.ndarray)
        assert dense == pytest.approx(drawn.matrix(of_pair).toarray(), rel=1e-14)


def test_a_file_for_others_is_refused(network, tmp_path):
    path = written(tmp_path / "p.json", Placement.from_ranges(2, [50, 99], [0, 1]))
    with pytest.raises(BadInput, match="end=99; expected 100"):
        neurons(network, path, 2, 1)
    written(
        tmp_path / "p.json", Placement.from_ranges(2, [50, 100], [0, 1])
    )  # read again, as it has changed
    assert neurons(network, path, 2, 1).sum() == 100
    with pytest.raises(BadInput, match=r"ranks=3: .*p\.json is for 2"):
        neurons(network, path, 3, 1)
    with pytest.raises(BadInput, match=r"absent\.json: not found"):
        spans(network, str(tmp_path / "absent.json"), 2)
    with pytest.raises(
        BadInput, match="placement='far'; expected round_robin, area, area_group, or a file"
    ):
        placement.check_name("far")


@pytest.fixture
def folder(tmp_path):
    """A folder with an order and a table."""
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "order.json").write_text(json.dumps(ORDER, indent=2))
    (tmp_path / "near" / "table.json").write_text(json.dumps(ORDER | {"kind": "forwarding_table"}))
    return tmp_path


CHOICES = {"one": LEVELS, "of a lane": {"near": "p2p", "far": LEVELS}}


@pytest.mark.parametrize("choice", CHOICES)
def test_files_of_exchanges_are_found_copied_and_compared(choice, folder):
    given = describe() | {"exchange": CHOICES[choice]}
    found = named_files.located(given, folder)
    chosen = found["exchange"].get("far", found["exchange"])
    assert chosen == LEVELS | {f: str(folder / "near" / f"{f}.json") for f in ("order", "table")}
    kept = named_files.stored(
        found, lambda field, file: folder / "kept" / f"{field}.json", folder / "runs"
    )
    assert kept["exchange"].get("far", kept["exchange"])["order"] == "../kept/order.json"
    back = named_files.located(kept, folder / "runs")
    assert named_files.with_content(back) == named_files.with_content(found) != found
    (folder / "near" / "order.json").write_text(json.dumps(ORDER | {"order": [0, 1]}))
    assert named_files.with_content(back) != named_files.with_content(found)


@pytest.mark.parametrize("choice", CHOICES)
def test_files_in_a_record_are_those_that_were_given(choice, folder):
    given = describe() | {"exchange": CHOICES[choice]}
    found = named_files.with_content(named_files.located(given, folder))
    kept = {LEVELS[f]: json.loads((folder / LEVELS[f]).read_text()) for f in ("order", "table")}
    (folder / "exchange.json").write_text(json.dumps(kept))
    copied = named_files.copied(given, folder / "placement.json", folder / "exchange.json")
    assert named_files.with_content(copied) == found
    (folder / "exchange.json").write_text("{}")
    with pytest.raises(
        BadInput, match=r"exchange\.json: has no 'near/order\.json', which the description"
    ):
        named_files.with_content(copied)


def test_a_description_is_the_same_wherever_its_file_lies(tmp_path):
    whole = Placement.from_ranges(2, [50, 100], [0, 1])
    one, two = (written(tmp_path / name / "p.json", whole) for name in ("a", "b"))
    copy = tmp_path / "b" / "p.json"
    copy.write_text(json.dumps(json.loads(copy.read_text()), indent=3))
    other = written(tmp_path / "a" / "other.json", Placement.from_ranges(2, [50, 100], [1, 0]))
    first, second, third = (
        describe() | {"placement": FROM_FILE | {"file": f}} for f in (one, two, other)
    )
    assert named_files.with_content(first) == named_files.with_content(second)
    assert named_files.with_content(first) != named_files.with_content(third)
    assert placement_file.same(one, two) and not placement_file.same(one, other)
    assert placement_file.same("area", "area") and not placement_file.same("area", one)
    assert named_files.with_content(describe()) == describe()


@pytest.mark.parametrize("placed", [*PLACEMENTS, "area_group:1,3,1,2,1", "cut.json"])
@pytest.mark.parametrize("threads", [1, 4])
def test_columns_stand_for_the_neurons_of_every_thread(network, tmp_path, placed, threads):
    ranks = 5
    if placed.endswith(".json"):
        ends, on = np.array([3, 30, 50, 100]), np.array([4, 0, 3, 2])
        placed = written(tmp_path / placed, Placement.from_ranges(ranks, ends, on))
    counted = neurons(network, placed, ranks, threads)
    found = Counting(network, np.ones(5)).placed(placed, ranks, threads)
    assert (found.in_column[:, found.column] == counted).all()
    assert (found.on_rank == counted.sum(axis=2)).all()
    different = np.unique(counted.reshape(5, -1), axis=1)
    assert found.in_column.shape == different.shape
