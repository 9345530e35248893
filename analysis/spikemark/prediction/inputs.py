"""Values of a machine's profile as a prediction takes them: in SI units, with limits, one moved at a time.

A value without an interval of its own is taken to be within a factor that depends on its kind (`WITHIN`). The
interval of a predicted figure is found by moving every value it depends on to its limits, one at a time, and
adding the squares of what that changes: the values are taken to be independent, the figure to be smooth. The
kind of a figure is the worst kind of the values that change it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput

#: From the best to the worst; counted: depends on no value of the machine; extrapolated: outside the range
#: in which the prediction was validated.
KINDS = ("counted", "measured", "literature", "assumed", "extrapolated")
WITHIN = {"measured": 1.1, "literature": 1.25, "assumed": 2.0}
SI = {
    "1": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "GHz": 1e9, "GB": 1e9, "GB/s": 1e9, "KiB": 1024.0,
    "MiB": 1024.0**2, "B": 1.0, "W": 1.0, "cycles": 1.0, "EUR/h": 1.0,
}  # fmt: skip
SHARE = 1e-3  # relative change from which a value counts as one that a figure depends on


@dataclass
class Inputs:
    """A profile (see spikemark.machines), with values moved to a limit: path -> 0 (low) or 1 (high)."""

    profile: Any
    moved: dict[str, int] = field(default_factory=dict)
    used: dict[str, Any] = field(default_factory=dict)  # path -> Value
    factors: dict[str, float] = field(default_factory=dict)  # path prefix -> factor, as fitted

    def need(self, path: str, why: str) -> float:
        """The value in SI units. Raises BadInput, from the profile, where it is unknown."""
        return self._of(path, self.profile.need(path, why))

    def get(self, path: str, otherwise: float) -> float:
        """The value in SI units, or `otherwise` where it is unknown."""
        found = self.profile.get(path)
        return otherwise if found is None else self._of(path, found)

    def exact(self, path: str, why: str) -> int:
        """A whole number that has no interval."""
        return round(self.profile.need(path, why).value)

    def table(self, path: str) -> tuple[Any, float]:
        """The rows of a table, or None, and the factor by which it is moved."""
        found = self.profile.get(path)
        if found is None:
            return None, 1.0
        self.used[path] = found
        side = self.moved.get(path)
        return found.value, 1.0 if side is None else factors(found)[side]

    def _of(self, path: str, value: Any) -> float:
        self.used[path] = value
        side = self.moved.get(path)
        number = value.value if side is None else limits(value)[side]
        factor = np.prod([f for prefix, f in self.factors.items() if path.startswith(prefix)])
        return float(number) * si(value.unit) * float(factor)


def si(unit: str) -> float:
    """What one of `unit` is in SI units; of 'ns per list' the first word counts."""
    word = unit.split()[0] if unit.split() else "1"
    if word not in SI:
        raise BadInput(f"unit={unit!r}: known are {', '.join(SI)}")
    return SI[word]


def limits(value: Any) -> tuple[float, float]:
    """Low and high of a Value, in its own unit."""
    if value.interval is not None:
        low, high = value.interval
        return float(low), float(high)
    factor = WITHIN[value.kind]
    return value.value / factor, value.value * factor


def factors(value: Any) -> tuple[float, float]:
    """Low and high of a table, as shares of its entries."""
    return 1 / WITHIN[value.kind], WITHIN[value.kind]


@dataclass(frozen=True)
class Figure:
    """A predicted number with its interval. `depends`: paths of values that move it, the strongest first."""

    value: float
    low: float
    high: float
    kind: str
    depends: tuple[str, ...] = ()


def worst(kinds: list[str]) -> str:
    """The worst of some kinds; what depends on no value at all is counted."""
    return KINDS[max((KINDS.index(kind) for kind in kinds), default=0)]


def figures(inputs: Inputs, evaluate: Callable[[Inputs], dict[str, float]]) -> dict[str, Figure]:
    """The numbers that `evaluate` gives for the inputs, with intervals and kinds.

    `evaluate` is called once for every limit of every value that it asks for.
    """
    inputs.used.clear()
    middle = evaluate(inputs)
    below, above = dict.fromkeys(middle, 0.0), dict.fromkeys(middle, 0.0)
    effects: dict[str, dict[str, float]] = {name: {} for name in middle}
    for path, value in dict(inputs.used).items():
        low, high = factors(value) if isinstance(value.value, list | tuple) else limits(value)
        for side in (0, 1):
            if low == high:
                continue
            moved = evaluate(replace(inputs, moved={**inputs.moved, path: side}, used={}))
            for name, figure in middle.items():
                change = moved[name] - figure
                (above if change > 0 else below)[name] += change**2
                if abs(change) > SHARE * abs(figure):
                    effects[name][path] = max(effects[name].get(path, 0.0), abs(change))
    found = {}
    for name, figure in middle.items():
        paths = sorted(effects[name], key=lambda path, name=name: -effects[name][path])
        kind = worst([inputs.used[path].kind for path in paths])
        low = figure - np.sqrt(below[name])
        if figure >= 0:
            low = max(low, 0.0)
        found[name] = Figure(figure, float(low), float(figure + np.sqrt(above[name])), kind, tuple(paths))
    return found
