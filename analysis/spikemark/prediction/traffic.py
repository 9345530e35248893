"""What the ranks of a group send each other in an exchange, and the sums that collective calls need of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Traffic:
    """What the ranks of a group send each other in an exchange, [sender, receiver]; nothing to oneself.

    Sums that depend on no machine are kept, since many machines and their limits are asked about one traffic.
    """

    bytes: np.ndarray
    messages: np.ndarray  # expected numbers of messages that are not empty
    node: np.ndarray  # [member]
    #: Words of each member onto sets of members, [member, set], given the set of each; for merging.
    onto: Callable[[np.ndarray], np.ndarray] | None = None
    word_bytes: int = 4
    card: float | None = None  # bytes through the busiest card, where other ranks send through it meanwhile
    kept: dict = field(default_factory=dict, repr=False)  # what follows from it alone

    @property
    def ranks(self) -> int:
        return len(self.node)

    @cached_property
    def _same(self) -> np.ndarray:
        """True if two ranks share a node, [sender, receiver]."""
        return self.node[:, None] == self.node[None, :]

    @cached_property
    def far(self) -> bool:
        """True if there are several nodes."""
        return not self._same.all()

    @cached_property
    def sent(self) -> tuple[np.ndarray, np.ndarray]:
        """Messages to ranks of the own node, and to others, [sender]."""
        near = np.where(self._same, self.messages, 0.0).sum(axis=1)
        return near, self.messages.sum(axis=1) - near

    @cached_property
    def near_bytes(self) -> np.ndarray:
        """Bytes that each rank sends to ranks of its own node, [sender]."""
        return np.where(self._same, self.bytes, 0.0).sum(axis=1)

    @cached_property
    def card_bytes(self) -> float:
        """Through the busiest card of a node, one way."""
        if self.card is not None:
            return self.card
        out, nodes = np.where(self._same, 0.0, self.bytes), np.unique(self.node, return_inverse=True)[1]
        return float(max(np.bincount(nodes, out.sum(axis=axis)).max() for axis in (0, 1)))

    @cached_property
    def most_bytes(self) -> float:
        """Bytes of the largest message."""
        return float(self.bytes.max())

    @cached_property
    def each(self) -> "Traffic":
        """A message for every pair of ranks that has something to say now and then; it may be empty."""
        return Traffic(self.bytes, (self.bytes > 0).astype(float), self.node, card=self.card)

    @cached_property
    def mean_bytes(self) -> float:
        """Bytes for each other rank, of the rank that sends or receives most."""
        most = max(self.bytes.sum(axis=0).max(), self.bytes.sum(axis=1).max())
        return float(most / max(1, self.ranks - 1))

    def dense(self, size: float) -> "Traffic":
        """The same ranks, with `size` bytes from everyone to everyone."""
        if size not in self.kept:
            other = 1.0 - np.eye(self.ranks)
            self.kept[size] = Traffic(size * other, other, self.node)
        return self.kept[size]
