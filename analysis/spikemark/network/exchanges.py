"""The exchanges of the mini-app, by name, and those that are composed of others.

`miniapp --list` has the same names; a test compares them. A composed exchange has an exchange for each of its
levels, and bridges. Its fields and files are those of miniapp/FORMAT.md.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically

from .named_files import OF_EXCHANGES, content

TWO_LEVEL, MULTI_LEVEL = COMPOSED = ("two_level", "multi_level")
ALONE = "self"  # of a rank that meets no other
EXCHANGES = (
    "alltoallv", "ialltoallv", "alltoall", "persistent", "neighbor", "ineighbor", "p2p", "direct", "sparse",
    "allgather", "allgatherv", "rma_put", "rma_doubling", "rma_bruck", "shared", *COMPOSED, ALONE,
)  # fmt: skip
DEFAULT = "alltoallv"
MOST_LEVELS = 8
SIDES = ("sender", "receiver")  # whose group bridges belong to
KINDS = {"order": "rank_order", "table": "forwarding_table"}  # of the files that an exchange names


def most_equal(ranks: int, levels: int) -> tuple[int, ...]:
    """The dimensions whose product is `ranks` with the fewest messages, ascending."""
    if levels == 1:
        return (ranks,)
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    found = [tuple(sorted((d, *most_equal(ranks // d, levels - 1)))) for d in divisors]
    return min(found, key=lambda sizes: (sum(sizes), sizes))


@dataclass(frozen=True)
class Composed:
    """The fields of an exchange, as given. `parts`: the exchange of each level, the innermost first."""

    parts: Any = (DEFAULT, DEFAULT)
    group: Any = None  # of two_level: ranks of a group
    sizes: Any = None  # of multi_level: its dimensions; an empty tuple: two, as equal as can be
    side: Any = "sender"
    merged: Any = False
    files: tuple[tuple[str, Any], ...] = ()  # fields that name files, and the names

    @classmethod
    def of(cls, name: str, given: dict[str, Any]) -> "Composed":
        """The fields of the exchange `name`; defaults where it is not composed."""
        if name != MULTI_LEVEL:
            return cls((given.get("inner", DEFAULT), given.get("outer", DEFAULT)), given.get("group"))
        sizes, parts = given.get("dimensions", []), given.get("parts", DEFAULT)
        sizes = tuple(sizes) if isinstance(sizes, list) and (sizes or "dimensions" not in given) else sizes
        if isinstance(parts, str):
            parts = (parts,) * (len(sizes) or 2 if isinstance(sizes, tuple) else 1)
        parts = tuple(parts) if isinstance(parts, list) else parts
        files = tuple((f, given[f]) for f in OF_EXCHANGES if given.get(f) is not None)
        return cls(parts, None, sizes, given.get("side", "sender"), given.get("merge", False), files)

    def dimensions(self, ranks: int) -> tuple[int, ...]:
        """The sizes of the levels of so many ranks; of two_level, the last group may be smaller."""
        if self.sizes:
            return self.sizes
        if self.sizes is not None:
            return most_equal(ranks, 2)
        group = min(self.group or round(math.sqrt(ranks)), ranks)
        return group, -(-ranks // group)

    def check(self, ranks: list[int], two_level: bool, where: str) -> None:
        """Raises BadInput for fields and files that do not fit groups of so many ranks; `where` begins the
        line."""
        sizes, parts, most = self.sizes, self.parts, max(ranks, default=1)
        listed = isinstance(sizes, tuple) and len(sizes) <= MOST_LEVELS
        listed = listed and all(whole(size, 1, math.inf) for size in sizes)
        product, levels = (math.prod(sizes), len(sizes)) if listed and sizes else (None, 2)
        of_list = (
            f"a list of 1 to {MOST_LEVELS} whole numbers with a product of as many ranks, as in [40, 50]"
        )
        each = isinstance(parts, tuple) and len(parts) == levels
        given = {"group": self.group, "dimensions": sizes, "parts": parts, "side": self.side}
        _require(where, given | {"merge": self.merged}, [
            ("group", self.group is None or whole(self.group, 1, most), f"1 to {most} ranks"),
            ("dimensions", two_level or listed, of_list),
            ("dimensions", product is None or {product} >= {*ranks}, f"a product of {most}"),
            ("parts", each, "one exchange, or one for each dimension"),
            ("side", self.side in SIDES, ", ".join(SIDES)),
            ("merge", type(self.merged) is bool, "true, false"),
        ])  # fmt: skip
        for number in ranks:
            self.read_files(number, where)

    def read_files(self, ranks: int, where: str = "exchange: ") -> dict[str, np.ndarray]:
        """What the files of the exchange hold for so many ranks: `order` [ranks], `table` [groups, ranks].

        Raises BadInput, whose line begins with `where`, for a file that is not there or does not fit.
        """
        sizes, found = [*self.dimensions(ranks)], {}
        for field, file in self.files:
            given = content(file) if isinstance(file, str) else None
            given = {"side": self.side} | (given if isinstance(given, dict) else {})
            rules = [("kind", given.get("kind") == KINDS[field], repr(KINDS[field])),
                     ("format_version", given.get("format_version") == 1, "1")]  # fmt: skip
            if field == "order":
                name, values = "order", given.get("order")
                once = whole(values, 0, ranks - 1, ranks) and len({*values}) == ranks
                rules.append((name, once, f"every integer from 0 to {ranks - 1} once"))
            else:
                name, values, most = "bridge", given.get("bridge"), sizes[0] - 1
                two, fits = len(sizes) == 2, whole(values, 0, most, sizes[-1], ranks)
                rules += [
                    ("dimensions", two and given.get("dimensions") == sizes, f"two levels, {sizes}"),
                    ("side", given["side"] == self.side, repr(self.side)),
                    (name, fits, f"{sizes[-1]} lists of {ranks} integers from 0 to {most}"),
                ]
            _require(f"{where}{field}={file!r}: ", given, rules)
            found[field] = np.array(values)
        return found


def write_table(path: Path, table: np.ndarray, sizes: tuple[int, ...], side: str) -> None:
    """Write a forwarding table as JSON: the field `table` of the exchange multi_level names such a file."""
    about = {"kind": KINDS["table"], "format_version": 1, "side": side, "dimensions": sizes}
    rows = ",\n  ".join(json.dumps(row) for row in table.tolist())
    write_atomically(path, f'{json.dumps(about)[:-1]},\n "bridge": [\n  {rows}]}}\n')


def _require(where: str, given: dict[str, Any], rules: list[tuple[str, bool, str]]) -> None:
    """Raises BadInput for the first rule (field, whether it holds, what is expected) that does not hold."""
    for field, holds, expected in rules:
        if not holds:
            value = given.get(field)
            value = list(value) if isinstance(value, tuple) else value
            raise BadInput(f"{where}{field}={shown(value)}; expected {expected}")


def whole(value: Any, least: float, most: float, *shape: int) -> bool:
    """True if this is a whole number from `least` to `most`, or lists of such, nested in this shape."""
    if not shape:
        return type(value) is int and least <= value <= most
    fits = isinstance(value, list) and len(value) == shape[0]
    return fits and all(whole(one, least, most, *shape[1:]) for one in value)


DIRECT = Composed()  # of an exchange that is not composed: nobody asks
