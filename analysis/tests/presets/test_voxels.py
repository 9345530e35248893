"""The parametric brain: what its options promise, and that the coarse graph is the network that is run."""

import json

import numpy as np
import pytest

from spikemark.network.description import read
from spikemark.prediction.partition import graph
from spikemark.presets import voxels
from spikemark.presets.options import choose

SMALL = {"voxels": 300, "neurons": 60_000, "regions": 12, "connected": 0.1, "seed": 5}


def drawn(**options):
    return choose(voxels.Options, {**SMALL, "form": "graph", **options}, False, {}).drawn()


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


def test_weights_of_the_full_brain_span_four_to_five_decades():
    weights = drawn(voxels=2000, neurons=10**8, connected=0.03, regions=50).sources.data
    low, high = np.quantile(weights, [0.005, 0.995])
    assert 4 < np.log10(high / low) < 5.5


def test_connections_are_near_and_lambda_says_how_near():
    def distance(lambda_):
        found = drawn(lambda_=lambda_)
        rows, columns = found.sources.nonzero()
        return np.linalg.norm(found.places[rows] - found.places[columns], axis=1).mean()

    assert distance(0.15) < 0.8 * distance(0.31) < 0.75 * distance(5)


def test_unevenness_is_that_of_what_voxels_send():
    def spread(unevenness):
        sums = drawn(unevenness=unevenness, weight_sd=0, size_cv=0, connected=1, lambda_=100).sources.sum(0)
        return sums.std() / sums.mean()

    assert spread(0) < 0.05
    assert spread(0.5) == pytest.approx(0.5, rel=0.2)


def test_a_sheet_without_unevenness_is_homogeneous():
    even = {"geometry": "sheet", "unevenness": 0, "size_cv": 0, "weight_sd": 0}
    found = drawn(**even)
    assert np.ptp(found.excitatory) <= 1
    assert found.sources.sum(axis=0).std() < 0.3
    assert np.abs(found.places[:, 2]).max() == 0


def test_the_same_options_give_the_same_brain():
    first, again, other = drawn(), drawn(), drawn(seed=6)
    assert (first.sources != again.sources).nnz == 0
    assert (first.sources != other.sources).nnz > 0


def test_a_full_brain_is_a_graph():
    described = voxels.describe(full=True)
    assert described["kind"] == voxels.KIND
    assert (described["options"]["voxels"], described["options"]["neurons"]) == (22_603, 10**10)


def test_the_graph_of_a_file_is_that_of_the_run_description(tmp_path):
    """Up to pairs of voxels with so few synapses that a run description has none."""
    options = {"voxels": 20, "neurons": 4000, "indegree": 70}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(voxels.describe(form="graph", **options)))
    coarse = graph.load(path)
    run = graph.of_description(read(voxels.describe(**options)))
    assert (coarse.sizes == run.sizes).all() and (coarse.atom == run.atom).all()
    of_target = coarse.miss.toarray()[:, coarse.column]
    assert of_target == pytest.approx(run.miss.toarray(), rel=1e-4, abs=2e-6)
