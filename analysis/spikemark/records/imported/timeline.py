"""Waiting that was not timed, from when ranks come to a collective call and leave it.

Ranks do not leave a collective call at the same time, so the last one to compute is not always the last one
to come. If computing and communication fill the whole cycle, their sum over cycles is the clock of each rank,
up to an offset. The offsets follow from the call itself. Nobody leaves it before the last rank has come, and
when a rank leaves soonest, it does so after the same time as any other. Clocks are set by messages of the
shortest delay in the same way. A rank then waits from its own coming to that of the last rank.

What remains unknown is how long the call takes once all ranks are there: late wake-ups count as exchange.
"""

import numpy as np

BLOCK = 200  # meetings for which the offsets hold; clocks drift, and times between cycles are lost
CHUNK = 50  # blocks at once, for memory
STEPS, STEP = 30, 0.7
FITS = 0.02  # of communication, by which a rank may seem to leave before the last one has come


def waiting(compute: np.ndarray, communicate: np.ndarray) -> np.ndarray:
    """Mean waiting over ranks at each meeting, [meeting] in s, from times [rank, meeting] in s.

    Where the times of ranks do not fit on one timeline, it is what the compute times imply: the longest less
    the mean (Lober et al. 2026, eq 3).
    """
    found, fits = _all(compute, communicate)
    implied = compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)
    return np.where(fits, found, implied)


def fitting(compute: np.ndarray, communicate: np.ndarray) -> float:
    """The share of meetings at which the times [rank, meeting] of all ranks fit on one timeline."""
    return float(_all(compute, communicate)[1].mean())


def _all(compute: np.ndarray, communicate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean waiting, and whether the times fit together, both [meeting]."""
    meetings = compute.shape[1]
    found, fits = np.empty(meetings), np.empty(meetings, dtype=bool)
    whole = meetings // BLOCK * BLOCK
    parts = [slice(x, min(x + CHUNK * BLOCK, whole)) for x in range(0, whole, CHUNK * BLOCK)]
    for part in [*parts, slice(whole, meetings)] if whole < meetings else parts:
        blocks = max(1, (part.stop - part.start) // BLOCK)
        found[part], fits[part] = _blocks(*(_cut(x[:, part], blocks) for x in (compute, communicate)))
    return found, fits


def _cut(times: np.ndarray, blocks: int) -> np.ndarray:
    """[rank, block, meeting]."""
    return times.reshape(len(times), blocks, -1).astype(np.float64)


def _blocks(compute: np.ndarray, communicate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `_all`, from times [rank, block, meeting]."""
    leave = np.cumsum(compute + communicate, axis=2)
    come = leave - communicate
    offset = -np.median(leave - leave.mean(axis=0), axis=2, keepdims=True)
    for _ in range(STEPS):
        soonest = (leave + offset - (come + offset).max(axis=0)).min(axis=2, keepdims=True)
        offset -= STEP * (soonest - soonest.mean(axis=0))
    last = (come + offset).max(axis=0)
    soonest = (leave + offset - last).min(axis=(0, 2))
    fits = soonest >= -FITS * communicate.mean(axis=(0, 2))
    return (last - (come + offset).mean(axis=0)).ravel(), np.repeat(fits, leave.shape[2])
