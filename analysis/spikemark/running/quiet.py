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

    foreign_limit: float = 0.1  # cores, as in the warning of the mini-app
    window_s: float = 1.0  # how long the machine is watched before a run
    patience_s: float = 30.0  # how long a run waits for a quiet window
    attempts: int = 3  # number of attempts before the least disturbed one is kept


def busy_s(stat: Path = STAT) -> float | None:
    """Busy CPU time of all cores since boot, s; None if the system does not report it.

    Time stolen by a hypervisor counts: a run loses it as it loses time given to others.
    """
    try:
        name, *ticks = stat.read_text().split("\n", 1)[0].split()
        user, nice, system, _, _, irq, softirq, steal = (int(n) for n in ticks[:8])
    except (OSError, ValueError):
        return None
    if name != "cpu":
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """CPU time of this process and of all children that were waited for, s."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def watch(busy: Callable[[], float | None] = busy_s) -> Callable[[], float | None]:
    """A function that gives the mean number of cores that others have kept busy since; None where unknown."""
    before, own, began = busy(), own_s(), time.monotonic()

    def foreign_load() -> float | None:
        now, wall = busy(), time.monotonic() - began
        if before is None or now is None or wall <= 0:
            return None
        return max(0.0, ((now - before) - (own_s() - own)) / wall)

    return foreign_load


def wait(conditions: Conditions, busy: Callable[[], float | None] = busy_s) -> float | None:
    """Waits for a quiet window, or until patience ends, and returns the foreign load in the last window.

    Returns None at once where the load is unknown.
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
