"""Small graphs for the tests of partitions."""

import json

import pytest

from spikemark.network import description
from spikemark.network.presets import PRESETS, voxels
from spikemark.prediction.partition import graph


def small(**options) -> dict:
    """The run description of a small brain of voxels."""
    chosen = {
        "voxels": 12,
        "neurons": 600,
        "regions": 3,
        "indegree": 7,
        "connected": 0.4,
        **options,
    }
    return voxels.describe(**chosen)


def of(described: dict) -> graph.Graph:
    return graph._of_description(description.read_description(described))


@pytest.fixture(scope="session")
def brain():
    return of(small())


@pytest.fixture(scope="session")
def graphs(brain):
    """Networks of different kinds, and a coarse graph."""
    benchmark = PRESETS["mam-benchmark"].describe(areas=3, neurons_per_area=200, indegree=4)
    return {"voxels": brain, "mam-benchmark": of(benchmark)}


@pytest.fixture(scope="session")
def coarse(tmp_path_factory):
    """The file of a coarse graph of 300 voxels and 3e7 neurons."""
    path = tmp_path_factory.mktemp("coarse") / "graph.json"
    options = {"voxels": 300, "neurons": 30_000_000, "regions": 10, "connected": 0.2}
    path.write_text(json.dumps(voxels.describe(form="graph", **options)))
    return path
