"""Values of a machine as models take them: in SI units, as one number each or as draws.

An uncertain value is log-normal: its median is the stated value, and 95 % lie in its stated
interval. A value without an interval is taken as it is, unless it is assumed: then it has the
spread of priors.yaml.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import priors
from .fields import SLOWER
from .profile import Value

#: Units of profiles, in SI units.
SI = {
    "1": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "GHz": 1e9,
    "GB": 1e9,
    "GB/s": 1e9,
    "KiB": 1024.0,
    "B": 1.0,
    "W": 1.0,
    "cycles": 1.0,
    "EUR/h": 1.0,
    "EUR": 1.0,
}
KERNELS = "kernels."

#: Draws a value: (name, median, low, high, stated value) -> draws [N].
Drawing = Callable[[str, float, float, float, Value], Any]


def limits(
    path: str, value: Value, values: Mapping[str, Value] | None = None
) -> tuple[float, float]:
    """The 95 % interval of a stated value, in its unit.

    `values`: all of the machine, by path, which say how uncertain an assumed one is there.

    Example:
        >>> limits("node.clock", Value(2.0, "GHz", "measured", "a test", interval=(1.5, 2.5)))
        (1.5, 2.5)
    """
    if value.interval is not None:
        return value.interval
    half = 1.0
    if value.kind == "assumed":
        known = None if values is None else {name: other.value for name, other in values.items()}
        half = priors.spread(path, known) ** 0.5
    return value.value / half, value.value * half


@dataclass
class Values:
    """The numbers of a machine, by path.

    Example:
        >>> from spikemark import machines
        >>> Values(machines.load("jureca-dc")).need("node.cores", "an example")
        128.0
    """

    profile: Any  #: a profile, a machine of parts, or one part or link of it
    #: Draws values: then each is an array [N], else a float. See prediction/draws.py.
    drawn: Drawing | None = None
    start: str = ""  #: of the paths, where one part of a machine is asked
    #: Multiplies the kernel times of a part.
    slower: Value | None = field(default=None, repr=False)

    def of_part(self, name: str | None) -> "Values":
        """The values of one part of a machine; these, where all nodes are equal (None)."""
        if name is None:
            return self
        part = self.profile.parts[name]
        return replace(self, profile=part.profile, start=f"parts.{name}.", slower=part.slower)

    def of_link(self, first: str, second: str) -> "Values":
        """The values of what connects two parts."""
        link = self.profile.link(first, second)
        return replace(self, profile=link.profile, start=f"links.{link.name}.")

    def text(self, path: str) -> str | None:
        """The text at `path`; None where it is unknown."""
        value = self.profile.get(path)
        return None if value is None else str(value.value)

    def need(self, path: str, why: str) -> Any:
        """The number at `path`, in SI units.

        Raises:
            UnknownValue: naming `why` it is needed, where there is none.
        """
        number = self.get(path)
        if number is None:
            raise self.profile.unknown_value(path, why)
        return number

    def get(self, path: str, otherwise: object = None) -> Any:
        """The number at `path`, in SI units, or `otherwise` where it is unknown."""
        value = self.profile.get(path)
        return otherwise if value is None else self._number(path, value)

    def table(self, path: str) -> np.ndarray | None:
        """The rows [ranks, bytes, seconds] of a table; None where it is unknown."""
        value = self.profile.get(path)
        if value is None:
            return None
        rows: np.ndarray = np.array(value.value, dtype=float) * [1, 1, SI[value.unit]]
        return rows

    def _number(self, path: str, value: Value) -> Any:
        """A number in SI units, or its draws, which all parts of one profile share."""
        number = value.value * SI[value.unit or "1"]
        low, high = limits(path, value, self.profile.values)
        if self.drawn is not None and high > low:
            number = self.drawn(f"{self.profile.draws_of(path)}/{path}", number, low, high, value)
        if self.slower is not None and path.startswith(KERNELS):
            return number * self._number(SLOWER, self.slower)
        return number
