"""The page docs/coverage.md."""

from collections.abc import Callable

from .coverage import NOMINAL, WANTED, Covered
from .coverage_ranks import CORRELATION, CYCLES
from .planted import RANKS

HEAD = """# How often the intervals hold

Written by `spikemark coverage --trials {trials} --write docs/coverage.md`; 500 trials take
about {minutes} minutes of one core.

Runs of {ranks} ranks are drawn from processes whose expected waiting is known from a long simulation. Each
predictor is fitted on the conventional run and asked for the waiting of a conventional, a structure-aware
(D = 10) and an overlapped (D = 10, lag 1) run of as many cycles. The table gives the share of trials in which
the {nominal:.0f} % interval holds the truth, and in parentheses the mean error of the prediction.
With {trials} trials a share is known to about ± {error:.1f} percentage points. Goal: at least {wanted:.0f} %.

`iid` is the theory as published, and its interval only says how well the spread of the cycle times is known.
It is expected to hold where that theory does: equal ranks, normal, and no serial correlation, or a schedule
that does not sum over cycles. Everywhere else it is expected to miss, and it does. `correlated` and `replay`
are expected to hold everywhere; where they stay below the goal there is an exclamation mark.

"""
MINUTES = 15
FURTHER = """
## More ranks than were measured

All ranks are drawn, of AR(1) {correlation:g} and {cycles} cycles, the unequal ones with persistent effects
as large as their fluctuations, from cycle to cycle, are; the predictors see the measured ones. Asked for is
the waiting of all of them, structure-aware with D = 10, which is known by quadrature. The last two columns
are the mean width of the interval over the truth.

"""


def page(found: list[Covered], further: list[Covered], trials: int) -> str:
    """Markdown: one line per process and schedule, or number of ranks, and one column per predictor."""
    error = 200 * (NOMINAL * (1 - NOMINAL) / trials) ** 0.5
    head = HEAD.format(
        trials=trials, minutes=MINUTES, ranks=RANKS, nominal=100 * NOMINAL, wanted=100 * WANTED, error=error
    )
    first = _table(found, ["process", "cycles", "schedule"], lambda one: [one.cycles, one.plan.schedule])
    middle = FURTHER.format(correlation=CORRELATION, cycles=CYCLES)
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
