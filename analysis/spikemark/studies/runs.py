"""What studies ask of runs: which belong together, and values of one."""

from collections import defaultdict
from collections.abc import Callable, Hashable

from spikemark.records.cases import ratio
from spikemark.records.gather import Measured
from spikemark.studies.table import Estimate, Missing, estimate

CROWDED = Missing("more ranks than cores: evidence of counts, not of times", "not shown")
NOT_RUN = Missing("no such run is complete")
NO_BARRIER = Missing("waiting was not measured on its own (record.barrier is false)")


def group(runs: list[Measured], key: Callable[[Measured], Hashable]) -> dict[Hashable, list[Measured]]:
    """Runs by `key`, in the order of seeds and repetitions."""
    found = defaultdict(list)
    for m in sorted(runs, key=lambda m: (m.planned.seed, m.planned.repetition)):
        found[key(m)].append(m)
    return dict(found)


def timed(runs: list[Measured]) -> list[Measured] | Missing:
    """The runs of a group whose times count, else why there are none."""
    if not runs:
        return NOT_RUN
    return [m for m in runs if not m.oversubscribed] or CROWDED


def say_crowded(rows: list[dict], runs: list[Measured]) -> None:
    """In rows with `ranks`, give as the reason for runs that there are not that no core was left for them."""
    cores = min((m.run.record.host.cores for m in runs if m.run.record.host.cores), default=None)
    for row in rows:
        for name, cell in row.items():
            if cell is NOT_RUN and cores is not None and row["ranks"] > cores:
                row[name] = CROWDED


def mean(runs: list[Measured], value: Callable[[Measured], float | None]) -> Estimate | Missing:
    """Mean over repetitions of a time, of runs whose times count."""
    counting = timed(runs)
    if isinstance(counting, Missing):
        return counting
    values = [value(m) for m in counting]
    return NO_BARRIER if None in values else estimate(values)


def factor(
    first: list[Measured], second: list[Measured], value: Callable[[Measured], float]
) -> Estimate | Missing:
    """A time of `first` over that of `second`: geometric mean over pairs of one network and repetition."""
    sides = [timed(first), timed(second)]
    for side in sides:
        if isinstance(side, Missing):
            return side
    found = ratio(*sides, value)
    if found is None:
        return Missing("no two runs of one network and repetition")
    return Estimate(found.value, found.low, found.high)


def reduction_percent(
    base: list[Measured], other: list[Measured], value: Callable[[Measured], float]
) -> Estimate | Missing:
    """By how many per cent `other` takes less than `base`; below 0 where it takes longer."""
    found = factor(other, base, value)
    if isinstance(found, Missing) or found.low is None:
        return found if isinstance(found, Missing) else Estimate(100 * (1 - found.value))
    return Estimate(*(100 * (1 - x) for x in (found.value, found.high, found.low)))


def exchange(m: Measured) -> str:
    """The exchange asked for, also where a rank alone did without."""
    return m.configuration.exchange


def simulated_ms(m: Measured) -> int:
    """Simulated time of the measured part."""
    return round(1e3 * m.run.record.timing.model_s)


def share_percent(m: Measured, *phases: str) -> float | None:
    """Time in the phases over that of all, in per cent, mean over ranks; None where one was not measured."""
    means = {name: phase.mean_s for name, phase in m.run.record.timing.phases.items()}
    if any(means[name] is None for name in phases if name in means):
        return None
    whole = sum(x for x in means.values() if x is not None)
    return 100 * sum(means.get(name, 0.0) for name in phases) / whole if whole > 0 else None


def per_window(m: Measured, count: str) -> float:
    """A count per rank and window, of all lanes together."""
    lanes = m.run.record.lanes
    return sum(getattr(lane, count) / lane.windows for lane in lanes) / m.run.record.ranks


def exchange_us(m: Measured) -> float | None:
    """Time of an exchange: per window of the last lane, all lanes together, mean over ranks, microseconds."""
    mean_s = m.run.record.timing.phases["exchange"].mean_s
    return None if mean_s is None else 1e6 * mean_s / m.run.record.lanes[-1].windows


def connections(m: Measured) -> int | Missing:
    """Ranks that one sends messages to in a lane, the most of any rank and lane."""
    found = [lane.connections for lane in m.run.record.lanes]
    return Missing("record from before the field") if None in found else max(found)
