"""A way to run a network on a machine, and which ones there are to try."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.node import Node
from spikemark.machines.profile import UnknownValue
from spikemark.network.placement import PLACEMENTS
from spikemark.network.schedules import SCHEDULES, Schedule, square
from spikemark.quantities.quantity import Quantity

from . import cycles, energy, model_error
from .intervals import predicted
from .layout import Layout
from .loads import Loads
from .predict import Question

FACTOR = "real_time_factor"


@dataclass(frozen=True)
class Option:
    """A way to run the network that is exact."""

    schedule: Schedule
    loads: Loads
    node: Node
    question: Question = field(repr=False, compare=False)
    changed: dict = field(default_factory=dict, compare=False)  # fields of the description

    @property
    def layout(self) -> Layout:
        """The ranks on each node."""
        return Layout.equal(self.node, self.loads.ranks)

    @property
    def energy_w(self) -> float:
        """Power in W, by which options on as many nodes are told apart; 0 where it is unknown."""
        try:
            return energy.power_w(Inputs(self.question.profile), self.layout)
        except UnknownValue:
            return 0.0

    @cached_property
    def factor(self) -> float:
        """The real-time factor, without an interval."""
        return self.question.times(Inputs(self.question.profile))[FACTOR]

    def with_longer_cycle(self, description: dict, hz: np.ndarray) -> "tuple[float, Option | None] | None":
        """The longest cycle that is exact, ms, and the option with it, None where its lag is too long then.

        None where the `description` has that cycle. `hz` [population] are the rates.
        """
        found, of = cycles.longer(description | self.changed), self.loads
        if found is None:
            return None
        cycle_ms = found["time"]["cycle_ms"]
        try:
            loads = Loads.of(found, of.ranks, of.threads, hz, self.schedule, of.placement)
        except BadInput:
            return cycle_ms, None
        question = Question(loads, self.layout, self.question.profile, self.question.simulator)
        return cycle_ms, replace(self, loads=loads, question=question)

    def ratio(self, best: "Option") -> Quantity:
        """Its time over that of the best option.

        Values that both depend on are moved in both at once, and so is the error of the model.
        """

        def evaluate(inputs: Inputs) -> dict[str, float]:
            return {"ratio": self.question.times(inputs)[FACTOR] / best.question.times(inputs)[FACTOR]}

        ratio = predicted(Inputs(self.question.profile), evaluate)[0]["ratio"]
        ways = [(one.question.times(Inputs(one.question.profile)), one.loads) for one in (self, best)]
        return model_error.of_ratio(ratio, *ways)


def layouts(profile) -> list[int]:
    """Ranks on a node that are tried: one, one per socket, and about one for every part of its memory."""
    cores = round(profile.need("node.cores", "placing ranks").value)
    sockets = profile.get("node.sockets")
    each = {1, square(cores), *([] if sockets is None else [round(sockets.value)])}
    return sorted(n for n in each if n <= cores)


def placements(schedule: Schedule) -> list[str]:
    """The placements to try with a schedule; of schedules with the same lanes, each placement has one."""
    same = [s for s in SCHEDULES.values() if s.lanes == schedule.lanes] or [schedule]
    owner = {name: next((s for s in same if s.placement == name), same[-1]) for name in PLACEMENTS}
    return [name for name in PLACEMENTS if owner[name] == schedule]
