"""The nodes of a machine, and the placement on them, that need the least energy within a time limit.

In the model a node that is on takes its power all the time: cores wait busily (prediction/energy.py). So the
energy of given nodes is their power times the run time, and is least where the run time is: where all ranks
compute equally long (balance.py). What is left to choose is how many nodes of each part are on. A part
without ranks is off and costs nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.parts import Machine
from spikemark.machines.profile import UnknownValue
from spikemark.prediction import energy, model_error
from spikemark.prediction.predict import Prediction, Question, of_loads

from .balance import Balanced, Task, TooLarge, balanced

POWER = "power_w"
MOST = 512  # mixes that are all tried; of more, a coarse grid, then neighbours of the best and the fastest

Counts = tuple[int, ...]  # ranks on each part of the machine, in its order


@dataclass(frozen=True)
class Limit:
    """The longest time that is allowed: a real-time factor, or so many `times` that of the fastest mix."""

    real_time_factor: float | None = None
    times: float | None = None

    def __post_init__(self) -> None:
        if (self.real_time_factor is None) == (self.times is None):
            raise BadInput("--balance energy: allowed: one of --target-rtf RTF and --within TIMES")
        if self.times is not None and self.times < 1:
            raise BadInput(f"--within={self.times:g}; allowed: at least 1, which is the fastest mix")

    def of(self, fastest: float) -> float:
        """The largest allowed real-time factor, if the fastest mix has this one."""
        return self.times * fastest if self.real_time_factor is None else self.real_time_factor


@dataclass(frozen=True, eq=False)
class Mix:
    """Ranks by part, balanced, with what the model says of them."""

    counts: Counts
    on: dict[str, int]  # parts with ranks
    nodes: dict[str, int]
    balanced: Balanced
    real_time_factor: float
    power_w: float

    @property
    def energy_j(self) -> float:
        """Joules per simulated second."""
        return self.power_w * self.real_time_factor


@dataclass(frozen=True)
class Search:
    """All mixes that were tried, and the one with the least energy of those within the limit."""

    chosen: Mix
    fastest: Mix
    limit: float  # real-time factor
    tried: list[Mix]
    neighbours: list[Mix]  # of the chosen one: a node more or less of one part
    of: int  # mixes that there are
    too_large: int  # mixes into whose memory the network does not fit
    prediction: Prediction  # of the chosen mix, with intervals


def search(task: Task, ranks: int | None, on: dict[str, int] | None, limit: Limit) -> Search:
    """The mix with the least energy of at most so many ranks [all that the parts have cores for].

    With `on`, ranks by part, that mix only. Raises BadInput for a part whose power is unknown, and where no
    mix is within the limit.
    """
    parts = _parts(task.machine)
    _check_power(task, list(parts) if on is None else list(on))
    space = _Space(task, list(parts), _options(task, ranks, on), ranks)
    mixes = space.counts() if space.size <= MOST else space.grid()
    for counts in mixes:
        space.mix(counts)
    found = space.found()
    if not found:
        raise TooLarge(f"{task.machine.name}: the network does not fit into the memory of any mix of nodes")
    best, fastest = _best(found, limit), min(found, key=_time)
    while space.size > MOST:
        last = best, fastest
        for counts in {*space.around(best.counts), *space.around(fastest.counts)}:
            space.mix(counts)
        found = space.found()
        best, fastest = _best(found, limit), min(found, key=_time)
        if (best, fastest) == last:
            break
    near = [mix for counts in space.around(best.counts) if (mix := space.mix(counts)) is not None]
    lost = sum(mix is None for mix in space.known.values())
    best = space.afresh(best.counts)
    placed = best.balanced.best
    predicted = model_error.widened(of_loads(placed.loads, task.machine, placed.layout, task.rates))
    most = limit.of(fastest.real_time_factor)
    return Search(best, fastest, most, found, near, space.many, lost, predicted)


def _time(mix: Mix) -> float:
    return mix.real_time_factor


def _best(found: list[Mix], limit: Limit) -> Mix:
    fastest = min(found, key=_time)
    most = limit.of(fastest.real_time_factor)
    allowed = [mix for mix in found if mix.real_time_factor <= most]
    if not allowed:
        raise BadInput(
            f"--target-rtf={most:g}: no mix is that fast; allowed: from {fastest.real_time_factor:.4g} on,"
            f" that of {words_of(fastest)}"
        )
    return min(allowed, key=lambda mix: (mix.energy_j, mix.real_time_factor))


def words_of(mix: Mix) -> str:
    """Ranks by part, as --on takes them."""
    return ",".join(f"{name}={ranks}" for name, ranks in mix.on.items())


def _parts(machine) -> dict[str, tuple]:
    """Profile and nodes of each part; a single profile is one part with any number of nodes."""
    if isinstance(machine, Machine):
        return {name: (part.profile, part.nodes) for name, part in machine.parts.items()}
    return {machine.name: (machine, None)}


def _options(task: Task, ranks: int | None, on: dict[str, int] | None) -> list[list[int]]:
    """Numbers of ranks that each part may have: whole nodes, and the rest of `ranks`."""
    found = []
    for name, (profile, nodes) in _parts(task.machine).items():
        if on is not None:
            found.append([on.get(name, 0)])
            continue
        each = Node.of(profile, 10**9, task.threads, task.ranks_per_node).ranks
        if nodes is None and ranks is None:
            raise BadInput(f"--ranks: missing; {name} may have any number of nodes")
        room = ranks if nodes is None else min(each * nodes, ranks or each * nodes)
        found.append(sorted({*range(0, room + 1, each), room}))
    return found


def _check_power(task: Task, names: list[str]) -> None:
    """Raises BadInput for the first of these parts whose power is unknown."""
    on = dict.fromkeys(names, 1) if isinstance(task.machine, Machine) else None
    try:
        energy.power_w(Inputs(task.machine), task.layout(len(names), on))
    except UnknownValue as reason:
        raise BadInput(f"--balance=energy: {reason}") from None


class _Space:
    """All mixes; those that were asked for are kept, None where the network does not fit."""

    def __init__(self, task: Task, names: list[str], options: list[list[int]], ranks: int | None):
        self.task, self.names, self.options = task, names, options
        self.most = min(ranks or task.graph.neurons, task.graph.neurons)
        self.known: dict[Counts, Mix | None] = {}
        self.speed: dict[str, float] = {}  # neurons over the time of a rank, of the last mix with the part

    @property
    def size(self) -> int:
        """Mixes, those with no ranks and with too many included."""
        return prod(map(len, self.options))

    @property
    def many(self) -> int:
        """Mixes; where they are not all tried, with those that have too many ranks."""
        return self.size if self.size > MOST else sum(1 for _ in self.counts())

    def counts(self) -> Iterator[Counts]:
        """All mixes."""
        return filter(self._allowed, product(*self.options))

    def grid(self) -> Iterator[Counts]:
        """Some of them: 0, 1, 2, 3, 4, 6, 8, 12, ... nodes of each part, and all."""
        return filter(self._allowed, product(*map(_coarse, self.options)))

    def _allowed(self, counts: Counts) -> bool:
        return 1 <= sum(counts) <= self.most

    def around(self, counts: Counts) -> Iterator[Counts]:
        """Mixes with a step more or less of one part."""
        for number, own in enumerate(self.options):
            at = own.index(counts[number])
            for near in (at - 1, at + 1):
                if 0 <= near < len(own):
                    changed = (*counts[:number], own[near], *counts[number + 1 :])
                    if self._allowed(changed):
                        yield changed

    def found(self) -> list[Mix]:
        return [mix for mix in self.known.values() if mix is not None]

    def mix(self, counts: Counts) -> Mix | None:
        """What the model says of a mix; None where the network does not fit."""
        if counts not in self.known:
            try:
                self.known[counts] = self._mix(counts)
            except TooLarge:
                self.known[counts] = None
        return self.known[counts]

    def afresh(self, counts: Counts) -> Mix:
        """The same, found from equal ranks."""
        self.speed.clear()
        return self._mix(counts)

    def _mix(self, counts: Counts) -> Mix:
        on, machine = self._on(counts), self.task.machine
        whole = isinstance(machine, Machine)
        made = balanced(self.task, sum(counts), on if whole else None, self._start(on))
        best = made.best
        for name, share in zip(on, best.layout.shares, strict=True):
            self.speed[name] = float((best.want / best.compute_s)[share.slice].mean())
        nodes = {name: share.node.nodes for name, share in zip(on, best.layout.shares, strict=True)}
        question, inputs = Question(best.loads, best.layout, machine), Inputs(machine)
        if POWER in question.lacking(inputs):
            raise BadInput(f"--balance=energy: {question.without[POWER]}")
        found = question.evaluate(inputs)
        return Mix(counts, on, nodes, made, found["real_time_factor"], found[POWER])

    def _on(self, counts: Counts) -> dict[str, int]:
        return {name: ranks for name, ranks in zip(self.names, counts, strict=True) if ranks}

    def _start(self, on: dict[str, int]) -> np.ndarray | None:
        """Weights to begin with, from mixes that were balanced before."""
        if not set(on) <= set(self.speed):
            return None
        return np.repeat([self.speed[name] for name in on], list(on.values()))


def _coarse(options: list[int]) -> list[int]:
    places, step = {0, len(options) - 1}, 1
    while step < len(options):
        places |= {step, min(3 * step // 2, len(options) - 1)}
        step *= 2
    return [options[place] for place in sorted(places)]
