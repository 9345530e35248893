"""Exchanges of several levels: the same spikes as a direct one, and the words of each level."""

import json
import math

import program
import pytest
from levels import COUNTS, GRIDS, RANKS, arguments, beside, example, network, ring
from program import rows as table

pytestmark = pytest.mark.slow

SAME = ("synaptic_events", "first_accesses", "lookups", "spikes")


@pytest.fixture(scope="module", params=GRIDS)
def run(request, tmp_path_factory):
    """The name of a grid, the folder of its run, and its record."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    return request.param, out, program.record_of(out, *arguments(request.param), ranks=RANKS)


def test_spikes_are_those_of_a_direct_exchange_and_levels_add_up(run, direct):
    name, out, record = run
    (lane,) = record["lanes"]
    assert record["checksum"] == direct[1]["checksum"]
    assert [record["totals"][n] for n in SAME] == [direct[1]["totals"][n] for n in SAME]
    assert lane["spikes_sent"] == direct[1]["lanes"][0]["spikes_sent"]
    for rank in table(out):
        for column, total in (("messages", "messages"), ("bytes", "bytes_sent")):
            levels = [int(rank[f"{column}_level_{i + 1}"]) for i in range(len(lane["levels"]))]
            assert sum(levels) == int(rank[total])
    for i, level in enumerate(lane["levels"]):
        for column, field in COUNTS.items():
            assert sum(int(rank[f"{column}_level_{i + 1}"]) for rank in table(out)) == level[field]
    # All neurons have targets everywhere, so the words are as many for every pair of ranks, about.
    share = {"one": [3 / 4], "two": [1 / 2, 1 / 2], "receivers": [1 / 2, 1 / 2], "three": [1 / 2, 0, 1 / 2]}
    if name in share:
        found = [level["words"] / lane["spikes_sent"] for level in lane["levels"]]
        assert found == pytest.approx(share[name], abs=0.02)


def test_explain_says_the_connections(run):
    name, _, record = run
    said = program.start(program.EXAMPLE, "--explain", "--ranks", RANKS, *arguments(name), "--json").stdout
    (lane,), (ran,) = json.loads(said)["lanes"], record["lanes"]
    assert lane["composed"] == ran["composed"]
    most = [level["connections_most"] for level in lane["levels"]]
    assert most == [level["connections"] for level in ran["levels"]]


def edit(description, **fields):
    description.write_text(json.dumps(json.loads(description.read_text()) | fields))


def everyone(ranks):
    """Every neuron has a target on every rank (but for one in 1e40)."""
    names = [f"p{i}" for i in range(ranks)]
    return network(dict.fromkeys(names, names), 20, 400)


def sent(folder, network, ranks, **exchange):
    """The words of each level by the spikes, and the record of the run."""
    content = example() | {"network": network, "schedule": "conventional", "placement": "area"}
    content["exchange"] = {"name": "multi_level", "parts": "p2p"} | exchange
    record = program.record_of(folder / "run", description=content, ranks=ranks)
    (lane,) = record["lanes"]
    return [level["words"] / record["totals"]["spikes"] for level in lane["levels"]], record


#: Words of a spike that all ranks need, by level. Merged on the sender's side of a grid [a, b], it goes to
#: a - 1 bridges, and each of the a ranks that have it sends it to b - 1 others.
TREES = {
    ("sender", (2, 2)): [1, 2],
    ("receiver", (2, 2)): [2, 1],
    ("sender", (4, 1)): [3, 0],
    ("receiver", (2, 2, 2)): [4, 2, 1],
}


@pytest.mark.parametrize(("side", "dimensions"), TREES)
def test_a_merged_spike_travels_to_a_bridge_once(side, dimensions, tmp_path):
    ranks, how = math.prod(dimensions), {"side": side, "dimensions": list(dimensions)}
    merged, record = sent(tmp_path, everyone(ranks), ranks, merge=True, **how)
    assert merged == TREES[side, dimensions]
    apart, other = sent(tmp_path, everyone(ranks), ranks, **how)
    assert apart == [ranks - ranks / size for size in dimensions]
    assert record["checksum"] == other["checksum"]
    assert [record["totals"][n] for n in SAME] == [other["totals"][n] for n in SAME]


def test_an_order_decides_which_words_cross_which_level(tmp_path):
    """In a ring of four, half of the pairs are within groups as the ranks stand, none in another order."""
    words = {}
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        description = beside(tmp_path, order, parts="p2p")
        edit(description, network=ring(RANKS), placement="area")
        record = program.record_of(tmp_path / "run", description=description, ranks=RANKS)
        (lane,) = record["lanes"]
        words[tuple(order)] = [level["words"] / lane["spikes_sent"] for level in lane["levels"]]
    # From 0 to 1 and from 2 to 3 within groups, the others across, by way of a bridge: 1 to 2 crosses both.
    assert words[0, 1, 2, 3] == pytest.approx([1, 0.5])
    assert words[0, 2, 1, 3] == pytest.approx([0.5, 1])


#: Members of groups of 2 through which words between the group and a rank of another one go.
TABLE = {"kind": "forwarding_table", "format_version": 1, "dimensions": [2, 2],
         "bridge": [[0, 0, 1, 1], [1, 0, 1, 0]]}  # fmt: skip


def with_table(folder, content, order=(0, 1, 2, 3), **exchange):
    """As beside(), with that content of a table."""
    (folder / "table.json").write_text(json.dumps(content))
    return beside(folder, list(order), table="table.json", parts="p2p", **exchange)


@pytest.mark.parametrize(("side", "merge"), [("sender", True), ("receiver", False)])
def test_a_table_changes_the_ways_and_not_the_spikes(side, merge, direct, tmp_path):
    description = with_table(tmp_path, TABLE, [2, 0, 3, 1], side=side, merge=merge)
    record = program.record_of(tmp_path / "run", description=description, ranks=RANKS)
    assert record["checksum"] == direct[1]["checksum"]
    assert [record["totals"][n] for n in SAME] == [direct[1]["totals"][n] for n in SAME]
    kept = json.loads((tmp_path / "run" / "exchange.json").read_text())
    order = {"kind": "rank_order", "format_version": 1, "order": [2, 0, 3, 1]}
    assert kept == {"near/order.json": order, "table.json": TABLE}


def test_a_table_decides_who_is_a_bridge(tmp_path):
    """All spikes go everywhere. Where member 0 is the bridge for all, member 1 sends nothing across."""
    words = {}
    for name, bridge in (("one", [[0] * 4] * 2), ("both", [[0, 1, 0, 1]] * 2)):
        description = with_table(tmp_path, TABLE | {"bridge": bridge})
        edit(description, network=everyone(RANKS), placement="area")
        program.record_of(tmp_path / name, description=description, ranks=RANKS)
        rows = table(tmp_path / name)
        words[name] = [[int(r[f"words_level_{level}"]) / int(r["spikes"]) for r in rows] for level in (1, 2)]
    # One word to the other member, two more to the bridge by the member that is none.
    assert words["one"] == [[1, 3, 1, 3], [pytest.approx(4, rel=0.1), 0, pytest.approx(4, rel=0.1), 0]]
    assert words["both"][0] == [2, 2, 2, 2]
    assert words["both"][1] == pytest.approx([2, 2, 2, 2], rel=0.1)


def test_the_checks_of_the_sanitizers_find_nothing(tmp_path):
    grid = json.dumps({"name": "multi_level", "parts": "p2p", "dimensions": [2, 1, 2], "merge": True})
    short = program.sets(schedule="conventional", exchange=grid, time__warmup_ms=1, time__simulate_ms=20)
    assert program.checked(tmp_path / "run", *short, ranks=RANKS)["status"] == "complete"
