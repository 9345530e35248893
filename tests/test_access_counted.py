"""Expected accesses, counts and memory against what the mini-app counts in a million synapses."""

import numpy as np
import pandas as pd
import program
import pytest

from spikemark.models import access
from spikemark.network import pools
from spikemark.network.description import read_description
from spikemark.network.presets import mam, mam_benchmark
from spikemark.prediction import memory
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records import record as records
from spikemark.records.recording import of_populations

pytestmark = pytest.mark.slow

RANKS, THREADS = 4, 3
WITHIN, ROOM = 0.01, 0.02
BENCHMARK = {"areas": 4, "neurons_per_area": 14_000, "indegree": 20, "rate": 20, "simulate_ms": 60}
NEAR = {"distribution": "constant", "mean": 0.5}
FAR = {"distribution": "constant", "mean": 3.0}


def multi_area() -> dict:
    """Areas of unequal size, each with two populations, and log-normal numbers of synapses between
    them.
    """
    rng = np.random.default_rng(11)
    areas = [f"A{a}" for a in range(6)]
    sizes = np.rint(6000 * rng.lognormal(0, 0.6, len(areas))).astype(int)
    populations, projections = [], []
    for area, size in zip(areas, sizes, strict=True):
        for kind, share, rate in (("E", 0.8, 12.0), ("I", 0.2, 45.0)):
            neuron = {
                "model": "ignore_and_fire",
                "rate_hz": rate * rng.lognormal(0, 0.4),
                "rate_cv": 0.3,
            }
            own = {"name": area + kind, "area": area, "size": int(share * size), "neuron": neuron}
            populations.append(own)
    for target in populations:
        for source in areas:
            within = source == target["area"]
            mean = 14.0 if within else 12 * rng.lognormal(-1.5, 1.2)
            names = [source + "E", source + "I"] if within else source + "E"
            projections.append(
                {
                    "source": names,
                    "target": target["name"],
                    "indegree": int(rng.poisson(mean)),
                    "delay": NEAR if within else FAR,
                }
            )
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
LANES = [
    {"name": "near", "group": "area"},
    {"name": "pair", "group": 2},
    {"name": "world", "period": 10},
]
RUNS = {
    "conventional": {"schedule": "conventional"},
    "structure_aware": {"schedule": "structure_aware"},
    "area_group": {"schedule": "structure_aware", "placement": "area_group"},
    "hierarchical": {"schedule": "hierarchical"},
    "lanes": {"schedule": LANES, "placement": "area_group"},
    "broadcast": {
        "schedule": "structure_aware",
        "placement": "area_group",
        "exchange": "allgather",
    },
}
CASES = [("multi-area", how) for how in RUNS] + [
    ("homogeneous", "structure_aware"),
    ("heterogeneous", "area_group"),
]


@pytest.mark.parametrize(("network", "how"), CASES)
def test_expectations_of_a_real_run(tmp_path, network, how):
    """Irregular accesses (eqs 13-17), and the counts and memory that predictions start from."""
    described = NETWORKS[network]() | RUNS[how] | {"record": {"cycles": False}}
    if "placement" not in RUNS[how]:
        described.pop("placement", None)
    record = program.record_of(
        tmp_path / "out", description=described, ranks=RANKS, threads=THREADS
    )
    description, totals = record["description"], record["totals"]
    assert totals["synapses"] >= 1_000_000 and totals["spikes"] > 20_000
    expected = access.expected(description, RANKS, THREADS)
    assert (
        0.3 < expected.lists / expected.possible_lists < 0.97
    )  # else every list is full or has one synapse
    assert totals["first_accesses"] / totals["synaptic_events"] == pytest.approx(
        expected.ratio, rel=WITHIN
    )
    populations = read_description(description).network.populations
    firing = (
        pools.rates(populations, None) * [p.size for p in populations] * record["timing"]["model_s"]
    )
    assert totals["synaptic_events"] == pytest.approx(firing @ expected.out_degree, rel=WITHIN)

    found = Loads.count(description, RANKS, THREADS, rates_of(description).hz)
    cycles = record["timing"]["cycles"]
    assert cycles * found.of_rank(found.lists).sum() == pytest.approx(
        totals["first_accesses"], rel=ROOM
    )
    assert cycles * found.total_events == pytest.approx(totals["synaptic_events"], rel=ROOM)
    assert cycles * found.spikes.sum() == pytest.approx(totals["spikes"], rel=ROOM)
    for lane, counted, routes in zip(found.lanes, record["lanes"], found.routes, strict=True):
        assert (lane.name, lane.period, lane.lag) == (
            counted["name"],
            counted["period"],
            counted["lag"],
        )
        assert np.bincount(lane.group).max() == counted["ranks"]
        assert cycles * routes.sum() == pytest.approx(counted["spikes_sent"], rel=ROOM)
    fired = pd.read_csv(tmp_path / "out" / "ranks.csv")["spikes"]
    assert cycles * found.spikes == pytest.approx(fired, rel=ROOM)
    held = sum(bytes for name, bytes in record["memory"]["parts"].items() if name != "log")
    assert memory.of_run(description, RANKS, THREADS).stays.sum() == pytest.approx(held, rel=0.1)


@pytest.mark.nightly
def test_expectation_of_the_multi_area_model(tmp_path):
    """32 unequal areas, in-degrees over orders of magnitude; neurons integrate, so that rates are
    counted.
    """
    described = mam.describe(scale=0.005, warmup_ms=100.0, simulate_ms=200.0)
    described["record"] = {"cycles": False, "spikes": True}
    totals = program.record_of(tmp_path / "out", description=described, ranks=2, threads=THREADS)[
        "totals"
    ]
    run = records.load_run(tmp_path / "out")
    assert totals["synapses"] >= 1_000_000 and totals["spikes"] > 5000
    expected = access.expected(run.record.description, 2, THREADS, rates_hz=of_populations(run))
    assert 0.3 < expected.lists / expected.possible_lists < 0.97
    assert totals["first_accesses"] / totals["synaptic_events"] == pytest.approx(
        expected.ratio, rel=WITHIN
    )
