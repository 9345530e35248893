"""Waiting that was not timed: what the other times say of it, and the limits between which it is.

A clock around a barrier before the exchange would show two times: until the last rank comes, and from then
until the barrier lets a rank go. The first follows from the times of computing and communication: those of a
rank add up to when it comes to every call and when it leaves, but for an offset of its clock. Offsets follow
from the call itself: nobody leaves before the last rank has come, and whoever leaves soonest does so after
the same time on all ranks. The second is hidden in what is left of communication, with the exchange of data.

So waiting is at least the first and at most all communication. The middle gives the barrier a `SHARE` of what
is left: that lies between those of our own records, 0.09 to 0.31 (docs/other-simulators.md).
"""

from dataclasses import dataclass

import numpy as np

SHARE = 0.25  # of the time from the last rank's coming to the end of the exchange that a barrier takes
BLOCK = 200  # meetings for which offsets hold, since clocks drift
STEPS, STEP = 30, 0.7
FITS = 0.02  # of communication, by which a rank may seem to leave before the last one has come


@dataclass(frozen=True)
class Derived:
    """Mean waiting over ranks at each meeting, [meeting] in s, and limits (low, high) of its mean in s.

    `limits` is None if communication was not timed, so that nothing limits it.
    """

    waiting: np.ndarray
    limits: tuple[float, float] | None = None


def waiting(compute: np.ndarray, communicate: np.ndarray | None) -> Derived:
    """Waiting from times [rank, meeting] in s."""
    implied = compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)
    if communicate is None:
        return Derived(implied)
    whole = communicate.mean(axis=0, dtype=np.float64)
    until_last, doubt, fits = timeline(compute, communicate)
    until = np.minimum(np.where(fits, until_last, implied), whole)
    low = np.where(fits, until - doubt, 0.0).mean()
    return Derived(until + SHARE * (whole - until), (max(float(low), 0.0), float(whole.mean())))


def timeline(compute: np.ndarray, communicate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean time over ranks until the last rank comes, from times [rank, meeting]; each [meeting], in s.

    Then how much less it may be, since a clock may be off by the time of the soonest leaving; and where the
    times of the ranks fit on one timeline. The first two mean nothing elsewhere.
    """
    meetings = compute.shape[1]
    found, doubts, fitting = np.empty(meetings), np.empty(meetings), np.empty(meetings, dtype=bool)
    for first in range(0, meetings, BLOCK):
        block = slice(first, first + BLOCK)
        own, talk = (x[:, block].astype(np.float64) for x in (compute, communicate))
        leave = np.cumsum(own + talk, axis=1)
        come = leave - talk
        offset = -np.median(leave - leave.mean(axis=0), axis=1, keepdims=True)
        for _ in range(STEPS):
            soonest = (leave + offset - (come + offset).max(axis=0)).min(axis=1, keepdims=True)
            offset -= STEP * (soonest - soonest.mean())
        come += offset
        last = come.max(axis=0)
        soonest = float((leave + offset - last).min())
        moves = np.abs((come == last).mean(axis=1) - 1 / len(come)).sum()  # d waiting / d clocks
        found[block], doubts[block] = last - come.mean(axis=0), max(soonest, 0.0) * moves
        fitting[block] = soonest >= -FITS * talk.mean()
    return found, doubts, fitting
