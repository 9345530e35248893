"""Whether others use the machine: cores kept busy by foreign processes, from /proc/stat."""

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

    foreign_limit: float = 0.1  # cores; as in the mini-app's own warning
    window_s: float = 1.0  # looked at before a run
    patience_s: float = 30.0  # waited for a quiet window before a run
    attempts: int = 3  # of one trial, before the least disturbed is kept


@dataclass(frozen=True)
class Wait:
    """How waiting ended: the load in the last window (None: unknown), and whether that was quiet."""

    foreign_load: float | None
    waited_s: float
    quiet: bool


def busy_s(stat: Path = STAT) -> float | None:
    """CPU time since boot that was not idle, of all cores, s; None where the system does not tell.

    Time stolen by a hypervisor counts, as it is lost to a run as much as time given to others.
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
    """CPU time of this process and of the children it has waited for, with theirs, s."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


class Watch:
    """Measures the foreign load from its making to `foreign_load()`."""

    def __init__(self, busy: Callable[[], float | None] = busy_s):
        self._busy = busy
        self._start = busy(), own_s(), time.monotonic()

    def foreign_load(self) -> float | None:
        """Cores that others kept busy so far, as a mean; None where unknown."""
        busy, own, began = self._start
        now, wall = self._busy(), time.monotonic() - began
        if busy is None or now is None or wall <= 0:
            return None
        return max(0.0, ((now - busy) - (own_s() - own)) / wall)


def wait(conditions: Conditions, busy: Callable[[], float | None] = busy_s) -> Wait:
    """Return after a quiet window, or when patience ends; at once where the load is unknown."""
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
