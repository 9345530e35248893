"""What could be changed about a run: one function on its situation and one line in `CHANGES` each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from spikemark.errors import BadInput
from spikemark.waiting import plan as plans
from spikemark.waiting import series
from spikemark.waiting.source import Source, lump
from spikemark.waiting.split import Split

MOST_TIMES_RANKS = 4  # so many times the fitted ranks is as far as predictions were compared with known truth
SLOWEST = 0.02


@dataclass(frozen=True)
class Situation:
    """Cycle times, and how the ranks are to meet.

    `told_apart` is the D that tells jitter from drift, `share` the drift share (`split`) where it is not to
    be the estimate. `half_s` is by how much an interval of the waiting over the run must be wider on either
    side, because scaled parts of the times are known less well than the scaled times show.
    """

    source: Source
    schedule: str = "conventional"
    delay_ratio: int = 1
    ranks: int = 0  # 0 stands for the fitted ones
    lag: int | None = None
    told_apart: int = 10
    share: float | None = None
    half_s: float = 0.0

    @property
    def all_ranks(self) -> int:
        return self.ranks or self.source.ranks

    @property
    def window(self) -> int:
        """D in effect: 1 for the schedules that do not use it."""
        return plans.plan(self.schedule, self.delay_ratio, self.all_ranks, self.lag).delay_ratio

    @cached_property
    def split(self) -> Split:
        return Split(self.source.compute, max(self.told_apart, 2))

    def scaled(self, persistent: float, jitter: float, drift: float) -> "Situation":
        """With the parts of the cycle times scaled; what ranks share stays.

        Noise in the rank effects is scaled as the effects are, not as the fluctuations it comes from: what
        the difference makes of the waiting, to first order, goes into `half_s`.
        """
        split = self.split
        share = split.shares()[0] if self.share is None else self.share
        times = split.scaled(persistent, jitter, drift, share)
        loose = persistent - split.slow_factor(persistent, jitter, drift, share)
        cycles = self.source.cycles // self.window * self.window
        last = np.argmax(lump(times, self.window, cycles), axis=0)
        often = np.bincount(last, minlength=self.source.ranks) / len(last) - 1 / self.source.ranks
        low, high = series.mean(loose * often @ (self.source.compute - split.shared)).interval()
        times += split.shared.astype(times.dtype)
        return replace(
            self,
            source=replace(self.source, compute=np.maximum(times, 0)),
            half_s=self.half_s + (high - low) / 2 * self.source.cycles,
        )


def halve_jitter(now: Situation) -> Situation:
    """Fluctuations that average out over D cycles are half as large."""
    return now.scaled(1.0, 0.5, 1.0)


def replace_slowest(now: Situation) -> Situation:
    """The slowest 2 % of the ranks, at least one, are replaced by ranks like any of the others."""
    out = ceil(SLOWEST * now.source.ranks)
    if now.source.ranks - out < 2:
        raise BadInput(f"ranks={now.source.ranks}: replace-slowest needs at least 3, two of them to go by")
    means = now.source.compute.mean(axis=1, dtype=np.float64)
    kept = np.sort(np.argsort(means)[:-out])
    return replace(now, source=replace(now.source, compute=now.source.compute[kept]), ranks=now.all_ranks)


def level_ranks(now: Situation) -> Situation:
    """No lasting differences between ranks, as with areas of equal work."""
    return now.scaled(0.0, 1.0, 1.0)


def double_delay_ratio(now: Situation) -> Situation:
    """All ranks meet half as often; conventional becomes structure-aware with D = 2."""
    schedule = "structure_aware" if now.window == 1 else now.schedule
    return replace(now, schedule=schedule, delay_ratio=2 * now.window)


def halve_latency(now: Situation) -> Situation:
    """An exchange and its barrier take half the time."""
    source = now.source
    cheaper = replace(source, exchange_s=source.exchange_s / 2, overhead_s=source.overhead_s / 2)
    return replace(now, source=cheaper)


def double_ranks(now: Situation) -> Situation:
    """Twice the ranks, each with as much to compute as before."""
    return replace(now, ranks=2 * now.all_ranks)


CHANGES: dict[str, Callable[[Situation], Situation]] = {
    "halve-jitter": halve_jitter,
    "replace-slowest": replace_slowest,
    "level-ranks": level_ranks,
    "double-delay-ratio": double_delay_ratio,
    "halve-latency": halve_latency,
    "double-ranks": double_ranks,
}
