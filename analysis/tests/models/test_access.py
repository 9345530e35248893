"""Irregular access: published check values, and the general formula against networks really
drawn.
"""

import brute_force
import numpy as np
import pandas as pd
import pytest
from by_day import half_by_night
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.models import access
from spikemark.network import placement, schedules
from spikemark.network.description import read_description
from spikemark.network.presets import mam_benchmark


def test_published_values(data):
    table = pd.read_csv(data / "lober_irregular_access.csv")
    for row in table.to_dict("records"):
        n_m, half, ranks, threads = row["N_M"], row["K_N"] / 2, int(row["M"]), int(row["T_M"])
        n_thread = n_m / threads
        assert access.probability(n_m * ranks, 2 * half * n_thread) == pytest.approx(
            row["p"], rel=1e-5
        )
        assert access.probability(n_m, half * n_thread) == pytest.approx(row["p_intra"], rel=1e-5)
        assert access.probability(n_m * (ranks - 1), half * n_thread) == pytest.approx(
            row["p_inter"], rel=1e-5
        )
        assert access.f_conventional(n_m, 2 * half, ranks, threads) == pytest.approx(
            row["f_conv"], rel=1e-5
        )
        structure_aware = access.f_structure_aware(n_m, half, half, ranks, threads)
        assert structure_aware == pytest.approx(row["f_struct"], rel=1e-5)
        saved = 100 * access.reduction(n_m, half, half, ranks, threads)
        assert saved == pytest.approx(row["reduction_pct"], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("threads", [1, 3])
def test_general_formula_contains_the_published_one(ranks, threads):
    """Equal areas, one per rank, sizes that divide: the same numbers."""
    network = mam_benchmark.describe(areas=ranks, neurons_per_area=600, indegree=40)
    conventional = access.expected(network, ranks, threads, "conventional")
    assert conventional.ratio == pytest.approx(
        _published_conventional(network, ranks, threads), rel=1e-12
    )
    structure_aware = access.expected(network, ranks, threads, "structure_aware")
    assert structure_aware.ratio == pytest.approx(
        access.f_structure_aware(600, 20, 20, ranks, threads)
    )


def _published_conventional(network, ranks, threads):
    """Eq 13 draws all K synapses from all neurons; in the benchmark half come from the own area."""
    own, others = 600, 600 * (ranks - 1)
    drawn = 600 * ranks / (ranks * threads) / ranks  # targets per area on one virtual process
    miss_own = (1 - 1 / own) ** (20 * drawn)
    miss_others = (1 - 1 / others) ** (20 * drawn * (ranks - 1))
    return ranks * threads * (1 - miss_own * miss_others) / 40


def test_one_pool_of_all_neurons_is_equation_14():
    delay = {"mean": 1.0}
    network = {
        "populations": [
            {"name": "all", "size": 1200, "neuron": {"model": "ignore_and_fire", "rate_hz": 1}}
        ],
        "projections": [{"source": "all", "target": "all", "indegree": 30, "delay": delay}],
    }
    for ranks, threads in ((1, 1), (2, 3), (12, 10)):
        description = {"format_version": 1, "time": {"simulate_ms": 1}, "network": network}
        found = access.expected(description, ranks, threads, "conventional")
        assert found.ratio == pytest.approx(access.f_conventional(1200 / ranks, 30, ranks, threads))


def uneven_network() -> dict:
    """Unequal areas of several populations, shared pools, one silent population, rates that
    differ.
    """

    def population(name, area, size, rate):
        return {
            "name": name,
            "area": area,
            "size": size,
            "neuron": {"model": "ignore_and_fire", "rate_hz": rate},
        }

    def projection(source, target, indegree):
        return {"source": source, "target": target, "indegree": indegree, "delay": {"mean": 1.5}}

    populations = [
        population("a/e", "a", 301, 4.0),
        population("b/e", "b", 97, 12.0),
        population("a/i", "a", 50, 9.0),  # second population of an area whose ids do not follow on
        population("c/e", "c", 203, 0.0),
        population("c/none", "c", 0, 3.0),
    ]
    projections = [
        projection("a/e", "a/e", 20),
        projection(["a/e", "a/i"], "a/i", 7),
        projection(
            ["a/e", "b/e", "c/e"], "b/e", 30
        ),  # pool within and outside of the target's area
        projection("b/e", "a/e", 3),
        projection(["a/e", "b/e"], "c/e", 11),
        projection(["a/i", "a/i", "b/e"], "c/e", 5),  # a population named twice counts twice
        projection("c/e", "c/none", 9),
        projection(["a/e", "b/e"], "a/i", {"distribution": "poisson", "mean": 6.5}),
    ]
    network = {"populations": populations, "projections": projections}
    return {"format_version": 1, "time": {"simulate_ms": 1}, "network": network}


LISTS = [
    [
        {"name": "near", "group": "area"},
        {"name": "pairs", "group": 2},
        {"name": "rest", "group": "world"},
    ],
    [
        {"name": "a to b", "from": ["a"], "to": ["b"]},
        {"name": "near", "group": "area"},
        {"name": "to c", "to": ["c"]},
        {"name": "from b", "from": ["b"]},
        {"name": "rest"},
    ],
]


@pytest.mark.parametrize(
    "schedule", [*sorted(schedules.SCHEDULES), *LISTS], ids=lambda s: str(s)[:20]
)
@pytest.mark.parametrize("where", sorted(placement.PLACEMENTS))
@pytest.mark.parametrize(("ranks", "threads"), [(2, 2), (3, 4)])
def test_against_drawn_networks(schedule, where, ranks, threads):
    description = uneven_network()
    blocks = [
        lane["group"] for lane in schedule if isinstance(lane, dict) and lane.get("group") == 2
    ]
    if (where == "area" and ranks > 3) or any(ranks % n for n in blocks):
        with pytest.raises(BadInput):
            access.expected(description, ranks, threads, schedule, where)
        return
    found = access.expected(description, ranks, threads, schedule, where)
    layout = brute_force.layout(description, where, ranks, threads)
    lists, ratios = [], []
    for seed in range(20):
        counts = brute_force.count(description, schedule, where, ranks, threads, 50.0, seed)
        lists.append(counts.lists)
        ratios.append(counts.first_accesses.sum() / counts.synaptic_events.sum())
    for expected, measured in ((found.lists, lists), (found.ratio, ratios)):
        error = np.std(measured, ddof=1) / np.sqrt(len(measured))
        assert expected == pytest.approx(np.mean(measured), abs=4.5 * error + 1e-9)
    synapses = sum(
        (p["indegree"]["mean"] if isinstance(p["indegree"], dict) else p["indegree"]) * q["size"]
        for p in description["network"]["projections"]
        for q in description["network"]["populations"]
        if p["target"] == q["name"]
    )
    sizes = np.bincount(layout.population, minlength=5)
    assert sizes @ found.out_degree == pytest.approx(synapses)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schedule", "layout"), half_by_night(["conventional", "structure_aware"], [(1, 1), (2, 3)])
)
def test_poisson_in_degrees_against_drawn_networks(schedule, layout):
    """Pools of three neurons, where it makes a difference that a neuron may have no synapse at
    all.
    """
    ranks, threads = layout
    model = {"model": "ignore_and_fire", "rate_hz": 5}
    populations = [{"name": f"t{i}", "area": f"{i}", "size": 50, "neuron": model} for i in (0, 1)]
    populations += [
        {"name": f"s{i}", "area": f"{i % 2}", "size": 3, "neuron": model} for i in range(400)
    ]
    projections = [
        {
            "source": f"s{i}",
            "target": f"t{j}",
            "indegree": {"mean": 0.02 + 1e-4 * i},
            "delay": {"mean": 1.5},
        }
        for i in range(400)
        for j in (0, 1)
    ]
    network = {"populations": populations, "projections": projections}
    description = {"format_version": 1, "time": {"simulate_ms": 1}, "network": network}
    where = "round_robin" if schedule == "conventional" else "area"
    found = access.expected(description, ranks, threads, schedule, where)
    runs = [
        brute_force.count(description, schedule, where, ranks, threads, 1, seed)
        for seed in range(40)
    ]
    assert found.lists == pytest.approx(np.mean([c.lists for c in runs]), rel=0.01)
    events = sum(c.synaptic_events.sum() for c in runs)
    assert found.ratio == pytest.approx(
        sum(c.first_accesses.sum() for c in runs) / events, rel=0.01
    )

    network = read_description(description).network
    shares = [p.model_copy(update={"indegree": p.indegree.mean}) for p in network.projections]
    shared = network.model_copy(
        update={"projections": shares}
    )  # as if every neuron had its share of a synapse
    fixed = read_description(description).model_copy(update={"network": shared})
    fixed = access.expected(fixed, ranks, threads, schedule, where)
    assert fixed.lists > 1.02 * found.lists
    np.testing.assert_allclose(fixed.out_degree, found.out_degree)


@pytest.mark.parametrize("where", sorted(placement.PLACEMENTS))
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 3), (3, 2)])
def test_placement_against_the_rule_neuron_by_neuron(where, ranks, threads):
    description = uneven_network()
    layout = brute_force.layout(description, where, ranks, threads)
    counted = np.zeros((5, ranks, threads), dtype=int)
    np.add.at(counted, (layout.population, layout.rank, layout.thread), 1)
    np.testing.assert_array_equal(
        placement.neurons(read_description(description), where, ranks, threads), counted
    )


def test_measured_rates_take_the_place_of_the_described_ones():
    description = uneven_network()
    rates = {p["name"]: p["neuron"]["rate_hz"] for p in description["network"]["populations"]}
    as_described = access.expected(description, 2, 2, "conventional")
    doubled = access.expected(
        description, 2, 2, "conventional", rates_hz={n: 2 * r for n, r in rates.items()}
    )
    assert doubled.ratio == pytest.approx(as_described.ratio)
    other = access.expected(description, 2, 2, "conventional", rates_hz=rates | {"b/e": 0.0})
    assert other.ratio != pytest.approx(as_described.ratio, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "options", "field"),
    [
        ({}, {"schedule": "sideways"}, "schedule"),
        ({}, {"schedule": [{"name": "all", "group": 4}]}, "schedule.0.group"),
        ({}, {"schedule": [{"name": "near", "group": "area"}]}, "schedule"),
        ({}, {"placement": "random"}, "placement"),
        ({}, {"ranks": 0}, "ranks"),
        ({}, {"threads": 0}, "threads"),
        ({}, {"ranks": 4, "placement": "area"}, "placement"),
        ({}, {"rates_hz": {}}, "rates_hz"),
        ({"source": "nobody"}, {}, "network.projections.0.source"),
        ({"source": "empty"}, {}, "network.projections.0.indegree"),
    ],
)
def test_impossible_networks(change, options, field):
    description, silent = describe(), {"model": "ignore_and_fire", "rate_hz": 0}
    description["network"]["populations"].append({"name": "empty", "size": 0, "neuron": silent})
    description["network"]["projections"][0].update(change)
    with pytest.raises(BadInput) as caught:
        access.expected(description, **{"ranks": 2, "threads": 1, **options})
    assert caught.value.field == field
