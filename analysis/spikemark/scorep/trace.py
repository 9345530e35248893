"""Reads the event trace of Score-P, `traces.otf2` and what belongs to it."""

from collections import defaultdict
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.records.otf2_trace import Follower, Thread, follow

from .seen import BARRIER, COUNTS, MEASURED, Seen, check_measured, check_ranks


class _Reading(Follower):
    def __init__(self, ranks: int):
        self.ranks = ranks
        self.seen = [Seen() for _ in range(ranks)]
        self.measured = [0] * ranks  # depth of MEASURED of the first thread
        self.barriers = defaultdict(
            lambda: [[] for _ in range(ranks)]
        )  # by communicator and rank, (begin, end)

    def begin(self, path: Path, ranks: list[int]) -> None:
        check_ranks(path, ranks, self.ranks)

    def enter(self, thread: Thread, name: str, time: int) -> None:
        self.measured[thread.rank] += thread.first and name == MEASURED

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        if thread.first and self.measured[thread.rank]:
            self.seen[thread.rank].seconds[name] += time - since
            self.seen[thread.rank].visits[name] += 1
            self.measured[thread.rank] -= name == MEASURED
            if name == BARRIER:
                self.barriers[thread.communicator][thread.rank].append((since, time))

    def flush(self, thread: Thread, since: int, time: int) -> None:
        if self.measured[thread.rank]:
            flushes = self.seen[thread.rank].flushes
            flushes.number += 1
            flushes.seconds += time - since

    def count(self, thread: Thread, metric, values: list) -> None:
        if self.measured[thread.rank]:
            for member, value in zip(getattr(metric, "metric_class", metric).members, values, strict=True):
                if member.name in COUNTS:
                    self.seen[thread.rank].counts[member.name] += value


def read(path: Path, ranks: int) -> list[Seen]:
    """What the trace says about each of the `ranks` ranks.

    The wait of a rank at a barrier lasts from its own entry to that of the last rank of the communicator.
    Raises BadInput if a file is missing or truncated, or of another number of ranks, or without the regions
    of Spikemark.
    """
    reading = _Reading(ranks)
    tick_s = follow(path, reading)
    check_measured(path, reading.seen)
    for seen, waited in zip(reading.seen, _waits(path, reading), strict=True):
        seen.waited_s = float(waited * tick_s)
        seen.flushes.seconds *= tick_s
        for name in seen.seconds:
            seen.seconds[name] *= tick_s
    return reading.seen


def _waits(path: Path, reading: _Reading) -> np.ndarray:
    """Ticks that each rank waits for the last one."""
    waits = np.zeros(len(reading.seen))
    for by_rank in reading.barriers.values():
        taking_part = [rank for rank, barriers in enumerate(by_rank) if barriers]
        if len({len(by_rank[rank]) for rank in taking_part}) > 1:
            raise BadInput(f"{path}: the ranks of a communicator differ in their number of barriers")
        begins, ends = np.array([by_rank[rank] for rank in taking_part]).transpose(2, 0, 1)
        waits[taking_part] += np.minimum(begins.max(axis=0) - begins, ends - begins).sum(axis=1)
    return waits
