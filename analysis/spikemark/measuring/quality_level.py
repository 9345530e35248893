"""Quality levels of a power measurement, as the EE HPC Working Group defines them."""

import math
from dataclasses import dataclass

from spikemark.models.power import PowerTrace, Sampling

from .run_timeline import Timeline

LEVELS = (
    "EE HPC WG, Power Measurement Methodology 2.0 (2015), summary of aspects and quality levels"
)
#: Longest time between two readings of level 1, s.
MAX_INTERVAL_S = 1.0
#: Clocks and averaging make readings a second apart a little more than a second apart.
INTERVAL_TOLERANCE = 1.05
#: Shortest core phase of level 1, s, and the share of it that readings have to cover.
MIN_CORE_PHASE_S, COMPLETE_COVERAGE = 60.0, 0.999
#: Fewest readings in the core phase of level 2.
MIN_CORE_READINGS = 10
#: Accuracy of the meter by level.
ACCURACY_PERCENT = {1: 5.0, 2: 2.0}


@dataclass(frozen=True)
class QualityLevel:
    """The level that was reached, and what the next one takes.

    Level 3 requires energy that the meter integrates at 100 or 120 readings a second. No reading
    here can show that, so it is never given.
    """

    level: int  #: 0 for below level 1
    lacking: list[str]  #: aspects of the next level

    @property
    def words(self) -> str:
        return f"level {self.level}" if self.level else "below level 1"


def quality_level(
    sampling: Sampling,
    trace: PowerTrace,
    run: Timeline,
    idle: bool,
    at_wall: float | None,
) -> QualityLevel:
    """The level of a measurement.

    Args:
        sampling: of the readings in the measured part.
        trace: all readings.
        run: when it was measured.
        idle: whether idle power is known.
        at_wall: accuracy in %, of a meter of the whole machine; None: the meter is another one.

    Example:
        >>> import numpy as np
        >>> trace = PowerTrace(np.arange(0.0, 100.0, 0.1), power_w=np.full(1000, 90.0))
        >>> run = Timeline(measured=(10.0, 90.0))
        >>> sampling = Sampling.from_traces([trace], *run.measured)
        >>> quality_level(sampling, trace, run, idle=True, at_wall=4.0)
        QualityLevel(level=1, lacking=['accuracy of 2 %'])
    """
    accuracy = math.inf if at_wall is None else at_wall
    core_phase = sampling.coverage >= COMPLETE_COVERAGE and run.duration_s >= MIN_CORE_PHASE_S
    first = {
        "a reading per second": sampling.longest_s <= MAX_INTERVAL_S * INTERVAL_TOLERANCE,
        "readings of a core phase of a minute or more": core_phase,
        "a meter of the whole machine (--at-wall)": at_wall is not None,
        f"accuracy of {ACCURACY_PERCENT[1]:g} %": accuracy <= ACCURACY_PERCENT[1],
    }
    second = {
        f"accuracy of {ACCURACY_PERCENT[2]:g} %": accuracy <= ACCURACY_PERCENT[2],
        "readings of the full run": trace.covers(*run.with_pause),
        f"{MIN_CORE_READINGS} readings in the core phase": sampling.readings >= MIN_CORE_READINGS,
        "idle power": idle,
    }
    for level, aspects in enumerate((first, second)):
        lacking = [aspect for aspect, met in aspects.items() if not met]
        if lacking:
            return QualityLevel(level, lacking)
    return QualityLevel(2, [])
