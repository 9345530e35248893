"""Weights by prediction: unequal ranks compute equally long, and no other weights are faster."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import two_parts
from small_machine import Value

from spikemark.core.errors import BadInput
from spikemark.prediction.partition import balance, balance_show
from spikemark.prediction.partition.methods import METHODS

WEIGHTED = [name for name, method in METHODS.items() if method.weighted and name != "space_filling"]
ON = {"fast": 3, "slow": 4}


def coarseness(task: balance.Task, best: balance.Trial) -> float:
    """How far the slowest rank may be above the mean: the largest unit that the method places, over the mean.

    A rank is full when its last unit does not fit, so it has up to one too many, which takes longest on the
    slowest ranks. A rank with a whole area, which is more than the mean, has nothing else.
    """
    each, mean_s = best.compute_s / best.placement.per_rank, best.compute_s.mean()
    if task.method.name == "area_group":
        area = task.graph.atom_sizes.max()
        alone = best.placement.per_rank == area
        assert alone.any() and area * each[alone].max() > mean_s
        return float(area * each[alone].max() / mean_s) - 1 + balance.ENOUGH
    largest = 1  # neuron
    if task.method.direct is None:
        smallest = math.ceil(1 / best.want.min())
        largest = (task.graph.atom_sizes / task.method.cut(task.graph, smallest)).max()
    return float(math.ceil(largest) * each.max() / mean_s)


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_ranks_compute_equally_long(name):
    """As far as the units allow that a method places."""
    task = two_parts.task(method=name)
    found = balance.balanced(task, 7, ON)
    assert found.equal.uneven > 1.2
    assert found.best.uneven <= 1 + coarseness(task, found.best) < 1.3
    assert found.best.unequal_s < 0.3 * found.equal.unequal_s
    assert found.best.slowest_s < 0.9 * found.equal.slowest_s
    assert found.best.placement.per_rank.sum() == found.best.placement.neurons


def test_where_time_is_in_proportion_to_neurons_so_are_weights():
    """Without synapses to speak of, ranks that are so many times slower get so many times less."""
    network = two_parts.described(indegree=1)
    for slower in (1.25, 3.0):
        task = two_parts.task(two_parts.machine(slower), network=network)
        found = balance.balanced(task, 8, {"fast": 4, "slow": 4})
        fast, slow = found.best.placement.per_rank[[0, -1]]
        assert fast / slow == pytest.approx(slower, rel=0.05)
        assert found.done and found.best.placement.balance == pytest.approx(1, abs=0.01)


def test_other_weights_are_not_faster():
    task = two_parts.task()
    best = balance.balanced(task, 7, ON).best
    for fast in np.linspace(0.5, 1.4, 10) * best.want[0]:
        want = np.r_[np.full(3, fast), np.full(4, (1 - 3 * fast) / 4)]
        assert balance.tried(task, best.layout, want).slowest_s > 0.995 * best.slowest_s


def test_equal_ranks_stay_equal():
    found = balance.balanced(two_parts.task(two_parts.PROFILE), 6)
    assert found.rounds == 0 and found.best.placement.weights is None and found.done


def test_a_profile_of_equal_nodes_evens_out_what_ranks_hold():
    """Areas of different in-degrees: as many neurons are not as much work."""
    given = two_parts.PRESETS["mam-benchmark"].describe(**(two_parts.NETWORK | {"indegree": 300}))
    for projection in given["network"]["projections"]:
        if projection["target"] == given["network"]["populations"][0]["name"]:
            projection["indegree"] *= 8
    network = two_parts.graph.of_description(two_parts.graph.description.read(given))
    task = two_parts.task(two_parts.PROFILE, "sequential", network)
    found = balance.balanced(task, 4)
    assert found.equal.uneven > 1.3 and found.best.uneven < 1.1


def test_a_part_that_only_holds_up_the_others_is_named():
    """Where the fixed time of a cycle is longer on one part than everything on the other."""
    cycle = {f"kernels.{group}.cycle": Value(50, "us") for group in ("one_core", "full_node")}
    late = replace(two_parts.PROFILE, values=two_parts.PROFILE.values | cycle)
    task = two_parts.task(two_parts.machine(slow=late))
    found = balance.balanced(task, 8, {"fast": 4, "slow": 4})
    assert found.best.placement.per_rank[4:].sum() < 40
    (said,) = [line for line in balance_show.lines(task, found) if "part slow" in line]
    assert "with next to no neurons; without them, by --on" in said


def limited(room_gb: float):
    """A fast part with little memory."""
    return two_parts.machine(8.0, fast=two_parts.PROFILE.with_(node__memory=room_gb))


def test_memory_limits_the_share_of_a_rank():
    free = balance.balanced(two_parts.task(limited(64)), 8, {"fast": 4, "slow": 4})
    needed = 1e-9 * free.best.node_bytes[0]
    found = balance.balanced(two_parts.task(limited(0.8 * needed)), 8, {"fast": 4, "slow": 4})
    assert not free.capped.any() and found.capped.tolist() == [True] * 4 + [False] * 4
    assert 0.7 < 1e-9 * found.best.node_bytes[0] / needed <= 0.8
    assert found.best.slowest_s > 1.1 * free.best.slowest_s
    with pytest.raises(BadInput, match=r"^part fast: 4 ranks: the network does not fit: a node would need"):
        balance.balanced(two_parts.task(limited(0.1 * needed)), 4, {"fast": 4})


@pytest.mark.parametrize(("want", "most"), [([1, 1, 2], [0.1, 1, 0.4]), ([5, 1, 1], [0.2, 0.5, 0.31])])
def test_shares_below_their_limits(want, most):
    found = balance.within(np.array(want, float), np.array(most))
    assert found.sum() == pytest.approx(1) and (found <= np.array(most) + 1e-12).all()
    free = found < np.array(most) - 1e-12
    assert np.ptp((found / want)[free]) == pytest.approx(0, abs=1e-12)


MACHINE = """
format_version: 1
name: two
title: two
parts:
  fast: {profile: epyc-vm, nodes: 2}
  slow: {profile: epyc-vm, nodes: 2, slower: {value: 3, unit: "1", kind: assumed, reference: made up}}
links:
  fast-slow:
    fabric: {value: ethernet, kind: assumed, reference: made up}
"""


@pytest.fixture
def files(tmp_path, coarse):
    run = two_parts.PRESETS["mam-benchmark"].describe(areas=4, neurons_per_area=20_000, indegree=500)
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "two.yaml").write_text(MACHINE)
    return {"RUN": tmp_path / "run.json", "TWO": tmp_path / "two.yaml", "COARSE": coarse}


HOW = ("--method", "round_robin", "--out", "p.json")


def test_the_command(spikemark, files, tmp_path):
    out = tmp_path / "p.json"
    asked = ("partition", files["RUN"], "--method", "round_robin", "--balance", "time")
    asked += ("--machine", files["TWO"], "--threads", 1, "--on", "fast=2,slow=2", "--out", out)
    status, output, errors = spikemark(*asked)
    assert status == 0, errors
    assert "slowest rank over the mean: 1.0" in output and "to run it: mpirun -n 4 " in output
    written = json.loads(out.read_text())
    assert spikemark(*asked, "--json")[0] == 0
    found = json.loads(spikemark(*asked, "--json")[1])
    assert found["balance"]["weights"] == written["weights"]
    assert found["balance"]["slowest_over_mean"] < 1.02 < found["balance"]["slowest_over_mean_before"]
    assert [part["part"] for part in found["balance"]["parts"]] == ["fast", "slow"]
    assert written["weights"][0] > 1.5 * written["weights"][3]


BAD = [
    (("RUN", *HOW, "--balance", "price"), "--balance=price; allowed: time or energy"),
    (("RUN", *HOW, "--balance", "time"), "--machine: missing"),
    (("RUN", *HOW, "--machine", "TWO", "--ranks", 2), "--machine=TWO: allowed with --balance"),
    (("RUN", *HOW, "--balance", "time", "--machine", "TWO"), "--ranks: missing"),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--ranks", 2, "--weights", "1,2"),
        "--weights=1,2: allowed without --balance",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--ranks", 2, "--within", 2),
        "--within=2.0: allowed with --balance energy",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--on", "fast:1"),
        "on='fast:1': each part once with its ranks is needed",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--on", "quick=1"),
        "part 'quick'",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "epyc-vm", "--on", "fast=1"),
        "part 'fast': all nodes of epyc-vm are equal",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--ranks", 3, "--on", "fast=1,slow=1"),
        "ranks of the parts",
    ),
    (
        ("RUN", *HOW, "--balance", "time", "--machine", "TWO", "--ranks", 3, "--method", "random"),
        "--balance: method 'random' knows equal ranks only; allowed: round_robin, ",
    ),
    (
        ("COARSE", *HOW, "--balance", "time", "--machine", "TWO", "--ranks", 3),
        "--balance: a voxel graph has no kernels to time",
    ),
    (
        ("RUN", *HOW, "--balance", "energy", "--machine", "TWO"),
        "--balance energy: allowed: one of --target-rtf RTF and --within TIMES",
    ),
    (
        ("RUN", *HOW, "--balance", "energy", "--machine", "TWO", "--within", 0.5),
        "--within=0.5; allowed: at least 1",
    ),
    (
        ("RUN", *HOW, "--balance", "energy", "--machine", "TWO", "--within", 1.2),
        "--balance=energy: part fast: epyc-vm: power.idle is unknown, needed for energy",
    ),
]


@pytest.mark.parametrize(("arguments", "complaint"), BAD, ids=[c for _, c in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(
    refusal, files, tmp_path, arguments, complaint, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    said = refusal("partition", *(files.get(part, part) for part in arguments))
    assert complaint.replace("TWO", str(files["TWO"])) in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "two.yaml"]
