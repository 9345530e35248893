"""Machines side by side: how many nodes each needs for a real-time factor, and what that costs."""

from dataclasses import dataclass, field, replace

from spikemark.core.errors import BadInput
from spikemark.machines.accelerated import is_accelerated
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network import lanes
from spikemark.network.description import read

from . import accelerated, model_error, simulators, validated
from .accelerated import Accelerated
from .asked import Network, taken_by
from .best_way import BestWays
from .layout import Layout
from .life import Life
from .loads import Counting
from .node_range import MOST_RANKS, NODES, Candidate, factor
from .predict import Prediction, of_loads

#: The name of no schedule: on each number of nodes, the best one that is exact.
BEST = "best"


@dataclass(frozen=True)
class Comparison:
    """All candidates for one network; `schedule` is a name, or BEST.

    No other prediction beats those in `pareto` in both time and energy. `life`: over which costs count.
    `accelerated`: the machines with accelerators, of which nothing is predicted as of CPU cores.
    """

    network: Network
    simulator: str
    schedule: str
    target: float
    candidates: list[Candidate]
    pareto: list[Prediction]
    life: Life
    accelerated: list[Accelerated] = field(default_factory=list)


def compare(
    network: Network,
    profiles: list,
    target: float = 1.0,
    schedule: str | None = None,
    ranks_per_node: int | None = None,
    placement: str | None = None,
    threads: int | None = None,
    simulator: str = simulators.MINI_APP.name,
    life: Life | None = None,
) -> Comparison:
    """Try all machines with the numbers of nodes in `NODES`, each with the best exact schedule or with one.

    With a schedule, `ranks_per_node` ranks (one) share a node's cores, `threads` of a rank are all of its
    share, and an implied placement that has too few areas for the ranks gives way to `area_group`. Without
    one, placement and ranks of a node are the best ones, too, unless they are given. `simulator`: whose
    times. `life`: how long the machines are used, and what energy costs [Life()]. Intervals include the error
    of the model, which all machines share.

    Machines with accelerators get published results, or times from their kernels (accelerated.py).

    Raises BadInput for a machine that is named twice or has fewer cores than ranks on a node, threads
    without a schedule, a target that is not above 0, and where no machine can run the network at all.
    """
    if not 0 < target < float("inf"):
        raise BadInput(f"target_rtf={target}: a real-time factor above 0")
    names = [profile.name for profile in profiles]
    if len(set(names)) < len(names):
        raise BadInput(f"machines={', '.join(names)}: each only once")
    best = schedule is None
    if best and threads is not None:
        raise BadInput(
            f"threads={threads}: only with --schedule; without it, ranks share all cores of a node"
        )
    network = taken_by(network, simulators.find(simulator))
    each = ranks_per_node or 1
    others = [profile for profile in profiles if is_accelerated(profile)]
    profiles = [profile for profile in profiles if not is_accelerated(profile)]
    nodes = [Node.of(profile, each, threads, each) for profile in profiles]  # refuses before work begins
    counting = Counting(network.description, network.rates.hz)
    how = _How(network, counting, best, schedule, placement, threads, ranks_per_node, simulator)
    life = life or Life()
    beside = accelerated.candidates(network, others, counting, target, life)
    modelled = [life.of(_candidate(how, *one, target)) for one in zip(profiles, nodes, strict=True)]
    candidates = [_of_real_runs(c) for c in modelled]
    shown = BEST if best else lanes.chosen(read(network.description), schedule, None)[0].name
    return Comparison(
        network, simulators.find(simulator).name, shown, target, candidates,
        _pareto([p for c in candidates for p in c.usable]), life, beside,
    )  # fmt: skip


@dataclass(frozen=True)
class _How:
    """The network to run, and how."""

    network: Network
    counting: Counting
    best: bool
    schedule: str | None
    placement: str | None
    threads: int | None
    each: int | None  # ranks on a node
    simulator: str


def _candidate(how: _How, profile, node: Node, target: float) -> Candidate:
    each = how.each or 1
    ways = BestWays(
        how.network, profile, simulators.find(how.simulator, how.network.description), how.placement, how.each
    )
    tried, refused = [], {}
    for nodes in NODES:
        if nodes * each > MOST_RANKS:
            break
        try:
            tried.append(_best(how, ways, nodes) if how.best else _try(how, profile, nodes * each, node))
        except UnknownValue:  # with other numbers of nodes it is unknown, too
            raise
        except BadInput as reason:
            refused[nodes] = str(reason)
    if how.best:
        ways.check_delay_ratio()
    if not tried:
        raise BadInput(f"{profile.name}: {next(iter(refused.values()))}")
    title = str(getattr(profile, "title", profile.name))
    odd = getattr(profile, "implausible", ())
    return Candidate(profile.name, title, node.cores, tried, refused, target, odd)


def _of_real_runs(c: Candidate) -> Candidate:
    """The machine with intervals that include the error of the model."""
    return replace(c, tried=[model_error.widened(p) for p in c.tried], modelled=c.tried)


def _best(how: _How, ways: BestWays, nodes: int) -> Prediction:
    """The prediction for the best way on so many nodes. Raises BadInput where there is none, and says why."""
    option = ways.on(nodes)
    if option is None:
        raise BadInput(ways.why_not(nodes))
    return of_loads(
        option.loads, ways.profile, option.layout, how.network.rates, None, how.simulator, option.question
    )


def _try(how: _How, profile, ranks: int, node: Node) -> Prediction:
    """A prediction for so many ranks; several ranks share an area where there are fewer areas than ranks."""
    description = how.counting.description
    validated.outside(description, ranks, node.threads)
    schedule, placement = lanes.chosen(description, how.schedule, how.placement)
    has = simulators.find(how.simulator).version
    too_few = placement == "area" and ranks > len(description.network.areas)
    if how.placement is None and too_few and has(schedule.name, "area_group"):
        placement = "area_group"
    loads = how.counting.loads(ranks, node.threads, how.schedule, placement)
    layout = Layout.of(profile, ranks, node.threads, node.ranks)
    return of_loads(loads, profile, layout, how.network.rates, simulator=how.simulator)


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
