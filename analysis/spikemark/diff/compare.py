"""Is the second of two results slower, where, and why: pairs of runs, setup by setup.

A setup is what a plan varies but for seeds and repetitions. Differences are shares of the time of a cycle of
the first side, so that those of the phases add up to that of the cycle.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import LEVEL, Quantity, student, with_half
from spikemark.quantities.words import counted, listed, number
from spikemark.records.record import Run

from . import sides
from .estimate import Estimate, Spread, estimate
from .times import CYCLE, MEDIAN, Part, Times, alike, times

SLOWER, FASTER, OPEN = "slower", "faster", "open"
SHARE = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?%")
FAIL, PASS, INCONCLUSIVE = "fail", "pass", "inconclusive"
Known = dict[str, Spread]  # what a history tells of the parts (`Times.parts`)


@dataclass(frozen=True)
class Setup:
    """The runs of one setup on both sides, and how their times differ. `parts`: by name, as Times.parts.

    Disturbed runs do not count. If a side has no others, all count, but nothing is judged. `pairs`: how many
    there are; `runs`: how many of both sides count.
    """

    name: str
    pairs: int
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
        """How much longer a part is on the second side, as a share of a cycle of the first side.

        That of MEDIAN is a share of the median cycle.
        """
        whole_s = self.parts[MEDIAN if name == MEDIAN else CYCLE].first_s
        found = self.parts[name].quantity(whole_s, self.kind, level)
        return found if self.judged else Quantity(found.value, kind=found.kind)


@dataclass(frozen=True)
class Comparison:
    """Two sides, setup by setup. `level` is that of the intervals with which all verdicts hold together."""

    paths: tuple[Path, Path]
    setups: list[Setup]
    differs: dict[tuple[str, str, str], int]  # as of sides.differs
    alone: list[list[str]]  # of each side, the runs without a partner
    cautions: list[str] = field(default_factory=list)

    @cached_property
    def level(self) -> float:
        """Each interval is so wide that with 95 % all of them hold (Bonferroni), the overall one included."""
        return 1 - (1 - LEVEL) / (len(self.setups) + (len(self.setups) > 1))

    def change(self, setup: Setup) -> Quantity:
        """The change of a setup, with an interval that holds together with those of all others."""
        return setup.change(CYCLE, self.level)

    def median_change(self, setup: Setup) -> Quantity | None:
        """The change of the median cycle, likewise; None where it is not judged."""
        told = MEDIAN in setup.parts and setup.judged and min(setup.runs) > 1 and setup.kind != "simulated"
        return setup.change(MEDIAN, self.level) if told else None

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
    pairs, alone = sides.pair(*both)
    runs = list(zip(pairs["run"], pairs["run_b"], strict=True))
    for pair in runs:
        sides.check_networks(*pair)
    setups = [
        _setup(name, own, known(own["run"].iloc[0]) if known else {})
        for name, own in pairs.groupby("setup", sort=False)
    ]
    cautions = [line for side in both for line in side.left_out]
    cautions += [setup.caution for setup in setups if setup.caution]
    return Comparison((both[0].path, both[1].path), setups, sides.differs(runs), alone, cautions)


def _setup(name: str, pairs: pd.DataFrame, known: Known) -> Setup:
    """Of the pairs of one setup. Seeds count of which both sides have an undisturbed run."""
    other = pairs[["run_b", "seed_b"]].set_axis(["run", "seed"], axis=1)
    runs = pd.concat([pairs[["run", "seed"]].assign(second=False), other.assign(second=True)])
    runs["disturbed"] = runs["run"].map(disturbed)
    runs["started"] = [run.record.provenance.started for run in runs["run"]]
    calm = runs[runs["disturbed"] == ""]
    calm = calm[calm.groupby("seed")["second"].transform("nunique") == 2]
    judged, used = not calm.empty, runs if calm.empty else calm
    began = used.groupby("second")["started"].agg(["min", "max"])
    apart = began["max"].min() < began["min"].max()  # one side was measured after the other
    kind, found = pairs["run"].iloc[0].record.kind, [times(run) for run in used["run"]]
    parts = between(found, used["second"], used["seed"], kind == "simulated", known, apart)
    missing, caution = {part: why for one in found for part, why in one.missing.items()}, ""
    if why := [words for words in dict.fromkeys(runs["disturbed"]) if words]:
        out = f"{len(runs) - len(used)} of {counted(len(runs), 'run')} left out"
        out = out if judged else "not judged: no run of one side was undisturbed"
        caution = f"{name or 'the run'}: {out} ({listed(why)})"
    counts = int((~used["second"]).sum()), int(used["second"].sum())
    return Setup(name, len(pairs), counts, parts, missing, kind, judged, caution)


def disturbed(run: Run) -> str:
    """What disturbed a run, so that its times say little about what was run; empty if nothing is known."""
    if run.record.kind == "measured" and run.record.host.foreign_load is None:
        return "a measured part below 0.2 s, which does not tell whether other programs ran"
    return run.disturbed().split(":")[0]


def between(
    runs: list[Times], second: Sequence[bool], seeds: Sequence[int],
    simulated: bool = False, known: Known | None = None, apart: bool = False,
) -> dict[str, Estimate]:  # fmt: skip
    """How the parts of two groups of runs differ; both have runs of the same seeds.

    `second`: of which group each run is. `apart`: one was measured after the other. A part that could not be
    told apart in one of the runs is left out; one that a run lacks took no time there.
    """
    told, second = alike(runs), np.array(second, dtype=bool)
    cycle_s = float(
        np.mean([parts[CYCLE].value for parts, other in zip(told, second, strict=True) if not other])
    )
    names = dict.fromkeys(name for parts in told for name in parts)
    if not all(MEDIAN in parts for parts in told):
        names.pop(MEDIAN, None)
    return {
        name: estimate(
            name, [parts.get(name, Part(0.0, 0.0)) for parts in told], second, np.array(seeds), cycle_s,
            simulated, (known or {}).get(name, Spread()), apart,
        ) for name in names
    }  # fmt: skip
