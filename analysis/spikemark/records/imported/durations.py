"""Are these durations? The times of a clock, of a stopwatch that is never reset, and zeros are not.

The duration of a cycle falls as often as it rises, so of n changes about half are falls. A
stopwatch that is read after each cycle only rises, but where it is reset. Where a rank has hardly
any falls among 12 changes or more, its times are no durations: chance would order 13 durations so
once in a billion tries. Of fewer cycles, times are a stopwatch's if they rise on all ranks and the
last is as long as half of all cycles together.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from spikemark.core.errors import BadInput

from .names import COMPUTE_COLUMN, CYCLE_TIME

#: Falls per rise of the times of a rank, of which durations have more.
MAX_FALLS_PER_RISE = 0.05
#: Changes of a rank from which so few falls are no chance.
ENOUGH_CHANGES = 12
#: Falls per rise of a stopwatch that is reset every five cycles or more.
MAX_RESETS_PER_RISE = 0.25
#: Changes of a rank from which that is no chance, which orders durations so once in 1e7 tries.
ENOUGH_CHANGES_FOR_RESETS = 30
#: Zeros at the end of a rank that are padding.
MIN_PADDING = 3
#: Cycles of a stopwatch that rises in proportion.
MIN_PROPORTIONAL_CYCLES = 6
#: A mean cycle, s: beyond the first, times are those of a clock; below the other, single precision
#: and all that is divided by it end.
LONGEST_MEAN_S = 1e5
SHORTEST_MEAN_S = 1e-12


@dataclass(frozen=True)
class _Changes:
    """How often times [rank, cycle] change from one cycle to the next, [rank]."""

    falls: np.ndarray
    rises: np.ndarray

    @classmethod
    def of(cls, times: np.ndarray) -> Self:
        changes = np.zeros((2, len(times)), dtype=int)
        for rank, times_of_rank in enumerate(times):
            differences = np.diff(times_of_rank)
            changes[:, rank] = (differences < 0).sum(), (differences > 0).sum()
        falls, rises = changes
        return cls(falls, rises)

    @property
    def total(self) -> np.ndarray:
        total: np.ndarray = self.falls + self.rises
        return total


def check_durations(where: str, columns: dict[str, np.ndarray], first_rank: int = 0) -> None:
    """Raises BadInput for times [rank, cycle] in s that cannot be durations of cycles.

    Example:
        >>> check_durations("times.csv", {"compute": np.full((2, 100), 1e-3)})
    """
    for name, times in columns.items():
        check_size(where, name, times)
        rising = _only_rising(times)
        if rising.size:
            reason = (
                f"the times of rank {first_rank + rising[0]} only rise over {times.shape[1]}"
                " cycles, as those of a clock or of a stopwatch that is not reset"
            )
            expected = "the duration of each cycle, such as the differences (numpy.diff)"
            raise BadInput(
                field=name,
                reason=reason,
                expected=expected,
                file=where,
            )


def check_size(where: str, name: str, times: np.ndarray) -> None:
    """Raises BadInput for times [rank, cycle] in s that are too long or, of computing, too short.

    Args:
        where: the file or what else holds the times, for the complaint.
        name: of the column.
        times: [rank, cycle] in s.

    Example:
        >>> check_size("times.csv", "compute", np.array([[1e-3, 2e-3]]))
    """
    mean_s = float(times.mean(dtype=np.float64))
    if mean_s > LONGEST_MEAN_S:
        expected = f"durations of cycles, up to {LONGEST_MEAN_S:g} s; is it the time of a clock?"
        reason = f"{mean_s:.6g} s in a cycle"
        raise BadInput(
            field=name,
            reason=reason,
            expected=expected,
            file=where,
            code="range",
        )
    if name in (COMPUTE_COLUMN, CYCLE_TIME) and mean_s < SHORTEST_MEAN_S:
        reason = f"{mean_s:.3g} s in a cycle" if times.any() else "0 s in every cycle"
        expected = f"at least {SHORTEST_MEAN_S:g} s on average"
        raise BadInput(
            field=name,
            reason=reason,
            expected=expected,
            file=where,
            code="range",
        )


def seems_reset(times: np.ndarray, first_rank: int = 0) -> list[str]:
    """A remark where times [rank, cycle] on all ranks rise for some cycles and fall, repeatedly.

    So do times of a stopwatch that is reset every few cycles, but also those of work that grows and
    ends.

    Example:
        >>> seems_reset(np.random.default_rng(1).normal(1e-3, 1e-5, (2, 100)))
        []
    """
    changes = _Changes.of(times)
    few_falls = changes.falls <= MAX_RESETS_PER_RISE * changes.rises
    if not (few_falls & (changes.total >= ENOUGH_CHANGES_FOR_RESETS)).all():
        return []
    return [
        f"times rise in {changes.rises[0]} cycles of rank {first_rank} and fall in"
        f" {changes.falls[0]} only: are these durations, or times of a stopwatch"
        " that is not reset in every cycle?"
    ]


def seems_left(times: np.ndarray, first_rank: int = 0) -> list[str]:
    """A remark where times [rank, cycle] hardly ever rise, as the time that is left of a run does.

    So do durations that fall all the time, as in a run that warms up.

    Example:
        >>> left_s = np.linspace(1.0, 0.0, 200)[None, :]
        >>> len(seems_left(left_s))
        1
    """
    changes = _Changes.of(times)
    few_rises = changes.rises <= MAX_FALLS_PER_RISE * changes.falls
    falling = np.flatnonzero(few_rises & (changes.total >= ENOUGH_CHANGES))
    if not falling.size:
        return []
    return [
        f"the times of rank {first_rank + falling[0]} only fall over {times.shape[1]} cycles:"
        " are these durations of cycles, or the time that was left?"
    ]


def seems_no_measurement(times: np.ndarray, first_rank: int = 0) -> list[str]:
    """Remarks where a part of the times [rank, cycle] seems to be something else.

    Numbers of ranks, padding with zeros, lines that were appended twice.

    Example:
        >>> seems_no_measurement(np.random.default_rng(1).normal(1e-3, 1e-5, (2, 100)))
        []
    """
    remarks = []
    if _counts_ranks(times[:, 0].astype(np.float64)):
        remarks.append("the times of the first cycle count the ranks: are these numbers of ranks?")
    cycles = times.shape[1]
    positive = times > 0
    zeros_at_end = positive[:, ::-1].argmax(axis=1)
    no_other_zeros = positive.sum(axis=1) == cycles - zeros_at_end
    padded = np.flatnonzero((zeros_at_end >= MIN_PADDING) & no_other_zeros)
    if padded.size:
        rank = padded[0]
        named = first_rank + rank
        remarks.append(
            f"rank {named} computes 0 s in its last {zeros_at_end[rank]} cycles: is this padding?"
        )
    half = cycles // 2
    repeats = cycles == 2 * half and np.array_equal(times[:, :half], times[:, half:])
    if repeats and len(np.unique(times)) >= ENOUGH_CHANGES:
        remarks.append(f"cycles {half} to {cycles - 1} repeat those before: are they there twice?")
    return remarks


def _counts_ranks(first_cycle: np.ndarray) -> bool:
    """Says whether times [rank] grow evenly from 0, or from the step from rank to rank."""
    if len(first_cycle) <= 2:
        return False
    steps = np.diff(first_cycle)
    begins = first_cycle[0] in (0.0, steps[0])
    return bool(begins and steps[0] > 0 and np.allclose(steps, steps[0], atol=0))


def _only_rising(times: np.ndarray) -> np.ndarray:
    """The ranks whose times [rank, cycle] hardly ever fall."""
    changes = _Changes.of(times)
    few_falls = changes.falls <= MAX_FALLS_PER_RISE * changes.rises
    rising = few_falls & (changes.total >= ENOUGH_CHANGES)
    if rising.any():
        return np.flatnonzero(rising)
    ranks, cycles = times.shape
    in_proportion = times[:, -1] >= cycles / 2 * times[:, 0]
    always_rise = (changes.rises == cycles - 1).all()
    if cycles >= MIN_PROPORTIONAL_CYCLES and always_rise and in_proportion.all():
        return np.arange(ranks)
    return np.array([], dtype=int)
