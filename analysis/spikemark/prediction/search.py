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
from .workload import Counting, Loads

MOST_NODES = 256
NODES = sorted({*(2**k for k in range(9)), *(3 * 2**k for k in range(7))})
PRODUCTION = {"nest": "NEST", "dpsnn": "DPSNN"}
MINI_APP = ("mini-app", "mini_app")
MOST_RANKS = 512  # of several on a node
TIE, TIED = 1.02, 1.1  # ways whose medians are as close count as equally fast; of a production simulator
NEAR = 1.3  # how much longer a way may take than one that would surely reach a target to be looked at
SURE = 0.95  # share of the draws in which a target is to be reached


@dataclass(frozen=True, eq=False)
class Option:
    """A way to run a network on a machine.

    `rtf`: draws of the real-time factor; `parts`: of seconds per simulated second by part; `inputs`: of what
    is uncertain; `events`: synaptic events per simulated second. `detail`: of the mini-app. Of a production
    simulator: the `run` that is predicted, the measured one that is most like it, `near`, and in what these
    differ; `own` are the user's runs among the anchors.
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
    changed: dict[str, Any] = field(default_factory=dict)  #: fields of the description of the mini-app
    detail: Performance | None = None
    run: points.Run | None = None
    near: points.Run | None = None
    differs: tuple[str, ...] = ()
    own: tuple[points.Run, ...] = ()

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
        if self.power_w is None or not self.events:
            return None
        return 1e6 * self.power_w * self.rtf / self.events

    @property
    def node_gb(self) -> float | None:
        """Memory of the fullest node in GB; None where it is not known."""
        found = self.needed[0]
        return None if found is None else 1e-9 * found.node_bytes(self.detail.layout)

    @property
    def fits(self) -> bool | None:
        """Whether that is in a node; None where one of both is not known."""
        room = _stated(self.machine, "node.memory")
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


def _stated(machine: Any, path: str) -> float | None:
    """A value of a machine of equal nodes; None where it is not stated."""
    found = None if isinstance(machine, Machine) else machine.get(path)
    return None if found is None else found.value


def counts(machine: Any, nodes: int | None) -> list[int]:
    """Numbers of nodes to try: exactly `nodes`, or all up to what is offered (MOST_NODES if not stated)."""
    most = round(_stated(machine, "offer.nodes") or MOST_NODES)
    if nodes is None:
        return sorted({*(n for n in NODES if n <= most), most})
    if nodes > most:
        raise BadInput(f"nodes={nodes}: expected up to {most}, which {machine.name} has")
    return [nodes]


# -- the mini-app


def option(
    question: Question, machine: Any, loads: Loads, layout: Layout, changed: dict[str, Any] | None = None,
    means: np.ndarray | None = None,
) -> Option:  # fmt: skip
    """One way of the mini-app with all draws."""
    found = performance(loads, machine, layout, means=means)
    names = {lane.name: lane.exchange for lane in loads.lanes if not lane.alone}
    shown = {"schedule": loads.schedule.name, "placement": loads.placement, "delay_ratio": loads.delay_ratio}
    shown |= {"lag": loads.description.lag if loads.schedule.lagged else None, "exchange": names or None}
    return Option(
        machine, question, layout.nodes, loads.ranks, loads.threads, found.real_time_factor, found.parts,
        found.inputs, found.power_w, loads.events_per_s, shown, changed or {}, found,
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
        self.question, self.machine = question, machine
        free = {n: value for n, value in question.description.items() if n not in ("placement", "lag")}
        self.description = free | {"delay_ratio": "auto"} | question.fixed
        self.counting = Counting(self.description, question.rates.hz)
        self.values = Values(machine)
        self.synapse_bytes = synapse_bytes(self.counting.description.network)
        self.tried: dict[tuple[Schedule, int], Tried | None] = {}

    def schedules(self) -> list[Schedule]:
        """Those to try: the given one, or all."""
        given = self.question.fixed.get("schedule")
        if given is not None:
            return [find(given)]
        own = self.question.description.get("schedule")
        return [*SCHEDULES.values(), *([find(own)] if isinstance(own, list) else [])]

    def placements(self, schedule: Schedule) -> list[str]:
        """Placements to try with a schedule; of schedules with the same lanes, each placement has one."""
        if "placement" in self.question.fixed:
            return [self.counting.description.placement]
        if "schedule" in self.question.fixed:
            return list(PLACEMENTS)
        same = [s for s in SCHEDULES.values() if s.lanes == schedule.lanes] or [schedule]
        owner = {n: next((s for s in same if s.placement == n), same[-1]) for n in PLACEMENTS}
        return [name for name in PLACEMENTS if owner[name] == schedule]

    def layouts(self) -> list[int]:
        """Ranks on a node: one, one per socket, and about one for every part of its memory."""
        cores = round(self.values.need("node.cores", "placing ranks"))
        sockets = round(self.values.get("node.sockets", 1))
        return sorted({n for n in (1, sockets, square(cores)) if n <= cores})

    def median(self, schedule: Schedule, nodes: int, placement: str, each: int, way: dict) -> Tried | None:
        """A way by its medians; None for what is not exact or does not fit into the memory."""
        with suppress(BadInput):
            threads = threads_of(self.machine, each)
            loads = self.counting.loads(nodes * each, threads, schedule, placement, **way)
            layout = Layout.of(self.machine, nodes * each, threads, each)
            held = np.bincount(layout.node_of, loads.synapses).max()
            room = _stated(self.machine, "node.memory")
            if room is None or 1e-9 * held * self.synapse_bytes <= room:
                made = performance(loads, self.machine, layout, drawn=False)
                return Tried(float(made.real_time_factor[0]), placement, each, way, loads, layout)
        return None

    def fastest(self, schedule: Schedule, nodes: int) -> Tried | None:
        """The fastest way of a schedule on so many nodes: of all placements and layouts, then with the
        fastest exchange of each lane, and with a longer lag or a shorter window where that helps. Between two
        numbers of nodes that were tried, only the placements and layouts that are the fastest there."""
        if (schedule, nodes) not in self.tried:
            known = {n: one for (of, n), one in self.tried.items() if of == schedule and one}
            ends = [known[n] for n in (max((n for n in known if n < nodes), default=0),
                                       min((n for n in known if n > nodes), default=0)) if n]  # fmt: skip
            places = {(one.placement, one.each) for one in ends} if len(ends) == 2 else {
                (placement, each) for placement in self.placements(schedule) for each in self.layouts()
            }  # fmt: skip
            every = [self.median(schedule, nodes, *place, {})
                     for place in sorted(places) if place[1] * nodes <= MOST_RANKS]  # fmt: skip
            every = [one for one in every if one]
            if every:
                least = min(every, key=lambda one: one.seconds)
                ways = self._others(schedule, least)
                every += filter(None, (self.median(schedule, nodes, *least[1:3], way) for way in ways))
            self.tried[schedule, nodes] = min(every, key=lambda one: one.seconds, default=None)
        return self.tried[schedule, nodes]

    def _others(self, schedule: Schedule, least: Tried) -> list[dict[str, Any]]:
        fixed, ways = self.question.fixed, [{}]
        if "exchange" not in fixed:
            ways.append({"exchange": self._exchanges(least)})
        if schedule.lagged and "lag" not in fixed:
            ways += [ways[-1] | {"lag": lag} for lag in (2, 3)]
        largest = least.loads.delay_ratio or 1
        if "delay_ratio" not in fixed and largest > 3:
            ways.append(ways[-1] | {"delay_ratio": largest // 2})
        return ways[1:]

    def _exchanges(self, least: Tried) -> dict[str, str]:
        """The exchange that takes the least time in each lane in which ranks exchange, by lane."""
        loads, layout, found = least.loads, least.layout, {}
        net = calls(self.values, layout) if loads.ranks > 1 else None
        for number, lane in enumerate(loads.lanes):
            traffic = exchange.groups(loads, number, layout)
            times = {}
            for name in EXCHANGES if traffic else ():
                if not lane.lag or name in OVERLAPPING:
                    with suppress(BadInput):
                        times[name] = exchange.seconds(net, replace(lane, exchange=name), traffic)
            if times:
                own = times.get(lane.exchange, float("inf")) <= TIE * min(times.values())
                found[lane.name] = lane.exchange if own else min(times, key=times.get)
        return found

    def best(self, schedule: Schedule, nodes: list[int], target: float | None = None) -> Option | None:
        """The fastest way of a schedule, or the fewest nodes that reach a target in half of the draws.

        Of ways that are as fast, the one with the fewest nodes. None where nothing is exact.
        """

        def of(count: int) -> float:
            found = self.fastest(schedule, count)
            return float("inf") if found is None else found.seconds

        seen: list[int] = []
        for count in [n for n in nodes if n in (1, 4, 16, 64) or n == nodes[-1]]:
            seen.append(count)
            if (target is not None and of(count) <= target) or min(map(of, seen)) < 0.8 * of(count) < np.inf:
                break
        while exact := [n for n in seen if of(n) < np.inf]:
            # then between the best and its neighbours, until there is nothing between
            reached = [n for n in exact if target is not None and of(n) <= target]
            at = min(reached, default=min(exact, key=of))
            place = sorted(seen).index(at)
            low = sorted(seen)[max(0, place - 1)]
            high = at if reached else sorted(seen)[min(len(seen) - 1, place + 1)]
            between = [n for n in nodes if low < n < high and n not in seen]
            if not between:
                limit = target if reached else of(at) * TIE
                return self.option(schedule, min(n for n in exact if of(n) <= limit))
            seen.append(min(between, key=lambda n: abs(np.log(n / np.sqrt(low * high)))))
        return None

    def surely(self, best: Option, nodes: list[int], target: float) -> Option | None:
        """The fewest nodes with which the schedule of `best` reaches a target in SURE of the draws.

        None where more nodes no longer help before.
        """
        schedule, middle = best.detail.loads.schedule, float(np.median(best.rtf))
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
        _, placement, _, way, loads, layout = self.fastest(schedule, nodes)
        changed = {} if schedule.name == LANES else {"schedule": schedule.name}
        changed |= {"placement": placement, "delay_ratio": loads.delay_ratio or 1, **way}
        asked = replace(self.question, description=self.description)
        return option(asked, self.machine, loads, layout, changed)


def mini_app(
    question: Question, machine: Any, target: float | None = None, nodes: int | None = None
) -> Found:
    """The best way of every schedule on a machine, the best first. Raises BadInput where nothing is exact."""
    search, tried = Search(question, machine), counts(machine, nodes)
    found = [search.best(schedule, tried, target) for schedule in search.schedules()]
    options = ordered([one for one in found if one is not None], target)
    if not options:
        raise BadInput(f"nodes: no schedule of {question.title} is exact and fits on {machine.name}")
    sure = None if target is None else search.surely(options[0], tried, target)
    return Found(options[0], sure, options)


def ordered(options: list[Option], target: float | None, tie: float = TIE) -> list[Option]:
    """The best first: the fewest nodes that reach the target in half of the draws, else the fastest, within a
    factor `tie`; of ties, the fewest nodes."""
    middle = {id(one): float(np.median(one.rtf)) for one in options}
    fastest = min(middle.values(), default=0.0)
    limit = target if target is not None and fastest <= target else tie * fastest

    def key(one: Option) -> tuple[bool, int, float]:
        time = middle[id(one)]
        return time > limit, one.nodes * (time <= limit), time

    return sorted(options, key=key)


# -- a production simulator


def anchored(
    question: Question, machine: Any, simulator: str, target: float | None = None, nodes: int | None = None,
    own: Any = None, version: str = "",
) -> Found:  # fmt: skip
    """A production simulator on all numbers of nodes that are offered, from measured runs.

    `own`: a table of the user's runs. Raises anchors.NoAnchor, with the run to make, without any anchor.
    """
    named = PRODUCTION.get(simulator.lower(), simulator)
    run = question.simulated_by(named, version, machine_of(machine), 1)
    runs = [run.with_nodes(count) for count in counts(machine, nodes)]
    mine = () if own is None else tuple(points.own_runs(own, like=run))
    made, record, options = anchors.predict(runs, own=mine), Recorder(), []
    values, events = Values(machine, record), question.counting.loads(1, 1, "conventional", "round_robin")
    for at, one in enumerate(runs):
        power = powered(values, Layout.of(machine, one.ranks, one.threads, one.ranks // one.nodes))
        parts = {"kernel": made.kernel[at] * made.noise[at], "exchange": made.exchange[at] * made.noise[at]}
        options.append(Option(
            machine, question, one.nodes, one.ranks, one.threads, made.total[at], parts,
            made.inputs | record.inputs, power, events.events_per_s, {"schedule": "conventional"}, run=one,
            near=made.nearest[at], differs=made.differs[at], own=mine,
        ))  # fmt: skip
    options = ordered(options, target, TIED)
    reached = [one for one in options if target is not None and one.reaches(target) >= SURE]
    return Found(options[0], min(reached, key=lambda one: one.nodes, default=None), options)


def found(
    question: Question, machine: Any, simulator: str, target: float | None = None, nodes: int | None = None,
    own: Any = None,
) -> Found:  # fmt: skip
    """The answer for the mini-app or a production simulator, from `mini_app` or `anchored`."""
    if simulator in MINI_APP:
        return mini_app(question, machine, target, nodes)
    return anchored(question, machine, simulator, target, nodes, own)


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
    best, largest = asked.best, largest_window(asked.best.question)
    made = {}
    if changes is None and largest is not None:
        bound = best.parts | {"exchange": best.parts["exchange"] / largest**0.5}
        made["structure_aware"] = bound, "bound"
    for name, change in (changes or {}).items():
        factor = draws.log_normal(f"replay/{name}", change.value, *((change.low, change.high) if change.low
                                                                     else (1, 1)))  # fmt: skip
        made[name] = {part: factor * values for part, values in best.parts.items()}, "replay"
    options = [
        replace(best, rtf=sum(parts.values()), parts=parts,
                way={"schedule": name, "delay_ratio": largest, "from": origin})
        for name, (parts, origin) in made.items()
    ]  # fmt: skip
    return replace(asked, options=[best, *options])
