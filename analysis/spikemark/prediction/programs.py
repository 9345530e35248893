"""Programs: what runs on a machine, such as the mini-app, NEST or DPSNN, behind one interface.

A program has costs, in seconds of a core: for a synaptic event, a list of synapses entered, a
neuron step, and so on. `Loads` (workload.py) say what each rank of a network has to do, for every
placement and schedule. So a rank computes

    seconds[phase, rank] = sum over costs of count[cost, rank] x seconds of the cost there.

The mini-app's costs are the kernel times of a machine (performance.py). Those of NEST and DPSNN are
fitted to published runs (program_costs.py, growth.py), and a factor says how much longer this
network takes on this machine than they make of it (anchors.py). A new program is a class here, and
a line in PROGRAMS.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spikemark.core.errors import BadInput, unknown_name
from spikemark.machines.parts import MachineOfParts, Node
from spikemark.machines.profile import Profile
from spikemark.machines.values import Values
from spikemark.records.dry_run import DryRun

from . import anchors, effects, growth, performance, program_costs, search
from .asking import mini_app_options
from .growth import RankLoads
from .layout import AnyMachine, MachineLayout
from .mini_app import MINI_APP
from .option import Option, SearchResult
from .performance import COMPUTE, SMALLEST_S
from .points import PublishedRun
from .production import OwnTable, anchored, by_schedule, largest_window
from .published_machine import machine_of
from .question import Question
from .workload import Loads

MAX_NODE_COUNTS_SHOWN = 6  #: of a production program, the best first
#: Counts of a phase, by the name of the cost: [rank] each.
Counts = Mapping[str, NDArray[np.float64]]
WAYS = ("schedule", "placement", "delay_ratio", "lag", "exchange")
LAYOUT = ("ranks", "threads", "ranks_per_node", "on", "compute_from")


@dataclass(frozen=True)
class AskedLayout:
    """On what a prediction is asked about; what is None follows from the rest."""

    nodes: int | None = None
    ranks: Sequence[int] = ()  #: one prediction for each
    threads: int | None = None  #: of a rank
    ranks_per_node: int | None = None
    ranks_by_part: dict[str, int] | None = None  #: of a machine of parts
    dry_run: DryRun | None = None  #: whose compute times hold
    anchor: Path | None = None  #: table of the user's runs


class Program(ABC):
    """What runs on a machine."""

    #: Arguments of questions that mean nothing for the program, and what it is, in words.
    unused: ClassVar[dict[str, str]]

    def refuse_unused(self, **arguments: object) -> None:
        """Raises BadInput for an argument that is given and means nothing for the program."""
        for name, value in arguments.items():
            if value is not None and name in self.unused:
                reason = f"beside {self.unused[name]}"
                raise BadInput(field=name, reason=reason, expected="none", code="conflict")

    @abstractmethod
    def counts(
        self, network: Question, loads: Loads, values: Values, node: Node
    ) -> dict[str, Counts]:
        """How often each cost occurs in a cycle, by phase of COMPUTE and cost, [rank].

        Args:
            network: what runs, with its rates.
            loads: what each rank does.
            values: of the machine, medians.
            node: how the ranks fill it.
        """

    @abstractmethod
    def cost_s(self, name: str, values: Values, node: Node) -> float:
        """Seconds that a core of a node takes for a cost."""

    def factors(
        self, network: Question, loads: Loads, machine: AnyMachine, layout: MachineLayout
    ) -> dict[str, float]:
        """What a network takes on a machine over what the costs make of it, by phase of COMPUTE."""
        return dict.fromkeys(COMPUTE, 1.0)

    def times(
        self, network: Question, loads: Loads, machine: AnyMachine, layout: MachineLayout
    ) -> dict[str, NDArray[np.float64]]:
        """Median seconds that each rank computes in a cycle, by phase of COMPUTE, [rank].

        Args:
            network: what runs, with its rates.
            loads: what each rank does.
            machine: without unknown values.
            layout: the ranks on its nodes.

        Raises BadInput where the program cannot be predicted there.
        """
        values = Values(machine)
        factors = self.factors(network, loads, machine, layout)
        seconds = {phase: np.zeros(loads.ranks) for phase in COMPUTE}
        for share in layout.shares:
            of_share = values.of_part(share.part)
            for phase, counts in self.counts(network, loads, of_share, share.node).items():
                for name, count in counts.items():
                    cost_s = factors[phase] * self.cost_s(name, of_share, share.node)
                    seconds[phase][share.slice] += cost_s * count[share.slice]
        return seconds

    @abstractmethod
    def options(
        self, network: Question, machine: AnyMachine, layout: AskedLayout
    ) -> Sequence[Option]:
        """The predictions for a layout. Raises BadInput as `spikemark.predict`."""

    @abstractmethod
    def search(
        self,
        network: Question,
        machine: Profile,
        target: float | None = None,
        nodes: int | None = None,
        own: Sequence[OwnTable] = (),
    ) -> SearchResult:
        """The best way to run a network, and others beside it.

        Args:
            network: what runs, with only what was given fixed.
            machine: without unknown values.
            target: real-time factor to reach on the fewest nodes; None: the fastest.
            nodes: exactly so many; None: up to all that are offered.
            own: tables of the user's runs.

        Raises BadInput where nothing can run, or be predicted.
        """

    def with_schedules(self, result: SearchResult, times: Path | None = None) -> SearchResult:
        """The best way beside other schedules; `times`: the folder of its cycle times."""
        return result


class MiniApp(Program):
    """The mini-app, whose costs are the kernel times of a machine."""

    unused: ClassVar = dict.fromkeys(("anchor", "times"), "the mini-app, whose times are modelled")

    def counts(
        self, network: Question, loads: Loads, values: Values, node: Node
    ) -> dict[str, Counts]:
        """How often each kernel runs in a cycle, by phase and kernel, [rank]."""
        return dict(performance.counted(loads, values, node))

    def cost_s(self, name: str, values: Values, node: Node) -> float:
        """Seconds of a kernel by the busy cores of a node."""
        return float(performance.kernel(values, name, node))

    def options(
        self, network: Question, machine: AnyMachine, layout: AskedLayout
    ) -> Sequence[Option]:
        """One prediction for each number of ranks."""
        return mini_app_options(
            network,
            machine,
            nodes=layout.nodes,
            ranks=layout.ranks,
            threads=layout.threads,
            ranks_per_node=layout.ranks_per_node,
            ranks_by_part=layout.ranks_by_part,
            dry_run=layout.dry_run,
        )

    def search(
        self,
        network: Question,
        machine: Profile,
        target: float | None = None,
        nodes: int | None = None,
        own: Sequence[OwnTable] = (),
    ) -> SearchResult:
        """The best way of every schedule."""
        return search.mini_app(network, machine, target, nodes)


@dataclass(frozen=True)
class ProductionProgram(Program):
    """NEST, DPSNN, or a program that only the user has measured."""

    name: str

    unused: ClassVar = {
        **dict.fromkeys(WAYS, "a production program, which has its own way to run"),
        **dict.fromkeys(LAYOUT, "a production program, which is asked about nodes"),
    }

    def _equal_nodes(self, machine: AnyMachine) -> Profile:
        """The profile of all nodes. Raises BadInput for parts, and for accelerators."""
        if isinstance(machine, MachineOfParts):
            expected = f"a profile of equal nodes, as {self.name} needs"
            raise BadInput(field="machine", value=machine.name, expected=expected)
        machine.refuse_accelerators()
        return machine

    def _run(self, network: Question, loads: Loads, profile: Profile, nodes: int) -> PublishedRun:
        """The run that is predicted, with the ranks and threads of the loads."""
        run = network.simulated_by(self.name, "", machine_of(profile), nodes)
        return replace(run, ranks=loads.ranks, threads=loads.threads)

    def counts(
        self, network: Question, loads: Loads, values: Values, node: Node
    ) -> dict[str, Counts]:
        """How often each cost occurs in a cycle, by phase and cost, [rank].

        Seconds on the network are left out: they are no time of a core.
        """
        run = self._run(network, loads, values.profile, node.nodes)
        per_second = growth.counts(run, _rank_loads(run, loads))
        counts: dict[str, dict[str, NDArray[np.float64]]] = {}
        for cost, count in zip(program_costs.find(self.name).costs, per_second, strict=True):
            if cost.phase:
                in_cycle = np.broadcast_to(count, loads.ranks) * loads.cycle_s
                counts.setdefault(cost.phase, {})[cost.name] = in_cycle
        return dict(counts)

    def cost_s(self, name: str, values: Values, node: Node) -> float:
        """Seconds of a cost at REFERENCE_GHZ, fitted to published runs."""
        names = [cost.name for cost in program_costs.find(self.name).costs]
        logs = effects.spreads().costs[self.name]
        return float(np.exp(logs[names.index(name)]))

    def factors(
        self, network: Question, loads: Loads, machine: AnyMachine, layout: MachineLayout
    ) -> dict[str, float]:
        """The effects of program, version, network and machine (anchors.py), by phase of COMPUTE.

        Raises BadInput for a program without fitted costs, for machines of parts, and where neither
        the network nor the machine was ever measured with the program.
        """
        if self.name not in program_costs.PROGRAMS:
            raise _unknown(self.name)
        run = self._run(network, loads, self._equal_nodes(machine), layout.nodes)
        from_costs = anchors.parts(run, effects.spreads().costs[self.name])
        try:
            times = anchors.predict([run])
        except BadInput as error:
            reason = f"never measured with {network.title} and never on {run.machine.title}"
            expected = "a network or a machine that was (docs/trust.md)"
            raise BadInput(
                field="program", value=self.name, reason=reason, expected=expected, code=error.code
            ) from None
        in_all = (times.kernel[0], times.exchange[0])
        factor_of_part = {}
        for part, seconds, of_costs in zip(program_costs.PARTS, in_all, from_costs, strict=True):
            factor_of_part[part] = float(np.median(seconds)) / max(float(of_costs), SMALLEST_S)
        factors = super().factors(network, loads, machine, layout)
        for cost in program_costs.find(self.name).costs:
            if cost.phase:
                factors[cost.phase] = factor_of_part[cost.part]
        return factors

    def options(
        self, network: Question, machine: AnyMachine, layout: AskedLayout
    ) -> Sequence[Option]:
        """One prediction for each number of nodes that is offered, the best first."""
        profile = self._equal_nodes(machine)
        own = [] if layout.anchor is None else [OwnTable(layout.anchor, profile)]
        result = self.search(network, profile, None, layout.nodes, own)
        return result.options[:MAX_NODE_COUNTS_SHOWN]

    def search(
        self,
        network: Question,
        machine: Profile,
        target: float | None = None,
        nodes: int | None = None,
        own: Sequence[OwnTable] = (),
    ) -> SearchResult:
        """The best number of nodes, and all others."""
        if not own and self.name not in program_costs.PROGRAMS:
            raise _unknown(self.name)
        return anchored(network, machine, self.name, target, nodes, own)

    def with_schedules(self, result: SearchResult, times: Path | None = None) -> SearchResult:
        """What structure-aware schedules would make of the best way: a bound, or a replay."""
        changes = None
        if times is not None:
            from . import replayed  # loads pandas and Arrow

            changes = replayed.changes(times, largest_window(result.best.question))
        return by_schedule(result, changes)


def _rank_loads(run: PublishedRun, loads: Loads) -> RankLoads:
    """What each rank does in a simulated second, [rank], from the counts of a cycle.

    A rank meets others once in each period of its lanes, and sends a message to each that may need
    its spikes.
    """
    per_second = 1 / loads.cycle_s
    cores = run.cores / loads.ranks  # of a rank
    rounds = np.zeros(loads.ranks)
    messages = np.zeros(loads.ranks)
    for lane, words in zip(loads.lanes, loads.words, strict=True):
        rounds += np.log2(lane.sizes) / lane.period
        partners = (words > 0) & ~np.eye(loads.ranks, dtype=bool)
        messages += partners.sum(axis=1) / lane.period
    return RankLoads(
        neurons=loads.of_rank(loads.held) / cores,
        events=loads.of_rank(loads.events) / cores * per_second,
        lists=loads.of_rank(loads.lists.sum(axis=0)) / loads.threads * per_second,
        received=loads.arriving * per_second,
        rounds=rounds * per_second,
        messages=messages * per_second,
    )


def _unknown(name: str) -> BadInput:
    """A refusal of a program that nobody has measured."""
    return unknown_name("program", name, [MINI_APP, *program_costs.PROGRAMS])


def program_named(name: str) -> Program:
    """The program of an id; another one than those of PROGRAMS is what its user has measured.

    Example:
        >>> type(program_named("mini-app")).__name__, program_named("NEST").name
        ('MiniApp', 'nest')
    """
    word = name.lower().replace("_", "-")
    return PROGRAMS.get(word) or ProductionProgram(name.lower())


#: By id, as commands take it.
PROGRAMS: dict[str, Program] = {
    MINI_APP: MiniApp(),
    **{name: ProductionProgram(name) for name in program_costs.PROGRAMS},
}
