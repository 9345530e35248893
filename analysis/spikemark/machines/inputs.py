"""Values of a profile as models take them: in SI units, with limits, and each of them movable to a limit.

A value without its own interval is assumed to be within a factor that depends on its kind (`WITHIN`).
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity

KERNELS, SLOWER = "kernels.", "slower"
#: By what factor the truth may differ from a value that has no interval, by kind.
WITHIN = {"measured": 1.1, "literature": 1.25, "assumed": 2.0}
SI = {
    "1": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "GHz": 1e9, "GB": 1e9, "GB/s": 1e9, "KiB": 1024.0,
    "MiB": 1024.0**2, "B": 1.0, "W": 1.0, "cycles": 1.0, "EUR/h": 1.0,
}  # fmt: skip


@dataclass
class Inputs:
    """A profile (see spikemark.machines) that records which of its values are requested.

    `moved`: path -> "low" or "high", the limit that a value is moved to; values that follow from it move,
    too. `used`: path -> what was asked for, in SI units, and what that follows from; of a table, the factor 1
    that moves all of its entries. `factors`: start of a path -> a factor, as fitted to published times.
    `start`: of the paths in `moved` and `used`, where one part of a machine is asked (machines/parts.py).
    """

    profile: Any
    moved: dict[str, str] = field(default_factory=dict)
    used: dict[str, Quantity] = field(default_factory=dict)
    factors: dict[str, float] = field(default_factory=dict)
    start: str = ""
    slower: Any = None  # a value, by which kernel times are multiplied

    def of_part(self, name: str) -> "Inputs":
        """These inputs, asked for values of one part of a machine: paths are those of its profile."""
        part = self.profile.parts[name]
        return replace(self, profile=part.profile, start=f"parts.{name}.", slower=part.slower)

    def of_link(self, one: str, two: str) -> "Inputs":
        """The same for what connects two parts."""
        link = self.profile.link(one, two)
        return replace(self, profile=link.profile, start=f"links.{link.name}.")

    def text(self, path: str) -> str | None:
        """The text at `path`; None where it is unknown."""
        found = self.profile.get(path)
        return None if found is None else str(found.value)

    def need(self, path: str, why: str) -> float:
        """The number at `path` in SI units. Raises BadInput, from the profile, where it is unknown."""
        return self._taken(path, self.profile.need(path, why))

    def get(self, path: str, otherwise: float) -> float:
        """The number at `path` in SI units, or `otherwise` where it is unknown."""
        found = self.profile.get(path)
        return otherwise if found is None else self._taken(path, found)

    def table(self, path: str) -> np.ndarray | None:
        """The rows [ranks, bytes, seconds] of a table, moved as a whole; None where it is unknown."""
        found = self.profile.get(path)
        if found is None:
            return None
        factor = self._moved(path, found) * si(found.unit)
        return np.array(found.value, dtype=float) * [1, 1, factor]

    def _taken(self, path: str, value: Any) -> float:
        factor = float(np.prod([f for start, f in self.factors.items() if path.startswith(start)]))
        if self.slower is not None and path.startswith(KERNELS):
            factor *= self._moved(SLOWER, self.slower)
        return self._moved(path, value) * factor

    def _moved(self, inside: str, value: Any) -> float:
        path = self.start + inside
        found = self.used[path] = quantity(value)
        number = getattr(found, self.moved.get(path, "value"))
        for name, side, there in value.follows:
            stated, factor, root = self.profile.need(name, path), there / value.value, self.start + name
            self.used.setdefault(root, quantity(stated))
            if self.moved.get(root) == side:
                number *= factor
            elif isinstance(stated.value, str) and path in self.moved:
                number = alone(number, found.value, factor)
        return number


def alone(limit: float, middle: float, factor: float) -> float:
    """Where a value reaches by itself if, with another text, its middle were `factor` times as large.

    The limit counts for both together.
    """
    if (limit < middle) is not (factor < 1):
        return limit
    return (min if factor < 1 else max)(middle, limit / factor)


def quantity(value: Any) -> Quantity:
    """A value of a profile in SI units, with its interval or that of its kind.

    For a table, it is the factor 1 by which all of its entries are moved. Of a text, it says only that it is
    uncertain. Raises BadInput for an unknown unit.
    """
    if isinstance(value.value, str):
        return Quantity(1.0, 0.0, 2.0, kind=value.kind)
    if isinstance(value.value, list | tuple):
        within = WITHIN[value.kind]
        return Quantity(1.0, 1 / within, within, kind=value.kind)
    scale = si(value.unit)
    low, high = value.interval or (value.value / WITHIN[value.kind], value.value * WITHIN[value.kind])
    return Quantity(value.value * scale, low * scale, high * scale, kind=value.kind)


def si(unit: str) -> float:
    """Converts one `unit` to SI units. Raises BadInput for a unit that no profile has."""
    if unit not in SI:
        raise BadInput(f"unit={unit!r}: known are {', '.join(SI)}")
    return SI[unit]
