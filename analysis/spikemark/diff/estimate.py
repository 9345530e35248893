"""The difference of two groups of runs, with an interval that allows for all that is known to vary.

Values x = seed + side + error are fitted by least squares: a seed is a network of its own, which both sides
share. The variance of the errors is that of the repetitions, which holds what the cycles of a run vary, too.
With less than ENOUGH degrees of freedom it is not below what the serial correlation of the cycles implies
(`times`), since a few runs can be alike by chance. Where there are too few repetitions, it is that of the
history, or assumed, plus what the cycles imply. What sessions have in common does not average out over the
repetitions of a session. A history tells it; without one it is assumed where one side was measured after
the other. It is added for both sides. Spreads are shares of the time of a cycle.
Degrees of freedom of sums are those of Satterthwaite (1946); the interval is Student's.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student

from .times import COMMUNICATING, CYCLE, MEDIAN, Part

#: Where nothing is known: the spread of the mean time of a run from run to run, as a share of the part
#: itself. Runs of this project on shared virtual machines varied by 1 to 5 %; waiting and exchange by more.
ASSUMED, ASSUMED_COMMUNICATING = 0.05, 0.3
#: What the runs of a session have in common where no history tells it. On a shared virtual machine, sessions
#: minutes apart differed by about 2 % (docs/diff.md); waiting and exchange as much more as from run to run.
ASSUMED_SESSIONS = 0.02
REPEATED, HISTORY, ASSUMPTION, SIMULATED = "repetitions", "history", "assumed", "simulated"
#: What an interval rests on, in words.
WORDS = {
    REPEATED: "the spread of the repetitions (measured)",
    HISTORY: "the spread of this machine's history (measured)",
    ASSUMPTION: f"an assumed spread of {100 * ASSUMED:g} %, {100 * ASSUMED_COMMUNICATING:g} % in waiting",
    SIMULATED: "simulated times, which do not vary",
}
FEWEST_DEGREES, ENOUGH = 2, 6  # of freedom, from which repetitions tell their spread, and alone
MANY = 1e6  # degrees of freedom of what is taken as known


@dataclass(frozen=True)
class Spread:
    """Variances as shares of the squared time of a cycle, and their degrees of freedom; 0 where unknown.

    `runs`: of single runs of one session. `sessions`: of what whole sessions have in common, beyond that.
    """

    runs: float = 0.0
    runs_degrees: float = 0.0
    sessions: float = 0.0
    sessions_degrees: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """Second minus first in s per cycle, with its standard error and degrees of freedom.

    `first_s` and `second_s` are means over seeds. `spread` is a key of WORDS: what the error rests on.
    `sessions_s` is the part of the error that all setups of the two sessions share; `sessions_assumed` says
    that no history told it.
    """

    first_s: float
    second_s: float
    difference_s: float
    error_s: float
    degrees: float
    spread: str
    sessions_s: float = 0.0
    sessions_assumed: bool = False

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Two-sided interval of the difference in s per cycle."""
        half = student(self.degrees, level) * self.error_s
        return self.difference_s - half, self.difference_s + half

    def quantity(self, whole_s: float, kind: str, level: float = LEVEL) -> Quantity:
        """The difference as a share of the time of a cycle of the first side."""
        low, high = self.interval(level)
        return Quantity(self.difference_s / whole_s, low / whole_s, high / whole_s, "", kind)


def estimate(
    name: str,
    parts: list[Part],
    second: np.ndarray,
    seeds: np.ndarray,
    cycle_s: float,
    simulated: bool = False,
    known: Spread = Spread(),
    apart: bool = False,
) -> Estimate:
    """Compare the part `name` of the runs of two sides with the same seeds.

    `second` [run]: whether a run is of the second side. `cycle_s`: the time of a cycle of the first side.
    `known`: what a history tells of the part. `apart`: one side was measured after the other.
    """
    values = np.array([part.value for part in parts])
    design = np.column_stack([*(seeds == seed for seed in np.unique(seeds)), second]).astype(float)
    fitted = np.linalg.lstsq(design, values, rcond=None)[0]
    residuals, degrees = values - design @ fitted, float(len(values) - design.shape[1])
    base, change = float(fitted[:-1].mean()), float(fitted[-1])
    errors = np.array([np.nan if part.error is None else part.error**2 for part in parts])
    sides = [own[~np.isnan(own)] for own in (errors[~second], errors[second])]
    within = sum(float(np.mean(side)) if side.size else 0.0 for side in sides) / 2  # as the cycles imply
    share = ASSUMED_COMMUNICATING if name.partition(".")[2] in COMMUNICATING else ASSUMED
    assumed = (share * (cycle_s if name == CYCLE else base)) ** 2
    if simulated:
        variance, degrees, spread = within, MANY, SIMULATED
    elif degrees >= FEWEST_DEGREES:
        variance, spread = float(residuals @ residuals) / degrees, REPEATED
        if within > variance and degrees < ENOUGH:
            variance, degrees = within, MANY
    elif known.runs_degrees >= FEWEST_DEGREES:
        variance, degrees, spread = known.runs * cycle_s**2, known.runs_degrees, HISTORY
        if within > variance:
            variance, degrees = within, MANY
    else:
        variance, degrees, spread = assumed + within, MANY, ASSUMPTION
    own = float(np.linalg.inv(design.T @ design)[-1, -1]) * variance
    guessed = apart and not simulated and not known.sessions_degrees > 0
    shared, freedom = 0.0, MANY
    if guessed:
        shared = 2 * assumed * (ASSUMED_SESSIONS / ASSUMED) ** 2
    elif known.sessions > 0 and not simulated:
        shared, freedom = 2 * known.sessions * cycle_s**2, known.sessions_degrees
    if (total := own + shared) > 0:
        freedom = min(total**2 / (own**2 / degrees + shared**2 / freedom), MANY)
    # The base is measured, too: its error moves the share that the difference is of it.
    grown = ((1 + (1 + change / base) ** 2) / 2) ** 0.5 if name in (CYCLE, MEDIAN) and base > 0 else 1.0
    return Estimate(
        base, base + change, change, grown * total**0.5, freedom, spread, grown * shared**0.5, guessed
    )
