"""Which algorithms the collective calls of a prediction get, and where a library changes them.

Times over nodes jump there: Open MPI, for example, sends all messages at once with 63 ranks and exchanges
with one partner after another with 64 (machines/algorithms.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from spikemark.machines import algorithms
from spikemark.network.lanes import Lane

from . import exchange
from .collectives import Collectives
from .traffic import Traffic

LIBRARIES = {"ompi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI"}
OTHER = "uses another algorithm"
DONE = {
    algorithms.LINEAR: "sends all messages at once",
    algorithms.PAIRWISE: "exchanges with one partner after another",
    algorithms.BRUCK: "passes combined messages on in a few rounds",
    algorithms.DOUBLING: "doubles the distance of partners from round to round",
    algorithms.NEIGHBOR: "exchanges with neighbours, round after round",
    algorithms.RING: "passes messages on along a ring",
    algorithms.ROOT: "gathers everything at one rank, which passes it on",
}


@dataclass(frozen=True)
class Call:
    """A collective call in a lane: between how many ranks, bytes per pair, and by which algorithm."""

    lane: str
    name: str
    library: str
    ranks: int
    size: float
    algorithm: str


@dataclass(frozen=True)
class _Listening(Collectives):
    """The calls, which note what is asked of them; calls from measured tables follow no algorithm."""

    heard: dict[str, tuple[int, float]] = field(default_factory=dict)

    def alltoall(self, traffic: Traffic, *call: str) -> float:
        self._hear(*(call or ("alltoall",)), traffic, traffic.mean_bytes)
        return super().alltoall(traffic, *call)

    def alltoallv(self, traffic: Traffic, name: str | None = None) -> float:
        if name is None:
            self._hear("alltoallv", traffic, traffic.mean_bytes)
        return super().alltoallv(traffic, name)

    def allgather(self, traffic: Traffic, size: float, *call: str) -> float:
        self._hear(*(call or ("allgather",)), traffic, size)
        return super().allgather(traffic, size, *call)

    def _hear(self, name: str, traffic: Traffic, size: float) -> None:
        table = "allgather" if name.startswith("allgather") else "alltoall"
        if (self._layout(traffic), table) not in self.tables:
            self.heard[name] = traffic.ranks, size


def of(net: Collectives, met: Iterable[tuple[Lane, list[Traffic]]]) -> list[Call]:
    """The calls between all ranks; of one that a lane makes several times, the last."""
    found, library = [], net.net.selector or algorithms.DEFAULT
    for lane, traffic in met:
        if len(traffic) != 1 or traffic[0].ranks < len(lane.group):
            continue
        listening = _Listening(**{f.name: getattr(net, f.name) for f in fields(Collectives)})
        exchange.seconds(listening, lane, traffic)
        found += [
            Call(lane.name, name, library, ranks, size, algorithms.chosen(library, name, ranks, size))
            for name, (ranks, size) in listening.heard.items()
        ]
    return found


def changes(before: list[Call], after: list[Call]) -> list[str]:
    """Which calls get another algorithm with more ranks, and with how many ranks; one line for each."""
    earlier = {(call.lane, call.name, call.library): call for call in before}
    found = []
    for call in after:
        old = earlier.get((call.lane, call.name, call.library))
        if old is None or old.algorithm == call.algorithm or old.ranks >= call.ranks:
            continue
        first, last = algorithms.stretch(call.library, call.name, call.ranks, call.size)
        start = max(first, old.ranks + 1)
        where = f"from {start} ranks on" if last is None else f"from {start} to {last} ranks"
        found.append(f"{where}, {LIBRARIES[call.library]} {DONE.get(call.algorithm, OTHER)} (`{call.name}`)")
    return found
