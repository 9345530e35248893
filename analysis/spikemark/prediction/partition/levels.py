"""Routing in levels: words travel through bridges and correct one coordinate in every hop.

N = g_1 g_2 … g_k ranks have k coordinates; rank = c_1 + g_1 (c_2 + g_2 (c_3 + …)). Ranks that differ in the
first coordinate alone form a group of g_1 neighbours. With bridges on the sender's side, hop 1 corrects the
first coordinate, so that the bridge lies in the sender's group; on the receiver's side, the last one is
corrected first. With merging, a spike that several ranks behind a bridge need travels to it once. The
exchanges two_level and multi_level of the mini-app do this (Du et al. 2022); a last group of two_level may be
smaller. Files may say where ranks sit and, for two levels, through which bridges words go (FORMAT.md).
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically
from spikemark.network.exchanges import Composed
from spikemark.network.named_files import content
from spikemark.network.placement_file import Placement

SIDES = ("sender", "receiver")
KINDS = {"order": "rank_order", "table": "forwarding_table"}  # of the files that an exchange names
Pairs = np.ndarray | sparse.csr_array
#: What each rank sends onto sets of ranks, [ranks, sets], given the set of every rank, [ranks].
Onto = Callable[[np.ndarray], np.ndarray]


def dimensions(text: str, ranks: int) -> tuple[int, ...]:
    """The sizes in '40x50'. Raises BadInput for others than whole numbers whose product is `ranks`.

    The product of two may be larger, if the last of the groups is smaller then: 7 ranks are 3x3.
    """
    parts = text.split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadInput(f"--levels={text}; expected whole numbers with an x between them, such as 40x50")
    sizes = tuple(map(int, parts))
    if math.prod(sizes) != ranks and not ragged(sizes, ranks):
        raise BadInput(f"--levels={text}; expected a product of {ranks}, the number of ranks")
    return sizes


def ragged(sizes: tuple[int, ...], ranks: int) -> bool:
    """True if these are two levels of so many ranks with a last group that is smaller than the others."""
    return len(sizes) == 2 and sizes[0] * (sizes[1] - 1) < ranks < math.prod(sizes)


def most_equal(ranks: int, levels: int) -> tuple[int, ...]:
    """The dimensions whose product is `ranks` with the fewest messages, ascending."""
    if levels == 1:
        return (ranks,)
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    found = [tuple(sorted((d, *most_equal(ranks // d, levels - 1)))) for d in divisors]
    return min(found, key=lambda sizes: (sum(sizes), sizes))


@dataclass(frozen=True)
class Forwarding:
    """`position` [ranks] is that of each rank in the grid. `bridge` [groups, ranks] is the member of a group
    through which words between it and a rank elsewhere go: to the rank with bridges on the sender's side,
    from it on the receiver's. None: as without a file."""

    position: np.ndarray | None = None
    bridge: np.ndarray | None = None


@dataclass(frozen=True)
class Hop:
    """Loads of one hop: `flow` [sender, receiver], nothing to oneself; `forwarded` [ranks] did not start on
    the sender; `runs` are the runs of words of all ranks together."""

    flow: sparse.csr_array
    forwarded: np.ndarray
    runs: int

    @cached_property
    def sent(self) -> np.ndarray:
        """[ranks]."""
        return self.flow.sum(axis=1)

    @cached_property
    def received(self) -> np.ndarray:
        """[ranks]."""
        return self.flow.sum(axis=0)

    @property
    def partners(self) -> np.ndarray:
        """[ranks] others that each sends to."""
        return np.diff(self.flow.indptr)


def hops(
    pairs: Pairs, sizes: tuple[int, ...], side: str = "sender", onto: Onto | None = None,
    files: Forwarding | None = None,
) -> list[Hop]:  # fmt: skip
    """Amounts that ranks send in every hop, in their order, of anything additive: routes, words, bytes.

    `pairs` [ranks, ranks] is what ranks have for each other; with `onto`, a hop to a set of ranks carries
    what that gives, except for the last. Raises BadInput for an unknown side, for sizes that do not fit the
    ranks, and for bridges on the receiver's side or merging with a smaller last group.
    """
    ranks, text = pairs.shape[0], "x".join(map(str, sizes))
    if side not in SIDES:
        raise BadInput.of("side", side, " or ".join(SIDES))
    uneven = ragged(sizes, ranks)
    if (math.prod(sizes) != ranks and not uneven) or (uneven and (side != "sender" or onto is not None)):
        more = " with --side receiver or --merged" * uneven
        raise BadInput(f"levels={text}; expected a product of {ranks}{more or ', the number of ranks'}")
    grid = _Grid(sizes, ranks, side, files or Forwarding())
    entries, found = sparse.coo_array(pairs), []
    for hop in range(len(sizes)):
        if onto is None or hop == len(sizes) - 1:
            found.append(grid.hop(hop, entries.row, entries.col, entries.data))
            continue
        parts = []
        for senders, key, member in grid.sets(hop + 1):  # as if it were for one member of the set
            each = sparse.coo_array(onto(key))
            asked = senders[each.row]
            parts.append((each.row[asked], member[each.col[asked]], each.data[asked]))
        found.append(grid.hop(hop, *map(np.concatenate, zip(*parts, strict=True))))
    return found


class _Grid:
    """Ranks that hold the words after each hop."""

    def __init__(self, sizes: tuple[int, ...], ranks: int, side: str, files: Forwarding) -> None:
        self.ranks, self.sizes, self.side, self.bridge = ranks, sizes, side, files.bridge
        position = np.arange(ranks) if files.position is None else files.position
        self.at = np.argsort(position)  # the rank at each position
        self.order = list(range(len(sizes)))[:: 1 if side == "sender" else -1]
        strides = np.cumprod([1, *sizes[:-1]])[:, None]
        self.coordinate = position // strides % np.array(sizes)[:, None]  # [level, rank]
        self.part = strides * self.coordinate

    def hop(self, hop: int, source: np.ndarray, target: np.ndarray, load: np.ndarray) -> Hop:
        """The loads of a hop from these entries of all ranks."""
        at, to = self.after(hop, source, target), self.after(hop + 1, source, target)
        moves = at != to
        at, to, load, source = at[moves], to[moves], load[moves], source[moves]
        flow = sparse.coo_array((load, (at, to)), shape=(self.ranks, self.ranks)).tocsr()
        return Hop(flow, np.bincount(at, load * (at != source), self.ranks), len(load))

    def after(self, hop: int, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The ranks that have the words of these pairs after so many hops."""
        group = self.sizes[0]
        if self.bridge is not None and hop == 1:
            near, elsewhere = (source, target) if self.side == "sender" else (target, source)
            own = self.coordinate[1][near]
            bridge = self.at[own * group + self.bridge[own, elsewhere]]
            at_home = target if self.side == "sender" else source
            return np.where(own == self.coordinate[1][elsewhere], at_home, bridge)
        if hop == 1 and ragged(self.sizes, self.ranks):
            first = source - source % group
            return first + target % group % np.minimum(group, self.ranks - first)
        done, kept = (self.part[levels].sum(axis=0) for levels in (self.order[:hop], self.order[hop:]))
        return self.at[kept[source] + done[target]]

    def sets(self, hop: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Which ranks are senders; the set that each rank is in for them after so many hops, [ranks]; and a
        rank of each set."""
        if self.bridge is not None and self.side == "sender":
            for group, bridge in enumerate(self.bridge):
                own = self.coordinate[1] == group
                key = np.where(own, self.coordinate[0], bridge)
                yield own, key, np.unique(key, return_index=True)[1]
            return
        done = self.order[:hop]
        key = np.ravel_multi_index([self.coordinate[d] for d in done], [self.sizes[d] for d in done])
        yield np.ones(self.ranks, bool), key, np.unique(key, return_index=True)[1]


def balanced(
    pairs: np.ndarray, sizes: tuple[int, ...], side: str = "sender", cap: int | None = None
) -> np.ndarray:
    """A forwarding table by traffic, [groups, ranks] as of Forwarding; `pairs` is T [ranks, ranks].

    Destinations go to the member with the least to forward, largest first (LPT: Graham 1969,
    doi 10.1137/0117039), while no bridge sends to more than `cap` ranks of other groups [groups - 1, as
    without a table]. With bridges on the receiver's side, the same holds for sources.
    Raises BadInput for others than two full levels.
    """
    ranks = len(pairs)
    if len(sizes) != 2 or math.prod(sizes) != ranks:
        raise BadInput(f"--levels={'x'.join(map(str, sizes)) or None}; expected two full levels for a table")
    group, blocks = sizes
    own = (pairs if side == "sender" else pairs.T).reshape(blocks, group, ranks)
    table = np.tile(np.arange(ranks) % group, (blocks, 1))
    for block, sent in enumerate(own):
        whole, load, taken = sent.sum(axis=0), np.zeros(group), np.zeros(group, np.int64)
        for rank in np.argsort(-whole, kind="stable"):
            if rank // group != block:
                full = taken >= (blocks - 1 if cap is None else cap)
                after = np.where(full, np.inf, load + whole[rank] - sent[:, rank])
                member = table[block, rank] = int(after.argmin())
                load[member] = after[member]
                taken[member] += 1
    return table


def write_table(path: Path, table: np.ndarray, sizes: tuple[int, ...], side: str) -> None:
    """Write a forwarding table as JSON: the field `table` of the exchange multi_level names such a file."""
    about = {"kind": KINDS["table"], "format_version": 1, "side": side, "dimensions": list(sizes)}
    rows = ",\n  ".join(json.dumps(row) for row in table.tolist())
    write_atomically(path, f'{json.dumps(about)[:-1]},\n "bridge": [\n  {rows}]}}\n')


def grouped(placement: Placement, pairs: np.ndarray, group: int) -> Placement:
    """The placement with ranks renumbered, so that groups of `group` ranks exchange much within themselves.

    A group begins with the busiest rank left and takes the rank that exchanges most with it, one after
    another. `pairs` is T. Raises BadInput for a group that does not divide the ranks, for ranks with weights,
    and for neurons that are dealt.
    """
    dealt = placement.weights is not None or (placement.over > 1).any()
    if placement.ranks % group or dealt:
        expected = "equal ranks and neurons that are not dealt one by one"
        expected = expected if dealt else f"a divisor of {placement.ranks}, the number of ranks"
        raise BadInput(f"--group={group}; expected {expected}")
    both = pairs + pairs.T
    busy = both.sum(axis=1)
    left, number, pull = np.ones(len(both), bool), np.empty(len(both), np.int64), busy
    for place in range(len(both)):
        pull = np.zeros(len(both)) if place % group == 0 else pull
        at = int(np.where(left, pull if pull.any() else busy, -1).argmax())
        left[at], number[at] = False, place
        pull = pull + both[at]
    return replace(placement, rank=number[placement.rank])


def read_files(composed: Composed, ranks: int, where: str = "") -> Forwarding:
    """What the files of an exchange say for so many ranks; `where` says in complaints which lane it is.

    Raises BadInput for a file that is not there, and for one that does not fit the grid.
    """
    found, sizes = {}, list(composed.dimensions(ranks))
    full = len(sizes) == 2 and math.prod(sizes) == ranks
    for field, file in composed.files:
        subject = f"exchange: {field}={file!r}{where}"
        given = content(file) if isinstance(file, str) else None
        given = given if isinstance(given, dict) else {}
        if (given.get("kind"), given.get("format_version")) != (KINDS[field], 1):
            raise BadInput(f"{subject}; expected a JSON file of kind {KINDS[field]!r}, format_version 1")
        order, rows, side, most = given.get("order"), given.get("bridge"), composed.side, sizes[0] - 1
        if field == "order":
            fits = _whole(order, ranks - 1) and sorted(order) == list(range(ranks))
            rules = [("order", fits, f"every integer from 0 to {ranks - 1} once")]
        else:
            same = full and given.get("dimensions") == sizes
            fits = same and isinstance(rows, list) and len(rows) == sizes[1]
            fits = fits and all(_whole(row, most) and len(row) == ranks for row in rows)
            rules = [("dimensions", same, f"two levels, {sizes} as the exchange"),
                     ("side", given.get("side", side) == side, f"{side!r}, as the exchange"),
                     ("bridge", fits, f"{sizes[-1]} lists of {ranks} integers from 0 to {most}")]  # fmt: skip
        for name, fits, expected in rules:
            if not fits:
                raise BadInput(f"{subject}: {name}={shown(given.get(name))}; expected {expected}")
        found["position" if field == "order" else "bridge"] = np.array(order if field == "order" else rows)
    return Forwarding(**found)


def _whole(values: object, most: int) -> bool:
    """True if this is a list of whole numbers from 0 to `most`."""
    return isinstance(values, list) and all(type(v) is int and 0 <= v <= most for v in values)
