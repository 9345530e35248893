"""What a page is made of. Sections are plain data; the template turns them into HTML."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Cells are ready to print. `kinds` says per column what its numbers are, see quantity.KINDS."""

    columns: list[str]
    rows: list[list[str]]
    kinds: list[str] = field(default_factory=list)
    words: tuple[int, ...] = (0,)  # columns of words; the others hold numbers and are aligned to the right

    @property
    def cells(self) -> list[list[str]]:
        return self.rows

    @property
    def heads(self) -> list[tuple[str, str]]:
        return [(c, self.kinds[i] if i < len(self.kinds) else "") for i, c in enumerate(self.columns)]


@dataclass(frozen=True)
class Figure:
    """`svg` is inline markup; `alt` says in words what the drawing shows."""

    id: str
    title: str
    svg: str
    alt: str
    caption: str
    table: Table


@dataclass(frozen=True)
class KeyFigure:
    """One number of the row under the headline; `missing`: there is none, and `note` says why."""

    label: str
    value: str
    kind: str
    note: str = ""
    missing: bool = False


@dataclass(frozen=True)
class Box:
    """A statement that stands out: `good`, `bad`, `wary` or `plain`."""

    tone: str
    text: str


@dataclass(frozen=True)
class Section:
    """One part of the page; what is empty is not shown."""

    id: str
    title: str
    text: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[tuple[str, Table]] = field(default_factory=list)  # caption and table, always open
    missing: list[str] = field(default_factory=list)  # what is not shown, and why
    terms: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)  # text, address (may be empty), what for
