"""What is expected of the effects of machines of which no run is published."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .effects import (
    OF_MACHINES,
    Array,
    Key,
    Spreads,
    State,
    effects_of,
    machine_by_part,
    sd_with_tails,
)
from .likeness import ROUNDING, likeness, may_be, shortfall, unstated
from .points import PublishedRun
from .program_costs import PARTS
from .published_machine import PublishedMachine


class Doubt(NamedTuple):
    """How far off the expected effect of a machine would be if what its profile does not state were
    that of others: as log SDs towards shorter and towards longer times.

    Nothing that is left open makes it faster than the fastest of those that it may be like. Slower
    than the slowest it may be, since a value that is not stated is seldom a good one.
    """

    faster: float
    slower: float


@dataclass(frozen=True)
class OfferedMachines:
    """What is expected of machines of which no run is published.

    Such a machine is expected to have the effect of one with like data (likeness.py). What is left
    is an error of its nodes, in the exchange also one of its network: so two offers of the same
    nodes share what is not known of these, and a network on which little depends decides little.
    The doubt for what profiles do not state of networks is alike on all offers: of two that leave
    the same open, only what they state decides; beside one that states it, all of it counts.
    """

    known: State  #: what published runs say
    measured: frozenset[PublishedMachine]  #: the machines of these
    spread: Spreads

    def unknown(self, run: PublishedRun) -> set[Key]:
        """The effects of the machine of a run that no published run informs."""
        of_machine = {key for key in effects_of(run) if key.aspect in OF_MACHINES}
        return of_machine.difference(self.known.keys)

    def sd(self, key: Key, run: PublishedRun) -> float:
        """Log SD of an effect of the machine of a run, beside its doubt."""
        sd, _ = self.spread.of(key, run.program)
        return sd * self._wider(key, run)

    def doubt(self, key: Key, run: PublishedRun) -> Doubt:
        """Log SDs of an effect for what the profile of the machine does not state."""
        _, doubt = _expected(key, run, self.measured, self.known)
        wider = self._wider(key, run)
        return Doubt(wider * doubt.faster, wider * doubt.slower)

    def _wider(self, key: Key, run: PublishedRun) -> float:
        """Factor of both: the less is stated and the fewer effects are known, the wider."""
        _, number = self.spread.of(key, run.program)
        return sd_with_tails(unstated(key.part, run.machine, run.nodes), number)

    def sds(self, runs: Iterable[PublishedRun]) -> dict[Key, float]:
        """Log SDs, with doubts, of the effects of machines that no published run informs."""
        sds: dict[Key, float] = {}
        for run in runs:
            for key in self.unknown(run):
                sd = float(np.hypot(self.sd(key, run), max(self.doubt(key, run))))
                sds[key] = max(sds.get(key, 0.0), sd)
        return sds

    def expected(self, run: PublishedRun) -> Array:
        """What a machine like others is expected to add to log A and log B of a run, [part]."""
        logs = np.zeros(len(PARTS))
        for part, aspect in {(key.part, key.aspect) for key in self.unknown(run)}:
            expected, _ = _expected(Key(part, aspect, ""), run, self.measured, self.known)
            logs[PARTS.index(part)] += expected
        return logs


def _expected(
    key: Key, run: PublishedRun, measured: Iterable[PublishedMachine], state: State
) -> tuple[float, Doubt]:
    """Expectation of the effect of the machine of a run, from those of machines with like data
    (likeness.py); and the doubt about it.

    Of faster machines that it is as good as, the fastest counts; of slower ones that it is no
    better than, the slowest: then better data never make it slower. Nor is it slower than a machine
    that it is as good as in everything, or faster than one that it is nowhere better than: one with
    the same data has the same effect.
    """
    faster, slower = 0.0, 0.0
    doubt_faster, doubt_slower = 0.0, 0.0
    least, most = -math.inf, math.inf
    machine = run.machine
    of_possible_twins = []
    for other in measured:
        other_key = key._replace(name=machine_by_part(other)[key.part][0])
        if other_key not in state.keys:
            continue
        mean = float(state.mean[state.keys.index(other_key)])
        share, in_doubt = likeness(key.part, machine, other, slow=mean > 0, nodes=run.nodes)
        faster = min(faster, share * mean)
        slower = max(slower, share * mean)
        doubt_faster = max(doubt_faster, in_doubt * -mean)
        doubt_slower = max(doubt_slower, in_doubt * abs(mean))
        most = min(most, mean + shortfall(machine, other, run.nodes))
        least = max(least, mean - shortfall(other, machine, run.nodes))
        if may_be(machine, other, run.nodes):
            of_possible_twins.append(mean)
    expected = float(np.clip(faster + slower, min(least, most), max(least, most)))
    # The same data as one machine, or as several that differ in what data do not say.
    if least >= most - ROUNDING:
        apart = max(0.0, least - most)
        return expected, Doubt(apart / 2, apart / 2)
    doubt_faster = max([doubt_faster, *(expected - mean for mean in of_possible_twins)])
    doubt_slower = max([doubt_slower, *(abs(mean - expected) for mean in of_possible_twins)])
    return expected, Doubt(doubt_faster, doubt_slower)
