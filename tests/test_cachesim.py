"""`spikemark cachesim` against what the run counted, with the real mini-app under the real
Valgrind.
"""

import json

import pytest

from spikemark.measuring import cachesim

pytestmark = pytest.mark.slow

WITHIN = 0.05
L1 = cachesim.Cache(4096, 8)
SHORT = {"distribution": "normal", "mean": 0.5, "sd": 0.3, "min": 0.1, "max": 1.0}
LONG = {"distribution": "normal", "mean": 10.0, "sd": 6.0, "min": 0.1, "max": 20.0}


def network(sources, targets, indegree, delay=SHORT, **fields):
    """A firing population that projects to a silent one: lists of targets x indegree / sources
    synapses.
    """
    fires, silent = ({"model": "ignore_and_fire", "rate_hz": rate} for rate in (100, 0))
    populations = [
        {"name": "sources", "area": "A", "size": sources, "neuron": fires},
        {"name": "targets", "area": "B", "size": targets, "neuron": silent},
    ]
    projection = {
        "source": "sources",
        "target": "targets",
        "indegree": indegree,
        "delay": delay,
    } | fields
    return {
        "format_version": 1,
        "time": {"warmup_ms": 12, "simulate_ms": 20},
        "network": {"populations": populations, "projections": [projection]},
    }


OWN = {"mean": 1, "sd": 0.1, "classes": 0}
#: Description, ranks, threads, size of the last cache, and whether the ring is inside it.
RUNS = {
    "lists of 1000": (network(200, 1000, 200), 1, 1, 1 << 17, True),
    "ring outside": (network(500, 2000, 50, LONG), 1, 1, 1 << 18, False),
    "lists of 8": (network(10_000, 2000, 40), 1, 1, 1 << 19, True),
    "two ranks, own weights": (network(2000, 2000, 100, weight=OWN), 2, 1, 1 << 18, True),
    "two threads": (network(4000, 2000, 100), 1, 2, 1 << 19, True),
}
DAY = list(RUNS)[:2]
CASES = [pytest.param(name, marks=[] if name in DAY else pytest.mark.nightly) for name in RUNS]


@pytest.mark.parametrize("name", CASES)
def test_misses_follow_from_the_counts(name, tmp_path):
    description, ranks, threads, size, inside = RUNS[name]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(description))
    said, told = [], []

    def advance(done, cycles):
        assert said  # how long it takes, before it begins
        told.append((done, cycles))

    last = cachesim.Cache(size, 16)
    outcome = cachesim.simulate(path, ranks, threads, L1, last, None, advance, said.append)
    assert told == sorted(told) and told[-1][0] > 0
    assert outcome.predicted == pytest.approx(outcome.misses, rel=WITHIN)
    reads = sum(outcome.terms[term].misses for term in cachesim.READ)
    assert reads == pytest.approx(outcome.events["DLmr"], rel=WITHIN)
    ring = outcome.events["DLmw"] / outcome.synaptic_events
    assert ring < 0.02 if inside else 0.2 < ring < 0.95
    if name == "lists of 1000":  # only delivery and only the measured part: one write for a synapse
        assert outcome.synaptic_events == 20 * 200 / 10 * 1000
        assert outcome.synaptic_events <= outcome.events["Dw"] < 1.05 * outcome.synaptic_events


def test_bad_input_is_one_line(tmp_path, refusal):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(network(400, 200, 20) | {"seed": -1}))
    assert "none.json" in refusal("cachesim", tmp_path / "none.json")
    assert "--ll" in refusal("cachesim", path, "--ll", "100,3,64")
    assert "seed" in refusal("cachesim", path)


def test_how_long_it_takes_grows_with_synapses_and_cycles():
    small, large = (cachesim.expected_s(network(400, 2000, n), 1) for n in (20, 200))
    assert large - small == pytest.approx(180 * 2000 * cachesim.SYNAPSE_S)
    assert cachesim.expected_s(network(400, 2000, 20), 1, 200.0) > small
