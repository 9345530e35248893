"""Pairs of setups that differ by one doubled quantity, and what a run costs per unit of its work."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spikemark.quantities.words import integer
from spikemark.records.cases import Ratio, ratio
from spikemark.records.gather import Configuration, Measured

OWN = ("log",)  # parts of memory that serve the measurement, not the simulation


@dataclass(frozen=True)
class Doubling:
    """Runs of one configuration before and after `quantity`, a key of QUANTITIES, is doubled."""

    quantity: str
    configuration: Configuration
    small: list[Measured]
    large: list[Measured]

    @property
    def label(self) -> str:
        before, after = (integer(QUANTITIES[self.quantity](runs[0])) for runs in (self.small, self.large))
        return f"{self.quantity} {before} → {after}"

    @property
    def start(self) -> str:
        """Says where the doubling starts: neurons × in-degree, ranks × threads."""
        m = self.small[0]
        indegree = integer(QUANTITIES["in-degree"](m))
        return (
            f"{integer(m.run.record.totals.neurons)} × {indegree}, "
            f"{m.run.record.ranks} × {m.run.record.threads}"
        )

    @property
    def timed(self) -> bool:
        """Tells whether every run has a core for each of its threads."""
        return not any(m.oversubscribed for m in (*self.small, *self.large))

    def factor(self, value: Callable[[Measured], float | None]) -> Ratio | None:
        """Returns value(large) / value(small) over runs of one seed and repetition; None without pairs."""
        return ratio(self.large, self.small, value, partner=lambda m: (m.planned.seed, m.planned.repetition))


def _indegree(m: Measured) -> float:
    totals = m.run.record.totals
    return totals.synapses / totals.neurons if totals.neurons else 0.0


#: What can be doubled, and how much of it a run has.
QUANTITIES: dict[str, Callable[[Measured], float]] = {
    "neurons": lambda m: m.run.record.totals.neurons,
    "in-degree": _indegree,
    "ranks": lambda m: m.run.record.ranks,
    "threads": lambda m: m.run.record.threads,
}


@dataclass(frozen=True)
class Cost:
    """A time per unit of the phase's work: core time, or wall-clock time if `wall`. None means not measured.

    `judged` is what should not grow: the cost itself, unless its unit does not measure work (a window may
    contain any amount).
    """

    name: str
    unit: str
    value: Callable[[Measured], float | None]
    judged_unit: str = ""
    judged: Callable[[Measured], float | None] | None = None

    @property
    def head(self) -> str:
        return f"{self.name} / {self.unit}"

    @property
    def said(self) -> str:
        return f"{self.name} per {self.judged_unit or self.unit}"


def _core_time(phase: str, count: Callable[[Any], float]) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        record = m.run.record
        time = record.timing.phases.get(phase)
        if phase in record.mixed or time is None or not time.mean_s or not count(record):
            return None
        return time.mean_s * record.ranks * record.threads / count(record)

    return value


def _build(m: Measured) -> float | None:
    r = m.run.record
    return r.timing.build_s * r.ranks * r.threads / r.totals.synapses if r.totals.synapses else None


def windows(m: Measured) -> int:
    """Counts the exchanges between ranks in the timed part."""
    return sum(lane.windows for lane in m.run.record.lanes if lane.ranks > 1)


def _exchange(count: Callable[[Measured], float]) -> Callable[[Measured], float | None]:
    """Wall-clock time; None if nothing travels or waiting was not timed separately."""

    def value(m: Measured) -> float | None:
        if not windows(m) or not count(m) or m.waiting is None:
            return None
        exchange_s = m.run.spent_s("exchange")
        return exchange_s / count(m) if exchange_s else None

    return value


COSTS = (
    Cost("build", "synapse", _build),
    Cost("deliver", "synaptic event", _core_time("deliver", lambda r: r.totals.synaptic_events)),
    Cost("update", "neuron and step", _core_time("update", lambda r: r.totals.neurons * r.steps)),
    Cost("collocate", "spike", _core_time("collocate", lambda r: r.totals.spikes)),
    Cost(
        "exchange",
        "window",
        _exchange(windows),
        "byte that a rank sends",
        _exchange(lambda m: m.run.record.totals.bytes_sent / m.run.record.ranks),
    ),
)


def doublings(runs: list[Measured]) -> list[Doubling]:
    """Returns all pairs of setups that differ by exactly one doubling, by quantity, size and schedule.

    The larger one must have every population, or every in-degree, twice as large as the smaller one, or the
    same description on twice as many ranks or threads.
    """
    setups: dict[tuple, list[Measured]] = {}
    for m in runs:
        setups.setdefault(_key(m.description, m.run.record.ranks, m.run.record.threads), []).append(m)
    found = []
    for small in setups.values():
        m = small[0]
        ranks, threads = m.run.record.ranks, m.run.record.threads
        doubled = {
            "neurons": _key(_twice(m.description, "populations", "size"), ranks, threads),
            "in-degree": _key(_twice(m.description, "projections", "indegree"), ranks, threads),
            "ranks": _key(m.description, 2 * ranks, threads),
            "threads": _key(m.description, ranks, 2 * threads),
        }
        for quantity, key in doubled.items():
            large = setups.get(key)
            if large and QUANTITIES[quantity](small[0]):
                found.append(Doubling(quantity, m.configuration, small, large))
    order = list(QUANTITIES)
    return sorted(
        found,
        key=lambda d: (
            order.index(d.quantity),
            QUANTITIES[d.quantity](d.small[0]),
            d.start,
            d.configuration.order,
        ),
    )


def memory_parts(found: list[Doubling]) -> list[str]:
    """Returns the names of the parts of memory in the runs, in the order of the records."""
    runs = [m for d in found for m in (*d.small, *d.large)]
    return [n for n in dict.fromkeys(n for m in runs for n in m.run.record.memory.parts) if n not in OWN]


def _key(description: dict[str, Any], ranks: int, threads: int) -> tuple:
    plain = {name: value for name, value in description.items() if name != "seed"}
    return json.dumps(plain, sort_keys=True), ranks, threads


def _twice(description: dict[str, Any], items: str, field: str) -> dict[str, Any]:
    larger = copy.deepcopy(description)
    for item in larger["network"].get(items, []):
        given = item[field]
        item[field] = {**given, "mean": 2 * given["mean"]} if isinstance(given, dict) else 2 * given
    return larger
