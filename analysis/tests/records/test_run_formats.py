"""Runs as Caliper and TALP would report them; tests/test_exports.py has their own readers."""

import json

import numpy as np
import pandas as pd
import pytest
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.records.record import load_run
from spikemark.records.run_formats import RUN_FORMATS
from spikemark.records.talp import _metrics

RECORDS = "tests/golden/analysis/records"


@pytest.mark.parametrize("form", RUN_FORMATS)
def test_every_format_is_json_and_what_the_command_prints(form, spikemark):
    text, _ = RUN_FORMATS[form](load_run(f"{RECORDS}/aware-4"))
    status, output, _ = spikemark("export", f"{RECORDS}/aware-4", "--format", form)
    assert (status, output) == (0, text)
    assert json.loads(text)


@pytest.mark.parametrize("form", RUN_FORMATS)
def test_a_run_without_cycles_is_refused(form, refusal, tmp_path):
    run = write_run(tmp_path / "run", ranks=2, cycles=100)
    record = json.loads((run / "record.json").read_text())
    record["description"]["record"] = {"cycles": False}
    (run / "record.json").write_text(json.dumps(record))
    (run / "cycles.npy").unlink()
    assert "record.cycles" in refusal("export", run, "--format", form)


@pytest.mark.parametrize("name", ["aware-4", "conventional-4", "drift-2", "slow-rank-8"])
def test_regions_of_a_rank_add_up_to_its_run_time(name):
    run = load_run(f"{RECORDS}/{name}")
    profile = json.loads(RUN_FORMATS["caliper"](run)[0])
    _, _, ranks, seconds = map(np.array, zip(*profile["data"], strict=True))
    by_rank = np.bincount(ranks.astype(int), weights=seconds.astype(float))
    np.testing.assert_allclose(by_rank, run.ranks["simulate_s"].to_numpy(float), rtol=1e-5)


def test_efficiencies_are_those_of_planted_times():
    """Ranks that compute 3, 2, 2 and 1 of 4 s, two on each node."""
    metrics = _metrics(np.array([3.0, 2.0, 2.0, 1.0]), 4.0, pd.Series([0, 0, 1, 1]))
    assert metrics["usefulTime"] == 8e9 and metrics["mpiTime"] == 8e9
    assert metrics["parallelEfficiency"] == 0.5
    assert metrics["mpiCommunicationEfficiency"] == 0.75
    assert metrics["mpiLoadBalance"] == pytest.approx(2 / 3, abs=1e-3)
    assert metrics["mpiLoadBalanceIn"] == pytest.approx(2.5 / 3, abs=1e-3)
    assert metrics["mpiLoadBalanceOut"] == pytest.approx(2 / 2.5, abs=1e-3)


def test_several_threads_are_refused(tmp_path):
    run = load_run(write_run(tmp_path / "run", ranks=2, threads=2, cycles=100))
    with pytest.raises(BadInput) as error:
        RUN_FORMATS["talp"](run)
    assert error.value.field == "threads"
