"""Layout of the ranks of a run on the nodes of a machine, which are equal or of several parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from spikemark.machines.parts import MachineOfParts, Node, RanksOfPart, shares
from spikemark.machines.profile import Profile, UnknownValue
from spikemark.machines.values import Values

#: What can be asked for a prediction: equal nodes, or parts of equal nodes each.
AnyMachine = Profile | MachineOfParts
Result = TypeVar("Result")


@dataclass(frozen=True)
class MachineLayout:
    """The shares of a machine, in the order of their ranks.

    A share is the ranks on one part of a machine. A machine of equal nodes has one share, without a
    name. Nodes are numbered through all shares.
    """

    shares: tuple[RanksOfPart, ...]

    @classmethod
    def from_machine(
        cls,
        machine: AnyMachine,
        ranks: int,
        threads: int | None = None,
        ranks_per_node: int | None = None,
        on: dict[str, int] | None = None,
    ) -> "MachineLayout":
        """How ranks lie on a profile, or on the parts of a machine.

        Args:
            machine: a profile or a machine of parts.
            ranks: of all nodes together.
            threads: of a rank; None: the ranks of a node share its cores.
            ranks_per_node: None: as many as fit.
            on: ranks by part; None: fill each part in turn.

        Raises BadInput as `machines.parts.shares` does.
        """
        return cls(shares(machine, ranks, threads, ranks_per_node, on))

    @classmethod
    def equal(cls, node: Node, ranks: int) -> "MachineLayout":
        """Layout of a number of ranks on equal nodes."""
        return cls((RanksOfPart(None, node, 0, ranks),))

    @property
    def ranks(self) -> int:
        """Ranks of all shares."""
        return sum(share.ranks for share in self.shares)

    @property
    def nodes(self) -> int:
        """Nodes of all shares."""
        return sum(share.node.nodes for share in self.shares)

    @property
    def named(self) -> tuple[RanksOfPart, ...]:
        """The shares of a machine of parts; none where all nodes are equal."""
        return tuple(share for share in self.shares if share.part is not None)

    @cached_property
    def node_of(self) -> np.ndarray:
        """The node of each rank, [rank]."""
        first_node = 0
        nodes = []
        for share in self.shares:
            nodes.append(first_node + np.arange(share.ranks) // share.node.ranks)
            first_node += share.node.nodes
        return np.concatenate(nodes)

    @cached_property
    def share_of(self) -> np.ndarray:
        """The number of the share of each node, [node]."""
        return np.repeat(np.arange(len(self.shares)), [share.node.nodes for share in self.shares])

    @staticmethod
    def profile(machine: AnyMachine, share: RanksOfPart) -> Profile:
        """The profile of the nodes of a share."""
        if isinstance(machine, MachineOfParts) and share.part is not None:
            return machine.parts[share.part].profile
        return machine  # type: ignore[return-value]  # a profile: only parts have a name

    def each(
        self, values: Values, evaluate: Callable[[Values, RanksOfPart], Result]
    ) -> list[Result]:
        """What follows from the values of every share. Raises UnknownValue that names the part."""
        results = []
        for share in self.shares:
            try:
                results.append(evaluate(values.of_part(share.part), share))
            except UnknownValue as error:
                place = "" if share.part is None else f"part {share.part}: "
                raise UnknownValue(f"{place}{error}", field=error.field) from None
        return results


def threads_of(
    machine: AnyMachine, ranks_per_node: int | None = None, on: dict[str, int] | None = None
) -> int:
    """Threads of a rank where the ranks of a node share all its cores.

    Of a machine of parts, the node with the fewest cores counts, among parts that have ranks.

    Example:
        >>> from spikemark import machines
        >>> threads_of(machines.load("jureca-dc"), ranks_per_node=8)
        16
    """
    if isinstance(machine, MachineOfParts):
        parts = machine.parts.values()
        used = [part for part in parts if on is None or on.get(part.name)]
        profiles = [part.profile for part in used or parts]
    else:
        profiles = [machine]
    cores = [round(float(p.need("node.cores", "placing ranks").value)) for p in profiles]
    return max(1, min(cores) // (ranks_per_node or 1))
