"""Puts the page together: prepares every section, fills the template and writes the page atomically."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from spikemark import machines
from spikemark.core.files import write_atomically
from spikemark.prediction.simulators import MINE
from spikemark.quantities.elements import Box, Figure, KeyFigure, Section
from spikemark.quantities.table import Table
from spikemark.records.agreement import broken
from spikemark.records.cases import View, look
from spikemark.records.gather import Sweep

from . import first_screen
from .cautions import CHECKSUMS, cautions, strongest_load
from .headline import MOST_WORDS, Headline, headline
from .sections import SECTIONS

MOST_ROWS = 20  # of a table on the first screen
CARDS = ("offers", "options")  # tables whose rows are cards on a phone
WARY = "wary"  # the tone of boxes that are cautions, which stand together


@dataclass(frozen=True)
class Top:
    """The first screen of a page under its sentence; empty parts of it are not shown."""

    picture: Figure | None = None
    table: Table | None = None
    table_first: bool = False  # before the picture, as a buyer wants it
    progress: str = ""
    rest: str = ""  # of the sentence


def build(sweep: Sweep, out: Path) -> Headline:
    """Writes the page of a sweep to the file `out` and returns its headline, even if no run is complete."""
    view = look(sweep)
    first = headline(view)
    write_atomically(Path(out), render(view, first))
    return first


def render(view: View, first: Headline) -> str:
    """Returns the page of a sweep as one HTML document that loads nothing."""
    top = Top(first_screen.picture(view), first_screen.table(view), progress=first_screen.progress(view))
    return _of_sweep(view, first.sentence, top, [section(view) for section in SECTIONS], care=first.caution)


def fill(
    view: View, sentence: str, figures: list[KeyFigure], sections: list[Section], common: list[Section]
) -> str:
    """Returns any page over the runs of a sweep: the sentence at its top, key figures and sections.

    `common` sections, which such pages share, come last. The first picture of the others, and their first
    table that is not long, move to the first screen. So does as much of the sentence as people read at a
    glance; the rest stands below it.
    """
    picture, sections = _taken("figures", sections, lambda _: True)
    table, sections = _taken("tables", sections, lambda table: len(table.rows) <= MOST_ROWS)
    first, rest = shortened(sentence)
    top = Top(picture, table, progress=first_screen.progress(view), rest=rest)
    return _of_sweep(view, first, top, [*sections, *common], figures, strongest_load(view.case.runs))


def _taken(what: str, sections: list[Section], fits: Callable[..., bool]) -> tuple:
    """Returns the first of the `figures` or `tables` of sections that `fits`, and the sections without it."""
    for at, section in enumerate(sections):
        for one in filter(fits, getattr(section, what)):
            others = [other for other in getattr(section, what) if other is not one]
            return one, [*sections[:at], replace(section, **{what: others}), *sections[at + 1 :]]
    return None, sections


def shortened(sentence: str) -> tuple[str, str]:
    """Returns the first clauses, of at most MOST_WORDS words if they end at one, and the rest."""
    ends = [m.end() for m in re.finditer(r"[.;](?= )", sentence)] + [len(sentence)]
    fitting = [end for end in ends if len(sentence[:end].split()) <= MOST_WORDS]
    end = max(fitting, default=ends[0])
    rest = sentence[end:].strip()
    return sentence[:end].rstrip(";.") + ".", rest[:1].upper() + rest[1:]


def _of_sweep(
    view: View,
    sentence: str,
    top: Top,
    sections: list[Section],
    figures: Sequence[KeyFigure] = (),
    care: str | None = None,
) -> str:
    boxes = [Box("bad" if text.startswith(CHECKSUMS) else WARY, text) for text in cautions(view)]
    return document(
        what="experiment",
        sweep=view.sweep,
        sentence=sentence,
        care=care or "",
        top=top,
        key_figures=figures,
        broken=broken(view.sweep),
        not_nest=MINE if view.sweep.runs else "",
        cautions=boxes,
        sections=sections,
    )


def document(
    sections: list[Section],
    top: Top | None = None,
    key_figures: Sequence[KeyFigure] = (),
    cautions: list[Box] | None = None,
    not_nest: str = "",
    care: str = "",
    **parts,
) -> str:
    """Fills the template of any page; `parts` are what it takes, such as `what` the page is and `sweep`.

    `care` is a clause on what weakens the sentence, and stands right below it. Boxes of sections that are
    cautions move to `cautions`; sections without content become a list at the end.
    """
    shown = [section for section in sections if not _empty(section)]
    moved = [(box, section) for section in shown for box in section.boxes if box.tone == WARY]
    here = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["typeset"] = typeset
    environment.filters["slug"] = slug
    environment.filters["machine"] = machines.title
    template = environment.from_string((here / "page.html.j2").read_text(encoding="utf-8"))
    style, script = ((here / name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    return template.render(
        style=style,
        script=script,
        top=top or Top(),
        key_figures=key_figures,
        cautions=[(box, None) for box in cautions or []] + moved,
        not_nest=not_nest,
        cards=CARDS,
        care=care,
        sections=[replace(s, boxes=[box for box in s.boxes if box.tone != WARY]) for s in shown],
        absent=[section for section in sections if _empty(section) and section.missing],
        **parts,
    )


def _empty(section: Section) -> bool:
    """Says whether a section shows nothing but words about itself and what is missing."""
    shown = (section.boxes, section.figures, section.tables, section.terms, section.links)
    return not any(shown) and (bool(section.missing) or not section.text)


def typeset(text: str) -> Markup:
    """Escapes the text, and marks up indices of terms, code in backticks, and options, kept on a line."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    coded = re.sub(r"(?<![\w-])--[a-z][\w-]*", r'<span class="option">\g<0></span>', coded)
    return Markup(coded.replace("d_min", "d<sub>min</sub>"))


def slug(text: str) -> str:
    """An id made of words."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
