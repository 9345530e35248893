"""The elements of a page. Sections are plain data; the template turns them into HTML."""

from dataclasses import dataclass, field

from .table import Table


@dataclass(frozen=True)
class Figure:
    """A drawing, with its numbers beside it."""

    id: str  #: of the element of HTML
    title: str
    svg: str  #: inline markup
    alt: str  #: what the drawing shows, in words
    caption: str
    table: Table  #: its numbers


@dataclass(frozen=True)
class Box:
    """A statement that stands out."""

    tone: str  #: good, bad, wary or plain
    text: str


@dataclass(frozen=True)
class Section:
    """One part of the page; empty parts of it are not shown."""

    id: str  #: of the element of HTML
    title: str
    text: list[str] = field(default_factory=list)  #: paragraphs
    boxes: list[Box] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  #: with their titles and notes
    missing: list[str] = field(default_factory=list)  #: what is not shown, and why
    unfolded: bool = False  #: whether long tables are unfolded, too
