"""What a calibration measures: which nodes, for how long, and how far repetitions are apart.

Every instrument of a calibration (kernels, exchanges, messages, runs) is told the `Site` that it
measures and the `Effort` that it may make, and turns its repetitions into values of a machine
profile with `measured` and `repeated`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import LaunchLayout, slurm
from spikemark.machines.profile import Value
from spikemark.quantities.quantity import student

#: An interval does not begin below this share of the smallest measured value, since times and
#: bandwidths are not expected to be 0.
LOWEST_SHARE_OF_MINIMUM = 0.1
#: Repetitions that give an interval.
MIN_REPETITIONS = 3
#: Why values are unknown.
NO_SECOND_CORE = "there is one core, so there are no messages between ranks"
ONE_NODE = "one node does not show it"
#: What an instrument returns: values by path, and what is unknown, with reasons.
ValuesAndUnknown = tuple[dict[str, Value], dict[str, str]]


@dataclass(frozen=True)
class Effort:
    """How long a calibration takes, and how much a round measures.

    Times are in s, simulated times in ms.
    """

    lasts_s: float = 150.0  #: no round starts if it would end later, after calibrate.MIN_ROUNDS
    metered: int = 4  #: rounds with a pause in which power is read, if there is a meter
    kernel_s: float = 0.1  #: shortest time of a kernel in a round
    exchanges_every: int = 3  #: rounds from one measurement of exchanges to the next
    exchange_s: float = 0.02  #: shortest time of an exchange or message in a round
    bytes: tuple[int, ...] = tuple(4 * 4**k for k in range(9))  #: from one rank to another
    model_ms: float = 5000  #: simulated time of the run that shows how cycles fluctuate
    in_runs_ms: float = 3000  #: longest run that shows kernel times
    patience_s: float = 10  #: longest wait for a quiet machine


FULL_EFFORT = Effort()
QUICK_EFFORT = Effort(
    lasts_s=45.0,
    kernel_s=0.02,
    exchanges_every=1,
    exchange_s=0.005,
    bytes=(4, 64, 1024, 16384),
    model_ms=1000,
    in_runs_ms=500,
    patience_s=3,
)


@dataclass(frozen=True)
class Site:
    """Equal nodes that are measured: this host, or nodes of an allocation of Slurm."""

    nodes: int  #: number of nodes
    cores: int  #: of each node
    names: tuple[str, ...] = ()  #: of the nodes, as Slurm calls them
    allocated: bool = False  #: whether Slurm starts the programs

    @classmethod
    def at_hand(cls, nodes: int | None = None) -> "Site":
        """`nodes` nodes of the allocation, by default one; outside an allocation, this host.

        Raises BadInput for more nodes than there are, and if Slurm does not answer.
        """
        at_hand = launch.nodes_at_hand()
        allocated = slurm.inside()
        available = len(at_hand.cores) if allocated else 1
        if nodes is None:
            nodes = 1
        if not 1 <= nodes <= available:
            expected = f"1 to {available}, the nodes of {at_hand.whose}"
            raise BadInput(
                field="nodes",
                value=nodes,
                expected=expected,
                code="range",
            )
        return cls(nodes, min(at_hand.cores[:nodes]), at_hand.names[:nodes], allocated)

    def one_each(self, nodes: int | None = None) -> LaunchLayout:
        """One rank on each of `nodes` nodes, by default on each of all."""
        return LaunchLayout(nodes or self.nodes, ranks_per_node=1)

    def full(self, nodes: int | None = None) -> LaunchLayout:
        """A rank on every core of `nodes` nodes, by default of all."""
        return LaunchLayout((nodes or self.nodes) * self.cores, ranks_per_node=self.cores)

    @property
    def sizes(self) -> list[int]:
        """Numbers of nodes to measure with: the powers of two from 2 on, and all nodes.

        >>> Site(nodes=6, cores=4).sizes, Site(nodes=1, cores=4).sizes
        ([2, 4, 6], [])
        """
        sizes = {2**k for k in range(1, self.nodes.bit_length())}
        if self.nodes > 1:
            sizes.add(self.nodes)
        return sorted(sizes)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names of nodes in a text: all of them, or their number, the first and the last.

    >>> listed(["n1", "n2"]), listed(["n1", "n2", "n3"], most=2)
    ('n1, n2', '3 nodes, n1 to n3')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{len(names)} nodes, {names[0]} to {names[-1]}"


def measured(
    value: object,
    unit: str | None,
    interval: tuple[float, float] | None = None,
    detail: str = "",
) -> Value:
    """A measured value of a profile: a number, a text (without a unit), or rows of a table.

    Rows are (ranks, bytes, us). `detail` says what is special about the value; what all values of
    a profile have in common (command, date, commit) `profile_text` puts before it.

    Example:
        >>> measured(2e-6, "s", (1e-6, 3e-6)).kind
        'measured'
    """
    return Value(value, unit, "measured", detail, interval)


def repeated(values: Sequence[float], unit: str, detail: str = "") -> Value:
    """Median of `values`, at least one, with the interval in which another one is expected.

    95 % of further repetitions fall into it: mean +- t sd sqrt(1 + 1/n), with Student's t of n - 1
    degrees of freedom (prediction interval of normal values), widened to contain all values, and
    not below LOWEST_SHARE_OF_MINIMUM of the smallest. Fewer than MIN_REPETITIONS have no interval.
    It does not cover what these repetitions have in common but a second session would not, such as
    the place of memory.

    >>> repeated([2.0, 1.0], "ns").value, repeated([2.0, 1.0], "ns").interval
    (1.5, None)
    """
    array = np.asarray(values, dtype=float)
    median = float(np.median(array))
    repetitions = len(array)
    if repetitions < MIN_REPETITIONS:
        return measured(median, unit, None, detail)
    error = float(array.std(ddof=1) * np.sqrt(1 + 1 / repetitions))
    half = student(repetitions - 1) * error
    mean, least, largest = float(array.mean()), float(array.min()), float(array.max())
    low = max(min(mean - half, least), LOWEST_SHARE_OF_MINIMUM * least)
    high = max(mean + half, largest)
    return measured(median, unit, (low, high), detail)
