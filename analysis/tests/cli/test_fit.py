"""`spikemark fit` on a synthetic run."""

import json
import re

import numpy as np
import pytest
from synthetic import job, write_run

from spikemark.waiting import PREDICTORS


def test_fit_prints_what_was_found(spikemark, conventional):
    status, output, errors = spikemark("fit", conventional)
    assert (status, errors) == (0, "")
    words = ("4 ranks, 2000 cycles", "mean cycle time (µs)", "rank 3 above the mean", "none found")
    for text in (*words, "waiting by replay"):
        assert text in output
    status, output, _ = spikemark("fit", conventional, "--json")
    content = json.loads(output)
    assert content["mean_s"]["value"] == pytest.approx(50e-6, rel=0.05)
    low, high = content["rho_1"]["interval"]
    assert low < 0.5 < high
    assert len(content["rank_effects_s"]) == 4
    assert content["minor_share"] == {
        "value": None,
        "interval": None,
        "reason": "the times have one mode",
    }
    _, asked, _ = spikemark("predict", conventional, "--schedule", "conventional", "--json")
    assert {name: content[name] for name in PREDICTORS} == json.loads(asked)


def test_runs_of_one_cluster_tell_which_node_is_slow(spikemark, tmp_path):
    nodes = [["n1", "n2", "n3"][i % 3 :] + ["n1", "n2", "n3"][: i % 3] for i in range(6)]
    runs = [
        write_run(
            tmp_path / f"{i}",
            ranks=3,
            nodes=on,
            slower={"n2": 1.05},
            seed=i,
            cv=0.02,
            launch=job(i),
        )
        for i, on in enumerate(nodes)
    ]
    status, output, errors = spikemark("fit", *runs)
    assert status == 0 and "times are as on those of" in errors
    assert "node n2 slower than the others (%)" in output and "spread between nodes, SD (%)" in output
    assert "slow node: n2 takes " in output
    found = json.loads(spikemark("fit", *runs, "--json")[1])["nodes"]
    assert found["slow"] == ["n2"]
    low, high = found["slower"]["n2"]["interval"]
    assert low <= 0.05 <= high


def test_many_ranks_are_summed_up(spikemark, tmp_path):
    """128 ranks on 32 nodes: the extremes with their nodes, not a line for each."""
    nodes = [f"n{i // 4}" for i in range(128)]
    run = write_run(tmp_path / "run", ranks=128, cycles=500, rank_sd=0.02, nodes=nodes, slower={"n7": 1.5})
    status, output, _ = spikemark("fit", run)
    assert status == 0 and len(output.splitlines()) < 45
    shown = re.findall(r"rank (\d+) on (n\d+) above the mean", output)
    effects = [found["value"] for found in json.loads(spikemark("fit", run, "--json")[1])["rank_effects_s"]]
    order = sorted(range(128), key=lambda rank: -effects[rank])
    assert shown == [(str(rank), nodes[rank]) for rank in order[:3] + order[-3:]]
    assert {node for _, node in shown[:3]} == {"n7"} and "node n7 slower than the others" in output
    assert "spread between ranks, SD (µs)" in output and "median rank above the mean (µs)" in output
    assert "of 128 ranks, the 3 slowest and the 3 fastest are shown; --all-ranks shows all" in output
    assert "of 32 nodes, the 3 slowest and the 3 fastest are shown" in output
    _, output, _ = spikemark("fit", run, "--all-ranks")
    assert len(re.findall(r"rank \d+ on n\d+ above the mean", output)) == 128
    assert "--all-ranks" not in output


def test_waiting_that_was_not_timed_has_limits(spikemark, tmp_path):
    """It lies between what the slowest rank implies and all communication; timed waiting has no doubt."""
    times = np.random.default_rng(1).uniform(0.9e-3, 1.1e-3, (2, 300))
    np.savez(tmp_path / "times.npz", compute=times, communicate=times.max(axis=0) - times + 1e-4)
    status, _, errors = spikemark(
        "import", "cycles", tmp_path / "times.npz", "--unit", "s", "--out", tmp_path / "out"
    )
    assert status == 0, errors
    found = json.loads(spikemark("fit", tmp_path / "out", "--json")[1])
    waiting = found["waiting_per_cycle_s"]
    low, high = waiting["interval"]
    assert waiting["kind"] == "modelled"
    assert low < waiting["value"] <= high <= waiting["value"] + 1.01e-4
    timed = json.loads(spikemark("fit", write_run(tmp_path / "run", ranks=4, cycles=500), "--json")[1])
    assert timed["waiting_per_cycle_s"].get("interval") is None
