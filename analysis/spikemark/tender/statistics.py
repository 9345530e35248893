"""`spikemark tender statistics`: how often acceptance runs fail a good machine and pass a bad one.

A run of a machine with the middle m gives m (1 + c Z): c is the spread (coefficient of variation), Z standard
normal and independent from run to run. Smaller figures are better. The machine passes if the median of n runs
is at most (1 + tolerance) times the committed figure. A machine that just meets its commitment has m = the
committed figure; one with a shortfall s has (1 + s) times as much.

Probabilities of order statistics are exact (David and Nagaraja 2003, eq. 2.1.3). A spread that was estimated
from d degrees of freedom is averaged over what it may be.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special

from spikemark.core.errors import BadInput
from spikemark.diff import history, sides
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent

from . import formats
from .formats import read_answer

RUNS, TOLERANCES = (1, 3, 5, 11, 21), (0.0, 0.01, 0.02, 0.05)
SHORTFALL, RISK = 0.05, 0.05
MOST = 999  # runs that are tried
NODES = 64  # of the quadrature over what the spread may be
FAR = 1e6  # standard deviations, beyond which nothing is
SAME_DAY = "Runs of one day are more alike than those of other days: take the spread from several days."


@dataclass(frozen=True)
class Spread:
    """The coefficient of variation of runs, and from how many degrees of freedom; infinitely many: given.

    Raises BadInput for a spread that no runs have.
    """

    value: float
    degrees: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= self.value < 1:
            raise BadInput(f"spread={self.value:g}; expected 0 or more, below 1 (0.02 is 2 %)")

    @property
    def interval(self) -> list[float] | None:
        """Limits of 95 % by chi-square; None where the spread was given."""
        if math.isinf(self.degrees):
            return None
        ends = special.chdtri(self.degrees, [0.025, 0.975])
        return (self.value * np.sqrt(self.degrees / ends)).tolist()


def exceeds(z: np.ndarray | float, runs: int) -> np.ndarray:
    """Probability that the median of an odd number of standard normals is above z."""
    least = runs // 2 + 1  # so many of them must be above
    return special.betainc(least, runs - least + 1, special.ndtr(-np.asarray(z, dtype=float)))


def fails(spread: Spread, runs: int, tolerance: float, shortfall: float = 0.0) -> float:
    """Probability that a machine with this shortfall fails; with 0, one that just meets its commitment."""
    room = (1 + tolerance) / (1 + shortfall) - 1
    return _above(spread, room / spread.value if spread.value else math.copysign(FAR, room), runs)


def _above(spread: Spread, z: float, runs: int) -> float:
    """`exceeds`, averaged over what an estimated spread may be."""
    at, weight = _scales(spread.degrees)
    return float(weight @ exceeds(z * at, runs))


@lru_cache(maxsize=64)
def _scales(degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimated over true spread, and how likely: the root of chi-square over its degrees, by quadrature."""
    if math.isinf(degrees):
        return np.ones(1), np.ones(1)
    at, weight = np.polynomial.legendre.leggauss(NODES)
    return np.sqrt(special.chdtri(degrees, (1 - at) / 2) / degrees), weight / 2


class Remedy(NamedTuple):
    """A number of runs that keeps both risks small with a tolerance between `least` and `most`."""

    runs: int
    least: float
    most: float


def remedy(spread: Spread, shortfall: float = SHORTFALL) -> Remedy | None:
    """The fewest runs with which a good machine fails, and one with the shortfall passes, at most so often.

    A tolerance is not negative. None where no odd number of runs up to MOST suffices.
    """
    for runs in range(1, MOST + 1, 2):
        low = max(spread.value * _quantile(spread, runs, RISK), 0.0)
        high = (1 + shortfall) * (1 + spread.value * _quantile(spread, runs, 1 - RISK)) - 1
        if low <= high:
            return Remedy(runs, low, high)
    return None


def _quantile(spread: Spread, runs: int, probability: float) -> float:
    """Where `_above`, which falls in z, has this value."""
    return optimize.brentq(lambda z: _above(spread, z, runs) - probability, -FAR, FAR, xtol=1e-12)


def pooled(groups: list[list[float]]) -> Spread:
    """The spread within groups of repetitions, with n - 1 degrees of freedom from each.

    Raises BadInput where no group has two runs.
    """
    many = [np.asarray(group) for group in groups if len(group) > 1]
    if not many:
        raise BadInput("runs: no two repetitions of one run; expected at least two, or --spread")
    degrees = sum(map(len, many)) - len(many)
    squares = sum(((group / group.mean() - 1) ** 2).sum() for group in many)
    return Spread(min(math.sqrt(squares / degrees), 0.999), degrees)


def measured(paths: list[Path]) -> Spread:
    """The spread of the real-time factor of runs that differ in nothing but their repetition.

    A path is an answer, or as of `sides.read`. Raises BadInput where no run is repeated.
    """
    groups = defaultdict(list)
    for path in paths:
        if (path / formats.ANSWER).is_file():
            for run in read_answer(path).runs:
                groups[path, run.name] += [one.real_time_factor for one in run.repetitions]
        else:
            for one in sides.read(path).members:
                groups[history.key_of(one.run), one.seed].append(one.run.record.timing.real_time_factor)
    return pooled(list(groups.values()))


def sentences(spread: Spread, shortfall: float) -> list[str]:
    """What to agree on, or that nothing keeps both risks small; and where the spread comes from."""
    found, keeps = remedy(spread, shortfall), f"no median of up to {MOST} runs keeps"
    if found is not None:
        runs = "one run" if found.runs == 1 else f"the median of {counted(found.runs, 'run')}"
        ends = " to ".join(dict.fromkeys((percent(found.least, 1), percent(found.most, 1))))
        keeps = f"{runs} and a tolerance of {ends} keep"
    bad = f"one that falls short by {_share(shortfall)} passes"
    lines = [f"With a spread of {percent(spread.value, 1)}, {keeps} both risks at {percent(RISK)}.",
             f"The risks are that a machine that just meets its promise fails, and that {bad}."]  # fmt: skip
    if spread.interval:
        ends = " to ".join(percent(end, 1) for end in spread.interval)
        degrees = counted(int(spread.degrees), "degree")
        lines.append(f"The measured spread is uncertain: {ends}, {degrees} of freedom.")
    return [*lines, SAME_DAY]


def _share(share: float) -> str:
    return percent(share, 0 if abs(round(100 * share) - 100 * share) < 1e-9 else 1)


def cells(spread: Spread, shortfall: float) -> list[dict[str, float]]:
    """Both risks for every one of RUNS and TOLERANCES."""
    return [
        {"runs": n, "tolerance": t, "good_fails": fails(spread, n, t),
         "bad_passes": 1 - fails(spread, n, t, shortfall)}
        for n in RUNS for t in TOLERANCES
    ]  # fmt: skip


def table(spread: Spread, shortfall: float) -> Table:
    """A row for each number of runs, a column for each tolerance: both risks."""

    def risk(share: float) -> str:
        return percent(share) if share >= 0.005 else percent(0) if share < 5e-5 else percent(share, 1)

    rows: dict[int, dict[str, Any]] = {n: {"runs": n} for n in RUNS}
    for n, tolerance, *risks in (cell.values() for cell in cells(spread, shortfall)):
        rows[n][f"{tolerance}"] = " / ".join(map(risk, risks))
    columns = [Column(f"{t}", f"tolerance {_share(t)}", "modelled") for t in TOLERANCES]
    title = "Probability that a good machine fails / a bad one passes, median of the runs"
    return Table([Column("runs", "runs"), *columns], list(rows.values()), title)


def content(spread: Spread, shortfall: float) -> dict[str, Any]:
    """The content for JSON."""
    found = remedy(spread, shortfall)
    kind, degrees = ("given", None) if math.isinf(spread.degrees) else ("measured", spread.degrees)
    return {
        "spread": {"value": spread.value, "interval": spread.interval, "kind": kind, "degrees": degrees},
        "shortfall": shortfall, "risk": RISK, "risks": cells(spread, shortfall),
        "remedy": found and {"runs": found.runs, "tolerance": [found.least, found.most]},
    }  # fmt: skip
