"""Computes factors from trials: how many times as fast as each other program the mini-app is.

Programs in one round ran under similar conditions, so a factor is the median over rounds of the quotients
within a round. Its interval is the distribution-free one for a median: between two order statistics, the
narrowest symmetric ones that contain the median with at least the wanted confidence, else the whole range
with the confidence that this many rounds can give (5 rounds: 94 %).
"""

from math import comb

import numpy as np
import pandas as pd

from .content import Estimated, Factor, Gain, Median
from .programs import REFERENCE
from .table import COMPARED, Compared

CONFIDENCE = 0.9
RATE_TOLERANCE = 0.01  # of neurons described to fire at a rate
EMERGING_RATE_TOLERANCE = 0.03  # of neurons driven by their input: other draws give other rates


def estimate(values, disturbed=None) -> Estimated:
    """Median and interval of `values` (see the top of the module); missing values are left out."""
    values = np.asarray(values, dtype=float)
    flags = np.zeros(len(values), bool) if disturbed is None else np.asarray(disturbed, bool)
    known = np.isfinite(values)
    values, flags = np.sort(values[known]), flags[known]
    n = len(values)
    if n == 0:
        return unknown("not measured")
    skip, confidence = interval(n)
    return Estimated(
        median=float(np.median(values)),
        low=float(values[skip]),
        high=float(values[n - 1 - skip]),
        confidence=confidence,
        rounds=n,
        disturbed=int(flags.sum()),
        reason=None,
    )


def unknown(reason: str) -> Estimated:
    """No median, and why."""
    nothing = dict.fromkeys(("median", "low", "high", "confidence"))
    return Estimated(**nothing, rounds=0, disturbed=0, reason=reason)


def interval(n: int, wanted: float = CONFIDENCE) -> tuple[int, float]:
    """How many of `n` ordered values to drop at each end, and how surely the rest contains the median."""
    skip, confidence = 0, 1 - 2 * 0.5**n
    while 2 * (skip + 1) < n:
        below = sum(comb(n, k) for k in range(skip + 2)) * 0.5**n
        if 1 - 2 * below < wanted:
            break
        skip, confidence = skip + 1, 1 - 2 * below
    return skip, max(0.0, confidence)


def medians(trials: pd.DataFrame) -> list[Median]:
    """One for each program, number of threads and quantity; the reference first."""
    found = []
    for (program, threads), group in trials.groupby(["program", "threads"], sort=False):
        for compared in COMPARED:
            named = {"program": program, "threads": int(threads), "quantity": compared.name}
            of_all = estimate(group[compared.name], group["disturbed"])
            found.append(Median(**named, unit=compared.unit, **dict(of_all)))
    return sorted(found, key=lambda m: (m.threads, m.program != REFERENCE, m.program))


def factors(
    trials: pd.DataFrame, peers: list[str], threads: list[int], tolerance: float = RATE_TOLERANCE
) -> list[Factor]:
    """One for each peer, number of threads and quantity; without figures, with a reason, where refused."""
    found = []
    for count in threads:
        for peer in peers:
            reason = refusal(trials, peer, count, tolerance)
            for compared in COMPARED:
                within = unknown(reason) if reason else _factor(trials, peer, count, compared)
                found.append(Factor(peer=peer, threads=count, quantity=compared.name, **dict(within)))
    return found


def refusal(trials: pd.DataFrame, peer: str, threads: int, tolerance: float = RATE_TOLERANCE) -> str | None:
    """Why a peer must not be compared: not measured, another network, or another mean rate."""
    at = trials[trials["threads"] == threads]
    ours, theirs = (at[at["program"] == name] for name in (REFERENCE, peer))
    for name, rows in ((REFERENCE, ours), (peer, theirs)):
        if rows.empty:
            return f"{name} was not measured"
    for what in ("neurons", "synapses"):
        mine, other = set(ours[what]), set(theirs[what])
        if len(mine | other) > 1:
            return f"not the same network: {what} {_list(mine)} in {REFERENCE}, {_list(other)} in {peer}"
    mine, other = ours["mean_rate_hz"].median(), theirs["mean_rate_hz"].median()
    if abs(other - mine) > tolerance * mine:
        return f"mean rates differ by more than {tolerance:.0%}: {mine:.4g} and {other:.4g} spikes/s"
    return None


def scaling(trials: pd.DataFrame) -> list[Gain]:
    """Speed of each program with more threads over its speed with the fewest, within rounds."""
    found = []
    for program, group in trials.groupby("program", sort=False):
        speeds = group.pivot(index="round", columns="threads", values="speed")
        flags = group.pivot(index="round", columns="threads", values="disturbed")
        fewest, *more = sorted(speeds.columns)
        for threads in more:
            disturbed = flags[[fewest, threads]].eq(True).any(axis=1)
            within = estimate(speeds[threads] / speeds[fewest], disturbed)
            found.append(Gain(program=program, threads=int(threads), over=int(fewest), **dict(within)))
    return sorted(found, key=lambda g: (g.program != REFERENCE, g.program, g.threads))


def _factor(trials: pd.DataFrame, peer: str, threads: int, compared: Compared) -> Estimated:
    at = trials[trials["threads"] == threads].set_index("round")
    ours, theirs = (at[at["program"] == name] for name in (REFERENCE, peer))
    rounds = ours.index.intersection(theirs.index)
    ours, theirs = ours.loc[rounds], theirs.loc[rounds]
    above, below = (ours, theirs) if compared.larger_is_better else (theirs, ours)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = above[compared.name].to_numpy(float) / below[compared.name].to_numpy(float)
    return estimate(quotients, ours["disturbed"] | theirs["disturbed"])


def _list(values: set) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in sorted(values))
