"""Any page: first screen (sentence, picture, table), then sections; one HTML file that loads nothing."""

import os
import re
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from spikemark.core import places
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Table

FOLDED = 14  # rows from which a table is folded
WIDE = 8  # columns from which letters are smaller on paper


@dataclass(frozen=True)
class Page:
    """What a page shows; empty parts are left out. `what`: a few words above the title, such as a machine."""

    what: str
    title: str
    sentence: str
    care: str = ""  # one sentence that weakens the first
    picture: Figure | None = None
    table: Table | None = None
    notes: list[str] = field(default_factory=list)  # below the table
    sections: list[Section] = field(default_factory=list)
    alarm: bool = False  # the results must not be used


def html(page: Page, folder: Path | None = None) -> str:
    """The page as one HTML document. What sections lack becomes one line each at the end.

    `folder`: where the page will lie, from which it links to the glossary of this checkout.
    """
    here = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["typeset"] = typeset
    template = environment.from_string((here / "document.html.j2").read_text(encoding="utf-8"))
    shown = [one for one in page.sections if one.boxes or one.figures or one.tables]
    absent = [why for one in page.sections for why in one.missing]
    style = (here / "style.css").read_text(encoding="utf-8")
    return template.render(
        page=page, sections=shown, absent=absent, style=style, folded=FOLDED, wide=WIDE, docs=_docs(folder)
    )


def _docs(folder: Path | None) -> dict[str, str]:
    """Name -> address of the pages of the documentation that explain words; empty where there are none."""
    place = places.root() / "docs"
    found = {name: place / f"{name}.md" for name in ("glossary", "sources")}
    if folder is None or not all(path.is_file() for path in found.values()):
        return {}
    return {name: quote(os.path.relpath(path, Path(folder).resolve())) for name, path in found.items()}


def typeset(text: str) -> Markup:
    """Escapes the text, and marks up code in backticks, and options, which stay on one line."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"(?<![\w-])--[a-z][\w-]*", r'<span class="option">\g<0></span>', coded))
