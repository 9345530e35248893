"""A rank that waits in proportion to its work plays a slower node; weights of ranks make up for
it.
"""

import json
import os
import subprocess
import sys

import numpy as np
import program
import pytest

from spikemark.network.presets import mam_benchmark

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

NEURONS, INDEGREE, CYCLES = 4000, 100, 20
NS = (
    20000.0,
    40000.0,
)  # for each neuron, of the two ranks: cycles so long that others disturb little
SLOW = program.sets(inject__per_neuron_ns=NS, inject__wait="sleep")


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    path = tmp_path_factory.mktemp("slow") / "run.json"
    content = mam_benchmark.describe(
        areas=2, neurons_per_area=NEURONS // 2, indegree=INDEGREE, delay_ratio=10, warmup_ms=0
    )
    content["time"]["simulate_ms"] = CYCLES * content["time"]["resolution_ms"]
    path.write_text(json.dumps(content))
    return path


def ran(described, out, *more, slow=SLOW):
    record = program.record_of(out, *slow, *more, description=described, ranks=2)
    return record, np.load(out / "cycles.npy")


def of(record, cycles, name):
    return cycles[:, :, record["phases"].index(name)]


def test_waits_follow_the_work_of_a_rank(described, tmp_path):
    """The least wait of a cycle is what the description asks for; sleeping may only take longer."""
    ns = program.sets(inject__per_synapse_ns=3000)
    record, cycles = ran(described, tmp_path / "out", *ns)
    waits = of(record, cycles, "inject")
    events = record["totals"]["synaptic_events"] / 2 / CYCLES
    for rank, per_neuron in enumerate(NS):
        asked = 1e-9 * (per_neuron * NEURONS / 2 + 3000 * events)
        assert waits[rank].min() >= 1e-9 * per_neuron * NEURONS / 2
        assert np.median(waits[rank]) == pytest.approx(asked, rel=0.25)


def test_weights_restore_the_balance(described, tmp_path):
    """Waiting falls by the mean distance to the slower rank; the spikes are the same."""
    even, cycles = ran(described, tmp_path / "even")
    before = of(even, cycles, "synchronise").mean()
    placed = tmp_path / "placed.json"
    words = [
        described,
        "--ranks",
        2,
        "--method",
        "round_robin",
        "--weights-from",
        tmp_path / "even",
    ]
    command = [sys.executable, "-m", "spikemark", "partition", *words, "--out", placed]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    field = {"name": "from_file", "file": os.path.relpath(placed, described.parent)}
    level, cycles = ran(described, tmp_path / "level", *program.sets(placement=field))
    after = of(level, cycles, "synchronise").mean()
    assert level["checksum"] == even["checksum"]
    assert level["placement"]["balance"] == pytest.approx(1, abs=0.01)
    assert json.loads(placed.read_text())["weights"] == pytest.approx([4 / 3, 2 / 3], rel=0.1)
    computing = 1e-9 * NEURONS / 2 * np.array(NS)
    expected = computing.max() - computing.mean()  # none of it is left where ranks are level
    assert before - after == pytest.approx(expected, rel=0.25)
