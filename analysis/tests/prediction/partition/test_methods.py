"""Every method: every neuron once, the same result for the same seed, weights, and what each
promises.
"""

import sys

import numpy as np
import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.network import description
from spikemark.network.placement_text import weights_of
from spikemark.network.presets import PRESETS
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.partition import graph, methods, routing, shares
from spikemark.prediction.partition.methods import METHODS, divide
from spikemark.prediction.partition.traffic import ExpectedTraffic

HERE = [name for name, method in METHODS.items() if method.here]
WEIGHTED = [name for name, method in METHODS.items() if method.weighted]
UNEQUAL = weights_of("1x3,0.25,2x2,1", "weights")


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Short searches."""
    monkeypatch.setattr(methods, "GENERATIONS", 100)


@pytest.fixture(scope="module")
def voxel_graph(coarse):
    return graph.load(coarse)


@pytest.mark.parametrize("name", HERE)
def test_every_method_places_every_neuron_and_repeats_itself(name, voxel_graph, graphs):
    for g, ranks in (
        (voxel_graph, 1),
        (voxel_graph, 7),
        (graphs["mam-benchmark"], 8),
    ):  # 8: areas are larger
        made, again = (divide(g, ranks, name, seed=3).check(g.neurons, name) for _ in range(2))
        assert made.method == name and made.ranks == ranks
        assert (made.rank == again.rank).all() and (made.end == again.end).all()
        assert made.per_rank.sum() == g.neurons and made.per_rank.min() > 0
        assert made.per_rank.max() <= 2.1 * g.neurons / ranks


def test_what_the_methods_promise(voxel_graph):
    made = {name: ExpectedTraffic(voxel_graph, divide(voxel_graph, 20, name)) for name in HERE}
    peak = {name: found.sent.max() for name, found in made.items()}
    even = {name: found.placement.balance for name, found in made.items()}
    mean = {name: found.sent.mean() for name, found in made.items()}
    assert even["round_robin"] < 1.001 and peak["round_robin"] == max(peak.values())
    assert mean["sequential"] < mean["random"] and even["greedy_affinity"] < 1.1
    assert even["greedy_swap"] < 1.02 < even["sequential"] and peak["greedy_swap"] < peak["random"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.library])
def test_libraries(name, voxel_graph, monkeypatch):
    if METHODS[name].here:
        made, random = (
            ExpectedTraffic(voxel_graph, divide(voxel_graph, 10, m)) for m in (name, "random")
        )
        assert made.sent.mean() < random.sent.mean() and made.placement.balance < 1.3
    monkeypatch.setitem(sys.modules, METHODS[name].library, None)
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=f"^method={name}; .*pip install {METHODS[name].library}"):
        divide(voxel_graph, 4, name)


def test_the_genetic_algorithm_evens_sizes_out_as_far_as_can_be():
    sizes = np.random.default_rng(2).integers(100, 200, 60)
    part = methods.evolved(sizes, 6, 1)
    assert np.bincount(part).tolist() == [10] * 6
    assert np.bincount(part, sizes).max() < 1.03 * sizes.sum() / 6


def test_groups_exchange_more_within_themselves(voxel_graph):
    found = ExpectedTraffic(voxel_graph, divide(voxel_graph, 100, "random"))
    grouped = ExpectedTraffic(voxel_graph, routing.grouped(found.placement, found.pairs, 10))
    assert np.sort(grouped.sent) == pytest.approx(np.sort(found.sent))

    def between(pairs):
        return routing.Grid(100, (10, 10)).hops(pairs)[1].sent.sum()

    assert between(grouped.pairs) < 0.99 * between(found.pairs)


@pytest.mark.parametrize("name", WEIGHTED)
def test_ranks_have_their_share_by_weight(name, voxel_graph):
    made = divide(voxel_graph, 7, name, weights=UNEQUAL).check(voxel_graph.neurons, name)
    share = made.per_rank / (UNEQUAL / UNEQUAL.sum() * voxel_graph.neurons)
    assert share.max() == pytest.approx(made.balance) and made.balance < 1.25
    (equal,) = [n for n in METHODS if n == "genetic"]
    with pytest.raises(BadInput, match=f"method={equal!r}"):
        divide(voxel_graph, 7, equal, weights=UNEQUAL)


@pytest.mark.parametrize("name", ["round_robin", "greedy_swap"])
def test_ranks_of_unequal_parts_compute_equally_long(name):
    """Older and newer nodes, as their profiles predict."""
    options = {"areas": 4, "neurons_per_area": 100_000, "indegree": 2000}
    g = graph._of_description(
        description.read_description(PRESETS["mam-benchmark"].describe(**options))
    )
    machine = machines.filled(machines.load_any("two-generations"))
    by_part = {"older": 2, "newer": 2}
    layout = MachineLayout.from_machine(machine, 4, None, 1, by_part)
    equal_times = shares.of_machine(g, machine, 4, None, 1, by_part, name, 1, 10.0)
    found, said = equal_times.best.weights, equal_times.content()
    assert said["slowest_over_mean"] < 1.03 and said["slowest_over_mean_before"] > 1.1
    assert said["unequal_s"] < said["unequal_before_s"]
    older = np.array([share.part == "older" for share in layout.shares])[
        layout.share_of[layout.node_of]
    ]
    assert found[older].max() < found[~older].min()
