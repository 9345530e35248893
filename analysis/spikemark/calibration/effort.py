"""How long a calibration takes."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Effort:
    """Rounds, and how much each of them measures."""

    about: str  # how long all of it takes, in words
    rounds: int
    metered: int  # rounds with a pause in which power is read, if there is a meter
    kernel_s: float  # shortest time of a kernel in a round
    sizes: tuple[int, ...]  # sizes of delivery (bench/kernels_drawn.c)
    far_every: int  # rounds from one measurement of kernels with a gigabyte of synapses to the next
    exchanges_every: int  # rounds from one measurement of exchanges to the next
    exchange_s: float  # shortest time of an exchange or message in a round
    bytes: tuple[int, ...]  # sizes of exchanges, from one rank to another
    pairs: int  # of nodes, at most, between which messages are timed
    model_ms: float  # time that the mini-app simulates in a round
    empty_ms: float  # the same, with a network of next to nothing
    idle_s: float  # length of the pause
    patience_s: float  # longest wait for a quiet machine


FULL = Effort(
    about="three to six minutes",
    rounds=13,
    metered=4,
    kernel_s=0.1,
    sizes=(4, 16, 64, 256, 1024, 8192),
    far_every=3,
    exchanges_every=3,
    exchange_s=0.02,
    bytes=tuple(4 * 4**k for k in range(9)),
    pairs=32,
    model_ms=5000,
    empty_ms=2000,
    idle_s=5,
    patience_s=10,
)
QUICK = replace(
    FULL,
    about="one or two minutes",
    rounds=3,
    metered=3,
    kernel_s=0.02,
    sizes=(4, 64, 1024, 8192),
    exchanges_every=1,
    exchange_s=0.005,
    bytes=(4, 64, 1024, 16384),
    pairs=8,
    model_ms=1000,
    patience_s=3,
)
