"""Exchanges of several levels: the same spikes, counts of each level, and what --explain says."""

import json

import program
import pytest
from levels import COUNTS, GRIDS, RANKS, arguments, beside, refused, ring, table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=GRIDS)
def run(request, tmp_path_factory):
    """The name of a grid, the folder of its run, and its record."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    return request.param, out, program.record_of(out, *arguments(request.param), ranks=RANKS)


def test_the_spikes_are_those_of_a_direct_exchange(run, direct):
    _, _, record = run
    assert record["checksum"] == direct[1]["checksum"]
    for name in ("synaptic_events", "first_accesses", "lookups", "spikes"):
        assert record["totals"][name] == direct[1]["totals"][name]


def test_levels_add_up(run):
    _, out, record = run
    (lane,) = record["lanes"]
    for rank in table(out):
        for column, total in (("messages", "messages"), ("bytes", "bytes_sent")):
            levels = [int(rank[f"{column}_level_{i + 1}"]) for i in range(len(lane["levels"]))]
            assert sum(levels) == int(rank[total])
    for i, level in enumerate(lane["levels"]):
        for column, name in COUNTS.items():
            assert sum(int(rank[f"{column}_level_{i + 1}"]) for rank in table(out)) == level[name]
        assert level["bytes_sent"] >= 4 * level["words"]


def test_a_direct_exchange_has_no_levels(direct):
    out, record = direct
    assert not [column for column in table(out)[0] if "level" in column]
    assert [lane["levels"] for lane in record["lanes"]] == [None]
    assert [lane["composed"] for lane in record["lanes"]] == [None]


def test_words_of_a_grid_are_those_whose_coordinates_differ(run, direct):
    """All neurons have targets everywhere, so the words are as many for every pair of ranks, about."""
    name, _, record = run
    (lane,) = record["lanes"]
    share = {"one": [3 / 4], "two": [1 / 2, 1 / 2], "receivers": [1 / 2, 1 / 2], "three": [1 / 2, 0, 1 / 2]}
    if name in share:
        found = [level["words"] / lane["spikes_sent"] for level in lane["levels"]]
        assert found == pytest.approx(share[name], abs=0.02)
    assert lane["spikes_sent"] == direct[1]["lanes"][0]["spikes_sent"]


def test_the_description_runs_again(run, tmp_path):
    _, _, record = run
    (tmp_path / "again.json").write_text(json.dumps(record["description"]))
    again = program.record_of(tmp_path / "run", description=tmp_path / "again.json", ranks=RANKS)
    assert again["checksum"] == record["checksum"]
    assert again["lanes"][0]["composed"] == record["lanes"][0]["composed"]


def test_explain_says_the_connections(run):
    name, _, record = run
    how = [program.EXAMPLE, "--explain", "--ranks", RANKS, *arguments(name)]
    (lane,) = json.loads(program.start(*how, "--json").stdout)["lanes"]
    assert lane["composed"] == record["lanes"][0]["composed"]
    counted = [level["connections"] for level in record["lanes"][0]["levels"]]
    assert [level["connections_most"] for level in lane["levels"]] == counted
    lines = [line for line in program.start(*how).stdout.splitlines() if line.startswith("level ")]
    assert len(lines) == len(counted)
    for i, (line, level) in enumerate(zip(lines, lane["levels"], strict=True)):
        assert line.startswith(
            f"level      world    {i + 1}: a rank has {level['connections_mean']:.4g} connections on average"
            f" and {counted[i]} at most"
        )


def test_a_dry_run_leaves_the_counts_of_levels_open(tmp_path):
    out = tmp_path / "run"
    record = program.record_of(out, "--as-rank", 1, "--of", RANKS, *arguments("two"))
    (row,) = table(out)
    names = [f"{column}_level_{i}" for i in (1, 2) for column in COUNTS]
    assert [row[name] for name in names] == [""] * 6
    assert record["lanes"][0]["levels"] == [
        dict.fromkeys(("connections", *COUNTS.values())) for _ in range(2)
    ]


@pytest.mark.parametrize("schedule", ["structure_aware", "overlapped"])
def test_it_serves_lanes_with_a_window_and_a_lag(schedule, direct, tmp_path):
    record = program.record_of(tmp_path / "run", *arguments("two", schedule), ranks=RANKS)
    assert record["checksum"] == direct[1]["checksum"]
    assert not any("multi_level" in warning for warning in record["warnings"])


def test_an_order_decides_which_words_cross_which_level(tmp_path):
    """In a ring of four, half of the pairs are within groups as the ranks stand, none in another order."""
    words = {}
    for order in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0]):
        description = beside(tmp_path, order, parts="p2p")
        content = json.loads(description.read_text()) | {"network": ring(RANKS), "placement": "area"}
        description.write_text(json.dumps(content))
        record = program.record_of(tmp_path / "run", description=description, ranks=RANKS)
        (lane,) = record["lanes"]
        assert lane["composed"]["order"] == "near/order.json"
        words[tuple(order)] = [level["words"] / lane["spikes_sent"] for level in lane["levels"]]
    # From 0 to 1 and from 2 to 3 within groups, the others across, by way of a bridge: 1 to 2 crosses both.
    assert words[0, 1, 2, 3] == pytest.approx([1, 0.5])
    assert words[3, 2, 1, 0] == pytest.approx([1, 0.5])
    assert words[0, 2, 1, 3] == pytest.approx([0.5, 1])


BAD_ORDERS = {
    "too few": ([0, 1, 2], "exchange.world.order: order: 3 positions; allowed: 4, as many as a group"),
    "twice": ([0, 1, 1, 3], "exchange.world.order: order.2: 1, which an earlier rank has; allowed: every"),
    "too large": ([0, 1, 2, 4], "exchange.world.order: order.3: 4; allowed: every integer from 0 to 3 once"),
    "no integer": ([0, 1, 2, "x"], "exchange.world.order: order.3: what is no integer; allowed: every"),
    "kind": ({"kind": "placement"}, 'exchange.world.order: kind: "placement"; allowed: "rank_order"'),
    "version": (
        {"kind": "rank_order", "format_version": 2},
        "exchange.world.order: format_version: 2; allowed: 1",
    ),
    "no list": (
        {"kind": "rank_order", "format_version": 1, "order": 5},
        "exchange.world.order: order: 0 positions; allowed: 4",
    ),
}


@pytest.mark.parametrize("case", BAD_ORDERS)
def test_bad_orders_are_refused(case, tmp_path):
    order, message = BAD_ORDERS[case]
    assert f"miniapp: {message}" in refused(beside(tmp_path, order), tmp_path / "run")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    line = refused(beside(tmp_path, [0, 1, 2, 3], order="far/order.json"), tmp_path / "run")
    assert line.startswith("miniapp: exchange.order: far/order.json: ")
    line = refused(beside(tmp_path, [0, 1, 2, 3], order=7), tmp_path / "run")
    assert line == "miniapp: exchange.world.order: 7; allowed: the name of a JSON file"
