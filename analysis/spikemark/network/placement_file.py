"""A placement of neurons on ranks as a list of ranges, and the file that holds it (docs/placement.md).

Range i holds the neurons first[i] … end[i] - 1, by id. They live on rank[i]; where over[i] is more than 1,
neuron k is dealt to rank[i] + (k - origin[i]) mod over[i] instead. Ranges ascend, and every neuron lies in
exactly one.
"""

import io
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.npy import read_npz
from spikemark.core.reading import read_json

KIND, VERSION = "placement", 1
ENDINGS = (".json", ".npz")
COLUMNS = ("first", "end", "rank", "over", "origin")
MOST_RANKS = 1_000_000
MOST_NUMBER = 2**53  # a neuron, or a rank, in a file


def residues(start: int, size: int, modulus: int) -> np.ndarray:
    """How many of the numbers start ... start + size - 1 leave each remainder modulo `modulus`, [modulus]."""
    whole, rest = divmod(size, modulus)
    return whole + ((np.arange(modulus) - start) % modulus < rest)


@dataclass(frozen=True)
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
        """The same with neighbouring ranges of one rank put together."""
        same = (self.rank[1:] == self.rank[:-1]) & (self.over[1:] == 1) & (self.over[:-1] == 1)
        begins, ends = np.r_[True, ~same], np.r_[~same, True]
        kept = {name: getattr(self, name)[ends if name == "end" else begins] for name in COLUMNS}
        return replace(self, **kept)

    def sharing(self, weights: np.ndarray | None) -> "Placement":
        """The same, made for ranks with these weights [ranks]."""
        return replace(self, weights=weights)

    @property
    def neurons(self) -> int:
        return int(self.end[-1])

    @cached_property
    def per_rank(self) -> np.ndarray:
        """[ranks] neurons; of a coarse graph, those that are dealt are shared evenly."""
        counts = np.zeros(self.ranks + 1)
        whole = self.over == 1
        np.add.at(counts, self.rank[whole], (self.end - self.first)[whole])
        for f, e, r, n, o in zip(*(getattr(self, name)[~whole] for name in COLUMNS), strict=True):
            counts[r : r + n] += residues(f - o, e - f, n)
        return counts[: self.ranks]

    @property
    def balance(self) -> float:
        """The largest load of a rank over what it shall have: its share of all neurons by its weight."""
        weights = np.ones(self.ranks) if self.weights is None else self.weights
        return float((self.per_rank / weights).max() * weights.sum() / self.neurons)

    def on(self, ranks: int, where: str) -> "Placement":
        """The same. Raises BadInput for another number of ranks than it is for."""
        if ranks != self.ranks:
            raise BadInput(f"ranks={ranks}: {where} is for {self.ranks}")
        return self

    def cut(self, first: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, ...]:
        """The ranges, cut where units of neurons end: of each piece range, unit, first neuron and neurons.

        The units have `sizes` neurons from neuron `first` on, and ascend.
        """
        low = np.searchsorted(first + sizes, self.first, "right")
        high = np.searchsorted(first, self.end, "left")  # units low ... high - 1 have neurons of the range
        pieces = high - low
        which = np.repeat(np.arange(len(low)), pieces)
        unit = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces) + low[which]
        start = np.maximum(first[unit], self.first[which])
        count = np.minimum((first + sizes)[unit], self.end[which]) - start
        filled = count > 0
        return which[filled], unit[filled], start[filled], count[filled]

    def check(self, neurons: int, where: str) -> "Placement":
        """Raises BadInput with one line for neurons that are forgotten, repeated or nowhere."""
        before, nowhere = np.r_[0, self.end[:-1]], (self.rank < 0) | (self.rank + self.over > self.ranks)
        for wrong, names, expected in (
            (self.end < self.first, ("first", "end"), "an end that is not below first"),
            (self.first > before, ("first",), "the end of the range before: neurons are forgotten"),
            (self.first < before, ("first",), "the end of the range before: neurons are placed twice"),
            ((self.over < 1) | nowhere, ("rank", "over"), f"ranks from 0 to {self.ranks - 1}"),
            ((self.origin < 0) | (self.origin > self.first), ("origin",), "0 to the first neuron"),
        ):
            for i in np.flatnonzero(wrong)[:1]:
                given = ", ".join(f"{name}={getattr(self, name)[i]}" for name in names)
                raise BadInput(f"{where}: range {i}: {given}; expected {expected}")
        if self.neurons != neurons:
            raise BadInput.of("end", self.neurons, f"{neurons}, the neurons of the network", file=where)
        return self


def check_ending(path: Path) -> None:
    """Raises BadInput for a file that is neither .json nor .npz."""
    if path.suffix not in ENDINGS:
        raise BadInput(f"{path}: a placement is written as .json or .npz")


def write(path: Path, placement: Placement) -> None:
    """Write FILE.json, which the mini-app reads, too, or FILE.npz. Raises BadInput for another ending."""
    check_ending(path)
    about = {"kind": KIND, "format_version": VERSION, "ranks": placement.ranks, "method": placement.method}
    if placement.weights is not None:
        about["weights"] = placement.weights.tolist()
    columns = {name: getattr(placement, name) for name in COLUMNS}
    if path.suffix == ".json":
        lists = ",\n ".join(f'"{name}": {json.dumps(part.tolist())}' for name, part in columns.items())
        write_atomically(path, f"{json.dumps(about)[:-1]},\n {lists}}}\n")
    else:
        stream = io.BytesIO()
        np.savez_compressed(stream, about=json.dumps(about), **columns)
        write_atomically(path, stream.getvalue())


def read(path: Path, neurons: int) -> Placement:
    """The placement in a file. Raises BadInput for one that does not place each of the neurons once."""
    said = _content(path)
    ranks, weights = said.get("ranks"), said.get("weights")

    def check(right: object, field: str, expected: str) -> None:
        if not right:
            raise BadInput.of(field, said.get(field), expected, file=path)

    known = (said.get("kind"), said.get("format_version")) == (KIND, VERSION)
    check(known, "kind", f"{KIND!r} of format_version {VERSION}")
    check(type(ranks) is int and 1 <= ranks <= MOST_RANKS, "ranks", f"an integer from 1 to {MOST_RANKS}")
    found = {name: _column(said.get(name)) for name in COLUMNS}
    first = found["first"]
    for name, left_out in (("over", np.ones_like), ("origin", np.copy)):
        if first is not None and said.get(name) is None:
            found[name] = left_out(first)
    for name, column in found.items():
        whole = column is not None and len(column) == len(first) > 0
        check(whole, name, f"a list of integers of at most {MOST_NUMBER}, one for each range")
    if weights is not None:
        check(isinstance(weights, list) and len(weights) == ranks, "weights", "a number for each rank")
        for i, weight in enumerate(weights):
            if type(weight) not in (int, float) or not 1e-12 <= weight <= 1e12:
                raise BadInput.of(f"weights.{i}", weight, "a number from 1e-12 to 1e12", file=path)
        weights = np.array(weights, float)
    return Placement(ranks, *found.values(), str(said.get("method", "")), weights).check(neurons, str(path))


def _column(given: Any) -> np.ndarray | None:
    """A column of integers; None where it is none."""
    try:
        found = np.asarray(given)
    except ValueError:
        return None
    whole = found.ndim == 1 and found.dtype.kind in "iu"
    small = whole and ((found >= -MOST_NUMBER) & (found <= MOST_NUMBER)).all()
    return found.astype(np.int64) if small else None


def _content(path: Path) -> dict[str, Any]:
    """What a file says about the placement, and its columns."""
    try:
        if path.suffix != ".npz":
            found = read_json(path, "`spikemark partition` writes one")
            return found if isinstance(found, dict) else {}
        file = read_npz(path)
        return json.loads(str(file["about"])) | {name: file.get(name) for name in COLUMNS}
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"{path}: not found; `spikemark partition` writes one", code="file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}", code="file") from None
    except Exception:  # whatever NumPy and zlib make of damaged bytes
        raise BadInput(f"{path}: not a placement written by `spikemark partition`") from None
