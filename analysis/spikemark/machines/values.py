"""Values of a machine as models take them: in SI units, as one number each or as draws of what is uncertain.

An uncertain value is log-normal: its median is the stated value, and 95 % lie in its stated interval. A value
without an interval is taken as it is, unless it is assumed: then it has the spread of priors.yaml.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import priors
from .fields import SLOWER
from .profile import UnknownValue, Value

SI = {
    "1": 1.0, "ns": 1e-9, "us": 1e-6, "GHz": 1e9, "GB": 1e9, "GB/s": 1e9, "KiB": 1024.0, "B": 1.0,
    "W": 1.0, "cycles": 1.0, "EUR/h": 1.0, "EUR": 1.0,
}  # fmt: skip
KERNELS = "kernels."


def limits(path: str, value: Value) -> tuple[float, float]:
    """The 95 % interval of a stated value, in its unit."""
    if value.interval is not None:
        return value.interval
    half = priors.spread(path) ** 0.5 if value.kind == "assumed" else 1.0
    return value.value / half, value.value * half


@dataclass
class Values:
    """A profile or a machine of parts; without `drawn` every value is a float, with it an array [N].

    `drawn`: (name, value, low, high) -> draws, such as a recorder of prediction/draws.py. `start`: of the
    names, where one part of a machine is asked. `slower`: multiplies the kernel times of a part.
    """

    profile: Any
    drawn: Any = None
    start: str = ""
    slower: Any = field(default=None, repr=False)

    def of_part(self, name: str | None) -> "Values":
        """The values of one part of a machine; these, where all nodes are equal (None)."""
        if name is None:
            return self
        part = self.profile.parts[name]
        return replace(self, profile=part.profile, start=f"parts.{name}.", slower=part.slower)

    def of_link(self, one: str, two: str) -> "Values":
        """The values of what connects two parts."""
        link = self.profile.link(one, two)
        return replace(self, profile=link.profile, start=f"links.{link.name}.")

    def text(self, path: str) -> str | None:
        """The text at `path`; None where it is unknown."""
        found = self.profile.get(path)
        return None if found is None else str(found.value)

    def need(self, path: str, why: str) -> Any:
        """The number at `path`. Raises UnknownValue, naming `why` it is needed, where there is none."""
        found = self.get(path)
        if found is None:
            raise UnknownValue(f"{self.profile.name}: {path} is unknown, needed for {why}")
        return found

    def get(self, path: str, otherwise: Any = None) -> Any:
        """The number at `path`, or `otherwise` where it is unknown."""
        found = self.profile.get(path)
        return otherwise if found is None else self._number(path, found)

    def table(self, path: str) -> np.ndarray | None:
        """The rows [ranks, bytes, seconds] of a table; None where it is unknown."""
        found = self.profile.get(path)
        return None if found is None else np.array(found.value, dtype=float) * [1, 1, SI[found.unit]]

    def _number(self, path: str, value: Value) -> Any:
        """In SI units, or draws: those of a value of one profile, which all its parts share."""
        slower = self.slower is not None and path.startswith(KERNELS)
        factor = self._number(SLOWER, self.slower) if slower else 1.0
        (low, high), number = limits(path, value), value.value * SI[value.unit or "1"]
        if self.drawn is not None and high > low:
            number = self.drawn(f"{self.profile.name}/{path}", number, low, high, value)
        return number * factor
