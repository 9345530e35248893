"""The exchanges of the mini-app, by name, and those that are composed of others.

`miniapp --list` has the same names; a test compares them. A composed exchange has an exchange for each of its
levels, and bridges. Its fields are those of miniapp/FORMAT.md; prediction/exchange.py checks them.
"""

import math
from dataclasses import dataclass
from typing import Any

from .named_files import OF_EXCHANGES

TWO_LEVEL, MULTI_LEVEL = COMPOSED = ("two_level", "multi_level")
ALONE = "self"  # of a rank that meets no other
EXCHANGES = (
    "alltoallv", "ialltoallv", "alltoall", "persistent", "neighbor", "ineighbor", "p2p", "direct", "sparse",
    "allgather", "allgatherv", "rma_put", "rma_doubling", "rma_bruck", "shared", *COMPOSED, ALONE,
)  # fmt: skip
DEFAULT = "alltoallv"
MOST_LEVELS = 8


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


DIRECT = Composed()  # of an exchange that is not composed: nobody asks
