"""Exchanges of several levels: the same spikes, counts of each level, and what --explain says."""

import csv
import json

import program
import pytest

pytestmark = pytest.mark.slow

RANKS = 4
GRIDS = {
    "two_level": {"name": "two_level", "inner": "p2p", "group": 3},
    "one": {"name": "multi_level", "dimensions": [4]},
    "two": {"name": "multi_level", "dimensions": [2, 2], "parts": "p2p"},
    "three": {"name": "multi_level", "dimensions": [2, 1, 2], "parts": ["p2p", "alltoallv", "rma_put"]},
}
COUNTS = {"messages": "messages", "words": "words", "bytes": "bytes_sent"}


def arguments(name, schedule="conventional"):
    return program.sets(schedule=schedule, exchange=json.dumps(GRIDS[name]), placement="round_robin")


def table(out):
    with open(out / "ranks.csv", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    out = tmp_path_factory.mktemp("direct") / "run"
    return out, program.record_of(
        out, *program.sets(schedule="conventional", placement="round_robin"), ranks=RANKS
    )


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
    share = {"one": [3 / 4], "two": [1 / 2, 1 / 2], "three": [1 / 2, 0, 1 / 2]}
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
