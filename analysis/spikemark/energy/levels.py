"""Which level of the EE HPC Working Group's methodology for measuring power a measurement reaches.

Source: Energy Efficient High Performance Computing Power Measurement Methodology, version 2.0 (2015), table
"Summary of aspects and quality levels". Core phase: the measured part of the run. Level 3 requires energy
that the meter itself integrates at 100 or 120 readings a second. No reading here can show that, so level 3 is
never given.
"""

from dataclasses import dataclass

from .sampling import Sampling
from .timeline import Timeline
from .trace import Trace

SOURCE = "EE HPC WG, Power Measurement Methodology 2.0 (2015), summary of aspects and quality levels"
LONGEST_INTERVAL_S, CORE_PHASE_S, CORE_READINGS = 1.0, 60.0, 10
ACCURACY_PERCENT = {1: 5.0, 2: 2.0}
#: Clocks and averaging make readings a second apart a little more than a second apart.
TOLERANCE = 1.05


@dataclass(frozen=True)
class Criterion:
    """What a level requires, what there is, and whether that is enough."""

    level: int
    aspect: str
    needed: str
    found: str
    met: bool


@dataclass(frozen=True)
class Reached:
    """The level that was reached, 0 for below level 1, and all criteria."""

    level: int
    criteria: list[Criterion]

    @property
    def words(self) -> str:
        return f"level {self.level}" if self.level else "below level 1"

    @property
    def lacking(self) -> list[Criterion]:
        """The criteria of the next level that are not met."""
        return [c for c in self.criteria if c.level == self.level + 1 and not c.met]


def reached(
    sampling: Sampling, trace: Trace, timeline: Timeline, idle: bool, at_wall_percent: float | None
) -> Reached:
    """The level of a measurement.

    `at_wall_percent` is the accuracy of a meter of the whole machine before power conversion, or None.
    """
    apart, core_s = sampling.longest_s, timeline.duration_s
    whole = sampling.coverage >= 0.999
    wall = "part of the machine, or not stated (--at-wall)" if at_wall_percent is None else "whole machine"
    accuracy = "not stated" if at_wall_percent is None else f"{at_wall_percent:g} %"
    criteria = [
        Criterion(1, "1a granularity", "one reading per second", f"up to {apart:.3g} s apart",
                  apart <= LONGEST_INTERVAL_S * TOLERANCE),
        Criterion(1, "1b timing", "all of the core phase, at least one minute",
                  f"{100 * sampling.coverage:.4g} % of {core_s:.4g} s", whole and core_s >= CORE_PHASE_S),
        Criterion(1, "2, 3, 4a what is measured", "whole machine with interconnect, before power conversion",
                  wall, at_wall_percent is not None),
        *(Criterion(n, "4b accuracy", f"{limit:g} % or better", accuracy,
                    at_wall_percent is not None and at_wall_percent <= limit)
          for n, limit in ACCURACY_PERCENT.items()),
        Criterion(2, "1b timing", "the full run", _extent(trace, timeline),
                  trace.covers(*timeline.known)),
        Criterion(2, "1c readings", f"{CORE_READINGS} in the core phase", str(sampling.readings),
                  sampling.readings >= CORE_READINGS),
        Criterion(2, "1c idle power", "measured", "measured" if idle else "missing", idle),
    ]  # fmt: skip
    level = 0
    while level < 2 and all(c.met for c in criteria if c.level == level + 1):
        level += 1
    return Reached(level, criteria)


def _extent(trace: Trace, timeline: Timeline) -> str:
    start, end = timeline.known
    return f"from {trace.first - start:.3g} s after its start to {end - trace.last:.3g} s before its end"
