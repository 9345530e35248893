"""Ratios between runs, over pairs of one network and repetition.

`ratio`: the geometric mean of the ratios of pairs, as papers have it. `of_means`: the quotient of
the mean times, as pages show it beside these means.
"""

import numpy as np
import pandas as pd

from spikemark.quantities.quantity import FEWEST, LEVEL, Quantity, student

#: What the two runs of a pair have in common besides what a comparison holds equal.
PAIR = ("network", "ranks", "threads", "repetition")
#: An interval whose ends differ by more than this factor says nothing.
MAX_INTERVAL_RATIO = 100.0


def ratio(
    first: pd.DataFrame,
    second: pd.DataFrame,
    column: str,
    pair: tuple[str, ...] = PAIR,
    level: float = LEVEL,
) -> Quantity:
    """Geometric mean over pairs of runs of `first[column] / second[column]`.

    With its interval from FEWEST pairs on. Runs without a positive value are left out; several runs
    of one pair are averaged. Missing, with the reason, where no pair remains.

    Args:
        first, second: rows of the table of runs.
        column: of times or other positive numbers.
        pair: columns in which the two runs of a pair agree.
        level: of the interval.

    Example:
        >>> first = pd.DataFrame({"network": ["a", "b", "c"], "simulate_s": [1.0, 2.0, 3.0]})
        >>> second = first.assign(simulate_s=first["simulate_s"] / 2)
        >>> ratio(first, second, "simulate_s", ("network",)).value
        2.0
    """
    first_logs = _mean_logarithms(first, column, pair)
    second_logs = _mean_logarithms(second, column, pair)
    logs = (first_logs - second_logs).dropna().to_numpy()
    if not len(logs):
        return Quantity(None, reason="no pair of runs of one network and repetition has it")
    value = float(np.exp(logs.mean()))
    if len(logs) < FEWEST:
        return Quantity(value)
    half_of_one = student(len(logs) - 1, level) * logs.std(ddof=1)
    half = half_of_one / np.sqrt(len(logs))
    low, high = np.exp([logs.mean() - half, logs.mean() + half])
    if high > MAX_INTERVAL_RATIO * low:
        return Quantity(value)
    return Quantity(value, float(low), float(high))


def _mean_logarithms(runs: pd.DataFrame, column: str, pair: tuple[str, ...]) -> pd.Series:
    """Logarithm of a column, mean over the runs of each pair, by the columns of the pair."""
    positive = runs[runs[column].notna() & (runs[column] > 0)]
    logs = pd.Series(np.log(positive[column].astype(float)))
    return logs.groupby([positive[name] for name in pair]).mean()


def of_means(
    first: np.ndarray,
    second: np.ndarray,
    kind: str = "",
    level: float = LEVEL,
) -> Quantity:
    """Mean of `first` over the mean of `second`, with its interval from FEWEST pairs on.

    The interval is that of the ratio estimator: with ratio R, the residuals first - R second have
    the standard error of R times the mean of `second`; limits are those of the logarithm of R, so
    that they stay above 0.

    Args:
        first, second: positive times of pairs of runs, [pair].
        kind: of the quantity: measured, simulated, …
        level: of the interval.

    Example:
        >>> of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0])).value
        2.0
    """
    value = float(first.mean() / second.mean())
    if len(first) < FEWEST:
        return Quantity(value, kind=kind)
    residuals = first - value * second
    error = residuals.std(ddof=1) / np.sqrt(len(first)) / first.mean()
    factor = float(np.exp(student(len(first) - 1, level) * error))
    if factor**2 > MAX_INTERVAL_RATIO:
        return Quantity(value, kind=kind)
    return Quantity(value, value / factor, value * factor, kind=kind)
