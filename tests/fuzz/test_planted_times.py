"""Random layouts of cycle times with planted values: a slice of the campaign, and what it
covers.
"""

import collections

import planted_times
import pytest


def outcomes(seeds, folder):
    for seed in seeds:
        outcome = planted_times.check(seed, folder / "case")
        assert outcome.finding is None
        yield outcome


@pytest.mark.slow
def test_layouts_of_others_are_read_right_or_refused(tmp_path):
    """250 cases: about half of them have a fault; all others are read."""
    counts = collections.Counter(outcome.kind for outcome in outcomes(range(250), tmp_path))
    assert counts["read"] > 80 < counts["refused"]


@pytest.mark.nightly
@pytest.mark.slow
def test_every_fault_is_refused(tmp_path):
    why = collections.Counter(outcome.why for outcome in outcomes(range(10_000, 13_000), tmp_path))
    assert {*planted_times.FAULTS} <= {*why}


def test_a_misread_file_is_a_finding(tmp_path, monkeypatch):
    """Files whose order is that of their names as text, and times of another unit."""
    with monkeypatch.context() as patch:
        patch.setattr(
            "spikemark.records.imported.lines.in_order_of_ranks", lambda files: (sorted(files), [])
        )
        assert any(planted_times.check(seed, tmp_path / "case").finding for seed in range(60))
    monkeypatch.setitem(planted_times.SECONDS, "ms", 2e-3)
    assert any(planted_times.check(seed, tmp_path / "case").finding for seed in range(30))
