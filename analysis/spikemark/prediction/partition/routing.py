"""Routing in levels: words travel through bridges and correct one coordinate in every hop.

N = g_1 g_2 … g_k ranks have k coordinates; rank = c_1 + g_1 (c_2 + g_2 (c_3 + …)). Ranks that
differ in the first coordinate alone form a group of g_1 neighbours. With bridges on the sender's
side, hop 1 corrects the first coordinate, so that the bridge lies in the sender's group; on the
receiver's side, the last one is corrected first. With merging, a spike that several ranks behind a
bridge need travels to it once. The exchanges two_level and multi_level of the mini-app do this (Du
et al. 2022); a last group of two_level may be smaller. Files may say where ranks sit and, for two
levels, through which bridges words go (FORMAT.md).

The loads of a hop cost about as many operations as there are pairs of ranks with a route.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Union

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network.placement_file import Placement

if TYPE_CHECKING:
    from scipy import sparse

#: What each rank has for sets of ranks, [ranks, sets], given the set of each rank, [ranks].
OntoSets = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Hop:
    """Loads of one hop, in what its words are counted in: routes, words or bytes."""

    flow: "sparse.csr_array"  #: [sender, receiver]; nothing to oneself
    sent: np.ndarray  #: [rank]
    received: np.ndarray  #: [rank]
    forwarded: np.ndarray  #: [rank], sent on for others
    partners: np.ndarray  #: [rank], how many ranks it sends to
    runs: int  #: runs of words of all ranks together, each from one source to one target

    @classmethod
    def of_moves(
        cls,
        ranks: int,
        holder: np.ndarray,
        receiver: np.ndarray,
        source: np.ndarray,
        load: np.ndarray,
    ) -> "Hop":
        """The hop in which each load moves from its holder to a receiver; all arguments [load]."""
        from scipy import sparse

        flow = sparse.coo_array((load, (holder, receiver)), shape=(ranks, ranks)).tocsr()
        return cls(
            flow=flow,
            sent=flow.sum(axis=1),
            received=flow.sum(axis=0),
            forwarded=np.bincount(holder, load * (holder != source), ranks),
            partners=np.diff(flow.indptr),
            runs=len(load),
        )

    @property
    def busiest(self) -> dict[str, float]:
        """What the busiest rank does.

        `partners`: ranks that it sends to. `sent`: what it sends or receives. `largest`: the
        largest part of that for one rank. `runs`: that a rank sends on the mean.
        """
        return {
            "partners": float(self.partners.max()),
            "sent": float(max(self.sent.max(), self.received.max())),
            "largest": float(self.flow.data.max(initial=0.0)),
            "runs": self.runs / len(self.sent),
        }


class Grid:
    """Ranks in levels, and through which bridges their words go.

    Args:
        ranks: number of ranks.
        sizes: of the levels, the innermost first.
        side: whose group the bridges belong to, "sender" or "receiver".
        order: [rank], its position; None: its number.
        table: [group, rank], of two levels: the member of a group through which words between it
            and a rank elsewhere go, to the rank with bridges on the sender's side, from it on the
            receiver's. None: the member with the first coordinate of that rank, modulo the members
            of a smaller last group.

    Attributes:
        ragged: whether the last of two levels has a smaller last group.
        crossed: the level that each hop corrects, [hop].
        position: of each rank, [rank].
        rank_at: the rank at each position, [position].
        coordinate: [level, rank].
        part: what each coordinate adds to the position, [level, rank].
        bridge: of two levels, as `table`; in its own group, a rank is its own bridge. Else None.
    """

    def __init__(
        self,
        ranks: int,
        sizes: tuple[int, ...],
        side: str = "sender",
        order: np.ndarray | None = None,
        table: np.ndarray | None = None,
    ) -> None:
        self.ranks = ranks
        self.sizes = sizes
        self.side = side
        self.table = table
        self.ragged = ragged(sizes, ranks)
        levels = range(len(sizes))
        self.crossed = list(levels if side == "sender" else reversed(levels))
        self.position = np.arange(ranks) if order is None else order
        self.rank_at = np.argsort(self.position)
        strides = np.cumprod([1, *sizes[:-1]])[:, np.newaxis]
        self.coordinate = self.position // strides % np.array(sizes)[:, np.newaxis]
        self.part = strides * self.coordinate
        self.bridge = self._bridges(table) if len(sizes) == 2 else None

    def _bridges(self, table: np.ndarray | None) -> np.ndarray:
        """The bridges of two levels, [group, rank]."""
        place, group = self.coordinate
        size, groups = self.sizes
        number = np.arange(groups)[:, np.newaxis]
        if table is not None:
            return np.where(group == number, place, table)
        members = np.minimum(size, self.ranks - size * number)  # [group, 1]
        bridges: np.ndarray = place % members
        return bridges

    @classmethod
    def parsed(cls, text: str, ranks: int, side: str, merged: bool) -> "Grid":
        """The grid of a text such as 40x50.

        The product of two sizes may be larger, if the last of the groups is smaller then: 7 ranks
        are 3x3. The mini-app has that with bridges on the sender's side and without merging.

        Raises BadInput for another form or another number of ranks.
        """
        if not re.fullmatch("0*[1-9][0-9]{0,8}(x0*[1-9][0-9]{0,8})*", text):
            raise BadInput(
                f"levels={text}; expected whole numbers with an x between them, such as 40x50",
                field="levels",
            )
        sizes = tuple(int(size) for size in text.split("x"))
        is_ragged = ragged(sizes, ranks)
        possible = is_ragged and side == "sender" and not merged
        if math.prod(sizes) != ranks and not possible:
            reason = " with side=receiver or merged=True" if is_ragged else ", the number of ranks"
            raise BadInput(f"levels={text}; expected a product of {ranks}{reason}", field="levels")
        return cls(ranks, sizes, side)

    def holder(self, hop: int, source: np.ndarray | int, target: np.ndarray) -> np.ndarray:
        """The ranks that have the words of these pairs of ranks after so many hops, [pair]."""
        ranks: np.ndarray
        if hop == 1 and self.bridge is not None:
            near, far = (source, target) if self.side == "sender" else (target, source)
            group = self.coordinate[1][near]
            ranks = self.rank_at[group * self.sizes[0] + self.bridge[group, far]]
        else:
            corrected = self.part[self.crossed[:hop]].sum(axis=0)
            remaining = self.part[self.crossed[hop:]].sum(axis=0)
            ranks = self.rank_at[remaining[source] + corrected[target]]
        return ranks

    def hops(
        self, pairs: Union[np.ndarray, "sparse.csr_array"], onto: OntoSets | None = None
    ) -> list[Hop]:
        """Amounts that ranks send in every hop, of anything additive: routes, words, bytes.

        Args:
            pairs: [ranks, ranks], what ranks have for each other.
            onto: for merging: a hop but the last then carries what each rank has for a set of
                ranks.
        """
        from scipy import sparse

        entries = sparse.coo_array(pairs)
        hops = []
        for hop in range(len(self.sizes)):
            if onto is None or hop == len(self.sizes) - 1:
                source, target, load = entries.row, entries.col, entries.data
            else:
                source, target, load = self._merged(hop + 1, onto)
            holder = self.holder(hop, source, target)
            receiver = self.holder(hop + 1, source, target)
            moves = holder != receiver
            hops.append(
                Hop.of_moves(self.ranks, holder[moves], receiver[moves], source[moves], load[moves])
            )
        return hops

    def _merged(self, hop: int, onto: OntoSets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sources, targets and loads of a hop to sets of targets whose words one rank holds next.

        A load has the first target of its set. Groups with other bridges have other sets.
        """
        from scipy import sparse

        kind = np.zeros(self.ranks, int)  # of bridges, [rank]
        if self.bridge is not None and self.side == "sender":
            kind_of_group = np.unique(self.bridge, axis=0, return_inverse=True)[1].ravel()
            kind = kind_of_group[self.coordinate[1]]
        sources, targets, loads = [], [], []
        for number in range(kind.max() + 1):
            holder = self.holder(hop, int(np.argmax(kind == number)), np.arange(self.ranks))
            _, first, sets = np.unique(holder, return_index=True, return_inverse=True)
            entries = sparse.coo_array(onto(sets))
            of_kind = kind[entries.row] == number
            sources.append(entries.row[of_kind])
            targets.append(first[entries.col[of_kind]])
            loads.append(entries.data[of_kind])
        return np.concatenate(sources), np.concatenate(targets), np.concatenate(loads)

    def balanced(self, pairs: np.ndarray) -> "Grid":
        """The grid with a table by traffic; `pairs` is T [ranks, ranks].

        Destinations go to the member with the least to forward, largest first (LPT: Graham 1969,
        doi 10.1137/0117039), while no bridge sends to more ranks of other groups than without a
        table. With bridges on the receiver's side, the same holds for sources. Raises BadInput for
        others than two full levels.
        """
        if self.bridge is None or self.ragged:
            levels = "x".join(map(str, self.sizes))
            raise BadInput(f"levels={levels}; expected two full levels for a table", field="levels")
        size, groups = self.sizes
        table = self.bridge.copy()
        from_group = pairs if self.side == "sender" else pairs.T
        for group, sent in enumerate(from_group.reshape(groups, size, self.ranks)):
            self._balance_group(group, sent, table)
        return Grid(self.ranks, self.sizes, self.side, None, table)

    def _balance_group(self, group: int, sent: np.ndarray, table: np.ndarray) -> None:
        """Chooses the bridges of a group that sends `sent` [member, rank] into row `group` of
        `table`.
        """
        size, groups = self.sizes
        to_rank = sent.sum(axis=0)
        load = np.zeros(size)  # that each member forwards
        ranks_served = np.zeros(size, np.int64)
        for rank in np.argsort(-to_rank, kind="stable"):
            if rank // size == group:
                continue
            load_with_rank = load + to_rank[rank] - sent[:, rank]
            choices = np.where(ranks_served < groups - 1, load_with_rank, np.inf)
            member = int(choices.argmin())
            table[group, rank] = member
            load[member] = choices[member]
            ranks_served[member] += 1


def ragged(sizes: tuple[int, ...], ranks: int) -> bool:
    """Whether these are two levels of so many ranks with a last group that is smaller than the
    others.

    >>> ragged((3, 3), 7), ragged((3, 3), 9), ragged((3, 3), 6)
    (True, False, False)
    """
    return len(sizes) == 2 and sizes[0] * (sizes[1] - 1) < ranks < math.prod(sizes)


def grouped(placement: Placement, pairs: np.ndarray, group: int) -> Placement:
    """The placement with ranks renumbered, so that groups of `group` ranks exchange much within
    themselves.

    A group begins with the busiest rank left and takes the rank that exchanges most with it, one
    after another. `pairs` is T. Raises BadInput for a group that does not divide the ranks, for
    ranks with weights, and for neurons that are dealt.

    Example:
        >>> ranks = np.arange(4)  # with a neuron each
        >>> placement = Placement.from_ranges(ranks=4, end=ranks + 1, rank=ranks)
        >>> pairs = np.zeros((4, 4))
        >>> pairs[0, 3] = pairs[1, 2] = 5.0  # these exchange much
        >>> grouped(placement, pairs, group=2).rank.tolist()
        [0, 2, 3, 1]
    """
    if placement.weights is not None or (placement.over > 1).any():
        raise BadInput(
            f"group={group}; expected equal ranks and neurons that are not dealt one by one",
            field="group",
        )
    if placement.ranks % group:
        raise BadInput(
            f"group={group}; expected a divisor of {placement.ranks}, the number of ranks",
            field="group",
        )
    exchanged = pairs + pairs.T
    busy = exchanged.sum(axis=1)
    remaining = np.ones(len(busy), bool)
    number = np.empty(len(busy), np.int64)  # the new number of each rank
    with_group = np.zeros(len(busy))  # what each rank exchanges with the group that is filled
    for place in range(len(busy)):
        if place % group == 0:
            with_group = np.zeros(len(busy))
        attraction = with_group if with_group.any() else busy
        rank = int(np.where(remaining, attraction, -1).argmax())
        remaining[rank] = False
        number[rank] = place
        with_group = with_group + exchanged[rank]
    return replace(placement, rank=number[placement.rank])
