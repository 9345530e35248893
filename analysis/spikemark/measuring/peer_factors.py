"""How many times as good as its peers the mini-app is, from runs in rounds.

Programs in one round run under similar conditions, so a factor is the median over rounds of the
quotients within a round. Its interval is the distribution-free one for a median: between two order
statistics that contain it with CONFIDENCE, or between the extremes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import quantile_test

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number, percent, with_ends

from .peer_programs import OURS

CONFIDENCE = 0.9
#: Lines of the answer.
MAX_SENTENCES = 5


class ComparedFigure(NamedTuple):
    """A figure in which programs are compared."""

    column: str  #: of the table of trials
    title: str
    unit: str
    more_is_better: bool


SPEED_FIGURE = ComparedFigure("speed", "speed", "simulated s / s", more_is_better=True)
MEMORY = ComparedFigure("bytes_per_synapse", "memory", "B / synapse", more_is_better=False)
BUILD_TIME = ComparedFigure("build_s", "build time", "s", more_is_better=False)
COMPARED = (SPEED_FIGURE, MEMORY, BUILD_TIME)


@dataclass(frozen=True)
class PeerComparison:
    """Runs of all programs."""

    trials: pd.DataFrame  #: a row per run that has a result, with peers.TRIAL_COLUMNS
    failed: list[str]  #: why a program has none
    refused: dict[tuple[str, int], str]  #: why one is not compared, by its name and threads

    @property
    def complaints(self) -> list[str]:
        """Why programs were not compared, a line each."""
        lines = list(self.failed)
        for (name, threads), reason in self.refused.items():
            lines.append(f"{name}, {counted(threads, 'thread')}: {reason}")
        return lines


def refusal(
    trials: pd.DataFrame,
    peer: str,
    threads: int,
    tolerance: float,
) -> str | None:
    """Why a peer must not be compared: not measured, another network, or another mean rate.

    `tolerance`: share by which mean rates may differ.

    Example:
        >>> row = {"threads": 1, "neurons": 100, "synapses": 5000}
        >>> ours = row | {"program": OURS, "rate_hz": 8.0}
        >>> nest = row | {"program": "NEST", "rate_hz": 9.0}
        >>> refusal(pd.DataFrame([ours, nest]), "NEST", threads=1, tolerance=0.03)
        'mean rates differ by more than 3\\u202f%: 8 and 9 spikes/s'
    """
    by_program = trials[trials["threads"] == threads].groupby("program")
    for name in (OURS, peer):
        if name not in by_program.groups:
            return f"{name} was not measured"
    ours, theirs = by_program.get_group(OURS), by_program.get_group(peer)
    for column in ("neurons", "synapses"):
        numbers = {*ours[column], *theirs[column]}
        if len(numbers) > 1:
            listed = ", ".join(str(size) for size in sorted(numbers))
            return f"not the same network: {column} {listed}"
    our_rate, peer_rate = ours["rate_hz"].median(), theirs["rate_hz"].median()
    if abs(peer_rate - our_rate) > tolerance * our_rate:
        rates = f"{our_rate:.4g} and {peer_rate:.4g} spikes/s"
        return f"mean rates differ by more than {percent(tolerance)}: {rates}"
    return None


def estimate(values: Iterable[float], unit: str = "") -> Quantity:
    """Median of values, and its interval, see the top of the module.

    Values that are not finite are left out. One value has no interval.

    Example:
        >>> estimate([1.1, 1.2, 1.3]).value
        1.2
    """
    array = np.sort(np.asarray(list(values), dtype=float))
    array = array[np.isfinite(array)]
    if len(array) == 0:
        return missing("not measured", unit)
    median = float(np.median(array))
    if len(array) == 1:
        return Quantity(median, unit=unit, kind="measured")
    # the stubs of SciPy say that this is a number
    ends: Any = quantile_test(array, q=0, p=0.5).confidence_interval(CONFIDENCE)
    low = float(array[0]) if np.isnan(ends.low) else float(ends.low)
    high = float(array[-1]) if np.isnan(ends.high) else float(ends.high)
    return Quantity(median, low, high, unit, "measured")


def factor(
    trials: pd.DataFrame,
    peer: str,
    threads: int,
    figure: ComparedFigure,
) -> Quantity:
    """How many times as good as `peer` the mini-app is: median over rounds.

    Example:
        >>> row = {"threads": 1, "round": 1}
        >>> ours = row | {"program": OURS, "speed": 0.5}
        >>> nest = row | {"program": "NEST", "speed": 0.25}
        >>> factor(pd.DataFrame([ours, nest]), "NEST", threads=1, figure=SPEED_FIGURE).value
        2.0
    """
    by_round = trials[trials["threads"] == threads].pivot(
        index="round", columns="program", values=figure.column
    )
    if not {OURS, peer} <= {*by_round.columns}:
        return missing("not measured")
    ratio = by_round[OURS].astype(float) / by_round[peer].astype(float)
    return estimate(ratio if figure.more_is_better else 1 / ratio)


def factor_table(comparison: PeerComparison) -> Table:
    """A row for each figure and number of threads: medians of the programs, and the factors.

    Example:
        >>> row = {"threads": 1, "round": 1, "bytes_per_synapse": 20.0, "build_s": 3.0}
        >>> ours = row | {"program": OURS, "speed": 0.5}
        >>> nest = row | {"program": "NEST", "speed": 0.25}
        >>> trials = pd.DataFrame([ours, nest])
        >>> first, *_ = factor_table(PeerComparison(trials, failed=[], refused={})).rows
        >>> first["what"], first["ahead of NEST"].value
        ('speed (simulated s / s)', 2.0)
    """
    trials = comparison.trials
    names = sorted(trials["program"].unique(), key=lambda name: (name != OURS, name))
    peers = [name for name in names if name != OURS]
    columns = [Column("what", "what"), Column("threads", "threads")]
    columns += [Column(name, name, "measured") for name in names]
    columns += [Column(f"ahead of {peer}", f"ahead of {peer}", "measured") for peer in peers]
    rows = []
    for threads in sorted(trials["threads"].unique().tolist()):
        same_threads = trials[trials["threads"] == threads]
        for figure in COMPARED:
            title = f"{figure.title} ({figure.unit})"
            row: dict[str, Cell] = {"what": title, "threads": int(threads)}
            for name in names:
                values = same_threads.loc[same_threads["program"] == name, figure.column]
                row[name] = estimate(values, figure.unit)
            for peer in peers:
                reason = comparison.refused.get((peer, threads))
                ahead = missing(reason) if reason else factor(trials, peer, threads, figure)
                row[f"ahead of {peer}"] = ahead
            rows.append(row)
    return Table(columns, rows, name="peers")


def sentences(comparison: PeerComparison) -> list[str]:
    """The answer, and what a reader of the figures must know.

    Example:
        >>> row = {"threads": 1, "round": 1, "note": None, "disturbed": False}
        >>> ours = row | {"program": OURS, "speed": 0.5}
        >>> nest = row | {"program": "NEST", "speed": 0.25}
        >>> sentences(PeerComparison(pd.DataFrame([ours, nest]), failed=[], refused={}))
        ['On 1 thread, the mini-app is 2.00 times as fast as NEST.']
    """
    trials = comparison.trials
    lines = []
    peers = trials.loc[trials["program"] != OURS, ["program", "threads"]].drop_duplicates()
    for name, threads in sorted(peers.itertuples(index=False)):
        if (name, threads) in comparison.refused:
            continue
        ahead = factor(trials, name, threads, SPEED_FIGURE)
        if ahead.value is not None:
            times = f"{_with_interval(ahead.value, ahead.interval)} times as fast as {name}"
            lines.append(f"On {counted(int(threads), 'thread')}, the mini-app is {times}.")
    notes = trials.loc[trials["note"].notna(), ["program", "note"]].drop_duplicates()
    lines += [f"{name}: {note}." for name, note in notes.itertuples(index=False)]
    disturbed = int(trials["disturbed"].sum())
    if disturbed:
        lines.append(f"Others used the machine during {counted(disturbed, 'run')}.")
    return lines[:MAX_SENTENCES]


def _with_interval(value: float, interval: tuple[float, float] | None) -> str:
    """A number and its interval, if it has one."""
    if interval is None:
        return number(value)
    low, high = interval
    return with_ends(number(value), number(low), number(high))
