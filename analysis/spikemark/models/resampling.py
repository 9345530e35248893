"""Cycle times of all ranks of a machine from those of a few of its ranks.

A rank that was not timed takes the whole row of one that was: its cycles stay in order, so that
their serial correlation is kept. The row starts at another cycle and goes round, since copies in
step with each other would be late together. Every phase is scaled by what the two ranks have to do
in it.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import student
from spikemark.quantities.quotient import quotient


@dataclass(frozen=True)
class Donors:
    """Whose row of times each rank takes."""

    row: np.ndarray  #: [rank] number among the timed ranks
    turn: np.ndarray  #: [rank] by how many cycles the row is turned


def donors(timed: np.ndarray, ranks: int, cycles: int, rng: np.random.Generator) -> Donors:
    """Draw a donor for each rank; timed ranks keep their own row, unturned.

    Args:
        timed: the ranks that were timed, shape [row].
        ranks: number of all ranks.
        cycles: number of cycles in a row.
        rng: source of random numbers.

    Example:
        >>> chosen = donors(np.array([0, 1]), ranks=2, cycles=10, rng=np.random.default_rng(1))
        >>> chosen.row.tolist(), chosen.turn.tolist()
        ([0, 1], [0, 0])
    """
    row = rng.choice(np.arange(len(timed)), size=ranks)
    turn = rng.integers(0, cycles, size=ranks)
    row[timed] = np.arange(len(timed))
    turn[timed] = 0
    return Donors(row, turn)


def resampled(rows: np.ndarray, timed: np.ndarray, work: np.ndarray, chosen: Donors) -> np.ndarray:
    """Times of all ranks from those of the timed ranks.

    Where a donor has nothing to do in a phase, its time is taken as it is.

    Args:
        rows: times of the timed ranks, shape [row, cycle, phase].
        timed: the ranks that were timed, shape [row].
        work: what every rank has to do in a phase, in any unit, shape [rank, phase].
        chosen: donors of all ranks.

    Returns:
        Times in the unit of `rows`, float32, shape [rank, cycle, phase].

    Example:
        Rank 1 has twice the work of rank 0, which was timed.

        >>> rows, work = np.ones((1, 2, 1)), np.array([[1.0], [2.0]])
        >>> chosen = Donors(row=np.array([0, 0]), turn=np.array([0, 1]))
        >>> resampled(rows, np.array([0]), work, chosen)[:, :, 0]
        array([[1., 1.],
               [2., 2.]], dtype=float32)
    """
    factor = factors(work, timed, chosen.row)
    times = np.empty((len(factor), *rows.shape[1:]), dtype=np.float32)
    for rank, (row, turn) in enumerate(zip(chosen.row, chosen.turn, strict=True)):
        times[rank] = np.roll(rows[row], -turn, axis=0) * factor[rank]
    return times


def factors(work: np.ndarray, timed: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Factors by which ranks compute longer than their donors.

    Args:
        work: what every rank has to do in a phase, in any unit, shape [rank, phase].
        timed: the ranks that were timed, shape [row].
        row: number of each rank's donor among the timed ranks, shape [rank].

    Returns:
        Shape [rank, phase]; 1 where the donor has nothing to do.

    Example:
        >>> factors(np.array([[1.0], [2.0]]), timed=np.array([0]), row=np.array([0, 0]))
        array([[1.],
               [2.]])
    """
    return quotient(work, work[timed][row], otherwise=1.0)


def relative_uncertainty(mean_s: np.ndarray, timed: np.ndarray, work: np.ndarray) -> float | None:
    """Relative uncertainty of the mean over all ranks that comes from timing only some.

    Half of the 95 % interval over the mean. Times are scaled to the mean work of all ranks; what
    is left of their spread is the error of a row as a whole.

    Args:
        mean_s: mean times of the timed ranks, shape [row, phase].
        timed: the ranks that were timed, shape [row].
        work: what every rank has to do in a phase, in any unit, shape [rank, phase].

    Returns:
        None where one of several ranks was timed, since it does not show how ranks differ; 0 where
        all were.

    Example:
        >>> relative_uncertainty(np.array([[1.0], [1.0]]), np.array([0, 1]), np.ones((3, 1)))
        0.0
    """
    rows, ranks = len(timed), len(work)
    total_s = (mean_s * quotient(work.mean(axis=0), work[timed], otherwise=1.0)).sum(axis=1)
    if rows == 1 < ranks:
        return None
    if rows == ranks or not total_s.any():
        return 0.0
    not_timed = np.sqrt(1 - rows / ranks)  # correction for a finite population
    error = total_s.std(ddof=1) / np.sqrt(rows) * not_timed
    return float(student(rows - 1) * error / total_s.mean())
