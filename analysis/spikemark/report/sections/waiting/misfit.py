"""How far the published theory of waiting misses the very runs that it is fitted to, and why."""

from dataclasses import dataclass

import numpy as np

from spikemark.models.waiting_iid import IidWaiting
from spikemark.quantities.words import geometric_mean, number, percent
from spikemark.records.cases import Case
from spikemark.records.gather import Measured

NOTABLE = 2  # the headline mentions a misfit by at least this factor
TAIL = 0.01  # share of a rank's longest times that is left out to see their effect


@dataclass(frozen=True)
class Misfit:
    """Theory against the waiting of the conventional runs it is fitted to; geometric means over runs.

    `kind`: what the observed times are. `factor`: expected over observed waiting. `factor_without_tail`,
    `cv_without_tail`: the same without the longest times of each rank, a share of TAIL. `implied`: waiting
    that follows from the compute times alone, over the observed. `between`: share of the variance of the
    compute times that lies between the ranks' means.
    """

    kind: str
    factor: float
    cv: float
    factor_without_tail: float
    cv_without_tail: float
    implied: float
    between: float

    @property
    def notable(self) -> bool:
        return not 1 / NOTABLE <= self.factor <= NOTABLE

    @property
    def reason(self) -> str:
        """What explains a notable misfit, with the numbers that show it; empty if no known cause does."""
        if not self.notable:
            return ""
        tail = f"without the longest {percent(TAIL)} of times"
        if self.factor > 1 and self.factor_without_tail <= NOTABLE:
            return (
                f"rare long cycles inflate the SD: the CV of cycle times is {number(self.cv, 2)}, but {tail} "
                f"it is {number(self.cv_without_tail, 2)}, and the theory then expects "
                f"{number(self.factor_without_tail, 2)} times the {self.kind} waiting"
            )
        if self.factor < 1 and self.implied < 1 / NOTABLE:
            return (
                f"most of it is not spent on waiting for a slower rank: the compute times alone imply "
                f"{percent(self.implied)} of the {self.kind} waiting; the rest is the barrier itself and "
                "what disturbs ranks in it"
            )
        if self.factor < 1 and self.between > 0.5:
            return (
                f"ranks differ lastingly: {percent(self.between)} of the variance of cycle times lies "
                "between ranks, so the same ranks wait in every cycle"
            )
        return ""


def misfit(case: Case, ranks: int) -> Misfit | None:
    """Returns None without conventional runs on that many ranks that have cycle times and timed waiting."""
    runs = [m for c in case.configurations(ranks) if c.schedule == "conventional" for m in case.of(c, ranks)]
    usable = (m for m in runs if ranks > 1 and m.run.cycles is not None and m.waiting)
    known = [numbers for m in usable if (numbers := _numbers(m)) is not None]
    return (
        Misfit(case.kind, *(geometric_mean(column) for column in zip(*known, strict=True))) if known else None
    )


def _numbers(m: Measured) -> tuple[float, ...] | None:
    """Returns the numbers of Misfit for one run; None if its cycles take no time or do not vary."""
    compute = m.run.compute()
    if not (compute.mean() > 0 and compute.var() > 0):
        return None
    measured = m.waiting * m.run.record.timing.model_s / compute.shape[1]  # s per cycle
    fit = IidWaiting.fit(compute)
    kept = np.sort(compute, axis=1)[:, : max(1, int((1 - TAIL) * compute.shape[1]))]
    trimmed = IidWaiting.fit(kept)
    return (
        fit.predict(1, cycles=1).waiting_s / measured,
        fit.cv(),
        trimmed.predict(1, cycles=1).waiting_s / measured,
        trimmed.cv(),
        float((compute.max(axis=0) - compute.mean(axis=0)).mean()) / measured,
        float(compute.mean(axis=1).var() / compute.var()),
    )
