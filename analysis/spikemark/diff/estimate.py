"""The difference of two groups of runs, with an interval that allows for all that is known to vary.

Values x = seed + side + error are fitted by least squares: a seed is a network of its own, which
both sides share. The variance of the errors is that of the repetitions, which holds what the cycles
of a run vary, too. With less than ENOUGH degrees of freedom it is not below what the serial
correlation of the cycles implies (`times`), since a few runs can be alike by chance. Where there
are too few repetitions, it is that of the history, or assumed, plus what the cycles imply. What
sessions have in common does not average out over the repetitions of a session. A history tells it;
without one it is assumed where one side was measured after the other. It is added for both sides.
Spreads are shares of the time of a cycle. Degrees of freedom of sums are those of Satterthwaite
(1946); the interval is Student's.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.models.between_runs import COMMUNICATING_SD, RUN_SD
from spikemark.quantities.quantity import LEVEL, Quantity, student

from .times import COMMUNICATING, CYCLE, MEDIAN, MeanTime

#: What the runs of a session have in common where no history tells it. On a shared virtual machine,
#: sessions minutes apart differed by about 2 % (docs/diff.md); waiting and exchange as much more as
#: from run to run.
ASSUMED_SESSIONS = 0.02
#: What an interval rests on.
REPEATED = "repetitions"
HISTORY = "history"
ASSUMPTION = "assumed"
SIMULATED = "simulated"
#: The same in words.
WORDS = {
    REPEATED: "the spread of the repetitions (measured)",
    HISTORY: "the spread of this machine's history (measured)",
    ASSUMPTION: (
        f"an assumed spread of {100 * RUN_SD:g} %, {100 * COMMUNICATING_SD:g} % in waiting"
    ),
    SIMULATED: "simulated times, which do not vary",
}
#: Degrees of freedom from which repetitions tell their spread, and from which they do so alone.
FEWEST_DEGREES = 2
ENOUGH_DEGREES = 6
#: Degrees of freedom of what is taken as known.
KNOWN_DEGREES = 1e6


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of the time of a part; 0 where unknown.

    Shares of the squared time of a cycle.
    """

    #: Of single runs of one session, and its degrees of freedom.
    runs: float = 0.0
    runs_degrees: float = 0.0
    #: Of what whole sessions have in common, beyond that, and its degrees of freedom.
    sessions: float = 0.0
    sessions_degrees: float = 0.0


UNKNOWN_SPREAD = VarianceComponents()


@dataclass(frozen=True)
class Estimate:
    """Second minus first in s per cycle, with its standard error and degrees of freedom."""

    #: Mean over seeds of the first side, s per cycle.
    first_s: float
    #: Of the second side.
    second_s: float
    difference_s: float
    #: Its standard error.
    error_s: float
    #: Degrees of freedom.
    degrees: float
    #: What the error rests on: a key of WORDS.
    spread: str
    #: The part of the error that all setups of the two sessions share.
    sessions_s: float = 0.0
    #: Whether no history told it.
    sessions_assumed: bool = False

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Two-sided interval of the difference in s per cycle."""
        half = student(self.degrees, level) * self.error_s
        return self.difference_s - half, self.difference_s + half

    def quantity(self, cycle_s: float, kind: str, level: float = LEVEL) -> Quantity:
        """The difference as a share of the time of a cycle of the first side."""
        low, high = self.interval(level)
        return Quantity(self.difference_s / cycle_s, low / cycle_s, high / cycle_s, "", kind)


@dataclass(frozen=True)
class _Variance:
    """A variance in s^2, its degrees of freedom, and what it rests on."""

    value: float
    degrees: float
    spread: str = ""


@dataclass(frozen=True)
class _Fit:
    """Values x = seed + side + error, fitted by least squares."""

    #: Mean over seeds of the first side.
    base: float
    #: The second side less the first.
    change: float
    residuals: np.ndarray
    #: Degrees of freedom of the residuals.
    degrees: float
    #: Variance of the change over that of an error.
    variance_ratio: float


def estimate(
    name: str,
    parts: list[MeanTime],
    second: np.ndarray,
    seeds: np.ndarray,
    cycle_s: float,
    simulated: bool = False,
    known_spread: VarianceComponents = UNKNOWN_SPREAD,
    apart: bool = False,
) -> Estimate:
    """Compare a part of the runs of two sides with the same seeds.

    Args:
        name: of the part.
        parts: its time in each run.
        second: whether a run is of the second side, [run].
        seeds: of the networks, [run].
        cycle_s: the time of a cycle of the first side.
        simulated: whether times are simulated, so that they do not vary.
        known_spread: what a history tells of the part.
        apart: whether one side was measured after the other.

    Example:
        >>> cycles = [MeanTime(0.0100), MeanTime(0.0102), MeanTime(0.0120), MeanTime(0.0121)]
        >>> second = np.array([False, False, True, True])
        >>> change = estimate("cycle", cycles, second, np.array([1, 2, 1, 2]), cycle_s=0.01)
        >>> round(change.difference_s, 5), round(change.error_s, 5)
        (0.00195, 0.00055)
    """
    fit = _fit([part.value for part in parts], second, seeds)
    within = _variance_of_cycles(parts, second)
    share = COMMUNICATING_SD if name.partition(".")[2] in COMMUNICATING else RUN_SD
    assumed = (share * (cycle_s if name == CYCLE else fit.base)) ** 2
    if simulated:
        errors = _Variance(within, KNOWN_DEGREES, SIMULATED)
    else:
        errors = _variance_of_runs(fit, within, assumed, known_spread, cycle_s)
    runs = fit.variance_ratio * errors.value
    sessions_assumed = apart and not simulated and not known_spread.sessions_degrees > 0
    sessions = _Variance(0.0, KNOWN_DEGREES)
    if sessions_assumed:
        sessions = _Variance(2 * assumed * (ASSUMED_SESSIONS / RUN_SD) ** 2, KNOWN_DEGREES)
    elif known_spread.sessions > 0 and not simulated:
        sessions = _Variance(2 * known_spread.sessions * cycle_s**2, known_spread.sessions_degrees)
    total = runs + sessions.value
    degrees = sessions.degrees
    if total > 0:  # Satterthwaite (1946)
        squares = runs**2 / errors.degrees + sessions.value**2 / sessions.degrees
        degrees = min(total**2 / squares, KNOWN_DEGREES)
    factor = _error_of_base(name, fit)
    return Estimate(
        first_s=fit.base,
        second_s=fit.base + fit.change,
        difference_s=fit.change,
        error_s=factor * total**0.5,
        degrees=degrees,
        spread=errors.spread,
        sessions_s=factor * sessions.value**0.5,
        sessions_assumed=sessions_assumed,
    )


def _fit(values_s: list[float], second: np.ndarray, seeds: np.ndarray) -> _Fit:
    """Fits times [run] by seeds and side."""
    values = np.array(values_s)
    is_seed = [seeds == seed for seed in np.unique(seeds)]
    design = np.column_stack([*is_seed, second]).astype(float)
    coefficients = np.linalg.lstsq(design, values, rcond=None)[0]
    return _Fit(
        base=float(coefficients[:-1].mean()),
        change=float(coefficients[-1]),
        residuals=values - design @ coefficients,
        degrees=float(len(values) - design.shape[1]),
        variance_ratio=float(np.linalg.inv(design.T @ design)[-1, -1]),
    )


def _variance_of_cycles(parts: list[MeanTime], second: np.ndarray) -> float:
    """The variance of a run that its cycles imply, mean over both sides; 0 where unknown."""
    variances = np.array([np.nan if part.error is None else part.error**2 for part in parts])
    total = 0.0
    for side in (variances[~second], variances[second]):
        of_side = side[~np.isnan(side)]
        if of_side.size:
            total += float(np.mean(of_side))
    return total / 2


def _variance_of_runs(
    fit: _Fit,
    within: float,
    assumed: float,
    known_spread: VarianceComponents,
    cycle_s: float,
) -> _Variance:
    """The variance of measured runs: of repetitions, of the history, or assumed.

    Args:
        fit: of the times of the runs.
        within: what the cycles imply, s^2.
        assumed: where nothing is known, s^2.
        known_spread: what a history tells.
        cycle_s: the time of a cycle of the first side.
    """
    if fit.degrees >= FEWEST_DEGREES:
        variance = float(fit.residuals @ fit.residuals) / fit.degrees
        if within > variance and fit.degrees < ENOUGH_DEGREES:
            return _Variance(within, KNOWN_DEGREES, REPEATED)
        return _Variance(variance, fit.degrees, REPEATED)
    if known_spread.runs_degrees >= FEWEST_DEGREES:
        variance = known_spread.runs * cycle_s**2
        if within > variance:
            return _Variance(within, KNOWN_DEGREES, HISTORY)
        return _Variance(variance, known_spread.runs_degrees, HISTORY)
    return _Variance(assumed + within, KNOWN_DEGREES, ASSUMPTION)


def _error_of_base(name: str, fit: _Fit) -> float:
    """The factor by which the error grows since the base is measured, too.

    Its error moves the share that the difference is of it.
    """
    if name not in (CYCLE, MEDIAN) or fit.base <= 0:
        return 1.0
    ratio = 1 + fit.change / fit.base
    return float(((1 + ratio**2) / 2) ** 0.5)
