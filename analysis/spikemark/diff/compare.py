"""Is the second of two results slower, where, and why: pairs of runs, setup by setup.

A setup is what a plan varies but for seeds and repetitions. Differences are shares of the time of a cycle of
the first side, so that those of the phases add up to that of the cycle.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import LEVEL, Quantity, student, with_half
from spikemark.quantities.words import counted, listed, number
from spikemark.records.record import Run

from . import sides
from .estimate import Estimate, Spread, estimate
from .sides import Member, Pairs
from .times import CYCLE, MEDIAN, Part, Times, alike, times

SLOWER, FASTER, OPEN = "slower", "faster", "open"
SHARE = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?%")
FAIL, PASS, INCONCLUSIVE = "fail", "pass", "inconclusive"
Known = dict[str, Spread]  # what a history tells of the parts (`Times.parts`)


@dataclass(frozen=True)
class Setup:
    """The runs of one setup on both sides, and how their times differ. `parts`: by name, as Times.parts.

    Disturbed runs do not count. If a side has no others, all count, but nothing is judged. `runs`: how many
    of both sides count.
    """

    name: str
    pairs: list[tuple[Member, Member]]
    runs: tuple[int, int]
    parts: dict[str, Estimate]
    missing: dict[str, str]  # phase or cause -> why
    kind: str  # of the times: measured or simulated
    judged: bool = True  # False: each run of one side was disturbed, so that there is no interval
    caution: str = ""  # which runs do not count, and why

    @property
    def cycle(self) -> Estimate:
        """The time of a cycle."""
        return self.parts[CYCLE]

    def change(self, name: str = CYCLE, level: float = LEVEL) -> Quantity:
        """How much longer a part is on the second side, as a share of a cycle of the first side."""
        found = self.parts[name].quantity(self.cycle.first_s, self.kind, level)
        return found if self.judged else Quantity(found.value, kind=found.kind)


@dataclass(frozen=True)
class Comparison:
    """Two sides, setup by setup. `level` is that of the intervals with which all verdicts hold together."""

    paths: tuple[Path, Path]
    setups: list[Setup]
    differs: dict[tuple[str, str, str], int]  # as of sides.differs
    pairs: Pairs
    cautions: list[str] = field(default_factory=list)

    @cached_property
    def level(self) -> float:
        """Each interval is so wide that with 95 % all of them hold (Bonferroni), the overall one included."""
        return 1 - (1 - LEVEL) / (len(self.setups) + (len(self.setups) > 1))

    def change(self, setup: Setup) -> Quantity:
        """The change of a setup, with an interval that holds together with those of all others."""
        return setup.change(CYCLE, self.level)

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
        cycles = [setup.cycle for setup in judged]
        variances, shared, degrees = np.array([
            ((one.error_s / one.first_s) ** 2, one.sessions_s / one.first_s, one.degrees) for one in cycles
        ]).T  # fmt: skip
        total, number = variances.sum(), len(judged)
        freedom = total**2 / (variances**2 / degrees).sum() if total else np.inf
        apart = (total - (shared**2).sum()) / number**2
        half = student(freedom, self.level) * (apart + (shared.sum() / number) ** 2) ** 0.5
        value = float(np.mean([setup.change().value for setup in judged]))
        return with_half(value, float(half) if judged[0].judged else None, kind=judged[0].kind)


@dataclass(frozen=True)
class Gate:
    """`state`: FAIL if some change is above the limit with its whole interval, PASS if all are below, else
    INCONCLUSIVE. `ratio`: the time of the second side over that of the first, in the setup `setup`.
    """

    limit: float
    state: str
    setup: str
    ratio: Quantity

    @property
    def sentence(self) -> str:
        """The decision and the ratio that it rests on."""
        q, beyond = self.ratio, {FAIL: "above", PASS: "below"}.get(self.state, "not told apart from")
        known = "no interval" if q.low is None else f"{number(q.low)} to {number(q.high)}"
        return (
            f"{self.state}: B takes {number(q.value)} ({known}) of the time of A in {self.setup}, {beyond}"
            f" the limit of {number(1 + self.limit)}."
        )


def limit(text: str) -> float:
    """The share in a text such as '5%'. Raises BadInput for another one."""
    found = SHARE.fullmatch(text.strip())
    if not found:
        raise BadInput.of("--fail-above", text, "a percentage of at least 0 %, such as 5%")
    return float(found[1]) / 100


def gate(made: Comparison, most: float) -> Gate:
    """Compare every setup, and their mean, with the limit. All intervals hold together with 95 %."""
    changes = [(setup.name or "the run", made.change(setup)) for setup in made.setups]
    if len(changes) > 1:
        changes.append(("the mean over setups", made.overall))
    failing = [one for one in changes if one[1].low is not None and one[1].low > most]
    unknown = [one for one in changes if one[1].high is None or one[1].high > most >= one[1].low]
    state = FAIL if failing else INCONCLUSIVE if unknown else PASS
    worst, q = max(failing or unknown or changes, key=lambda one: one[1].value)
    ends = (None, None) if q.low is None else (1 + q.low, 1 + q.high)
    return Gate(most, state, worst, Quantity(1 + q.value, *ends, kind=q.kind))


def verdict(change: Quantity) -> str:
    """SLOWER or FASTER if an interval excludes that both sides are equally fast; else OPEN."""
    if change.low is None:
        return OPEN
    return SLOWER if change.low > 0 else FASTER if change.high < 0 else OPEN


def compare(first: Path, second: Path, known: Callable[[Run], Known] | None = None) -> Comparison:
    """Compare two runs, sweeps or whole results. Raises BadInput as `sides.pair` and `check_networks` do.

    `known` tells what is known of the spread of a setup, given a run of the first side (`history.known_of`).
    """
    both = [sides.read(path) for path in (first, second)]
    pairs = sides.pair(*both)
    runs = [(one.run, other.run) for members in pairs.setups.values() for one, other in members]
    for pair in runs:
        sides.check_networks(*pair)
    setups = [
        _setup(name, members, known(members[0][0].run) if known else {})
        for name, members in pairs.setups.items()
    ]
    cautions = [line for side in both for line in side.left_out]
    cautions += [setup.caution for setup in setups if setup.caution]
    return Comparison((both[0].path, both[1].path), setups, sides.differs(runs), pairs, cautions)


def _setup(name: str, pairs: list[tuple[Member, Member]], known: Known) -> Setup:
    whole = [list(side) for side in zip(*pairs, strict=True)]
    calm = [[one for one in members if disturbed(one.run) is None] for members in whole]
    common = {one.seed for one in calm[0]} & {one.seed for one in calm[1]}
    used = [[one for one in members if one.seed in common] for members in calm] if common else whole
    found = [[times(one.run) for one in members] for members in used]
    kind = "simulated" if pairs[0][0].run.record.kind == "simulated" else "measured"
    began = [[one.run.record.provenance.started for one in members] for members in used]
    later = max(began[0]) < min(began[1]) or max(began[1]) < min(began[0])
    seeds = [[one.seed for one in members] for members in used]
    made = between(*found, *seeds, kind == "simulated", known, later)
    untold = {name: why for side in found for one in side for name, why in one.missing.items()}
    why = dict.fromkeys(words for members in whole for one in members if (words := disturbed(one.run)))
    runs, caution = (len(used[0]), len(used[1])), ""
    if why:
        out = f"{2 * len(pairs) - sum(runs)} of {counted(2 * len(pairs), 'run')} left out"
        out = out if common else "not judged: no run of one side was undisturbed"
        caution = f"{name or 'the run'}: {out} ({listed(why)})"
    return Setup(name, pairs, runs, made, untold, kind, bool(common), caution)


def disturbed(run: Run) -> str | None:
    """What disturbed a run, so that its times say little about what was run; None if nothing is known."""
    if run.record.kind == "measured" and run.record.host.foreign_load is None:
        return "a measured part below 0.2 s, which does not tell whether other programs ran"
    return run.disturbed().split(":")[0] or None


def between(
    first: list[Times], second: list[Times], first_seeds: list[int], second_seeds: list[int],
    simulated: bool = False, known: Known | None = None, apart: bool = False,
) -> dict[str, Estimate]:  # fmt: skip
    """How the parts of two groups of runs differ; both have runs of the same seeds.

    `apart`: one was measured after the other. A part that could not be told apart in one of the runs is left
    out; one that a run lacks took no time there.
    """
    told = alike([*first, *second])
    cycle_s = float(np.mean([one.parts[CYCLE].value for one in first]))
    names = dict.fromkeys(name for parts in told for name in parts)
    if not all(MEDIAN in parts for parts in told):
        names.pop(MEDIAN, None)

    def of(name: str) -> Estimate:
        values = [parts.get(name, Part(0.0, 0.0)) for parts in told]
        both = values[: len(first)], values[len(first) :]
        spread = (known or {}).get(name, Spread())
        return estimate(name, both, (first_seeds, second_seeds), cycle_s, simulated, spread, apart)

    return {name: of(name) for name in names}
