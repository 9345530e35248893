"""The elements of a page. Sections are plain data; the template turns them into HTML."""

from dataclasses import dataclass, field

from .table import Table


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
    unfolded: bool = False  # long tables, too
