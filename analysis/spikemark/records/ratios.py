"""Ratios between runs: pairs of one network and repetition, with a t interval of the logarithms."""

import numpy as np
import pandas as pd

from spikemark.quantities.quantity import FEWEST, LEVEL, Quantity, student

#: What the two runs of a pair have in common besides what a comparison holds equal.
PAIR = ("network", "ranks", "threads", "repetition")
WIDEST = 100.0  #: an interval whose ends differ by more than this factor says nothing


def ratio(
    first: pd.DataFrame, second: pd.DataFrame, column: str, pair: tuple[str, ...] = PAIR, level: float = LEVEL
) -> Quantity:
    """Geometric mean over pairs of `first[column] / second[column]`, with its interval from FEWEST pairs on.

    Runs without a positive value are left out; several runs of one pair are averaged. Missing, with the
    reason, where no pair remains.
    """
    sides = []
    for runs in (first, second):
        positive = runs[runs[column].notna() & (runs[column] > 0)]
        logs = np.log(positive[column].astype(float))
        sides.append(logs.groupby([positive[name] for name in pair]).mean())
    logs = (sides[0] - sides[1]).dropna().to_numpy()
    if not len(logs):
        return Quantity(None, reason="no pair of runs of one network and repetition has it")
    value = float(np.exp(logs.mean()))
    if len(logs) < FEWEST:
        return Quantity(value)
    half = student(len(logs) - 1, level) * logs.std(ddof=1) / np.sqrt(len(logs))
    low, high = np.exp([logs.mean() - half, logs.mean() + half])
    return Quantity(value, float(low), float(high)) if high <= WIDEST * low else Quantity(value)
