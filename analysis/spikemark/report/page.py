"""Puts the page together: prepares every section, fills the template and writes the page atomically."""

import re
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from spikemark.core.files import write_atomically
from spikemark.quantities.elements import KeyFigure, Section
from spikemark.records.agreement import broken
from spikemark.records.cases import View, look
from spikemark.records.gather import Sweep

from .cautions import cautions
from .headline import Headline, headline
from .key_figures import key_figures
from .sections import SECTIONS


def build(sweep: Sweep, out: Path) -> Headline:
    """Writes the page of a sweep to the file `out` and returns its headline, even if no run is complete."""
    view = look(sweep)
    first = headline(view)
    write_atomically(Path(out), render(view, first))
    return first


def render(view: View, first: Headline) -> str:
    """Returns the page of a sweep as one HTML document that loads nothing."""
    return fill(view, first.sentence, key_figures(view, first), [section(view) for section in SECTIONS])


def fill(view: View, sentence: str, figures: list[KeyFigure], sections: list[Section]) -> str:
    """Returns any page over the runs of a sweep: the sentence at its top, key figures and sections."""
    return document(
        what="experiment",
        sweep=view.sweep,
        sentence=sentence,
        key_figures=figures,
        broken=broken(view.sweep),
        warnings=cautions(view),
        sections=sections,
    )


def document(**parts) -> str:
    """Fills the template of any page; `parts` are what it takes, such as `what` the page is and `sweep`."""
    here = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["typeset"] = typeset
    template = environment.from_string((here / "page.html.j2").read_text(encoding="utf-8"))
    return template.render(style=(here / "style.css").read_text(encoding="utf-8"), **parts)


def typeset(text: str) -> Markup:
    """Escapes the text, and marks up indices of terms and code in backticks."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(coded.replace("d_min", "d<sub>min</sub>"))
