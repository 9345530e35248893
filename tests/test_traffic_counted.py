"""Expected traffic beside the words that ranks of the mini-app send, for every method of partition."""

import json
from importlib.util import find_spec

import numpy as np
import program
import pytest

from spikemark.network import placement_file
from spikemark.network.description import read
from spikemark.network.placement import neurons
from spikemark.prediction.partition import traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.graph import of_description, of_voxels
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import voxels
from spikemark.presets.options import choose
from spikemark.records import record as records

pytestmark = pytest.mark.slow

DRAWS = 4  # networks of each case, others than those of all other cases
#: Methods whose library is absent are left to the tests of the methods.
HERE = [name for name, method in METHODS.items() if not method.library or find_spec(method.library)]
# Every neuron fires once in the measured part, so that words are routes.
OPTIONS = {"voxels": 20, "neurons": 3000, "regions": 4, "indegree": 14, "rate": 100.0, "simulate_ms": 10.0,
           "warmup_ms": 0.0}  # fmt: skip
DESCRIBED = voxels.describe(**OPTIONS) | {"exchange": "p2p", "record": {"cycles": False}}
DESCRIBED["time"]["cycle_ms"] = 1.0


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", HERE)
def test_words_are_as_expected(tmp_path, name, ranks):
    graph = of_description(read(DESCRIBED))
    of_places = of_voxels(choose(voxels.Options, OPTIONS, False, {})) if name == "space_filling" else graph
    placement = divide(of_places, ranks, METHODS[name], time_limit_s=2).placement
    placement_file.write(tmp_path / "placed.json", placement)
    hits = traffic.Hits(graph, placement)
    found = traffic.of_hits(hits, placement)
    h = -np.expm1(-hits.miss.toarray())
    spread = hits.there.T @ (h * (1 - h))
    np.fill_diagonal(spread, 0)

    path = tmp_path / "run.json"
    path.write_text(json.dumps(DESCRIBED | {"placement": {"name": "from_file", "file": "placed.json"}}))
    words = []
    for draw in range(DRAWS):
        seed = program.sets(seed=100 * list(METHODS).index(name) + 10 * ranks + draw)
        dealt = program.sets(placement="round_robin")
        usual = program.record_of(tmp_path / "dealt", *seed, *dealt, description=path, ranks=2)
        out = tmp_path / f"{draw}"
        said = program.record_of(out, *seed, description=path, ranks=ranks)
        assert said["totals"]["spikes"] == graph.neurons
        assert said["checksum"] == usual["checksum"]
        assert said["placement"]["method"] == name
        assert said["placement"]["balance"] == pytest.approx(found.neurons.max() / found.neurons.mean())
        run = records.load(out)
        assert run.ranks["neurons"].tolist() == found.neurons.tolist()
        assert placed_of(run).sum(axis=(0, 2)).tolist() == found.neurons.tolist()
        words.append(run.ranks["bytes_sent"].to_numpy() / traffic.WORD)
    off = np.mean(words, axis=0) - found.sent
    error = np.sqrt(spread.sum(axis=1) / DRAWS)
    assert (np.abs(off) <= 3 * error).all(), (off / error).tolist()
    assert abs(off.sum()) <= 3 * np.sqrt((error**2).sum())


def placed_of(run) -> np.ndarray:
    """The neurons that the analysis expects where, from the record alone."""
    described, record = run.record.described, run.record
    return neurons(described, described.placement, record.ranks, record.threads)
