"""The gallery: each page is made by the command beside its picture, from small neutral records."""

import html
import re
import shlex
import sys
from pathlib import Path

import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import gallery

TEXT = gallery.TEXT.read_text()
PAGES = gallery.shown(TEXT)
MAX_BYTES = 900_000  #: of all examples
MAX_BYTES_OF_PAGE = 500_000
MAX_BYTES_OF_PICTURE = 70_000
MAX_PAGES = 25  #: of docs, beside the index and the results
COMMON = {"CSV", "EUR", "MPI", "NEST", "SD", "VALID"}  #: abbreviations, and names
#: Paths of the machine on which the examples were made.
PRIVATE = re.compile(r"(?<![\w.-])/(?:work|root|home|tmp|opt/(?!spikemark/|examples/))")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All pages, beside a copy of the examples."""
    folder = tmp_path_factory.mktemp("gallery")
    gallery.write(folder)
    return folder


def words_of(drawing: str) -> list[str]:
    """The words in a drawing, without its numbers."""
    texts = re.findall(r"<text[^>]*>([^<]*)<", drawing)
    return [text for text in texts if re.search("[a-z]{2}", text)]


def test_examples_are_small_and_neutral():
    files = [path for path in gallery.EXAMPLES.rglob("*") if path.is_file()]
    kept = [path for path in files if path.suffix not in (".html", ".parquet")]
    assert sum(path.stat().st_size for path in kept) < MAX_BYTES
    assert not [path for path in files if PRIVATE.search(path.read_text(errors="replace"))]
    hosts = set()
    for path in gallery.EXAMPLES.rglob("record.json"):
        hosts |= set(re.findall(r'"host": \{\s*"name": "([^"]*)"', path.read_text()))
    assert hosts == {"two-cores"}


def test_each_section_has_a_command_and_a_picture():
    sections = [part for part in TEXT.split("\n## ")[1:] if "studies" not in part.splitlines()[0]]
    assert len(PAGES) == len(sections) >= 5
    for section in sections:
        assert len(gallery.shown(section)) == len(gallery.PICTURE.findall(section)) == 1
    links = re.findall(r"\]\(results/(\w+)\.md\)", TEXT)
    assert set(links) == {path.stem for path in (ROOT / "docs" / "results").glob("*.md")}


def test_pages_of_the_documentation_do_not_grow():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert len(pages) <= MAX_PAGES


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.page)
def test_a_page_is_made_by_the_command_that_it_shows(folder, page):
    content = (folder / page.page).read_text()
    assert len(content) < MAX_BYTES_OF_PAGE
    (made_by,) = re.findall(r"<dt>made by</dt><dd>(.*?)</dd>", content)
    shown = re.sub("<[^>]*>", "", made_by)
    assert shlex.split(shown) == shlex.split(page.command)
    assert not PRIVATE.search(content)


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.page)
def test_what_stands_above_is_explained(folder, page):
    """Abbreviations in headings of sections, figures and columns, and before rows, are common ones
    or explained on the page; words of links to explanations have one.
    """
    content = (folder / page.page).read_text()
    words, _, rest = content.partition('<aside id="words">')
    explanations = html.unescape(re.sub("<[^>]*>", " ", rest.partition("</aside>")[0]))
    above = re.findall(r"<(?:h[1-3]|th)\b[^>]*>(.*?)</(?:h[1-3]|th)>", words, re.DOTALL)
    for heading in above:
        text = html.unescape(re.sub("<[^>]*>", "", heading))
        for abbreviation in re.findall(r"\b(?:[A-Z]{2,}\d*|[A-Z]\d+|D)\b", text):
            known = abbreviation in COMMON or re.search(rf"\b{abbreviation}\b", explanations)
            assert known, f"{abbreviation} in: {text}"
    for name in re.findall(r'class="term" href="#(word-[\w.]+)"', content):
        assert f'id="{name}"' in rest, name


@pytest.mark.nightly
def test_pictures_are_those_of_the_pages(folder):
    pictures = gallery.pictures(folder)
    assert {path.name for path in gallery.PICTURES.iterdir()} == pictures.keys()
    for name, drawing in pictures.items():
        kept = (gallery.PICTURES / name).read_text()
        assert len(kept) < MAX_BYTES_OF_PICTURE, name
        assert words_of(kept) == words_of(drawing) != [], name


@pytest.mark.nightly
def test_examples_stay_as_they_are(folder):
    """What a command changes of the records, it would change in the checkout."""
    for path in gallery.EXAMPLES.rglob("*.json*"):
        copy = folder / path.relative_to(gallery.EXAMPLES)
        assert copy.read_bytes() == path.read_bytes(), path.name
