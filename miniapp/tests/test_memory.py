"""Memory of a rank as --explain says it, up to machines that nobody has."""

import json

import program
import pytest
from small_network import describe

pytestmark = pytest.mark.slow

MOST_BUILDING = 1.3  # times what stays


@pytest.fixture
def explained(tmp_path):
    """Says what a network of 1e9 neurons in four areas takes."""

    def run(indegree, ranks, threads, schedule, *more):
        content = describe(areas=4, neurons=250_000_000, indegree=indegree, rate_hz=2.5)
        content["time"]["simulate_ms"] = 1
        del content["placement"]
        (tmp_path / "run.json").write_text(json.dumps(content))
        chosen = ["--threads", threads, "--set", f"schedule={schedule}", *more]
        return program.start("--explain", tmp_path / "run.json", "--ranks", ranks, *chosen)

    return run


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_a_rank_of_ten_thousand_follows_its_own_synapses(explained, schedule):
    for indegree, threads in ((100, 1), (6000, 128)):
        done = explained(
            indegree, 10_000, threads, schedule, "--set", "placement=area_group", "--json"
        )
        assert done.returncode == 0, done.stderr
        rank = json.loads(done.stdout)["per_rank"][-1]
        assert rank["building_bytes"] < (MOST_BUILDING - 1) * rank["memory_bytes"]
        short = (
            1.5 if threads > 1 else 4
        )  # bytes; on one thread no list is empty, and each has a start
        parts, synapses = rank["memory_parts"], rank["synapses"]
        assert parts["lists"] < short * synapses + 1e6
        assert parts["lists"] + parts["routes"] < (8.5 + short) * synapses + 1e7


def test_lists_that_a_word_cannot_name_are_refused_before_anything_is_built(explained):
    done = explained(6000, 4, 128, "structure_aware")
    assert done.returncode == 2 and done.stderr.startswith(
        "miniapp: network: lane far has to name "
    )
    assert explained(6000, 4, 128, "structure_aware", "--set", "delay_ratio=1").returncode == 0


def test_few_neurons_beside_very_many_silent_ones_take_little(tmp_path):
    content = describe(areas=2, neurons=100, indegree=10)
    content["network"]["populations"][1]["size"] = 100_000_000
    content["network"]["projections"] = content["network"]["projections"][:1]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content | {"placement": "area"}))
    for schedule in ("placement_only", "structure_aware"):
        done = program.start(
            "--explain",
            path,
            "--ranks",
            2,
            "--threads",
            4,
            "--json",
            *program.sets(schedule=schedule),
        )
        assert done.returncode == 0, done.stderr
        ranks = json.loads(done.stdout)["per_rank"]
        assert min(rank["memory_bytes"] + rank["building_bytes"] for rank in ranks) < 5e6
