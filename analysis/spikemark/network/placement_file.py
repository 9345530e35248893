"""A placement of neurons on ranks as a list of ranges, and the file that holds it (docs/partition.md).

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

from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically
from spikemark.core.npz import read_npz
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
        end = np.asarray(end, dtype=np.int64)
        first = np.concatenate([[0], end[:-1]]).astype(np.int64)
        over = np.ones(len(end), np.int64) if over is None else np.asarray(over, dtype=np.int64)
        origin = first if origin is None else np.asarray(origin, dtype=np.int64)
        kept = end > first
        parts = (first, end, np.asarray(rank, dtype=np.int64), over, origin)
        return cls(ranks, *(part[kept] for part in parts), method)

    def merged(self) -> "Placement":
        """The same with neighbouring ranges of one rank put together."""
        same = (self.rank[1:] == self.rank[:-1]) & (self.over[1:] == 1) & (self.over[:-1] == 1)
        begins = np.concatenate([[True], ~same])
        ends = np.concatenate([~same, [True]])
        kept = (part[begins] for part in (self.rank, self.over, self.origin))
        return replace(self, **dict(zip(COLUMNS, (self.first[begins], self.end[ends], *kept), strict=True)))

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
        for f, e, r, n, o in zip(*(part[~whole] for part in self._parts), strict=True):
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

    @property
    def _parts(self) -> tuple[np.ndarray, ...]:
        return self.first, self.end, self.rank, self.over, self.origin

    def check(self, neurons: int, where: str) -> "Placement":
        """Raises BadInput with one line for neurons that are forgotten, repeated or nowhere."""
        for i in np.flatnonzero(self.end < self.first)[:1]:
            raise BadInput(
                f"{where}: range {i}: first={self.first[i]}, end={self.end[i]}: end must not be below first"
            )
        after = np.concatenate([[0], self.end])
        begins = np.concatenate([self.first, [neurons]])
        wrong = np.flatnonzero(begins != after)
        if len(wrong):
            i = wrong[0]
            low, high = sorted((int(begins[i]), int(after[i])))
            word = "forgotten" if begins[i] > after[i] else "placed twice"
            if i == len(self.end) and word == "placed twice":
                raise BadInput(f"{where}: end={high}: the network has {neurons} neurons")
            raise BadInput(
                f"{where}: neurons {low} to {high - 1} are {word}; every neuron must have one rank"
            )
        for i in np.flatnonzero((self.over < 1) | (self.rank < 0) | (self.rank + self.over > self.ranks))[:1]:
            raise BadInput(
                f"{where}: range {i}: rank={self.rank[i]}, over={self.over[i]}: the ranks are 0 to"
                f" {self.ranks - 1}"
            )
        for i in np.flatnonzero((self.origin < 0) | (self.origin > self.first))[:1]:
            raise BadInput(
                f"{where}: range {i}: origin={self.origin[i]}: allowed is 0 to its first neuron,"
                f" {self.first[i]}"
            )
        return self


def check_ending(path: Path) -> None:
    """Raises BadInput for a file that is neither .json nor .npz."""
    if path.suffix not in ENDINGS:
        raise BadInput(f"{path}: a placement is written as .json or .npz")


def write(path: Path, placement: Placement) -> None:
    """Write FILE.json, which the mini-app reads, too, or FILE.npz. Raises BadInput for another ending."""
    check_ending(path)
    columns = dict(zip(COLUMNS, placement._parts, strict=True))
    about = {"kind": KIND, "format_version": VERSION, "ranks": placement.ranks, "method": placement.method}
    if placement.weights is not None:
        about["weights"] = placement.weights.tolist()
    if path.suffix == ".json":
        lists = ",\n ".join(f'"{name}": {json.dumps(part.tolist())}' for name, part in columns.items())
        write_atomically(path, f"{json.dumps(about)[:-1]},\n {lists}}}\n")
    else:
        stream = io.BytesIO()
        np.savez_compressed(stream, about=json.dumps(about), **columns)
        write_atomically(path, stream.getvalue())


def read(path: Path, neurons: int) -> Placement:
    """The placement in a file. Raises BadInput for one that does not place each of the neurons once."""
    if path.suffix == ".npz":
        given, columns = _from_npz(path)
    else:
        given = read_json(path, "`spikemark partition` writes one")
        columns = {name: given.get(name) for name in COLUMNS} if isinstance(given, dict) else {}
    about = given if isinstance(given, dict) else {}
    if (about.get("kind"), about.get("format_version")) != (KIND, VERSION):
        raise BadInput(f"{path}: kind={shown(about.get('kind'))}: a placement of format_version 1 is needed")
    ranks = about.get("ranks")
    if type(ranks) is not int or not 1 <= ranks <= MOST_RANKS:
        raise BadInput(f"{path}: ranks={shown(ranks)}: a whole number from 1 to {MOST_RANKS}")
    if columns["first"] is None:
        raise BadInput(f"{path}: first: missing")
    columns = {name: _whole(path, name, columns) for name in COLUMNS}
    lengths = {name: len(part) for name, part in columns.items()}
    if len(set(lengths.values())) > 1 or not lengths["first"]:
        counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise BadInput(f"{path}: values of columns: {counts}; all must have as many, at least one")
    method = about.get("method", "")
    weights = _weights(path, about.get("weights"), ranks)
    return Placement(ranks, *columns.values(), str(method), weights).check(neurons, str(path))


def _weights(path: Path, given: Any, ranks: int) -> np.ndarray | None:
    """Weights of ranks, where the file gives them."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != ranks:
        raise BadInput(f"{path}: weights={shown(given)}: a list of a number for each of {ranks} ranks")
    for i, weight in enumerate(given):
        if type(weight) not in (int, float) or not 1e-12 <= weight <= 1e12:
            raise BadInput(f"{path}: weights.{i}={shown(weight)}: a number from 1e-12 to 1e12")
    return np.array(given, float)


def _whole(path: Path, name: str, columns: dict) -> np.ndarray:
    """A column of whole numbers; without `over`, one rank each, and without `origin`, the first neuron."""
    given = columns[name]
    if given is None and name in ("over", "origin"):
        return np.ones(len(columns["first"]), np.int64) if name == "over" else np.array(columns["first"])
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.array(None)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise BadInput(f"{path}: {name}: a list of whole numbers is needed")
    for wrong in found[(found < -MOST_NUMBER) | (found > MOST_NUMBER)][:1]:
        raise BadInput(f"{path}: {name}={wrong}: a whole number of at most {MOST_NUMBER}")
    return found.astype(np.int64)


def _from_npz(path: Path) -> tuple[Any, dict]:
    try:
        file = read_npz(path)
        return json.loads(str(file["about"])), {n: file.get(n) for n in COLUMNS}
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"{path}: not found; `spikemark partition` writes one") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception:  # whatever NumPy and zlib make of damaged bytes
        raise BadInput(f"{path}: not a placement written by `spikemark partition`") from None
