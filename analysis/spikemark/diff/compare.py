"""Is the second of two results slower, where, and why: pairs of runs, setup by setup.

A setup is what a plan varies but for seeds and repetitions. Differences are shares of the time of a cycle of
the first side, so that those of the phases add up to that of the cycle.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student, with_half
from spikemark.quantities.words import counted, listed
from spikemark.records.frames import OVERSUBSCRIBED
from spikemark.records.record import Run

from . import sides
from .apart import Differs, check_networks, differs, together
from .estimate import Estimate, Known, estimate
from .sides import Pairs, Side
from .times import CYCLE, MEDIAN, Part, Times, alike, times

#: Beginnings of the warnings of runs whose times hang on something else than what was run.
DISTURBING = (OVERSUBSCRIBED, "bound too tightly", "shared cores", "foreign load", "stolen time")
SLOWER, FASTER, OPEN = "slower", "faster", "open"


@dataclass(frozen=True)
class Setup:
    """The runs of one setup on both sides, and how their times differ. `parts`: by name, as Times.parts.

    Disturbed runs do not count. If a side has no others, all count, but nothing is judged. `runs`: how many
    of both sides count.
    """

    name: str
    pairs: list[tuple]
    runs: tuple[int, int]
    parts: dict[str, Estimate]
    missing: dict[str, str]  # phase or cause -> why
    kind: str  # of the times: measured or simulated
    judged: bool = True  # False: each run of one side was disturbed, so that there is no interval
    disturbed: tuple[str, ...] = ()  # by what

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

    @property
    def caution(self) -> str | None:
        """Which runs do not count, and why; None if all do."""
        named, why = f"{self.name}: " if self.name else "", listed(self.disturbed or ("",))
        if not self.judged:
            return f"{named}not judged: no run of one side was undisturbed ({why})"
        out = 2 * len(self.pairs) - sum(self.runs)
        return f"{named}{out} of {counted(2 * len(self.pairs), 'run')} left out ({why})" if out else None


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
        return 1 - (1 - LEVEL) / (len(self.setups) + (len(self.setups) > 1))

    def change(self, setup: Setup) -> Quantity:
        """The change of a setup, with an interval that holds together with those of all others."""
        return setup.change(level=self.level)

    def median_change(self, setup: Setup) -> Quantity | None:
        """The change of the median cycle as a share of that of A, likewise; None where it is not judged."""
        found = setup.parts.get(MEDIAN)
        if found is None or not setup.judged or min(setup.runs) < 2 or setup.kind == "simulated":
            return None
        return found.quantity(found.first_s, setup.kind, self.level)

    @cached_property
    def overall(self) -> Quantity:
        """The mean change over setups, every one alike.

        Their errors are independent, but for what sessions have in common, which is taken to be shared.
        """
        if len(self.setups) == 1:
            return self.change(self.setups[0])
        judged = [setup for setup in self.setups if setup.judged] or self.setups
        variances, shared, degrees = np.array([
            ((s.cycle.error_s / s.cycle_s) ** 2, s.cycle.sessions_s / s.cycle_s, s.cycle.degrees)
            for s in judged
        ]).T  # fmt: skip
        total, number = variances.sum(), len(judged)
        freedom = total**2 / (variances**2 / degrees).sum() if total else np.inf
        apart = (total - (shared**2).sum()) / number**2
        half = student(freedom, self.level) * (apart + (shared.sum() / number) ** 2) ** 0.5
        value = float(np.mean([setup.change().value for setup in judged]))
        return with_half(value, float(half) if judged[0].judged else None, kind=judged[0].kind)


def verdict(change: Quantity) -> str:
    """SLOWER or FASTER if an interval excludes that both sides are equally fast; else OPEN."""
    if change.low is None:
        return OPEN
    return SLOWER if change.low > 0 else FASTER if change.high < 0 else OPEN


def compare(
    first: Path | Side, second: Path | Side, known: Callable[[Run], Known] | None = None
) -> Comparison:
    """Compare two runs, sweeps or whole results. Raises BadInput as `sides` and `apart.check_networks` do.

    `known` tells what is known of the spread of a setup, given a run of the first side (`history.known_of`).
    """
    first, second = (one if isinstance(one, Side) else sides.read(one) for one in (first, second))
    pairs = sides.pair(first, second)
    runs = [(one.run, other.run) for members in pairs.setups.values() for one, other in members]
    for pair in runs:
        check_networks(*pair)
    setups = [
        _setup(name, members, None if known is None else known(members[0][0].run))
        for name, members in pairs.setups.items()
    ]
    cautions = [*first.left_out, *second.left_out, *filter(None, (setup.caution for setup in setups))]
    return Comparison(first, second, setups, together([differs(*pair) for pair in runs]), pairs, cautions)


def _setup(name: str, pairs: list[tuple], known: Known | None) -> Setup:
    whole = [list(side) for side in zip(*pairs, strict=True)]
    calm = [[one for one in members if disturbed(one.run) is None] for members in whole]
    common = {one.seed for one in calm[0]} & {one.seed for one in calm[1]}
    used = [[one for one in members if one.seed in common] for members in calm] if common else whole
    first, second = ([times(one.run) for one in members] for members in used)
    kind = "simulated" if pairs[0][0].run.record.kind == "simulated" else "measured"
    began = [[one.run.record.provenance.started for one in members] for members in used]
    later = max(began[0]) < min(began[1]) or max(began[1]) < min(began[0])
    seeds = [[one.seed for one in members] for members in used]
    made = between(first, second, *seeds, kind == "simulated", known, later)
    untold = {name: why for one in (*first, *second) for name, why in one.missing.items()}
    why = {words: None for members in whole for one in members if (words := disturbed(one.run))}
    return Setup(name, pairs, (len(first), len(second)), made, untold, kind, bool(common), tuple(why))


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
    out; one that a run lacks took no time there.
    """
    untold = {name for one in (*first, *second) for name in one.missing}
    divided = all(one.divided for one in (*first, *second))
    lists = [[alike(one, untold, divided) for one in group] for group in (first, second)]
    cycle_s = float(np.mean([one.cycle.value for one in first]))
    names = dict.fromkeys(name for parts in (*lists[0], *lists[1]) for name in parts)
    if not all(MEDIAN in parts for side in lists for parts in side):
        names.pop(MEDIAN, None)
    return {
        name: estimate(
            name, tuple([parts.get(name, Part(0.0, 0.0)) for parts in side] for side in lists),
            (first_seeds, second_seeds), cycle_s, simulated, known, apart,
        ) for name in names
    }  # fmt: skip
