"""Is the second of two results slower, where, and why: pairs of runs, setup by setup.

A setup is what a plan varies but for seeds and repetitions. Differences are shares of the time of a
cycle of the first side, so that those of the phases add up to that of the cycle.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import LEVEL, Quantity, missing, student, with_half
from spikemark.quantities.words import counted, listed, number
from spikemark.records.judged import SHORTEST_S, enough_ms
from spikemark.records.record import Run

from . import sides
from .estimate import UNKNOWN_SPREAD, Estimate, VarianceComponents, estimate
from .times import CYCLE, MEDIAN, MeanTime, RunTimes, alike, times

#: What a change says of the second side.
SLOWER = "slower"
FASTER = "faster"
OPEN = "open"
#: What verdicts are called in tables and on badges.
VERDICTS = {SLOWER: "slower", FASTER: "faster", OPEN: "not told apart"}
NOT_JUDGED = "not judged"
#: What a gate decides.
FAIL = "fail"
PASS = "pass"
INCONCLUSIVE = "inconclusive"
PERCENTAGE = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?%")
#: What a history tells of the spread of each part (`RunTimes.parts`).
KnownSpread = dict[str, VarianceComponents]


@dataclass(frozen=True)
class Setup:
    """The runs of one setup on both sides, and how their times differ.

    Disturbed runs do not count. If a side has no others, all count, but nothing is judged.
    """

    name: str
    #: How many pairs of runs there are.
    pairs: int
    #: How many runs of each side count.
    runs: tuple[int, int]
    #: By name, as `RunTimes.parts`.
    parts: dict[str, Estimate]
    #: Phase or cause -> why it was not timed alone.
    missing: dict[str, str]
    #: Of the times: measured or simulated.
    kind: str
    #: False where each run of one side was disturbed, so that there is no interval.
    judged: bool = True
    #: Which runs do not count, and why.
    caution: str = ""
    #: Why the runs say nothing about speed, so that there is no change at all.
    too_short: str = ""

    @property
    def cycle(self) -> Estimate:
        """The time of a cycle."""
        return self.parts[CYCLE]

    def change(self, name: str = CYCLE, level: float = LEVEL) -> Quantity:
        """How much longer a part is on the second side, as a share of a cycle of the first side.

        That of MEDIAN is a share of the median cycle. Missing where the runs are too short.
        """
        if self.too_short:
            return missing(self.too_short, mark="–")
        cycle_s = self.parts[MEDIAN if name == MEDIAN else CYCLE].first_s
        change = self.parts[name].quantity(cycle_s, self.kind, level)
        if not self.judged:
            return Quantity(change.value, kind=change.kind)
        return change


@dataclass(frozen=True)
class ResultsComparison:
    """Two sides, setup by setup."""

    paths: tuple[Path, Path]
    setups: list[Setup]
    #: Field and both values, of all that differs besides times -> number of pairs.
    differs: dict[tuple[str, str, str], int]
    #: Of each side, the runs without a partner.
    alone: list[list[str]]
    cautions: list[str] = field(default_factory=list)
    together: int = 1  #: comparisons whose intervals hold together

    @cached_property
    def level(self) -> float:
        """Level of each interval, so that with 95 % all of them hold together (Bonferroni).

        The overall one included, and those of `together` comparisons.
        """
        intervals = len(self.setups)
        if intervals > 1:
            intervals += 1
        return 1 - (1 - LEVEL) / (intervals * self.together)

    def change(self, setup: Setup) -> Quantity:
        """The change of a setup, with an interval that holds together with those of all others."""
        return setup.change(CYCLE, self.level)

    def median_change(self, setup: Setup) -> Quantity | None:
        """The change of the median cycle, likewise; None where it is not judged."""
        if MEDIAN not in setup.parts or not setup.judged:
            return None
        if setup.kind == "simulated" or min(setup.runs) < 2:
            return None
        return setup.change(MEDIAN, self.level)

    @cached_property
    def overall(self) -> Quantity:
        """The mean change over setups, every one alike.

        Their errors are independent, but for what sessions have in common, which is taken to be
        shared.
        """
        if len(self.setups) == 1:
            return self.change(self.setups[0])
        long_enough = [setup for setup in self.setups if not setup.too_short]
        if not long_enough:
            return self.change(min(self.setups, key=lambda setup: setup.cycle.first_s))
        judged = [setup for setup in long_enough if setup.judged]
        setups = judged or long_enough
        changes = [setup.cycle.difference_s / setup.cycle.first_s for setup in setups]
        value = float(np.mean(changes))
        half = self._half_of_mean([setup.cycle for setup in setups]) if judged else None
        return with_half(value, half, kind=setups[0].kind)

    def _half_of_mean(self, cycles: list[Estimate]) -> float:
        """Half of the interval of the mean change, from the estimates of the setups."""
        variances = np.array([(cycle.error_s / cycle.first_s) ** 2 for cycle in cycles])
        shared = np.array([cycle.sessions_s / cycle.first_s for cycle in cycles])
        degrees = np.array([cycle.degrees for cycle in cycles])
        total = variances.sum()
        degrees_of_total = np.inf
        if total:  # Satterthwaite (1946)
            degrees_of_total = total**2 / (variances**2 / degrees).sum()
        independent = (total - (shared**2).sum()) / len(cycles) ** 2
        common = (shared.sum() / len(cycles)) ** 2
        return float(student(degrees_of_total, self.level) * (independent + common) ** 0.5)


@dataclass(frozen=True)
class Gate:
    """The decision whether the second side is slower than a limit allows."""

    #: The largest change that is allowed, as a share.
    limit: float
    #: FAIL if some change is above the limit with its whole interval, PASS if all are below, else
    #: INCONCLUSIVE.
    state: str
    #: The setup that decides.
    setup: str
    #: The time of the second side over that of the first there.
    ratio: Quantity

    @property
    def sentence(self) -> str:
        """The decision and the ratio that it rests on."""
        ratio = self.ratio
        if ratio.value is None:
            return f"{self.state}: {ratio.reason}."
        interval = "no interval"
        if ratio.low is not None and ratio.high is not None:
            interval = f"{number(ratio.low)} to {number(ratio.high)}"
        relation = {FAIL: "above", PASS: "below"}.get(self.state, "not told apart from")
        return (
            f"{self.state}: B takes {number(ratio.value)} ({interval}) of the time of A in"
            f" {self.setup}, {relation} the limit of {number(1 + self.limit)}."
        )


def limit(text: str) -> float:
    """The share in a text. Raises BadInput for another one than a percentage.

    Example:
        >>> limit("5%")
        0.05
    """
    percentage = PERCENTAGE.fullmatch(text.strip())
    if not percentage:
        expected = "a percentage of at least 0 %, such as 5%"
        raise BadInput(field="fail_above", value=text, expected=expected)
    return float(percentage[1]) / 100


def gate(comparison: ResultsComparison, largest_change: float) -> Gate:
    """Compare every setup, and their mean, with a limit. All intervals hold together with 95 %.

    Example:
        >>> records = Path("tests/golden/analysis/records")
        >>> comparison = compare(records / "aware-4", records / "conventional-4")
        >>> decision = gate(comparison, largest_change=0.05)
        >>> decision.state, decision.setup, round(decision.ratio.value, 2)
        ('inconclusive', 'the run', 1.2)
    """
    changes = {setup.name or "the run": comparison.change(setup) for setup in comparison.setups}
    if len(changes) > 1:
        changes["the mean over setups"] = comparison.overall
    by_state: dict[str, list[str]] = {FAIL: [], PASS: [], INCONCLUSIVE: []}
    for name, change in changes.items():
        by_state[_state(change, largest_change)].append(name)
    state = PASS
    if by_state[FAIL]:
        state = FAIL
    elif by_state[INCONCLUSIVE]:
        state = INCONCLUSIVE
    with_value = [name for name in by_state[state] if changes[name]]
    if not with_value:
        name = by_state[state][0]
        return Gate(largest_change, state, name, changes[name])
    worst = max(with_value, key=lambda name: changes[name].value or 0.0)
    return Gate(largest_change, state, worst, _as_ratio(changes[worst]))


def _state(change: Quantity, largest_change: float) -> str:
    """What one change says of a limit."""
    if change.low is None or change.high is None:
        return INCONCLUSIVE
    if change.low > largest_change:
        return FAIL
    return INCONCLUSIVE if change.high > largest_change else PASS


def _as_ratio(change: Quantity) -> Quantity:
    """A change of a time as the new time over the old one."""
    value = 1 + (change.value or 0.0)
    if change.low is None or change.high is None:
        return Quantity(value, kind=change.kind)
    return Quantity(value, 1 + change.low, 1 + change.high, kind=change.kind)


def verdict(change: Quantity) -> str:
    """SLOWER or FASTER if an interval excludes that both sides are equally fast; else OPEN.

    Example:
        >>> verdict(Quantity(0.1, 0.05, 0.15)), verdict(Quantity(0.1, -0.05, 0.25))
        ('slower', 'open')
    """
    if change.low is None or change.high is None:
        return OPEN
    if change.low > 0:
        return SLOWER
    return FASTER if change.high < 0 else OPEN


def judged(change: Quantity) -> str:
    """The verdict in words: one of VERDICTS, or NOT_JUDGED where a change has no interval.

    Example:
        >>> judged(Quantity(0.1, -0.05, 0.25)), judged(Quantity(0.1))
        ('not told apart', 'not judged')
    """
    if change.low is None or change.high is None:
        return NOT_JUDGED
    return VERDICTS[verdict(change)]


def compare(
    first: Path,
    second: Path,
    known_spread: Callable[[Run], KnownSpread] | None = None,
    together: int = 1,
) -> ResultsComparison:
    """Compare two runs, sweeps or whole results.

    Args:
        first: the results that the others are compared with.
        second: the others, of the same kind.
        known_spread: what is known of the spread of a setup, given a run of the first side
            (`history.known_of`).
        together: comparisons whose intervals hold together with 95 %.

    Raises BadInput as `sides.pair` and `sides.check_networks` do.

    Example:
        >>> records = Path("tests/golden/analysis/records")
        >>> comparison = compare(records / "aware-4", records / "conventional-4")
        >>> [setup.pairs for setup in comparison.setups]
        [1]
        >>> round(comparison.overall.value, 2)  # no interval: both runs were disturbed
        0.2
    """
    first_side = sides.read(first)
    second_side = sides.read(second)
    pairs, alone = sides.pair(first_side, second_side)
    runs = list(zip(pairs["run"], pairs["run_b"], strict=True))
    for run, partner in runs:
        sides.check_networks(run, partner)
    setups = []
    for name, pairs_of_setup in pairs.groupby("setup", sort=False):
        spread = known_spread(pairs_of_setup["run"].iloc[0]) if known_spread else {}
        setups.append(_setup(str(name), pairs_of_setup, spread))
    cautions = [*first_side.left_out, *second_side.left_out]
    if not all(setup.too_short for setup in setups):  # else the sentence says it
        cautions += [setup.caution for setup in setups if setup.caution]
    return ResultsComparison(
        (first_side.path, second_side.path),
        setups,
        sides.differs(runs),
        alone,
        cautions,
        together,
    )


def _setup(name: str, pairs: pd.DataFrame, known_spread: KnownSpread) -> Setup:
    """What the pairs of one setup say.

    Seeds count of which both sides have an undisturbed run; if there is none, all runs count.
    """
    runs = _runs_of_both_sides(pairs)
    calm = runs[runs["disturbed"] == ""]
    sides_of_seed = calm.groupby("seed")["second"].transform("nunique")
    calm = calm[sides_of_seed == 2]
    judged = not calm.empty
    used = calm if judged else runs
    kind = pairs["run"].iloc[0].record.kind
    times_of_runs = [times(run) for run in used["run"]]
    parts = between(
        times_of_runs,
        used["second"].tolist(),
        used["seed"].tolist(),
        simulated=kind == "simulated",
        known_spread=known_spread,
        apart=_apart(used),
    )
    missing_parts: dict[str, str] = {}
    for times_of_run in times_of_runs:
        missing_parts |= times_of_run.missing
    too_short = ""
    if not judged:
        too_short = _too_short([run for run in used["run"] if run.too_short])
    caution = too_short or _left_out(runs, used, judged)
    return Setup(
        name=name,
        pairs=len(pairs),
        runs=(int((~used["second"]).sum()), int(used["second"].sum())),
        parts=parts,
        missing=missing_parts,
        kind=kind,
        judged=judged,
        caution=f"{name or 'the run'}: {caution}" if caution else "",
        too_short=too_short,
    )


def _runs_of_both_sides(pairs: pd.DataFrame) -> pd.DataFrame:
    """The runs of pairs: run, seed, whether of the second side, what disturbed it, its begin."""
    first = pairs[["run", "seed"]].assign(second=False)
    second = pairs[["run_b", "seed_b"]].set_axis(["run", "seed"], axis=1).assign(second=True)
    runs = pd.concat([first, second])
    runs["disturbed"] = runs["run"].map(disturbed)
    runs["started"] = [run.record.provenance.started for run in runs["run"]]
    return runs


def _apart(runs: pd.DataFrame) -> bool:
    """Says whether one side was measured after the other."""
    began = runs.groupby("second")["started"].agg(["min", "max"])
    return bool(began["max"].min() < began["min"].max())


def _left_out(runs: pd.DataFrame, used: pd.DataFrame, judged: bool) -> str:
    """Which runs do not count, and why; empty where all do."""
    reasons = [reason for reason in dict.fromkeys(runs["disturbed"]) if reason]
    if not reasons:
        return ""
    words = "not judged: no run of one side was undisturbed"
    if judged:
        words = f"{len(runs) - len(used)} of {counted(len(runs), 'run')} left out"
    return f"{words} ({listed(reasons)})"


def _too_short(runs: list[Run]) -> str:
    """Why runs that are too short are not compared, and how long they would have to be.

    Empty if there are none.
    """
    if not runs:
        return ""
    shortest = min(runs, key=lambda run: run.record.timing.simulate_s)
    timing = shortest.record.timing
    if timing.simulate_s >= SHORTEST_S:
        return f"these runs are too short to compare: {shortest.too_short}"
    return (
        f"these runs are too short to compare, the shortest with {1e3 * timing.simulate_s:.3g} ms:"
        f" simulate at least {1e-3 * enough_ms(timing.real_time_factor):g} s, so that each lasts"
        f" {SHORTEST_S:g} s"
    )


def disturbed(run: Run) -> str:
    """What disturbed a run, so that its times say little about what was run; empty if nothing.

    Example:
        >>> from spikemark.records.record import load_run
        >>> disturbed(load_run("tests/golden/analysis/records/aware-4"))
        'foreign load'
    """
    if run.too_short:
        return f"too short: less than {SHORTEST_S:g} s, or a costly clock"
    if run.record.kind == "measured" and run.record.host.foreign_load is None:
        return "whether other programs ran is not known"
    return run.disturbed().split(":")[0]


def between(
    runs: list[RunTimes],
    second: Sequence[bool],
    seeds: Sequence[int],
    simulated: bool = False,
    known_spread: KnownSpread | None = None,
    apart: bool = False,
) -> dict[str, Estimate]:
    """How the parts of two groups of runs differ; both have runs of the same seeds.

    A part that could not be told apart in one of the runs is left out; one that a run lacks took no
    time there.

    Args:
        runs: the times of the runs of both groups.
        second: whether each run is of the second group.
        seeds: of each run.
        simulated: whether times do not vary.
        known_spread: what a history tells.
        apart: whether one group was measured after the other.

    Example:
        >>> def run_of(cycle_s: float) -> RunTimes:
        ...     return RunTimes({CYCLE: MeanTime(cycle_s)}, missing={})
        >>> runs = [run_of(cycle_s) for cycle_s in (0.010, 0.010, 0.012, 0.012)]
        >>> parts = between(runs, second=[False, False, True, True], seeds=[1, 2, 1, 2])
        >>> round(parts[CYCLE].difference_s, 6)
        0.002
    """
    parts_of_runs = alike(runs)
    is_second = np.array(second, dtype=bool)
    cycles_s = np.array([parts[CYCLE].value for parts in parts_of_runs])
    cycle_s = float(np.mean(cycles_s[~is_second]))
    names = dict.fromkeys(itertools.chain.from_iterable(parts_of_runs))
    if not all(MEDIAN in parts for parts in parts_of_runs):
        names.pop(MEDIAN, None)
    nothing = MeanTime(0.0, 0.0)
    estimates = {}
    for name in names:
        estimates[name] = estimate(
            name,
            [parts.get(name, nothing) for parts in parts_of_runs],
            is_second,
            np.array(seeds),
            cycle_s,
            simulated,
            (known_spread or {}).get(name, UNKNOWN_SPREAD),
            apart,
        )
    return estimates
