"""What is judged from the facts of a record: which ranks have cores of their own, and what
disturbed it.
"""

import pytest
from synthetic import write_run

from spikemark.records.judged import warnings
from spikemark.records.record import load_run

NEURON = {"model": "ignore_and_fire", "rate_hz": 10}


def record(cores, threads=1, of_rank=None, node_cores=2048, **changes):
    """The record of a quiet run whose ranks may use these cores."""
    of_rank = of_rank or [0] * len(cores)
    nodes = [
        {"name": f"n{number}", "cores": node_cores, "ranks": of_rank.count(number)}
        for number in range(max(of_rank) + 1)
    ]
    host = {
        "per_node": nodes,
        "threads_per_core": 1,
        "waiting": None,
        "virtual_machine": False,
        "foreign_load": None,
        "stolen_load": 0.0,
        "binding": cores,
        "usable_cores": cores,
        "node_of_rank": of_rank,
    }
    populations = [{"name": "a", "size": 10, "neuron": NEURON}]
    found = {
        "kind": "measured",
        "dry_run": None,
        "threads": threads,
        "host": host,
        "lanes": [],
        "meters": [],
        "placement": None,
        "timing": {"model_s": 1.0, "clock_step_s": None},
        "totals": {"spikes": 100, "neurons": 10},
        "description": {"time": {"resolution_ms": 0.1}, "network": {"populations": populations}},
    }
    for path, value in changes.items():
        at = found
        *sections, name = path.split("__")
        for section in sections:
            at = at[section]
        at[name] = value
    return found


def kinds(found):
    return [text.split(":")[0] for text in warnings(found)]


@pytest.mark.parametrize(
    ("threads", "cores", "without"),
    [
        (1, [[0], [1]], 0),
        (2, [[0, 1], [2, 3]], 0),
        (2, [[0, 1, 2, 3]] * 2, 0),  # free to move, and there is room
        (1, [[0, 1, 2], [0, 1], [0]], 0),  # one after the other gives way
        (1, [[1023], [1022]], 0),
        (1, [[0], [0]], 1),
        (1, [[0, 1, 2, 3], [2], [3], [2]], 1),
        (2, [[0, 1, 2, 3]] * 3, 2),
        (4, [[0], [0]], 1),  # as many threads as the ranks could use
        (1, [[], []], 0),  # unknown
    ],
)
def test_threads_that_cannot_have_a_core_each_are_counted(threads, cores, without):
    shared = [text for text in warnings(record(cores, threads)) if text.startswith("shared cores")]
    assert [int(text.split()[2]) for text in shared] == ([without] if without else [])


def test_ranks_of_other_nodes_do_not_share():
    assert kinds(record([[0], [0]], of_rank=[0, 1])) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"totals__spikes": 0}, ["silent"]),
        ({"host__foreign_load": 0.5}, ["foreign load"]),
        ({"host__stolen_load": 0.5}, ["stolen time"]),
        ({"host__throttled_load": 0.5}, ["throttled"]),
        ({"host__throttled_load": 0.01}, []),
        ({"host__throttled_load": None}, []),
        (
            {
                "host__surroundings": {
                    "variables": {"LD_PRELOAD": "x.so", "MALLOC_PERTURB_": "0"},
                    "nice": 0,
                }
            },
            ["environment"],
        ),
        (
            {
                "host__surroundings": {
                    "variables": {"OMP_NUM_THREADS": "2"},
                    "nice": -5,
                    "scheduler": "fifo",
                }
            },
            [],
        ),
        (
            {"host__surroundings": {"variables": {}, "nice": 5, "scheduler": "idle"}},
            ["low priority"] * 2,
        ),
        ({"host__virtual_machine": True}, ["virtual machine"]),
        ({"timing__clock_step_s": -1.0}, ["system clock"]),
        ({"node_cores": 1, "threads": 2}, ["oversubscribed"]),
        ({"threads": 3}, ["bound too tightly"]),
        (
            {"threads": 2, "host__waiting": {"passive": True, "chosen_by": "spikemark"}},
            ["passive waiting"],
        ),
        ({"totals__spikes": 9000}, ["high rate"]),
        (
            {
                "totals__spikes": 9000,
                "description__network__populations": [
                    {"name": "a", "size": 10, "neuron": {**NEURON, "rate_hz": 900}}
                ],
            },
            ["rate_hz of population a"],
        ),
        (
            {"lanes": [{"name": "far", "lag": 1, "exchange": "alltoall", "blocks": True}]},
            ["lane far"],
        ),
        (
            {
                "meters": [
                    {"name": "cycles", "source": "papi", "status": "denied", "reason": "none here"}
                ]
            },
            ["counters"],
        ),
        ({"kind": "simulated", "host__foreign_load": 0.5}, []),
    ],
)
def test_each_fact_is_judged(changes, expected):
    assert kinds(record([[0, 1]], **changes)) == expected


@pytest.mark.parametrize(
    ("quota", "threads", "expected"),
    [
        (None, 4, []),
        (1.5, 1, []),
        (1.5, 2, ["oversubscribed"]),
        (0.5, 1, ["oversubscribed"]),
        (64.0, 2, []),
    ],
)
def test_threads_beyond_a_quota_are_no_evidence_of_speed(quota, threads, expected):
    found = record([[0, 1, 2, 3]], threads)
    found["host"]["per_node"][0]["quota_cores"] = quota
    assert kinds(found) == expected


def test_waiting_of_a_throttled_run_is_no_advice(tmp_path, spikemark):
    took = "a quota (cgroup) took 0.50 cores away"
    path = write_run(tmp_path / "run", cycles=2000, cv=0.3, warnings=[f"throttled: {took}"])
    assert load_run(path).disturbed(shared=False) == f"throttled: {took}"
    status, output, _ = spikemark("waiting", path)
    assert status == 0 and took in output.splitlines()[0] and "would save" not in output
