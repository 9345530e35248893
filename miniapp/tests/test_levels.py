"""Exchanges of several levels: the spikes of a direct one, whatever the grid, its parts and
files.
"""

import json
import shutil

import program
import pytest

pytestmark = pytest.mark.slow

RANKS = 4
SAME = ("synaptic_events", "first_accesses", "lookups", "spikes")
COUNTS = {"messages": "messages", "words": "words", "bytes": "bytes_sent"}
SHORT = program.sets(
    schedule="conventional", placement="round_robin", time__warmup_ms=5, time__simulate_ms=20
)
SQUARE = {"name": "multi_level", "dimensions": [2, 2], "parts": "p2p"}
FILES = {
    "near/order.json": {"kind": "rank_order", "format_version": 1, "order": [2, 0, 3, 1]},
    "table.json": {
        "kind": "forwarding_table",
        "format_version": 1,
        "dimensions": [2, 2],
        "bridge": [[0, 0, 1, 1], [1, 0, 1, 0]],
    },
}
NAMED = {"order": "near/order.json", "table": "table.json"}
#: An exchange, and the words of each level by the routes of a direct one. All neurons have targets
#: on all ranks; a merged spike travels to a bridge once.
GRIDS = {
    "groups": ({"name": "two_level", "inner": "p2p", "group": 3}, None),
    "line": ({"name": "multi_level", "dimensions": [4]}, [3 / 4]),
    "square": (SQUARE, [1 / 2, 1 / 2]),
    "receivers": (SQUARE | {"parts": "direct", "side": "receiver"}, [1 / 2, 1 / 2]),
    "mixed": (
        SQUARE | {"dimensions": [2, 1, 2], "parts": ["p2p", "alltoallv", "rma_put"]},
        [1 / 2, 0, 1 / 2],
    ),
    "merged": (SQUARE | {"merge": True}, [1 / 4, 1 / 2]),
    "by files": (SQUARE | NAMED, None),
    "merged by files": (SQUARE | NAMED | {"merge": True, "side": "receiver"}, None),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example, and the files that exchanges name, beside it."""
    found = tmp_path_factory.mktemp("levels")
    (found / "near").mkdir()
    shutil.copy(program.EXAMPLE, found / "run.json")
    for name, content in FILES.items():
        (found / name).write_text(json.dumps(content))
    return found


@pytest.fixture(scope="module")
def direct(folder):
    return program.record_of(
        folder / "direct", *SHORT, description=folder / "run.json", ranks=RANKS
    )


@pytest.mark.parametrize("name", GRIDS)
def test_spikes_are_those_of_a_direct_exchange_and_levels_add_up(name, folder, direct):
    grid, shares = GRIDS[name]
    arguments = [*SHORT, *program.sets(exchange=grid)]
    record = program.record_of(
        folder / name, *arguments, description=folder / "run.json", ranks=RANKS
    )
    assert record["checksum"] == direct["checksum"]
    assert [record["totals"][n] for n in SAME] == [direct["totals"][n] for n in SAME]
    (lane,), (plain,) = record["lanes"], direct["lanes"]
    assert grid.get("merge") or lane["spikes_sent"] == plain["spikes_sent"]
    rows = program.rows(folder / name)
    for column, field in COUNTS.items():
        levels = [
            [int(row[f"{column}_level_{i + 1}"]) for row in rows]
            for i in range(len(lane["levels"]))
        ]
        assert [sum(level) for level in levels] == [level[field] for level in lane["levels"]]
        if field != "words":
            assert [sum(own) for own in zip(*levels, strict=True)] == [
                int(row[field]) for row in rows
            ]
    if shares:
        words = [level["words"] / plain["spikes_sent"] for level in lane["levels"]]
        assert words == pytest.approx(shares, abs=0.02)
    if "order" in grid:
        assert json.loads((folder / name / "exchange.json").read_text()) == FILES
    said = program.start(
        "--explain", folder / "run.json", "--ranks", RANKS, *arguments, "--json"
    ).stdout
    (explained,) = json.loads(said)["lanes"]
    assert explained["composed"] == lane["composed"]


def test_the_checks_of_the_sanitizers_find_nothing(tmp_path):
    grid = SQUARE | {"dimensions": [2, 1, 2], "merge": True}
    short = program.sets(
        schedule="conventional", exchange=grid, time__warmup_ms=1, time__simulate_ms=20
    )
    assert program.checked(tmp_path / "run", *short, ranks=RANKS)["status"] == "complete"


LANES = [{"name": "pair", "group": 2}, {"name": "all"}]
FOR_ALL = {
    "two_level": {"name": "two_level"},
    "two_level, parts": {"name": "two_level", "inner": "p2p", "outer": "direct"},
    "multi_level": {"name": "multi_level"},
    "multi_level, merged": {
        "name": "multi_level",
        "parts": "p2p",
        "merge": True,
        "side": "receiver",
    },
}


@pytest.mark.parametrize("name", FOR_ALL)
def test_an_exchange_for_all_lanes_is_that_of_each_lane(name, folder):
    """Lanes of a list share a choice; what it leaves open follows from the ranks of each lane."""
    shared, records = FOR_ALL[name], []
    for number, exchange in enumerate([shared, {lane["name"]: shared for lane in LANES}]):
        arguments = [*SHORT, *program.sets(schedule=LANES, exchange=exchange)]
        out = folder / f"{name} {number}"
        records.append(
            program.record_of(out, *arguments, description=folder / "run.json", ranks=RANKS)
        )
    for_all, for_each = records
    assert for_all["lanes"] == for_each["lanes"]
    assert for_all["checksum"] == for_each["checksum"]
    if shared["name"] == "two_level":
        assert [lane["composed"]["group"] for lane in for_all["lanes"]] == [1, 2]
