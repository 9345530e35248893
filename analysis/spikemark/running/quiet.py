"""Finds out from /proc/stat how many cores other processes keep busy."""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Conditions:
    """When a machine counts as quiet and a run as undisturbed."""

    foreign_limit: float = 0.1  #: cores, as in the warning of the mini-app
    window_s: float = 1.0  #: how long the machine is watched before a run
    patience_s: float = 30.0  #: how long a run waits for a quiet window
    attempts: int = 3  #: number of attempts before the least disturbed one counts


def busy_s(stat: Path = STAT) -> float | None:
    """Busy CPU time of all cores since boot, s; None if the system does not report it.

    Time stolen by a hypervisor counts: a run loses it as it loses time given to others.

    Example:
        >>> busy_s(Path("nowhere")) is None
        True
    """
    try:
        name, *ticks = stat.read_text(encoding="utf-8").split("\n", 1)[0].split()
        user, nice, system, _, _, irq, softirq, steal = (int(tick) for tick in ticks[:8])
    except (OSError, ValueError):
        return None
    if name != "cpu":
        return None
    busy_ticks = user + nice + system + irq + softirq + steal
    return busy_ticks / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """CPU time of this process and of all children that were waited for, s.

    Example:
        >>> own_s() >= 0
        True
    """
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def watch(busy: Callable[[], float | None] = busy_s) -> Callable[[], float | None]:
    """A function that gives the mean number of cores that others have kept busy since.

    It returns None where that is unknown.

    Example:
        >>> readings = iter([100.0, 100.0])  # busy CPU time, in s
        >>> foreign_load = watch(busy=lambda: next(readings))
        >>> foreign_load()
        0.0
    """
    busy_before = busy()
    own_before = own_s()
    began = time.monotonic()

    def foreign_load() -> float | None:
        busy_now = busy()
        wall = time.monotonic() - began
        if busy_before is None or busy_now is None or wall <= 0:
            return None
        foreign = (busy_now - busy_before) - (own_s() - own_before)
        return max(0.0, foreign / wall)

    return foreign_load


def wait(conditions: Conditions, busy: Callable[[], float | None] = busy_s) -> float | None:
    """Waits for a quiet window, or until patience ends.

    Returns the foreign load in the last window, in cores; None at once where it is unknown.

    Example:
        >>> wait(Conditions(), busy=lambda: None) is None  # the system does not report it
        True
    """
    began = time.monotonic()
    while busy() is not None:
        foreign_load = watch(busy)
        time.sleep(conditions.window_s)
        load = foreign_load()
        quiet = load is not None and load <= conditions.foreign_limit
        if quiet or time.monotonic() - began >= conditions.patience_s:
            return load
    return None
