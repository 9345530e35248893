"""The parametric brain: what its options promise, and that the coarse graph is the network that is
run.
"""

import json

import numpy as np
import pytest

from spikemark.network.description import read_description
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph

SMALL = {"voxels": 300, "neurons": 60_000, "regions": 12, "connected": 0.1, "seed": 5}


def drawn(**options):
    return choose(voxels.VoxelsOptions, {**SMALL, "form": "graph", **options}).drawn()


def test_sizes_and_shares():
    found = drawn()
    sizes = found.excitatory + found.inhibitory
    assert sizes.sum() == 60_000 and sizes.min() >= 2
    assert found.excitatory.sum() / sizes.sum() == pytest.approx(0.8, abs=0.01)
    assert sizes.std() / sizes.mean() == pytest.approx(0.2, rel=0.2)
    assert (np.diff(found.region) >= 0).all() and found.region.max() < 12


def test_pairs_are_kept_and_rows_are_shares():
    sources = drawn().sources
    assert sources.nnz / 300**2 == pytest.approx(0.1, rel=0.05)
    assert sources.sum(axis=1) == pytest.approx(np.ones(300), rel=1e-4)
    assert (sources.diagonal() == 0).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{"voxels": 1}, {"lambda_": 1e-4}])
def test_voxels_that_no_other_reaches_have_no_sources(options):
    sources = drawn(**options).sources
    reached = sources.sum(axis=1) > 0
    assert not reached.all() and sources.sum(axis=1)[reached] == pytest.approx(1, rel=1e-4)


def test_connections_are_near_and_lambda_says_how_near():
    def distance(lambda_):
        found = drawn(lambda_=lambda_)
        rows, columns = found.sources.nonzero()
        return np.linalg.norm(found.places[rows] - found.places[columns], axis=1).mean()

    assert distance(0.15) < 0.8 * distance(0.31) < 0.75 * distance(5)


def test_the_graph_of_a_file_is_that_of_the_run_description(tmp_path):
    """Up to pairs of voxels with so few synapses that a run description has none."""
    options = {"voxels": 20, "neurons": 4000, "indegree": 70}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(voxels.describe(form="graph", **options)))
    coarse = graph.load(path)
    run = graph._of_description(read_description(voxels.describe(**options)))
    assert (coarse.sizes == run.sizes).all() and (coarse.area_of == run.area_of).all()
    of_target = coarse.misses.toarray()[:, coarse.column]
    assert of_target == pytest.approx(run.misses.toarray(), rel=1e-4, abs=2e-6)
