"""How often the intervals of the predictors hold the true expected waiting, on processes that are planted."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.network.meetings import Plan, plan

from . import PREDICTORS, planted
from .planted import PLANTED, RANKS, Planted

NOMINAL, WANTED = 0.95, 0.92
CYCLES_OF_TRUTH = 2_000_000  # of each rank
ASKED = [("conventional", 1), ("structure_aware", 10), ("overlapped", 10)]


@dataclass(frozen=True)
class Covered:
    """One process, schedule and predictor: over all trials."""

    planted: str
    cycles: int
    plan: Plan
    predictor: str
    truth_s: float  # expected waiting over a run, mean over trials
    held: float  # share of the intervals that hold it
    bias: float  # mean prediction / truth - 1
    width: float  # mean width of an interval / truth


def study(
    trials: int,
    cases: Sequence[Planted] = PLANTED,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Covered]:
    """Fit and predict `trials` runs of each process. `say` is told which one is at work."""
    plans = [plan(schedule, ratio, RANKS) for schedule, ratio in ASKED]
    found = []
    for number, case in enumerate(cases):
        say(f"{number + 1} of {len(cases)}: {case.name}")
        named = zlib.crc32(case.name.encode())  # the same draws, whichever other processes are studied
        truths = planted.expected_waiting_s(case, plans, CYCLES_OF_TRUTH // case.cycles)
        results = {(name, i): [] for name in PREDICTORS for i in range(len(plans))}
        for trial in range(trials):
            times = case.draw(np.random.default_rng([seed, named, trial]), 1, case.cycles)[0]
            for name, kind in PREDICTORS.items():
                fitted = kind.fit(times)
                for i, (schedule, ratio) in enumerate(ASKED):
                    made = fitted.predict(schedule, ratio)
                    results[name, i].append((made.waiting_s, *made.interval, truths[i]))
        for (name, i), values in results.items():
            found.append(covered(case.name, case.cycles, plans[i], name, np.array(values)))
    return found


def covered(what: str, cycles: int, wanted: Plan, predictor: str, trials: np.ndarray) -> Covered:
    """From the prediction, the ends of its interval, and the truth of each trial, [trial, 4] in s."""
    value, low, high, truth = trials.T
    held = float(((low <= truth) & (truth <= high)).mean())
    bias, width = float((value / truth).mean() - 1), float(((high - low) / truth).mean())
    return Covered(what, cycles, wanted, predictor, float(truth.mean()), held, bias, width)
