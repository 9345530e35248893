"""The elements of a page. Sections are plain data; the template turns them into HTML."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .quantity import Quantity, missing
from .table import Cell, Column, Table
from .words import number


@dataclass(frozen=True)
class Figure:
    """`svg` is inline markup; `alt` says in words what the drawing shows, and `table` has its numbers."""

    id: str
    title: str
    svg: str
    alt: str
    caption: str
    table: Table


@dataclass(frozen=True)
class KeyFigure:
    """One number of the row under the headline; `kind` is a key of quantity.KINDS, `words` writes the number.

    The tile shows the number without its interval, so `note` says how certain it is. For a missing quantity
    the note is the reason.
    """

    label: str
    value: Cell
    kind: str = ""
    note: str = ""
    words: Callable[[float], str] = number

    @classmethod
    def lacking(cls, label: str, reason: str) -> "KeyFigure":
        """A tile that says why there is no number."""
        return cls(label, missing(reason))

    @property
    def absent(self) -> bool:
        """Is there no number?"""
        return isinstance(self.value, Quantity) and not self.value

    @property
    def text(self) -> str:
        """The number as people read it."""
        cell = self.value.value if isinstance(self.value, Quantity) and self.value else self.value
        return Column("", "", words=self.words).text(cell)

    @property
    def remark(self) -> str:
        """The line below the number."""
        return self.note or (self.value.reason if self.absent else "")


@dataclass(frozen=True)
class Box:
    """A statement that stands out: `good`, `bad`, `wary` or `plain`."""

    tone: str
    text: str


@dataclass(frozen=True)
class Section:
    """One part of the page; empty parts of it are not shown."""

    id: str
    title: str
    text: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # with their titles and notes
    missing: list[str] = field(default_factory=list)  # what is not shown, and why
    terms: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)  # text, address (may be empty), what for
