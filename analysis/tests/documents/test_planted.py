"""The count of false alarms and of found waits, on synthetic runs with a planted wait."""

import pytest
from compared import sweep

from spikemark.core.errors import BadInput
from spikemark.documents import planted
from spikemark.records.gather import gather

BOTH = {"grid": [{"inject.mean_us": [0, 5]}], "repetitions": 22}


def test_planted_waits_are_found_and_unchanged_runs_raise_few_alarms(tmp_path):
    """The runs with a wait are made longer by hand, since synthetic ones do not wait."""
    results = sweep(
        tmp_path / "x", spread=0.01, seed=3, slower_of=lambda run: 1.1 if "us=5" in run.label else 1, **BOTH
    )
    made = planted.table(gather(results).runs)
    shares = {(row["runs"], row["what"], row["pairs"]): row for row in made.rows}
    assert shares[5, planted.PLANTED, planted.ANY]["slower"] == 1.0
    assert shares[5, planted.UNCHANGED, planted.ANY]["slower"] <= 0.2
    assert shares[5, planted.UNCHANGED, planted.ANY]["count"] == 6
    assert shares[1, planted.PLANTED, planted.ANY]["count"] == 22 * 22
    assert all(row["fails"] <= row["slower"] for row in made.rows)
    assert made.notes[0].startswith("44 runs, 0 disturbed ones left out.")


def test_runs_without_a_wait_are_needed(tmp_path, capsys):
    results = sweep(tmp_path / "x", repetitions=1)
    with pytest.raises(BadInput, match="runs with two waits are needed"):
        planted.table(gather(results).runs)
    assert planted.main([str(results)]) == 2
    assert planted.main([]) == 2
    assert capsys.readouterr().err.count("\n") == 2
