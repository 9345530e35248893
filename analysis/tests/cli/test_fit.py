"""`spikemark fit` on a synthetic run."""

import json

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
