"""Memory of a rank: as --explain says up to machines that nobody has, and of a run with short lists."""

import json
import re

import program
import pytest

pytestmark = pytest.mark.slow

MOST_BUILDING = 1.3  # times what stays


def network(neurons, indegree, areas=4):
    """Areas of equal size, half of the synapses within an area and half between areas."""
    names = [f"a{i}" for i in range(areas)]
    far = {"mean": 5, "sd": 2.5, "min": 1, "max": 20}
    projections = [
        {"source": source, "target": name, "indegree": indegree // 2, "delay": delay}
        for name in names
        for source, delay in ((name, {"mean": 1.5, "max": 20}), ([n for n in names if n != name], far))
    ]
    neuron = {"model": "ignore_and_fire", "rate_hz": 2.5}
    populations = [{"name": name, "size": int(neurons / areas), "neuron": neuron} for name in names]
    return {
        "format_version": 1,
        "delay_ratio": 10,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "simulate_ms": 1},
        "network": {"populations": populations, "projections": projections},
    }


def explained(path, ranks, threads, schedule, *more):
    chosen = ["--threads", threads, "--set", f"schedule={schedule}", *more]
    return program.start("--explain", path, "--ranks", ranks, *chosen)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_a_rank_of_ten_thousand_follows_its_own_synapses(tmp_path, schedule):
    path = tmp_path / "run.json"
    for indegree, threads in ((100, 1), (6000, 128)):
        path.write_text(json.dumps(network(1e9, indegree)))
        done = explained(path, 10_000, threads, schedule, "--set", "placement=area_group", "--json")
        assert done.returncode == 0, done.stderr
        rank = json.loads(done.stdout)["per_rank"][-1]
        assert rank["building_bytes"] < (MOST_BUILDING - 1) * rank["memory_bytes"]
        short = 1.5 if threads > 1 else 4  # bytes; on one thread no list is empty, and each has a start
        parts, synapses = rank["memory_parts"], rank["synapses"]
        assert parts["lists"] < short * synapses + 1e6
        assert parts["lists"] + parts["routes"] < (8.5 + short) * synapses + 1e7


def test_lists_that_a_word_cannot_name_are_refused_before_anything_is_built(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(1e9, 6000)))
    done = explained(path, 4, 128, "structure_aware")
    assert done.returncode == 2 and done.stderr.startswith("miniapp: delay_ratio: ")
    most, ranks = re.search(r"at most (\d+) cycles.*\(about (\d+) would do\)$", done.stderr.strip()).groups()
    enough = explained(path, int(ranks), 128, "structure_aware", "--set", "placement=area_group")
    assert enough.returncode == 0
    assert explained(path, 4, 128, "structure_aware", "--set", f"delay_ratio={most}").returncode == 0


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_a_run_with_short_lists_takes_what_is_explained(tmp_path, schedule):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(20_000, 24, areas=2)))
    told = json.loads(explained(path, 2, 8, schedule, "--json").stdout)
    arguments = program.sets(schedule=schedule)
    record = program.record_of(tmp_path / "out", *arguments, description=path, ranks=2, threads=8)
    parts, totals = record["memory"]["parts"], record["totals"]
    for part in ("synapses", "lists", "routes"):
        said = sum(rank["memory_parts"][part] for rank in told["per_rank"])
        assert parts[part] == pytest.approx(said, rel=0.02), part
    sent = sum(lane["spikes_sent"] for lane in record["lanes"])
    assert totals["first_accesses"] < totals["lookups"] <= 8 * sent


BLOCKS, SPIKE, ROOM = 4096 * 8, 12, 64  # bytes: scratch of a thread, a spike, the first words for a rank
PLACES = 12 + 16  # bytes that an outbox and an inbox have for a rank
OF_EACH_RANK = {"direct": 0, "p2p": 0, "sparse": 0, "rma_put": 0, "alltoallv": 16, "alltoall": 128}  # bytes


@pytest.mark.parametrize("exchange", OF_EACH_RANK)
def test_buffers_are_explained_for_what_an_exchange_holds_for_each_rank(exchange, tmp_path):
    path, ranks = tmp_path / "run.json", 10_000
    path.write_text(json.dumps(network(1e9, 6000)))
    done = explained(path, ranks, 1, "conventional", "--set", f"exchange={exchange}", "--json")
    told = json.loads(done.stdout)["per_rank"][0]
    buffers = told["memory_parts"]["buffers"] - BLOCKS - SPIKE * told["neurons"]
    assert buffers == ranks * (PLACES + ROOM + OF_EACH_RANK[exchange])
