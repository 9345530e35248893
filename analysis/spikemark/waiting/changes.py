"""What a run would be if something about it were different: one function of `Setting` for each change."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.network.schedules import plan

from .ladder import clipped, drift_share
from .replay import Prediction, Setting, predict
from .trace import Trace

SLOW_RANK, MOST_SLOW = "slow-rank", 1000.0


def _effects(compute: np.ndarray) -> np.ndarray:
    """Lasting differences of ranks from the mean, [rank, 1]."""
    means = compute.mean(axis=1, keepdims=True, dtype=np.float64)
    return means - means.mean()


def halve_jitter(now: Setting, d: int) -> Setting:
    """Fluctuations that average out over D cycles are half as large."""
    short = clipped(now.compute)  # long cycles stay
    own = short - short.mean(axis=0, dtype=np.float64) - _effects(short)
    share, whole = drift_share(short, d), short.shape[1] // d * d
    slow = np.repeat(lump(own, d) / d, d, axis=1)
    slow = np.pad(slow, ((0, 0), (0, short.shape[1] - whole)), mode="edge")
    half = 0.5 * own + ((share + 0.25 * (1 - share)) ** 0.5 - 0.5) * slow
    return replace(now, compute=np.maximum(now.compute - own + half, 0))


def level_ranks(now: Setting, d: int) -> Setting:
    """Ranks no longer differ lastingly, as if all had equal work."""
    return replace(now, compute=np.maximum(now.compute - _effects(now.compute), 0))


def double_delay_ratio(now: Setting, d: int) -> Setting:
    """All ranks meet half as often; conventional becomes structure-aware with D = 2."""
    p = now.plan
    schedule = "structure_aware" if p.delay_ratio == 1 else p.schedule
    return replace(now, plan=plan(schedule, 2 * p.delay_ratio, p.ranks, p.lag or None))


def halve_latency(now: Setting, d: int) -> Setting:
    """An exchange and its barrier take half the time."""
    return replace(now, cost=now.cost / 2)


def double_ranks(now: Setting, d: int) -> Setting:
    """There are twice as many ranks, each with as much to compute as before."""
    p = now.plan
    return replace(now, plan=plan(p.schedule, p.delay_ratio, 2 * p.ranks, p.lag or None)).checked()


CHANGES: dict[str, Callable[[Setting, int], Setting]] = {
    one.__name__.replace("_", "-"): one
    for one in (halve_jitter, level_ranks, double_delay_ratio, halve_latency, double_ranks)
}


def slow_rank(now: Setting, given: str) -> Setting:
    """One rank takes so many times as long in every cycle, as on a slower node: slow-rank=3:1.2."""
    compute = np.array(now.compute)
    if now.plan.ranks != len(compute):
        raise BadInput(f"ranks={now.plan.ranks}: expected the {len(compute)} measured ranks")
    number, _, factor = given.partition(":")
    try:
        rank, times = int(number), float(factor)
    except ValueError:
        rank, times = -1, 0.0
    if not (0 <= rank < len(compute) and 1 <= times <= MOST_SLOW):
        needed = f"RANK:FACTOR, a rank from 0 to {len(compute) - 1} and a factor from 1 to {MOST_SLOW:g}"
        raise BadInput(f"change={SLOW_RANK}={given}: expected {needed}, such as 3:1.2", field="change")
    compute[rank] *= times
    return replace(now, compute=compute)


@dataclass(frozen=True)
class Outcome:
    """What something makes of a run. `prediction` is None with the reason in `refused`."""

    name: str
    prediction: Prediction | None
    refused: str = ""


def outcomes(run: Trace, names, schedule: str = "conventional", delay_ratio: int = 1, **how) -> list[Outcome]:
    """The run under the schedule, called `base`, and after each change of it, or several joined by `+`.

    Raises BadInput for unknown names; a change that the run cannot answer is refused with the reason.
    """
    for one in (one for name in names for one in name.split("+")):
        if one not in CHANGES and not one.startswith(f"{SLOW_RANK}="):
            known = ", ".join([*CHANGES, f"{SLOW_RANK}=RANK:FACTOR"])
            raise BadInput(f"change={one!r}: expected one of {known}, or several joined by +")
    base = Setting.of(run, schedule, delay_ratio, **how)
    found = [Outcome("base", predict(run, base))]
    for name in names:
        now = base
        try:
            for one in name.split("+"):
                kind, _, given = one.partition("=")
                now = slow_rank(now, given) if kind == SLOW_RANK else CHANGES[kind](now, run.separating)
            run.check(now.plan.window, f"delay_ratio={now.plan.delay_ratio} needs more:")
            found.append(Outcome(name, predict(run, now)))
        except BadInput as reason:
            if reason.field == "change":
                raise
            found.append(Outcome(name, None, str(reason)))
    return found
