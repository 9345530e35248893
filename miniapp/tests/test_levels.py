"""Exchanges of several levels: the same spikes, counts of each level, and what --explain says."""

import csv
import json
import math

import program
import pytest

pytestmark = pytest.mark.slow

RANKS = 4
GRIDS = {
    "two_level": {"name": "two_level", "inner": "p2p", "group": 3},
    "one": {"name": "multi_level", "dimensions": [4]},
    "two": {"name": "multi_level", "dimensions": [2, 2], "parts": "p2p"},
    "receivers": {"name": "multi_level", "dimensions": [2, 2], "parts": "direct", "side": "receiver"},
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


def beside(folder, order, /, **exchange):
    """A description in `folder` whose exchange names a file with that order."""
    kind = {"kind": "rank_order", "format_version": 1, "order": order}
    (folder / "near").mkdir(exist_ok=True)
    (folder / "near" / "order.json").write_text(json.dumps(kind if isinstance(order, list) else order))
    content = json.loads(program.EXAMPLE.read_text())
    content |= {"schedule": "conventional", "placement": "round_robin"}
    content["exchange"] = {"name": "multi_level", "dimensions": [2, 2], "order": "near/order.json"} | exchange
    (folder / "run.json").write_text(json.dumps(content))
    return folder / "run.json"


def network(sources, size, indegree):
    """A population for each rank, and a projection to each from its `sources`."""
    neuron = {"model": "ignore_and_fire", "rate_hz": 50}
    delay = {"mean": 1, "min": 0.5, "max": 2}
    return {
        "populations": [{"name": name, "size": size, "neuron": neuron} for name in sources],
        "projections": [
            {"source": source, "target": target, "indegree": indegree, "delay": delay}
            for target, source in sources.items()
        ],
    }


def ring(ranks):
    """Neurons of each rank project to the next one only."""
    return network({f"p{i}": f"p{(i - 1) % ranks}" for i in range(ranks)}, 50, 30)


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


def refused(description, out):
    done = program.start(description, "--out", out, ranks=RANKS)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert not out.exists()
    return line


@pytest.mark.parametrize("case", BAD_ORDERS)
def test_bad_orders_are_refused(case, tmp_path):
    order, message = BAD_ORDERS[case]
    assert f"miniapp: {message}" in refused(beside(tmp_path, order), tmp_path / "run")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    line = refused(beside(tmp_path, [0, 1, 2, 3], order="far/order.json"), tmp_path / "run")
    assert line.startswith("miniapp: exchange.order: far/order.json: ")
    line = refused(beside(tmp_path, [0, 1, 2, 3], order=7), tmp_path / "run")
    assert line == "miniapp: exchange.world.order: 7; allowed: the name of a JSON file"


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
    content = json.loads(program.EXAMPLE.read_text()) | {"network": network}
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
    network = json.loads(program.EXAMPLE.read_text())["network"]
    for i in range(4):
        network["projections"][i]["indegree"] = 2
    found = {}
    for merge in (False, True):
        arguments = program.sets(exchange=json.dumps(GRIDS["two"] | {"merge": merge}), wire=wire)
        folder = tmp_path / str(merge)
        content = json.loads(program.EXAMPLE.read_text())
        content |= {"network": network, "schedule": "conventional", "placement": "round_robin"}
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
    content = json.loads(program.EXAMPLE.read_text()) | {"network": sparse(ranks)}
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
        arguments = program.sets(schedule="conventional", exchange=json.dumps(chosen), time__simulate_ms=20)
        assert program.checked(tmp_path / name, *arguments, ranks=RANKS)["status"] == "complete"
