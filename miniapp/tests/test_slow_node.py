"""A rank that waits in proportion to its work plays a slower node; weights of ranks make up for it."""

import json
import os
import subprocess
import sys

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

NEURONS, INDEGREE, CYCLES = 4000, 100, 20
NS = (20000.0, 40000.0)  # for each neuron, of the two ranks: cycles so long that others disturb little
SLOW = program.sets(**{"inject.per_neuron_ns": json.dumps(NS), "inject.wait": "sleep"})


def spikemark(*words):
    done = subprocess.run([sys.executable, "-m", "spikemark", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    path = tmp_path_factory.mktemp("slow") / "run.json"
    options = ["--areas", "2", "--neurons-per-area", str(NEURONS // 2), "--indegree", str(INDEGREE)]
    content = json.loads(spikemark("preset", "mam-benchmark", *options, "--delay-ratio", "10"))
    content["time"] |= {"warmup_ms": 0, "simulate_ms": CYCLES * content["time"]["resolution_ms"]}
    path.write_text(json.dumps(content))
    return path


def ran(described, out, *more, slow=SLOW):
    record = program.record_of(out, *slow, *more, description=described, ranks=2)
    return record, np.load(out / "cycles.npy")


def of(record, cycles, name):
    return cycles[:, :, record["phases"].index(name)]


def test_waits_follow_the_work_of_a_rank(described, tmp_path):
    """The least wait of a cycle is what the description asks for; sleeping may only take longer."""
    ns = program.sets(**{"inject.per_synapse_ns": "3000"})
    record, cycles = ran(described, tmp_path / "out", *ns)
    waits = of(record, cycles, "inject")
    events = record["totals"]["synaptic_events"] / 2 / CYCLES
    for rank, per_neuron in enumerate(NS):
        asked = 1e-9 * (per_neuron * NEURONS / 2 + 3000 * events)
        assert waits[rank].min() >= 1e-9 * per_neuron * NEURONS / 2
        assert np.median(waits[rank]) == pytest.approx(asked, rel=0.25)


def test_weights_restore_the_balance(described, tmp_path):
    """Waiting falls by what `whatif` says of levelled ranks; the spikes are the same."""
    even, cycles = ran(described, tmp_path / "even")
    before = of(even, cycles, "synchronise").mean()
    said = json.loads(spikemark("whatif", str(tmp_path / "even"), "--change", "level-ranks",
                                "--predictor", "replay", "--json"))  # fmt: skip
    placed = tmp_path / "placed.json"
    spikemark("partition", str(described), "--ranks", "2", "--method", "round_robin", "--weights-from",
              str(tmp_path / "even"), "--out", str(placed))  # fmt: skip
    field = json.dumps({"name": "from_file", "file": os.path.relpath(placed, described.parent)})
    level, cycles = ran(described, tmp_path / "level", *program.sets(placement=field))
    after = of(level, cycles, "synchronise").mean()
    assert level["checksum"] == even["checksum"]
    assert level["placement"]["balance"] == pytest.approx(1, abs=0.01)
    assert json.loads(placed.read_text())["weights"] == pytest.approx([4 / 3, 2 / 3], rel=0.1)
    base, levelled = (said["changes"][name]["replay"] for name in ("base", "level-ranks"))
    expected = (base["waiting_s"] - levelled["waiting_s"]) / CYCLES
    assert before - after == pytest.approx(expected, rel=0.2)


PER_SYNAPSE, SLOWER, PAIRS = 1e5, 2.0, 3  # ns, of the faster rank; of the slower one as many times as long
PLAYED = """
format_version: 1
name: played
title: a node that takes as long as injected waits
node:
  cores: {{value: 1, unit: "1", kind: assumed, reference: played}}
kernels:
  one_core:
    update:
      ignore_and_fire: {{value: {per_step}, unit: ns, kind: assumed, reference: inject.per_neuron_ns}}
    t_next: {{value: {per_synapse}, unit: ns, kind: assumed, reference: inject.per_synapse_ns}}
"""
NOTHING = "    {name}: {{value: 1, unit: ns, kind: assumed, reference: next to nothing}}\n"
OTHERS = "t_first", "t_spike", "collocate", "external", "cycle", "t_ring_1", "t_ring_8", "t_ring_67"
UNEQUAL = """
format_version: 1
name: unequal
title: a node, and one that is slower
parts:
  quick: {{profile: {played}, nodes: 1}}
  late:
    profile: {played}
    nodes: 1
    slower: {{value: {slower}, unit: "1", kind: assumed, reference: played}}
links:
  quick-late:
    fabric: {{value: ethernet, kind: assumed, reference: none of it is used}}
"""


@pytest.fixture(scope="module")
def unequal(described, tmp_path_factory):
    """The profile of a machine of two nodes, of which injected waits play the kernels."""
    time, folder = json.loads(described.read_text())["time"], tmp_path_factory.mktemp("machines")
    steps = round(time["cycle_ms"] / time["resolution_ms"])
    played, machine = folder / "played.yaml", folder / "unequal.yaml"
    kernels = PLAYED.format(per_step=NS[0] / steps, per_synapse=PER_SYNAPSE)
    played.write_text(kernels + "".join(NOTHING.format(name=name) for name in OTHERS))
    machine.write_text(UNEQUAL.format(played=played, slower=SLOWER))
    return machine


def test_predicted_weights_restore_the_balance(described, unequal, tmp_path):
    """Nobody measured anything first: waiting falls by what the profile of the machine predicts."""
    placed = tmp_path / "placed.json"
    said = json.loads(spikemark("partition", str(described), "--method", "round_robin", "--balance", "time",
                                "--machine", str(unequal), "--on", "quick=1,late=1",
                                "--out", str(placed), "--json"))["balance"]  # fmt: skip
    played = program.sets(**{
        "inject.wait": "sleep",
        "inject.per_neuron_ns": json.dumps([NS[0], SLOWER * NS[0]]),
        "inject.per_synapse_ns": json.dumps([PER_SYNAPSE, SLOWER * PER_SYNAPSE]),
    })  # fmt: skip
    field = json.dumps({"name": "from_file", "file": os.path.relpath(placed, described.parent)})
    waited, checksums = {"even": [], "level": []}, set()
    for number in range(PAIRS):
        for name, more in (("even", ()), ("level", program.sets(placement=field))):
            record, cycles = ran(described, tmp_path / f"{name}-{number}", *more, slow=played)
            waited[name].append(of(record, cycles, "synchronise"))
            checksums.add(record["checksum"])
    assert len(checksums) == 1
    before, after = (np.median(waited[name], axis=0).mean() for name in ("even", "level"))  # cycle by cycle
    predicted = said["unequal_before_s"] - said["unequal_s"]
    assert said["slowest_over_mean"] < 1.02 and said["weights"][0] > 1.8 * said["weights"][1]
    assert before - after == pytest.approx(predicted, rel=0.2)
    assert after < 0.2 * before
