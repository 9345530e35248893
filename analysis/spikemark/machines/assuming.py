"""What a rule of filling.py sees of a machine, what it assumes, and how profiles are compared for that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import comparable
from .fields import FABRIC
from .inputs import WITHIN
from .profile import Value, field_of

DIGITS = 4


@dataclass(frozen=True)
class Assumed:
    """A value that a rule gives at a path, why, and its interval unless that of its kind is wide enough."""

    path: str
    value: float | str
    why: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Known:
    """What the rules see of a machine: its name, its values so far, and the names of other machines."""

    name: str
    values: dict[str, Value]
    others: tuple[str, ...]

    def number(self, path: str) -> float | None:
        """The value at a path; None where it is unknown."""
        found = self.values.get(path)
        return None if found is None else found.value

    def with_(self, path: str, value: float | str) -> "Known":
        """The same with another value."""
        values = {**self.values, path: Value(value, field_of(path).unit, "assumed", "")}
        return Known(self.name, values, self.others)

    def also(self, made: "Assumed") -> "Known":
        """The same with an assumed value, unless the machine's own is known."""
        return self if made.path in self.values else self.with_(made.path, made.value)


def rounded(value: float) -> float:
    """A number with as many digits as an assumed value deserves."""
    return float(f"{value:.{DIGITS}g}")


def compared(
    known: Known, path: str, worse: Callable, per: str | None = None, alike: str | None = None,
    implied: float | None = None, why: str = "",
) -> Iterator[Assumed]:  # fmt: skip
    """The worst over comparable profiles, or what is `implied` if that is worse; nothing if there is none.

    `per`: the value that it is in proportion to, or the ratio of two, as comparable.at takes it. `alike`: the
    value by which profiles are comparable.
    """
    factor, related = comparable.at(known.values, per) if per else 1.0, known.number(alike) if alike else None
    near = (alike, related) if related else None
    if not factor:
        return
    cores, fabric = known.number("node.cores"), known.number(FABRIC)
    others = comparable.spread(path, worse, per, near, cores, fabric, known.others)
    if others is None:
        return
    share = f" of the ratio to {per}" if per else ""
    reason = f"{others.said(None if per else field_of(path).unit)}{share}"
    if path in comparable.BETWEEN:
        reason += f" ({' or '.join(' or '.join(g) for g in comparable.groups(known.number(FABRIC)))})"
    others = others.times(factor)
    middle, limits = others.worst, (others.low, others.high)
    if implied is not None and worse(implied, middle) != middle:
        middle, reason = implied, f"{why}; {reason}"
        limits = min(others.low, middle / WITHIN["assumed"]), max(others.high, middle * WITHIN["assumed"])
    middle = rounded(middle)
    yield Assumed(path, middle, reason, (min(limits[0], middle), max(limits[1], middle)))


def between(made: Assumed, least: float | None, most: float | None, why: str) -> Assumed:
    """The same within limits that other values of the machine set."""
    most = made.interval[1] if most is None else most
    value = rounded(min(max(made.value, least or made.value), most))
    if value == made.value:
        return made
    low, high = min(made.interval[0], value / WITHIN["assumed"]), max(made.interval[1], value)
    return Assumed(made.path, value, f"{why}; {made.why}", (low, high))
