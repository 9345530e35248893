"""Effects: what makes the times of a run differ from those of its costs, and what it shares with
other runs.

log A and log B of a run (anchors.py) are sums of effects of the program, its version, the network,
its variant and the machine. Each effect is normal with mean 0 and a spread estimated from the
published series (spreads.yaml, by `spikemark score --fit`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spikemark.core.yaml_file import read_yaml

from . import draws
from .growth import terms
from .likeness import BETTER
from .points import PublishedRun
from .program_costs import PARTS, PROGRAMS, find
from .published_machine import PublishedMachine

Array = NDArray[np.float64]


class Key(NamedTuple):
    """What identifies an effect, or in `Spreads` the effects that share a spread."""

    part: str  #: of PARTS
    aspect: str  #: of ASPECTS
    name: str  #: such as that of a machine; in `Spreads`, the program or "any"


ASPECTS = ("platform", "machine", "version", "network", "variant", "program")
OF_MACHINES = ("machine", "platform")
NETWORK_OF = "the network of {}"  #: name of an effect
LEFT_OPEN = "{}, for what is not stated"  #: name of an effect
LINKS = ("network", "machine")  #: what a run has to share with others to say something about them


@cache
def effects_of(run: PublishedRun) -> tuple[Key, ...]:
    """The effects that act on a run; of a machine, the kernel knows the processor alone.

    Example:
        >>> from spikemark.prediction import points
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> sorted({key.aspect for key in effects_of(run)})
        ['machine', 'network', 'program', 'variant', 'version']
    """
    program = run.program
    network = run.network
    machine = run.machine
    names = {
        "version": f"{find(run.program).title} {run.version}".replace("/", "-"),
        "network": f"{program}/{network.model}",
        "variant": f"{program}/{network.model}/{network.variant}",
        "program": program,
    }
    keys = []
    for part, names_of_part in machine_by_part(machine).items():
        for name in names_of_part:
            keys.append(Key(part, "machine", name))
            if machine.platform:
                keys.append(Key(part, "platform", name))
    for part in PARTS:
        keys += [Key(part, aspect, name) for aspect, name in names.items()]
    return tuple(keys)


def machine_by_part(machine: PublishedMachine) -> dict[str, tuple[str, ...]]:
    """What a machine is called in its effects: machines of one processor share the kernel's.

    The exchange of an offer has an effect of its nodes and one of its network.

    Example:
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> machine_by_part(measured_machine("jureca-dc"))
        {'kernel': ('epyc-7742',), 'exchange': ('jureca-dc',)}
    """
    kernel = machine.processor or machine.node_as or machine.name
    if not machine.is_offer:
        return {"kernel": (kernel,), "exchange": (machine.name,)}
    network = NETWORK_OF.format(machine.network_as)
    return {"kernel": (kernel,), "exchange": (machine.node_as, network)}


def weight_of(key: Key, run: PublishedRun, costs: Array) -> float:
    """How much of an effect acts on a run: the squares of those of nodes and network make 1.

    The network's counts as much as messages on a usual network have of the exchange; the rest is
    software, on the nodes. `costs`: log costs.

    Example:
        >>> from spikemark.prediction import points
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> weight_of(effects_of(run)[0], run, spreads().costs["nest"])  # not an offer
        1.0
    """
    if not run.machine.is_offer or key.part == "kernel" or key.aspect not in OF_MACHINES:
        return 1.0
    share = _share_of_network(run, costs)
    if key.name == NETWORK_OF.format(run.machine.network_as):
        return share
    return float((1 - share**2) ** 0.5)


def _share_of_network(run: PublishedRun, costs: Array) -> float:
    """Share of the exchange that messages between nodes would take on a usual network."""
    if run.nodes == 1:
        return 0.0
    usual = {name: getattr(PublishedMachine, name) for name in BETTER["exchange"]}
    counts = terms(replace(run, machine=replace(run.machine, **usual)))
    seconds = counts * np.exp(costs)
    of_exchange = [cost.part == "exchange" for cost in find(run.program).costs]
    on_network = [cost.part == "exchange" and not cost.phase for cost in find(run.program).costs]
    return float(seconds[on_network].sum() / seconds[of_exchange].sum())


def acting(runs: Sequence[PublishedRun], keys: Iterable[Key], costs: Array) -> Array:
    """How much each effect acts on which part of a run, [part, run, key].

    `costs`: log costs.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = [run for run in points.published() if run.program == "nest"]
        >>> keys = effects_of(runs[0])
        >>> acting(runs[:3], keys, spreads().costs["nest"]).shape == (len(PARTS), 3, len(keys))
        True
    """
    column = {key: number for number, key in enumerate(keys)}
    act = np.zeros((len(PARTS), len(runs), len(column)))
    for row, run in enumerate(runs):
        for key in effects_of(run):
            if key in column:
                act[PARTS.index(key.part), row, column[key]] = weight_of(key, run, costs)
    return act


OTHER_SIZE = 1.1  #: factor between the neurons of two networks from which their sizes differ
SIZE = "size"
#: How far an effect that differs takes a measured run from the target.
DISTANCE = {"machine": 4, "platform": 4, "network": 4, "variant": 2, "version": 1, "program": 9}


def closest(
    target: PublishedRun, anchors: Iterable[PublishedRun]
) -> tuple[PublishedRun, tuple[str, ...]]:
    """The measured run that shares most effects with the target, then the nearest number of cores;
    and in what they differ: aspects, size, nodes, layout.

    Example:
        >>> from spikemark.prediction import points
        >>> nest = [run for run in points.published() if run.program == "nest"]
        >>> closest(nest[0], nest)[0] == nest[0]
        True
    """

    of_target = effects_of(target)
    cores = target.cores

    def distance(run: PublishedRun) -> tuple[float, float, float]:
        by_effects = sum(DISTANCE[aspect] for aspect in _aspects_apart(of_target, run))
        return by_effects, abs(np.log(run.cores / cores)), run.sd

    near = min(anchors, key=distance)
    apart = set(_aspects_apart(of_target, near)) - {"platform"}
    if "network" in apart:
        apart.discard("variant")
    differs = [aspect for aspect in ASPECTS if aspect in apart]
    if abs(math.log(near.network.neurons / target.network.neurons)) > math.log(OTHER_SIZE):
        differs.append(SIZE)
    if near.nodes != target.nodes:
        differs.append("nodes")
    same_ranks = near.ranks / near.nodes == target.ranks / target.nodes
    if not same_ranks or near.threads != target.threads:
        differs.append("layout")
    return near, tuple(differs)


def _aspects_apart(of_target: tuple[Key, ...], run: PublishedRun) -> list[str]:
    """The aspects of the effects that act on a target and not on another run."""
    of_run = effects_of(run)
    return [key.aspect for key in of_target if key not in of_run]


#: degrees of freedom of a spread beyond its effects; sums of several effects have thin tails
FREEDOM = 12.0
#: First guesses of the spreads of both parts.
GUESS = {
    "platform": (0.6, 0.8),
    "machine": (0.4, 0.6),
    "version": (0.18, 0.4),
    "network": (0.25, 0.4),
    "variant": (0.15, 0.3),
    "program": (0.15, 0.3),
}
#: The same of a program that was never measured: the scale of its kernel may be anything.
UNMEASURED = (6.0, 1.0)
BY_SIMULATOR = ("version", "network", "variant")  #: spreads of the others are pooled


@dataclass(frozen=True)
class Spreads:
    """What is known of effects and costs."""

    #: Log SD and number of effects behind it, by part, aspect and program or "any"; otherwise the
    #: guess holds.
    known: dict[Key, tuple[float, float]] = field(default_factory=dict)
    #: Log costs by program, [cost].
    costs: dict[str, Array] = field(default_factory=dict)

    def of(self, key: Key, program: str) -> tuple[float, float]:
        """Log SD of an effect, and the number of effects behind it."""
        guesses = GUESS[key.aspect]
        if key.aspect == "program" and program not in PROGRAMS:
            guesses = UNMEASURED
        guess = guesses[PARTS.index(key.part)]
        return self.known.get(pooled(key, program), (guess, 0.0))


def pooled(key: Key, program: str) -> Key:
    """Part, aspect and program of the effects whose spread is that of an effect.

    Example:
        >>> pooled(Key("kernel", "machine", "jureca-dc"), "nest")
        Key(part='kernel', aspect='machine', name='any')
    """
    return key._replace(name=program if key.aspect in BY_SIMULATOR else "any")


SPREADS = Path(__file__).with_name("spreads.yaml")


@cache
def spreads() -> Spreads:
    """The spreads that `spikemark score --fit` wrote.

    Example:
        >>> sorted(spreads().costs)
        ['dpsnn', 'nest']
    """
    content = read_yaml(SPREADS)
    by_key = {}
    for text, (sd, number) in content["spreads"].items():
        by_key[Key(*text.split("/"))] = (sd, number)
    costs = {
        program: np.log(list(by_name.values())) for program, by_name in content["costs"].items()
    }
    return Spreads(by_key, costs)


def sd_with_tails(sd: float, number: float) -> float:
    """The spread of an effect, wider by Student's t where few effects are known.

    Example:
        >>> sd_with_tails(1.0, number=1000) < 1.01 < sd_with_tails(1.0, number=0)
        True
    """
    return sd * student_over_normal(FREEDOM + number)


def student_over_normal(degrees: float) -> float:
    """The 97.5 % quantile of Student's t over that of a normal number, for FREEDOM degrees or more.

    By the expansion in 1 / degrees (Abramowitz & Stegun 1964, eq. 26.7.5), to 1e-5: a prediction
    that needs nothing else of SciPy starts 0.1 s sooner.

    Example:
        >>> round(draws.Z95 * student_over_normal(12), 3)
        2.179
    """
    z2 = draws.Z95**2
    coefficients = (
        (z2 + 1) / 4,
        (5 * z2**2 + 16 * z2 + 3) / 96,
        (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / 384,
        (79 * z2**4 + 776 * z2**3 + 1482 * z2**2 - 1920 * z2 - 945) / 92160,
    )
    return 1 + sum(term / degrees**power for power, term in enumerate(coefficients, 1))


class State(NamedTuple):
    """What runs say."""

    keys: Sequence[Key]  #: of the effects
    mean: Array  #: of the effects, [key]
    covariance: Array  #: [key, key]
    costs: Array  #: log costs, [cost]
