"""Ways to run a network on a machine: one search over numbers of nodes, schedules, placements and exchanges.

Ways are compared by medians; the best of each schedule is then evaluated with all draws. D is the largest
that is exact, unless one is given. A machine is never asked beyond the nodes that it offers.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.parts import Machine
from spikemark.machines.values import Values
from spikemark.models.loggp import EXCHANGES, OVERLAPPING
from spikemark.network.lanes import largest_between_areas
from spikemark.network.placement import PLACEMENTS
from spikemark.network.ring import synapse_bytes
from spikemark.network.schedules import LANES, SCHEDULES, Schedule, find, square
from spikemark.quantities.quantity import Quantity

from . import anchors, draws, exchange, memory, points
from .draws import Draws, Recorder
from .layout import Layout, threads_of
from .memory import Memory
from .performance import Performance, calls, performance, powered
from .question import Question, machine_of
from .workload import Loads

MOST_NODES = 256
NODES = sorted({*(2**k for k in range(9)), *(3 * 2**k for k in range(7))})
COARSE = (1, 4, 16, 64)  # numbers of nodes to begin with
PRODUCTION = {"nest": "NEST", "dpsnn": "DPSNN"}
MINI_APP = ("mini-app", "mini_app")
MOST_RANKS = 512  # of several on a node
TIE, TIED = 1.02, 1.1  # ways whose medians are as close count as equally fast; of a production simulator
FAR = 2.0  # a layout that takes so many times as long as the best is not tried on more nodes
NEAR = 1.3  # how much longer a way may take than one that would surely reach a target to be looked at
SURE = 0.95  # share of the draws in which a target is to be reached


@dataclass(frozen=True, eq=False)
class Option:
    """A way to run a network on a machine.

    `rtf`: draws of the real-time factor; `parts`: of seconds per simulated second by part; `inputs`: of what
    is uncertain; `events`: synaptic events per simulated second. `changed`: fields of the description, and
    `detail`, of the mini-app. Of a production simulator: the `run` that is predicted, the measured one that
    is most like it, `near`, and in what these differ; `own` are the user's runs among the anchors.
    """

    machine: Any
    question: Question
    nodes: int
    ranks: int
    threads: int
    rtf: Draws
    parts: dict[str, Draws]
    inputs: dict[str, Draws]
    power_w: Draws | float | None
    events: float
    way: dict[str, Any]
    changed: dict[str, Any] = field(default_factory=dict)
    detail: Performance | None = None
    run: points.Run | None = None
    near: points.Run | None = None
    differs: tuple[str, ...] = ()
    own: tuple[points.Run, ...] = ()

    @property
    def median(self) -> float:
        """Of the real-time factor."""
        return float(np.median(self.rtf))

    @cached_property
    def needed(self) -> tuple[Memory | None, str]:
        """Memory of each rank of the mini-app, or why it is not known."""
        if self.detail is None:
            return None, "memory is counted for the mini-app alone"
        try:
            return memory.of_run(self.question.description | self.changed, self.ranks, self.threads), ""
        except BadInput as reason:
            return None, str(reason)

    @property
    def energy_uj(self) -> Draws | None:
        """Energy per synaptic event in microjoule; None where the power is unknown or nothing happens."""
        known = self.power_w is not None and self.events
        return 1e6 * self.power_w * self.rtf / self.events if known else None

    @property
    def node_gb(self) -> float | None:
        """Memory of the fullest node in GB; None where it is not known."""
        found = self.needed[0]
        return None if found is None else 1e-9 * found.node_bytes(self.detail.layout)

    @property
    def fits(self) -> bool | None:
        """Whether that is in a node; None where one of both is not known."""
        room = stated(self.machine, "node.memory")
        return None if room is None or self.node_gb is None else self.node_gb <= room

    def reaches(self, target: float) -> float:
        """Share of the draws that reach a real-time factor."""
        return float((self.rtf <= target).mean())


@dataclass(frozen=True, eq=False)
class Found:
    """An answer of the search on a machine.

    `best`: the fewest nodes that reach the target in half of the draws, else the fastest; of ties, the fewest
    nodes. `sure`: the fewest that reach it in SURE of the draws. `options`: all with draws, the best first:
    one for each schedule of the mini-app, or for each number of nodes of a production simulator.
    """

    best: Option
    sure: Option | None
    options: list[Option]


def stated(machine: Any, path: str) -> float | None:
    """A value of a machine of equal nodes; None where it is not stated."""
    found = None if isinstance(machine, Machine) else machine.get(path)
    return None if found is None else found.value


def counts(machine: Any, nodes: int | None) -> list[int]:
    """Numbers of nodes to try: exactly `nodes`, or all up to what is offered (MOST_NODES if not stated)."""
    most = round(stated(machine, "offer.nodes") or MOST_NODES)
    if nodes is None:
        return sorted({*(n for n in NODES if n <= most), most})
    if nodes > most:
        raise BadInput(f"nodes={nodes}: expected up to {most}, which {machine.name} has")
    return [nodes]


def option(
    question: Question, machine: Any, loads: Loads, layout: Layout, changed: dict[str, Any] | None = None,
    means: np.ndarray | None = None,
) -> Option:  # fmt: skip
    """One way of the mini-app with all draws."""
    found = performance(loads, machine, layout, means=means)
    way = {
        "schedule": loads.schedule.name, "placement": loads.placement, "delay_ratio": loads.delay_ratio,
        "lag": loads.description.lag if loads.schedule.lagged else None,
        "exchange": {lane.name: lane.exchange for lane in loads.lanes if not lane.alone} or None,
    }  # fmt: skip
    return Option(
        machine, question, layout.nodes, loads.ranks, loads.threads, found.real_time_factor, found.parts,
        found.inputs, found.power_w, loads.events_per_s, way, changed or {}, found,
    )  # fmt: skip


class Tried(NamedTuple):
    """A way and its median real-time factor; `way`: further fields of the description."""

    seconds: float
    placement: str
    each: int  # ranks on a node
    way: dict[str, Any]
    loads: Loads
    layout: Layout


class Search:
    """What is tried for a question on a machine of equal nodes, by medians."""

    def __init__(self, question: Question, machine: Any) -> None:
        self.question, self.machine, self.values = question.free, machine, Values(machine)
        self.counting = self.question.counting
        self.synapse_bytes = synapse_bytes(self.counting.description.network)
        self.tried: dict[tuple[Schedule, int], Tried | None] = {}
        self.near: dict[Schedule, set[tuple[str, int]]] = {}
        self.windows: dict[Schedule, dict[str, Any]] = {}

    def schedules(self) -> list[Schedule]:
        """Those to try: the given one, or all."""
        given, own = self.question.fixed.get("schedule"), self.question.description.get("schedule")
        every = [*SCHEDULES.values(), *([find(own)] if isinstance(own, list) else [])]
        return every if given is None else [find(given)]

    def places(self, schedule: Schedule) -> list[tuple[str, int]]:
        """Placements to try with a schedule, and ranks on a node: one, one per socket, and about one for
        every part of its memory. Of schedules with the same lanes, each placement has one."""
        names = list(PLACEMENTS)
        if "placement" in self.question.fixed:
            names = [self.counting.description.placement]
        elif "schedule" not in self.question.fixed:
            same = [s for s in SCHEDULES.values() if s.lanes == schedule.lanes] or [schedule]
            owner = {n: next((s for s in same if s.placement == n), same[-1]) for n in PLACEMENTS}
            names = [name for name in names if owner[name] == schedule]
        cores = round(self.values.need("node.cores", "placing ranks"))
        sockets = round(self.values.get("node.sockets", 1))
        return [(name, n) for name in names for n in {1, sockets, square(cores)} if n <= cores]

    def median(
        self, schedule: Schedule, nodes: int, placement: str, each: int, way: dict, quick: bool = True
    ) -> Tried | None:  # fmt: skip
        """A way by its medians; None for what is not exact or does not fit into the memory."""
        with suppress(BadInput):
            threads = threads_of(self.machine, each)
            loads = self.counting.loads(nodes * each, threads, schedule, placement, **way)
            layout = Layout.of(self.machine, nodes * each, threads, each)
            held = np.bincount(layout.node_of, loads.synapses).max()
            room = stated(self.machine, "node.memory")
            if room is None or 1e-9 * held * self.synapse_bytes <= room:
                made = performance(loads, self.machine, layout, drawn=False, quick=quick)
                return Tried(float(made.real_time_factor[0]), placement, each, way, loads, layout)
        return None

    def fastest(self, schedule: Schedule, nodes: int) -> Tried | None:
        """The fastest way of a schedule on so many nodes: of all placements and layouts, then with the
        fastest exchange of each lane. Between two numbers of nodes that were tried, only the placements and
        layouts that are the fastest there."""
        if (schedule, nodes) not in self.tried:
            known = {n: (one.placement, one.each) for (of, n), one in self.tried.items()
                     if of == schedule and one}  # fmt: skip
            below, above = (n for n in known if n < nodes), (n for n in known if n > nodes)
            ends = max(below, default=None), min(above, default=None)
            places = self.near.get(schedule) or self.places(schedule)
            places = places if None in ends else {known[n] for n in ends}
            every = [self.median(schedule, nodes, *place, {})
                     for place in sorted(places) if place[1] * nodes <= MOST_RANKS]  # fmt: skip
            if every := [one for one in every if one]:
                least = min(every, key=lambda one: one.seconds)
                if None in ends:
                    limit = FAR * least.seconds
                    self.near[schedule] = {(o.placement, o.each) for o in every if o.seconds <= limit}
                if "exchange" not in self.question.fixed and (other := self._exchanges(least)):
                    way = {"exchange": other}
                    every += filter(None, [self.median(schedule, nodes, *least[1:3], way)])
            self.tried[schedule, nodes] = min(every, key=lambda one: one.seconds, default=None)
        return self.tried[schedule, nodes]

    def _window(self, schedule: Schedule, nodes: int, found: Tried) -> dict[str, Any]:
        """A longer lag or half of the window, where that helps on the first number of nodes asked for."""
        if schedule not in self.windows:
            fixed, largest = self.question.fixed, found.loads.delay_ratio or 1
            ways = [{"lag": lag} for lag in (2, 3) if schedule.lagged and "lag" not in fixed]
            ways += [{"delay_ratio": largest // 2}] * ("delay_ratio" not in fixed and largest > 3)
            times = [(one.seconds, way) for way in [{}, *ways] if ways and (one := self.median(
                schedule, nodes, *found[1:3], found.way | way, quick=False))]  # fmt: skip
            least, way = min(times, key=lambda one: one[0], default=(0.0, {}))
            self.windows[schedule] = way if way and least * TIE < times[0][0] else {}
        return self.windows[schedule]

    def _exchanges(self, least: Tried) -> dict[str, str]:
        """The fastest exchange of each lane in which ranks exchange; {} if these are the present ones."""
        loads, layout, found = least.loads, least.layout, {}
        net = calls(self.values, layout) if loads.ranks > 1 else None
        for number, lane in enumerate(loads.lanes):
            traffic, times = exchange.groups(loads, number, layout), {}
            for name in EXCHANGES if traffic else ():
                if not lane.lag or name in OVERLAPPING:
                    with suppress(BadInput):
                        times[name] = exchange.seconds(net, replace(lane, exchange=name), traffic)
            if times:
                own = times.get(lane.exchange, float("inf")) <= TIE * min(times.values())
                found[lane.name] = lane.exchange if own else min(times, key=times.get)
        same = all(found.get(lane.name, lane.exchange) == lane.exchange for lane in loads.lanes)
        return {} if same else found

    def best(
        self, schedule: Schedule, nodes: list[int], target: float | None = None, near: int | None = None
    ) -> Option | None:  # fmt: skip
        """The fastest way of a schedule, or the fewest nodes that reach a target in half of the draws.

        Of ways that are as fast, the one with the fewest nodes. None where nothing is exact. `near`: the best
        number for another schedule, where the search begins.
        """
        aim = 0.0 if target is None else target
        begin = COARSE if near is None else (near / 2, near, 2 * near, 8 * near)
        coarse = {min(nodes, key=lambda n, at=at: abs(np.log(n / at))) for at in begin} | {nodes[-1]}

        def of(count: int) -> float:
            found = self.fastest(schedule, count)
            return float("inf") if found is None else found.seconds

        seen: list[int] = []
        for count in sorted(coarse):
            seen.append(count)
            if of(count) <= aim or min(map(of, seen)) < 0.8 * of(count) < np.inf:
                break
        while exact := [n for n in seen if of(n) < np.inf]:
            # then between the best and its neighbours, until there is nothing between
            reached = [n for n in exact if of(n) <= aim]
            at = min(reached, default=min(exact, key=of))
            place = sorted(seen).index(at)
            low = sorted(seen)[place - 1] if place else 0
            high = at if reached else sorted(seen)[min(len(seen) - 1, place + 1)]
            between = [n for n in nodes if low < n < high and n not in seen]
            if not between:
                limit = aim if reached else of(at) * TIE
                return self.option(schedule, min(n for n in exact if of(n) <= limit))
            seen.append(min(between, key=lambda n: abs(np.log(n / np.sqrt(max(low, 1) * high)))))
        return None if near is None else self.best(schedule, nodes, target)

    def surely(self, best: Option, nodes: list[int], target: float) -> Option | None:
        """The fewest nodes with which the schedule of `best` reaches a target in SURE of the draws.

        None where more nodes no longer help before.
        """
        schedule, middle = best.detail.loads.schedule, best.median
        spread = float(np.quantile(best.rtf, SURE)) / middle
        for count in [n for n in nodes if n >= best.nodes]:
            found = self.fastest(schedule, count)
            if found is None or (found.seconds > middle and count > best.nodes):
                continue
            middle = min(middle, found.seconds)
            if count == best.nodes or middle <= NEAR * target / spread:
                now = best if count == best.nodes else self.option(schedule, count)
                if now.reaches(target) >= SURE:
                    return now
        return None

    def option(self, schedule: Schedule, nodes: int) -> Option:
        """The fastest way on so many nodes, with all draws."""
        best = self.fastest(schedule, nodes)
        if window := self._window(schedule, nodes, best):
            best = self.median(schedule, nodes, *best[1:3], best.way | window) or best
        _, placement, _, way, loads, layout = best
        changed = {} if schedule.name == LANES else {"schedule": schedule.name}
        changed |= {"placement": placement, "delay_ratio": loads.delay_ratio or 1, **way}
        return option(self.question, self.machine, loads, layout, changed)


def ordered(options: list[Option], target: float | None, tie: float = TIE) -> list[Option]:
    """The best first: the fewest nodes that reach the target in half of the draws, else the fastest, within a
    factor `tie`; of ties, the fewest nodes."""
    fastest = min((one.median for one in options), default=0.0)
    limit = target if target is not None and fastest <= target else tie * fastest
    return sorted(
        options, key=lambda one: (one.median > limit, one.nodes * (one.median <= limit), one.median)
    )


def found(
    question: Question, machine: Any, simulator: str, target: float | None = None, nodes: int | None = None,
    own: Any = None,
) -> Found:  # fmt: skip
    """The answer for the mini-app or a production simulator, from `mini_app` or `anchored`."""
    if simulator in MINI_APP:
        return mini_app(question, machine, target, nodes)
    return anchored(question, machine, simulator, target, nodes, own)


def mini_app(
    question: Question, machine: Any, target: float | None = None, nodes: int | None = None
) -> Found:
    """The best way of every schedule on a machine, the best first. Raises BadInput where nothing is exact."""
    search, tried, options = Search(question, machine), counts(machine, nodes), []
    for schedule in search.schedules():
        near = options[-1].nodes if options else None
        options += filter(None, [search.best(schedule, tried, target, near)])
    options = ordered(options, target)
    if not options:
        raise BadInput(f"nodes: no schedule of {question.title} is exact and fits on {machine.name}")
    sure = None if target is None else search.surely(options[0], tried, target)
    return Found(options[0], sure, options)


def anchored(
    question: Question, machine: Any, simulator: str, target: float | None = None, nodes: int | None = None,
    own: Any = None, version: str = "",
) -> Found:  # fmt: skip
    """A production simulator on all numbers of nodes that are offered, from measured runs.

    `own`: a table of the user's runs. Raises BadInput without any anchor.
    """
    named = PRODUCTION.get(simulator.lower(), simulator)
    run = question.simulated_by(named, version, machine_of(machine), 1)
    runs = [run.with_nodes(count) for count in counts(machine, nodes)]
    mine = () if own is None else tuple(points.own_runs(own, like=run))
    made, record, options = anchors.predict(runs, own=mine), Recorder(), []
    values, loads = Values(machine, record), question.counting.loads(1, 1, "conventional", "round_robin")
    for at, one in enumerate(runs):
        power = powered(values, Layout.of(machine, one.ranks, one.threads, one.ranks // one.nodes))
        parts = {"kernel": made.kernel[at] * made.noise[at], "exchange": made.exchange[at] * made.noise[at]}
        options.append(Option(
            machine, question, one.nodes, one.ranks, one.threads, made.total[at], parts,
            made.inputs | record.inputs, power, loads.events_per_s, {"schedule": "conventional"}, run=one,
            near=made.nearest[at], differs=made.differs[at], own=mine,
        ))  # fmt: skip
    options = ordered(options, target, TIED)
    reached = [one for one in options if target is not None and one.reaches(target) >= SURE]
    return Found(options[0], min(reached, key=lambda one: one.nodes, default=None), options)


def largest_window(question: Question) -> int | None:
    """The largest D that is exact between areas; None without synapses between areas, or where D is 1."""
    largest = largest_between_areas(question.known)
    return largest if largest and largest > 1 else None


def by_schedule(asked: Found, changes: dict[str, Quantity] | None = None) -> Found:
    """What structure-aware schedules would make of a production simulator, which exchanges every cycle.

    `changes`: run times over those of now, from a replay of its cycle times (prediction/replayed.py). Without
    them, a bound: if its cycles were independent, waiting and exchange would take 1 / sqrt(D) of what they
    take now (Lober et al. 2026, eq. 11). `way["from"]` says which.
    """
    best, largest, options = asked.best, largest_window(asked.best.question), [asked.best]

    def add(name: str, parts: dict[str, Draws], origin: str) -> None:
        way = {"schedule": name, "delay_ratio": largest, "from": origin}
        options.append(replace(best, rtf=sum(parts.values()), parts=parts, way=way))

    if changes is None and largest is not None:
        add("structure_aware", best.parts | {"exchange": best.parts["exchange"] / largest**0.5}, "bound")
    for name, change in (changes or {}).items():
        ends = (change.low, change.high) if change.low else (1, 1)
        factor = draws.log_normal(f"replay/{name}", change.value, *ends)
        add(name, {part: factor * values for part, values in best.parts.items()}, "replay")
    return replace(asked, options=options)
