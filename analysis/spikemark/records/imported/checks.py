"""Checks of imported times for impossible and odd values, and how far derived waiting can be trusted."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.words import change, counted, number

from . import timeline
from .found import COMMUNICATE, COMPUTE, SPIKES, TIMES, WAIT, Columns
from .join import LARGEST

BEYOND = 1.05  # waiting over the time that has to hold it, from which something is wrong
LONG, EARLY = (
    3.0,
    0.5,
)  # long first cycles: over the median of all; the part of the run they are looked for in
SHORTEST_S, LONGEST_S = 1e-7, 10.0  # a mean cycle beyond these is in another unit than was said
FIT = 0.5  # of the meetings, at which the times of ranks have to fit together
UNIT = 3.0  # factor between what compute and communication say of waiting, from which units differ
SURE = 0.3  # correlation from which the two tell of the same waiting


def check_possible(name: str, times: np.ndarray, where: str = "") -> None:
    """Refuse a column [rank, cycle] that holds anything but numbers from 0 to LARGEST.

    Raises BadInput, which begins with `where`, with the first that is not.
    """
    for rank, row in enumerate(times):
        wrong = ~((row >= 0) & (row <= LARGEST))  # also true for NaN
        if wrong.any():
            cycle, unit = int(wrong.argmax()), "" if name == SPIKES else " s"
            most = f" and <= {LARGEST:g}" if row[cycle] > LARGEST else ""
            raise BadInput(
                f"{where}{name}: {row[cycle]:g}{unit} of rank {rank} in cycle {cycle}; allowed is a number"
                f" >= 0{most}"
            )


def examine(columns: Columns, every: int = 1, missing: tuple[int, ...] = ()) -> list[str]:
    """Warnings about columns [rank, cycle] in s, one line each; all ranks meet in every `every`-th cycle.

    `missing`: ranks of the program that the columns lack. Raises BadInput for what is impossible.
    """
    for name, times in columns.items():
        check_possible(name, times)
    compute, communicate, wait = (columns.get(name) for name in TIMES)
    if wait is not None and communicate is not None and wait.sum() > BEYOND * communicate.sum():
        raise BadInput(
            f"wait: {wait.mean():.3g} s per cycle, more than all communication, {communicate.mean():.3g} s;"
            " allowed: communicate includes wait"
        )
    found = [*_swapped(*compute.shape), *_first(compute), *_unit(columns)]
    steps = {name: lump(columns[name], every) for name in TIMES if name in columns}
    if steps[COMPUTE].shape[1] and len(compute) > 1:
        found += _fits(steps) or _lines_up(steps)
        if missing:
            found.append(_lacks(steps[COMPUTE], missing, wait is not None))
    return found


def _swapped(ranks: int, cycles: int) -> list[str]:
    """Asks whether there should be more ranks than cycles."""
    sizes = f"{counted(ranks, 'rank')} x {counted(cycles, 'cycle')}"
    return [f"{sizes}: are rows and columns swapped? needed: [rank, cycle]"] * (ranks > cycles > 1)


def _unit(columns: Columns) -> list[str]:
    cycle = float(columns[COMPUTE].mean()) + (
        float(columns[COMMUNICATE].mean()) if COMMUNICATE in columns else 0
    )
    if SHORTEST_S <= cycle <= LONGEST_S:
        return []
    return [f"a cycle takes {number(cycle)} s on average: is the unit right?"]


def _fits(steps: Columns) -> list[str]:
    """Says whether there is less waiting than the compute times imply."""
    compute, communicate, wait = (steps.get(name) for name in TIMES)
    implied = float((compute.max(axis=0) - compute.mean(axis=0)).mean())
    for name, timed in ((WAIT, wait), (COMMUNICATE, communicate)):
        if timed is not None and implied > BEYOND * float(timed.mean()):
            return [
                f"compute times imply waiting of {implied:.3g} s per cycle, {name} has"
                f" {timed.mean():.3g} s: ranks do not meet in every cycle, or units or cycles do not match"
            ]
    return []


def _lines_up(steps: Columns) -> list[str]:
    """Says whether the times of the ranks do not fit together, and what may be wrong with them.

    In one unit and lined up, a rank communicates as much longer than the others as it computes less. Compared
    are differences from the mean over ranks, and, to find cycles that are shifted against each other, how
    these change from cycle to cycle.
    """
    compute, communicate = steps[COMPUTE], steps.get(COMMUNICATE)
    if communicate is None or timeline.fitting(compute, communicate) >= FIT:
        return []
    less, more = compute.mean(axis=0) - compute, communicate - communicate.mean(axis=0)
    spread = float(np.square(less).sum())
    slope = float((less * more).sum()) / spread if spread else 1.0
    if _correlation(less, more) >= SURE and not 1 / UNIT < slope < UNIT:
        return [
            f"communicate tells of {number(slope)} times as much waiting as compute: their units do not"
            " match, or a part of the computing is not in compute"
        ]
    moved, met = np.diff(less, axis=1), np.diff(more, axis=1)
    each = np.array([_correlation(a, b) for a, b in zip(moved, met, strict=True)])
    shifted = np.flatnonzero(each < each.max() / 2)
    if 0 < shifted.size < len(each) / 2:
        does = "does" if shifted.size == 1 else "do"
        return [
            f"{counted(shifted.size, 'rank')}, such as {shifted[0]}, {does} not communicate longer after"
            " computing less: the cycles do not line up with those of the others"
        ]
    return [
        "ranks leave calls before the last rank has come: the cycles of different ranks do not line up, ranks"
        " do not meet in every cycle, or a part of the cycle is in no column"
    ]


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    size = float(np.sqrt(np.square(a).sum(dtype=np.float64) * np.square(b).sum(dtype=np.float64)))
    return float((a * b).sum(dtype=np.float64)) / size if size else 1.0


def _lacks(compute: np.ndarray, missing: tuple[int, ...], timed: bool) -> str:
    """What missing ranks mean for waiting that is derived."""
    which = f"{'rank' if len(missing) == 1 else 'ranks'} {', '.join(map(str, missing[:5]))}"
    which += (
        " and more are missing"
        if len(missing) > 5
        else " is missing"
        if len(missing) == 1
        else " are missing"
    )
    if timed:
        return f"{which}: means are those of the other ranks"
    if len(compute) < 3:
        return f"{which}: how long the others waited for it is not known"
    low, high = leaving_one_out(compute)
    return (
        f"{which}: derived waiting does not know of it; without any one of the others it would change by"
        f" {change(1 + low)} to {change(1 + high)}. Waiting for a missing rank counts as exchange"
    )


def leaving_one_out(compute: np.ndarray) -> tuple[float, float]:
    """The least and the largest relative change of derived waiting if one rank [rank, cycle] is left out."""
    ranks = len(compute)
    slowest = compute.argmax(axis=0)
    second, longest = np.partition(compute, ranks - 2, axis=0)[-2:]
    lost = np.bincount(slowest, (longest - second).astype(np.float64), ranks) / compute.shape[1]
    means = compute.mean(axis=1, dtype=np.float64)
    whole = float(longest.mean(dtype=np.float64) - means.mean())
    if not whole > 0:
        return 0.0, 0.0
    changed = (longest.mean(dtype=np.float64) - lost - (means.sum() - means) / (ranks - 1)) / whole - 1
    return float(changed.min()), float(changed.max())


def _first(compute: np.ndarray) -> list[str]:
    """Says whether the first cycles are far longer than the others."""
    slowest = compute.max(axis=0)
    usual = float(np.median(slowest))
    usual_ones = np.flatnonzero(slowest[: max(1, int(EARLY * len(slowest)))] <= LONG * usual)
    first = int(usual_ones[0]) if len(usual_ones) else 0
    if not first:
        return []
    words = "first cycle takes" if first == 1 else f"first {first} cycles take"
    return [
        f"the {words} more than {LONG:g} times as long as usual ({slowest[0] / usual:.3g} times in cycle 0);"
        f" --skip {first} leaves out what starts the program"
    ]
