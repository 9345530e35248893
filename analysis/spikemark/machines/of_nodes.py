"""Rules of filling.py for a node: clock, memory, caches, power and kernel times."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from .assuming import Assumed, Known, between, compared, rounded
from .inputs import WITHIN
from .profile import Profile, Value

PEAK, TDP = "node.bandwidth_peak", "power.tdp"
SYNAPSE = 8  # bytes: the synapse is read, its cell of two bytes read and written


def clock_and_memory(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """Clock, line of the caches, memory and its bandwidth by cores; lower is worse, but for lines."""
    yield from compared(known, "node.clock", min)
    for made in compared(known, "node.line", max):
        yield replace(made, value=round(made.value))
    yield from compared(known, "node.memory", min, "node.cores")
    alone, cores = known.number("node.bandwidth_core"), known.number("node.cores")
    peak = known.number(PEAK)
    for made in compared(known, "node.bandwidth", min, PEAK if peak else "node.cores"):
        whole = between(made, alone, peak, "at least that of one core, at most the peak")
        low, high = whole.interval
        whole = replace(whole, interval=(low, min(high, peak or high)))
        yield whole
        known = known.also(whole)
    whole = known.number("node.bandwidth")
    share = whole / cores if whole and cores else None
    for made in compared(known, "node.bandwidth_core", min):
        yield between(made, share, whole, "between a core's share of that of the node and all of it")


def power(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """Idle power, and power of a busy core, from the TDP; nothing without it."""
    yield from compared(known, "power.idle", max, TDP)
    yield from compared(known, "power.core", max, f"{TDP}/node.cores")


def caches(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """A smaller cache is worse, and so is one that more cores share. An L2 that is the last is l3.

    Cores that share a slice are in proportion to it, since its share of a core is what counts.
    """
    cores, last = known.number("node.cores"), known.number("node.l3")
    for found in compared(known, "node.l3_cores", max, "node.l3" if last else None):
        value, low, high = (int(min(max(1, x), cores or x)) for x in (found.value, *found.interval))
        sharers = replace(found, value=value, interval=(low, high))
        yield sharers
        known = known.also(sharers)
    for made in compared(known, "node.l3", min, "node.l3_cores"):
        yield made
        known = known.also(made)
    last, sharing = known.number("node.l3"), known.number("node.l3_cores")
    own = last / sharing if last and sharing else None
    yield from compared(known, "node.l2", min, implied=own, why="a core's share of the last cache")


def kernels(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """Times of the calibrated profile by clock and memory, and by the kernels that are known."""
    if reference is None or reference.name == known.name:
        return
    times = [(p, *_kernel(known, reference, p)) for p in reference.values if p.startswith("kernels.")]
    longer = [known.number(path) / value for path, value, _ in times if known.number(path) and value]
    slower = max(1.0, median(longer)) if longer else 1.0
    beside = f", times {slower:.3g}, as the kernels that are known" if slower > 1 else ""
    for path, value, why in times:
        middle = rounded(value * slower)
        yield Assumed(path, middle, why + beside, _limits(middle, reference.get(path)))


def _limits(middle: float, there: Value) -> tuple[float, float]:
    """The interval of an assumed kernel time: no narrower than where it was measured."""
    low, high = there.interval or (there.value, there.value)
    within = WITHIN["assumed"]
    if not there.value:
        return min(middle, low), max(middle, high)
    return middle * min(1 / within, low / there.value), middle * max(within, high / there.value)


def _kernel(known: Known, reference: Profile, path: str) -> tuple[float, str]:
    """A kernel's time on the machine by its clock and its memory, and why."""
    value, name = reference.get(path).value, path.split(".", 2)[2]
    bandwidth = "node.bandwidth_core" if ".one_core." in path else "node.bandwidth"
    clock = _clock(known, reference)
    if name == "t_first":
        line = _memory_ns(known, bandwidth, known.number("node.line"))
        longer = f"a line of memory at the core's share of bandwidth; {value:g} ns on {reference.name}"
        return (line, longer) if line > value else (value, f"as {reference.name}")
    synapse = _memory_ns(known, bandwidth, SYNAPSE)
    if name == "t_next" and synapse > value * clock:
        why = f"{SYNAPSE} bytes at the core's share of bandwidth; {value:g} ns on {reference.name}"
        return synapse, why
    return value * clock, f"{value:g} ns on {reference.name} by the ratio of clocks"


def _clock(known: Known, reference: Profile) -> float:
    """How many times slower the machine is by its clock; a higher clock than was tried gains nothing."""
    here, there = known.number("node.clock"), reference.get("node.clock")
    return max(1.0, there.value / here) if here and there else 1.0


def _memory_ns(known: Known, path: str, size: float | None) -> float:
    """Nanoseconds that the memory takes for so many bytes at a busy core's share; 0 where unknown."""
    bandwidth = known.number(path)
    cores = known.number("node.cores") if path == "node.bandwidth" else 1
    return size * cores / bandwidth if bandwidth and cores and size else 0.0
