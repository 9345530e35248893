"""How often the intervals hold the waiting on more ranks than were measured, where all ranks are planted.

A trial draws the effects of all ranks, normal with a given spread; the predictors see the first ones.
"""

import zlib
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from spikemark.network.meetings import plan

from . import PREDICTORS, planted
from .coverage import Covered, covered

MEASURED, TIMES = (4, 8, 16), (2, 4)
SPREADS = {"equal ranks": 0.0, "unequal ranks": planted.SD_S}
CORRELATION, CYCLES, SCHEDULE, DELAY_RATIO = 0.8, 4000, "structure_aware", 10


def study(
    trials: int,
    measured: Sequence[int] = MEASURED,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Covered]:
    """Fit `trials` runs on each number of `measured` ranks, and ask for `TIMES` as many; `say` as there."""
    found = []
    for (name, spread), fitted_ranks in product(SPREADS.items(), measured):
        what = f"{name}, {fitted_ranks} measured"
        say(what)
        plans = [plan(SCHEDULE, DELAY_RATIO, times * fitted_ranks) for times in TIMES]
        results = {(predictor, wanted): [] for wanted in plans for predictor in PREDICTORS}
        for trial in range(trials):
            rng = np.random.default_rng([zlib.crc32(what.encode()), seed, trial])
            effects = spread * rng.standard_normal(max(TIMES) * fitted_ranks)
            seen = planted.unequal_ranks(effects[:fitted_ranks], CORRELATION, rng, CYCLES)
            fits = {predictor: kind.fit(seen) for predictor, kind in PREDICTORS.items()}
            for wanted in plans:
                waiting = planted.expected_waiting_of_ranks_s(
                    effects[: wanted.ranks], CORRELATION, DELAY_RATIO
                )
                truth = waiting * CYCLES / DELAY_RATIO
                for predictor, fit in fits.items():
                    made = fit.predict(SCHEDULE, DELAY_RATIO, wanted.ranks)
                    results[predictor, wanted].append((made.waiting_s, *made.interval, truth))
        found += [covered(what, CYCLES, key[1], key[0], np.array(v)) for key, v in results.items()]
    return found
