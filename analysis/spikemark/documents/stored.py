"""Results that pages of docs/ show: docs/figures/NAME.json, with where, when and from what they came."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json

VERSION = 1
FOLDER = Path("docs") / "figures"

Row = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """How results came about. `machine`: on what; `words`: what else a reader needs, such as the cost."""

    command: str
    date: str
    commit: str
    machine: str
    words: str = ""


@dataclass(frozen=True)
class Stored:
    """Tables as `Table.content` gives them, by name, and the sentences of the study.

    `kind` is a key of quantity.KINDS. `inputs` are digests of what the results follow from, by what it is,
    and `changed` names those that no longer hold.
    """

    name: str
    kind: str
    made: Made
    tables: dict[str, Any]
    sentence: str = ""
    remarks: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    @property
    def caption(self) -> str:
        """Says above a table where its numbers are from."""
        made = self.made
        words = f" {made.words}" if made.words else ""
        text = (
            f"*{self.kind.capitalize()} on {made.date}, commit {made.commit}, {made.machine}, "
            f"by `{made.command}`.{words}*"
        )
        if not self.changed:
            return text
        have = "has" if len(self.changed) == 1 else "have"
        return f"{text} **Not run again since {' and '.join(self.changed)} {have} changed.**"

    def rows(self, table: str) -> list[Row]:
        """The rows of a table, a quantity as its value. Raises BadInput for a table that is not there."""
        if table not in self.tables:
            raise BadInput(f"{self.name}: no table {table!r} among {', '.join(self.tables)}")
        return [{name: _value(cell) for name, cell in row.items()} for row in self.tables[table]["rows"]]

    def limits(self, table: str, column: str) -> list[tuple[float, float] | None]:
        """The intervals of a column, by row; None for a cell without one."""
        cells = [row[column] for row in self.tables[table]["rows"]]
        return [
            (c["low"], c["high"]) if isinstance(c, dict) and c["low"] is not None else None for c in cells
        ]

    def write(self) -> Path:
        """Writes the file of this name."""
        path = _path(self.name)
        path.parent.mkdir(exist_ok=True)
        write_json(path, {"format_version": VERSION, **asdict(self)})
        return path


def _value(cell: Any) -> Any:
    if isinstance(cell, dict):
        return cell["value"]
    return cell.replace("\u00a0", " ") if isinstance(cell, str) else cell


def _path(name: str) -> Path:
    return places.root() / FOLDER / f"{name}.json"


def names() -> list[str]:
    """All stored results."""
    return sorted(path.stem for path in (places.root() / FOLDER).glob("*.json"))


def load(name: str) -> Stored | None:
    """The stored results of that name; None where nothing is stored."""
    path = _path(name)
    if not path.is_file():
        return None
    content = read_json(path)
    if content.pop("format_version", None) != VERSION:
        raise BadInput(f"{path}: format_version: allowed is {VERSION}")
    return Stored(**{**content, "made": Made(**content["made"])})


def matching(rows: list[Row], **wanted: Any) -> Iterator[Row]:
    """The rows with these values; a schedule matches without its D, placement or exchange, too."""
    for row in rows:
        if all(_same(row.get(name), value) for name, value in wanted.items()):
            yield row


def parts(label: str) -> list[str]:
    """What stands between commas: "overlapped, D = 10, exchange direct" has three parts."""
    return label.replace("\N{NO-BREAK SPACE}", " ").split(", ")


def _same(cell: Any, value: Any) -> bool:
    if isinstance(cell, str) and isinstance(value, str):
        more = [part for part in parts(cell) if part not in parts(value)]
        return set(parts(value)) <= set(parts(cell)) and all(
            part.startswith(("D =", "placement", "exchange")) for part in more
        )
    return cell == value


def one(rows: list[Row], column: str, **wanted: Any) -> Any:
    """The cell of the first row with these values; None where there is none."""
    return next((row.get(column) for row in matching(rows, **wanted)), None)


def shown(value: float | None, words: Callable[[float], str]) -> str:
    """A number as words; a missing one is empty."""
    return "" if value is None else words(value)
