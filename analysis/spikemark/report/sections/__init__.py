"""The parts of a sweep's page, in their order; each is a function Answer -> Section, in a file of
its own.

The first sentence of a section answers the question that its heading asks. A section that has
nothing to show says in `missing` why.
"""

from collections.abc import Callable

from spikemark.quantities.elements import Section
from spikemark.report.answer import SweepAnswer

from . import activity, checks, cycles, energy, memory, prediction, speed, waiting

SECTIONS: tuple[Callable[[SweepAnswer], Section], ...] = (
    waiting.section,
    prediction.section,
    cycles.section,
    speed.section,
    memory.section,
    energy.section,
    activity.section,
    checks.section,
)
