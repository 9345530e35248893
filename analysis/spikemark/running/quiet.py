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


@dataclass(frozen=True)
class Wait:
    """How waiting ended: the load in the last window (None if unknown), and whether it was quiet."""

    foreign_load: float | None
    waited_s: float
    quiet: bool


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


class Watch:
    """Measures the foreign load from its creation to the call of `foreign_load()`."""

    def __init__(self, busy: Callable[[], float | None] = busy_s):
        self._busy = busy
        self._start = busy(), own_s(), time.monotonic()

    def foreign_load(self) -> float | None:
        """The mean number of cores that others have kept busy so far; None where unknown."""
        busy, own, began = self._start
        now, wall = self._busy(), time.monotonic() - began
        if busy is None or now is None or wall <= 0:
            return None
        return max(0.0, ((now - busy) - (own_s() - own)) / wall)


def wait(conditions: Conditions, busy: Callable[[], float | None] = busy_s) -> Wait:
    """Waits for a quiet window, or until patience ends; returns at once where the load is unknown."""
    began = time.monotonic()
    while True:
        watch = Watch(busy)
        if busy() is None:
            return Wait(None, 0.0, False)
        time.sleep(conditions.window_s)
        load, waited = watch.foreign_load(), time.monotonic() - began
        quiet = load is not None and load <= conditions.foreign_limit
        if quiet or waited >= conditions.patience_s:
            return Wait(load, waited, quiet)
