"""What a calibration measures: nodes, for how long, and its values: how far repetitions are apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import Layout, slurm
from spikemark.machines.profile import Value
from spikemark.quantities.quantity import student

LEAST = 0.1  # share of the least measured value, since times and bandwidths are not expected to be 0
FEWEST = 3  # repetitions that give an interval
#: Why values are unknown.
ALONE = "there is one core, so there are no messages between ranks"
ONE_NODE = "one node does not show it"


@dataclass(frozen=True)
class Effort:
    """How long a calibration takes, and how much a round measures. Times in s, simulated times in ms."""

    lasts_s: float = 150.0  # no round starts if it would end later, after FEWEST of them
    metered: int = 4  # rounds with a pause in which power is read, if there is a meter
    kernel_s: float = 0.1  # shortest time of a kernel in a round
    exchanges_every: int = 3  # rounds from one measurement of exchanges to the next
    exchange_s: float = 0.02  # shortest time of an exchange or message in a round
    bytes: tuple[int, ...] = tuple(4 * 4**k for k in range(9))  # from one rank to another
    model_ms: float = 5000
    in_runs_ms: float = 3000  # longest run that shows kernel times
    patience_s: float = 10  # longest wait for a quiet machine


FULL = Effort()
QUICK = Effort(lasts_s=45.0, kernel_s=0.02, exchanges_every=1, exchange_s=0.005, bytes=(4, 64, 1024, 16384),
               model_ms=1000, in_runs_ms=500, patience_s=3)  # fmt: skip


@dataclass(frozen=True)
class Site:
    """`nodes` nodes with `cores` cores each, by `names` in Slurm, which starts programs if `allocated`."""

    nodes: int
    cores: int
    names: tuple[str, ...] = ()
    allocated: bool = False

    @classmethod
    def of(cls, nodes: int | None = None) -> "Site":
        """`nodes` nodes of the allocation, by default one; outside an allocation, this host.

        Raises BadInput for more nodes than there are, and if Slurm does not answer.
        """
        there = launch.nodes_at_hand()
        nodes = 1 if nodes is None else nodes
        most = len(there.cores) if slurm.inside() else 1
        if not 1 <= nodes <= most:
            raise BadInput.of("nodes", nodes, f"1 to {most}, the nodes of {there.whose}", code="range")
        return cls(nodes, min(there.cores[:nodes]), there.names[:nodes], slurm.inside())

    def one_each(self, nodes: int | None = None) -> Layout:
        """One rank on each of `nodes` nodes, by default on each of all."""
        return Layout(nodes or self.nodes, ranks_per_node=1)

    def full(self, nodes: int | None = None) -> Layout:
        """A rank on every core of `nodes` nodes, by default of all."""
        return Layout((nodes or self.nodes) * self.cores, ranks_per_node=self.cores)

    @property
    def sizes(self) -> list[int]:
        """Numbers of nodes to measure with: the powers of two from 2 on, and all nodes."""
        return sorted({2**k for k in range(1, self.nodes.bit_length())} | {self.nodes} - {1})


def listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Names of nodes in a text: all of them, or their number, the first and the last.

    >>> listed(["n1", "n2"]), listed(["n1", "n2", "n3"], most=2)
    ('n1, n2', '3 nodes, n1 to n3')
    """
    return ", ".join(names) if len(names) <= most else f"{len(names)} nodes, {names[0]} to {names[-1]}"


def measured(
    value: Any, unit: str | None, interval: tuple[float, float] | None = None, detail: str = ""
) -> Value:
    """A leaf of the profile: number, text (without a unit), or the rows of a table (ranks, bytes, us).

    `detail`: what is special about it; `profile_text` puts the command, the date and the commit before it.
    """
    return Value(value, unit, "measured", detail, interval)


def repeated(values: list[float], unit: str, detail: str = "") -> Value:
    """Median of `values`, at least one, and the interval in which 95 % of further repetitions fall.

    mean +- t sd sqrt(1 + 1/n), Student's t with n - 1 degrees of freedom (prediction interval of normal
    values), widened to contain all measured values, and not below a tenth of the smallest. It does not cover
    what these repetitions have in common but a second session would not, such as the place of memory.
    """
    x = np.asarray(values, dtype=float)
    median, n = float(np.median(x)), len(x)
    if n < FEWEST:
        return measured(median, unit, None, detail)
    half = student(n - 1) * float(x.std(ddof=1) * np.sqrt(1 + 1 / n))
    low, high = min(float(x.mean()) - half, float(x.min())), max(float(x.mean()) + half, float(x.max()))
    return measured(median, unit, (max(low, LEAST * float(x.min())), high), detail)
