"""Sums over whole runs: what they allow, and that all else refuses them with a reason."""

import json

import foreign_logs
import numpy as np
import pytest
from synthetic import compute_times

from spikemark.records import imported
from spikemark.waiting.sums import efficiency

COMPUTE = compute_times(4, 200, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.1, seed=2)


def test_stopwatches_give_the_efficiencies_of_the_whole_run(tmp_path):
    """Beside what the same times give cycle by cycle (budget.efficiency)."""
    waits = (COMPUTE.max(axis=0) - COMPUTE).sum(axis=1)
    (run,) = imported.read(foreign_logs.sums(tmp_path, COMPUTE, time_mpi_synchronization=waits)).runs
    found = efficiency(run)
    totals, runtime = COMPUTE.sum(axis=1), (COMPUTE + foreign_logs.exchanged(COMPUTE)).sum(axis=1).max()
    assert found["load_balance"].value == pytest.approx(totals.mean() / totals.max())
    assert found["parallel"].value == pytest.approx(totals.mean() / runtime)
    ideal = COMPUTE.max(axis=0).sum()
    assert found["serialisation"].value == pytest.approx(totals.max() / ideal)
    assert found["transfer"].value == pytest.approx(ideal / runtime)
    product = found["load_balance"].value * found["serialisation"].value * found["transfer"].value
    assert product == pytest.approx(found["parallel"].value)
    assert found["communication"].value == pytest.approx(totals.max() / runtime)


def test_what_sums_do_not_say_is_missing_with_a_reason(tmp_path):
    (run,) = imported.read(foreign_logs.sums(tmp_path, COMPUTE)).runs
    found = efficiency(run)
    assert found["load_balance"] and "with-mpi-sync-timer" in found["transfer"].reason
    first, second = imported.read(foreign_logs.bennch(tmp_path, COMPUTE)).runs
    assert (first.ranks, second.ranks, first.model_s) == (4, 8, 1.0)
    found = efficiency(first)
    assert found["parallel"].value == pytest.approx(1 - first.communicate_s[0] / first.run_s[0])
    assert found["load_balance"].reason == "the files have means over ranks"


def test_a_rank_that_is_missing_is_said(tmp_path):
    files = foreign_logs.sums(tmp_path, COMPUTE)
    found = imported.read([files[0], *files[2:]])
    assert found.runs[0].ranks == 4 and found.remarks[0].startswith("missing: 1 of the ranks")


def test_what_needs_cycles_refuses_sums_in_one_line(spikemark, refusal, tmp_path):
    out = tmp_path / "out"
    assert spikemark("import", "cycles", *foreign_logs.sums(tmp_path, COMPUTE), "--out", out)[0] == 0
    assert sorted(path.name for path in out.iterdir()) == ["imported.json"]
    predict = ("predict", out, "--schedule", "structure_aware", "--delay-ratio", 5)
    for command in (("fit", out), ("whatif", out), predict, ("report", out)):
        line = refusal(*command)
        assert "holds sums over whole runs" in line and f"spikemark budget {out}" in line
    status, output, _ = spikemark("budget", out, "--json")
    assert status == 0
    content = json.loads(output)
    assert content["runs"][0]["efficiency"]["transfer"]["value"] is None


def test_impossible_sums_are_refused(refused, tmp_path):
    files = foreign_logs.sums(tmp_path, COMPUTE, time_communicate_spike_data=np.full(4, 1e3))
    assert "each within the next" in refused(imported.read, files)
    files[0].write_text("time_simulate 3\n")
    assert "no time_communicate_spike_data; needed: NEST built" in refused(imported.read, files)
