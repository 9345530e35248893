"""The ways to run a network on a machine: which are exact, and which of each schedule is best.

With a target, numbers of nodes are tried from the fewest on, each with the fastest exchanges and longer lags,
until the target is reached. Without one, numbers that double are tried first, then those next to the best.
Waiting takes longest to compute, so a way whose time without it is too long is not pursued.
"""

import re
from copy import deepcopy

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network.description import read
from spikemark.network.lanes import chosen
from spikemark.network.placement import PLACEMENTS, spans
from spikemark.network.placement_field import text_of
from spikemark.network.schedules import SCHEDULES, Schedule, find

from . import simulators, validated
from .advise_exchange import least, surely
from .advise_option import Option, layouts, placements
from .asked import AUTO, Network
from .exchange import check
from .layout import Layout
from .loads import Counting
from .node_range import MOST_RANKS, NODES
from .predict import Question
from .room import all_fit, fits, of_shares
from .times import at_least

#: Nodes that are tried first, and those that are tried between the best of them and its neighbours.
DOUBLING = tuple(n for n in NODES if n.bit_count() == 1)
BETWEEN = tuple(n for n in NODES if n.bit_count() > 1)
GAIN, PATIENCE = 0.01, 2  # of longer lags: the least that counts, and how many may miss it
SLACK = 0.98  # of the bound: drawn times may have a mean that is a little too short
TAKEN = ("schedule", "placement", "lag", "exchange")  # what a simulator may not have
APART = "every area would be on all ranks, so all ranks would meet in every cycle, as in conventional"


class Search:
    """What was tried, and what was refused."""

    def __init__(self, network: Network, profile, target: float | None, simulator: simulators.Simulator):
        self.profile, self.target, self.simulator = profile, target, simulator
        self.network = network
        simulator.check(*(text_of(network.description[n]) if n in network.fixed else None for n in TAKEN))
        description = {n: v for n, v in network.description.items() if n not in simulator.unused}
        self.counting = Counting(description, network.rates.hz)
        self.described = read(network.description | network.own)
        self.inputs = Inputs(profile)
        self.seen: dict[tuple, Option | None] = {}
        self.refused: dict[str, dict[str, list[int]]] = {}  # why -> schedule -> ranks

    def order(self, option: Option) -> tuple:
        """Sorts options, the best first; ways that the released simulator does not have come last."""
        unreleased = self.version(option) != self.simulator.released
        if self.target is None:
            return (unreleased, option.factor)
        missed = option.factor > self.target
        return (
            unreleased,
            missed,
            0 if missed else option.node.nodes,
            0.0 if missed else option.factor * option.energy_w,
            option.factor,
        )

    def version(self, option: Option) -> str | None:
        """Which version of the simulator has an option."""
        return self.simulator.version(option.schedule.name, option.loads.placement)

    def schedules(self) -> list[Schedule]:
        """Schedules to try: the given one, or all and the lanes that the description lists."""
        if "schedule" in self.network.fixed:
            return [find(self.counting.description.schedule)]
        own = self.network.own.get("schedule")
        found = [*SCHEDULES.values(), *([find(own)] if isinstance(own, list) else [])]
        return [schedule for schedule in found if self.placements(schedule)]

    def placements(self, schedule: Schedule) -> list[str]:
        """Placements to try with a schedule."""
        each = list(PLACEMENTS) if "schedule" in self.network.fixed else placements(schedule)
        given = self.counting.description.placement
        if "placement" in self.network.fixed:
            each = [name for name in each if name == given] if given in PLACEMENTS else [given]
        return [name for name in each if self.simulator.version(schedule.name, name)]

    def of_schedule(self, schedule: Schedule) -> Option | None:
        """The best option with a schedule: placement, nodes and ranks on them, exchange, lag and D."""
        names = self.placements(schedule)
        found = [best for name in names if (best := self._of_placement(schedule, name))]
        if not found:
            return None
        best = min(found, key=self.order)
        return self._with_own_ratio(self._longer_lags(best))

    def _of_placement(self, schedule: Schedule, placement: str) -> Option | None:
        each = layouts(self.profile)
        if self.target is not None:
            for nodes in sorted((*DOUBLING, *BETWEEN)):
                options = [o for e in each if (o := self._option(schedule, placement, nodes, e))]
                reached = [found for option in options if (found := self._reaching(option))]
                if reached:
                    return min(reached, key=self.order)
        best = self._fastest(schedule, placement, [(n, e) for n in DOUBLING for e in each])
        if best is None:
            return None
        at = best.node.nodes
        low = max((n for n in DOUBLING if n < at), default=at)
        high = min((n for n in DOUBLING if n > at), default=at)
        places = [(n, e) for n in BETWEEN if low < n < high for e in each]
        return self._fastest(schedule, placement, places, best)

    def _reaching(self, option: Option) -> Option | None:
        """The option with the exchanges, and the lag, with which it reaches the target; None if none does."""
        if self._bound(option, exchanging=False) > self.target or not self._fits(option):
            return None
        best = self._with_exchanges(option, self.target)
        if self._bound(best) > self.target:
            return None
        if best.factor > self.target:
            best = self._longer_lags(best)
        return best if best.factor <= self.target else None

    def _fastest(
        self, schedule: Schedule, placement: str, places: list[tuple[int, int]], best: Option | None = None
    ) -> Option | None:
        """The fastest on some nodes and ranks on each, or `best` if none is faster."""
        options = [o for n, e in places if (o := self._option(schedule, placement, n, e))]
        return self._fastest_of(options, best)

    def _fastest_of(self, options: list[Option], best: Option | None = None) -> Option | None:
        """The fastest that fits, or `best` if none is faster. Waiting takes longest to compute, so it is
        computed only where it can matter."""
        for option in sorted(options, key=self._bound):
            limit = best.factor if best else float("inf")
            if self._bound(option, exchanging=False) >= limit or not self._fits(option):
                continue
            found = self._with_exchanges(option, limit)
            if self._bound(found) < limit and found.factor < limit:
                best = found
        return best

    def _bound(self, option: Option, exchanging: bool = True) -> float:
        """A lower bound of the real-time factor; without `exchanging`, with any exchange."""
        least = at_least(option.loads, self.inputs, option.layout, exchanging)
        return SLACK * self.simulator.factor(Inputs(self.profile), option.node.nodes) * least

    def _fits(self, option: Option) -> bool:
        found = all_fit(fits(self.profile, option.layout, of_shares(option.loads, option.layout)[1]))
        if found is False:
            loads = option.loads
            self._refuse("the nodes have too little memory", option.schedule, loads.placement, loads.ranks)
        return found is not False

    def _changed(self, option: Option, **changed) -> Option | None:
        """The same option with other fields of the description; None where that is not exact."""
        refused = deepcopy(self.refused)
        of = option.schedule, option.loads.placement, option.node.nodes, option.node.ranks
        found = self._option(*of, **{**option.changed, **changed})
        self.refused = refused  # that a lag is too long says nothing against the schedule
        return found

    def _option(self, schedule: Schedule, placement: str, nodes: int, each: int, **changed) -> Option | None:
        """A way to run it; None, with the reason kept, where it is not exact, too large or too far off."""
        ranks, key = nodes * each, (schedule.name, placement, nodes, each, *map(str, changed.items()))
        if ranks > MOST_RANKS:
            return None
        if key not in self.seen:
            try:
                self.seen[key] = self._made(schedule, placement, ranks, each, changed)
            except UnknownValue:
                raise
            except BadInput as reason:
                self._refuse(str(reason), schedule, placement, ranks)
                self.seen[key] = None
        return self.seen[key]

    def _made(self, schedule: Schedule, placement: str, ranks: int, each: int, changed: dict) -> Option:
        node = Node.of(self.profile, ranks, None, each)
        description = self.counting.description
        validated.outside(description, ranks, node.threads)
        areas = len(description.network.areas)
        near = ranks > 1 and areas > 1 and any(lane.group == "area" for lane in schedule.lanes)
        if near and set(spans(description, placement, ranks)) == {(0, ranks)}:
            raise BadInput(APART)
        loads = self.counting.loads(ranks, node.threads, schedule, placement, **changed)
        for lane in loads.lanes:
            check(lane)
        layout = Layout.equal(node, ranks)
        return Option(schedule, loads, node, Question(loads, layout, self.profile, self.simulator), changed)

    def _refuse(self, reason: str, schedule: Schedule, placement: str, ranks: int) -> None:
        why = re.sub(r"^ranks=\d+: |^schedule=\w+: ", "", reason)
        ways = self.refused.setdefault(why, {})
        ways.setdefault(f"{schedule.name} with placement {placement}", []).append(ranks)

    def _longer_lags(self, best: Option) -> Option:
        """The best lag from the option's own on, until one is not exact or some in a row gain too little."""
        if not best.schedule.lagged or "lag" in self.network.fixed:
            return best
        lag, at = best.loads.description.lag, best
        idle = 0  # longer lags in a row that gained next to nothing
        while idle < PATIENCE:
            lag += 1
            other = self._changed(at, lag=lag)
            if other is None:
                break
            idle = 0 if other.factor < (1 - GAIN) * best.factor else idle + 1
            best = min(best, other, key=self.order)
        return best

    def _with_own_ratio(self, best: Option) -> Option:
        """The option with the D that the description states, if that is better."""
        own = self.network.own.get("delay_ratio")
        if "delay_ratio" in self.network.fixed or own in (None, AUTO) or not best.schedule.uses_delay_ratio:
            return best
        other = self._changed(best, delay_ratio=own)
        return best if other is None else min(best, other, key=self.order)

    def _with_exchanges(self, option: Option, limit: float) -> Option:
        """The option with the exchange that is fastest in each lane, where it is surely faster than that of
        the mini-app; as it is where even the fastest ones cannot get it below a limit."""
        if "exchange" in (*self.network.fixed, *self.simulator.unused):
            return option
        how = option.loads, option.layout, self.profile
        wanted = least(*how)
        if all(wanted.get(lane.name, lane.exchange) == lane.exchange for lane in option.loads.lanes):
            return option
        other = self._changed(option, exchange=wanted)
        if other is None or self._bound(other) >= limit:
            return option
        certain = surely(wanted, *how)
        if certain != wanted:
            other = self._changed(option, exchange=certain) or option
        # an exchange that is hidden behind computing may stay as it is
        hidden = any(lane.lag for lane in option.loads.lanes)
        return option if hidden and other.factor >= option.factor else other

    def as_described(self, best: Option) -> Option | str:
        """What the description states, on the nodes of the best option; if that cannot be run, where, and
        why."""
        own = {name: value for name, value in self.network.own.items() if name not in self.simulator.unused}
        schedule, placement = chosen(self.described, None, text_of(own.get("placement")))
        changed = {name: own[name] for name in ("delay_ratio", "lag", "exchange") if name in own}
        if self.simulator.version(schedule.name, placement) is None:
            how = f"the {schedule.label} schedule with placement {placement}"
            return f"with {self.simulator.label}: no version has {how}"
        found, why = [], "no number of ranks"
        for ranks in layouts(self.profile):
            try:
                found.append(self._made(schedule, placement, best.node.nodes * ranks, ranks, changed))
            except UnknownValue:
                raise
            except BadInput as reason:
                why = str(reason)
        return min(found, key=self.order) if found else f"on these nodes: {why}"

    def check_delay_ratio(self) -> None:
        """Raises BadInput for a D that was given, and that is exact for none of the ways that use it."""
        given = self.network.description.get("delay_ratio", AUTO)
        options = [option for option in self.seen.values() if option]
        if given == AUTO or any(option.loads.delay_ratio == given for option in options):
            return
        exact = [
            option.loads.delay_ratio or 0
            for schedule in self.schedules()
            for name in self.placements(schedule)
            for nodes in DOUBLING
            for each in layouts(self.profile)
            if (option := self._option(schedule, name, nodes, each, delay_ratio=AUTO))
        ]
        largest = max(exact, default=0)
        if not largest and options:
            raise BadInput(f"delay_ratio={given}: no schedule uses it with this network here; leave it out")
        if 0 < largest < given:
            raise BadInput(
                f"delay_ratio={given}: exact for no schedule that uses it; the largest exact one is {largest}"
            )

    def lines(self) -> list[str]:
        """What was refused, a line for each reason."""
        found = []
        for why, ways in self.refused.items():
            ranks = sorted({n for all_ranks in ways.values() for n in all_ranks})
            found.append(f"{', '.join(ways)} on {_ranks(ranks)}: {why}")
        return found


def _ranks(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"{ranks[0]} rank{'s' * (ranks[0] > 1)}"
    return f"{', '.join(map(str, ranks[:-1]))} and {ranks[-1]} ranks"
