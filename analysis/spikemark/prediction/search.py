"""Ways to run the mini-app on a machine: one search over numbers of nodes, schedules, placements
and exchanges.

Ways are compared by medians; the best of each schedule is then evaluated with all draws. D is the
largest that is exact, unless one is given. A machine is never asked beyond the nodes that it
offers.

For each schedule, some four to eight numbers of nodes are tried, each with all placements and
layouts at first and with the promising ones later: some seconds for all schedules.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile
from spikemark.machines.values import Values
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import Collectives
from spikemark.network.exchanges import OVERLAPPING
from spikemark.network.placement import PLACEMENTS
from spikemark.network.ring import synapse_bytes
from spikemark.network.schedules import LANES, SCHEDULES, Schedule, find_schedule, square
from spikemark.quantities.words import counted

from . import exchange
from .layout import MachineLayout, threads_of
from .mini_app import MiniAppOption, mini_app_option
from .option import (
    PROBABLE,
    SURE,
    TIE,
    SearchResult,
    numbers_of_nodes,
    ordered,
    stated,
    surest_of,
)
from .performance import calls, performance
from .question import Question
from .workload import Loads

FIRST_NODES = (1, 4, 16, 64)  #: numbers of nodes to begin with
MAX_RANKS = 512  #: of ways that are tried
PRUNE_FACTOR = 2.0  #: a layout that takes so many times the best is not tried on more nodes
#: More nodes are not tried where the fastest so far takes less than so much of the last.
SLOWER_AGAIN = 0.8
#: How much longer a way may take than one that would surely reach a target to be looked at.
NEARLY_SURE = 1.3
LONGER_LAGS = (2, 3)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way that was tried, and its median real-time factor."""

    seconds: float  #: per simulated second
    placement: str
    ranks_per_node: int
    way: dict[str, Any]  #: further fields of the description
    loads: Loads
    layout: MachineLayout

    @property
    def place(self) -> tuple[str, int]:
        """Placement and ranks on a node."""
        return self.placement, self.ranks_per_node


class Search:
    """What is tried for a question on a machine of equal nodes, by medians.

    Attributes:
        question: with only what was given fixed.
        machine: the profile.
        counting: counts the loads of the network.
        fastest_tried: the fastest way by schedule and number of nodes; None: nothing is exact.
        promising: by schedule, placements and ranks on a node that are tried on more nodes.
        better_windows: by schedule, the fields of a better lag or D.
        refusals: why ways were left out, and how many.
    """

    def __init__(self, question: Question, machine: Profile) -> None:
        self.question = question.free
        self.machine = machine
        self.values = Values(machine)
        self.counting = self.question.counting
        self.synapse_bytes = synapse_bytes(self.counting.description.network)
        self.fastest_tried: dict[tuple[Schedule, int], Candidate | None] = {}
        self.promising: dict[Schedule, set[tuple[str, int]]] = {}
        self.better_windows: dict[Schedule, dict[str, Any]] = {}
        self.refusals: Counter[str] = Counter()

    def schedules(self) -> list[Schedule]:
        """Those to try: the given one, or all, and the lanes of the description."""
        if "schedule" in self.question.fixed:
            return [find_schedule(self.question.fixed["schedule"])]
        schedules = list(SCHEDULES.values())
        described = self.question.description.get("schedule")
        if isinstance(described, list):
            schedules.append(find_schedule(described))
        return schedules

    def nothing(self) -> BadInput:
        """Why no way was left: the reason of most of them."""
        message = (
            f"nodes: no schedule of {self.question.title} is exact and fits on {self.machine.name}"
        )
        reasons = self.refusals.most_common()
        if reasons:
            message += f": {reasons[0][0]}"
        if len(reasons) > 1:
            number = counted(len(reasons), "reason")
            message += f" (of {number}, that of most ways that were tried)"
        return BadInput(message, field="nodes")

    def places(self, schedule: Schedule) -> list[tuple[str, int]]:
        """Placements to try with a schedule, and ranks on a node: one, one per socket, and about
        one for every part of its memory.
        """
        cores = round(self.values.need("node.cores", "placing ranks"))
        sockets = round(self.values.get("node.sockets", 1))
        ranks_per_node = [ranks for ranks in {1, sockets, square(cores)} if ranks <= cores]
        places = []
        for placement in self._placements(schedule):
            places += [(placement, ranks) for ranks in ranks_per_node]
        return places

    def _placements(self, schedule: Schedule) -> list[str]:
        """Placements to try. Of schedules with the same lanes, each placement has one."""
        if "placement" in self.question.fixed:
            placement = self.counting.description.placement
            return [] if placement is None else [placement]
        if "schedule" in self.question.fixed:
            return list(PLACEMENTS)
        with_same_lanes = [s for s in SCHEDULES.values() if s.lanes == schedule.lanes]
        with_same_lanes = with_same_lanes or [schedule]
        placements = []
        for name in PLACEMENTS:
            meant_for = [s for s in with_same_lanes if s.placement == name]
            owner = meant_for[0] if meant_for else with_same_lanes[-1]
            if owner == schedule:
                placements.append(name)
        return placements

    def median(
        self,
        schedule: Schedule,
        nodes: int,
        place: tuple[str, int],
        way: dict[str, Any],
        quick: bool = True,
    ) -> Candidate | None:
        """A way by its medians; None for what is not exact or does not fit into the memory.

        Args:
            schedule: the schedule.
            nodes: number of nodes.
            place: placement and ranks on a node.
            way: further fields of the description.
            quick: see `performance`.

        Raises BadInput for a file that the description names and that cannot be read.
        """
        placement, ranks_per_node = place
        ranks = nodes * ranks_per_node
        try:
            threads = threads_of(self.machine, ranks_per_node)
            loads = self.counting.loads(ranks, threads, schedule, placement, **way)
            layout = MachineLayout.from_machine(self.machine, ranks, threads, ranks_per_node)
            self._check_memory(loads, layout)
            times = performance(loads, self.machine, layout, drawn=False, quick=quick)
        except BadInput as error:
            if error.code == "file":
                raise
            self.refusals[str(error)] += 1
            return None
        seconds = float(times.real_time_factor[0])
        return Candidate(seconds, placement, ranks_per_node, way, loads, layout)

    def _check_memory(self, loads: Loads, layout: MachineLayout) -> None:
        """Raises BadInput where the synapses of a node do not fit into its memory."""
        room_gb = stated(self.machine, "node.memory")
        synapses = np.bincount(layout.node_of, loads.synapses)  # [node]
        held_gb = 1e-9 * synapses.max() * self.synapse_bytes
        if room_gb is not None and held_gb > room_gb:
            raise BadInput(
                f"node.memory={room_gb:g} GB; expected more, for the synapses of a node",
                field="node.memory",
            )

    def fastest(self, schedule: Schedule, nodes: int) -> Candidate | None:
        """The fastest way of a schedule on so many nodes; None where nothing is exact.

        Of all placements and layouts, then with the fastest exchange of each lane. Between two
        numbers of nodes that were tried, only the placements and layouts that are the fastest
        there.
        """
        key = (schedule, nodes)
        if key not in self.fastest_tried:
            self.fastest_tried[key] = self._fastest(schedule, nodes)
        return self.fastest_tried[key]

    def _fastest(self, schedule: Schedule, nodes: int) -> Candidate | None:
        places = self._places_of_neighbours(schedule, nodes)
        is_between = bool(places)
        if not places:
            places = self.promising.get(schedule) or set(self.places(schedule))
        tried = [
            self.median(schedule, nodes, place, {})
            for place in sorted(places)
            if place[1] * nodes <= MAX_RANKS
        ]
        candidates = [candidate for candidate in tried if candidate is not None]
        if not candidates:
            return None
        least = _least(candidates)
        if not is_between:
            limit = PRUNE_FACTOR * least.seconds
            near = [candidate for candidate in candidates if candidate.seconds <= limit]
            self.promising[schedule] = {candidate.place for candidate in near}
        if "exchange" not in self.question.fixed:
            exchanges = self.fastest_exchange_per_lane(least)
            if _changes_exchange(least.loads, exchanges):
                way = {"exchange": exchanges}
                faster = self.median(schedule, nodes, least.place, way)
                if faster is not None:
                    candidates.append(faster)
        return _least(candidates)

    def _places_of_neighbours(self, schedule: Schedule, nodes: int) -> set[tuple[str, int]]:
        """The fastest placements and layouts on the next fewer and the next more nodes; none where
        one of them was not tried.
        """
        place_by_nodes = {
            count: candidate.place
            for (other, count), candidate in self.fastest_tried.items()
            if other == schedule and candidate is not None
        }
        fewer = [count for count in place_by_nodes if count < nodes]
        more = [count for count in place_by_nodes if count > nodes]
        if not fewer or not more:
            return set()
        return {place_by_nodes[max(fewer)], place_by_nodes[min(more)]}

    def _better_window(
        self, schedule: Schedule, nodes: int, candidate: Candidate
    ) -> dict[str, Any]:
        """A longer lag or half of the window, where that helps on the first number of nodes asked
        for; {}: neither helps.
        """
        if schedule not in self.better_windows:
            better: dict[str, Any] = {}
            times = []
            for way in self._windows(schedule, candidate):
                tried = self.median(
                    schedule, nodes, candidate.place, candidate.way | way, quick=False
                )
                if tried is not None:
                    times.append((tried.seconds, way))
            if times:
                least, way = min(times, key=lambda time: time[0])
                present, _ = times[0]
                if least * TIE < present:
                    better = way
            self.better_windows[schedule] = better
        return self.better_windows[schedule]

    def _windows(self, schedule: Schedule, candidate: Candidate) -> list[dict[str, Any]]:
        """The window of a way, {}, and others to try; none where there are no others."""
        fixed = self.question.fixed
        ways: list[dict[str, Any]] = []
        if schedule.lagged and "lag" not in fixed:
            ways += [{"lag": lag} for lag in LONGER_LAGS]
        largest = candidate.loads.delay_ratio or 1
        if "delay_ratio" not in fixed and largest > 3:
            ways.append({"delay_ratio": largest // 2})
        return [{}, *ways] if ways else []

    def fastest_exchange_per_lane(self, candidate: Candidate) -> dict[str, str]:
        """Name of the fastest exchange of each lane, by lane name.

        Lanes in which nobody exchanges are left out. The present exchange is kept unless another is
        faster by more than TIE, so that noise of the model changes nothing.
        """
        if candidate.loads.ranks == 1:
            return {}
        net = calls(self.values, candidate.layout)
        fastest = {}
        for number, lane in enumerate(candidate.loads.lanes):
            seconds = self.seconds_by_exchange(candidate, number, net)
            if not seconds:
                continue
            best = min(seconds, key=lambda name: seconds[name])
            present = seconds.get(lane.exchange, np.inf)
            keeps_present = present <= TIE * seconds[best]
            fastest[lane.name] = lane.exchange if keeps_present else best
        return fastest

    def seconds_by_exchange(
        self, candidate: Candidate, number: int, net: Collectives
    ) -> dict[str, float]:
        """Seconds of every exchange that a lane can have; {} where nobody exchanges.

        `number`: of the lane, from 0. `net`: calls between the ranks.
        """
        lane = candidate.loads.lanes[number]
        traffic = exchange.groups(candidate.loads, number, candidate.layout)
        seconds: dict[str, float] = {}
        if not traffic:
            return seconds
        for name in EXCHANGES:
            if lane.lag and name not in OVERLAPPING:
                continue
            with suppress(BadInput):
                seconds[name] = exchange.seconds(net, replace(lane, exchange=name), traffic)
        return seconds

    def best(
        self,
        schedule: Schedule,
        nodes: list[int],
        target: float | None = None,
        near: int | None = None,
    ) -> MiniAppOption | None:
        """The fastest way of a schedule, or the fewest nodes that reach a target in PROBABLE of the
        draws, else in most of them.

        Of ways that are as fast, the one with the fewest nodes. None where nothing is exact.

        Args:
            schedule: the schedule.
            nodes: numbers of nodes that are possible, ascending.
            target: a real-time factor; None: the fastest.
            near: the best number for another schedule, where the search begins.
        """
        goal = 0.0 if target is None else target

        def seconds(count: int) -> float:
            candidate = self.fastest(schedule, count)
            return np.inf if candidate is None else candidate.seconds

        tried: list[int] = []
        for count in _first_counts(nodes, near):
            tried.append(count)
            least = min(seconds(other) for other in tried)
            if seconds(count) <= goal or least < SLOWER_AGAIN * seconds(count) < np.inf:
                break
        while True:  # between the best and its neighbours, until there is nothing between
            exact = [count for count in tried if seconds(count) < np.inf]
            if not exact:
                if near is None:
                    return None
                return self.best(schedule, nodes, target)
            reaching = [count for count in exact if seconds(count) <= goal]
            best = min(reaching) if reaching else min(exact, key=seconds)
            low, high = _neighbours(tried, best)
            if reaching:
                high = best
            between = [count for count in nodes if low < count < high and count not in tried]
            if not between:
                limit = goal if reaching else seconds(best) * TIE
                fewest = min(count for count in exact if seconds(count) <= limit)
                option = self.option(schedule, fewest)
                return option if target is None else self.surest(option, nodes, target, PROBABLE)
            tried.append(_closest_count(between, np.sqrt(max(low, 1) * high)))

    def surest(
        self, first: MiniAppOption, nodes: list[int], target: float, enough: float
    ) -> MiniAppOption:
        """The fewest nodes, from those of `first` on, with which its schedule reaches a target in
        `enough` of the draws, else in most of them.
        """
        if first.reaches(target) >= enough:
            return first
        schedule = first.performance.loads.schedule
        middle = first.median
        spread = float(np.quantile(first.rtf, enough)) / middle
        options = [first]
        fastest = first.nodes
        for count in nodes:
            if count <= first.nodes:
                continue
            candidate = self.fastest(schedule, count)
            if candidate is None or candidate.seconds > middle:
                continue
            middle, fastest = candidate.seconds, count
            if middle > NEARLY_SURE * target / spread:
                continue
            options.append(self.option(schedule, count))
            if options[-1].reaches(target) >= enough:
                break
        if fastest != options[-1].nodes and middle * TIE < first.median:
            options.append(self.option(schedule, fastest))
        return surest_of(options, target, enough)

    def option(self, schedule: Schedule, nodes: int) -> MiniAppOption:
        """The fastest way on so many nodes, with all draws."""
        best = self.fastest(schedule, nodes)
        assert best is not None
        window = self._better_window(schedule, nodes, best)
        if window:
            best = self.median(schedule, nodes, best.place, best.way | window) or best
        changed: dict[str, Any] = {}
        if schedule.name != LANES:
            changed["schedule"] = schedule.name
        changed["placement"] = best.placement
        changed["delay_ratio"] = best.loads.delay_ratio or 1
        changed |= best.way
        return mini_app_option(self.question, self.machine, best.loads, best.layout, changed)


def _least(candidates: Sequence[Candidate]) -> Candidate:
    """The fastest of ways."""
    return min(candidates, key=lambda candidate: candidate.seconds)


def _changes_exchange(loads: Loads, exchanges: dict[str, str]) -> bool:
    """Whether exchanges by lane are others than the present ones."""
    return any(exchanges.get(lane.name, lane.exchange) != lane.exchange for lane in loads.lanes)


def _first_counts(nodes: list[int], near: int | None) -> list[int]:
    """Numbers of nodes with which a search begins, ascending; `near`: about where it should."""
    aims: tuple[float, ...] = FIRST_NODES
    if near is not None:
        aims = (near / 2, near, 2 * near, 8 * near)
    first = {_closest_count(nodes, aim) for aim in aims}
    return sorted(first | {nodes[-1]})


def _closest_count(nodes: list[int], aim: float) -> int:
    """The number of nodes whose logarithm is closest to that of `aim`."""
    return min(nodes, key=lambda count: abs(np.log(count / aim)))


def _neighbours(tried: list[int], count: int) -> tuple[int, int]:
    """The next smaller number that was tried, or 0, and the next larger one, or the number."""
    smaller = [other for other in tried if other < count]
    larger = [other for other in tried if other > count]
    return max(smaller, default=0), min(larger, default=count)


def mini_app(
    question: Question, machine: Profile, target: float | None = None, nodes: int | None = None
) -> SearchResult:
    """The best way of every schedule on a machine, the best first.

    Raises BadInput where nothing is exact.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> result = mini_app(of_preset("mam-benchmark", options=["areas=4"]), jureca, nodes=1)
        >>> sorted(option.way.schedule for option in result.options)
        ['conventional', 'hierarchical', 'overlapped', 'placement_only', 'structure_aware']
    """
    search = Search(question, machine)
    possible = numbers_of_nodes(machine, nodes)
    options: list[MiniAppOption] = []
    for schedule in search.schedules():
        near = options[-1].nodes if options else None
        best = search.best(schedule, possible, target, near)
        if best is not None:
            options.append(best)
    if not options:
        raise search.nothing()
    options = ordered(options, target)
    best = options[0]

    def look_for_surest() -> MiniAppOption:
        return best if target is None else search.surest(best, possible, target, SURE)

    return SearchResult(best, options, look_for_surest, is_given=nodes is not None)
