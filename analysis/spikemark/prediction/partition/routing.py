"""Routing in levels: words travel through bridges and correct one coordinate in every hop.

N = g_1 g_2 … g_k ranks have k coordinates; rank = c_1 + g_1 (c_2 + g_2 (c_3 + …)). Ranks that differ in the
first coordinate alone form a group of g_1 neighbours. With bridges on the sender's side, hop 1 corrects the
first coordinate, so that the bridge lies in the sender's group; on the receiver's side, the last one is
corrected first. With merging, a spike that several ranks behind a bridge need travels to it once. The
exchanges two_level and multi_level of the mini-app do this (Du et al. 2022); a last group of two_level may be
smaller. Files may say where ranks sit and, for two levels, through which bridges words go (FORMAT.md).
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.network.placement_file import Placement


class Hop(NamedTuple):
    """Loads of one hop: `flow` [sender, receiver], nothing to oneself; and of every rank what it sent,
    received, and forwarded for others, and how many partners it sends to. `runs` are the runs of words of all
    ranks together."""

    flow: sparse.csr_array
    sent: np.ndarray
    received: np.ndarray
    forwarded: np.ndarray
    partners: np.ndarray
    runs: int

    @property
    def busiest(self) -> dict[str, float]:
        """What the busiest rank does: ranks that it sends to, what it sends or receives, and the largest part
        of that for one rank; `runs`: that a rank sends on the mean."""
        sent, largest = max(self.sent.max(), self.received.max()), self.flow.data.max(initial=0.0)
        found = {"partners": self.partners.max(), "sent": sent, "largest": largest}
        return {name: float(value) for name, value in found.items()} | {"runs": self.runs / len(self.sent)}


class Grid:
    """Ranks in levels of these sizes, the innermost first; `side`: whose group the bridges belong to.

    `order` [ranks] is the position of each rank; None: its number. `table` [groups, ranks], of two levels, is
    the member of a group through which words between it and a rank elsewhere go: to the rank with bridges on
    the sender's side, from it on the receiver's. None: the member with the first coordinate of that rank,
    modulo the members of a smaller last group.
    """

    def __init__(
        self, ranks: int, sizes: tuple[int, ...], side: str = "sender", order: np.ndarray | None = None,
        table: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.ranks, self.sizes, self.side, self.table = ranks, sizes, side, table
        self.ragged = ragged(sizes, ranks)
        self.crossed = list(range(len(sizes)))[:: 1 if side == "sender" else -1]  # levels, by hop
        self.position = np.arange(ranks) if order is None else order
        self.at = np.argsort(self.position)  # the rank at each position
        strides = np.cumprod([1, *sizes[:-1]])[:, np.newaxis]
        self.coordinate = self.position // strides % np.array(sizes)[:, np.newaxis]  # [level, rank]
        self.part = strides * self.coordinate  # of the position
        self.bridge = None  # of two levels, as `table`; in its own group, a rank is its own bridge
        if len(sizes) == 2:
            (place, group), number = self.coordinate, np.arange(sizes[1])[:, np.newaxis]
            usual = place % np.minimum(sizes[0], ranks - sizes[0] * number)
            self.bridge = usual if table is None else np.where(group == number, place, table)

    @classmethod
    def parsed(cls, text: str, ranks: int, side: str, merged: bool) -> "Grid":
        """The grid of a text such as 40x50. Raises BadInput for another form or another number of ranks.

        The product of two sizes may be larger, if the last of the groups is smaller then: 7 ranks are 3x3.
        The mini-app has that with bridges on the sender's side and without merging.
        """
        if not re.fullmatch("0*[1-9][0-9]{0,8}(x0*[1-9][0-9]{0,8})*", text):
            raise BadInput(f"--levels={text}; expected whole numbers with an x between them, such as 40x50")
        sizes = tuple(map(int, text.split("x")))
        smaller = ragged(sizes, ranks)
        if math.prod(sizes) != ranks and (not smaller or side != "sender" or merged):
            more = " with --side receiver or --merged" if smaller else ", the number of ranks"
            raise BadInput(f"--levels={text}; expected a product of {ranks}{more}")
        return cls(ranks, sizes, side)

    def holder(self, hop: int, source: Any, target: np.ndarray) -> np.ndarray:
        """The ranks that have the words of these pairs of ranks after so many hops."""
        if hop == 1 and self.bridge is not None:
            near, far = (source, target) if self.side == "sender" else (target, source)
            group = self.coordinate[1][near]
            return self.at[group * self.sizes[0] + self.bridge[group, far]]
        levels = self.crossed[:hop], self.crossed[hop:]
        done, kept = (self.part[each].sum(axis=0) for each in levels)
        return self.at[kept[source] + done[target]]

    def hops(self, pairs: np.ndarray | sparse.csr_array, onto: Callable | None = None) -> list[Hop]:
        """Amounts that ranks send in every hop, in their order, of anything additive: routes, words, bytes.

        `pairs` [ranks, ranks] is what ranks have for each other. With `onto`, a hop but the last carries what
        each rank has for a set of ranks: onto(set of each rank, [ranks]) is that, [ranks, sets].
        """
        entries, found = sparse.coo_array(pairs), []
        for hop in range(len(self.sizes)):
            if onto is None or hop == len(self.sizes) - 1:
                source, target, load = entries.row, entries.col, entries.data
            else:
                source, target, load = self._merged(hop + 1, onto)
            at, to = self.holder(hop, source, target), self.holder(hop + 1, source, target)
            moves = at != to
            at, to, load, source = at[moves], to[moves], load[moves], source[moves]
            flow = sparse.coo_array((load, (at, to)), shape=(self.ranks, self.ranks)).tocsr()
            forwarded = np.bincount(at, load * (at != source), self.ranks)
            found.append(
                Hop(flow, flow.sum(axis=1), flow.sum(axis=0), forwarded, np.diff(flow.indptr), len(load))
            )
        return found

    def _merged(self, hop: int, onto: Callable) -> tuple[np.ndarray, ...]:
        """Sources, targets and loads of a hop to sets of targets whose words one rank has afterwards, as if
        for the first target of each; groups with other bridges have other sets."""
        kind, parts = np.zeros(self.ranks, int), []
        if self.bridge is not None and self.side == "sender":
            kind = np.unique(self.bridge, axis=0, return_inverse=True)[1].ravel()[self.coordinate[1]]
        for number in range(kind.max() + 1):
            after = self.holder(hop, int(np.argmax(kind == number)), np.arange(self.ranks))
            _, member, sets = np.unique(after, return_index=True, return_inverse=True)
            each = sparse.coo_array(onto(sets))
            asked = kind[each.row] == number
            parts.append((each.row[asked], member[each.col[asked]], each.data[asked]))
        return tuple(map(np.concatenate, zip(*parts, strict=True)))

    def balanced(self, pairs: np.ndarray) -> "Grid":
        """The grid with a table by traffic; `pairs` is T [ranks, ranks].

        Destinations go to the member with the least to forward, largest first (LPT: Graham 1969,
        doi 10.1137/0117039), while no bridge sends to more ranks of other groups than without a table. With
        bridges on the receiver's side, the same holds for sources.
        Raises BadInput for others than two full levels.
        """
        if self.bridge is None or self.ragged:
            raise BadInput(f"--levels={'x'.join(map(str, self.sizes))}; expected two full levels for a table")
        (size, groups), table = self.sizes, self.bridge.copy()
        own = (pairs if self.side == "sender" else pairs.T).reshape(groups, size, self.ranks)
        for group, sent in enumerate(own):
            everything, load, taken = sent.sum(axis=0), np.zeros(size), np.zeros(size, np.int64)
            for rank in np.argsort(-everything, kind="stable"):
                if rank // size != group:
                    after = np.where(taken < groups - 1, load + everything[rank] - sent[:, rank], np.inf)
                    member = table[group, rank] = int(after.argmin())
                    load[member] = after[member]
                    taken[member] += 1
        return Grid(self.ranks, self.sizes, self.side, None, table)


def ragged(sizes: tuple[int, ...], ranks: int) -> bool:
    """True if these are two levels of so many ranks with a last group that is smaller than the others."""
    return len(sizes) == 2 and sizes[0] * (sizes[1] - 1) < ranks < math.prod(sizes)


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
