"""`spikemark fit` on a synthetic run."""

import json

import pytest

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
