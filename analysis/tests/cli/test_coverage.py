"""`spikemark coverage` on one process."""

from spikemark.waiting import coverage


def test_coverage_writes_its_table(spikemark, tmp_path, monkeypatch):
    few = [coverage.PLANTED[0]]
    study = coverage.study
    monkeypatch.setattr(coverage, "study", lambda trials, say: study(trials, few, say=say))
    ranks = coverage.study_of_ranks
    monkeypatch.setattr(coverage, "study_of_ranks", lambda trials, say: ranks(trials, (4,), say=say))
    status, output, errors = spikemark("coverage", "--trials", "10", "--write", str(tmp_path / "page.md"))
    assert (status, output) == (0, "")
    assert few[0].name in errors
    page = (tmp_path / "page.md").read_text()
    assert f"| {few[0].name} | {few[0].cycles} | overlapped |" in page
    assert "| unequal ranks, 4 measured | 16 |" in page
