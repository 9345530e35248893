"""The nodes that a calibration measures."""

from dataclasses import dataclass

from spikemark.core import launch, slurm
from spikemark.core.errors import BadInput
from spikemark.core.launch import Layout


@dataclass(frozen=True)
class Site:
    """`nodes` nodes with `cores` cores each. `allocated`: Slurm starts programs there.

    `names`: of these nodes, as Slurm says them; empty for this host.
    """

    nodes: int
    cores: int
    names: tuple[str, ...] = ()
    allocated: bool = False

    @classmethod
    def of(cls, nodes: int | None = None) -> "Site":
        """So many nodes of the allocation, by default one, or this host.

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
        """A rank on each of so many nodes, by default all."""
        return Layout(nodes or self.nodes, ranks_per_node=1)

    def full(self, nodes: int | None = None) -> Layout:
        """A rank on every core of so many nodes, by default all."""
        return Layout((nodes or self.nodes) * self.cores, ranks_per_node=self.cores)

    @property
    def sizes(self) -> list[int]:
        """Numbers of nodes from 2 on: the powers of two, and all of them."""
        return sorted({2**k for k in range(1, self.nodes.bit_length())} | {self.nodes} - {1})


def listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Names of nodes for a text: all, or how many and the first and the last one.

    >>> listed(["n1", "n2"]), listed(["n1", "n2", "n3"], most=2)
    ('n1, n2', '3 nodes, n1 to n3')
    """
    return ", ".join(names) if len(names) <= most else f"{len(names)} nodes, {names[0]} to {names[-1]}"
