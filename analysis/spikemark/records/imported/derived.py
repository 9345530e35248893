"""Waiting that was not timed: what the other times say of it, and the limits between which it is.

A clock around a barrier before the exchange would show two times: until the last rank comes, and
from then until the barrier lets a rank go. The first follows from the times of computing and
communication: those of a rank add up to when it comes to every call and when it leaves, but for an
offset of its clock. Offsets follow from the call itself: nobody leaves before the last rank has
come, and whoever leaves soonest does so after the same time on all ranks. The second is hidden in
what is left of communication, with the exchange of data.

So waiting is at least the first and at most all communication. The middle gives the barrier a
`BARRIER_SHARE` of what is left: that lies between those of our own records, 0.09 to 0.31
(docs/other-simulators.md).
"""

from dataclasses import dataclass

import numpy as np

#: Share that a barrier takes of the time from the last rank's coming to the end of the exchange.
BARRIER_SHARE = 0.25
#: Meetings for which offsets of clocks hold, since clocks drift.
MEETINGS_OF_A_BLOCK = 200
#: Offsets are fitted in so many steps, each by this share of what is left.
OFFSET_STEPS = 30
OFFSET_STEP_SHARE = 0.7
#: Share of communication by which a rank may seem to leave before the last one has come.
LEAVES_EARLY = 0.02


@dataclass(frozen=True)
class DerivedWaiting:
    """Waiting that was derived."""

    #: Mean over ranks at each meeting, [meeting] in s.
    waiting: np.ndarray
    #: Between which its mean is, in s; None where communication was not timed: nothing limits it.
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class ReadTimeline:
    """When the last rank comes to each meeting, of ranks whose clocks were brought together."""

    #: Mean time over ranks until the last one comes, [meeting] in s.
    until_last: np.ndarray
    #: How much less it may be, [meeting] in s, since a clock may be off by the time of the soonest
    #: leaving.
    doubt: np.ndarray
    #: Where the times of the ranks fit on one timeline, [meeting]; elsewhere, the others mean
    #: nothing.
    fits: np.ndarray


def waiting(compute: np.ndarray, communicate: np.ndarray | None) -> DerivedWaiting:
    """Waiting from times [rank, meeting] in s; `communicate` is None where it was not timed.

    Example:
        >>> compute = np.array([[1.0, 2.0], [2.0, 1.0]])
        >>> waiting(compute, None).waiting.tolist()  # of each meeting, s
        [0.5, 0.5]
    """
    implied = compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)
    if communicate is None:
        return DerivedWaiting(implied)
    most = communicate.mean(axis=0, dtype=np.float64)
    times = timeline(compute, communicate)
    until_last = np.minimum(np.where(times.fits, times.until_last, implied), most)
    low = float(np.where(times.fits, until_last - times.doubt, 0.0).mean())
    middle = until_last + BARRIER_SHARE * (most - until_last)
    return DerivedWaiting(middle, (max(low, 0.0), float(most.mean())))


def timeline(compute: np.ndarray, communicate: np.ndarray) -> ReadTimeline:
    """When the last rank comes, from times [rank, meeting] in s.

    Example:
        >>> compute = np.array([[1.0, 1.0], [2.0, 1.0]])  # s, [rank, meeting]
        >>> communicate = np.array([[1.5, 0.5], [0.5, 0.5]])
        >>> timeline(compute, communicate).until_last.tolist()
        [0.5, 0.0]
    """
    meetings = compute.shape[1]
    until_last = np.empty(meetings)
    doubt = np.empty(meetings)
    fits = np.empty(meetings, dtype=bool)
    for first in range(0, meetings, MEETINGS_OF_A_BLOCK):
        block = slice(first, first + MEETINGS_OF_A_BLOCK)
        communicate_s = communicate[:, block].astype(np.float64)
        leave = np.cumsum(compute[:, block].astype(np.float64) + communicate_s, axis=1)
        come = leave - communicate_s
        offset = _offsets(come, leave)
        come += offset
        last = come.max(axis=0)
        soonest = float((leave + offset - last).min())
        # By how much waiting changes with the clock of each rank
        comes_last = (come == last).mean(axis=1)
        change_with_clocks = np.abs(comes_last - 1 / len(come)).sum()
        until_last[block] = last - come.mean(axis=0)
        doubt[block] = max(soonest, 0.0) * change_with_clocks
        fits[block] = soonest >= -LEAVES_EARLY * communicate_s.mean()
    return ReadTimeline(until_last, doubt, fits)


def _offsets(come: np.ndarray, leave: np.ndarray) -> np.ndarray:
    """What brings the clocks of ranks together, [rank, 1] in s.

    Args:
        come: when each rank comes to each meeting, by its own clock, [rank, meeting] in s.
        leave: when it leaves.
    """
    offset: np.ndarray = -np.median(leave - leave.mean(axis=0), axis=1, keepdims=True)
    for _ in range(OFFSET_STEPS):
        last = (come + offset).max(axis=0)
        soonest = (leave + offset - last).min(axis=1, keepdims=True)
        offset -= OFFSET_STEP_SHARE * (soonest - soonest.mean())
    return offset
