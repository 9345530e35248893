"""What waiting and run time would be if something about a run were different.

Each change is one function on the situation of a run and one line in `CHANGES`, or in `GIVEN` if it needs
an argument; several can be made together.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.network.meetings import plan
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.record import Run

from . import PREDICTORS, further, series
from .budget import USUAL_RATIO, separating
from .predictor import Prediction
from .source import Source, source
from .split import Split

PREDICTOR = "replay"
TOGETHER, OF = "+", "="  # between changes, and between a change and its argument
COMBINED = ("halve-jitter+level-ranks", "double-delay-ratio+halve-latency", "double-ranks+double-delay-ratio")
SLOWEST = 0.02
MOST_SLOW = 1000.0  # times as long as usual


@dataclass(frozen=True)
class Situation:
    """Cycle times, and how the ranks meet.

    `told_apart` is the D that separates jitter from drift. `share` is the drift share (`split`), or None for
    its estimate. `half_s` widens the interval of the waiting over the run on either side, because the parts
    of the times that were changed are known less well than the changed times show.
    """

    source: Source
    schedule: str = "conventional"
    delay_ratio: int = 1
    told_apart: int = 10
    share: float | None = None
    times_ranks: int = 1  # multiple of the measured ranks
    half_s: float = 0.0
    slowed: bool = False  # ranks that were slowed stand for nobody else

    @property
    def ranks(self) -> int:
        return self.times_ranks * self.source.ranks

    @property
    def window(self) -> int:
        """D in effect: 1 for the schedules that do not use it."""
        return plan(self.schedule, self.delay_ratio, self.ranks).delay_ratio

    @cached_property
    def split(self) -> Split:
        return Split(self.source.compute, max(self.told_apart, 2))

    def with_share(self, share: float) -> "Situation":
        """The same times with another share of drift."""
        other = replace(self, share=share)
        other.__dict__["split"] = self.split  # the cached one
        return other

    def scaled(self, persistent: float, jitter: float, drift: float, rare: float = 1.0) -> "Situation":
        """The same times with scaled parts; what ranks share stays."""
        split = self.split
        share = split.shares()[0] if self.share is None else self.share
        times = split.scaled(persistent, jitter, drift, rare, share)
        times += (split.shared + rare * split.rare.mean(axis=0)).astype(times.dtype)
        loose = persistent - split.slow_factor(persistent, jitter, drift, share)
        return self.with_times(times, lambda last: loose * last)

    def with_times(self, times: np.ndarray, loose: Callable[[np.ndarray], np.ndarray]) -> "Situation":
        """The same situation with other times [rank, cycle].

        The change also scaled the noise in the rank effects, which should have been scaled as fluctuations.
        `loose` receives how often each rank is last, less the mean, and returns how much the waiting grows
        with the noise of each rank; this widens `half_s`.
        """
        ranks, cycles = self.source.ranks, self.source.cycles
        slowest = np.argmax(lump(times, self.window), axis=0)
        last = np.bincount(slowest, minlength=ranks) / len(slowest) - 1 / ranks
        low, high = series.mean(loose(last) @ (self.split.regular - self.split.shared)).interval()
        source = replace(self.source, compute=np.maximum(times, 0))
        return replace(self, source=source, half_s=self.half_s + (high - low) / 2 * cycles)


def halve_jitter(now: Situation) -> Situation:
    """Fluctuations that average out over D cycles are half as large."""
    return now.scaled(1.0, 0.5, 1.0)


def replace_slowest(now: Situation) -> Situation:
    """The slowest 2 % of the ranks, at least one, become as fast as the others are on average."""
    if now.times_ranks > 1:
        raise BadInput(
            f"ranks={now.ranks}: the slowest are known only among the {now.source.ranks} measured ranks"
        )
    effects, ranks = now.split.effects, now.source.ranks
    out = np.zeros(ranks, dtype=bool)
    out[np.argsort(now.split.components.rank_means)[ranks - ceil(SLOWEST * ranks) :]] = True
    faster = np.where(out, effects - effects[~out].mean(), 0.0)
    times = (now.source.compute - faster[:, None]).astype(now.source.compute.dtype)
    return now.with_times(times, lambda last: np.where(out, -last, last[out].sum() / (~out).sum()))


def level_ranks(now: Situation) -> Situation:
    """Ranks no longer differ lastingly, as if all areas had equal work."""
    return now.scaled(0.0, 1.0, 1.0)


def no_rare_cycles(now: Situation) -> Situation:
    """Cycles that take far longer than is usual for their rank take the usual time."""
    return now.scaled(1.0, 1.0, 1.0, 0.0)


def double_delay_ratio(now: Situation) -> Situation:
    """All ranks meet half as often; conventional becomes structure-aware with D = 2."""
    schedule = "structure_aware" if now.window == 1 else now.schedule
    return replace(now, schedule=schedule, delay_ratio=2 * now.window)


def halve_latency(now: Situation) -> Situation:
    """An exchange and its barrier take half the time."""
    source = now.source
    half = replace(source, exchange_s=source.exchange_s / 2, overhead_s=source.overhead_s / 2)
    doubt = source.doubt_s and tuple(x / 2 for x in source.doubt_s)
    cheaper = replace(half, doubt_s=doubt)
    return replace(now, source=cheaper)


def double_ranks(now: Situation) -> Situation:
    """There are twice as many ranks, each with as much to compute as before."""
    if now.slowed:
        raise BadInput(f"ranks={2 * now.ranks}: further ranks are not drawn from slowed ones")
    further.check(2 * now.ranks, now.source.ranks)
    return replace(now, times_ranks=2 * now.times_ranks)


def slow_rank(now: Situation, given: str) -> Situation:
    """One rank takes so many times as long in every cycle, as on a slower node: slow-rank=3:1.2."""
    number, _, factor = given.partition(":")
    try:
        rank, times = int(number), float(factor)
    except ValueError:
        raise BadInput(f"{given!r}: RANK:FACTOR is needed, such as 3:1.2") from None
    if now.times_ranks > 1 or not 0 <= rank < now.ranks:
        raise BadInput(f"rank={rank}: allowed are the measured ranks, 0 to {now.source.ranks - 1}")
    if not 1 <= times <= MOST_SLOW:
        raise BadInput(f"factor={factor}: 1 to {MOST_SLOW:g} are allowed")
    compute = np.array(now.source.compute)
    compute[rank] *= times
    return replace(now, source=replace(now.source, compute=compute), slowed=True)


CHANGES: dict[str, Callable[[Situation], Situation]] = {
    "halve-jitter": halve_jitter,
    "replace-slowest": replace_slowest,
    "level-ranks": level_ranks,
    "no-rare-cycles": no_rare_cycles,
    "double-delay-ratio": double_delay_ratio,
    "halve-latency": halve_latency,
    "double-ranks": double_ranks,
}
#: Changes with an argument, by what precedes `=`. They are not among the changes that are tried unasked.
GIVEN: dict[str, Callable[[Situation, str], Situation]] = {"slow-rank": slow_rank}
ARGUMENTS = {"slow-rank": "RANK:FACTOR"}


def find(name: str) -> Callable[[Situation], Situation] | None:
    """The single change of that name, with its argument; None if there is none."""
    kind, sign, given = name.partition(OF)
    return partial(GIVEN[kind], given=given) if sign and kind in GIVEN else CHANGES.get(name)


def meanings() -> dict[str, str]:
    """What each change does, by its name, with what its argument is."""
    asked = {f"{name}{OF}{ARGUMENTS[name]}": change for name, change in GIVEN.items()}
    return {name: str(change.__doc__) for name, change in (CHANGES | asked).items()}


def meaning(name: str) -> str | None:
    """What a single change does; None for combined ones and for the unchanged run."""
    change = CHANGES.get(name) or GIVEN.get(name.partition(OF)[0])
    return None if change is None or TOGETHER in name else change.__doc__


@dataclass(frozen=True)
class Outcome:
    """What the run would be after a change: waiting and run time in s over the run.

    Computing is taken as known.

    The intervals allow for what the change itself does not know. Both are missing, and `prediction` None,
    where the change was refused.
    """

    name: str
    waiting: Quantity
    runtime: Quantity
    prediction: Prediction | None = None

    @property
    def refused(self) -> str | None:
        """Why the change was refused; None if it was not."""
        return self.waiting.reason


def situation(runs: list[Run], schedule: str = "conventional", delay_ratio: int = 1) -> Situation:
    """The situation of conventional runs of one setup; raises BadInput as `source` does.

    The D of their description separates jitter from drift, as in a budget.
    """
    own = separating(runs[0].delay_ratio, runs[0].measured_cycles) if runs else None
    return Situation(source(runs), schedule, delay_ratio, told_apart=own or USUAL_RATIO)


def whatif(base: Situation, names=(*CHANGES, *COMBINED), predictor: str = PREDICTOR) -> list[Outcome]:
    """The outcome of the unchanged run, called `base`, and one per name.

    `+` joins changes made one after the other.

    Changes outside the range in which predictions have been compared with the truth are refused. Raises
    BadInput for unknown names.
    """
    if predictor not in PREDICTORS:
        raise BadInput(f"predictor={predictor!r}: known are {', '.join(PREDICTORS)}")
    for name in names:
        unknown = [part for part in name.split(TOGETHER) if find(part) is None]
        if unknown:
            known = ", ".join(meanings())
            raise BadInput(f"change={unknown[0]!r}: known are {known}, several joined by {TOGETHER}")
    return [_outcome(base, name, predictor) for name in ("", *names)]


def _outcome(base: Situation, name: str, predictor: str) -> Outcome:
    try:
        now = _changed(base, name)
        made = _predict(now, predictor)
        ends = [base.with_share(share) for share in base.split.shares()[1:]] if now.half_s else []
        shifts = [_predict(_changed(end, name), predictor).waiting_s - made.waiting_s for end in ends]
        less, more = now.half_s - min(shifts, default=0.0), now.half_s + max(shifts, default=0.0)
        least = made.runtime_s - made.waiting_s
        waiting, runtime = (one.widened(less, more) for one in (made.waiting, made.runtime))
        waiting, runtime = (
            replace(waiting, low=max(waiting.low, 0)),
            replace(runtime, low=max(runtime.low, least)),
        )
        return Outcome(name or "base", waiting, runtime, made)
    except BadInput as reason:
        none = missing(str(reason), "s", "refused")
        return Outcome(name or "base", none, none)


def _changed(now: Situation, name: str) -> Situation:
    for part in name.split(TOGETHER) if name else ():
        now = find(part)(now)
    return now


def _predict(now: Situation, predictor: str) -> Prediction:
    return PREDICTORS[predictor].fit(now.source).predict(now.schedule, now.delay_ratio, now.ranks)
