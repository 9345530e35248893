"""Series of readings in a meter's CSV, and which of them --channel asks for.

A series has the readings of one column of power, of one node, device, part and step. Powers of
nodes and of equal devices add up. Where one power may contain another (a board and its cards, a
total and its rails, several columns of one meter), the file is refused until channels say what
counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.models.power import PowerTrace

from .meter_columns import Kind, MeterColumn

#: Labels of what contains the others.
TOTALS = {"total", "all", "sum", "cluster", "system", "-", "*"}
#: Columns of equal devices, whose labels differ in their numbers only.
NUMBERED = {"index", "gpu", "device", "card", "accelerator", "socket", "package", "psu", "entity"}
#: The facet of a series that is its column of power.
POWER_FACET = "columns of power"


@dataclass(frozen=True)
class Series:
    """Readings of one column of power, of one node, device, part and step."""

    column: MeterColumn
    labels: dict[MeterColumn, str]  #: what the row's other columns say of it
    trace: PowerTrace
    zoneless: bool  #: whether times have no zone

    def label(self, kind: Kind) -> str:
        """What the columns of a kind say; empty without such a column."""
        texts = [
            label_text(column, text) for column, text in self.labels.items() if column.kind is kind
        ]
        return " ".join(texts)

    def name(self, columns: int) -> str:
        """The name of the series in a file with so many columns of power."""
        texts = [label_text(column, text) for column, text in self.labels.items()]
        if columns > 1 or not texts:
            texts.append(self.column.base or self.column.name)
        return " ".join(texts)

    def facets(self) -> dict[str, set[str]]:
        """The names by which --channel may ask for this series, by column."""
        names = {POWER_FACET: {self.column.name, self.column.base}}
        for column, text in self.labels.items():
            names[column.name] = {text, label_text(column, text)}
        return names


def label_text(column: MeterColumn, text: str) -> str:
    """What a label says; a step or the number of a device with the name of its column.

    Example:
        >>> label_text(MeterColumn("GPU", Kind.DEVICE, "GPU"), "0")
        'gpu 0'
    """
    if column.kind is Kind.STEP or (column.kind is Kind.DEVICE and text.isdigit()):
        return f"{column.name.lower()} {text}"
    return text


@dataclass
class SeriesChoice:
    """What channels ask for."""

    series: set[str] = field(default_factory=set)  #: names of series
    facets: dict[str, set[str]] = field(default_factory=dict)  #: names by column

    def contains(self, name: str, series: Series) -> bool:
        """Whether a series is asked for, by its name or by all of the columns."""
        if name in self.series:
            return True
        names = series.facets()
        return bool(self.facets) and all(
            wanted & names[column] for column, wanted in self.facets.items()
        )


def chosen_series(
    path: Path,
    series: dict[str, Series],
    channels: Sequence[str],
    refused: Sequence[MeterColumn],
) -> dict[str, Series]:
    """The series that `channels` ask for; without channels, all of them.

    Args:
        path: the file, for messages.
        series: those of the file, by name.
        channels: each a column of power, what a column such as `node` says, or a series.
        refused: columns that hold limits and statistics.

    Raises BadInput for names that say nothing, or several things, and where the powers of what is
    chosen may not add up.

    Example:
        >>> from .meter_file import read_series
        >>> file = Path("tests/golden/analysis/inputs/power.csv")
        >>> [*chosen_series(file, read_series(file).series, ["node1"], refused=[])]
        ['node1']
    """
    choice = SeriesChoice()
    for name in channels:
        _check_not_refused(path, name, refused, series)
        column = _facet(path, name, series)
        if column is None:
            choice.series.add(name)
        else:
            choice.facets.setdefault(column, set()).add(name)
    chosen_series = series
    if channels:
        chosen_series = {
            name: parts for name, parts in series.items() if choice.contains(name, parts)
        }
    if not chosen_series:
        raise _bad_channel(path, ", ".join(channels), f"one of {', '.join(series)}")
    if not choice.series:
        _check_sum(path, list(chosen_series.values()), set(choice.facets))
    return chosen_series


def _bad_channel(path: Path, name: str, expected: str) -> BadInput:
    return BadInput(
        field="channel",
        value=name,
        expected=expected,
        file=path,
    )


def _check_not_refused(
    path: Path,
    name: str,
    refused: Sequence[MeterColumn],
    series: dict[str, Series],
) -> None:
    """Raises BadInput for the name of a column that is never read."""
    for column in refused:
        if name in (column.name, column.base):
            expected = f"one of {', '.join(series)}: this is {column.kind}"
            raise _bad_channel(path, name, expected)


def _facet(path: Path, name: str, series: dict[str, Series]) -> str | None:
    """The column in which a channel is found; None if it names a series.

    Raises BadInput where nothing or several columns have that name.
    """
    columns: set[str] = set()
    for parts in series.values():
        columns.update(column for column, names in parts.facets().items() if name in names)
    if len(columns) == 1:
        return columns.pop()
    if name in series:
        return None
    expected = f"one of {', '.join(series)}"
    if columns:
        expected = f"{expected}: it may be of {' or '.join(sorted(columns))}"
    raise _bad_channel(path, name, expected)


def _check_sum(path: Path, series: Sequence[Series], asked: set[str]) -> None:
    """Raises BadInput where series may contain one another, unless their column was `asked` for."""
    names = {part.column.name for part in series}
    if len(names) > 1 and POWER_FACET not in asked:
        raise _ambiguous(path, "columns of power", names)
    for column in series[0].labels:
        texts = {part.labels[column] for part in series}
        if column.kind is Kind.STEP or column.name in asked or len(texts) < 2:
            continue
        if column.kind is Kind.PART or _contain_one_another(column, texts):
            raise _ambiguous(path, f"values of {column.name}", texts)


def _contain_one_another(column: MeterColumn, texts: set[str]) -> bool:
    """Whether labels of a column name a total, or devices that are not alike."""
    if any(text.lower() in TOTALS for text in texts):
        return True
    if column.kind is not Kind.DEVICE or column.base.lower() not in NUMBERED:
        return False
    stems = {re.sub(r"\d+", "", text) for text in texts}
    return len(stems) > 1


def _ambiguous(path: Path, what: str, names: set[str]) -> BadInput:
    listed = f"{len(names)} {what}: {', '.join(sorted(names))}"
    expected = "--channel NAME for each one that counts: one may contain another"
    return BadInput(
        f"{listed}; expected {expected}",
        file=path,
        field="channel",
        code="missing",
    )
