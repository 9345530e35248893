"""What a reader finds in files of another program, and what it is asked."""

from dataclasses import dataclass, field

import numpy as np

COMPUTE, COMMUNICATE, WAIT, SPIKES = "compute", "communicate", "wait", "spikes"
COLUMNS = {
    COMPUTE: "time in which the rank computes",
    COMMUNICATE: "time in communication, waiting for other ranks included",
    WAIT: "the part of it in which the rank waits for others",
    SPIKES: "spikes of the rank's neurons",
}
TIMES = (COMPUTE, COMMUNICATE, WAIT)

#: Columns of one file: arrays [rank, cycle] or, of one rank, [cycle].
Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Asked:
    """The user's description of files. `called`: name of a column here -> its name in the files."""

    unit: str = "s"
    called: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """Columns [rank, cycle]: times in s, spikes as counts.

    `meets_every`: cycles from one meeting of all ranks to the next.

    `missing`: ranks of the program that the files lack. `remarks` say what was left out or is odd.
    """

    columns: Columns
    remarks: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()
    cycle_ms: float | None = None
    meets_every: int = 1
