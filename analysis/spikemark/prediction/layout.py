"""Layout of the ranks of a run on the nodes of a machine, which are equal or of several parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.machines.parts import Machine, Node, Share, shares
from spikemark.machines.profile import UnknownValue
from spikemark.machines.values import Values


@dataclass(frozen=True)
class Layout:
    """The shares of a machine, in the order of their ranks; a machine of equal nodes has one, without a name.

    Nodes are numbered through all shares.
    """

    shares: tuple[Share, ...]

    @classmethod
    def of(
        cls, machine: Any, ranks: int, threads: int | None = None, ranks_per_node: int | None = None,
        on: dict[str, int] | None = None,
    ) -> "Layout":  # fmt: skip
        """How ranks lie on a profile or on the parts of a machine. Raises BadInput as `parts.shares` does."""
        return cls(shares(machine, ranks, threads, ranks_per_node, on))

    @classmethod
    def equal(cls, node: Node, ranks: int) -> "Layout":
        """Layout of a number of ranks on equal nodes."""
        return cls((Share(None, node, 0, ranks),))

    @property
    def ranks(self) -> int:
        return sum(share.ranks for share in self.shares)

    @property
    def nodes(self) -> int:
        return sum(share.node.nodes for share in self.shares)

    @property
    def named(self) -> tuple[Share, ...]:
        """The shares of a machine of parts; none where all nodes are equal."""
        return tuple(share for share in self.shares if share.part is not None)

    @cached_property
    def node_of(self) -> np.ndarray:
        """The node of each rank, [rank]."""
        first = np.cumsum([0, *(share.node.nodes for share in self.shares)]).tolist()
        of = (at + np.arange(s.ranks) // s.node.ranks for s, at in zip(self.shares, first, strict=False))
        return np.concatenate([*of])

    @cached_property
    def share_of(self) -> np.ndarray:
        """The number of the share of each node, [node]."""
        return np.repeat(np.arange(len(self.shares)), [share.node.nodes for share in self.shares])

    @staticmethod
    def profile(machine: Any, share: Share) -> Any:
        """The profile of the nodes of a share."""
        return machine if share.part is None else machine.parts[share.part].profile

    def each(self, values: Values, what: Callable[[Values, Share], Any]) -> list:
        """What follows from the values of every share. Raises UnknownValue that names the part."""
        found = []
        for share in self.shares:
            try:
                found.append(what(values.of_part(share.part), share))
            except UnknownValue as reason:
                part = "" if share.part is None else f"part {share.part}: "
                raise UnknownValue(f"{part}{reason}") from None
        return found


def threads_of(machine: Any, ranks_per_node: int | None = None, on: dict[str, int] | None = None) -> int:
    """Threads of a rank where ranks share all cores of a node, or of the node with the fewest cores."""
    parts = machine.parts.values() if isinstance(machine, Machine) else ()
    used = [part.profile for part in parts if on is None or on.get(part.name)]
    used = used or [part.profile for part in parts] or [machine]
    cores = min(round(profile.need("node.cores", "placing ranks").value) for profile in used)
    return max(1, cores // (ranks_per_node or 1))
