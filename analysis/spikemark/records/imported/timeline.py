"""Waiting that was not timed, from when ranks come to a collective call and leave it.

Ranks do not leave a collective call at the same time, so the last one to compute is not always the last one
to come. If computing and communication fill the whole cycle, their sum over cycles is the clock of each rank,
up to an offset. The offsets follow from the call itself. Nobody leaves it before the last rank has come, and
when a rank leaves soonest, it does so after the same time as any other. Clocks are set by messages of the
shortest delay in the same way. A rank then waits from its own coming to that of the last rank.

How long the call takes once all ranks are there is not asked here (`derived`). Nor is it known whether the
soonest leaving takes the same time on all ranks: each clock may be off by that time in either direction, and
the waiting by as much as that moves it.
"""

from dataclasses import dataclass

import numpy as np

BLOCK = 200  # meetings for which the offsets hold; clocks drift, and times between cycles are lost
CHUNK = 50  # blocks at once, for memory
STEPS, STEP = 30, 0.7
FITS = 0.02  # of communication, by which a rank may seem to leave before the last one has come


@dataclass(frozen=True)
class Timeline:
    """Mean time over ranks until the last rank comes at each meeting, [meeting] in s.

    `doubt` is how much less it may be. `fits` says where the times of the ranks fit on one timeline; the
    other two mean nothing elsewhere.
    """

    until_last: np.ndarray
    doubt: np.ndarray
    fits: np.ndarray


def waiting(compute: np.ndarray, communicate: np.ndarray) -> np.ndarray:
    """Mean waiting over ranks until the last one comes, [meeting] in s, from times [rank, meeting] in s.

    Where the times of ranks do not fit on one timeline, it is what the compute times imply: the longest less
    the mean (Lober et al. 2026, eq 3).
    """
    found = of(compute, communicate)
    implied = compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)
    return np.where(found.fits, found.until_last, implied)


def fitting(compute: np.ndarray, communicate: np.ndarray) -> float:
    """The share of meetings at which the times [rank, meeting] of all ranks fit on one timeline."""
    return float(of(compute, communicate).fits.mean())


def of(compute: np.ndarray, communicate: np.ndarray) -> Timeline:
    """The timeline of ranks from times [rank, meeting] in s."""
    meetings = compute.shape[1]
    found = Timeline(np.empty(meetings), np.empty(meetings), np.empty(meetings, dtype=bool))
    whole = meetings // BLOCK * BLOCK
    parts = [slice(x, min(x + CHUNK * BLOCK, whole)) for x in range(0, whole, CHUNK * BLOCK)]
    for part in [*parts, slice(whole, meetings)] if whole < meetings else parts:
        blocks = max(1, (part.stop - part.start) // BLOCK)
        known = _blocks(*(_cut(x[:, part], blocks) for x in (compute, communicate)))
        found.until_last[part], found.doubt[part], found.fits[part] = known
    return found


def _cut(times: np.ndarray, blocks: int) -> np.ndarray:
    """[rank, block, meeting]."""
    return times.reshape(len(times), blocks, -1).astype(np.float64)


def _blocks(compute: np.ndarray, communicate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The fields of a `Timeline` from times [rank, block, meeting]."""
    leave = np.cumsum(compute + communicate, axis=2)
    come = leave - communicate
    offset = -np.median(leave - leave.mean(axis=0), axis=2, keepdims=True)
    for _ in range(STEPS):
        soonest = (leave + offset - (come + offset).max(axis=0)).min(axis=2, keepdims=True)
        offset -= STEP * (soonest - soonest.mean(axis=0))
    come += offset
    last = come.max(axis=0)
    soonest = (leave + offset - last).min(axis=(0, 2))
    fits = soonest >= -FITS * communicate.mean(axis=(0, 2))
    moves = np.abs((come == last).mean(axis=2) - 1 / len(come)).sum(axis=0)  # d waiting / d clocks, [block]
    doubt, meetings = np.maximum(soonest, 0.0) * moves, leave.shape[2]
    return (last - come.mean(axis=0)).ravel(), np.repeat(doubt, meetings), np.repeat(fits, meetings)
