"""Uncertainty from rounding: meters such as those of IPMI and Slurm report whole watts or coarser steps."""

import numpy as np

DECIMALS = 6  # finer readings count as not rounded
LEAST_LEVELS = 6  # fewer different readings may lie further apart than the step


def step_w(watts: np.ndarray) -> float:
    """The step in W that readings [n] of one meter were rounded to; 0 where none shows.

    It is the last decimal in use or, with six or more different readings, the number that divides all their
    differences: with steps half as wide, chance would produce that in at most one case of 2^5.
    """
    levels = np.unique(watts)
    for decimals in range(DECIMALS + 1):
        units = np.round(levels * 10.0**decimals)
        if np.allclose(levels * 10.0**decimals, units, rtol=1e-12, atol=1e-6) and units.max() < 2**53:
            apart = np.diff(units.astype(np.int64))
            return int(np.gcd.reduce(apart) if len(levels) >= LEAST_LEVELS else 1) / 10**decimals
    return 0.0


def combined(steps: list[float]) -> float:
    """The step whose rounding is as uncertain as the sum of several meters that are rounded one by one."""
    return float(np.sqrt(np.sum(np.square(steps))))


def widened(half_w: float, step: float) -> float:
    """Half an interval in W of a mean of rounded readings; `half_w` is what their scatter says.

    Rounding may be off by half a step, in all readings alike if power is steady: a rectangular distribution
    with the variance step^2/12, whatever the number of readings (GUM, JCGM 100:2008, F.2.2.1). Its half
    width, sqrt(3) times the standard uncertainty, and `half_w` are combined as independent errors are.
    """
    return float(np.hypot(half_w, step / 2))
