"""Layout of the ranks of a run on the nodes of a machine, which are equal or of several parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from spikemark.machines.inputs import SLOWER, Inputs
from spikemark.machines.interconnect import CROWD
from spikemark.machines.node import Node
from spikemark.machines.of_networks import for_routes
from spikemark.machines.parts import LINKS, PARTS, Machine, Share, shares
from spikemark.machines.profile import UnknownValue

Found = TypeVar("Found")


@dataclass(frozen=True)
class Layout:
    """The shares of a machine, in the order of their ranks; a machine of equal nodes has one, without a name.

    Nodes are numbered through all shares.
    """

    shares: tuple[Share, ...]

    @classmethod
    def of(
        cls,
        machine: Any,
        ranks: int,
        threads: int | None = None,
        ranks_per_node: int | None = None,
        on: dict[str, int] | None = None,
    ) -> "Layout":
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
        first = np.cumsum([0, *(share.node.nodes for share in self.shares)])
        return np.concatenate([
            start + np.arange(share.ranks) // share.node.ranks
            for start, share in zip(first, self.shares, strict=False)
        ])  # fmt: skip

    @cached_property
    def share_of(self) -> np.ndarray:
        """The number of the share of each node, [node]."""
        return np.repeat(np.arange(len(self.shares)), [share.node.nodes for share in self.shares])

    def routed(self, machine: Any) -> bool:
        """True if a congestion that is assumed for static routes counts for messages between these nodes."""
        profiles = (self.profile(machine, share) for share in self.shares)
        return self.nodes >= CROWD and any(map(for_routes, profiles))

    def prefix(self, share: Share) -> str:
        """What a line about one share begins with."""
        return "" if share.part is None else f"part {share.part}: "

    @staticmethod
    def profile(machine: Any, share: Share) -> Any:
        """The profile of the nodes of a share."""
        return machine if share.part is None else machine.parts[share.part].profile

    def ask(self, inputs: Inputs, share: Share, what: Callable[[Inputs, Share], Found]) -> Found:
        """What follows from the values of one share. Raises UnknownValue that names the part."""
        if share.part is None:
            return what(inputs, share)
        try:
            return what(inputs.of_part(share.part), share)
        except UnknownValue as reason:
            raise UnknownValue(f"part {share.part}: {reason}") from None

    def each(self, inputs: Inputs, what: Callable[[Inputs, Share], Found]) -> list[Found]:
        """The same of every share."""
        return [self.ask(inputs, share, what) for share in self.shares]


def threads_of(machine: Any, ranks_per_node: int | None = None, on: dict[str, int] | None = None) -> int:
    """Threads of a rank where ranks share all cores of a node, or of the node with the fewest cores."""
    parts = machine.parts.values() if isinstance(machine, Machine) else ()
    used = [part.profile for part in parts if on is None or on.get(part.name)]
    profiles = used or [part.profile for part in parts] or [machine]
    cores = min(round(profile.need("node.cores", "placing ranks").value) for profile in profiles)
    return max(1, cores // (ranks_per_node or 1))


def figure(share: Share, name: str) -> str:
    """What a figure of one share is called, among those of the machine."""
    return f"{PARTS}.{share.part}.{name}"


def inside(path: str) -> str:
    """The path of the profile in the path of a machine: node.cores in parts.arm.node.cores."""
    group, _, rest = path.partition(".")
    return rest.partition(".")[2] if group in (PARTS, LINKS) else path


def moved_with(machine: Any, path: str) -> tuple[str, str]:
    """Equal for values of a machine of parts that go to their limits together.

    These are the same value of the same profile in several parts, and those of networks: the worst of them
    counts, and it is as good as it may be only if all are.
    """
    own, part = inside(path), path.split(".")[1] if path.startswith(f"{PARTS}.") else ""
    if own.startswith("interconnect."):
        return "", own
    return (machine.parts[part].profile.name, own) if part and own != SLOWER else ("", path)
