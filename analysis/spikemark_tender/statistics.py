"""`spikemark tender statistics`: how often acceptance runs fail a good machine and pass a bad one.

A run of a machine with the middle m gives m (1 + c Z): c is the spread (coefficient of variation),
Z standard normal and independent from run to run. Smaller figures are better. The machine passes if
the median of n runs is at most (1 + tolerance) times the committed figure. A machine that just
meets its commitment has m = the committed figure; one with a shortfall s has (1 + s) times as much.

Probabilities of order statistics are exact (David and Nagaraja 2003, eq. 2.1.3). A spread that was
estimated from d degrees of freedom is averaged over what it may be.
"""

import math
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from spikemark.core.errors import BadInput
from spikemark.diff import history, sides
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent

from . import formats
from .formats import read_answer

#: Numbers of runs and tolerances of the table.
RUNS, TOLERANCES = (1, 3, 5, 11, 21), (0.0, 0.01, 0.02, 0.05)
DEFAULT_SHORTFALL = 0.05
RISK = 0.05  #: that a remedy keeps for both errors
MAX_RUNS = 999  #: that a remedy may take
MAX_SPREAD = 0.999  #: that is made of runs, however far apart
QUADRATURE_NODES = 64  #: over what the true spread may be
MAX_Z = 1e6  #: standard deviations, beyond which nothing is
SAME_DAY = (
    "Runs of one day are more alike than those of other days: take the spread from several days."
)


@dataclass(frozen=True)
class VariationOfRuns:
    """The spread from run to run. Raises BadInput for a spread that no runs have."""

    value: float  #: coefficient of variation
    degrees: float = math.inf  #: of freedom behind it; infinite where it was given

    def __post_init__(self) -> None:
        if not 0 <= self.value < 1:
            expected = "0 or more, below 1 (0.02 is 2 %)"
            raise BadInput(f"spread={self.value:g}; expected {expected}", field="spread")

    @property
    def interval(self) -> list[float] | None:
        """Limits of 95 % by chi-square; None where the spread was given."""
        if math.isinf(self.degrees):
            return None
        chi_squares = special.chdtri(self.degrees, [0.025, 0.975])
        limits: list[float] = (self.value * np.sqrt(self.degrees / chi_squares)).tolist()
        return limits


def exceeds(z: ArrayLike, runs: int) -> NDArray[np.float64]:
    """Probability that the median of an odd number of standard normals is above z.

    David and Nagaraja 2003, eq. 2.1.3. Has the shape of `z`.

    >>> float(exceeds(0.0, runs=5))
    0.5
    """
    above = runs // 2 + 1  # so many of them must be above z
    one_is_above = special.ndtr(-np.asarray(z, dtype=float))
    return special.betainc(above, runs - above + 1, one_is_above)


def fails(
    spread: VariationOfRuns,
    runs: int,
    tolerance: float,
    shortfall: float = 0.0,
) -> float:
    """Probability that a machine with this shortfall fails; at 0, it just meets its promise.

    >>> round(fails(VariationOfRuns(0.02), runs=5, tolerance=0.01), 3)
    0.175
    """
    room = (1 + tolerance) / (1 + shortfall) - 1
    z = room / spread.value if spread.value else math.copysign(MAX_Z, room)
    return _median_is_above(spread, z, runs)


def _median_is_above(spread: VariationOfRuns, z: float, runs: int) -> float:
    """`exceeds`, averaged over what an estimated spread may be."""
    scales, weights = _scales(spread.degrees)
    return float(weights @ exceeds(z * scales, runs))


@lru_cache(maxsize=64)
def _scales(degrees: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimated over true spread, and how likely: the root of chi-square over its degrees.

    Nodes and weights of a quadrature, which is exact where the spread was given.
    """
    if math.isinf(degrees):
        return np.ones(1), np.ones(1)
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
    chi_squares = special.chdtri(degrees, (1 - nodes) / 2)
    return np.sqrt(chi_squares / degrees), weights / 2


class Remedy(NamedTuple):
    """A number of runs that keeps both risks small, with a tolerance between two limits."""

    runs: int
    least: float  #: tolerance
    most: float  #: tolerance


def _remedy(spread: VariationOfRuns, shortfall: float = DEFAULT_SHORTFALL) -> Remedy | None:
    """The fewest runs with which both errors are at most as likely as RISK.

    The errors: a good machine fails, and one with the shortfall passes. A tolerance is not
    negative. None where no odd number of runs up to MAX_RUNS suffices.
    """
    for runs in range(1, MAX_RUNS + 1, 2):
        least = max(spread.value * _quantile(spread, runs, RISK), 0.0)
        largest = 1 + spread.value * _quantile(spread, runs, 1 - RISK)
        most = (1 + shortfall) * largest - 1
        if least <= most:
            return Remedy(runs, least, most)
    return None


def _quantile(spread: VariationOfRuns, runs: int, probability: float) -> float:
    """The z at which `_median_is_above`, which falls in z, has this value."""

    def difference(z: float) -> float:
        return _median_is_above(spread, z, runs) - probability

    return optimize.brentq(difference, -MAX_Z, MAX_Z, xtol=1e-12)


def _pooled(groups: list[list[float]]) -> VariationOfRuns:
    """The spread within groups of repetitions, with n - 1 degrees of freedom from each.

    Raises BadInput where no group has two runs.
    """
    repeated = [np.asarray(group) for group in groups if len(group) > 1]
    if not repeated:
        raise BadInput(
            field="runs",
            reason="no two repetitions of one run",
            expected="at least two, or --spread",
        )
    degrees = sum(len(group) - 1 for group in repeated)
    squares = sum(((group / group.mean() - 1) ** 2).sum() for group in repeated)
    return VariationOfRuns(min(math.sqrt(squares / degrees), MAX_SPREAD), degrees)


def measured(paths: list[Path]) -> VariationOfRuns:
    """The spread of the real-time factor of runs that differ in nothing but their repetition.

    A path is an answer, or as `sides.read` takes it. Raises BadInput where no run is repeated.

    Example:
        >>> measured([Path("docs/notebooks/data/waiting/jureca-dc")])
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: runs: no two repetitions of one run; expected at ...
    """
    groups: dict[Any, list[float]] = defaultdict(list)
    for path in paths:
        if (path / formats.ANSWER).is_file():
            for run in read_answer(path).runs:
                groups[path, run.name] += [
                    repetition.real_time_factor for repetition in run.repetitions
                ]
            continue
        runs = sides.read(path).runs
        for run, seed in zip(runs["run"], runs["seed"], strict=True):
            groups[history.key_of(run), seed].append(run.record.timing.real_time_factor)
    return _pooled(list(groups.values()))


def sentences(spread: VariationOfRuns, shortfall: float) -> list[str]:
    """What to agree on, or that nothing keeps both risks small; and where the spread comes from.

    Example:
        >>> "one run and a tolerance" in sentences(VariationOfRuns(0.02), shortfall=0.1)[0]
        True
    """
    keeps = _remedy_in_words(_remedy(spread, shortfall))
    passes = f"one that falls short by {_share_in_words(shortfall)} passes"
    lines = [
        f"With a spread of {percent(spread.value, 1)}, {keeps} both risks at {percent(RISK)}.",
        f"The risks are that a machine that just meets its promise fails, and that {passes}.",
    ]
    if spread.interval:
        limits = " to ".join(percent(limit, 1) for limit in spread.interval)
        degrees = counted(int(spread.degrees), "degree")
        lines.append(f"The measured spread is uncertain: {limits}, {degrees} of freedom.")
    return [*lines, SAME_DAY]


def _remedy_in_words(remedy: Remedy | None) -> str:
    """Subject and verb of a sentence."""
    if remedy is None:
        return f"no median of up to {MAX_RUNS} runs keeps"
    runs = "one run"
    if remedy.runs > 1:
        runs = f"the median of {counted(remedy.runs, 'run')}"
    limits = dict.fromkeys((percent(remedy.least, 1), percent(remedy.most, 1)))
    return f"{runs} and a tolerance of {' to '.join(limits)} keep"


def _share_in_words(share: float) -> str:
    """In percent, with a decimal unless it is whole."""
    is_whole = abs(round(100 * share) - 100 * share) < 1e-9
    return percent(share, 0 if is_whole else 1)


@dataclass(frozen=True)
class Risks:
    """How likely both errors are."""

    runs: int
    tolerance: float
    good_fails: float
    bad_passes: float


def _risks(spread: VariationOfRuns, shortfall: float) -> list[Risks]:
    """Both risks for every one of RUNS and TOLERANCES."""
    cells = []
    for runs in RUNS:
        for tolerance in TOLERANCES:
            good_fails = fails(spread, runs, tolerance)
            bad_passes = 1 - fails(spread, runs, tolerance, shortfall)
            cells.append(Risks(runs, tolerance, good_fails, bad_passes))
    return cells


def table(spread: VariationOfRuns, shortfall: float) -> Table:
    """A row for each number of runs, a column for each tolerance: both risks.

    Example:
        >>> "0.05" in table(VariationOfRuns(0.02), shortfall=0.1).rows[0]  # tolerances
        True
    """
    rows: dict[int, dict[str, Any]] = {runs: {"runs": runs} for runs in RUNS}
    for cell in _risks(spread, shortfall):
        words = f"{_risk_in_words(cell.good_fails)} / {_risk_in_words(cell.bad_passes)}"
        rows[cell.runs][f"{cell.tolerance}"] = words
    columns = [Column("runs", "runs")]
    for tolerance in TOLERANCES:
        heading = f"tolerance {_share_in_words(tolerance)}"
        columns.append(Column(f"{tolerance}", heading, "modelled"))
    title = "Probability that a good machine fails / a bad one passes, median of the runs"
    return Table(columns, list(rows.values()), title)


def _risk_in_words(share: float) -> str:
    """In percent: with a decimal below half a percent, unless nothing would be left of it."""
    has_decimal = 5e-5 <= share < 0.005
    return percent(share if share >= 5e-5 else 0, 1 if has_decimal else 0)


def content(spread: VariationOfRuns, shortfall: float) -> dict[str, Any]:
    """The content for JSON.

    Example:
        >>> content(VariationOfRuns(0.02), shortfall=0.1)["remedy"]
        {'runs': 1, 'tolerance': [0.032897072539029446, 0.06381322020706781]}
    """
    is_given = math.isinf(spread.degrees)
    cure = _remedy(spread, shortfall)
    return {
        "spread": {
            "value": spread.value,
            "interval": spread.interval,
            "kind": "given" if is_given else "measured",
            "degrees": None if is_given else spread.degrees,
        },
        "shortfall": shortfall,
        "risk": RISK,
        "risks": [asdict(cell) for cell in _risks(spread, shortfall)],
        "remedy": cure and {"runs": cure.runs, "tolerance": [cure.least, cure.most]},
    }
