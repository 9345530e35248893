"""Exchanges of several levels with merged spikes and forwarding tables: the words of each level."""

import json
import math

import program
import pytest
from levels import GRIDS, RANKS, arguments, beside, example, network, refused, ring, table

pytestmark = pytest.mark.slow


def everyone(ranks):
    """Every neuron has a target on every rank (but for one in 1e40)."""
    names = [f"p{i}" for i in range(ranks)]
    return network(dict.fromkeys(names, names), 20, 400)


def sparse(ranks):
    """A neuron has a target on each rank in four of ten cases."""
    names = [f"p{i}" for i in range(ranks)]
    return network(dict.fromkeys(names, names), 600, 4)


def sent(folder, network, ranks, **exchange):
    """The words of each level by the spikes, and the record of the run."""
    content = example() | {"network": network}
    content |= {"schedule": "conventional", "placement": "area"}
    content["exchange"] = {"name": "multi_level", "parts": "p2p"} | exchange
    (folder / "run.json").write_text(json.dumps(content))
    record = program.record_of(folder / "run", description=folder / "run.json", ranks=ranks)
    (lane,) = record["lanes"]
    return [level["words"] / record["totals"]["spikes"] for level in lane["levels"]], record


#: Words of a spike that all ranks need, by level. Merged on the sender's side of a grid [a, b], it goes to
#: a - 1 bridges, and each of the a ranks that have it sends it to b - 1 others.
TREES = {
    ("sender", (2, 2)): [1, 2],
    ("receiver", (2, 2)): [2, 1],
    ("sender", (4, 1)): [3, 0],
    ("sender", (2, 2, 2)): [1, 2, 4],
    ("receiver", (2, 2, 2)): [4, 2, 1],
    ("sender", (4, 2)): [3, 4],
    ("receiver", (4, 2)): [6, 1],
}


@pytest.mark.parametrize(("side", "dimensions"), TREES)
def test_a_merged_spike_travels_to_a_bridge_once(side, dimensions, tmp_path):
    ranks = math.prod(dimensions)
    how = {"side": side, "dimensions": list(dimensions)}
    merged, record = sent(tmp_path, everyone(ranks), ranks, merge=True, **how)
    assert merged == TREES[side, dimensions]
    assert record["lanes"][0]["composed"]["merge"] is True
    apart, other = sent(tmp_path, everyone(ranks), ranks, **how)
    assert apart == [ranks - ranks / size for size in dimensions]
    assert record["checksum"] == other["checksum"]
    for name in ("synaptic_events", "first_accesses", "lookups", "spikes"):
        assert record["totals"][name] == other["totals"][name]


def test_merging_changes_nothing_where_each_spike_goes_to_one_rank(tmp_path):
    how = {"dimensions": [2, 2]}
    merged, record = sent(tmp_path, ring(RANKS), RANKS, merge=True, **how)
    apart, other = sent(tmp_path, ring(RANKS), RANKS, **how)
    assert merged == apart
    assert record["totals"]["bytes_sent"] == other["totals"]["bytes_sent"]


@pytest.mark.parametrize("wire", ["compact", "aer12"])
def test_merged_words_of_the_last_hop_are_those_of_single_ones(wire, tmp_path):
    """There each word is for one list of one rank, whether words were merged before or not."""
    network = example()["network"]
    for i in range(4):
        network["projections"][i]["indegree"] = 2
    found = {}
    for merge in (False, True):
        arguments = program.sets(exchange=json.dumps(GRIDS["two"] | {"merge": merge}), wire=wire)
        folder = tmp_path / str(merge)
        content = example() | {"network": network, "schedule": "conventional", "placement": "round_robin"}
        (tmp_path / "run.json").write_text(json.dumps(content))
        found[merge] = program.record_of(folder, *arguments, description=tmp_path / "run.json", ranks=RANKS)
    words = {k: [level["words"] for level in r["lanes"][0]["levels"]] for k, r in found.items()}
    assert words[True][1] == words[False][1]
    assert 0.5 < words[True][0] / words[False][0] < 1
    assert found[True]["checksum"] == found[False]["checksum"]


def test_a_dry_run_sends_merged_words(tmp_path):
    """Its own part is that of the run: as many words leave the rank, and the same spikes arrive."""
    arguments = program.sets(
        schedule="conventional", placement="round_robin", exchange=json.dumps(GRIDS["two"] | {"merge": True})
    )
    record = program.record_of(tmp_path / "run", *arguments, ranks=RANKS)
    parts = [
        program.record_of(tmp_path / str(rank), "--as-rank", rank, "--of", RANKS, *arguments)
        for rank in range(RANKS)
    ]
    assert sum(p["lanes"][0]["spikes_sent"] for p in parts) == record["lanes"][0]["spikes_sent"]
    checksums = [int(table(tmp_path / str(rank))[0]["checksum"], 16) for rank in range(RANKS)]
    assert sum(checksums) % 2**64 == int(record["checksum"], 16)


#: Members of groups of 2 through which words between the group and a rank of another one go.
BRIDGES = [[0, 0, 1, 1], [1, 0, 1, 0]]


ORDERED = {"kind": "rank_order", "format_version": 1, "order": [7, 0, 6, 1, 5, 2, 4, 3]}
TABLE = {"kind": "forwarding_table", "format_version": 1, "dimensions": [2, 2], "bridge": BRIDGES}


def with_table(folder, content, **exchange):
    """As beside(), with the ranks in their own order and that content of a table."""
    (folder / "table.json").write_text(json.dumps(content))
    return beside(folder, [0, 1, 2, 3], table="table.json", **exchange)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_a_table_changes_the_ways_and_not_the_spikes(order, side, merge, direct, tmp_path):
    description = with_table(tmp_path, TABLE, side=side, merge=merge, parts="p2p")
    beside(tmp_path, order, table="table.json", side=side, merge=merge, parts="p2p")
    record = program.record_of(tmp_path / "run", description=description, ranks=RANKS)
    assert record["checksum"] == direct[1]["checksum"]
    for name in ("synaptic_events", "first_accesses", "lookups", "spikes"):
        assert record["totals"][name] == direct[1]["totals"][name]
    assert record["lanes"][0]["composed"]["table"] == "table.json"


def test_the_record_holds_the_files(tmp_path):
    """The order and the table, by the names that the description has for them."""
    order = [2, 0, 3, 1]
    description = with_table(tmp_path, TABLE, parts="p2p")
    beside(tmp_path, order, table="table.json", parts="p2p")
    program.record_of(tmp_path / "run", description=description, ranks=RANKS)
    kept = json.loads((tmp_path / "run" / "exchange.json").read_text())
    assert kept == {
        "near/order.json": {"kind": "rank_order", "format_version": 1, "order": order},
        "table.json": TABLE,
    }
    program.record_of(tmp_path / "run", *arguments("two"), ranks=RANKS)
    assert not (tmp_path / "run" / "exchange.json").exists()


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("dimensions", [[2, 4], [2, 2, 2], [8, 1]])
def test_explain_knows_the_memory_of_bridges(dimensions, side, table, tmp_path):
    """Tables of merged spikes, the order and the forwarding table are part of what routes take."""
    ranks = 8
    content = example() | {"network": sparse(ranks)}
    content |= {"schedule": "conventional", "placement": "area"}
    content["exchange"] = {"name": "multi_level", "parts": "p2p", "merge": True, "side": side}
    content["exchange"]["dimensions"] = dimensions
    if table:
        forwarding = TABLE | {
            "dimensions": [2, 4],
            "bridge": [[(r + g) % 2 for r in range(8)] for g in range(4)],
        }
        (tmp_path / "table.json").write_text(json.dumps(forwarding))
        (tmp_path / "order.json").write_text(json.dumps(ORDERED))
        content["exchange"] |= {"order": "order.json"}
        content["exchange"] |= {"table": "table.json"} if dimensions == [2, 4] else {}
    (tmp_path / "run.json").write_text(json.dumps(content))
    said = program.start(tmp_path / "run.json", "--explain", "--ranks", ranks, "--json").stdout
    routes = sum(rank["memory_parts"]["routes"] for rank in json.loads(said)["per_rank"])
    record = program.record_of(tmp_path / "run", description=tmp_path / "run.json", ranks=ranks)
    assert routes == pytest.approx(record["memory"]["parts"]["routes"], rel=0.05)


def test_a_table_decides_who_is_a_bridge(tmp_path):
    """All spikes go everywhere. Where member 0 is the bridge for all, member 1 sends nothing across."""
    words = {}
    for name, bridge in (("one", [[0] * 4] * 2), ("both", [[0, 1, 0, 1]] * 2)):
        description = with_table(tmp_path, TABLE | {"bridge": bridge}, parts="p2p")
        content = json.loads(description.read_text()) | {"network": everyone(RANKS), "placement": "area"}
        description.write_text(json.dumps(content))
        program.record_of(tmp_path / name, description=description, ranks=RANKS)
        rows = table(tmp_path / name)
        words[name] = [[int(r[f"words_level_{level}"]) / int(r["spikes"]) for r in rows] for level in (1, 2)]
    # One word to the other member, two more to the bridge by the member that is none.
    assert words["one"] == [[1, 3, 1, 3], [pytest.approx(4, rel=0.1), 0, pytest.approx(4, rel=0.1), 0]]
    assert words["both"][0] == [2, 2, 2, 2]
    assert words["both"][1] == pytest.approx([2, 2, 2, 2], rel=0.1)


BAD_TABLES = {
    "kind": (TABLE | {"kind": "rank_order"}, 'kind: "rank_order"; allowed: "forwarding_table"'),
    "grid": (TABLE | {"dimensions": [4, 1]}, "not for this grid; allowed: dimensions [2, 2], and as many"),
    "groups": (TABLE | {"bridge": BRIDGES[:1]}, "not for this grid; allowed: dimensions [2, 2], and as many"),
    "ranks": (TABLE | {"bridge": [[0] * 3] * 2}, "bridge.0: 3 members; allowed: 4, one for each rank"),
    "member": (TABLE | {"bridge": [[0] * 4, [0, 2, 0, 0]]}, "bridge.1.1: 2; allowed: an integer from 0 to 1"),
    "side": (TABLE | {"side": "receiver"}, 'side: "receiver"; allowed: "sender", as this exchange has'),
    "text": (TABLE | {"bridge": [[0] * 4, [0, "a", 0, 0]]}, "bridge.1.1: what is no integer; allowed"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_refused(case, tmp_path):
    content, message = BAD_TABLES[case]
    line = refused(with_table(tmp_path, content), tmp_path / "run")
    assert line.startswith(f"miniapp: exchange.world.table: {message}")


def test_a_table_is_for_two_levels(tmp_path):
    line = refused(with_table(tmp_path, TABLE, dimensions=[2, 1, 2]), tmp_path / "run")
    assert line == "miniapp: exchange.world.table: for 3 levels; allowed: two levels"


@pytest.mark.parametrize("merge", [False, True])
def test_the_checks_of_the_sanitizers_find_nothing(merge, tmp_path):
    description = with_table(tmp_path, TABLE, side="receiver", merge=merge)
    grid = json.loads(description.read_text())["exchange"]
    for name, fields in (("both", {}), ("three", {"dimensions": [2, 1, 2], "table": None, "side": "sender"})):
        chosen = {k: v for k, v in (grid | fields).items() if v is not None}
        if chosen.get("order"):
            chosen["order"] = str(tmp_path / "near" / "order.json")
        if chosen.get("table"):
            chosen["table"] = str(tmp_path / "table.json")
        arguments = program.sets(
            schedule="conventional", exchange=json.dumps(chosen), time__warmup_ms=1, time__simulate_ms=20
        )
        assert program.checked(tmp_path / name, *arguments, ranks=RANKS)["status"] == "complete"
