"""`spikemark cachesim` against what the run counted, with the real mini-app under the real Valgrind."""

import json
import subprocess
import sys

import program
import pytest

from spikemark.caches import cachesim, callgrind, simulated_caches
from spikemark.caches.show import remarks, table
from spikemark.core.errors import BadInput
from spikemark.quantities.words import integer
from spikemark.records.results import Results

pytestmark = pytest.mark.slow

WITHIN = 0.05
L1 = callgrind.Cache(4096, 8)
SHORT = {"distribution": "normal", "mean": 0.5, "sd": 0.3, "min": 0.1, "max": 1.0}
LONG = {"distribution": "normal", "mean": 10.0, "sd": 6.0, "min": 0.1, "max": 20.0}


def network(sources: int, targets: int, indegree: int, delay: dict = SHORT, **fields) -> dict:
    """A firing population that projects to a silent one: lists of targets x indegree / sources synapses."""
    fires, silent = ({"model": "ignore_and_fire", "rate_hz": rate} for rate in (100, 0))
    return {
        "format_version": 1,
        "time": {"warmup_ms": 12, "simulate_ms": 20},
        "network": {
            "populations": [
                {"name": "sources", "area": "A", "size": sources, "neuron": fires},
                {"name": "targets", "area": "B", "size": targets, "neuron": silent},
            ],
            "projections": [
                {"source": "sources", "target": "targets", "indegree": indegree, "delay": delay, **fields}
            ],
        },
    }


OWN = {"mean": 1, "sd": 0.1, "classes": 0}

#: Description, ranks, threads, size of the last cache, and whether the ring is inside it.
RUNS = {
    "lists of 1": (network(40_000, 2000, 20), 1, 1, 1 << 19, False),
    "lists of 8": (network(10_000, 2000, 40), 1, 1, 1 << 19, True),
    "lists of 1000": (network(400, 2000, 200), 1, 1, 1 << 18, True),
    "ring outside": (network(1000, 2000, 100, LONG), 1, 1, 1 << 18, False),
    "two ranks, own weights": (network(2000, 2000, 100, weight=OWN), 2, 1, 1 << 18, True),
    "two threads": (network(4000, 2000, 100), 1, 2, 1 << 19, True),
}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Simulates each of RUNS once, by name."""
    kept = {}

    def simulate(name: str) -> cachesim.Outcome:
        if name not in kept:
            description, ranks, threads, size, _ = RUNS[name]
            path = tmp_path_factory.mktemp("cachesim") / "run.json"
            path.write_text(json.dumps(description))
            kept[name] = cachesim.simulate(path, ranks, threads, L1, callgrind.Cache(size, 16))
        return kept[name]

    return simulate


@pytest.mark.parametrize("threads", [2, 4])
def test_lists_that_are_mostly_empty_follow_within_a_tenth(threads, tmp_path):
    """Spikes pass a filter. The cache holds a part of what a step touches; how Valgrind takes turns matters
    where it holds nearly all.
    """
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(40_000, 2000, 20)))
    outcome = cachesim.simulate(path, 1, threads, L1, callgrind.Cache(1 << 18, 16))
    assert outcome.expected == pytest.approx(outcome.misses, rel=0.1)
    reads = sum(outcome.total(term).misses for term in ("lists", "starts", "words"))
    assert reads == pytest.approx(sum(r.simulated["DLmr"] for r in outcome.ranks), rel=0.1)


@pytest.mark.parametrize("name", RUNS)
def test_misses_follow_from_the_counts(simulated, name):
    outcome, (_, ranks, _, _, inside) = simulated(name), RUNS[name]
    assert outcome.expected == pytest.approx(outcome.misses, rel=WITHIN)
    assert len(outcome.ranks) == ranks
    reads = sum(outcome.total(term).misses for term in ("lists", "starts", "words"))
    assert reads == pytest.approx(sum(r.simulated["DLmr"] for r in outcome.ranks), rel=WITHIN)
    ring = sum(r.simulated["DLmw"] for r in outcome.ranks) / outcome.events
    assert ring < 0.02 if inside else 0.2 < ring < 0.95


def test_only_delivery_and_only_the_measured_part_are_counted(simulated):
    """A synapse causes one write, a spike few; the warm-up has more than half as many."""
    found = simulated("lists of 1000").ranks[0]
    assert found.events == 20 * 400 / 10 * 1000
    assert found.events <= found.simulated["Dw"] < 1.05 * found.events


def test_table_tells_predicted_from_simulated(simulated):
    outcome = simulated("ring outside")
    rows = {row["term"]: row for row in table(outcome).rows}
    assert (rows["all"]["predicted"], rows["all"]["simulated"]) == (round(outcome.expected), outcome.misses)
    assert rows["ring"]["visits"] == outcome.events
    (only,) = remarks(outcome)  # not that the last level holds all of it
    assert "simulated" in only


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


def test_what_it_finds_for_a_run_of_a_sweep_is_kept(tmp_path):
    description = tmp_path / "run.json"
    description.write_text(json.dumps(network(400, 200, 20) | {"record": {"energy": True}}))
    results = Results(tmp_path / "results")
    program.record_of(results.run("a"), description=description, ranks=2)
    done = command(str(results.run("a")), "--simulate-ms", "5")
    assert done.returncode == 0, done.stderr
    assert not results.cachesim("a").exists()  # there is no plan
    results.plan.write_text("{}")
    done = command(str(results.run("a")), "--simulate-ms", "5")
    assert done.returncode == 0, done.stderr
    found = simulated_caches.read(results.cachesim("a"))
    assert (len(found.ranks), found.threads, found.simulate_ms) == (2, 1, 5)
    assert integer(found.misses) in done.stdout and "a.json" in done.stdout
    assert "Everything fits into the last level" in done.stdout
    assert found.predicted < 1e-6  # the last cache of any host holds so small a network, since it was built
    assert found.misses < 0.01 * found.synaptic_events


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
