"""A placement of neurons on ranks as a list of ranges, the file that holds it, and the field that names it.

Range i holds the neurons first[i] … end[i] - 1, by id. They live on rank[i]; where over[i] is more than 1,
neuron k is dealt to rank[i] + (k - origin[i]) mod over[i] instead. Ranges ascend, and every neuron lies in
exactly one. docs/placement.md has the fields of the file.

Inside the analysis a placement is named by one text: its rule, such a rule with weights of ranks as in
`area_group:1x64,0.5x2` (64 ranks of weight 1, then 2 of 0.5), or the path of its file.
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy import sparse

from spikemark.core.errors import BadInput, shown
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically
from spikemark.core.reading import read_json

from .named_files import digest

FILE, FROM_FILE = ".json", "from_file"  # what names of files end in; name of the placement that reads one
SEPARATOR, TIMES = ":", "x"  # before weights in a text; between a weight and how many ranks have it
LIMITS = (1e-12, 1e12)  # of a weight
ALLOWED = (
    f'a name, {{"name": NAME, "weights": [a number for each rank]}}, or {{"name": "{FROM_FILE}", "file":'
    f' "FILE{FILE}"}}'
)
COLUMNS = ("first", "end", "rank", "over", "origin")
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


def residues(start: int, size: int, modulus: int) -> np.ndarray:
    """How many of the numbers start ... start + size - 1 leave each remainder modulo `modulus`, [modulus]."""
    whole, rest = divmod(size, modulus)
    return whole + ((np.arange(modulus) - start) % modulus < rest)


@dataclass(frozen=True, eq=False)
class Placement:
    """Ranges [n] of neurons on `ranks` ranks; see the module."""

    ranks: int
    first: np.ndarray
    end: np.ndarray
    rank: np.ndarray
    over: np.ndarray
    origin: np.ndarray
    method: str = ""
    weights: np.ndarray | None = None  # [ranks] what each rank shall have, in any unit; None: ranks are equal

    @classmethod
    def of(cls, ranks: int, end, rank, over=None, origin=None, method: str = "") -> "Placement":
        """Ranges that follow on each other from neuron 0. Empty ranges are left out."""
        first = np.r_[0, end[:-1]]
        over = np.ones(len(end)) if over is None else over
        parts = (first, end, rank, over, first if origin is None else origin)
        kept = np.asarray(end) > first
        return cls(ranks, *(np.asarray(part, dtype=np.int64)[kept] for part in parts), method)

    def merged(self) -> "Placement":
        """The same with neighbouring ranges put together where neurons are on one rank, or dealt alike."""
        same = (self.rank[1:] == self.rank[:-1]) & (self.over[1:] == self.over[:-1])
        same &= (self.over[1:] == 1) | (self.origin[1:] == self.origin[:-1])
        begins, ends = np.r_[True, ~same], np.r_[~same, True]
        kept = {name: getattr(self, name)[ends if name == "end" else begins] for name in COLUMNS}
        return replace(self, **kept)

    @cached_property
    def per_rank(self) -> np.ndarray:
        """[ranks] neurons."""
        return self.counts(self.end[-1:]).toarray()[0]

    @property
    def balance(self) -> float:
        """The largest load of a rank over what it shall have: its share of all neurons by its weight."""
        weights = np.ones(self.ranks) if self.weights is None else self.weights
        return float((self.per_rank / weights).max() * weights.sum() / self.end[-1])

    def on(self, ranks: int | None, where: str) -> "Placement":
        """The same. Raises BadInput for another number of ranks than it is for; None is any."""
        if ranks not in (None, self.ranks):
            raise BadInput(f"ranks={ranks}: {where} is for {self.ranks}")
        return self

    def cut(self, sizes: np.ndarray) -> tuple[np.ndarray, ...]:
        """The ranges, cut where units of neurons end: of each piece range, unit, first neuron and neurons.

        The units have `sizes` neurons, one unit after another from neuron 0.
        """
        last = np.cumsum(sizes)
        first = last - sizes
        low = np.searchsorted(last, self.first, "right")
        high = np.searchsorted(first, self.end, "left")  # units low ... high - 1 have neurons of the range
        pieces = high - low
        which = np.repeat(np.arange(len(low)), pieces)
        unit = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces) + low[which]
        start = np.maximum(first[unit], self.first[which])
        count = np.minimum(last[unit], self.end[which]) - start
        filled = count > 0
        return which[filled], unit[filled], start[filled], count[filled]

    def counts(self, sizes: np.ndarray) -> sparse.csr_array:
        """[unit, ranks] neurons of each unit, as of `cut`, on each rank."""
        which, unit, start, count = self.cut(sizes)
        over, origin = self.over[which], self.origin[which]
        dealt = [residues(s - o, c, n) if n > 1 else [c] for s, o, c, n in
                 zip(*(part.tolist() for part in (start, origin, count, over)), strict=True)]  # fmt: skip
        turn = np.arange(over.sum()) - np.repeat(np.cumsum(over) - over, over)
        at = np.repeat(unit, over), np.repeat(self.rank[which], over) + turn
        found = sparse.coo_array((np.concatenate(dealt).astype(float), at), (len(sizes), self.ranks)).tocsr()
        found.eliminate_zeros()
        return found

    def check(self, neurons: int, where: str) -> "Placement":
        """Raises BadInput with one line for neurons that are forgotten, repeated or nowhere."""
        nowhere = (self.over < 1) | (self.rank < 0) | (self.rank + self.over > self.ranks)
        for wrong, name, expected in (
            (self.first != np.r_[0, self.end[:-1]], "first", "the end of the range before: each neuron once"),
            (self.end < self.first, "end", "an end that is not below first"),
            (nowhere, "rank", f"ranks from 0 to {self.ranks - 1}"),
            ((self.origin < 0) | (self.origin > self.first), "origin", "0 to the first neuron"),
        ):
            for i in np.flatnonzero(wrong)[:1]:
                raise BadInput.of(f"{name}.{i}", int(getattr(self, name)[i]), expected, file=where)
        if self.end[-1] != neurons:
            raise BadInput.of("end", int(self.end[-1]), f"{neurons}, the neurons of the network", file=where)
        return self


# ---------------------------------------------------------------- the file


class _File(BaseModel):
    """What a file says, but for how its columns fit each other."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    kind: Literal["placement"]
    format_version: Annotated[int, Field(ge=1, le=1)]
    ranks: Annotated[int, Field(ge=1, le=1_000_000)]
    method: str = ""
    weights: list[Annotated[float, Field(ge=LIMITS[0], le=LIMITS[1])]] | None = None
    first: Annotated[list[Whole], Field(min_length=1)]
    end: list[Whole]
    rank: list[Whole]
    over: list[Whole] | None = None
    origin: list[Whole] | None = None


def check_ending(path: Path) -> None:
    """Raises BadInput for a file that is not .json."""
    if path.suffix != FILE:
        raise BadInput(f"{path}: expected a file that ends in {FILE}")


def write(path: Path, placement: Placement) -> None:
    """Write FILE.json, which the mini-app reads, too. Raises BadInput for another ending."""
    check_ending(path)
    about = {"kind": "placement", "format_version": 1, "ranks": placement.ranks, "method": placement.method}
    if placement.weights is not None:
        about["weights"] = placement.weights.tolist()
    columns = {name: getattr(placement, name) for name in COLUMNS}
    lists = ",\n ".join(f'"{name}": {json.dumps(part.tolist())}' for name, part in columns.items())
    write_atomically(path, f"{json.dumps(about)[:-1]},\n {lists}}}\n")


def read(path: Path, neurons: int) -> Placement:
    """The placement in a file. Raises BadInput for one that does not place each of the neurons once."""
    said = checked(_File, read_json(path, "`spikemark partition` writes one"), path, "placement")
    columns = {"over": [1] * len(said.first), "origin": said.first}
    columns |= {name: column for name in COLUMNS if (column := getattr(said, name)) is not None}
    for name, column in (columns | {"weights": said.weights}).items():
        wanted = said.ranks if name == "weights" else len(said.first)
        if column is not None and len(column) != wanted:
            raise BadInput(f"{path}: {name}: {len(column)} numbers; expected {wanted}")
    arrays = (np.array(columns[name], dtype=np.int64) for name in COLUMNS)
    weights = None if said.weights is None else np.array(said.weights)
    return Placement(said.ranks, *arrays, said.method, weights).check(neurons, str(path))


# ---------------------------------------------------------------- the field of a run description


def text_of(field: Any) -> Any:
    """The text for what a description says. Raises ValueError for what is not expected."""
    said = field if isinstance(field, dict) else {}
    name, file, weights = (said.get(part) for part in ("name", "file", "weights"))
    if set(said) == {"name", "weights"} and isinstance(name, str) and SEPARATOR not in name:
        numbers = isinstance(weights, list) and all(type(w) in (int, float) for w in weights)
        if not numbers or not weights or not all(abs(w) <= sys.float_info.max for w in weights):
            raise ValueError(f"weights={shown(weights)}; expected a finite number for each rank")
        return name + SEPARATOR + _runs(map(float, weights), repr)
    if set(said) == {"name", "file"} and name == FROM_FILE and isinstance(file, str) and file.endswith(FILE):
        return file
    if not isinstance(field, str) or field == FROM_FILE or field.endswith(FILE) or SEPARATOR in field:
        raise ValueError(f"{shown(field)}; expected {ALLOWED}")
    return field


def _runs(weights: Any, form: Callable[[float], str]) -> str:
    runs = ((form(weight), len(list(same))) for weight, same in groupby(weights))
    return ",".join(f"{weight}{TIMES}{n}" if n > 1 else weight for weight, n in runs)


def field_of(placement: str) -> str | dict[str, Any]:
    """What a description says for such a text."""
    if placement.endswith(FILE):
        return {"name": FROM_FILE, "file": placement}
    name, given, words = placement.partition(SEPARATOR)
    return {"name": name, "weights": weights_of(words, "weights").tolist()} if given else placement


def name_of(field: str | dict[str, Any]) -> str:
    """What a description says, in words that stand in a table or a label."""
    if isinstance(field, str):
        return field
    said = Path(field["file"]).stem if "file" in field else _runs(field["weights"], "{:g}".format)
    return f"{field['name']} {said}"


def same(one: str | None, two: str | None) -> bool:
    """True if two texts stand for the same placement: the same rule, or files of the same content."""
    files = [name for name in (one, two) if name is not None and name.endswith(FILE)]
    return one == two or (len(files) == 2 and digest(Path(files[0])) == digest(Path(files[1])))


def split(text: str) -> tuple[str, np.ndarray | None]:
    """The rule and the weights [ranks] of a text; None for a rule alone or a file.

    Raises BadInput for bad weights.
    """
    rule, given, words = text.partition(SEPARATOR)
    if not given or text.endswith(FILE):
        return text, None
    return rule, weights_of(words, f"placement={shown(text)}: weights")


def weights_of(words: str, field: str, limits: tuple[float, float] = LIMITS) -> np.ndarray:
    """Weights of a text such as 1x64,0.5x2. Raises BadInput, which begins with `field`, for anything else."""
    found: list[float] = []
    for word in words.split(","):
        value, cross, times = word.partition(TIMES)
        try:
            weight, count = float(value), int(times) if cross else 1
        except ValueError:
            weight, count = math.nan, 0
        if not limits[0] <= weight <= limits[1] or not 1 <= count <= 1_000_000:
            raise BadInput(
                f"{field}: {shown(word)}; expected a positive number for each rank, as in 1x64,0.5x2"
            )
        found += [weight] * count
    return np.array(found)
