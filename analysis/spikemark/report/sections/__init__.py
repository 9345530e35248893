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

#: Waiting first, which pages are about; then what the time is spent on, what the networks did, and the runs.
SECTIONS: tuple[Callable[[View], Section], ...] = (
    waiting.section,
    budget.section,
    validation.section,
    cycle_times.section,
    autocorrelation.section,
    evolution.section,
    phases.section,
    speed.section,
    exchanges.section,
    access.section,
    cache.section,
    growth.section,
    energy.section,
    counters.section,
    activity.section,
    peers.section,
    correctness.section,
    runs.section,
    provenance.section,
    glossary.section,
    literature.section,
)
