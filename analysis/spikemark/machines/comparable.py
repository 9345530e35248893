"""What the profiles in machines/ know about a value that another profile lacks: the worst, and the range.

The worst value of all comparable profiles stands in the middle of an assumed one, so that a value that is
left out gains nothing over one that such a machine has. The range reaches to the best value, and is at least
a factor of two wide on both sides, since ten machines are not all that exist. If several comparable profiles
agree exactly, there is no range.

Profiles are comparable if

- their networks are of one of the `GROUPS` of fabrics, if values between nodes are asked for; a network whose
  fabric is not known is compared with those of every group, and is as bad as the worst of them;
- related values that are known, such as the latency of a network whose bandwidth is asked for, are within a
  factor of `FAR`; a profile that lacks them is left out;
- their nodes have at most `CORES` times as many cores or as few: a board says nothing about a server.

If fewer than `FEWEST` profiles have such nodes, those whose cores come closest are taken. The first two rules
hold unless no profile is left. If no network of the same fabric is alike, as no profile has a fast Ethernet,
the range reaches to the best network of all. Profiles that share a whole group of values (the same nodes, or
the same network, under two names) count once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median

from .fields import ETHERNET, FABRIC, FABRICS, OTHER
from .inputs import WITHIN, quantity
from .loader import folder, load, names
from .profile import Profile, Value

#: Starts of paths that count for the range alone: in a virtual machine, jitter is that of the hypervisor.
VIRTUAL = {"epyc-vm": ("jitter.",)}
FAR = 10.0  # times as much, or as little: a network that carries 12 GB/s is no Gigabit Ethernet
GROUPS = ((ETHERNET,), tuple(f for f in FABRICS if f not in (ETHERNET, OTHER)))  # of fabrics
BETWEEN = "interconnect.latency", "interconnect.bandwidth"  # nodes
CORES = 3.0  # times as many, or as few
FEWEST = 2  # comparable profiles


@dataclass(frozen=True)
class Spread:
    """`worst` and limits of a value, or of its ratio to another one, over `count` different profiles.

    `median`, `least` and `most` are of the profiles, `low` and `high` the limits of an assumed value.
    """

    low: float
    worst: float
    high: float
    count: int
    median: float
    least: float
    most: float

    @property
    def agreed(self) -> bool:
        """Do several profiles agree exactly?"""
        return self.low == self.high

    def times(self, factor: float) -> "Spread":
        """The spread of the value where this is the spread of its ratio to `factor`."""
        low, worst, high = (n * factor for n in (self.low, self.worst, self.high))
        middle = self.median * factor
        return Spread(low, worst, high, self.count, middle, self.least * factor, self.most * factor)

    def said(self, unit: str | None) -> str:
        """Says how many machines it comes from, their median and their range."""
        unit = "" if unit in (None, "1") else f" {unit}"
        if self.agreed:
            return f"all {self.count} comparable profiles agree"
        of = f"worst of {self.count} comparable profiles" if self.count > 1 else "one comparable profile"
        return f"{of}; median {self.median:.4g}, range {self.least:.4g} to {self.most:.4g}{unit}"


def spread(
    path: str, worse: Callable, per: str | None = None, alike: tuple[str, float] | None = None,
    cores: float | None = None, fabric: str | None = None, among: tuple[str, ...] | None = None,
) -> Spread | None:  # fmt: skip
    """What comparable profiles know of the value at `path`, or of its ratio to the one at `per`.

    `worse`: min where a lower value makes a machine slower, max where a higher one does. `alike`: a related
    path and its value. `cores`: of the node. `fabric`: of its network; None: unknown. `among`: the names of
    the profiles, by default all. None if no profile knows the value.
    """
    known = _known(folder(), tuple(names()) if among is None else among, path, per)
    near = _in_groups(known, alike, cores, groups(fabric) if path in BETWEEN else ())
    found = sorted(v for p, v in near if not path.startswith(VIRTUAL.get(p.name, "\0")))
    if not found:
        return None
    worst, ends = worse(found), [*found, *_all_ends(near, path)]
    least, most = min(ends), max(ends)
    within = 1.0 if least == most and len(found) >= FEWEST else WITHIN["assumed"]
    low, high = min(least, worst / within), max(most, worst * within)
    if path in BETWEEN and not all(alike and _apart(p, *alike) <= FAR for p, _ in near):
        every = _all_ends(_in_groups(known, alike, cores, GROUPS), path)
        best = min(every) / WITHIN["assumed"], max(every) * WITHIN["assumed"]
        low, high = (min(low, best[0]), high) if worse is max else (low, max(high, best[1]))
    return Spread(low, worst, high, len(found), median(found), least, most)


def groups(fabric: str | None) -> tuple[tuple[str, ...], ...]:
    """The groups of fabrics to which a network may belong."""
    return tuple(group for group in GROUPS if fabric in group) or GROUPS


def _in_groups(
    known: list[tuple[Profile, float]], alike: tuple[str, float] | None, cores: float | None,
    of: tuple[tuple[str, ...], ...],
) -> list[tuple[Profile, float]]:  # fmt: skip
    """The profiles that are comparable, in any of the groups of fabrics; without groups, of all."""
    parts = [[k for k in known if _fabric(k[0]) in group] or known for group in of] or [known]
    found = {one.name: (one, v) for part in parts for one, v in _comparable(part, alike, cores)}
    return list(found.values())


def _fabric(one: Profile) -> str | None:
    return one.values[FABRIC].value if FABRIC in one.values else None


def _all_ends(near: list[tuple[Profile, float]], path: str) -> list[float]:
    """The limits of values, or of their ratios, in their profiles."""
    return [v * end / p.values[path].value for p, v in near for end in _ends(p, path) if v]


def _comparable(
    known: list[tuple[Profile, float]], alike: tuple[str, float] | None, cores: float | None
) -> list[tuple[Profile, float]]:
    """The profiles that are comparable to the machine."""
    if alike is not None:
        path, value = alike
        near = [k for k in known if path in k[0].values and _apart(k[0], path, value) <= FAR]
        known = near or known
    if cores is None:
        return known
    order = sorted(known, key=lambda k: _apart(k[0], "node.cores", cores))
    sized = [k for k in order if _apart(k[0], "node.cores", cores) <= CORES]
    return sized if len(sized) >= FEWEST else order[:FEWEST]


def _apart(one: Profile, path: str, value: float) -> float:
    """How many times as much, or as little, a profile has at `path`; without limit where it is unknown."""
    there = one.values.get(path)
    return float("inf") if there is None else max(there.value / value, value / there.value)


def profile(name: str) -> Profile:
    """A profile of the project, read once."""
    return next(p for p in _profiles(folder(), tuple(names())) if p.name == name)


def limits(path: str) -> tuple[float, float] | None:
    """The lowest and highest ends of the intervals of all profiles; None if none knows the value."""
    known = [quantity(p.values[path]) for p, _ in _known(folder(), tuple(names()), path)]
    return (min(q.low for q in known), max(q.high for q in known)) if known else None


def known_range(path: str, per: str | None = None) -> tuple[float, float] | None:
    """The lowest and highest value, or its ratio to the one at `per`, of all profiles; None if unknown."""
    found = [value for _, value in _known(folder(), tuple(names()), path, per)]
    return (min(found), max(found)) if found else None


def most(path: str) -> float | None:
    """The highest value that any profile knows, the virtual machine's included; None if none does."""
    return max((v for _, v in _known(folder(), tuple(names()), path)), default=None)


def _ends(one: Profile, path: str) -> tuple[float, float]:
    """The interval of a value in its profile, or the value twice."""
    value = one.values[path]
    return value.interval or (value.value, value.value)


@lru_cache(maxsize=200)
def _known(
    where: Path, all_names: tuple[str, ...], path: str, per: str | None = None
) -> list[tuple[Profile, float]]:
    """Profiles that know the value, each group of values once, with the value or its ratio."""
    found: dict[str, tuple[Profile, float]] = {}
    group = path.partition(".")[0]
    for one in _profiles(where, all_names):
        basis = at(one.values, per) if per else 1.0
        if path in one.values and basis is not None:
            ratio = one.values[path].value / basis
            found.setdefault(repr(one.content[group]), (one, ratio))
    return list(found.values())


def at(values: dict[str, Value], paths: str) -> float | None:
    """The number at a path, or at 'a/b' that at a over that at b; None where one is unknown."""
    found = [values[path].value if path in values else None for path in paths.split("/")]
    return None if None in found else found[0] / (found[1] if len(found) > 1 else 1)


@lru_cache(maxsize=4)
def _profiles(where: Path, known: tuple[str, ...]) -> list[Profile]:
    return [load(where / f"{name}.yaml") for name in known]
