"""The gallery: pages that the commands of gallery.md write from the records in results/examples.

`make docs` writes the pages (`write`) and links to them (`with_links`). Run as a program, this
file renews the pictures in docs/gallery, which gallery.md and README.md show.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.report.plots import standalone

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "results" / "examples"
PICTURES = ROOT / "docs" / "gallery"
TEXT = ROOT / "docs" / "gallery.md"
COMMAND = re.compile(r"^    (spikemark .*)$", re.MULTILINE)
WIDTH = 420  #: of a picture, in pixels
#: The picture of a page is named PAGE.FIGURE.svg, by the id of the figure on the page.
PICTURE = re.compile(r"gallery/([\w-]+)\.([\w-]+)\.svg")


@dataclass(frozen=True)
class Shown:
    """A page of the gallery."""

    command: str  #: which writes it, carried out in results/examples
    page: str  #: its path from there


def shown(text: str) -> list[Shown]:
    """The pages that a text shows, in its order.

    Example:
        >>> shown("    spikemark waiting slow-rank --html slow-rank.html")
        [Shown(command='spikemark waiting slow-rank --html slow-rank.html', page='slow-rank.html')]
    """
    return [Shown(command, _page(command)) for command in COMMAND.findall(text)]


def _page(command: str) -> str:
    """The file that a command writes: that of --html, or the report of a results folder."""
    words = shlex.split(command)
    if "--html" in words:
        return words[words.index("--html") + 1]
    return f"{words[2]}/report.html"


def write(folder: Path) -> None:
    """Write all pages into a folder, which holds a copy of the examples after that.

    Raises subprocess.CalledProcessError where a command fails.
    """
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    for page in shown(TEXT.read_text()):
        words = [sys.executable, "-m", *shlex.split(page.command)]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def with_links(text: str) -> str:
    """The text with a link to its page below each command.

    Example:
        >>> with_links("    spikemark waiting slow-rank --html slow-rank.html").splitlines()[-1]
        '<a href="gallery/slow-rank.html">Open this page</a>'
    """

    def linked(command: re.Match[str]) -> str:
        page = f"gallery/{_page(command[1])}"
        return f'{command[0]}\n\n<a href="{page}">Open this page</a>'

    return COMMAND.sub(linked, text)


def picture(page: str, figure: str) -> str:
    """A figure of a page as a file of its own.

    Args:
        page: the text of the page.
        figure: its id.

    Raises ValueError where the page has none of that id.
    """
    drawing = re.search(rf'<figure id="{figure}">.*?(<svg.*?</svg>)', page, re.DOTALL)
    if drawing is None:
        raise ValueError(f"expected a figure {figure}")
    alt = re.search(r'aria-label="([^"]*)"', drawing[1])
    words = alt[1] if alt else figure
    alone = standalone(Figure(figure, figure, drawing[1], words, "", Table([], [])))
    return alone.replace("<svg ", f'<svg width="{WIDTH}" ', 1)


def pictures(folder: Path) -> dict[str, str]:
    """The pictures of gallery.md by the names of their files, taken from the pages in a folder."""
    text = TEXT.read_text()
    pages = {}
    for page in shown(text):
        name = Path(page.page)
        stem = name.parts[0] if name.name == "report.html" else name.stem
        pages[stem] = (folder / name).read_text()
    made = {}
    for page_name, figure in PICTURE.findall(text):
        made[f"{page_name}.{figure}.svg"] = picture(pages[page_name], figure)
    return made


def main() -> None:
    """Renew the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "examples"
        write(folder)
        for file_name, drawing in pictures(folder).items():
            (PICTURES / file_name).write_text(drawing)


if __name__ == "__main__":
    main()
