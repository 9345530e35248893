"""Memory that presets need, with what building takes, by the analysis and by `miniapp --explain`."""

import json

import numpy as np
import program
import pytest

from spikemark.network.description import read
from spikemark.prediction import building, memory
from spikemark.prediction.loads import Loads
from spikemark.presets import PRESETS

pytestmark = pytest.mark.slow

ROUNDING = 1e-6  # of sums of millions of terms in another order


@pytest.mark.parametrize(("ranks", "threads"), [(1, 48), (3, 1), (128, 2)])
@pytest.mark.parametrize("name", PRESETS)
def test_memory_of_presets_with_its_building(name, ranks, threads, tmp_path):
    description = PRESETS[name].describe() | {"placement": "area_group"}
    (tmp_path / "run.json").write_text(json.dumps(description))
    layout = ["--ranks", ranks, "--threads", threads]
    done = program.start("--explain", tmp_path / "run.json", *layout, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["per_rank"]
    loads = Loads.of(description, ranks, threads, np.zeros(len(read(description).network.populations)))
    stays, builds = ([rank[name] for rank in said] for name in ("memory_bytes", "building_bytes"))
    assert memory.bytes_of_ranks(loads) == pytest.approx(stays, rel=ROUNDING)
    assert building.building_bytes(loads) == pytest.approx(builds, rel=ROUNDING)
    assert building.bytes_at_most(loads) == pytest.approx(np.add(stays, builds), rel=ROUNDING)
