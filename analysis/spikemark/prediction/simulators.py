"""Whose times are predicted: the mini-app's, or those of a production code that takes longer.

The models of this package are the mini-app's. Another simulator on the same machine takes so many times as
long: its published real-time factors over those that are predicted for the mini-app in the same runs.
Nothing is fitted by hand: the factor follows the profile and the models.

Which runs count depends on the network that is asked about. A published network is *near* if it has at most
`NEAR` times as many and as few synapses, and several areas like the asked one, or one like it. The middle is
then the geometric mean over the near networks and their states, and the interval reaches from the least to
the most of their runs. If none is near, the interval reaches over all runs and each end is moved by the
factor `WIDER`; the middle is that of all networks, or of those with as many areas (one or several), whichever
is larger: what is not known must not improve the answer. Each end is also moved by `WIDER` for a number of
nodes that is more than `BEYOND` times above or below those of the runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.models.published import papers
from spikemark.network.description import Description, read
from spikemark.network.schedules import SCHEDULES
from spikemark.presets import PRESETS
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, geometric_mean, number

from . import cycles, nest, rates
from .intervals import EXTRAPOLATED
from .layout import Layout
from .loads import Counting
from .times import of_parts

MACHINE, EACH, THREADS = "jureca-dc", 2, 64  # of NEST's published runs: ranks of a node, threads of a rank
MINE = (
    "Times are those of the mini-app, not of NEST. A general simulator takes longer; the option"
    " --simulator nest of predict, compare and advise says how much."
)
# Judgement, since eighteen runs of two networks do not tell how the factor grows.
NEAR = 10.0  # times as many or as few synapses
WIDER = 2.0  # times, at each end of the interval, where no published run is near
BEYOND = 2.0  # times as many nodes as published, or as few
NOT_SPLIT = "published times of {label} do not say how its parts grow with networks and machines"
NO_MEMORY = "the memory that {label} takes is not modelled"


@dataclass(frozen=True)
class Run:
    """A published run beside the mini-app's predicted one: real-time factors."""

    network: str
    state: str
    nodes: int
    published: float
    predicted: float
    areas: int
    synapses: float  # of the whole network

    @property
    def slower(self) -> float:
        """How many times as long as the mini-app the published run took."""
        return self.published / self.predicted


@dataclass(frozen=True)
class Simulator:
    """A program whose times are asked for. `runs`: its published runs; None for the mini-app itself.

    `ways`: (schedule, placement) -> which version of it has them, the released one first; None for all.
    `how`: what a user of it does on filled nodes, with so many ranks and a cycle of so many seconds.
    `shortest_delays`: whether its cycle is the shortest delay of the synapses, whatever a description states.
    `description`: the network that is asked about.
    """

    name: str
    label: str
    runs: Callable[[], tuple[Run, ...]] | None = None
    ways: Mapping[tuple[str, str], str] | None = None
    how: Callable[[Node, int, float], nest.HowTo] | None = None
    shortest_delays: bool = False
    description: Description | None = field(default=None, repr=False, compare=False)

    @property
    def heading(self) -> str:
        """What a page says first: whose times these are."""
        return self.label if self.runs else f"{self.label}, not of NEST"

    @property
    def path(self) -> str:
        """What its factor is called among the values that move a prediction."""
        return f"{self.name} over mini-app"

    @property
    def released(self) -> str:
        """What the version that has been released is called."""
        return self.label if self.ways is None else next(iter(self.ways.values()))

    def version(self, schedule: str, placement: str) -> str | None:
        """Which version of it has a schedule with a placement; None if none has."""
        return self.label if self.ways is None else self.ways.get((schedule, placement))

    @property
    def unused(self) -> tuple[str, ...]:
        """Fields that do not count, whatever a description states: another simulator has its own exchange."""
        return () if self.ways is None else ("exchange",)

    def taken(self, description: dict) -> dict:
        """The description as it runs it, with its own cycle."""
        return cycles.of_shortest_delay(description) if self.shortest_delays else description

    def check(self, schedule: str | None, placement: str | None, lag: int | None, exchange: object) -> None:
        """Raises BadInput for what no version of it has. None: left open."""
        if self.ways is None:
            return
        fitting = [way for way in self.ways if schedule in (None, way[0])]
        chosen = [way for way in fitting if placement in (None, way[1])]
        for name, value, known, among in (
            ("schedule", schedule, fitting, [s for s, _ in self.ways]),
            ("placement", placement, chosen, [p for _, p in fitting]),
        ):
            if not known:
                allowed = ", ".join(dict.fromkeys(among))
                raise BadInput(f"{name}={value!r}: no {self.label} has it; allowed: {allowed}")
        if lag is not None and not any(SCHEDULES[s].lagged for s, _ in chosen):
            raise BadInput(f"lag={lag}: no {self.label} has it")
        if exchange is not None:
            raise BadInput(f"exchange={exchange!r}: {self.label} exchanges with {nest.EXCHANGE}, always")

    def factor(self, inputs: Inputs, nodes: int | None = None) -> float:
        """How many times as long as the mini-app it takes on so many nodes; recorded, and moved to its
        limits, as a value of a profile."""
        if self.runs is None:
            return 1.0
        found = inputs.used[self.path] = self._on(nodes)
        return getattr(found, inputs.moved.get(self.path, "value"))

    @cached_property
    def near(self) -> tuple[Run, ...]:
        """The published runs of networks near the asked one; all if none is asked about."""
        return tuple(run for run in self.runs() if self.description is None or _near(run, self.description))

    @cached_property
    def slower(self) -> Quantity:
        """How many times as long as the mini-app: middle, least and most."""
        if self.near:
            return _slower(self.near)
        every = _slower(self.runs())
        alike = [run for run in self.runs() if _alike(run, self.description)]
        middle = max(every.value, _slower(alike).value) if alike else every.value
        return replace(_widened(every), value=middle)

    def _on(self, nodes: int | None) -> Quantity:
        """The same on so many nodes."""
        used = [run.nodes for run in self.near]
        if nodes is None or not used or min(used) / BEYOND <= nodes <= BEYOND * max(used):
            return self.slower
        return _widened(self.slower)

    def lacking(self, parts: tuple[str, ...], memory: tuple[str, ...]) -> dict[str, str]:
        """The figures that it does not give, and why."""
        if self.runs is None:
            return {}
        without = dict.fromkeys(parts, NOT_SPLIT.format(label=self.label))
        return without | dict.fromkeys(memory, NO_MEMORY.format(label=self.label))

    def said(self) -> list[str]:
        """Whose times these are, where their factor comes from, and which schedule the runs had."""
        if self.runs is None:
            return [MINE]
        taken = self.near or self.runs()
        middle, least, most = (number(x, 2) for x in (self.slower.value, self.slower.low, self.slower.high))
        which = " and ".join(dict.fromkeys(run.network for run in taken))
        every = f"{counted(len(taken), 'published run')} of {which} on {MACHINE}"
        lines = [f"Times are those of {self.label}: {middle} ({least} to {most}) times the mini-app's."]
        if self.near:
            used = sorted(run.nodes for run in taken)
            lines.append(
                f"This factor and its interval come from {every}, with {used[0]} to {used[-1]} nodes; far"
                f" outside this range, each end of the interval is moved by another factor of {WIDER:g}."
            )
        else:
            lines.append(
                f"No published run of {self.label} is near this network. So the interval covers {every}, and"
                f" each end is moved by a factor of {WIDER:g}."
            )
        lines += [
            f"{self.label} took {_range(group)} times as long as predicted for the mini-app, in"
            f" {counted(len(group), 'published run')} of {', '.join(filter(None, key))}."
            for key, group in _groups(taken).items()
        ]
        return lines + self._cycle() + self._versions()

    def _cycle(self) -> list[str]:
        """Which cycle is taken."""
        if not self.shortest_delays or self.description is None:
            return []
        steps = cycles.shortest_steps(self.description)
        return [
            f"A cycle of {self.label} is the shortest delay of the synapses,"
            f" {cycles.milliseconds(self.description, steps):g} ms here; D counts these. `cycle_ms` of a"
            " description is the mini-app's, and does not count."
        ]

    def _versions(self) -> list[str]:
        """Which version has which schedules, and which has none."""
        if self.ways is None:
            return []
        of: dict[str, list[str]] = {}
        for (schedule, placement), version in self.ways.items():
            of.setdefault(version, []).append(f"{SCHEDULES[schedule].label} with placement {placement}")
        none = [s.label for s in SCHEDULES.values() if s.name not in {name for name, _ in self.ways}]
        first, *others = of.items()
        lines = [f"The published runs, and {first[0]}, have this schedule only: {', '.join(first[1])}."]
        lines += [
            f"Only {version} has these: {', '.join(which)}. Their times assume that they help {self.label} as"
            " much as the mini-app."
            for version, which in others
        ]
        never = " or ".join(f"the {label}" for label in none)
        return lines + ([f"No {self.label} has {never} schedule."] if none else [])


def _alike(run: Run, asked: Description) -> bool:
    """True if both networks have one area, or both have several."""
    return (run.areas > 1) == (len(asked.network.areas) > 1)


def _near(run: Run, asked: Description) -> bool:
    more = run.synapses / asked.network.synapses if asked.network.synapses else 0.0
    return _alike(run, asked) and 1 / NEAR <= more <= NEAR


def _slower(runs) -> Quantity:
    means = [geometric_mean([run.slower for run in group]) for group in _groups(runs).values()]
    ratios = [run.slower for run in runs]
    return Quantity(geometric_mean(means), min(ratios), max(ratios), unit="1", kind=EXTRAPOLATED)


def _widened(found: Quantity) -> Quantity:
    return replace(found, low=found.low / WIDER, high=found.high * WIDER)


def _groups(runs) -> dict[tuple[str, str], list[Run]]:
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.network, run.state), []).append(run)
    return found


def _range(runs) -> str:
    ratios = [run.slower for run in runs]
    return f"{number(min(ratios), 2)} to {number(max(ratios), 2)}"


@cache
def nest_runs() -> tuple[Run, ...]:
    """NEST 3.9 on JURECA-DC (data/README.md in models/published), with the conventional schedule it has."""
    profile = machines.filled(machines.load(MACHINE))
    counting: dict[tuple[str, str], Counting] = {}
    found = []
    for row in papers.rows("nest_jureca_dc"):
        key, nodes = (row["network"], row["rate_hz"]), int(row["nodes"])
        if key not in counting:
            description = PRESETS[key[0]].describe(full=True, schedule="conventional")
            hz = rates.of(description, float(key[1]) if key[1] else None, key[0], {}).hz
            counting[key] = Counting(description, hz)
        loads = counting[key].loads(EACH * nodes, THREADS)
        layout = Layout.of(profile, loads.ranks, loads.threads, EACH)
        predicted = sum(of_parts(loads, Inputs(profile), layout).values())
        network = counting[key].description.network
        found.append(
            Run(key[0], row["state"], nodes, float(row["real_time_factor"]), predicted,
                len(network.areas), network.synapses)
        )  # fmt: skip
    return tuple(found)


MINI_APP = Simulator("mini_app", "the mini-app")
#: By name; a new one is an entry here.
SIMULATORS = {
    simulator.name: simulator
    for simulator in (MINI_APP, Simulator("nest", "NEST", nest_runs, nest.WAYS, nest.how, True))
}


def find(name: str, description: dict | Description | None = None) -> Simulator:
    """The simulator of that name, written with _ or -, for the network that is asked about.

    Raises BadInput for an unknown one.
    """
    found = SIMULATORS.get(name.replace("-", "_"))
    if found is None:
        raise BadInput(f"simulator={name!r}: known are {', '.join(SIMULATORS)}")
    return found if description is None else replace(found, description=read(description))
