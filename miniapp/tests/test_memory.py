"""Memory of a rank: as --explain says up to machines that nobody has, and of a run with short lists."""

import json
import re

import program
import pytest

pytestmark = pytest.mark.slow

SHORT_LISTS = {"ranks": 2, "threads": 32}
MOST_BUILDING = 1.3  # times what stays


def network(neurons: float, indegree: int, areas: int = 4) -> dict:
    """Areas of equal size, half of the synapses within an area and half between areas."""
    names = [f"a{i}" for i in range(areas)]
    far = {"mean": 5, "sd": 2.5, "min": 1, "max": 20}
    projections = [
        projection
        for name in names
        for projection in (
            {"source": name, "target": name, "indegree": indegree // 2, "delay": {"mean": 1.5, "max": 20}},
            {
                "source": [n for n in names if n != name],
                "target": name,
                "indegree": indegree // 2,
                "delay": far,
            },
        )
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
    return program.start(
        "--explain", path, "--ranks", ranks, "--threads", threads, "--set", f"schedule={schedule}", *more
    )


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
@pytest.mark.parametrize("indegree", [100, 1000, 6000])
def test_a_rank_of_ten_thousand_follows_its_own_synapses(tmp_path, schedule, indegree):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(1e9, indegree)))
    for threads in (1, 128):
        more = ("--set", "placement=area_group", "--json")
        done = explained(path, 10_000, threads, schedule, *more)
        assert done.returncode == 0, done.stderr
        ranks = json.loads(done.stdout)["per_rank"]
        for rank in (ranks[0], ranks[-1]):
            assert rank["building_bytes"] < (MOST_BUILDING - 1) * rank["memory_bytes"]
            parts = rank["memory_parts"]
            short = 1.5 if threads > 1 else 4  # bytes; on one thread no list is empty, and each has a start
            assert parts["lists"] < short * rank["synapses"] + 1e6
            assert parts["lists"] + parts["routes"] < (8.5 + short) * rank["synapses"] + 1e7


def test_lists_that_a_word_cannot_name_are_refused_before_anything_is_built(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(1e9, 6000)))
    done = explained(path, 4, 128, "structure_aware")
    assert done.returncode == 2
    found = re.search(
        r"^miniapp: delay_ratio: lane far has windows of 10 cycles and 7\d{8} lists on a rank, of which a"
        r" four-byte spike can name 268435456 beside the step; allowed: windows of at most 4 cycles"
        r" \(delay_ratio, period\), or more ranks \(about (\d+) would do\)$",
        done.stderr.strip(),
    )
    assert found, done.stderr
    assert (
        explained(path, int(found[1]), 128, "structure_aware", "--set", "placement=area_group").returncode
        == 0
    )
    assert explained(path, 4, 128, "structure_aware", "--set", "delay_ratio=4").returncode == 0


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_a_run_with_short_lists_takes_what_is_explained(tmp_path, schedule):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(100_000, 24, areas=2)))
    told = json.loads(explained(path, 2, 32, schedule, "--json").stdout)
    record = program.record_of(
        tmp_path / "out", "--set", f"schedule={schedule}", description=path, **SHORT_LISTS
    )
    parts, synapses = record["memory"]["parts"], record["totals"]["synapses"]
    for part in ("synapses", "lists", "routes"):
        said = sum(rank["memory_parts"][part] for rank in told["per_rank"])
        assert parts[part] == pytest.approx(said, rel=0.02), part
    assert synapses == 2_400_000
    assert parts["lists"] < 1.1 * synapses
    totals, sent = record["totals"], [lane["spikes_sent"] for lane in record["lanes"]]
    assert totals["first_accesses"] < totals["lookups"] <= 32 * sum(sent)


BLOCKS, SPIKE, ROOM = 4096 * 8, 12, 64  # bytes: scratch of a thread, a spike, the first words for a rank
PLACES = 12 + 16  # bytes that an outbox and an inbox have for a rank
OF_EACH_RANK = {  # bytes of an exchange
    **dict.fromkeys(("direct", "p2p", "sparse", "neighbor", "rma_put"), 0),
    **dict.fromkeys(("alltoallv", "ialltoallv"), 24),
    "alltoall": 128,
}


@pytest.mark.parametrize("exchange", OF_EACH_RANK)
def test_buffers_are_explained_for_partners_and_what_an_exchange_holds_for_each_rank(exchange, tmp_path):
    path, ranks = tmp_path / "run.json", 10_000
    path.write_text(json.dumps(network(1e9, 6000)))
    done = explained(path, ranks, 1, "conventional", "--set", f"exchange={exchange}", "--json")
    told = json.loads(done.stdout)["per_rank"][0]
    buffers = told["memory_parts"]["buffers"] - BLOCKS - SPIKE * told["neurons"]
    assert buffers == ranks * (PLACES + ROOM + OF_EACH_RANK[exchange])
