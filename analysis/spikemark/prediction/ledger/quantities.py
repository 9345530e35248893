"""Quantities that can be predicted and scored: names, units, and how each is read from a record."""

from collections.abc import Callable
from dataclasses import dataclass

from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.phases import COMPUTE, HELD, NOT_TIMED
from spikemark.records.record import Run

PER_SECOND = "s per simulated s"
ONE_THREAD = "a simulated rank has one thread, whose update holds the waiting of threads"


@dataclass(frozen=True)
class Scored:
    """`of` reads it from a run; a quantity that the run does not have is missing, with the reason."""

    what: str
    unit: str
    of: Callable[[Run], Quantity]


def _spent(*parts: str) -> Callable[[Run], Quantity]:
    def of(run: Run) -> Quantity:
        if parts == ("update",) and (run.simulation or {}).get("threads", 1) > 1:
            return missing(ONE_THREAD, PER_SECOND)
        spent = run.spent_s(*parts)
        if spent is None:
            return missing(HELD if {*parts} <= {*COMPUTE} else NOT_TIMED, PER_SECOND)
        return Quantity(spent / run.record.timing.model_s, unit=PER_SECOND, kind=run.record.kind)

    return of


def _factor(run: Run) -> Quantity:
    return Quantity(run.record.timing.real_time_factor, unit="1", kind=run.record.kind)


#: The names are those of prediction.predict.FIGURES; `compute` is the sum of the parts of COMPUTE.
QUANTITIES = {
    "real_time_factor": Scored("real-time factor", "1", _factor),
    "compute": Scored("computing", PER_SECOND, _spent(*COMPUTE)),
    "deliver": Scored("delivery", PER_SECOND, _spent("deliver")),
    "update": Scored("update", PER_SECOND, _spent("update")),
    "waiting": Scored("waiting for the slowest rank", PER_SECOND, _spent("waiting")),
    "exchange": Scored("exchange", PER_SECOND, _spent("exchange")),
}
