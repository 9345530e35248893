"""The one rule by which ranks and threads fill the nodes of a machine."""

from dataclasses import dataclass
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.quantities.words import counted

WHY = "placing ranks"


@dataclass(frozen=True)
class Node:
    """A filled node: it has `ranks` ranks with `threads` threads each; `nodes` such nodes are needed."""

    cores: int
    ranks: int
    threads: int
    nodes: int

    @classmethod
    def of(
        cls, profile: Any, ranks: int, threads: int | None = None, ranks_per_node: int | None = None
    ) -> "Node":
        """How `ranks` fill nodes of a profile, as many on each as have cores, or `ranks_per_node`.

        `threads` of a rank: without it, the ranks of a node (one, if `ranks_per_node` is not given) share its
        cores. Raises BadInput for numbers below 1, for more than fits, and for an unknown number of cores.
        """
        name, cores = profile.name, round(profile.need("node.cores", WHY).value)
        for what, value in ("ranks", ranks), ("threads", threads), ("ranks_per_node", ranks_per_node):
            if value is not None and value < 1:
                raise BadInput(f"{what}={value}: at least 1")
        if threads is None:
            ranks_per_node = ranks_per_node or 1
            if ranks_per_node > cores:
                raise BadInput(f"ranks_per_node={ranks_per_node}: a node of {name} has {cores} cores")
            threads = cores // ranks_per_node
        if threads > cores:
            raise BadInput(f"threads={threads}: a node of {name} has {cores} cores")
        fit = cores // threads
        if ranks_per_node is not None and ranks_per_node > fit:
            raise BadInput(
                f"ranks_per_node={ranks_per_node}: with {counted(threads, 'thread')} each, a node of {name}"
                f" ({cores} cores) takes 1 to {fit}"
            )
        each = min(ranks, ranks_per_node or fit)
        return cls(cores, each, threads, -(-ranks // each))

    @property
    def busy(self) -> int:
        """Cores of the node that are at work."""
        return self.ranks * self.threads
