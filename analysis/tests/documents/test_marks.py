"""Marked parts of pages, and what stands at them."""

import pytest

from spikemark.core.errors import BadInput
from spikemark.documents import marks, pages, stored
from spikemark.documents.stored import Made, Stored

PAGE = """A table:

<!-- figures: made-up.table one -->
old
<!-- end -->

It saves <!-- figures: made-up/times/ranks=2/schedule=overlapped/saved as 2 % -->0 %<!-- end --> of 5 %.
"""
CELLS = [
    {
        "ranks": 2,
        "schedule": "overlapped, D\u00a0=\u00a010",
        "saved": {"value": 28.71, "low": None, "high": None},
    }
]
KEPT = Stored(
    "made-up", "simulated", Made("a command", "2026-11-22", "1234567", "a machine"),
    {"one": {"markdown": "| a |\n| --- |"}, "times": {"rows": CELLS}},
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("spikemark.core.places.root", lambda: tmp_path)
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def test_stored_results_come_back(folder):
    assert KEPT.write() == folder / "figures" / "made-up.json"
    assert stored.load("made-up") == KEPT and stored.names() == ["made-up"]
    assert stored.load("another") is None


def test_blocks_and_numbers_are_rewritten_and_the_rest_stays(folder):
    KEPT.write()
    (folder / "page.md").write_text(PAGE)
    assert pages.rewrite() == [folder / "page.md"]
    text = (folder / "page.md").read_text()
    assert "one -->\n| a |\n| --- |\n<!-- end -->\n\nIt saves" in text
    assert "-->29 %<!-- end --> of 5 %." in text
    assert marks.without(text) == marks.without(PAGE)
    assert pages.rewrite() == []


def test_a_caption_says_what_has_changed_since():
    assert KEPT.caption == "*Simulated on 2026-11-22, commit 1234567, a machine, by `a command`.*"
    old = Stored(**{**vars(KEPT), "changed": ["the profile"]})
    assert old.caption == f"{KEPT.caption} **Not run again since the profile has changed.**"


def test_what_was_not_stored_stays_and_says_so(folder):
    assert pages.text("overlap.waiting") is None
    assert "Not run again" in pages.text("overlap.caption")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.caption", "nothing is stored as 'nowhere'"),
        ("made-up.table two", "no table 'two': one of one, times"),
        ("made-up.shape", "no part 'shape'"),
        ("made-up/times/ranks=3/saved", "no number there"),
        ("made-up/none/ranks=3/saved", "no table 'none'"),
    ],
)
def test_a_mark_that_names_nothing_is_refused(folder, name, said):
    KEPT.write()
    with pytest.raises(BadInput, match=said):
        pages.text(name)
