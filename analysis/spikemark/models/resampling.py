"""Cycle times of all ranks of a machine from those of a few of its ranks.

A rank that was not timed takes the whole row of one that was: its cycles stay in order, so that their serial
correlation is kept. The row starts at another cycle and goes round, since copies in step with each other
would be late together. Every phase is scaled by what the two ranks have to do in it.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import student


@dataclass(frozen=True)
class Donors:
    """Whose row each rank takes: `row` [rank] of the timed ranks, and by how many cycles it is turned."""

    row: np.ndarray
    turn: np.ndarray


def donors(timed: np.ndarray, ranks: int, cycles: int, rng: np.random.Generator) -> Donors:
    """Donors of all `ranks`: timed ranks keep their own row, unturned; the others draw from all rows alike.

    `timed` [row]: the ranks that were timed.
    """
    row = rng.choice(np.arange(len(timed)), size=ranks)
    turn = rng.integers(0, cycles, size=ranks)
    row[timed], turn[timed] = np.arange(len(timed)), 0
    return Donors(row, turn)


def resampled(rows: np.ndarray, timed: np.ndarray, work: np.ndarray, chosen: Donors) -> np.ndarray:
    """Times of all ranks, float32 [rank, cycle, phase], from `rows` [row, cycle, phase].

    `work` [rank, phase]: what every rank has to do in a phase, in any unit. Where a donor has nothing to do
    in a phase, its time is taken as it is.
    """
    factor = factors(work, timed, chosen.row)
    found = np.empty((len(factor), *rows.shape[1:]), dtype=np.float32)
    for rank, (row, turn) in enumerate(zip(chosen.row, chosen.turn, strict=True)):
        found[rank] = np.roll(rows[row], -turn, axis=0) * factor[rank]
    return found


def factors(work: np.ndarray, timed: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Factors by which ranks compute longer than their donors, [rank, phase]."""
    return _over(work, work[timed][row])


def _over(work: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Some work over another; 1 where there is none."""
    return np.divide(work, own, out=np.ones_like(own), where=own > 0)


def doubt(mean_s: np.ndarray, timed: np.ndarray, work: np.ndarray) -> float | None:
    """Half of the 95 % interval of the mean over all ranks that comes from timing only some, over that mean.

    `mean_s` [row, phase]: mean times of the timed ranks. They are scaled to the mean work of all ranks; what
    is left of their spread is the error of a row as a whole. None where one of several ranks was timed, since
    it does not show how ranks differ; 0 where all were.
    """
    rows, ranks = len(timed), len(work)
    total = (mean_s * _over(work.mean(axis=0), work[timed])).sum(axis=1)  # with the mean work of all ranks
    if rows == 1 < ranks:
        return None
    if rows == ranks or not total.any():
        return 0.0
    error = total.std(ddof=1) / np.sqrt(rows) * np.sqrt(1 - rows / ranks)
    return float(student(rows - 1) * error / total.mean())
