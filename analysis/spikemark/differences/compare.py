"""Is the second of two results slower, where, and why: pairs of runs, setup by setup.

A setup is what a plan varies but for seeds and repetitions. Differences are shares of the time of a cycle of
the first side, so that those of the phases add up to that of the cycle.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student, with_half
from spikemark.quantities.words import counted, listed
from spikemark.records.gather import OVERSUBSCRIBED
from spikemark.records.phases import HOLD_THREADS, THREADS
from spikemark.records.record import Run

from . import sides
from .apart import Differs, check_networks, differs, together
from .estimate import Estimate, Group, estimate
from .sides import Member, Pairs, Side
from .spread import Known
from .times import COMPUTING, CYCLE, EXCHANGE, REST, SHOWN, WAITING, Part, Times, times

ABSENT = Part(0.0, 0.0)  # a phase that took no time
#: Beginnings of the warnings of runs whose times hang on something else than what was run.
DISTURBING = (OVERSUBSCRIBED, "bound too tightly", "shared cores", "foreign load", "stolen time")
#: What some runs did not time alone, what holds it there, and what both are called together.
JOINED = {
    WAITING: ((EXCHANGE,), "exchange, with waiting"),
    THREADS: (HOLD_THREADS, "deliver and update, with thread_wait"),
}
SLOWER, FASTER, OPEN = "slower", "faster", "open"


@dataclass(frozen=True)
class Setup:
    """The runs of one setup on both sides, and how their times differ. `parts`: by name, as Times.parts.

    Disturbed runs do not count. If a side has no others, all count, but nothing is judged.
    """

    name: str
    pairs: list[tuple[Member, Member]]
    first: list[Times]  # of the runs that count
    second: list[Times]
    parts: dict[str, Estimate]
    missing: dict[str, str]  # phase or cause -> why
    kind: str  # of the times: measured or simulated
    judged: bool = True  # False: each run of one side was disturbed, so that there is no interval
    left_out: int = 0  # disturbed runs
    disturbed: tuple[str, ...] = ()  # by what
    median: Estimate | None = None  # of the median cycles of runs; None if cycles were not recorded

    @property
    def cycle(self) -> Estimate:
        return self.parts[CYCLE]

    @property
    def cycle_s(self) -> float:
        """The time of a cycle of the first side in s."""
        return self.cycle.first_s

    def change(self, name: str = CYCLE, level: float = LEVEL) -> Quantity:
        """How much longer a part is on the second side, as a share of a cycle of the first side."""
        found = self.parts[name].quantity(self.cycle_s, self.kind, level)
        return found if self.judged else Quantity(found.value, kind=found.kind)


@dataclass(frozen=True)
class Comparison:
    """Two sides, setup by setup. `level` is that of the intervals with which all verdicts hold together."""

    first: Side
    second: Side
    setups: list[Setup]
    differs: list[Differs]
    pairs: Pairs
    cautions: list[str] = field(default_factory=list)

    @cached_property
    def level(self) -> float:
        """Each interval is so wide that with 95 % all of them hold (Bonferroni), the overall one included."""
        tests = len(self.setups) + (len(self.setups) > 1)
        return 1 - (1 - LEVEL) / tests

    def change(self, setup: Setup) -> Quantity:
        """The change of a setup, with an interval that holds together with those of all others."""
        return setup.change(level=self.level)

    def median_change(self, setup: Setup) -> Quantity | None:
        """The change of the median cycle as a share of that of A, likewise; None where it is not judged."""
        if setup.median is None or not setup.judged:
            return None
        return setup.median.quantity(setup.median.first_s, setup.kind, self.level)

    @cached_property
    def overall(self) -> Quantity:
        """The mean change over setups, every one alike.

        Their errors are independent, but for what sessions have in common, which is taken to be shared.
        """
        if len(self.setups) == 1:
            return self.change(self.setups[0])
        judged = [setup for setup in self.setups if setup.judged] or self.setups
        variances = [(s.cycle.error_s / s.cycle_s) ** 2 for s in judged]
        total, number = sum(variances), len(judged)
        shares = zip(variances, judged, strict=True)
        degrees = total**2 / sum(v**2 / s.cycle.degrees for v, s in shares) if total else np.inf
        value = float(np.mean([setup.change().value for setup in judged]))
        shared = [setup.cycle.sessions_s / setup.cycle_s for setup in judged]
        apart = (total - sum(x**2 for x in shared)) / number**2
        half = student(degrees, self.level) * (apart + (sum(shared) / number) ** 2) ** 0.5
        return with_half(value, half if judged[0].judged else None, kind=judged[0].kind)


def verdict(change: Quantity) -> str:
    """True if an interval excludes that both sides are equally fast; OPEN without an interval."""
    if change.low is None:
        return OPEN
    if change.low > 0:
        return SLOWER
    return FASTER if change.high < 0 else OPEN


def compare(
    first: Path | Side, second: Path | Side, known: Callable[[Run], Known] | None = None
) -> Comparison:
    """Compare two runs, sweeps or whole results. Raises BadInput as `sides` and `apart.check_networks` do.

    `known` tells what is known of the spread of a setup, given a run of the first side (`history.known_of`).
    """
    first, second = (one if isinstance(one, Side) else sides.read(one) for one in (first, second))
    pairs = sides.pair(first, second)
    for members in pairs.setups.values():
        for one, other in members:
            check_networks(one.run, other.run)
    found = [differs(one.run, other.run) for members in pairs.setups.values() for one, other in members]
    setups = [
        _setup(name, members, None if known is None else known(members[0][0].run))
        for name, members in pairs.setups.items()
    ]
    cautions = [*first.left_out, *second.left_out, *_cautions(setups)]
    return Comparison(first, second, setups, together(found), pairs, cautions)


def _setup(name: str, pairs: list[tuple[Member, Member]], known: Known | None) -> Setup:
    whole = [[pair[side] for pair in pairs] for side in (0, 1)]
    calm = [[one for one in members if disturbed(one.run) is None] for members in whole]
    common = {one.seed for one in calm[0]} & {one.seed for one in calm[1]}
    used = [[one for one in members if one.seed in common] for members in calm] if common else whole
    first, second = ([times(one.run) for one in members] for members in used)
    untold = {name: why for one in (*first, *second) for name, why in one.missing.items()}
    kind = "simulated" if pairs[0][0].run.record.kind == "simulated" else "measured"
    seeds = [[one.seed for one in members] for members in used]
    made = between(first, second, *seeds, kind == "simulated", known, _apart(*used))
    middle = None if kind == "simulated" else medians(first, second, *seeds, apart=_apart(*used))
    why = {words: None for members in whole for one in members if (words := disturbed(one.run))}
    left_out = len(pairs) * 2 - len(first) - len(second)
    return Setup(name, pairs, first, second, made, untold, kind, bool(common), left_out, tuple(why), middle)


def _apart(first: list[Member], second: list[Member]) -> bool:
    """True if all runs of one side began before those of the other."""
    began = [[one.run.record.provenance.started for one in side] for side in (first, second)]
    return max(began[0]) < min(began[1]) or max(began[1]) < min(began[0])


def disturbed(run: Run) -> str | None:
    """What disturbed a run, so that its times say little about what was run; None if nothing is known."""
    if run.record.kind == "simulated":
        return None
    for words in run.record.warnings:
        if words.startswith(DISTURBING):
            return words.split(":")[0]
    if run.record.host.foreign_load is None:
        return "a measured part below 0.2 s, which does not tell whether other programs ran"
    return None


def between(
    first: list[Times],
    second: list[Times],
    first_seeds: list[int],
    second_seeds: list[int],
    simulated: bool = False,
    known: Known | None = None,
    apart: bool = False,
) -> dict[str, Estimate]:
    """How the parts of two groups of runs differ; both have runs of the same seeds.

    `apart`: one was measured after the other. A part that could not be told apart in one of the runs is left
    out.
    """
    untold = {name for one in (*first, *second) for name in one.missing}
    divided = all(REST in one.causes for one in (*first, *second))
    lists = [[_alike(one, untold, divided).parts for one in group] for group in (first, second)]
    found, cycle_s = {}, float(np.mean([one.cycle.value for one in first]))
    for name in dict.fromkeys(name for parts in (*lists[0], *lists[1]) for name in parts):
        groups = [
            Group([parts.get(name, ABSENT) for parts in side], seeds)
            for side, seeds in zip(lists, (first_seeds, second_seeds), strict=True)
        ]
        found[name] = estimate(name, *groups, cycle_s, simulated, known, apart)
    return found


def medians(
    first: list[Times], second: list[Times], first_seeds: list[int], second_seeds: list[int], apart: bool
) -> Estimate | None:
    """How the median cycles of two groups of runs differ; None where one has none, or without repetitions.

    What a history tells of means does not hold for medians, so that it is not asked.
    """
    sides = [[one.median for one in group] for group in (first, second)]
    if any(part is None for side in sides for part in side) or min(map(len, sides)) < 2:
        return None
    groups = [Group(side, seeds) for side, seeds in zip(sides, (first_seeds, second_seeds), strict=True)]
    found = float(np.mean([part.value for part in sides[0]]))
    return estimate(CYCLE, *groups, found, apart=apart)


def _alike(one: Times, untold: set[str], divided: bool) -> Times:
    """The times with the phases and causes that all runs can tell apart.

    `untold`: what some run did not time alone; it is joined with what it is a part of. `divided`: the waiting
    of all runs is divided into its causes.
    """
    phases, causes = dict(one.phases), dict(one.causes)
    if not divided:
        causes = {name: part for name, part in causes.items() if name in (COMPUTING, EXCHANGE)}
        causes |= {WAITING: phases[WAITING]} if WAITING in phases else {}
    for name, (others, into) in JOINED.items():
        if name in untold:
            phases, causes = (_joined(parts, (name, *others), into) for parts in (phases, causes))
    order = [*SHOWN, *(into for _, into in JOINED.values())]
    return replace(one, phases=dict(sorted(phases.items(), key=lambda x: order.index(x[0]))), causes=causes)


def _joined(parts: dict[str, Part], names: tuple[str, ...], into: str) -> dict[str, Part]:
    """The parts with those of `names` as one; errors are added, as if they always erred alike."""
    some = [parts[name] for name in names if name in parts]
    if not some:
        return parts
    rest = {name: part for name, part in parts.items() if name not in names}
    errors = [part.error for part in some]
    return rest | {into: Part(sum(p.value for p in some), None if None in errors else sum(errors))}


def _cautions(setups: list[Setup]) -> list[str]:
    """Which runs do not count, and why."""
    found = []
    for setup in setups:
        named = f"{setup.name}: " if setup.name else ""
        if not setup.judged:
            found.append(f"{named}not judged: no run of one side was undisturbed ({listed(setup.disturbed)})")
        elif setup.left_out:
            of = counted(2 * len(setup.pairs), "run")
            found.append(f"{named}{setup.left_out} of {of} left out ({listed(setup.disturbed)})")
    return found
