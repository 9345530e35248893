"""`spikemark cachesim` against what the run counted, with the real mini-app under the real Valgrind."""

import json
import subprocess
import sys

import pytest

from spikemark import cachesim, callgrind
from spikemark.errors import BadInput

WITHIN = 0.05
L1 = callgrind.Cache(4096, 8)
DELAY = {"distribution": "normal", "mean": 1.0, "sd": 0.5, "min": 0.1, "max": 2.0}


def network(sources: int, targets: int, indegree: int, rate_hz: float = 100.0, **fields) -> dict:
    """A population that fires, onto one that does not: lists of targets x indegree / sources synapses."""
    fires, silent = ({"model": "ignore_and_fire", "rate_hz": rate} for rate in (rate_hz, 0))
    return {
        "format_version": 1,
        "time": {"warmup_ms": 12, "simulate_ms": 20},
        "network": {
            "populations": [
                {"name": "sources", "area": "A", "size": sources, "neuron": fires},
                {"name": "targets", "area": "B", "size": targets, "neuron": silent},
            ],
            "projections": [
                {"source": "sources", "target": "targets", "indegree": indegree, "delay": DELAY, **fields}
            ],
        },
    }


#: Description, ranks, threads, size of the last cache, and whether the ring is inside it.
RUNS = {
    "lists of 1": (network(20_000, 2000, 10), 1, 1, 1 << 19, True),
    "lists of 8": (network(5000, 2000, 20), 1, 1, 1 << 18, True),
    "lists of 100": (network(2000, 2000, 100), 1, 1, 1 << 18, True),
    "lists of 1000": (network(400, 2000, 200), 1, 1, 1 << 19, True),
    "ring outside": (network(2000, 8000, 25), 1, 1, 1 << 16, False),
    "own weights": (
        network(2000, 2000, 100, weight={"mean": 1, "sd": 0.1, "classes": 0}),
        1,
        1,
        1 << 19,
        True,
    ),
    "two ranks": (network(4000, 4000, 50), 2, 1, 1 << 18, True),
    "two threads": (network(4000, 4000, 50), 1, 2, 1 << 18, True),
}


@pytest.mark.parametrize("name", RUNS)
def test_misses_follow_from_the_counts(tmp_path, name):
    description, ranks, threads, size, inside = RUNS[name]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(description))
    outcome = cachesim.simulate(path, ranks, threads, L1, callgrind.Cache(size, 16))
    assert outcome.expected == pytest.approx(outcome.misses, rel=WITHIN)
    assert len(outcome.ranks) == ranks
    reads = sum(outcome.total(term).misses for term in ("lists", "starts", "words"))
    assert reads == pytest.approx(sum(r.simulated["DLmr"] for r in outcome.ranks), rel=WITHIN)
    ring = sum(r.simulated["DLmw"] for r in outcome.ranks) / outcome.events
    assert ring < 0.01 if inside else 0.2 < ring < 0.9


def test_only_delivery_and_only_the_measured_part_are_counted(tmp_path):
    path = tmp_path / "run.json"
    description = network(2000, 2000, 100)
    path.write_text(json.dumps(description))
    once = cachesim.simulate(path, 1, 1, L1, L1).ranks[0]
    description["time"]["simulate_ms"] = 40
    description["time"]["warmup_ms"] = 30
    path.write_text(json.dumps(description))
    twice = cachesim.simulate(path, 1, 1, L1, L1).ranks[0]
    assert once.simulated["Dw"] >= once.events  # a write for each synapse
    assert twice.events == 2 * once.events
    assert twice.simulated["Ir"] == pytest.approx(2 * once.simulated["Ir"], rel=0.01)


def command(*arguments: str, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "spikemark", "cachesim", *arguments],
        capture_output=True,
        text=True,
        **environment,
    )


def test_command_labels_all_as_simulated(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(400, 200, 20)))
    done = command(str(path), "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["label"] == "simulated" and content["ll"]["line"] == 64
    assert content["ll"]["size"] >= 1 << 18 and content["synaptic_events"] > 0
    assert len(content["ranks"][0]["simulated"]) == len(callgrind.EVENTS)
    said = command(str(path), "--ll", "65536,16,64")
    assert said.returncode == 0 and "last level 65536,16,64" in said.stdout and "simulated" in said.stdout


def test_bad_input_is_one_line(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(400, 200, 20) | {"seed": -1}))
    for arguments, words in (
        ([str(tmp_path / "none.json")], "none.json: not found"),
        ([str(path), "--ll", "100,3,64"], "--ll: '100,3,64'; allowed"),
        ([str(path)], "seed: -1"),
    ):
        done = command(*arguments)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_valgrind_that_is_not_there(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_text("{}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="install the package valgrind"):
        cachesim.simulate(path)
