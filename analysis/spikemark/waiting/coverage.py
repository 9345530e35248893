"""How often the intervals of the predictors contain the true expected waiting, for planted processes.

`study` asks for other schedules, `study_of_ranks` for more ranks than were measured; `page` makes
docs/coverage.md from both.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from spikemark.network.meetings import Plan, plan
from spikemark.quantities.quantity import LEVEL

from . import PREDICTORS, planted
from .planted import PLANTED, RANKS, Planted

NOMINAL, WANTED = LEVEL, 0.92
CYCLES_OF_TRUTH = 2_000_000  # of each rank
ASKED = [("conventional", 1), ("structure_aware", 10), ("overlapped", 10)]

MEASURED, TIMES = (4, 8, 16), (2, 4)
SPREADS = {"equal ranks": 0.0, "unequal ranks": planted.SD_S}
CORRELATION, CYCLES, SCHEDULE, DELAY_RATIO = 0.8, 4000, "structure_aware", 10

HEAD = """# How often the intervals contain the truth

How far can you trust the intervals of the predictors? `correlated` and `replay` should contain the true
waiting in at least {wanted:.0f} % of cases. Each row of the tables below is one test of that.
`spikemark coverage --trials {trials} --write docs/coverage.md` wrote this page; 500 trials take
about {minutes} minutes of one core.

Runs of {ranks} ranks are drawn from processes whose expected waiting is known from a long simulation. Each
predictor is fitted on the conventional run and asked for the waiting of a conventional, a structure-aware
(D = 10) and an overlapped (D = 10, lag 1) run of as many cycles. The table gives the share of trials in which
the {nominal:.0f} % interval contains the truth, and in parentheses the mean error of the prediction.
With {trials} trials a share is known to about ± {error:.1f} percentage points.

`iid` is the theory as published, and its interval only says how well the spread of the cycle times is known.
It is expected to contain the truth where that theory holds: for equal ranks with normal cycle times, and
either no serial correlation or a schedule that does not sum over cycles. Everywhere else it is expected to
miss, and it does. `correlated` and `replay` are expected to contain it everywhere. An exclamation mark shows
where they stay below the goal.

{made}

"""
MINUTES = 15
FURTHER = """
## More ranks than were measured

Do the intervals also contain the truth for ranks that were not measured? All ranks are drawn from AR(1)
{correlation:g} with {cycles} cycles. The persistent effects of the unequal ranks are as large as their
fluctuations from cycle to cycle. The predictors see only the measured ranks. They are asked for the waiting
of all ranks, structure-aware with D = 10, which is known by quadrature. The last two columns give the mean
width of the interval over the truth.

{made}

"""


@dataclass(frozen=True)
class Covered:
    """The trials of one process, schedule and predictor."""

    planted: str
    cycles: int
    plan: Plan
    predictor: str
    held: float  # share of the intervals that contain it
    bias: float  # mean prediction / truth - 1
    width: float  # mean width of an interval / truth


def study(
    trials: int,
    cases: Sequence[Planted] = PLANTED,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Covered]:
    """Fits and predicts `trials` runs of each process; `say` receives the name of each process."""
    plans = [plan(schedule, ratio, RANKS) for schedule, ratio in ASKED]
    found = []
    for number, case in enumerate(cases):
        say(f"{number + 1} of {len(cases)}: {case.name}")
        named = zlib.crc32(case.name.encode())  # the draws do not depend on which other processes are studied
        truths = planted.expected_waiting_s(case, plans, CYCLES_OF_TRUTH // case.cycles)
        results = {(name, i): [] for name in PREDICTORS for i in range(len(plans))}
        for trial in range(trials):
            times = case.draw(np.random.default_rng([seed, named, trial]), 1, case.cycles)[0]
            for name, kind in PREDICTORS.items():
                fitted = kind.fit(times)
                for i, (schedule, ratio) in enumerate(ASKED):
                    made = fitted.predict(schedule, ratio)
                    results[name, i].append((made.waiting_s, *made.waiting.interval, truths[i]))
        for (name, i), values in results.items():
            found.append(covered(case.name, case.cycles, plans[i], name, np.array(values)))
    return found


def covered(what: str, cycles: int, wanted: Plan, predictor: str, trials: np.ndarray) -> Covered:
    """Summary of `trials` [trial, 4] in s: prediction, ends of its interval, and truth."""
    value, low, high, truth = trials.T
    held = float(((low <= truth) & (truth <= high)).mean())
    bias, width = float((value / truth).mean() - 1), float(((high - low) / truth).mean())
    return Covered(what, cycles, wanted, predictor, held, bias, width)


def study_of_ranks(
    trials: int,
    measured: Sequence[int] = MEASURED,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Covered]:
    """The same for more ranks than were measured, where all ranks are planted.

    A trial draws the effects of all ranks, normal with a given spread. The predictors see the first
    `measured` ranks and are asked about `TIMES` as many.
    """
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
                    results[predictor, wanted].append((made.waiting_s, *made.waiting.interval, truth))
        found += [covered(what, CYCLES, key[1], key[0], np.array(v)) for key, v in results.items()]
    return found


def page(found: list[Covered], further: list[Covered], trials: int, made: str) -> str:
    """Markdown: one line per process and schedule, or number of ranks, and one column per predictor.

    `made` says when and from which commit.
    """
    error = 200 * (NOMINAL * (1 - NOMINAL) / trials) ** 0.5
    head = HEAD.format(
        trials=trials,
        minutes=MINUTES,
        ranks=RANKS,
        nominal=100 * NOMINAL,
        wanted=100 * WANTED,
        error=error,
        made=made,
    )
    first = _table(found, ["process", "cycles", "schedule"], lambda one: [one.cycles, one.plan.schedule])
    middle = FURTHER.format(correlation=CORRELATION, cycles=CYCLES, made=made)
    return head + first + middle + _table(further, ["ranks", "asked for"], lambda one: [one.plan.ranks], True)


def _table(found: list[Covered], heads: list[str], of: Callable[[Covered], list], widths=False) -> str:
    predictors = list(dict.fromkeys(one.predictor for one in found))
    wide = [name for name in predictors if widths and name != "iid"]
    rows: dict[tuple, dict[str, Covered]] = {}
    for one in found:
        rows.setdefault((one.planted, *of(one)), {})[one.predictor] = one
    titles = [*heads, *(f"`{name}`" for name in predictors), *(f"`{name}`, width" for name in wide)]
    lines = [titles, ["---"] * len(titles)]
    for place, row in rows.items():
        cells = [_cell(row[name]) for name in predictors] + [
            f"{100 * row[name].width:.0f} %" for name in wide
        ]
        lines.append([*map(str, place), *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(one: Covered) -> str:
    missed = " !" if one.held < WANTED and one.predictor != "iid" else ""
    return f"{100 * one.held:.1f} %{missed} ({100 * one.bias:+.1f} %)"
