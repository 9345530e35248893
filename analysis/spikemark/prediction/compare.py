"""Machines side by side: how many nodes each needs for a real-time factor, and what that costs."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.quantities.quantity import Quantity

from .asked import Network
from .predict import Prediction, predict

#: Nodes that are tried, with up to MOST_RANKS ranks.
MOST_RANKS = 256
NODES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
SURE, PERHAPS, HARDLY, NO = "reached", "perhaps reached", "possible, not expected", "not reached"


@dataclass(frozen=True)
class Candidate:
    """A machine, and all numbers of nodes that were tried. `refused`: nodes -> why they cannot run it."""

    name: str
    title: str
    cores: int
    tried: list[Prediction]
    refused: dict[int, str]
    target: float

    @property
    def usable(self) -> list[Prediction]:
        """The predictions that fit into memory, as far as that is known."""
        return [p for p in self.tried if p.fits is not False]

    @property
    def needed(self) -> Prediction | None:
        """The fewest nodes with which the target is expected to be reached."""
        return next((p for p in self.usable if factor(p) <= self.target), None)

    @property
    def sure(self) -> Prediction | None:
        """The fewest nodes whose whole interval reaches the target."""
        return next((p for p in self.usable if interval(p).high <= self.target), None)

    @property
    def certainty(self) -> str:
        """Whether the target is reached by all, the middle, or only a part of the interval."""
        if not self.usable:
            return NO
        p = self.chosen
        if interval(p).high <= self.target:
            return SURE
        if self.needed:
            return PERHAPS
        return HARDLY if interval(p).low <= self.target else NO

    @property
    def fastest(self) -> Prediction:
        return min(self.usable, key=factor)

    @property
    def chosen(self) -> Prediction:
        """The prediction to look at: with the nodes that are needed, else the fastest one."""
        return self.needed or self.fastest


@dataclass(frozen=True)
class Comparison:
    """All candidates for one network. No other prediction beats those in `pareto` in both time and energy."""

    network: Network
    schedule: str
    target: float
    candidates: list[Candidate]
    pareto: list[Prediction]


def compare(
    network: Network,
    profiles: list,
    target: float = 1.0,
    schedule: str | None = None,
    ranks_per_node: int = 1,
) -> Comparison:
    """Try all machines with the numbers of nodes in `NODES`; `ranks_per_node` ranks share a node's cores.

    A placement that has too few areas for the ranks gives way to `area_group`. Raises BadInput for a machine
    that is named twice or has fewer cores than ranks on a node, a target that is not above 0, and where no
    machine can run the network at all.
    """
    if not 0 < target < float("inf"):
        raise BadInput(f"target_rtf={target}: a real-time factor above 0")
    names = [profile.name for profile in profiles]
    if len(set(names)) < len(names):
        raise BadInput(f"machines={', '.join(names)}: each only once")
    candidates = [_candidate(network, profile, target, schedule, ranks_per_node) for profile in profiles]
    shown, _ = lanes.chosen(read(network.description), schedule, None)
    return Comparison(
        network, shown.name, target, candidates,
        _pareto([p for c in candidates for p in c.usable]),
    )  # fmt: skip


def factor(p: Prediction) -> float:
    """The real-time factor."""
    return interval(p).value


def interval(p: Prediction) -> Quantity:
    """The real-time factor with its interval; it is never missing."""
    return p.figures["real_time_factor"]


def _candidate(network: Network, profile, target: float, schedule: str | None, each: int) -> Candidate:
    node = Node.of(profile, each, None, each)
    tried, refused = [], {}
    for nodes in NODES:
        if nodes * each > MOST_RANKS:
            break
        try:
            tried.append(_try(network, profile, nodes * each, node, schedule))
        except UnknownValue:  # with other numbers of nodes it is unknown, too
            raise
        except BadInput as reason:
            refused[nodes] = str(reason)
    if not tried:
        raise BadInput(f"{profile.name}: {next(iter(refused.values()))}")
    title = str(getattr(profile, "title", profile.name))
    return Candidate(profile.name, title, node.cores, tried, refused, target)


def _try(network: Network, profile, ranks: int, node: Node, schedule: str | None) -> Prediction:
    """A prediction for so many ranks; several ranks share an area where there are fewer areas than ranks."""
    description = read(network.description)
    _, placement = lanes.chosen(description, schedule, None)
    if placement == "area" and ranks > len(description.network.areas):
        placement = "area_group"
    return predict(description, profile, ranks, node.threads, schedule, placement, node.ranks, network.rates)


def _pareto(points: list[Prediction]) -> list[Prediction]:
    """The predictions that no other beats in time and in energy; without energies only the fastest."""

    def energy(p: Prediction) -> float:
        found = p.figures["energy_j"]
        return found.value if found else float("inf")

    best, found = float("inf"), []
    for p in sorted(points, key=lambda p: (factor(p), energy(p))):
        if energy(p) < best or not found:
            best = min(best, energy(p))
            found.append(p)
    return found
