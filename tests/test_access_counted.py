"""The expectation of irregular access against what the mini-app counts, in networks of a million synapses."""

import json

import numpy as np
import program
import pytest

from spikemark.models import access
from spikemark.network import pools
from spikemark.network.description import read
from spikemark.presets import mam, mam_benchmark
from spikemark.records import record as records
from spikemark.records.rates import rates_hz

pytestmark = pytest.mark.slow

THREADS = 3
WITHIN = 0.01
BENCHMARK = {"areas": 4, "neurons_per_area": 14_000, "indegree": 20, "rate": 20, "simulate_ms": 60}
NEAR = {"distribution": "constant", "mean": 0.5}
FAR = {"distribution": "constant", "mean": 3.0}


def multi_area() -> dict:
    """Areas of unequal size, each with two populations, and log-normal numbers of synapses between them."""
    rng = np.random.default_rng(11)
    areas = [f"A{a}" for a in range(6)]
    sizes = np.rint(6000 * rng.lognormal(0, 0.6, len(areas))).astype(int)
    populations, projections = [], []
    for area, size in zip(areas, sizes, strict=True):
        for kind, share, rate in (("E", 0.8, 12.0), ("I", 0.2, 45.0)):
            neuron = {"model": "ignore_and_fire", "rate_hz": rate * rng.lognormal(0, 0.4), "rate_cv": 0.3}
            populations.append(
                {"name": area + kind, "area": area, "size": int(share * size), "neuron": neuron}
            )
    for target in populations:
        for source in areas:
            within = source == target["area"]
            mean = 14.0 if within else 12 * rng.lognormal(-1.5, 1.2)
            names = [source + "E", source + "I"] if within else source + "E"
            projections.append({"source": names, "target": target["name"], "indegree": int(rng.poisson(mean)),
                                "delay": NEAR if within else FAR})  # fmt: skip
    return {
        "format_version": 1,
        "time": {"simulate_ms": 60},
        "delay_ratio": 10,
        "network": {"populations": populations, "projections": projections},
    }


NETWORKS = {
    "homogeneous": lambda: mam_benchmark.describe(**BENCHMARK),
    "heterogeneous": lambda: mam_benchmark.describe(**BENCHMARK, size_cv=0.3, rate_cv=0.5),
    "multi-area": multi_area,
}
LANES = [{"name": "near", "group": "area"}, {"name": "pair", "group": 2}, {"name": "world", "period": 10}]
RUNS = {
    "conventional": {"schedule": "conventional"},
    "structure_aware": {"schedule": "structure_aware"},
    "area_group": {"schedule": "structure_aware", "placement": "area_group"},
    "hierarchical": {"schedule": "hierarchical"},
    "lanes": {"schedule": LANES, "placement": "area_group"},
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("how", RUNS)
def test_expectation_of_a_real_run(tmp_path, network, how):
    described = NETWORKS[network]() | {"placement": None} | RUNS[how] | {"record": {"cycles": False}}
    described = {name: value for name, value in described.items() if value is not None}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(described))
    record = program.record_of(tmp_path / "out", description=path, ranks=4, threads=THREADS)
    totals = record["totals"]
    assert totals["synapses"] >= 1_000_000 and totals["spikes"] > 20_000
    expected = access.expected(record["description"], 4, THREADS)
    assert 0.3 < expected.lists / expected.possible_lists < 0.97  # else every list is full or has one synapse
    assert totals["first_accesses"] / totals["synaptic_events"] == pytest.approx(expected.ratio, rel=WITHIN)
    populations = read(record["description"]).network.populations
    firing = pools.rates(populations, None) * [p.size for p in populations] * record["timing"]["model_s"]
    assert totals["synaptic_events"] == pytest.approx(firing @ expected.out_degree, rel=WITHIN)


def test_expectation_of_the_multi_area_model(tmp_path):
    """32 unequal areas, in-degrees over orders of magnitude; neurons integrate, so that rates are counted."""
    described = mam.describe(scale=0.005, warmup_ms=100.0, simulate_ms=200.0)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(described | {"record": {"cycles": False, "spikes": True}}))
    totals = program.record_of(tmp_path / "out", description=path, ranks=2, threads=THREADS)["totals"]
    run = records.load(tmp_path / "out")
    assert totals["synapses"] >= 1_000_000 and totals["spikes"] > 5000
    expected = access.expected(run.record.description, 2, THREADS, rates_hz=rates_hz(run))
    assert 0.3 < expected.lists / expected.possible_lists < 0.97
    assert totals["first_accesses"] / totals["synaptic_events"] == pytest.approx(expected.ratio, rel=WITHIN)
