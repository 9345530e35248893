"""The nodes that a calibration measures."""

from dataclasses import dataclass

from spikemark.core import launch, slurm
from spikemark.core.errors import BadInput
from spikemark.core.launch import Layout


@dataclass(frozen=True)
class Site:
    """`nodes` nodes with `cores` cores each. `allocated`: Slurm starts programs there.

    `names`: the names of these nodes in Slurm; empty for this host.
    """

    nodes: int
    cores: int
    names: tuple[str, ...] = ()
    allocated: bool = False

    @classmethod
    def of(cls, nodes: int | None = None) -> "Site":
        """Returns `nodes` nodes of the allocation, by default one; outside an allocation, this host.

        Raises BadInput for more nodes than there are, and if Slurm does not answer.
        """
        try:
            there = launch.nodes_at_hand()
        except slurm.SlurmFailed as failure:
            raise BadInput(str(failure)) from None
        nodes = 1 if nodes is None else nodes
        if nodes < 1:
            raise BadInput(f"--nodes: {nodes}; allowed: at least 1")
        if not slurm.inside() and nodes > 1:
            raise BadInput(f"--nodes: {nodes}; allowed here: 1, this host; an allocation of Slurm has more")
        if nodes > len(there.cores):
            raise BadInput(f"--nodes: {nodes}; allowed: up to {len(there.cores)}, the nodes of {there.whose}")
        return cls(nodes, min(there.cores[:nodes]), there.names[:nodes], slurm.inside())

    def one_each(self, nodes: int | None = None) -> Layout:
        """Puts one rank on each of `nodes` nodes, by default on each of all."""
        return Layout(nodes or self.nodes, ranks_per_node=1)

    def full(self, nodes: int | None = None) -> Layout:
        """Puts a rank on every core of `nodes` nodes, by default of all."""
        return Layout((nodes or self.nodes) * self.cores, ranks_per_node=self.cores)

    @property
    def sizes(self) -> list[int]:
        """Returns the numbers of nodes to measure with: the powers of two from 2 on, and all nodes."""
        return sorted({2**k for k in range(1, self.nodes.bit_length())} | {self.nodes} - {1})


def listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Lists names of nodes in a text: all of them, or if they are many, their number, the first and the last.

    >>> listed(["n1", "n2"]), listed(["n1", "n2", "n3"], most=2)
    ('n1, n2', '3 nodes, n1 to n3')
    """
    return ", ".join(names) if len(names) <= most else f"{len(names)} nodes, {names[0]} to {names[-1]}"
