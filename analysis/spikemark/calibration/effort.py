"""How long a calibration takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Rounds, and how much each of them measures."""

    rounds: int  # of all kernels, on one core and on all
    kernel_s: float  # shortest time of a kernel in a round
    sizes: tuple[int, ...]  # of delivery, see bench/kernels_drawn.c
    exchange_rounds: int
    exchange_s: float  # shortest time of an exchange or message in a round
    bytes: tuple[int, ...]  # from one rank to another
    runs: int  # of the mini-app
    model_ms: float  # simulated in each
    idle_s: float  # pause in which power is read
    patience_s: float  # waited for a quiet machine


FULL = Effort(
    rounds=9,
    kernel_s=0.1,
    sizes=(4, 16, 64, 256, 1024, 8192),
    exchange_rounds=9,
    exchange_s=0.02,
    bytes=tuple(4 * 4**k for k in range(9)),
    runs=9,
    model_ms=5000,
    idle_s=5,
    patience_s=10,
)
QUICK = Effort(
    rounds=3,
    kernel_s=0.02,
    sizes=(4, 64, 1024, 8192),
    exchange_rounds=3,
    exchange_s=0.005,
    bytes=(4, 64, 1024, 16384),
    runs=3,
    model_ms=1000,
    idle_s=5,
    patience_s=3,
)
