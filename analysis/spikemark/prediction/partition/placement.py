"""A placement of neurons on ranks as a list of ranges, and the file that holds it (docs/partition.md).

Range i holds the neurons first[i] … end[i] - 1, by id. They live on rank[i]; where over[i] is more than 1,
neuron k is dealt to rank[i] + (k - origin[i]) mod over[i] instead. Ranges ascend, and every neuron lies in
exactly one.
"""

import io
import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically
from spikemark.core.npz import read_npz
from spikemark.core.reading import read_json
from spikemark.network.description import Description
from spikemark.network.placement import PLACEMENTS, residues, spans

from .graph import Graph

KIND, VERSION = "placement", 1
ENDINGS = (".json", ".npz")
COLUMNS = ("first", "end", "rank", "over", "origin")
MOST_RANKS = 1_000_000
MOST_COUNTED = 5_000_000  # dealt (unit, rank) pairs up to which neurons are counted one by one


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
        return Placement(self.ranks, self.first[begins], self.end[ends], *kept, self.method)

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
        return self

    def columns(self, graph: Graph) -> tuple[sparse.csr_array, np.ndarray]:
        """Neurons of every unit in every class of ranks with equal contents, [U, classes]; class of a rank.

        The numbers are exact unless a graph is so large that dealt neurons are shared evenly.
        """
        begins, ends = graph.first, graph.first + graph.sizes
        low = np.searchsorted(ends, self.first, "right")
        high = np.searchsorted(begins, self.end, "left")  # units low ... high - 1 have neurons of the range
        pieces = high - low
        which = np.repeat(np.arange(len(low)), pieces)
        unit = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces) + low[which]
        start = np.maximum(begins[unit], self.first[which])
        count = np.minimum(ends[unit], self.end[which]) - start
        dealt = self.over[which] > 1
        if self.over[which][dealt].sum() <= MOST_COUNTED:
            return self._counted(unit, which, start, count, dealt, len(begins)), np.arange(self.ranks)
        return self._shared(unit, which, count, dealt, len(begins))

    def _counted(self, unit, which, start, count, dealt, units) -> sparse.csr_array:
        rows, columns = [unit[~dealt]], [self.rank[which][~dealt]]
        data = [count[~dealt].astype(float)]
        for i in np.flatnonzero(dealt):
            n, r = self.over[which[i]], self.rank[which[i]]
            rows.append(np.full(n, unit[i]))
            columns.append(np.arange(r, r + n))
            data.append(residues(int(start[i] - self.origin[which[i]]), int(count[i]), int(n)))
        parts = (np.concatenate(rows), np.concatenate(columns))
        found = sparse.csr_array((np.concatenate(data).astype(float), parts), shape=(units, self.ranks))
        found.sum_duplicates()
        found.eliminate_zeros()
        return found

    def _shared(self, unit, which, count, dealt, units) -> tuple[sparse.csr_array, np.ndarray]:
        found, span = np.unique(np.c_[self.rank[which], self.over[which]][dealt], axis=0, return_inverse=True)
        member = np.zeros((self.ranks, len(found)), bool)
        for i, (first, n) in enumerate(found):
            member[first : first + n, i] = True
        alone = np.zeros(self.ranks, np.int64)  # a rank with neurons of its own is a class of its own
        own = np.unique(self.rank[which][~dealt])
        alone[own] = 1 + own
        kinds, classes = np.unique(np.c_[member, alone], axis=0, return_inverse=True)
        classes = classes.ravel()
        of = kinds[:, :-1].astype(bool)  # [class, span]
        rows, columns = [unit[~dealt]], [classes[self.rank[which][~dealt]]]
        data = [count[~dealt].astype(float)]
        for i, (_, n) in enumerate(found):
            inside = span.ravel() == i
            share = np.bincount(unit[dealt][inside], count[dealt][inside], units) / n
            (units_in,) = np.nonzero(share)
            for c in np.flatnonzero(of[:, i]):
                rows.append(units_in)
                columns.append(np.full(len(units_in), c))
                data.append(share[units_in])
        parts = (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array((np.concatenate(data), parts), shape=(units, len(kinds))), classes


def of_rule(described: Description, rule: str, ranks: int) -> Placement:
    """What a placement of the mini-app does with a network."""
    network = described.network
    of_area = spans(described, rule, ranks)
    end = np.cumsum([p.size for p in network.populations])
    first = np.concatenate([[0], end[:-1]])
    area = np.array(network.area_of)
    begins = {int(a): int(first[np.flatnonzero(area == a)[0]]) for a in np.unique(area)}
    origin = [0 if rule == "round_robin" else begins[int(a)] for a in area]
    return Placement.of(ranks, end, *np.array([of_area[a] for a in area]).T, origin, rule)


def named(graph: Graph, name: str, ranks: int | None) -> Placement:
    """The placement that a command line names: a file, or a rule of the mini-app with a number of ranks.

    Raises BadInput for neither, for a file of another number of ranks, and for a rule without areas.
    """
    if name not in PLACEMENTS:
        if not name.endswith(ENDINGS):
            raise BadInput(f"placement={name!r}: a file (.json, .npz) or one of {', '.join(PLACEMENTS)}")
        found = read(Path(name), graph.neurons)
        if ranks not in (None, found.ranks):
            raise BadInput(f"ranks={ranks}: {name} is for {found.ranks}")
        return found
    if ranks is None:
        raise BadInput(f"ranks: missing; placement {name!r} needs their number")
    if graph.described is not None:
        return of_rule(graph.described, name, ranks)
    if name == "round_robin":
        return Placement.of(ranks, [graph.neurons], [0], [ranks], [0], name)
    raise BadInput(f"placement={name!r}: a coarse graph has round_robin, or a file of `spikemark partition`")


def check_ending(path: Path) -> None:
    """Raises BadInput for a file that is neither .json nor .npz."""
    if path.suffix not in ENDINGS:
        raise BadInput(f"{path}: a placement is written as .json or .npz")


def write(path: Path, placement: Placement) -> None:
    """Write FILE.json, which the mini-app reads, too, or FILE.npz. Raises BadInput for another ending."""
    check_ending(path)
    columns = dict(zip(COLUMNS, placement._parts, strict=True))
    about = {"kind": KIND, "format_version": VERSION, "ranks": placement.ranks, "method": placement.method}
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
        about, columns = _from_npz(path)
    else:
        given = read_json(path, "`spikemark partition` writes one")
        about = given if isinstance(given, dict) else {}
        columns = {name: about.get(name) for name in COLUMNS}
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
    return Placement(ranks, *columns.values(), str(method)).check(neurons, str(path))


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
    return found.astype(np.int64)


def _from_npz(path: Path) -> tuple[dict, dict]:
    try:
        file = read_npz(path)
        return json.loads(str(file["about"])), {n: file.get(n) for n in COLUMNS}
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"{path}: not found; `spikemark partition` writes one") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, zipfile.BadZipFile):
        raise BadInput(f"{path}: not a placement written by `spikemark partition`") from None
