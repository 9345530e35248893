"""The index of a folder of results: each folder has a row, its headline, and a link that works."""

import html
import re

import pytest
from html_page import Page
from planned import grid, write_experiment

from spikemark.core.errors import BadInput
from spikemark.records.frames import load_folder
from spikemark.report import index_page, sweep_page

RUNS = grid(ranks=(2,), ratios=(2,), seeds=(1, 2), cycles=50)


@pytest.mark.slow
def test_each_results_folder_has_its_headline_and_a_link(tmp_path):
    reported = write_experiment(tmp_path, RUNS)
    headline = sweep_page.write(load_folder(reported), reported / "report.html").sentence
    unreported = write_experiment(tmp_path / "further", RUNS[:1])
    unreported = unreported.rename(tmp_path / "other & co")
    damaged = tmp_path / "demo" / "damaged"
    damaged.mkdir()
    (damaged / "plan.json").write_text("{")
    path, sentence, complaints = index_page.write(tmp_path)
    assert path == tmp_path / "index.html" and "3" in sentence
    (complaint,) = complaints
    assert complaint.startswith("demo/damaged")
    page = Page(path.read_text(encoding="utf-8"))
    assert headline.split("(")[0] in page.text and "other & co" in page.text
    links = [to for _, to in page.hrefs if not to.startswith("#")]
    assert links == ["./demo/here/report.html"] and (tmp_path / links[0]).is_file()


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(BadInput) as error:
        index_page.write(tmp_path)
    assert error.value.file == tmp_path and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_links_of_runs_lead_to_their_folders(tmp_path):
    """From a page that lies in its results folder; the log of a failed run, too."""
    results = write_experiment(tmp_path, [*RUNS, {**RUNS[0], "state": "no memory"}])
    page = results / "report.html"
    sweep_page.write(load_folder(results), page)
    links = re.findall(r'<a href="(\./[^"]+)"', page.read_text(encoding="utf-8"))
    targets = [results / html.unescape(link) for link in links]
    assert len(targets) == len(RUNS) + 1 and all(target.exists() for target in targets)
    assert sum(target.is_file() for target in targets) == 1
