"""A way to run a network on a machine: what all programs answer about it.

An option has draws of the seconds that a simulated second takes, in all and by part. The mini-app's
(mini_app.py) also know the layout of a network on ranks; those of production programs
(production.py) know the measured run from which they are scaled. Answers use the interface alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.parts import MachineOfParts
from spikemark.machines.profile import ASSUMED, Profile
from spikemark.network.placement_file import Placement
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, integer, listed, number

from .draws import Draws
from .effects import SIZE
from .layout import AnyMachine
from .memory import Memory
from .points import PublishedRun
from .question import THIS_NETWORK, Question

MAX_NODES = 256  #: that are tried on a machine that states no number
POWERS_OF_TWO = {2**k for k in range(9)}
NODES = sorted(POWERS_OF_TWO | {3 * 2**k for k in range(7)})
TIE = 1.02  #: ways whose medians are as close count as equally fast
PROBABLE = 0.5  #: share of the draws in which the best number of nodes reaches a target
SURE = 0.95  #: share of the draws in which a target is surely reached
NOT_REACHED = 0.025  #: share of the draws below which a target counts as not reached
SAME_SHARE = 0.02  #: shares of the draws that differ by less count as equal: draws are random
#: What machines state of the bandwidth of their memory.
MEMORY_BANDWIDTHS = ("node.memory_channels", "node.bandwidth_peak", "node.bandwidth")
#: Values that decide about times on a node, and between nodes; answers say which are assumed.
OF_PROCESSOR = ("node.clock", "node.l3", "node.l3_cores")
OF_NETWORK = ("interconnect.latency", "interconnect.bandwidth")
#: Where the times of another schedule of a production program come from.
BOUND, REPLAY = "bound", "replay"


@dataclass(frozen=True)
class Way:
    """How a network runs."""

    schedule: str
    placement: str | Placement | None = None  #: None: as the program places neurons
    delay_ratio: int | None = None
    lag: int | None = None
    exchange: dict[str, str] | None = None  #: by lane
    origin: str = ""  #: BOUND or REPLAY, where only that says what the schedule takes


@dataclass(frozen=True)
class Anchor:
    """The measured run of a production program that is most like an option."""

    run: PublishedRun
    differs: tuple[str, ...]  #: in what it differs from the option
    is_own: bool  #: whether it is one of the user's runs

    @property
    def sentence(self) -> str:
        """What was measured where."""
        origin = "published" if self.run.is_published else "measured by the project"
        if self.is_own:
            origin = "your run"
        differences = "the same"
        if self.differs:
            size = f"{SIZE} ({integer(self.run.network.neurons)} neurons)"
            differs = [size if name == SIZE else name for name in self.differs]
            differences = f"differs in {', '.join(differs)}"
        assert self.run.seconds is not None
        program = f"{self.run.title} {self.run.version}".strip()
        took = f"{program} took {number(self.run.seconds, 3)}"
        nodes = f"{counted(self.run.nodes, 'node')} of {self.run.machine.title}"
        return f"Anchor: {took} on {nodes} ({origin}; {differences})."

    def content(self) -> dict[str, Any]:
        """The run for JSON."""
        return {
            "program": self.run.title,
            "version": self.run.version,
            "machine": self.run.machine.title,
            "nodes": self.run.nodes,
            "real_time_factor": self.run.seconds,
            "source": self.run.source,
            "differs": list(self.differs),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Option(ABC):
    """A way to run a network on a machine, with draws of what it takes."""

    machine: AnyMachine
    question: Question
    nodes: int
    ranks: int
    threads: int  #: of a rank
    rtf: Draws  #: real-time factor
    parts: dict[str, Draws]  #: seconds per simulated second by part
    inputs: dict[str, Draws]  #: standard normal draws of what is uncertain, by name
    power_w: Draws | float | None  #: of all nodes; None: unknown
    events: float  #: synaptic events per simulated second
    way: Way

    @property
    @abstractmethod
    def program(self) -> str:
        """The id of the program, such as nest."""

    @property
    @abstractmethod
    def program_title(self) -> str:
        """The program in a sentence."""

    @property
    def version(self) -> str:
        """The version of the program; empty for the mini-app, which is that of Spikemark."""
        return ""

    @property
    def title(self) -> str:
        """Program and version."""
        return f"{self.program_title} {self.version}".strip()

    @property
    @abstractmethod
    def advice(self) -> str:
        """The sentence that advises to run the network so."""

    @property
    @abstractmethod
    def rests_on(self) -> str:
        """The sentence that says from what the times follow."""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know of the machine, a line each."""
        return [*self.machine.remarks, *_remarks_on_assumed(self.machine, self.nodes)]

    @property
    def counts_bandwidth(self) -> bool:
        """Whether the times follow from the bandwidth of the memory, too."""
        return True

    @property
    def anchor(self) -> Anchor | None:
        """The measured run from which the times are scaled; None: they follow from a model."""
        return None

    @property
    def beyond_data(self) -> dict[str, float]:
        """How long runs on the machine took over what its data make expected, by part; {} where
        there are none, or a model has all that is known.
        """
        return {}

    @property
    @abstractmethod
    def needed(self) -> tuple[Memory | None, str]:
        """Memory of each rank, or why it is not known."""

    @property
    def node_gb(self) -> float | None:
        """Memory of the fullest node in GB; None where it is not known."""
        return None

    @property
    def hidden_exchange(self) -> Quantity | None:
        """Seconds per simulated second of exchanges that go on while ranks compute, which no part
        holds; None where there are none.
        """
        return None

    @property
    def run_command(self) -> str | None:
        """The command that runs the network so; None where Spikemark knows none."""
        return None

    @abstractmethod
    def further_content(self) -> dict[str, Any]:
        """What only options of this program have to say in JSON."""

    @abstractmethod
    def way_content(self) -> dict[str, Any]:
        """How the network runs, in JSON."""

    def nodes_for_run(self, seconds: float) -> list[int]:
        """Numbers of nodes on which the network may fit and be run in so many seconds, the fewest
        first; none where the times do not follow from runs.
        """
        return []

    def rtf_after_run(self, nodes: int) -> Draws:
        """The real-time factor, were the program run there on so many nodes."""
        return self.rtf

    @property
    def median(self) -> float:
        """Median of the real-time factor."""
        return float(np.median(self.rtf))

    @property
    def place(self) -> str:
        """The nodes, in words."""
        return f"{counted(self.nodes, 'node')} of {self.machine.name}"

    @property
    def energy_uj(self) -> Draws | None:
        """Energy per synaptic event in microjoule; None where the power is unknown or nothing
        happens.
        """
        if self.power_w is None or not self.events:
            return None
        return 1e6 * self.power_w * self.rtf / self.events

    @property
    def fits(self) -> bool | None:
        """Whether a node has the memory that is needed; None where either is not known."""
        room_gb = stated(self.machine, "node.memory")
        if room_gb is None or self.node_gb is None:
            return None
        return self.node_gb <= room_gb

    def reaches(self, target: float) -> float:
        """Share of the draws that reach a real-time factor."""
        return float((self.rtf <= target).mean())


AnyOption = TypeVar("AnyOption", bound=Option)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """An answer of the search on a machine."""

    #: The fewest nodes that reach the target in PROBABLE of the draws, else those that reach it in
    #: most draws; the fastest where there is no target, or none is near; of ties, the fewest nodes.
    best: Option
    #: All with draws, the best first: one for each schedule of the mini-app, or for each number of
    #: nodes of a production program.
    options: Sequence[Option]
    look_for_surest: Callable[[], Option]
    is_given: bool = False  #: whether only one number of nodes was asked about

    @cached_property
    def surest(self) -> Option:
        """The fewest nodes that reach the target in SURE of the draws, else those that reach it in
        most draws; the best without a target, or where no number of nodes is near it.
        """
        return self.look_for_surest()


def surest_of(options: Iterable[AnyOption], target: float, enough: float) -> AnyOption:
    """The fewest nodes that reach a target in `enough` of the draws, else in most of the draws.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", ranks=[128, 256]).options
        >>> surest_of(options, target=1e-9, enough=SURE).nodes
        128
    """
    by_nodes = sorted(options, key=lambda option: (option.nodes, option.median))
    share_of = [option.reaches(target) for option in by_nodes]
    limit = min(enough, max(share_of) - SAME_SHARE)
    if max(share_of) >= enough:
        limit = enough
    suffices = [share >= limit for share in share_of]
    return by_nodes[suffices.index(True)]


def is_near(options: Iterable[Option], target: float) -> bool:
    """Whether one of the options reaches a target in more than a few draws (NOT_REACHED).

    Example:
        >>> import spikemark as sm
        >>> is_near(sm.predict("mam-benchmark", "jureca-dc", ranks=128).options, target=1e-9)
        False
    """
    return max(option.reaches(target) for option in options) >= NOT_REACHED


def stated(machine: AnyMachine, path: str) -> float | None:
    """A value of a machine of equal nodes; None where it is not stated.

    Example:
        >>> from spikemark import machines
        >>> stated(machines.load("jureca-dc"), "node.cores")
        128
    """
    if isinstance(machine, MachineOfParts):
        return None
    value = machine.get(path)
    if value is None:
        return None
    number_stated: float = value.value
    return number_stated


def named_inputs(
    inputs: Mapping[str, Draws], machine: AnyMachine, question: Question
) -> dict[str, Draws]:
    """Inputs by the names that readers know: of the machine and the network, whose draws are named
    after neither.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> inputs = {f"{THIS_NETWORK}/rate": np.ones(1)}
        >>> list(named_inputs(inputs, machines.load("jureca-dc"), of_preset("mam-benchmark")))
        ['network mam-benchmark/rate']
    """
    names = machine.names_of_draws | {THIS_NETWORK: f"network {question.title}"}
    named = {}
    for name, drawn in inputs.items():
        for drawn_as in sorted(names, key=len, reverse=True):  # one may begin as another does
            name = name.replace(drawn_as, names[drawn_as])
        named[name] = drawn
    return named


def _remarks_on_assumed(machine: AnyMachine, nodes: int) -> list[str]:
    """Which values that decide about times on so many nodes an unmeasured machine leaves open."""
    if not isinstance(machine, Profile) or machine.measured_as is not None:
        return []
    deciding = OF_PROCESSOR if nodes == 1 else OF_PROCESSOR + OF_NETWORK
    assumed = [path for path in deciding if is_assumed(machine, path)]
    if not assumed:
        return []
    verb, pronoun = "are", "them"
    if len(assumed) == 1:
        verb, pronoun = "is", "it"
    line = f"{machine.name}: {listed(assumed)} {verb} assumed: its file does not state {pronoun}"
    if machine.processor is None and not set(OF_PROCESSOR).isdisjoint(assumed):
        line += "; `processor: ID` takes those of nodes from a data sheet (docs/machine-profile.md)"
    return [line]


def is_assumed(machine: AnyMachine, path: str) -> bool:
    """Whether the value at a path is assumed because the profile states none.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> is_assumed(jureca, "jitter.cv"), is_assumed(jureca, "node.cores")
        (True, False)
    """
    value = machine.values.get(path)
    return value is not None and value.reference.startswith(ASSUMED)


def numbers_of_nodes(machine: AnyMachine, nodes: int | None) -> list[int]:
    """Numbers of nodes to try: exactly `nodes`, or all up to what is offered.

    Raises BadInput for none, and for more nodes than are offered.

    Example:
        >>> from spikemark import machines
        >>> numbers_of_nodes(machines.load("jureca-dc"), nodes=4)
        [4]
    """
    most = round(stated(machine, "offer.nodes") or MAX_NODES)
    if nodes is None:
        fitting = {count for count in NODES if count <= most}
        return sorted(fitting | {most})
    if not 1 <= nodes <= most:
        raise BadInput(
            f"nodes={nodes}: expected 1 to {most}, which {machine.name} has",
            field="nodes",
            code="range",
        )
    return [nodes]


def ordered(
    options: Sequence[AnyOption], target: float | None, tie: float = TIE
) -> list[AnyOption]:
    """The best first: the fewest nodes that reach the target in PROBABLE of the draws, else in most
    of them; the fastest within a factor `tie` where that is in no more than NOT_REACHED, or where
    there is no target; of ties, the fewest nodes.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", ranks=[128, 256]).options
        >>> [option.nodes for option in ordered(options, target=None)]
        [128, 256]
    """
    by_median = sorted(options, key=lambda option: (option.median, option.nodes))
    if not by_median:
        return []
    if target is not None and is_near(options, target):
        best = surest_of(options, target, PROBABLE)
    else:
        limit = tie * by_median[0].median
        near = [option for option in by_median if option.median <= limit]
        best = min(near, key=lambda option: option.nodes)
    return [best, *(option for option in by_median if option is not best)]
