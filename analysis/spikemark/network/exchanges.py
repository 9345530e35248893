"""The exchanges of the mini-app, by name, and those that are composed of others.

Names and kinds come from `miniapp --list` (listing.json). A composed exchange has an exchange for
each of its levels, and bridges. Its fields and files are those of miniapp/FORMAT.md.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.fields import whole_as_integer
from spikemark.core.files import write_atomically

from .fields import LISTING
from .named_files import OF_EXCHANGES, read_named_file

TWO_LEVEL, MULTI_LEVEL = "two_level", "multi_level"
COMPOSED = (TWO_LEVEL, MULTI_LEVEL)
#: Exchange of a rank that meets no other.
SELF_EXCHANGE = "self"
_LISTED: list[dict[str, Any]] = LISTING["exchanges"]
EXCHANGES = tuple(exchange["name"] for exchange in _LISTED)
#: In which everyone gets everything.
BROADCASTS = frozenset(exchange["name"] for exchange in _LISTED if exchange["broadcast"])
#: Which go on while ranks compute, as a lag requires. The listing tells it of those that its MPI
#: library has, and Open MPI 4 lacks the persistent one.
OVERLAPPING = {exchange["name"] for exchange in _LISTED if exchange["overlaps"]} | {"persistent"}
DEFAULT = "alltoallv"
MAX_LEVELS = 8
#: Whose group bridges belong to.
SIDES = ("sender", "receiver")
#: Kinds of the files that an exchange names, by its field.
FILE_KINDS = {"order": "rank_order", "table": "forwarding_table"}


class _Rule(NamedTuple):
    """What is expected of a field of an exchange, or of one of its files."""

    field: str  #: name
    holds: bool  #: whether the field is as expected
    expected: str  #: in words


def most_equal(ranks: int, levels: int) -> tuple[int, ...]:
    """The dimensions whose product is `ranks` with the fewest messages, ascending.

    Example:
        >>> most_equal(24, levels=2)
        (4, 6)
    """
    if levels == 1:
        return (ranks,)
    choices = []
    for divisor in range(1, ranks + 1):
        if ranks % divisor == 0:
            rest = most_equal(ranks // divisor, levels - 1)
            choices.append(tuple(sorted((divisor, *rest))))
    return min(choices, key=lambda sizes: (sum(sizes), sizes))


@dataclass(frozen=True)
class ComposedExchange:
    """The fields of an exchange, as given; `check` says whether they are right."""

    parts: Any = (DEFAULT, DEFAULT)  #: the exchange of each level, the innermost first
    group: Any = None  #: of two_level: ranks of a group
    #: Of multi_level: its dimensions; an empty tuple: two, as equal as can be.
    sizes: Any = None
    side: Any = "sender"  #: one of SIDES
    merged: Any = False  #: whether a bridge merges what it forwards
    files: tuple[tuple[str, Any], ...] = ()  #: fields that name files, and the names

    @classmethod
    def from_fields(cls, name: str, fields: dict[str, Any]) -> "ComposedExchange":
        """The exchange `name` with these fields; defaults where it is not composed.

        Example:
            >>> fields = {"dimensions": [4, 6], "parts": "p2p"}
            >>> ComposedExchange.from_fields("multi_level", fields).parts
            ('p2p', 'p2p')
        """
        if name != MULTI_LEVEL:
            parts = (fields.get("inner", DEFAULT), fields.get("outer", DEFAULT))
            return cls(parts, whole_as_integer(fields.get("group")))
        sizes = fields.get("dimensions", [])
        if isinstance(sizes, list) and (sizes or "dimensions" not in fields):
            sizes = tuple(whole_as_integer(size) for size in sizes)
        names = fields.get("parts", DEFAULT)
        if isinstance(names, str):
            levels = len(sizes) or 2 if isinstance(sizes, tuple) else 1
            names = (names,) * levels
        elif isinstance(names, list):
            names = tuple(names)
        files = [(field, fields[field]) for field in OF_EXCHANGES if fields.get(field) is not None]
        return cls(
            parts=names,
            sizes=sizes,
            side=fields.get("side", "sender"),
            merged=fields.get("merge", False),
            files=tuple(files),
        )

    def dimensions(self, ranks: int) -> tuple[int, ...]:
        """The sizes of the levels of so many ranks; of two_level, the last group may be smaller."""
        if self.sizes:
            return tuple(self.sizes)
        if self.sizes is not None:
            return most_equal(ranks, 2)
        group = min(self.group or round(math.sqrt(ranks)), ranks)
        return group, -(-ranks // group)

    def check(self, ranks: list[int], two_level: bool, where: str) -> None:
        """Check fields and files against groups of ranks.

        Args:
            ranks: number of ranks of each group.
            two_level: True for the exchange two_level.
            where: path of the exchange in the description, with ": " behind; begins the line.

        Raises:
            BadInput: for the first field that does not fit.
        """
        sizes, parts = self.sizes, self.parts
        most = max(ranks, default=1)
        is_list = isinstance(sizes, tuple) and len(sizes) <= MAX_LEVELS
        is_list = is_list and all(is_whole_number(size, 1, math.inf) for size in sizes)
        levels = 2
        right_product = True
        if is_list and sizes:
            levels = len(sizes)
            right_product = {math.prod(sizes)} >= {*ranks}
        of_list = (
            f"a list of 1 to {MAX_LEVELS} whole numbers with a product of as many ranks, as in"
            " [40, 50]"
        )
        right_group = self.group is None or is_whole_number(self.group, 1, most)
        right_parts = isinstance(parts, tuple) and len(parts) == levels
        values = {
            "group": self.group,
            "dimensions": sizes,
            "parts": parts,
            "side": self.side,
            "merge": self.merged,
        }
        rules = [
            _Rule("group", right_group, f"1 to {most} ranks"),
            _Rule("dimensions", two_level or is_list, of_list),
            _Rule("dimensions", right_product, f"a product of {most}"),
            _Rule("parts", right_parts, "one exchange, or one for each dimension"),
            _Rule("side", self.side in SIDES, ", ".join(SIDES)),
            _Rule("merge", type(self.merged) is bool, "true, false"),
        ]
        _require(where, values, rules)
        for number in ranks:
            self.read_files(number, where)

    def read_files(self, ranks: int, where: str = "exchange: ") -> dict[str, np.ndarray]:
        """What the files of the exchange hold for so many ranks.

        Returns:
            `order` [ranks] and `table` [groups, ranks], where the exchange names such files.

        Raises:
            BadInput: for a file that is not there or does not fit; the line begins with `where`.
        """
        arrays = {}
        for field, file in self.files:
            values = read_named_file(file) if isinstance(file, str) else None
            values = {"side": self.side} | (values if isinstance(values, dict) else {})
            column, rules = self._rules_of_file(field, values, ranks)
            _require(f"{where}{field}={file!r}: ", values, rules)
            arrays[field] = np.array(values[column])
        return arrays

    def _rules_of_file(
        self, field: str, values: dict[str, Any], ranks: int
    ) -> tuple[str, list[_Rule]]:
        """The column of a file that counts, and what is expected of the values of the file."""
        rules = [
            _Rule("kind", values.get("kind") == FILE_KINDS[field], repr(FILE_KINDS[field])),
            _Rule("format_version", values.get("format_version") == 1, "1"),
        ]
        if field == "order":
            order = values.get("order")
            is_order = (
                is_whole_number(order, 0, ranks - 1, ranks) and len(set(order or ())) == ranks
            )
            expected = f"every integer from 0 to {ranks - 1} once"
            return "order", [*rules, _Rule("order", is_order, expected)]
        sizes = list(self.dimensions(ranks))
        most = sizes[0] - 1
        right_sizes = len(sizes) == 2 and values.get("dimensions") == sizes
        right_bridge = is_whole_number(values.get("bridge"), 0, most, sizes[-1], ranks)
        rules += [
            _Rule("dimensions", right_sizes, f"two levels, {sizes}"),
            _Rule("side", values["side"] == self.side, repr(self.side)),
            _Rule(
                "bridge",
                right_bridge,
                f"{sizes[-1]} lists of {ranks} integers from 0 to {most}",
            ),
        ]
        return "bridge", rules


def write_table(
    path: Path,
    table: np.ndarray,
    sizes: tuple[int, ...],
    side: str,
) -> None:
    """Write a forwarding table as JSON: the field `table` of multi_level names such a file.

    Args:
        path: of the file.
        table: rank of the bridge within its group, shape [groups, ranks].
        sizes: of the levels.
        side: whose group the bridges belong to, one of SIDES.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> bridges = np.zeros((2, 4), dtype=int)  # in each of two groups, the first of its ranks
        >>> with TemporaryDirectory() as folder:
        ...     write_table(Path(folder, "table.json"), bridges, sizes=(2, 2), side="sender")
        ...     Path(folder, "table.json").stat().st_size > 0
        True
    """
    head = {"kind": FILE_KINDS["table"], "format_version": 1, "side": side, "dimensions": sizes}
    rows = ",\n  ".join(json.dumps(row) for row in table.tolist())
    write_atomically(path, f'{json.dumps(head)[:-1]},\n "bridge": [\n  {rows}]}}\n')


def _require(where: str, values: dict[str, Any], rules: list[_Rule]) -> None:
    """Raises BadInput for the first rule that does not hold."""
    for rule in rules:
        if rule.holds:
            continue
        value = values.get(rule.field)
        if isinstance(value, tuple):
            value = list(value)
        error = BadInput(
            field=rule.field,
            value=value,
            expected=rule.expected,
        )
        raise BadInput(f"{where}{error}", field="exchange")


def is_whole_number(value: object, least: float, most: float, *shape: int) -> bool:
    """True if this is a whole number from `least` to `most`, or lists of such of this shape.

    Example:
        >>> is_whole_number([[0, 1], [1, 0]], 0, 1, 2, 2)
        True
    """
    if not shape:
        return type(value) is int and least <= value <= most
    if not isinstance(value, list) or len(value) != shape[0]:
        return False
    return all(is_whole_number(item, least, most, *shape[1:]) for item in value)


#: Fields of an exchange that is not composed: nobody asks.
DIRECT = ComposedExchange()
