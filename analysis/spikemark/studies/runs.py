"""What studies need to know about runs: which belong together, and values of a single run."""

from collections import defaultdict
from collections.abc import Callable, Hashable

from spikemark.quantities import quantity
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.cases import ratio
from spikemark.records.gather import Measured
from spikemark.records.phases import NOT_TIMED

CROWDED = missing("more ranks than cores: counts are valid, times are not", mark="not shown")
NOT_RUN = missing("no such run is complete")
NO_BARRIER = missing(f"waiting was {NOT_TIMED}")


def group(runs: list[Measured], key: Callable[[Measured], Hashable]) -> dict[Hashable, list[Measured]]:
    """Runs by `key`, in the order of seeds and repetitions."""
    found = defaultdict(list)
    for m in sorted(runs, key=place):
        found[key(m)].append(m)
    return dict(found)


def place(m: Measured) -> tuple[int, int]:
    """Seed and repetition."""
    return m.planned.seed, m.planned.repetition


def timed(runs: list[Measured]) -> list[Measured]:
    """The runs whose times count; none where more ranks ran than there are cores."""
    return [m for m in runs if not m.oversubscribed]


def untimed(runs: list[Measured]) -> Quantity:
    """Why none of the runs of a group is timed."""
    return CROWDED if runs else NOT_RUN


def say_crowded(rows: list[dict], runs: list[Measured]) -> None:
    """Sets the reason of missing values in rows with more `ranks` than cores, in place."""
    cores = min((m.run.record.host.cores for m in runs if m.run.record.host.cores), default=None)
    for row in rows:
        for name, cell in row.items():
            if cell is NOT_RUN and cores is not None and row["ranks"] > cores:
                row[name] = CROWDED


def mean_time(runs: list[Measured], value: Callable[[Measured], float | None]) -> Quantity:
    """Mean over repetitions of a time, or of a share of it, of the runs whose times count."""
    values = [value(m) for m in timed(runs)]
    if not values:
        return untimed(runs)
    return NO_BARRIER if None in values else quantity.mean(values)


def factor(first: list[Measured], second: list[Measured], value: Callable[[Measured], float]) -> Quantity:
    """A time of `first` over that of `second`: geometric mean over pairs of one network and repetition."""
    for side in (first, second):
        if not timed(side):
            return untimed(side)
    found = ratio(timed(first), timed(second), value)
    return missing("no two runs of one network and repetition") if found is None else found.quantity


def reduction_percent(
    base: list[Measured], other: list[Measured], value: Callable[[Measured], float]
) -> Quantity:
    """How many per cent less time `other` takes than `base`; below 0 if it takes longer."""
    found = factor(other, base, value)
    if not found:
        return found
    return Quantity(*(None if x is None else 100 * (1 - x) for x in (found.value, found.high, found.low)))


def exchange(m: Measured) -> str:
    """The exchange that was requested, even if a single rank did not need it."""
    return m.configuration.exchange


def simulated_ms(m: Measured) -> int:
    """Simulated time of the timed part."""
    return round(1e3 * m.run.record.timing.model_s)


def share_percent(m: Measured, *parts: str) -> float | None:
    """Time in parts of a cycle (records.phases.PARTS) over that of all phases, in per cent, mean over ranks.

    None where a phase of these parts was not timed.
    """
    spent, whole = m.spent(*parts), sum(x for x in m.phases().values() if x is not None)
    return 100 * spent / whole if spent is not None and whole > 0 else None


def per_window(m: Measured, count: str) -> float:
    """A count per rank and window, summed over lanes."""
    lanes = m.run.record.lanes
    return sum(getattr(lane, count) / lane.windows for lane in lanes) / m.run.record.ranks


def exchange_us(m: Measured) -> float | None:
    """Time of an exchange: per window of the last lane, all lanes together, mean over ranks, microseconds."""
    mean_s = m.run.record.timing.phases["exchange"].mean_s
    return None if mean_s is None else 1e6 * mean_s / m.run.record.lanes[-1].windows


def connections(m: Measured) -> int | Quantity:
    """Ranks that one sends messages to in a lane, the most of any rank and lane."""
    found = [lane.connections for lane in m.run.record.lanes]
    return missing("record from before the field") if None in found else max(found)
