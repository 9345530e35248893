"""The figures in docs/ are those of the stored results, and the results are those of this version."""

import re
from pathlib import Path

import pytest

from spikemark.documents import inputs, marks, pages, stored
from spikemark.documents.simulated import PARTS, TABLES
from spikemark.quantities.quantity import KINDS
from spikemark.studies import STUDIES

DOCS = Path(__file__).parents[3] / "docs"
STUDIED = [name for name in stored.names() if name in STUDIES]
#: Numbers of setups and of the literature in sentences of pages that show stored results.
GIVEN = {
    "simulated-studies.md": [
        *("0.9", "0.99", "95 %"),
        *("6.3", "8.8", "11.6"),  # modelled, like the table of limits
        *("0.3", "0.6"),  # the cost of a window, s
    ],
    "simulated-networks.md": [
        *("0.1", "0.9", "2.5"),
        *("15 %", "20 %", "30 %"),
        *("3.9", "10.5", "17.4"),  # NEST
    ],
}
#: Says from when and where numbers are.
KIND = "|".join(KINDS)
CAPTION = re.compile(
    rf"^\*({KIND}) on \d{{4}}-\d\d-\d\d, (commit [0-9a-f]{{7}}|before results were stored)",
    re.IGNORECASE | re.MULTILINE,
)


def test_pages_show_what_is_stored():
    """Mend it with `make docs-figures`."""
    found = pages.marked()
    assert DOCS / "simulated-studies.md" in found
    for path, page in found.items():
        assert marks.rewritten(page, pages.text) == page, path.name


def test_every_part_is_shown_somewhere():
    shown = {name.split(":")[0] for page in pages.marked().values() for name in marks.names(page)}
    assert {f"{study}.{part}" for study, parts in PARTS.items() for part in parts} <= shown
    assert {f"{study}.caption" for study in PARTS} <= shown


def test_every_stored_table_of_a_study_is_shown(monkeypatch):
    read, rows = set(), stored.Stored.rows
    monkeypatch.setattr(stored.Stored, "rows", lambda s, table: read.add((s.name, table)) or rows(s, table))
    for page in pages.marked().values():
        assert all(pages.text(mark) is not None for mark in marks.names(page))
    kept = {(name, table) for name in PARTS for table in stored.load(name).tables}
    assert kept == {(name, table) for name, tables in TABLES.items() for table in tables}
    assert kept == {(name, table) for name, table in read if name in PARTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIED)
def test_captions_say_what_has_changed_since_a_study_was_run(name):
    """Mend it with `make docs-figures`, or by running the study again with --docs."""
    kept = stored.load(name)
    assert kept.changed == inputs.changed(kept.inputs, inputs.of(STUDIES[name].experiment))


def results(page: str) -> list[str]:
    """Numbers that may be results: with decimals, or per cent."""
    words = re.sub(
        r"^\|.*$|`[^`]*`|\([^)]*\.md[^)]*\)|\[[^\]]*\]\(|\d{4}-\d\d-\d\d|figures? [\d, and]+",
        "",
        page,
        flags=re.MULTILINE,
    )
    return re.findall(r"\d+\.\d+(?: %)?|\d+ %", words)


@pytest.mark.parametrize("name", GIVEN)
def test_numbers_in_sentences_are_marked(name):
    """What a run gave stands between marks, so that it changes with the run."""
    page = (DOCS / name).read_text(encoding="utf-8")
    assert set(results(marks.without(page))) - set(GIVEN[name]) == set()


def tables(page: str) -> list[tuple[str, list[list[str]]]]:
    """Every table of a page with the text of its section before it: (text, cells)."""
    found = []
    for match in re.finditer(r"(?:^ *\|.*\|\n)+", page, re.MULTILINE):
        before = page[: match.start()]
        section = before[max(before.rfind("\n## "), before.rfind("\n### "), 0) :]
        lines = [line.strip().strip("|").split("|") for line in match[0].splitlines()]
        found.append((section, [[cell.strip() for cell in line] for line in lines]))
    return found


def holds_results(cells: list[list[str]]) -> bool:
    """Says whether most cells beside the first column are numbers."""
    values = [cell for line in cells[2:] for cell in line[1:] if cell]
    numbers = [cell for cell in values if re.match(r"[−+±-]?\s?\d", cell)]
    return len(numbers) > 0.5 * len(values)


PAGES = sorted(path.name for path in DOCS.glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_tables_of_results_say_from_when_and_which_commit(name):
    for section, cells in tables((DOCS / name).read_text(encoding="utf-8")):
        if holds_results(cells):
            assert CAPTION.search(marks.shown(section)), f"{name}: | {' | '.join(cells[0])} |"


def test_tables_of_results_are_found():
    page = "## One\n\n*Measured on 2026-11-22, commit 1234567.*\n\n| a | b |\n| --- | --- |\n| x | 1.5 |\n"
    ((section, cells),) = tables(page)
    assert holds_results(cells) and CAPTION.search(marks.shown(section))
    assert not holds_results([["a", "b"], ["---", "---"], ["x", "words"]])
