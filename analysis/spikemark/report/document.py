"""Any page: first screen (sentence, facts, picture, table), then sections; one file that loads
nothing.

`document.html.j2`, `style.css` and `page.js` are the same for all pages. Without the script, a page
reads in the same way; with it, tables are sorted, filtered and copied, and figures tell values.
Where a page has runs, `explore.js` shows a page for each of them, and figures of chosen axes.
A security policy allows that script only, by its digest.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from importlib import resources
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from spikemark.core.version import __version__
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Table
from spikemark.quantities.terms import Term, terms

from .run_pages import RunPages

FOLDED = 14  #: rows from which a table is folded
WIDE = 8  #: columns from which letters are smaller on paper
DIGITS = 6  #: significant digits of what sorting and saving use
MAX_ROWS = 100  #: of a table in plain HTML; the script draws the others when they are needed
RUN_ID = "id"  #: the column by whose cells the rows of runs are linked to, as `#run-ID`
DAY = r"\d{4}-\d\d-\d\d"  #: a cell that stays on one line
MAX_UNBROKEN = 20  #: characters of a word with dashes that stays on one line: a phone has room
#: A unit such as (s / s), a number with its interval, an option, or a word with dashes; no part of
#: a longer word or of a path.
UNBROKEN = re.compile(
    r"\(\w+ / \w+\)|(?<![\w.,−-])[−\d.,e+-]+ \([−\d.,e+-]+ to [−\d.,e+-]+\)"
    r"|(?<![\w./&;-])--[a-z][\w-]*"
    rf"|(?<![\w./&;–−-])(?=[\w.,–−-]{{3,{MAX_UNBROKEN}}}(?![\w./&–−-]))"
    r"[\w.,−]+(?:[–-][\w.,−]+)+"
)
ABBREVIATED = ("cv", "delay_ratio")  #: columns whose heads are words of sentences, too
MAX_NARROW = 40  #: characters of a cell of words, beyond which its column is wider
WORD = "word."  #: start of the names of terms that are no columns
#: Rows that are called as the columns of their term.
PARTS_OF_TIME = ("imbalance", "drift", "jitter", "barrier")
PATH = "folder"  #: the column of paths from the folder of the page, which become links


@dataclass(frozen=True)
class Page:
    """What a page shows; empty parts are left out."""

    what: str  #: a few words above the title, such as a machine
    title: str
    sentence: str
    care: str = ""  #: one sentence that weakens the first
    #: What the page is about, and where it comes from, by name: network, machine, day, command, ...
    facts: dict[str, str] = field(default_factory=dict)
    picture: Figure | None = None
    table: Table | None = None
    notes: list[str] = field(default_factory=list)  #: below the table
    sections: list[Section] = field(default_factory=list)
    alarm: bool = False  #: the results must not be used
    runs: RunPages | None = None  #: of which each has a page of its own


@dataclass(frozen=True)
class ColumnHead:
    """The head of a column as the template writes it."""

    text: str
    kind: str
    title: str  #: both, for files of numbers
    is_number: bool
    is_path: bool
    word: str  #: name of the term that explains it; empty if none does


@dataclass(frozen=True)
class PageCell:
    """A cell as the template writes it: its text, and the number behind it."""

    tag: str
    attributes: Markup
    text: str
    link: str = ""  #: where the text leads


@dataclass(frozen=True)
class PageRow:
    """A row as the template writes it."""

    id: str  #: of the run that the row is about; empty for other rows
    cells: list[PageCell]
    word: str = ""  #: name of the term that explains its first cell; empty if none does


def html(page: Page) -> str:
    """The page as one HTML document. What sections lack becomes one line each at the end.

    Example:
        >>> text = html(Page("a machine", "A title", "An answer.", facts={"network": "mam"}))
        >>> "An answer." in text, "<script src" in text
        (True, False)
    """
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "typeset": typeset,
        "heads": heads,
        "lines": lines,
        "further_rows": further_rows,
    }
    template = environment.from_string(_file("document.html.j2"))
    shown = []
    absent: list[str] = []
    for section in page.sections:
        absent += section.missing
        if section.boxes or section.figures or section.tables:
            shown.append(section)
    script = _file("page.js")
    if page.runs is not None:
        script += _file("explore.js")
    return template.render(
        page=page,
        sections=shown,
        absent=absent,
        words=explained(_tables(page, shown), _said(page, shown)),
        style=_file("style.css"),
        script=script,
        policy=policy(script),
        folded=FOLDED,
        wide=WIDE,
        max_rows=MAX_ROWS,
        version=__version__,
    )


def _file(name: str) -> str:
    """The text of a file of this package."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def policy(script: str) -> str:
    """The content security policy of a page: this script, its styles, pictures within the file.

    Example:
        >>> policy("").split("; ")[:2]
        ["default-src 'none'", "style-src 'unsafe-inline'"]
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = [
        "default-src 'none'",
        "style-src 'unsafe-inline'",  # drawings have styles of their own
        "img-src data: blob:",
        f"script-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def _said(page: Page, sections: list[Section]) -> str:
    """All sentences of a page."""
    said = [page.sentence, page.care, *page.notes]
    figures = [page.picture] if page.picture else []
    for section in sections:
        said += [section.title, *section.text, *(box.text for box in section.boxes)]
        figures += section.figures
    for figure in figures:
        said += [figure.title, figure.caption]
    for table in _tables(page, sections):
        said += [table.title, *table.notes, *(column.head for column in table.columns)]
        said += [texts[0] for texts in table.cells[:MAX_ROWS] if texts]
    return "\n".join(said)


def words_in(text: str) -> list[Term]:
    """The words of a text that terms.yaml explains, in any number.

    Blanks, dashes and low lines are alike: `structure_aware` is explained as structure-aware.

    Example:
        >>> [word.head for word in words_in("in 95 % of the draws, with a CV of 0.1")]
        ['CV', 'draw']
    """
    found = []
    for name, each in terms().items():
        flags = re.NOFLAG if each.head.isupper() else re.IGNORECASE
        is_candidate = name in ABBREVIATED or name in _spoken()
        words = re.sub(r"\\[- ]|_", "[-_ ]", re.escape(each.head))
        if is_candidate and re.search(rf"\b{words}s?\b", text, flags):
            found.append(each)
    return sorted(found, key=lambda word: word.head.lower())


def _spoken() -> dict[str, Term]:
    """The terms that are no columns, by name."""
    return {name: each for name, each in terms().items() if name.startswith(WORD)}


def _word(head: str) -> str:
    """The name of the term that is no column and is called so; empty if there is none."""
    for name, each in _spoken().items():
        if each.head == head:
            return name
    return ""


def _tables(page: Page, sections: list[Section]) -> list[Table]:
    """All tables of a page, those of figures included."""
    figures = [page.picture] if page.picture else []
    tables = [page.table] if page.table else []
    for section in sections:
        figures += section.figures
        tables += section.tables
    return tables + [figure.table for figure in figures]


def explained(tables: list[Table], text: str = "") -> list[Term]:
    """The words above columns, before rows and in a text that terms.yaml explains.

    In alphabetical order; a word has its unit where a column has the word with that unit.

    Example:
        >>> from spikemark.quantities.terms import column
        >>> [word.name for word in explained([Table([column("ranks"), column("runs")], [])])]
        ['ranks']
    """
    found = {word.name: replace(word, unit="") for word in words_in(text)}
    for table in tables:
        for row in lines(table):
            if row.word:
                found[row.word] = replace(terms()[row.word], unit="")
    for table in tables:
        for head in heads(table):
            if head.word:
                found[head.word] = terms()[head.word]
    return sorted(found.values(), key=lambda word: word.head.lower())


def heads(table: Table) -> list[ColumnHead]:
    """The heads of a table; a head is explained where it says what its term says.

    Example:
        >>> from spikemark.quantities.terms import column
        >>> heads(Table([column("ranks")], []))[0].word
        'ranks'
    """
    in_words = table.words
    made = []
    for index, column in enumerate(table.columns):
        term = terms().get(column.name)
        is_explained = term is not None and term.means and term.heading == column.head
        word = column.name if is_explained else _word(column.head)
        is_number = index not in in_words
        made.append(
            ColumnHead(
                column.head,
                column.kind,
                column.title,
                is_number,
                column.name == PATH,
                word,
            )
        )
    return made


def lines(table: Table) -> list[PageRow]:
    """The first MAX_ROWS rows of a table, with the numbers that sorting and saving use.

    Example:
        >>> from spikemark.quantities.terms import column
        >>> line, = lines(Table([column("id"), column("ranks")], [{"id": "a1", "ranks": 4}]))
        >>> line.id, line.cells[1].attributes
        ('a1', Markup(' class="number" data-v="4"'))
    """
    in_words = set(table.words)
    made = []
    first_rows = zip(table.rows[:MAX_ROWS], table.cells[:MAX_ROWS], strict=True)
    for row, texts in first_rows:
        cells = []
        for index, (column, text) in enumerate(zip(table.columns, texts, strict=True)):
            attributes = "" if index in in_words else ' class="number"'
            if re.fullmatch(DAY, text):
                attributes = ' class="day"'
            elif index in in_words and len(text) > MAX_NARROW:
                attributes = ' class="long"'
            attributes += numbers(row.get(column.name))
            tag = "td"
            if index == 0:
                tag = "th"
                attributes = f' scope="row"{attributes}'
            link = f"./{quote(text)}" if column.name == PATH and text else ""
            cells.append(PageCell(tag, Markup(attributes), text, link))
        made.append(PageRow(_run_id(row), cells, _word_of_row(texts[0] if texts else "")))
    return made


def _word_of_row(text: str) -> str:
    """The name of the term that explains a row that is called so; empty if none does."""
    own = terms().get(text)
    if own is not None and own.means and own.head == text and text in PARTS_OF_TIME:
        return text
    return _word(text)


def _run_id(row: dict[str, Cell]) -> str:
    """The id of the run that a row is about; empty for other rows."""
    id = row.get(RUN_ID)
    return id if isinstance(id, str) else ""


def further_rows(table: Table) -> Markup:
    """The rows beyond MAX_ROWS as JSON, which `page.js` draws: for each row its id, then its cells.

    A cell is its text, or a list of its text, its number, and the ends of its interval.

    Example:
        >>> from spikemark.quantities.terms import column
        >>> rows = [{"id": f"a{n}", "ranks": n} for n in range(1, MAX_ROWS + 2)]
        >>> further_rows(Table([column("id"), column("ranks")], rows))
        Markup('[["a101","a101",["101","101"]]]')
    """
    content = []
    for row, texts in zip(table.rows[MAX_ROWS:], table.cells[MAX_ROWS:], strict=True):
        line: list[object] = [_run_id(row)]
        for column, text in zip(table.columns, texts, strict=True):
            digits = _digits(row.get(column.name))
            line.append([text, *digits] if digits else text)
        content.append(line)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # nothing in it ends the element


def numbers(cell: Cell) -> str:
    """Attributes of HTML with the number of a cell and its interval; empty for words.

    Example:
        >>> numbers(Quantity(2.0, 1.5, 2.5))
        ' data-v="2" data-l="1.5" data-h="2.5"'
    """
    attributes = ""
    for name, digits in zip(("v", "l", "h"), _digits(cell), strict=False):
        if digits:
            attributes += f' data-{name}="{digits}"'
    return attributes


def _digits(cell: Cell) -> list[str]:
    """The number of a cell and the ends of its interval, as digits; [] for words."""
    if isinstance(cell, Quantity):
        if cell.value is None:
            return []
        return [f"{number:.{DIGITS}g}" for number in (cell.value, *(cell.interval or ()))]
    if isinstance(cell, tuple):
        low, high = cell
        return ["", f"{low:.{DIGITS}g}", f"{high:.{DIGITS}g}"]
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return []
    return [str(cell) if isinstance(cell, int) else f"{cell:.{DIGITS}g}"]


def typeset(text: str) -> Markup:
    """Escapes the text, and marks up code in backticks, and what stays on one line.

    A browser may break a line at every dash: names such as of machines, options, intervals and
    days of at most MAX_UNBROKEN characters are kept whole, and so are units in brackets, and
    numbers with their intervals in brackets.

    Example:
        >>> print(typeset("`run` with --json & more"))
        <code>run</code> with <span class="whole">--json</span> &amp; more
        >>> print(typeset("waiting (s / s) on node-b"))
        waiting <span class="whole">(s / s)</span> on <span class="whole">node-b</span>
        >>> print(typeset("1.79 (1.3 to 3) µs"))
        <span class="whole">1.79 (1.3 to 3)</span> µs
    """
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(UNBROKEN.sub(r'<span class="whole">\g<0></span>', coded))
