"""The sections of the page, in order.

A section is one file or one small package, with everything that the section prepares, draws and says. Its
function `section(view) -> Section` is listed here; nothing else needs to know about it.
"""

from collections.abc import Callable

from spikemark.quantities.elements import Section
from spikemark.records.cases import View

from . import (
    access,
    activity,
    autocorrelation,
    budget,
    cache,
    correctness,
    counters,
    cycle_times,
    energy,
    evolution,
    exchanges,
    glossary,
    growth,
    literature,
    peers,
    phases,
    provenance,
    runs,
    speed,
    validation,
    waiting,
)

SECTIONS: tuple[Callable[[View], Section], ...] = (
    phases.section,
    speed.section,
    peers.section,
    growth.section,
    exchanges.section,
    cycle_times.section,
    evolution.section,
    autocorrelation.section,
    waiting.section,
    validation.section,
    budget.section,
    access.section,
    cache.section,
    counters.section,
    energy.section,
    activity.section,
    correctness.section,
    provenance.section,
    runs.section,
    glossary.section,
    literature.section,
)
