"""Every study runs with --quick, from its first run to its page; old pages say that they are."""

import json
import re
import subprocess

import checkout
import pytest

from spikemark.core import places
from spikemark_studies import claims, staleness, study


@pytest.mark.nightly
@pytest.mark.parametrize("name", study.study_names())
def test_quick_study(name, tmp_path):
    """Status 0: no run failed, and each claim has a verdict with a reason.

    In a process of its own, as people start it.
    """
    page = tmp_path / "study.html"
    words = ["study", name, "--quick", "--results", tmp_path / "results", "--html", page, "--json"]
    done = checkout.spikemark(*words, timeout=900)
    status, output, errors = done.returncode, done.stdout, done.stderr
    logs = (log.read_text()[-2000:] for log in tmp_path.rglob("workflow.log"))
    assert status == 0, "\n".join([errors, *logs])
    content = json.loads(output)
    paper = study.load_paper(name)
    assert len(content["claims"]) == len(paper.claims)
    assert len(content["findings"]) == len(paper.findings)
    assert content["rests_on"] == staleness.digests(name)
    for claim in content["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        assert (claim["verdict"] == claims.REPRODUCED) == (claim["why"] == "")
        assert claim["verdict"] not in claims.COUNTED or claim["ours"] is not None
    assert page.stat().st_size > 10_000 and "<svg" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", study.study_names())
def test_commits_that_a_page_cites_exist(name):
    page = staleness.page_file(name).read_text(encoding="utf-8")
    for commit in re.findall(r"commit ([0-9a-f]{7,40})", page):
        subprocess.run(["git", "-C", places.checkout(), "cat-file", "-e", commit], check=True)


@pytest.mark.parametrize("name", study.study_names())
def test_a_page_has_a_conclusion(name):
    """Otherwise: the verdicts that it rests on, in papers/NAME.yaml, are no longer those found."""
    assert "No conclusion" not in staleness.page_file(name).read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("name", study.study_names())
def test_a_page_that_is_out_of_date_says_so_on_its_first_line(name):
    """Otherwise: `python -m spikemark_studies.staleness` marks it."""
    page = staleness.page_file(name).read_text(encoding="utf-8")
    assert page == staleness.marked(name, page)
