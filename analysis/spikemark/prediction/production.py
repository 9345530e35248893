"""A production program on nodes, processes and threads, scaled from its measured runs.

NEST and DPSNN run as they are: a rank on each socket, one exchange in each cycle. Their times on
any number of nodes follow from published runs and the user's own (anchors.py). What another
schedule would make of them is a bound, or a replay of their cycle times (replayed.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values, limits
from spikemark.network.lanes import largest_between_areas
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, number, with_ends

from . import anchors, draws, points
from .draws import Draws, Recorder
from .layout import AnyMachine, MachineLayout
from .memory import Memory
from .option import (
    BOUND,
    MEMORY_BANDWIDTHS,
    REPLAY,
    SURE,
    Anchor,
    Option,
    SearchResult,
    Way,
    is_near,
    named_inputs,
    numbers_of_nodes,
    ordered,
    surest_of,
)
from .performance import powered
from .points import PublishedRun
from .program_costs import find
from .published_machine import PATHS, ignored_values, machine_of
from .question import Question
from .wording import interval

PRODUCTION_TIE = 1.1  #: production runs whose medians are as close count as equally fast
NO_MEMORY = "nobody has measured the memory of this program"
MEMORY = "node.memory"
SAME_SIZE = 0.99  #: share of the synapses of a network from which on another one is as large


class OwnTable(NamedTuple):
    """A table of the user's runs."""

    file: Path
    machine: Profile  #: on which they were made


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductionOption(Option):
    """Nodes, processes and threads of a production program, with draws of what they take."""

    run: PublishedRun  #: what is predicted
    nearest: Anchor  #: the measured run that is most like it
    own: tuple[PublishedRun, ...] = ()  #: the user's runs among the anchors

    @property
    def needed(self) -> tuple[Memory | None, str]:
        """Memory of each rank, which has an equal share, or that nobody knows it."""
        need = node_need_gb(self.run)
        if need is None:
            return None, NO_MEMORY
        of_rank = 1e9 * need[0] * self.nodes / self.ranks
        stays = np.full(self.ranks, of_rank)
        return Memory(stays, np.zeros(self.ranks), self.run.network.synapses), ""

    @property
    def node_gb(self) -> float | None:
        """Memory of a node in GB; None where it is not known."""
        need = node_need_gb(self.run)
        return None if need is None else need[0]

    @property
    def fits(self) -> bool | None:
        """Whether a node surely has the memory that is needed, or surely not; None: unsure."""
        return fits(self.run, self.machine, self.own)

    @property
    def program(self) -> str:
        """The id of the program."""
        return self.run.program

    @property
    def program_title(self) -> str:
        """The program in a sentence."""
        return self.run.title

    @property
    def version(self) -> str:
        """The version that is predicted."""
        return self.run.version

    @property
    def advice(self) -> str:
        """What the run would take."""
        took = f"{self.title} would take {interval(self.rtf)} times real time"
        return f"{took} for {self.question.sized} on {self.place}."

    @property
    def rests_on(self) -> str:
        """The measured run that is most like it."""
        return self.nearest.sentence

    @property
    def anchor(self) -> Anchor:
        """The same as data."""
        return self.nearest

    @property
    def remarks(self) -> list[str]:
        """What the profile contradicts or leaves open, and whether memory may be too small."""
        remarks = super().remarks
        if isinstance(self.machine, Profile):
            remarks += [
                f"{self.machine.name}: {path} is stated, but not used: measured_as is"
                f" {self.machine.measured_as}, whose profile does not state it"
                for path in ignored_values(self.machine)
            ]
        return remarks + may_not_fit(self.run, self.machine, self.own)

    @property
    def counts_bandwidth(self) -> bool:
        """Whether the times follow from the bandwidth of the memory, too."""
        return any(path in MEMORY_BANDWIDTHS for path in PATHS.values())

    @property
    def beyond_data(self) -> dict[str, float]:
        """What the runs on the machine took over what its data make expected, by part."""
        return anchors.beyond_data(self.run, self.own)

    def further_content(self) -> dict[str, Any]:
        """The measured run."""
        return {"anchor": self.nearest.content()}

    def way_content(self) -> dict[str, Any]:
        """The schedule; of another one than the program's own, also D and what the times are."""
        content: dict[str, Any] = {"schedule": self.way.schedule}
        if self.way.origin:
            content |= {"delay_ratio": self.way.delay_ratio, "from": self.way.origin}
        return content

    def nodes_for_run(self, seconds: float) -> list[int]:
        """Numbers of nodes on which the network may fit and be run in so many seconds, the fewest
        first.

        Building it comes on top.
        """
        runs = [self.run.with_nodes(count) for count in numbers_of_nodes(self.machine, None)]
        runs = [run for run in runs if fits(run, self.machine, self.own) is not False]
        if not runs:
            return []
        time = self.question.known.time
        simulated_s = 1e-3 * (time.simulate_ms + time.warmup_ms)
        medians = np.median(anchors.predict(runs, self.own).total, axis=1)
        in_time = zip(runs, (medians * simulated_s <= seconds).tolist(), strict=True)
        return [run.nodes for run, is_in_time in in_time if is_in_time]

    def rtf_after_run(self, nodes: int) -> Draws:
        """The real-time factor, were the program run there on so many nodes."""
        made = [self.run.with_nodes(nodes)]
        after: Draws = anchors.predict([self.run], self.own, more=made).total[0]
        return after


def node_need_gb(run: PublishedRun) -> tuple[float, float, float] | None:
    """Memory that a run needs on a node in GB, with its 95 % interval; None: nobody knows.

    Example:
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> middle, low, high = node_need_gb(run)
        >>> low < middle < high
        True
    """
    memory = find(run.program).memory
    if memory is None:
        return None
    middle, low, high = memory.gigabytes(run.network.neurons, run.network.synapses)
    return middle / run.nodes, low / run.nodes, high / run.nodes


def fits(run: PublishedRun, machine: AnyMachine, own: Sequence[PublishedRun] = ()) -> bool | None:
    """Whether nodes have the memory that a run needs: None where neither is sure.

    They have it where the program ran this network there, on as many nodes or fewer; `own`: the
    user's runs.

    Example:
        >>> from spikemark import machines
        >>> runs = [run for run in points.published() if run.machine.name == "jureca-dc"]
        >>> fits(runs[0], machines.filled(machines.load("jureca-dc"))) is False
        False
    """
    need = node_need_gb(run)
    room = machine.values.get(MEMORY)
    if need is None or room is None:
        return None
    if _did_fit(run, room, own):
        return True
    _, low_gb, high_gb = need
    least_gb, most_gb = limits(MEMORY, room, machine.values)
    if high_gb <= least_gb:
        return True
    return False if low_gb > most_gb else None


def _did_fit(run: PublishedRun, room: Value, own: Sequence[PublishedRun]) -> bool:
    """Whether a network as large ran on no more nodes of the machine, with the same memory."""
    measured = [other for other in own if other.machine.name == run.machine.name]
    if not run.machine.is_offer:
        of_profile = _memory_of(run.machine.name)
        if of_profile is not None and of_profile.agrees(room):
            measured += [
                other for other in points.published() if other.machine.name == run.machine.name
            ]
    return any(
        other.program == run.program
        and other.network.model == run.network.model
        and other.network.synapses >= SAME_SIZE * run.network.synapses
        and other.nodes <= run.nodes
        for other in measured
    )


@cache
def _memory_of(machine: str) -> Value | None:
    """The memory of a node of a measured machine; None where nobody knows it."""
    return machines.filled(machines.load(machine)).values.get(MEMORY)


def may_not_fit(
    run: PublishedRun, machine: AnyMachine, own: Sequence[PublishedRun] = ()
) -> list[str]:
    """A remark where nodes have more memory than a run needs at least, and less than at most.

    Example:
        >>> from spikemark import machines
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> may_not_fit(run.with_nodes(64), machines.load("jureca-dc"))
        []
    """
    need = node_need_gb(run)
    if need is None or MEMORY not in machine.values or fits(run, machine, own) is not None:
        return []
    needed = with_ends(*(number(gigabytes, 2) for gigabytes in need))
    room = machine.values[MEMORY]
    ends = limits(MEMORY, room, machine.values)
    room_gb = with_ends(*(number(end, 3) for end in (room.value, *ends)))
    return [
        f"{machine.name}: {run.title} may not fit on {counted(run.nodes, 'node')}: it needs"
        f" {needed} GB on each, which has {room_gb} GB"
    ]


def refuse_unfit(run: PublishedRun, machine: AnyMachine, title: str) -> None:
    """Raises BadInput for a run of the network `title` that surely does not fit on its nodes.

    Example:
        >>> from spikemark import machines
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> refuse_unfit(run, machines.load("jureca-dc"), "a network")
    """
    need = node_need_gb(run)
    if need is None or fits(run, machine) is not False:
        return
    where = f"each of {run.nodes} nodes"
    if run.nodes == 1:
        where = "one node"
    raise BadInput(
        field=MEMORY,
        value=f"{machine.values[MEMORY].value:g} GB",
        reason=f"{run.title} needs at least {number(need[1])} GB for {title} on {where}",
        expected="more memory, or more nodes",
        code="range",
    )


def _fitting(
    runs: Sequence[PublishedRun], machine: Profile, title: str, own: Sequence[PublishedRun]
) -> list[PublishedRun]:
    """The runs that may fit into the memory of their nodes. Raises BadInput where none does."""
    fitting = [run for run in runs if fits(run, machine, own) is not False]
    if not fitting:
        refuse_unfit(max(runs, key=lambda run: run.nodes), machine, title)
    return fitting


def anchored(
    question: Question,
    machine: Profile,
    program: str,
    target: float | None = None,
    nodes: int | None = None,
    own: Sequence[OwnTable] = (),
    version: str = "",
) -> SearchResult:
    """A production program on all numbers of nodes that are offered, from measured runs.

    Numbers of nodes begin where the network may fit into their memory; one that is asked for is
    answered, and its option says that it does not fit.

    `own`: tables of the user's runs, also on other machines: those with the same nodes or network
    say something about this one. Without any, the newest published version is meant. Raises
    BadInput without any anchor, and for a network that does not fit on all nodes.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> result = anchored(of_preset("mam-benchmark"), jureca, "nest", nodes=32)
        >>> result.best.nodes, result.best.program
        (32, 'nest')
    """
    name = program.lower()
    if not own:  # the user's runs are of the version that the user has
        version = version or anchors.newest_of(name)
    one_node = question.simulated_by(name, version, machine_of(machine), 1)
    runs = [one_node.with_nodes(count) for count in numbers_of_nodes(machine, nodes)]
    own_runs: list[PublishedRun] = []
    for table in own:
        like = replace(one_node, machine=machine_of(table.machine))
        own_runs += points.own_runs(table.file, like)
    if nodes is None:
        runs = _fitting(runs, machine, question.title, own_runs)
    times = anchors.predict(runs, own=own_runs)
    recorder = Recorder()
    values = Values(machine, recorder)
    events_per_s = question.counting.events_per_s
    options: list[ProductionOption] = []
    for index, run in enumerate(runs):
        layout = MachineLayout.from_machine(machine, run.ranks, run.threads, run.ranks // run.nodes)
        power_w = powered(values, layout)
        noise = times.noise[index]
        near = times.nearest[index]
        options.append(
            ProductionOption(
                machine=machine,
                question=question,
                nodes=run.nodes,
                ranks=run.ranks,
                threads=run.threads,
                rtf=times.total[index],
                parts={
                    "kernel": times.kernel[index] * noise,
                    "exchange": times.exchange[index] * noise * times.unstated[index],
                },
                inputs=named_inputs(times.inputs | recorder.inputs, machine, question),
                power_w=power_w,
                events=events_per_s,
                way=Way("conventional"),
                run=run,
                nearest=Anchor(near, times.differs[index], is_own=near in own_runs),
                own=tuple(own_runs),
            )
        )
    options = ordered(options, target, PRODUCTION_TIE)

    def look_for_surest() -> Option:
        if target is None or not is_near(options, target):
            return options[0]
        return surest_of(options, target, SURE)

    return SearchResult(options[0], options, look_for_surest, is_given=nodes is not None)


def largest_window(question: Question) -> int | None:
    """The largest D that is exact between areas; None without synapses between areas, or where D is
    1.

    Example:
        >>> from spikemark.prediction.question import of_preset
        >>> largest_window(of_preset("mam-benchmark"))
        10
    """
    largest = largest_between_areas(question.known)
    if largest and largest > 1:
        return largest
    return None


def by_schedule(result: SearchResult, changes: dict[str, Quantity] | None = None) -> SearchResult:
    """What structure-aware schedules would make of a production program, which exchanges every
    cycle.

    `changes`: run times over those of now, from a replay of its cycle times
    (prediction/replayed.py). Without them, a bound: if its cycles were independent, waiting and
    exchange would take 1 / sqrt(D) of what they take now (Lober et al. 2026, eq. 11). `way.origin`
    says which.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> result = anchored(of_preset("mam-benchmark"), jureca, "nest", nodes=32)
        >>> [option.way.schedule for option in by_schedule(result).options]
        ['conventional', 'structure_aware']
    """
    best = result.best
    largest = largest_window(best.question)
    options = [best]
    if changes is None and largest is not None:
        parts = best.parts | {"exchange": best.parts["exchange"] / largest**0.5}
        options.append(_rescheduled(best, parts, "structure_aware", largest, BOUND))
    for schedule, change in (changes or {}).items():
        assert change.value is not None
        low, high = 1.0, 1.0
        if change.low and change.high:  # a change without an interval is taken as it is
            low, high = change.low, change.high
        factor = draws.log_normal(f"replay/{schedule}", change.value, low, high)
        parts = {part: factor * seconds for part, seconds in best.parts.items()}
        options.append(_rescheduled(best, parts, schedule, largest, REPLAY))
    return replace(result, options=options)


def _rescheduled(
    best: Option, parts: dict[str, Draws], schedule: str, delay_ratio: int | None, origin: str
) -> Option:
    """The same run with another schedule; `origin`: BOUND or REPLAY."""
    way = Way(schedule, delay_ratio=delay_ratio, origin=origin)
    return replace(best, rtf=np.asarray(sum(parts.values())), parts=parts, way=way)
