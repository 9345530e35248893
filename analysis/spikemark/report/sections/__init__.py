"""The parts of a sweep's page, in their order; each is a function Answer -> Section, in a file of
its own.

The first sentence of a section answers the question that its heading asks. A section that has
nothing to show says in `missing` why.
"""

from collections.abc import Callable
from dataclasses import replace

from spikemark.quantities.elements import Section
from spikemark.report import cases
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
#: Those that show the chosen case only.
OF_ONE_CASE = (
    waiting.section,
    prediction.section,
    cycles.section,
    memory.section,
    energy.section,
)


def sections(sweep: SweepAnswer) -> list[Section]:
    """All sections; those of one case say which, where the sweep has several.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> len(sections(sweep)) == len(SECTIONS)
        True
    """
    made = []
    for make in SECTIONS:
        section = make(sweep)
        case = cases.only(sweep)
        if make in OF_ONE_CASE and case and section.text:
            section = replace(section, text=[*section.text, case])
        made.append(section)
    return made
