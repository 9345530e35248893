"""The difference of two groups of runs, with an interval that allows for all that is known to vary.

Values x = seed + side + error are fitted by least squares: a seed is a network of its own, which both sides
share. The variance of the errors is that of the repetitions, which holds what the cycles of a run vary, too.
With less than ENOUGH degrees of freedom it is not below what the serial correlation of the cycles implies
(`times`), since a few runs can be alike by chance. Where there are too few repetitions, it is that of the
history, or assumed, plus what the cycles imply. What sessions have in common does not average out over the
repetitions of a session. A history tells it; without one it is assumed where one side was measured after
the other. It is added for both sides.
Degrees of freedom of sums are those of Satterthwaite (1946); the interval is Student's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student

from .spread import ASSUMPTION, HISTORY, REPEATED, SIMULATED, Known, assumed, assumed_sessions
from .times import CYCLE, Part

FEWEST_DEGREES, ENOUGH = 2, 6  # of freedom, from which repetitions tell their spread, and alone
MANY = 1e6  # degrees of freedom of what is taken as known


@dataclass(frozen=True)
class Group:
    """One part of the runs of one side: values and standard errors in s per cycle, and the seeds, [run]."""

    parts: Sequence[Part]
    seeds: Sequence[int]

    @property
    def values(self) -> np.ndarray:
        return np.array([part.value for part in self.parts])

    @property
    def within(self) -> float:
        """Mean variance of a run's mean that its cycles imply, s^2; 0 where they were not recorded."""
        known = [part.error**2 for part in self.parts if part.error is not None]
        return float(np.mean(known)) if known else 0.0


@dataclass(frozen=True)
class Estimate:
    """Second minus first in s per cycle, with its standard error and degrees of freedom.

    `first_s` and `second_s` are means over seeds. `spread` is a key of spread.WORDS: what the error rests on.
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
    first: Group,
    second: Group,
    cycle_s: float,
    simulated: bool = False,
    known: Known | None = None,
    apart: bool = False,
) -> Estimate:
    """Compare the part `name` of sides with the same seeds; `cycle_s`: of a cycle of the first side.

    `apart`: one side was measured after the other.
    """
    values = np.concatenate([first.values, second.values])
    seeds = np.array([*first.seeds, *second.seeds])
    side = np.repeat([0.0, 1.0], [len(first.parts), len(second.parts)])
    distinct = np.unique(seeds)
    design = np.column_stack([seeds == seed for seed in distinct] + [side]).astype(float)
    fitted = np.linalg.lstsq(design, values, rcond=None)[0]
    factor = float(np.linalg.inv(design.T @ design)[-1, -1])
    residuals, degrees = values - design @ fitted, len(values) - len(distinct) - 1
    base = float(fitted[:-1].mean())
    within = (first.within + second.within) / 2
    history = known.of_part(name) if known else None
    if simulated:
        variance, degrees, spread = within, MANY, SIMULATED
    elif degrees >= FEWEST_DEGREES:
        variance, spread = float(residuals @ residuals) / degrees, REPEATED
        if within > variance and degrees < ENOUGH:
            variance, degrees = within, MANY
    elif history is not None and history.runs_degrees >= FEWEST_DEGREES:
        variance, degrees, spread = history.runs * cycle_s**2, history.runs_degrees, HISTORY
        if within > variance:
            variance, degrees = within, MANY
    else:
        variance = assumed(name, base / cycle_s) * cycle_s**2 + within
        degrees, spread = MANY, ASSUMPTION
    found = [(factor * variance, degrees)]
    if history is not None and history.sessions > 0 and not simulated:
        found.append((2 * history.sessions * cycle_s**2, history.sessions_degrees))
    told = history is not None and history.sessions_degrees > 0
    guessed = apart and not simulated and not told
    if guessed:
        found.append((2 * assumed_sessions(name, base / cycle_s) * cycle_s**2, MANY))
    shared = found[1][0] ** 0.5 if len(found) > 1 else 0.0
    total = sum(one for one, _ in found)
    freedom = total**2 / sum(one**2 / of for one, of in found) if total > 0 else MANY
    change = float(fitted[-1])
    # The base is measured, too: its error moves the share that the difference is of it.
    grown = ((1 + (1 + change / base) ** 2) / 2) ** 0.5 if name == CYCLE and base > 0 else 1.0
    error, freedom = grown * total**0.5, min(freedom, MANY)
    return Estimate(base, base + change, change, error, freedom, spread, grown * shared, guessed)
