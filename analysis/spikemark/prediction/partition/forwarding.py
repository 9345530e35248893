"""Where ranks sit in the grid of an exchange in levels, and through which bridges words go, as files say.

The files are those of the fields `order` and `table` of the exchange multi_level (miniapp/FORMAT.md).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.network.composed import Composed
from spikemark.network.lanes import exchange_of
from spikemark.network.named_files import content
from spikemark.records.record_fields import Record

ORDER, TABLE = "rank_order", "forwarding_table"


@dataclass(frozen=True)
class Forwarding:
    """`position` [ranks] is that of each rank in the grid. `bridge` [groups, ranks] is the member of a group
    through which words between it and a rank elsewhere go: to the rank with bridges on the sender's side,
    from it on the receiver's. None: as without a file."""

    position: np.ndarray | None = None
    bridge: np.ndarray | None = None


NONE = Forwarding()


def read(composed: Composed, ranks: int, where: str = "") -> Forwarding:
    """What the files of an exchange say for so many ranks; `where` says in complaints which lane it is.

    Raises BadInput for a file that is not there, and for one that does not fit the grid.
    """
    found: dict[str, np.ndarray] = {}
    for field, file in composed.files:
        subject = f"exchange: {field}={file!r}{where}"
        if not isinstance(file, str):
            raise BadInput(f"{subject}; allowed: the name of a JSON file")
        given = content(file)
        kind = ORDER if field == "order" else TABLE
        about = (given.get("kind"), given.get("format_version")) if isinstance(given, dict) else None
        if about != (kind, 1):
            raise BadInput(f"{subject}; allowed: a file whose kind is {kind!r}, format_version 1")
        if field == "order":
            found["position"] = _order(given.get("order"), ranks, subject)
        else:
            found["bridge"] = _table(given, composed, ranks, subject)
    return Forwarding(**found)


def way_of(record: Record) -> Composed:
    """The levels of the composed exchange of a record's last lane, with the places of its files."""
    lane = record.lanes[-1]
    _, described = exchange_of(record.described.exchange, lane.name, lane.lag)
    return replace(Composed.of(lane.exchange, lane.composed or {}), files=described.files)


def _whole(values: Any, most: int) -> bool:
    """True if this is a list of whole numbers from 0 to `most`."""
    return isinstance(values, list) and all(type(v) is int and 0 <= v <= most for v in values)


def _order(given: Any, ranks: int, subject: str) -> np.ndarray:
    if not _whole(given, ranks - 1) or sorted(given) != list(range(ranks)):
        raise BadInput(
            f"{subject}: order={shown(given)}; allowed: every integer from 0 to {ranks - 1} once, the"
            " position of each rank in the grid"
        )
    return np.array(given)


def _table(given: dict[str, Any], composed: Composed, ranks: int, subject: str) -> np.ndarray:
    sizes, rows = composed.dimensions(ranks), given.get("bridge")
    if len(sizes) != 2 or math.prod(sizes) != ranks or given.get("dimensions") != list(sizes):
        raise BadInput(
            f"{subject}: dimensions={shown(given.get('dimensions'))}; allowed: two levels, and those of the"
            f" exchange, {list(sizes)}"
        )
    if given.get("side", composed.side) != composed.side:
        raise BadInput(f"{subject}: side={shown(given['side'])}; allowed: {composed.side!r}, as the exchange")
    if not (isinstance(rows, list) and len(rows) == sizes[1] and all(_whole(r, sizes[0] - 1) for r in rows)):
        raise BadInput(
            f"{subject}: bridge={shown(rows)}; allowed: a list for each of {sizes[1]} groups, of integers"
            f" from 0 to {sizes[0] - 1}"
        )
    if any(len(row) != ranks for row in rows):
        raise BadInput(f"{subject}: bridge: lists of other lengths; allowed: {ranks}, one for each rank")
    return np.array(rows)
