"""`delivery: reference` finds the same spikes as the tuned delivery; its time is not predicted."""

import json

import pytest
from checkout import MINIAPP, OPEN_MPI, run
from small_network import describe

pytestmark = pytest.mark.slow


def record_of(folder, description):
    """The record of a run of one thread."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(description))
    environment = OPEN_MPI | {"OMP_NUM_THREADS": "1"}
    done = run(MINIAPP, folder / "run.json", "--out", folder / "out", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out" / "record.json").read_text())


@pytest.mark.parametrize("indegree", [4, 200])  # tables with lines, and with starts
def test_both_deliveries_find_the_same(tmp_path, indegree):
    description = describe(neurons=400, indegree=indegree, rate_hz=20)
    tuned = record_of(tmp_path / "tuned", description)
    reference = record_of(tmp_path / "reference", description | {"delivery": "reference"})
    assert reference["description"]["delivery"] == "reference"
    for name in ("checksum", "spike_checksum", "totals"):
        assert tuned[name] == reference[name]
    assert tuned["totals"]["synaptic_events"] > 0


def test_its_time_is_not_predicted(tmp_path, refusal):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(describe() | {"delivery": "reference"}))
    refused = refusal("predict", path, "--machine", "jureca-dc", "--nodes", "1", "--rate", "10")
    assert "delivery=" in refused
