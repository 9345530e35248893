"""Ranks of unequal weight: every method that heeds weights gives each rank its share of the neurons."""

import json

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.network import placement_file
from spikemark.prediction.partition import graph, grouping, weights
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS
from spikemark.prediction.partition.placement import of_rule, per_unit

WEIGHTED = [name for name, method in METHODS.items() if method.weighted]
EQUAL = [name for name, method in METHODS.items() if not method.weighted]
UNEQUAL = weights.capacity(weights.read("1x3,0.25,2x2,1", 7))


@pytest.fixture(scope="module")
def voxel_graph(coarse):
    return graph.load(coarse)


@pytest.mark.parametrize("name", WEIGHTED)
def test_every_rank_has_its_share(name, voxel_graph):
    made = divide(voxel_graph, 7, METHODS[name], capacity=UNEQUAL).placement.check(voxel_graph.neurons, name)
    assert made.per_rank.sum() == voxel_graph.neurons
    share = made.per_rank / (UNEQUAL * voxel_graph.neurons / 7)
    assert share.max() == pytest.approx(made.balance)
    evens = divide(voxel_graph, 7, METHODS[name]).placement
    equal = (evens.per_rank * 7 / voxel_graph.neurons).max()  # what it reaches where ranks are equal
    assert made.balance < 1.1 * equal
    assert (evens.per_rank * 7 / voxel_graph.neurons / UNEQUAL).max() > 2  # as it was without weights


@pytest.mark.parametrize("name", EQUAL)
def test_a_method_for_equal_ranks_says_so(name, voxel_graph):
    with pytest.raises(
        BadInput, match=f"^--weights: method '{name}' knows equal ranks only; allowed: round_robin, "
    ):
        divide(voxel_graph, 7, METHODS[name], capacity=UNEQUAL)


def test_errors_of_rounding_do_not_add_up(graphs):
    """Ranks dealt in runs of equal weight have their share to within a neuron, whatever the populations."""
    g = graphs["mam-benchmark"]
    made = divide(
        g, 3, METHODS["round_robin"], capacity=weights.capacity(np.array([1.0, 0.4, 0.4]))
    ).placement
    assert made.per_rank == pytest.approx(g.neurons * np.array([1, 0.4, 0.4]) / 1.8, abs=1.5)


@pytest.mark.parametrize("name", ["round_robin", "area_group"])
def test_a_method_does_what_the_rule_of_that_name_does(name, graphs):
    """Weights may stand in a description or in the file of a method: the neurons are the same."""
    for g in graphs.values():
        for given in ([1, 1, 1, 1], [1, 0.5, 0.5, 3], [2, 1, 1, 1, 2, 2, 0.1]):
            found = divide(g, len(given), METHODS[name], capacity=weights.capacity(np.array(given, float)))
            ruled = of_rule(g.described, f"{name}:{','.join(map(str, given))}", len(given))
            assert found.placement.per_rank.tolist() == ruled.per_rank.tolist()
            assert (per_unit(found.placement, g)[0] != per_unit(ruled, g)[0]).nnz == 0


def test_equal_weights_are_none():
    assert weights.capacity(weights.read("3x4", 4)) is None
    assert weights.read("1,2x2,0.5", 4).tolist() == [1, 2, 2, 0.5]


@pytest.mark.parametrize("text", ["1", "1,2,3", "1,0", "1,-1", "1,nan", "1,2x", "1x0,1", "", "1e9,1"])
def test_bad_weights_are_refused_in_one_line(text):
    with pytest.raises(BadInput, match=r"^--weights=.*; allowed: a positive number for each rank"):
        weights.read(text, 2)


def test_weights_travel_in_the_file(tmp_path, voxel_graph):
    made = divide(voxel_graph, 7, METHODS["sequential"], capacity=UNEQUAL).placement
    for ending in placement_file.ENDINGS:
        file = tmp_path / f"placed{ending}"
        placement_file.write(file, made)
        assert placement_file.read(file, made.neurons).weights == pytest.approx(UNEQUAL)
    with pytest.raises(BadInput, match=r"^--group: ranks with weights keep their numbers"):
        grouping.grouped(voxel_graph, made, 7)


BAD = {
    "a list of a number for each of 7 ranks": [1, 2],
    "weights='x': a list of a number for each": "x",
    r"weights\.6=0: a number from": [1, 1, 1, 1, 1, 1, 0],
    r"weights\.6='1': a number from": [1, 1, 1, 1, 1, 1, "1"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_weights_in_a_file_are_refused(line, tmp_path, voxel_graph):
    made = divide(voxel_graph, 7, METHODS["sequential"], capacity=UNEQUAL).placement
    file = tmp_path / "placed.json"
    placement_file.write(file, made)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"weights": BAD[line]}))
    with pytest.raises(BadInput, match=line):
        placement_file.read(file, made.neurons)
