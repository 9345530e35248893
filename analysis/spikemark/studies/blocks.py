"""How much slower a whole repetition was: a machine drifts, and the runs of a block have that in common."""

from collections.abc import Hashable, Iterable

import numpy as np


def slower(runs: Iterable[tuple[Hashable, Hashable, float]]) -> dict[Hashable, float]:
    """By block, how many times as long its runs took as usual; the median block has 1.

    `runs`: setup, block and time in s of each. A block is one repetition of all setups, measured close
    together in shuffled order (randomised complete blocks, Fisher 1935). Medians over setups and blocks, so
    that single runs that were disturbed do not count.
    """
    logs: dict[Hashable, dict[Hashable, float]] = {}
    for setup, block, seconds in runs:
        logs.setdefault(setup, {})[block] = float(np.log(seconds))
    away: dict[Hashable, list[float]] = {}
    for of_setup in logs.values():
        usual = np.median(list(of_setup.values()))
        for block, log in of_setup.items():
            away.setdefault(block, []).append(log - usual)
    found = {block: float(np.median(values)) for block, values in away.items()}
    middle = np.median(list(found.values())) if found else 0.0
    return {block: float(np.exp(value - middle)) for block, value in found.items()}
