"""Tells which runs may be compared, and makes the comparison behind the headline."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spikemark.quantities.quantity import FEWEST, LEVEL, Quantity, student
from spikemark.quantities.words import number

from .gather import Configuration, Measured, Sweep

#: What may differ between compared runs; labels name it.
COMPARED = ("schedule", "placement", "delay_ratio", "lag", "exchange", "wire")
FEWEST_PAIRS = FEWEST
WIDEST = 100.0  # an interval whose ends differ by more than this factor is not given


@dataclass(frozen=True)
class Case:
    """Runs that differ only in `COMPARED`, ranks, seed and repetition."""

    runs: list[Measured]

    @cached_property
    def ranks(self) -> list[int]:
        return sorted({m.run.record.ranks for m in self.runs})

    @property
    def kind(self) -> str:
        """The kind of the times, `measured` or `simulated`."""
        return self.runs[0].kind

    @property
    def schedules(self) -> set[str]:
        """The names of the schedules of its runs."""
        return {m.run.schedule for m in self.runs}

    @property
    def counting(self) -> bool:
        """Tells whether all of its runs read counters, which makes them slower than other runs."""
        return all(m.description.get("record", {}).get("counters") is True for m in self.runs)

    @property
    def threads(self) -> int:
        return self.runs[0].run.record.threads

    def configurations(self, ranks: int | None = None) -> list[Configuration]:
        found = {m.configuration for m in self.runs if ranks in (None, m.run.record.ranks)}
        return sorted(found, key=lambda c: c.order)

    def of(self, configuration: Configuration, ranks: int) -> list[Measured]:
        """The runs of a configuration on so many ranks, by seed and repetition."""
        found = [m for m in self.runs if m.configuration == configuration and m.run.record.ranks == ranks]
        return sorted(found, key=lambda m: (m.planned.seed, m.planned.repetition))


@dataclass(frozen=True)
class Ratio:
    """A ratio of two groups of runs: the geometric mean over pairs of runs, with its interval of 95 %.

    `low` and `high` are None where there are fewer than FEWEST_PAIRS, or where they would differ by more than
    the factor WIDEST: so little is then known that the pairs themselves say more (`each`).
    """

    first: float  # geometric means over the pairs, in the unit of what is compared
    second: float
    pairs: list[float]
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float:
        return self.first / self.second

    @property
    def quantity(self) -> Quantity:
        """The ratio with its interval."""
        return Quantity(self.value, self.low, self.high)

    @property
    def each(self) -> str:
        """The ratios of the pairs in words: all of up to two, else the smallest and the largest."""
        shown = sorted(self.pairs)
        if len(shown) < FEWEST_PAIRS:
            return " and ".join(number(x) for x in shown)
        return f"{number(shown[0])} to {number(shown[-1])}"

    @property
    def why(self) -> str:
        """Why there is no interval."""
        return "too few" if len(self.pairs) < FEWEST_PAIRS else "too different"

    @property
    def resolved(self) -> bool:
        """Says whether the interval excludes that both values are equal."""
        return self.verdict in ("larger", "smaller")

    @property
    def verdict(self) -> str:
        """How the first value compares: `larger`, `smaller`, or `open`; `few` without an interval."""
        if self.low is None:
            return "few"
        if self.low > 1:
            return "larger"
        return "smaller" if self.high < 1 else "open"


@dataclass(frozen=True)
class View:
    """The part of a sweep that the figures show, and the two configurations that the headline compares.

    `base`: the conventional one, or else the first. `other`: the fastest of `candidates` others.
    """

    sweep: Sweep
    case: Case | None
    ranks: int | None = None
    base: Configuration | None = None
    other: Configuration | None = None
    candidates: int = 1

    @property
    def kind(self) -> str:
        """The kind of the times of the sweep, `measured` or `simulated`."""
        return self.sweep.kind

    @property
    def where(self) -> str:
        """The machine in a sentence."""
        return self.sweep.where

    @property
    def comparable(self) -> bool:
        return self.base is not None

    def against_base(
        self, configuration: Configuration, value: Callable[[Measured], float | None]
    ) -> Ratio | None:
        """The value of a configuration over that of the base, on `ranks`; None without a pair of runs.

        Each of the intervals of all candidates is so wide that with 95 % all of them hold (Bonferroni), since
        the fastest was chosen with the results known.
        """
        level = 1 - (1 - LEVEL) / self.candidates
        first, second = (self.case.of(c, self.ranks) for c in (configuration, self.base))
        return ratio(first, second, value, level=level)

    def speed_up(self, configuration: Configuration) -> Ratio | None:
        """How many times as fast as the base a configuration ran, as `against_base`."""
        return self.against_base(configuration, _speed)

    @property
    def unpaired(self) -> int:
        """How many runs of the two compared configurations have no partner and are not compared."""
        if not self.comparable:
            return 0
        runs = [*self.case.of(self.base, self.ranks), *self.case.of(self.other, self.ranks)]
        return len(runs) - 2 * len(self.speed_up(self.other).pairs)

    @property
    def left_out(self) -> list[Measured]:
        """The runs that could be timed but are not in the figures, since they are of another case."""
        shown = {id(m) for m in self.case.runs} if self.case else set()
        return [m for m in timed(self.sweep.runs) if id(m) not in shown]

    @property
    def crowded(self) -> int:
        """How many complete runs the figures leave out because they had more ranks × threads than cores."""
        return len(self.sweep.runs) - len(timed(self.sweep.runs))


def look(sweep: Sweep) -> View:
    """Choose the case with the most schedules and runs, and in it the most ranks on which runs make pairs.

    There, the base is compared with the fastest of the others, each with its largest D. Oversubscribed runs
    are left out unless there are no others; runs that read counters are not compared.
    """
    cases = split(timed(sweep.runs))
    if not cases:
        return View(sweep, None)
    case = max(
        cases,
        key=lambda c: (len(c.schedules), len(c.runs), c.runs[0].run.record.totals.neurons, c.threads),
    )
    for ranks in reversed(case.ranks) if not case.counting else ():
        for base in case.configurations(ranks):
            found = _candidates(case, ranks, base)
            if found:
                fastest = max(found, key=lambda c: (len(found[c].pairs) >= FEWEST_PAIRS, found[c].value))
                return View(sweep, case, ranks, base, fastest, len(found))
    return View(sweep, case, case.ranks[-1])


def _candidates(case: Case, ranks: int, base: Configuration) -> dict[Configuration, Ratio]:
    """How many times as fast as the base the others ran; of those that differ in D alone, the largest D."""
    found = {}
    for configuration in case.configurations(ranks):  # D ascends
        made = ratio(case.of(configuration, ranks), case.of(base, ranks), _speed)
        if made and configuration != base:
            found[replace(configuration, delay_ratio=0)] = (configuration, made)
    return dict(found.values())


def timed(runs: list[Measured]) -> list[Measured]:
    """The runs whose times are evidence of speed, or all runs if there are none."""
    return [m for m in runs if not m.oversubscribed] or runs


def split(runs: list[Measured]) -> list[Case]:
    """Group runs by threads, simulated time, and what the experiment varied besides `COMPARED`."""
    groups = defaultdict(list)
    for m in runs:
        groups[_apart_from_threads(m), m.run.record.threads].append(m)
    return [Case(members) for members in groups.values()]


def any_threads(view: View) -> list[Measured]:
    """The runs of the view's case, and those that differ from them only in the number of threads."""
    if view.case is None:
        return []
    key = _apart_from_threads(view.case.runs[0])
    return [m for m in timed(view.sweep.runs) if _apart_from_threads(m) == key]


def _apart_from_threads(m: Measured) -> str:
    varied = {k: v for k, v in m.planned.fields.items() if k.removeprefix("preset.") not in COMPARED}
    return json.dumps([varied, m.description["time"]], sort_keys=True)


def network_title(m: Measured, otherwise: str) -> str:
    """Name of the network of a run: its preset, or `otherwise`, and what the experiment varied of it."""
    own = {f.removeprefix("preset."): v for f, v in m.planned.fields.items() if f.startswith("preset.")}
    varied = [
        name if value is True else f"{name} = {value}"
        for name, value in own.items()
        if name not in ("name", *COMPARED)
    ]
    return ", ".join([m.preset or otherwise, *varied])


def same_network(m: Measured) -> tuple:
    """What the two runs of a pair have in common: the network (including its seed) and the repetition."""
    return m.network, m.planned.repetition


def ratio(
    first: list[Measured],
    second: list[Measured],
    value: Callable[[Measured], float | None],
    partner: Callable[[Measured], tuple] = same_network,
    level: float = LEVEL,
) -> Ratio | None:
    """Geometric mean of value(first) / value(second) over pairs of runs; t interval of the logarithms.

    Two runs make a pair if they agree in `partner`; a sweep measures runs of one seed and repetition close
    together in time. Runs whose value is missing or not positive are left out. None if no pair remains.
    """
    sides = [_logarithms(runs, value, partner) for runs in (first, second)]
    common = sorted(sides[0].keys() & sides[1].keys())
    if not common:
        return None
    pairs = np.array([[side[key] for side in sides] for key in common])
    means, logs = np.exp(pairs.mean(axis=0)), pairs[:, 0] - pairs[:, 1]
    found = Ratio(float(means[0]), float(means[1]), np.exp(logs).tolist())
    if len(logs) < FEWEST_PAIRS:
        return found
    half = student(len(logs) - 1, level) * logs.std(ddof=1) / np.sqrt(len(logs))
    low, high = np.exp([logs.mean() - half, logs.mean() + half])
    if not high <= WIDEST * low:
        return found
    return replace(found, low=float(low), high=float(high))


def _logarithms(runs: list[Measured], value: Callable, partner: Callable) -> dict[tuple, float]:
    """The logarithm of the value for each partner; the mean where a plan holds several such runs."""
    found = defaultdict(list)
    for m in runs:
        x = value(m)
        if x is not None and x > 0:
            found[partner(m)].append(np.log(x))
    return {key: float(np.mean(logs)) for key, logs in found.items()}


def _speed(measured: Measured) -> float:
    return 1 / measured.real_time_factor
