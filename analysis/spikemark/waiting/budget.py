"""Why ranks waited in a run: lasting differences, jitter, drift, rare long cycles, and the rest.

Waiting is E[max over ranks] - mean, and maxima do not add: jitter hides part of a lasting difference. So each
part is what it adds to the waiting when it joins the others, averaged over all orders of joining (Shapley
1953); no order is preferred, and the parts add up to what the compute times imply. A coalition of parts is
the measured trace with the other parts scaled to 0 (`split`). What was measured beyond that (a late wake-up,
the barrier itself) is `barrier`. What all ranks share makes nobody wait, but costs time: its mean beyond its
median. Transport is the exchange of data, which is timed separately.

Intervals: a part is the mean of a series over meetings, which includes how each meeting moves the rank
effects, with the error of `series`; the part is evaluated again at the ends of the interval of the drift
share.
"""

from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np

from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.record import Run

from . import series
from .causes import Causes, causes
from .node_share import BetweenNodes, between_nodes
from .observed import Observed, observed
from .slowest import Slowest, slowest
from .split import Split, added_up

USUAL_RATIO = 10  # D if the run does not state one
GIVEN, OF_RUN, DEFAULT = "given", "of the run", "default"  # where D comes from
UNTIMED = "waiting was not timed, so nothing is known beyond what the compute times explain"
PARTS = ("persistent", "jitter", "drift", "rare")
COALITIONS = [frozenset(c) for n in range(1, len(PARTS) + 1) for c in combinations(PARTS, n)]


@dataclass(frozen=True)
class Budget:
    """Where the waiting of a run comes from: seconds over the run, means over ranks.

    The parts of the waiting add up to `waiting_s`; common mode and transport are beside them.
    """

    waiting_s: float
    waiting_kind: str  # measured; modelled where it was not timed
    waiting_limits_s: tuple[float, float] | None  # where it was not timed; None if nothing limits it, too
    parts: dict[str, Quantity]  # PARTS, and barrier, which is missing where waiting was not timed
    common_mode: Quantity  # time it costs; it makes nobody wait
    transport: Quantity | None  # None where exchanges were not timed
    efficiency: dict[str, float] | None  # of POP; None as before
    delay_ratio: int  # D that separates jitter from drift, in cycles
    delay_ratio_from: str  # GIVEN, OF_RUN or DEFAULT
    drift_share: float  # of the variance of means over D cycles
    causes: Causes | None = None  # of the rare long cycles; None where the kernel's counts were not kept
    of_record: bool = False  # of a run of ours, which could keep the kernel's counts
    warnings: tuple[str, ...] = ()
    nodes: BetweenNodes | None = None  # None where all ranks are on one node, or nobody knows
    slowest: Slowest | None = None  # None where nobody waits

    @property
    def waiting(self) -> Quantity:
        """Waiting in s over the run; with its limits if it was not timed."""
        return Quantity(self.waiting_s, *(self.waiting_limits_s or ()), unit="s", kind=self.waiting_kind)


def budget(given, delay_ratio: int | None = None) -> Budget:
    """The budget of a `Run`, of compute times [rank, cycle] in s, or of an `Observed`.

    `delay_ratio` is the D that separates jitter from drift: that of the run's description if the run has two
    windows of it, else 10; it is rounded up to a multiple of the cycles between two meetings. Raises BadInput
    as `observed` does, and for less than two windows.
    """
    run = observed(given)
    of_run, origin = separating(run.delay_ratio, run.compute.shape[1]), GIVEN
    if delay_ratio is None:
        origin = OF_RUN if of_run else DEFAULT
    wanted = delay_ratio or of_run or USUAL_RATIO
    window = max(-(-wanted // run.window) * run.window, 2)
    split = Split(run.compute, window)
    shares = split.shares()
    found, last = _coalitions(run, split, shares)
    slopes = _slopes(split, shares[0], last)
    courses = run.per_meeting(split.regular - split.shared)
    parts = {}
    for name in PARTS:
        value, low, high = (_joining(name, {c: w.mean() for c, w in found[x].items()}) for x in shares)
        course = _joining(name, found[shares[0]])
        known = series.mean(course + _centred(_joining(name, slopes) @ courses))
        parts[name] = _part(known, run.meetings, [low - value, high - value], True)
    implied = found[shares[0]][frozenset(PARTS)]
    measured = implied if run.waiting is None else run.waiting
    timed = run.waiting is not None and not (run.kind == "modelled" and np.allclose(measured, implied, 1e-4))
    parts["barrier"] = missing(UNTIMED, "s", "not timed")
    less, more = run.doubt_s or (0.0, 0.0)
    if timed:
        parts["barrier"] = _part(series.mean(measured - implied), run.meetings, [-less, more])
    transport = None
    if run.exchange is not None:
        transport = _part(series.mean(run.exchange), run.meetings, [-more, less], kind=run.kind)
    usual = {members: float(waiting.mean()) for members, waiting in found[shares[0]].items()}

    def part_of(effects: np.ndarray) -> float:
        return _within_persistent(run, split, shares[0], usual, effects)

    waiting = Quantity(float(measured.sum()), unit="s", kind="modelled" if run.waiting is None else run.kind)
    if less or more:
        waiting = waiting.widened(less * run.meetings, more * run.meetings)
    persistent = (split.components, run.nodes, parts["persistent"], waiting, part_of)
    return Budget(
        waiting_s=waiting.value,
        waiting_kind=waiting.kind,
        waiting_limits_s=waiting.interval,
        parts=parts,
        common_mode=_common_mode(split),
        transport=transport,
        efficiency=None if run.exchange is None else efficiency(run),
        delay_ratio=window,
        delay_ratio_from=origin,
        drift_share=shares[0],
        causes=causes(given, split.rare) if isinstance(given, Run) else None,
        of_record=isinstance(given, Run),
        warnings=run.warnings,
        nodes=between_nodes(*persistent),
        slowest=slowest(*persistent),
    )


def separating(delay_ratio: int, cycles: int) -> int | None:
    """The D of a run, where it can separate jitter from drift: two windows of several cycles."""
    return delay_ratio if 1 < delay_ratio <= cycles // 2 else None


def efficiency(run: Observed) -> dict[str, float]:
    """The efficiencies of POP (Performance Optimisation and Productivity, its standard metrics), 0 to 1.

    Load balance: mean over maximum of the ranks' computing. Serialisation: that maximum over the run time on
    an ideal network that takes no time, which here is the sum of the slowest ranks' times. Transfer: that run
    time over the measured one. Their product is the parallel efficiency, mean computing over run time.
    """
    totals = run.compute.sum(axis=1, dtype=np.float64)
    ideal = float(run.per_meeting(run.compute).max(axis=0).sum(dtype=np.float64))
    runtime = float(totals.mean() + run.waiting.sum() + run.exchange.sum())
    return {
        "load_balance": float(totals.mean() / totals.max()),
        "serialisation": float(totals.max()) / ideal,
        "transfer": ideal / runtime,
        "parallel": float(totals.mean()) / runtime,
    }


def _coalitions(run: Observed, split: Split, shares: tuple[float, ...]) -> tuple[dict, dict]:
    """The waiting [meeting] for each drift share and coalition, and how often each rank is the last.

    The latter is [rank] for each coalition, with the first share.
    """
    pieces = tuple(run.per_meeting(piece) for piece in split.pieces)
    found, known, last = {share: {} for share in shares}, {}, {}
    for members in COALITIONS:
        scales = [float(part in members) for part in PARTS]
        levels = scales[0] * run.window * split.effects
        for share in shares:
            weights = split.weights(*scales, share)
            if (members, weights) not in known:  # not all depend on the share
                times = added_up(levels, weights, pieces)
                known[members, weights] = times.max(axis=0).astype(np.float64)
                if members not in last:
                    slowest = np.argmax(times, axis=0)
                    last[members] = np.bincount(slowest, minlength=len(times)) / run.meetings
            found[share][members] = known[members, weights]
    return found, last


def _within_persistent(run: Observed, split: Split, share: float, usual: dict, effects: np.ndarray) -> float:
    """What `effects` [rank] add as a part of `persistent`, in s per meeting; see `node_share`.

    `usual` is the waiting of each coalition of PARTS in s per meeting.
    """
    pieces, total = tuple(run.per_meeting(piece) for piece in split.pieces), 0.0
    whole = float(np.square(split.effects).sum())

    def waiting(others: frozenset, levels: np.ndarray) -> float:
        held = float(np.square(levels).sum()) / whole if whole > 0 else 0.0
        scales = [min(held, 1.0) ** 0.5, *(float(part in others) for part in PARTS[1:])]
        times = added_up(run.window * levels, split.weights(*scales, share), pieces)
        return float(times.max(axis=0).mean(dtype=np.float64))

    for others in [frozenset(), *(c for c in COALITIONS if "persistent" not in c)]:
        weight = factorial(len(others)) * factorial(len(PARTS) - 1 - len(others)) / factorial(len(PARTS))
        before, after = usual.get(others, 0.0), usual[others | {"persistent"}]
        alone, rest = waiting(others, effects), waiting(others, split.effects - effects)
        total += weight * (alone - before + after - rest) / 2
    return total


def _slopes(split: Split, share: float, found: dict) -> dict:
    """How much the waiting of each coalition grows with the effect of each rank, [rank].

    The effect may be in the coalition, and it is taken out of e, which is scaled with the windows.
    """
    slopes = {}
    for members, last in found.items():
        persistent, jitter, drift, _ = (float(part in members) for part in PARTS)
        if members == {"persistent"} and not split.effects.any():
            last = np.eye(len(last))[np.argmax(split.components.rank_means)]
        slopes[members] = (last - 1 / len(last)) * (
            persistent - split.slow_factor(persistent, jitter, drift, share)
        )
    return slopes


def _joining(name: str, values: dict):
    """What the part `name` adds to `values` when it joins a coalition, as a mean over the orders."""
    total = 0.0
    for members, value in values.items():
        others = len(members) - 1 if name in members else len(members)
        weight = factorial(others) * factorial(len(PARTS) - 1 - others) / factorial(len(PARTS))
        total = total + (weight if name in members else -weight) * value
    return total


def _part(
    mean: series.Mean, meetings: int, shifts=(0.0,), never_negative=False, kind: str = "modelled"
) -> Quantity:
    """The total; its interval is that of the mean, widened by `shifts`, and not below 0 unless the value is.

    The two widths are added, not their squares: without drift, the end of the drift share's interval is the
    truth.
    """
    low, high = mean.interval()
    low, high = low + min(0.0, *shifts), high + max(0.0, *shifts)
    if never_negative or mean.value >= 0:
        low = max(low, min(mean.value, 0.0))
    return Quantity(mean.value, float(low), float(high), "s", kind).times(meetings)


def _common_mode(split: Split) -> Quantity:
    """Mean minus median of what all ranks share; 0 if independent ranks would explain as much."""
    parts, deviation = split.components, split.shared - split.components.mean
    variance, cycles = float(deviation.var()), len(deviation)
    if not variance > 0:
        return Quantity(0.0, 0.0, 0.0, "s", "modelled")
    course = parts.common_course
    low, median, high = np.quantile(course, [0.4, 0.5, 0.6])
    doubt = (parts.shared.interval()[1] - parts.shared.value) / variance * abs(float(np.median(deviation)))
    influence = course - np.sign(course - median) * (high - low) / 0.4
    known = series.mean(_centred(influence) + course.mean() - median)
    return _part(known, cycles, [-doubt, doubt])


def _centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean()
