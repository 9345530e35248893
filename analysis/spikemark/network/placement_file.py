"""A placement of neurons on ranks as a list of ranges, and the file that holds it.

Range i holds the neurons first[i] … end[i] - 1, by id. They live on rank[i]; where over[i] is more
than 1, neuron k is dealt to rank[i] + (k - origin[i]) mod over[i] instead. Ranges ascend, and every
neuron lies in exactly one. docs/placement.md has the fields of the file.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically
from spikemark.core.reading import read_json

from .named_files import digest
from .placement_text import FILE, MAX_PLACED_RANKS, WEIGHT_LIMITS

if TYPE_CHECKING:
    from scipy import sparse

RANGE_COLUMNS = ("first", "end", "rank", "over", "origin")
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


def residues(start: int, size: int, modulus: int) -> np.ndarray:
    """How many of the numbers start ... start + size - 1 leave each remainder, [modulus].

    Example:
        >>> residues(start=2, size=4, modulus=3).tolist()  # of 2, 3, 4, 5
        [1, 1, 2]
    """
    rounds, rest = divmod(size, modulus)
    counts = np.full(modulus, rounds)
    first = start % modulus
    end = first + rest  # of the numbers beyond whole rounds, which go on from 0
    counts[first:end] += 1
    counts[: max(0, end - modulus)] += 1
    return counts


@dataclass(frozen=True, eq=False)
class Placement:
    """Ranges of neurons on ranks, see the head of the module.

    Example:
        >>> halves = Placement.from_ranges(ranks=2, end=np.array([60, 100]), rank=np.array([0, 1]))
        >>> halves.per_rank.tolist()
        [60.0, 40.0]
    """

    ranks: int  #: number of ranks
    first: np.ndarray  #: [range] first neuron
    end: np.ndarray  #: [range] neuron behind the last one
    rank: np.ndarray  #: [range] first rank
    over: np.ndarray  #: [range] ranks that take neurons in turn
    origin: np.ndarray  #: [range] a neuron that the first of these ranks would have
    method: str = ""  #: how it was made
    #: [ranks] what each rank shall have, in any unit; None: ranks are equal.
    weights: np.ndarray | None = None

    @classmethod
    def from_ranges(
        cls,
        ranks: int,
        end: np.ndarray,
        rank: np.ndarray,
        over: np.ndarray | None = None,
        origin: np.ndarray | None = None,
        method: str = "",
    ) -> "Placement":
        """Ranges that follow on each other from neuron 0. Empty ranges are left out.

        By default each range lies on one rank.
        """
        first = np.r_[0, end[:-1]]
        if over is None:
            over = np.ones(len(end))
        if origin is None:
            origin = first
        filled = np.asarray(end) > first

        def column(values: np.ndarray) -> np.ndarray:
            return np.asarray(np.asarray(values, dtype=np.int64)[filled])

        return cls(
            ranks=ranks,
            first=column(first),
            end=column(end),
            rank=column(rank),
            over=column(over),
            origin=column(origin),
            method=method,
        )

    def merged(self) -> "Placement":
        """The placement with neighbouring ranges put together where their neurons are dealt alike.

        That is, on one rank, or over the same ranks in one go.
        """
        alike = (self.rank[1:] == self.rank[:-1]) & (self.over[1:] == self.over[:-1])
        alike &= (self.over[1:] == 1) | (self.origin[1:] == self.origin[:-1])
        begins = np.r_[True, ~alike]
        ends = np.r_[~alike, True]
        return replace(
            self,
            first=self.first[begins],
            end=self.end[ends],
            rank=self.rank[begins],
            over=self.over[begins],
            origin=self.origin[begins],
        )

    @cached_property
    def per_rank(self) -> np.ndarray:
        """Neurons of each rank, [ranks]."""
        neurons: np.ndarray = self.counts(self.end[-1:]).toarray()[0]
        return neurons

    @property
    def balance(self) -> float:
        """The largest load of a rank over its share of all neurons by its weight."""
        weights = np.ones(self.ranks) if self.weights is None else self.weights
        fullest = (self.per_rank / weights).max()
        return float(fullest * weights.sum() / self.end[-1])

    def on(self, ranks: int | None, where: str) -> "Placement":
        """The same placement; `where` names it.

        Raises:
            BadInput: for another number of ranks than it is for; None is any.
        """
        if ranks not in (None, self.ranks):
            raise BadInput(
                field="ranks",
                value=ranks,
                reason=f"{where} is for {self.ranks}",
            )
        return self

    def cut(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The ranges, cut where units of neurons end.

        Args:
            sizes: neurons of each unit, one unit after another from neuron 0, shape [unit].

        Returns:
            Of each piece: range, unit, first neuron and number of neurons, shape [piece] each.
        """
        unit_end = np.cumsum(sizes)
        unit_first = unit_end - sizes
        # Units low ... high - 1 have neurons of the range.
        low = np.searchsorted(unit_end, self.first, "right")
        high = np.searchsorted(unit_first, self.end, "left")
        pieces = high - low
        which = np.repeat(np.arange(len(low)), pieces)
        number_in_range = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        unit = number_in_range + low[which]
        start = np.maximum(unit_first[unit], self.first[which])
        count = np.minimum(unit_end[unit], self.end[which]) - start
        filled = count > 0
        return which[filled], unit[filled], start[filled], count[filled]

    def counts(self, sizes: np.ndarray) -> "sparse.csr_array":
        """Neurons of each unit, as of `cut`, on each rank, sparse [unit, ranks]."""
        from scipy import sparse

        which, unit, start, count = self.cut(sizes)
        over, origin = self.over[which], self.origin[which]
        parts = []
        for offset, size, modulus in zip(
            (start - origin).tolist(), count.tolist(), over.tolist(), strict=True
        ):
            parts.append(residues(offset, size, modulus) if modulus > 1 else [size])
        turn = np.arange(over.sum()) - np.repeat(np.cumsum(over) - over, over)
        units = np.repeat(unit, over)
        ranks = np.repeat(self.rank[which], over) + turn
        neurons = np.concatenate(parts).astype(float)
        shape = (len(sizes), self.ranks)
        counts = sparse.coo_array((neurons, (units, ranks)), shape).tocsr()
        counts.eliminate_zeros()
        return counts

    def check(self, neurons: int, where: str) -> "Placement":
        """The same placement; `where` names its file.

        Raises:
            BadInput: for neurons that are forgotten, repeated or nowhere.
        """
        before = np.r_[0, self.end[:-1]]
        nowhere = (self.over < 1) | (self.rank < 0) | (self.rank + self.over > self.ranks)
        wrong_origin = (self.origin < 0) | (self.origin > self.first)
        each_once = "the end of the range before: each neuron once"
        ranks = f"ranks from 0 to {self.ranks - 1}"
        self._refuse("first", self.first != before, each_once, where)
        self._refuse("end", self.end < self.first, "an end that is not below first", where)
        self._refuse("rank", nowhere, ranks, where)
        self._refuse("origin", wrong_origin, "0 to the first neuron", where)
        if self.end[-1] != neurons:
            expected = f"{neurons}, the neurons of the network"
            raise BadInput(
                field="end",
                value=int(self.end[-1]),
                expected=expected,
                file=where,
            )
        return self

    def _refuse(
        self,
        column: str,
        wrong: np.ndarray,
        expected: str,
        where: str,
    ) -> None:
        """Raises BadInput for the first range whose value in a column is wrong."""
        if wrong.any():
            number = int(np.argmax(wrong))
            value = int(getattr(self, column)[number])
            raise BadInput(
                field=f"{column}.{number}",
                value=value,
                expected=expected,
                file=where,
            )


class _PlacementContent(BaseModel):
    """What a file says, but for how its columns fit each other."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)

    kind: Literal["placement"]
    format_version: Annotated[int, Field(ge=1, le=1)]
    ranks: Annotated[int, Field(ge=1, le=MAX_PLACED_RANKS)]
    method: str = ""
    weights: list[Annotated[float, Field(ge=WEIGHT_LIMITS[0], le=WEIGHT_LIMITS[1])]] | None = None
    first: Annotated[list[Whole], Field(min_length=1)]
    end: list[Whole]
    rank: list[Whole]
    over: list[Whole] | None = None
    origin: list[Whole] | None = None


def check_ending(path: Path) -> None:
    """Raises BadInput for a file that is not .json.

    Example:
        >>> check_ending(Path("halves.json"))
    """
    if path.suffix != FILE:
        raise BadInput(
            expected=f"a file that ends in {FILE}",
            file=path,
            code="file",
        )


def write(path: Path, placement: Placement) -> None:
    """Write FILE.json, which the mini-app reads, too. Raises BadInput for another ending.

    Example:
        >>> import tempfile
        >>> halves = Placement.from_ranges(ranks=2, end=np.array([60, 100]), rank=np.array([0, 1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(Path(folder, "halves.json"), halves)
        ...     print(json.loads(Path(folder, "halves.json").read_text())["end"])
        [60, 100]
    """
    check_ending(path)
    head = {
        "kind": "placement",
        "format_version": 1,
        "ranks": placement.ranks,
        "method": placement.method,
    }
    if placement.weights is not None:
        head["weights"] = placement.weights.tolist()
    columns = []
    for name in RANGE_COLUMNS:
        values = json.dumps(getattr(placement, name).tolist())
        columns.append(f'"{name}": {values}')
    lists = ",\n ".join(columns)
    write_atomically(path, f"{json.dumps(head)[:-1]},\n {lists}}}\n")


def read_placement(path: Path, neurons: int) -> Placement:
    """The placement in a file.

    Raises:
        BadInput: for a file that does not place each of the neurons once.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> halves = Placement.from_ranges(ranks=2, end=np.array([60, 100]), rank=np.array([0, 1]))
        >>> with TemporaryDirectory() as folder:
        ...     write(Path(folder, "halves.json"), halves)
        ...     read_placement(Path(folder, "halves.json"), neurons=100).end.tolist()
        [60, 100]
    """
    content = read_json(path, "`spikemark partition` writes one")
    file = checked(_PlacementContent, content, path, "placement")
    ranges = len(file.first)
    columns = {
        "over": [1] * ranges if file.over is None else file.over,
        "origin": file.first if file.origin is None else file.origin,
        "first": file.first,
        "end": file.end,
        "rank": file.rank,
    }
    for name, column in columns.items():
        _check_length(name, column, ranges, path)
    arrays = {name: np.array(column, dtype=np.int64) for name, column in columns.items()}
    weights = None
    if file.weights is not None:
        _check_length("weights", file.weights, file.ranks, path)
        weights = np.array(file.weights)
    placement = Placement(ranks=file.ranks, method=file.method, weights=weights, **arrays)
    return placement.check(neurons, str(path))


def _check_length(name: str, column: Sequence[float], length: int, path: Path) -> None:
    """Raises BadInput for a column of another length."""
    if len(column) != length:
        line = f"{name}: {len(column)} numbers; expected {length}"
        raise BadInput(line, field=name, file=path)


def same(first: str | Placement | None, second: str | Placement | None) -> bool:
    """True if two texts stand for the same placement: one rule, or files of the same content.

    Example:
        >>> same("area", "area"), same("area", "round_robin")
        (True, False)
    """
    if first == second:
        return True
    if not isinstance(first, str) or not isinstance(second, str):
        return False
    if not first.endswith(FILE) or not second.endswith(FILE):
        return False
    return digest(Path(first)) == digest(Path(second))
