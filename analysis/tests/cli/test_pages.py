"""Every command that answers writes a page with `--html`, which says where it comes from."""

import pytest
from html_page import Page

from spikemark.cli.main import commands

NETWORK = ["microcircuit", "--full"]
#: A quick command line of some commands that write pages; others have tests of their own.
LINES = {
    "predict": ["predict", *NETWORK, "--machine", "supermuc-ng", "--nodes", "2"],
    "compare": ["compare", "jureca-dc", "supermuc-ng", "--preset", *NETWORK, "--nodes", "2"],
    "advise": ["advise", *NETWORK, "--machine", "supermuc-ng", "--nodes", "2"],
}


def test_commands_that_answer_write_pages():
    answering = {"predict", "advise", "compare", "waiting", "diff", "partition", "energy"}
    for name in answering | {"score", "study"}:
        options = [flag for option in commands()[name].params for flag in option.opts]
        assert "--html" in options, name
    offers = commands()["tender"].commands["offers"]
    assert "--html" in [flag for option in offers.params for flag in option.opts]


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES.values(), ids=list(LINES))
def test_a_page_says_where_it_comes_from(line, tmp_path, spikemark):
    path = tmp_path / "page.html"
    status, _, errors = spikemark(*line, "--html", path)
    assert status == 0, errors
    page = Page(path.read_text(encoding="utf-8"))
    assert not page.loads and len(page.images) > 0
    facts = page.text.partition("made by")
    for name in ("network", "program", "machine", "date"):
        assert name in facts[0]
    assert facts[2].strip().startswith(f"spikemark {line[0]}")
    assert len(path.read_bytes()) < 1_500_000


def test_a_page_of_waiting_has_the_sentence_of_the_screen(tmp_path, spikemark):
    times = tmp_path / "times.csv"
    rows = [
        f"{rank},{cycle},{1000 + 7 * (rank * cycle % 5)}" for cycle in range(60) for rank in (0, 1)
    ]
    times.write_text("\n".join(["rank,cycle,compute_us", *rows]) + "\n")
    status, screen, errors = spikemark("waiting", times, "--html", tmp_path / "page.html")
    assert status == 0, errors
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert screen.splitlines()[0] in page.text
