"""Which schedule, D, lag, placement, exchange and how many nodes suit a network on a machine, by trying them.

Everything in the registries that is exact is tried: schedules, placements, numbers of nodes and of ranks on a
node, then lags and exchanges for the best of each schedule (advise_search.py).
"""

from dataclasses import dataclass
from typing import NamedTuple

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity

from . import model_error, simulators
from .advise_option import FACTOR, Option
from .advise_search import Search
from .asked import Network, taken_by
from .node_range import word
from .predict import Prediction, of_loads

ROUNDING = 1e-9  # by which two equal times may differ


@dataclass(frozen=True)
class Ranked:
    """An option with its prediction. `ratio`: its time over that of the best.

    `version`: which version of the simulator has it.
    """

    option: Option
    prediction: Prediction
    ratio: Quantity
    reached: str  # of the target: a key of node_range.WORDS; "" without a target
    version: str

    @property
    def same(self) -> bool:
        """True if it takes exactly as long as the best on any machine, such as all schedules on one rank."""
        return max(abs(self.ratio.low - 1), abs(self.ratio.high - 1)) <= ROUNDING

    @property
    def tied(self) -> bool:
        """True if shared and own errors leave open which is faster, this one or the best."""
        return self.ratio.low <= 1 <= self.ratio.high and not self.same


class LongerCycle(NamedTuple):
    """A longer cycle that is exact. `ratio`: time of the best option with it over that without; or None."""

    cycle_ms: float
    ratio: Quantity | None


@dataclass(frozen=True)
class Advice:
    """`ranked`: the best option of every schedule, the best of all first. `refused`: lines.

    `described`: what the description states, on the nodes of the best option; why that cannot be run; or None
    if it states nothing. `named`: what the machine is called on the command line.
    """

    network: Network
    machine: str
    title: str
    simulator: str
    target: float | None
    ranked: list[Ranked]
    refused: list[str]
    tried: int
    described: Ranked | str | None
    named: str
    longer: LongerCycle | None
    most_nodes: int | None = None  # as asked for

    @property
    def times_of(self) -> list[str]:
        """Whose times these are."""
        return simulators.find(self.simulator, self.network.description).said()

    @property
    def label(self) -> str:
        """What the simulator is called."""
        return simulators.find(self.simulator).label

    @property
    def foreign(self) -> bool:
        """True if the times are those of another simulator than the mini-app."""
        return self.simulator != simulators.MINI_APP.name

    @property
    def released(self) -> bool:
        """True if the released version of the simulator has the best option."""
        return self.best.version == simulators.find(self.simulator).released

    @property
    def best(self) -> Ranked:
        return self.ranked[0]

    @property
    def ties(self) -> list[Ranked]:
        """Options that may be as fast as the best."""
        return [r for r in self.ranked[1:] if r.tied]

    @property
    def sames(self) -> list[Ranked]:
        """Options that are exactly as fast as the best."""
        return [r for r in self.ranked[1:] if r.same]

    @property
    def closest(self) -> Ranked | None:
        """The first option of which a value of the machine tells whether it is faster than the best."""
        return next((r for r in self.ties if self._of_machine(r.ratio)), None)

    @property
    def measure(self) -> str | None:
        """The value of the machine whose knowledge helps most: to tell the best and the closest option apart,
        else to narrow the real-time factor of the best. None if nothing is uncertain."""
        asked = self.closest.ratio if self.closest else self.best.prediction.figures[FACTOR]
        return next(iter(self._of_machine(asked)), None)

    def _of_machine(self, found: Quantity) -> list[str]:
        """The values of the machine that a number depends on."""
        return [path for path in found.depends if not path.startswith(self.simulator)]

    @property
    def unlike(self) -> bool:
        """True if the ratio of the simulator's time to the mini-app's is the least certain value."""
        depends = self.best.prediction.figures[FACTOR].depends
        return bool(depends) and depends[0].startswith(f"{self.simulator} ")


def advise(
    network: Network,
    profile,
    target: float | None = None,
    simulator: str = simulators.MINI_APP.name,
    named: str | None = None,
    nodes: int | None = None,
) -> Advice:
    """Try every way to run the network on a profile (spikemark.machines), and rank the best ones.

    Without a `target`, the fastest comes first; with one, that whose middle reaches it on the fewest
    nodes, and of these the one that takes the least energy. `named`: what the command line calls the machine,
    such as the path of its profile [its name]. `nodes`: the most that may be used [as many as are tried].
    Intervals include the error of the model. Raises BadInput for a target that is not above 0, for a number
    of nodes that is not tried, for an unknown value that times depend on, and where nothing at all can be
    run.
    """
    if target is not None and not 0 < target < float("inf"):
        raise BadInput(f"target_rtf={target}: a real-time factor above 0")
    whose = simulators.find(simulator, network.description)
    network = taken_by(network, whose)
    search = Search(network, profile, target, whose, nodes)
    best = [option for schedule in search.schedules() if (option := search.of_schedule(schedule))]
    search.check_delay_ratio()
    if not best:
        why = search.lines() or ["no number of nodes has enough memory"]
        raise BadInput(f"{profile.name}: {why[0]}")
    best.sort(key=search.order)
    described = search.as_described(best[0]) if network.own else None

    longer = best[0].with_longer_cycle(network.description, network.rates.hz)
    if longer:
        cycle_ms, other = longer
        longer = LongerCycle(cycle_ms, other and other.ratio(best[0]))

    def rank(option: Option) -> Ranked:
        how = network.rates, None, simulator, option.question
        made = model_error.widened(of_loads(option.loads, profile, option.layout, *how))
        reached = word(made, target) if target else ""
        return Ranked(option, made, option.ratio(best[0]), reached, str(search.version(option)))

    return Advice(
        network, profile.name, str(getattr(profile, "title", profile.name)), search.simulator.name, target,
        [rank(option) for option in best], search.lines(), len(search.seen),
        rank(described) if isinstance(described, Option) else described, named or profile.name, longer,
        nodes,
    )  # fmt: skip
