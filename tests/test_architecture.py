"""docs/architecture.md says where its functions are and names all packages. That everything else
that it names is there: test_named.py.
"""

import re

from checkout import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
#: A paragraph, an item of a list or a row of a table: what it names belongs together.
PASSAGES = re.split(r"\n\s*\n|\n(?=\d+\. |\| )", PAGE)
#: Words that stand for a choice of the reader.
PLACEHOLDER = re.compile(r"[A-Z]{3,}")


def paths(passage: str) -> list[str]:
    """Files and folders in code marks that are given from the root of the checkout."""
    code = re.findall(r"`([\w./-]+)`", passage)
    return [text for text in code if "/" in text and not PLACEHOLDER.search(text)]


def functions(passage: str) -> list[str]:
    return re.findall(r"`(\w+)\(\)`", passage)


def defined(name: str, text: str) -> bool:
    """Whether a file of Python or C defines a function."""
    python = rf"^\s*def {name}\("
    c = rf"^[a-z][\w \*]*\b{name}\("
    return re.search(f"{python}|{c}", text, re.MULTILINE) is not None


def test_functions_are_in_the_files_that_their_passage_names():
    seen = 0
    files: list[str] = []
    for passage in PASSAGES:
        files = [*files, *paths(passage)]  # a passage may go on about the file before
        sources = [ROOT / path for path in files if (ROOT / path).is_file()]
        text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
        for name in functions(passage):
            seen += 1
            assert defined(name, text), f"{name}() is in none of {', '.join(files)}"
    assert seen > 10


def test_every_package_has_a_row():
    packages = {
        path.parent.name for path in (ROOT / "analysis" / "spikemark").glob("*/__init__.py")
    }
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert packages - named == set() and named - packages == set()


def test_it_takes_a_quarter_of_an_hour():
    assert len(PAGE.splitlines()) <= 250
