"""The ladder of meetings: what the waiting of a run would be if its ranks met ever more rarely.

W(k) is the waiting, per cycle, if ranks met every k cycles, by replay of the run's own compute
times. imbalance = W(all cycles as one window), drift = W(D) - W(all), jitter = W(1) - W(D), barrier
= measured - W(1). The parts add up to the measured waiting exactly, and a run that meets every D
cycles refutes jitter or does not. For a run that meets every P cycles, W(P) takes the place of
W(1). Of independent cycle times, drift is the jitter that D cycles leave, 1 / sqrt(D) of it;
`drift_share` says how much of it is slow.

Long cycles are those beyond the 99.9 % quantile of their rank, and interruptions, which may be more
(see `interruption_limit`). Cycle times are compared with the usual ones (median) at the same place
of a window of D cycles, so that planned work in every D-th cycle is not long. What long cycles add
is the difference to the same ladder with cycle times cut off there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole
from spikemark.models.statistics import lump, waited
from spikemark.quantities.quantity import LEVEL, Quantity, missing
from spikemark.quantities.quotient import quotient

from .another_run import OUTLIER, SD_OF_MEDIAN_DEVIATION
from .bootstrap import Draws, means
from .interruptions import interruption_limit, put_back, usual, without
from .replay import CHANCE
from .spells import Spell, spells
from .trace import CycleTrace

#: The parts of the waiting, and what each is, given D.
MEANS = {
    "imbalance": "the same ranks are always late",
    "drift": "left when ranks meet every {d} cycles",
    "jitter": "averages out over {d} cycles",
    "barrier": "beyond what computing explains",
}
PARTS_OF_TIME = tuple(MEANS)
RUNGS = PARTS_OF_TIME[:-1]  #: the parts that follow from compute times alone
LONG_QUANTILE = 0.999
#: An event is named that takes so many usual cycles, and this share of all waiting.
MIN_CYCLES_OF_EVENT = 20
MIN_SHARE_OF_EVENT = 0.1
#: Cycles that are held in double precision at a time.
CYCLES_OF_BLOCK = 512
#: Ranks are as slow as the slowest if the next faster one is so many times as far from them as they
#: are from each other.
MIN_GAP = 3.0
#: A rank that is an outlier is slow if it exceeds the middle of all by so many standard errors.
SURE_ERRORS = 5.0
#: Stretches of a run. A rank changed in its course if means before and after differ by so many
#: standard errors, and by this share of a cycle.
STRETCHES = 16
SURE_CHANGE = 8.0
MIN_CHANGE = 0.01
SMALLEST_S = 1e-300  #: for a time of 0, by which nothing can be divided
UNTIMED_WAITING = "waiting was not timed, so nothing is known beyond what the compute times explain"


@dataclass(frozen=True)
class SlowestRank:
    """The ranks that are surely slow, or else the one that computes longest."""

    rank: int  #: as the run calls it
    also: list[int]  #: others that are surely slow; what follows is then about all of them
    node: str | None  #: where there are several
    longer: Quantity  #: by which share it exceeds the mean of the others
    longer_of_each: list[Quantity]  #: the same of `rank` and of each of `also`
    share: Quantity  #: of the waiting would go if it did not
    change: Quantity  #: run time if it did not, over that of the run
    others: int  #: how many other ranks there are
    certain: bool  #: it exceeds the others by more than chance
    throughout: bool  #: and does so in the whole run, else in a part of it
    besides_spells: bool  #: it is not in its slow spells alone that it is slow
    #: How many times as many neurons it has as the mean of the others, and synaptic events; None
    #: where nobody knows.
    neurons: float | None = None
    events: float | None = None


@dataclass(frozen=True)
class LongestEvent:
    """The cycle in which one event made ranks wait longest, such as a rank that was stopped."""

    phase: str  #: "computing", or between the computing of all ranks: "barrier" or "exchange"
    rank: int | None  #: that computed so long; None between the computing of all ranks
    node: str | None
    cycle: int
    seconds: float  #: beyond the usual
    share: float  #: of all waiting, or of all exchanging


@dataclass(frozen=True)
class SlowSpell:
    """Cycles in which a rank was slower than in the rest of the run."""

    rank: int  #: as the run calls it
    node: str | None  #: where there are several
    first: int  #: cycle
    last: int  #: cycle
    faster_before: bool  #: else the run begins with it
    faster_after: bool  #: else the run ends with it
    longer: float  #: by which share a cycle was longer
    share: float  #: of all waiting
    change: float  #: run time without it, over that of the run


@dataclass(frozen=True)
class Ladder:
    """Where the waiting of a run comes from: seconds per cycle, means over ranks."""

    waiting: Quantity
    parts: dict[str, Quantity]  #: of PARTS_OF_TIME; they add up to `waiting`
    rare: dict[str, Quantity]  #: of RUNGS, what rare long cycles add
    computing: Quantity
    exchange: Quantity | None  #: None where it was not timed
    common: Quantity  #: all ranks slow at once, which makes nobody wait
    efficiency: dict[str, float] | None  #: of POP; None where exchanges were not timed
    slowest: SlowestRank
    longest: LongestEvent | None
    spells: list[SlowSpell]  #: the costliest first
    delay_ratio: int  #: D that separates jitter from drift
    drift_share: float  #: of the variance between ranks of means over D cycles


def clipped(compute: np.ndarray, every: int = 1) -> np.ndarray:
    """Compute times [rank, cycle] without what long cycles take.

    That is what they take beyond the 99.9 % quantile of their rank, or beyond the least that is an
    interruption. Rank by rank, so that a trace of gigabytes needs the room of its result alone.

    Example:
        >>> times = np.full((1, 20), 1e-3)
        >>> times[0, 7] = 0.5  # stopped for half a second
        >>> bool(clipped(times).max() < 0.5)
        True
    """
    without = np.empty(compute.shape, compute.dtype)
    for rank, times in enumerate(compute):
        expected = usual(times[None], every)[0]
        beyond = times - expected
        limit = min(np.quantile(beyond, LONG_QUANTILE), interruption_limit(times, beyond))
        without[rank] = expected + np.minimum(beyond, limit)
    return without


@dataclass(frozen=True)
class _Columns:
    """Which columns of means hold what; the first ones, one a rank, are compute times.

    Behind them: W(D) and W(period); the same three of clipped compute times; waiting, exchange, and
    what all ranks compute beyond the usual.
    """

    ranks: int

    @property
    def clipped(self) -> int:
        """Where the columns of clipped compute times begin."""
        return self.ranks + 2

    def rung(self, number: int, first: int = 0) -> Callable[[np.ndarray], np.ndarray]:
        """The function that maps means [..., column] to the part RUNGS[number] of the waiting.

        `first`: where the columns of the compute times begin.
        """
        ranks = self.ranks

        def part(x: np.ndarray) -> np.ndarray:
            computing = x[..., first : first + ranks]
            imbalance = computing.max(axis=-1) - computing.mean(axis=-1)
            rarely = x[..., first + ranks]
            often = x[..., first + ranks + 1]
            return np.asarray((imbalance, rarely - imbalance, often - rarely)[number])

        return part

    def rare(self, number: int) -> Callable[[np.ndarray], np.ndarray]:
        """What long cycles add to the part RUNGS[number]."""
        part = self.rung(number)
        without_long = self.rung(number, self.clipped)
        return lambda x: np.asarray(part(x) - without_long(x))

    def barrier(self, x: np.ndarray) -> np.ndarray:
        """Waiting beyond what compute times explain."""
        return np.asarray(self.waiting(x) - x[..., self.ranks + 1])

    def computing(self, x: np.ndarray) -> np.ndarray:
        """Mean over ranks."""
        return np.asarray(x[..., : self.ranks].mean(axis=-1))

    def waiting(self, x: np.ndarray) -> np.ndarray:
        """Mean over ranks."""
        return np.asarray(x[..., -3])

    def exchange(self, x: np.ndarray) -> np.ndarray:
        """Mean over ranks."""
        return np.asarray(x[..., -2])

    def common(self, x: np.ndarray) -> np.ndarray:
        """What all ranks compute beyond the usual, at once."""
        return np.asarray(x[..., -1])


def ladder(run: CycleTrace, delay_ratio: int | None = None) -> Ladder:
    """The parts of the waiting of a run.

    Args:
        run: with at least two windows.
        delay_ratio: D, which separates jitter from drift; that of the run by default.

    Raises:
        BadInput: for fewer than two windows of D cycles, or a D that is no multiple of the period.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> parts = ladder(trace(times), delay_ratio=10)
        >>> parts.waiting.kind, list(parts.parts)
        ('modelled', ['imbalance', 'drift', 'jitter', 'barrier'])
    """
    d = _jitter_cycles(run, delay_ratio)
    draws, clipped_s = _draws(run, d)
    columns = _Columns(run.ranks)
    less_s = more_s = 0.0
    if run.doubt_s is not None:
        less_s, more_s = (doubt / run.period for doubt in run.doubt_s)
    parts = {}
    rare = {}
    for number, name in enumerate(RUNGS):
        parts[name] = draws(columns.rung(number), "s")
        rare[name] = draws(columns.rare(number), "s", least=-np.inf)
    parts["barrier"] = missing(UNTIMED_WAITING, "s", "not timed")
    if run.doubtful:
        parts["barrier"] = missing(run.doubtful, "s", "not known")
    elif run.waited is not None and run.doubt_s is not None:
        barrier = draws(columns.barrier, "s", least=-np.inf)
        parts["barrier"] = barrier.widened(less_s, more_s)
    exchange = None
    if run.exchanged is not None:
        exchange = draws(columns.exchange, "s", run.kind).widened(more_s, less_s)
    slow_spells = [] if run.doubtful else spells(run.compute)
    return Ladder(
        waiting=draws(columns.waiting, "s", run.kind).widened(less_s, more_s),
        parts=parts,
        rare=rare,
        computing=draws(columns.computing, "s", "measured"),
        exchange=exchange,
        common=draws(columns.common, "s", least=-np.inf),
        efficiency=efficiency(run) if exchange else None,
        slowest=_slowest(run, d, draws, clipped_s, slow_spells),
        longest=longest(run),
        spells=_slow_spells(run, slow_spells),
        delay_ratio=d,
        drift_share=drift_share(run.compute, d),
    )


def parts_without_intervals(run: CycleTrace, delay_ratio: int | None = None) -> dict[str, Quantity]:
    """The parts of `ladder`; for means over many runs, since intervals take most of its time.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> parts = parts_without_intervals(run, delay_ratio=10)
        >>> parts["jitter"].value == ladder(run, delay_ratio=10).parts["jitter"].value
        True
    """
    d = _jitter_cycles(run, delay_ratio)
    computing = run.compute.mean(axis=1, dtype=np.float64)
    rarely = waited(run.compute, d).mean() / d
    often = waited(run.compute, run.period).mean() / run.period
    values = np.array([*computing, rarely, often])
    columns = _Columns(run.ranks)
    parts = {}
    for number, name in enumerate(RUNGS):
        seconds = float(columns.rung(number)(values))
        parts[name] = Quantity(max(seconds, 0.0), unit="s", kind="modelled")
    parts["barrier"] = missing(UNTIMED_WAITING, "s", "not timed")
    if run.waited is not None and run.doubt_s is not None:
        beyond = float(run.waits.sum()) / run.cycles - often
        parts["barrier"] = Quantity(beyond, unit="s", kind="modelled")
    return parts


def _jitter_cycles(run: CycleTrace, delay_ratio: int | None) -> int:
    """D that separates jitter from drift. Raises BadInput as `ladder`."""
    d = run.jitter_cycles if delay_ratio is None else delay_ratio
    check_whole("delay_ratio", d)
    if 2 * d > run.cycles or d % run.period:
        line = (
            f"delay_ratio={d}: expected a multiple of {run.period}, the cycles between meetings, up"
            f" to {run.cycles // 2}, half of all cycles"
        )
        raise BadInput(line, field="delay_ratio", code="range")
    return d


def _draws(run: CycleTrace, d: int) -> tuple[Draws, np.ndarray]:
    """Means per cycle of all that the ladder consists of, see _Columns; and the mean compute times
    of windows without long cycles, [window, rank] in s.

    Windows of D cycles are resampled; the means also know the last, shorter window. Rank by rank,
    so that a trace of gigabytes needs no copy.
    """
    windows = run.cycles // d
    per_cycle = np.empty((windows, 2 * (run.ranks + 2) + 3))
    exact: list[float] = []
    for long_cycles in (True, False):
        first = len(exact)
        slowest = {every: np.zeros(run.cycles // every) for every in (d, run.period)}
        total = {every: np.zeros(run.cycles // every) for every in (d, run.period)}
        for rank, times in enumerate(run.compute):
            if not long_cycles:
                times = clipped(times[None], run.window_cycles)[0]
            per_cycle[:, first + rank] = lump(times, d)
            exact.append(float(times.mean(dtype=np.float64)))
            for every, slowest_s in slowest.items():
                between_meetings = lump(times, every)
                np.maximum(slowest_s, between_meetings, out=slowest_s)
                total[every] += between_meetings
        rarely = slowest[d] - total[d] / run.ranks
        often = slowest[run.period] - total[run.period] / run.ranks
        per_cycle[:, len(exact)] = rarely
        per_cycle[:, len(exact) + 1] = lump(often, d // run.period)[:windows]
        exact += [rarely.mean() / d, often.mean() / run.period]
    course = run.compute.mean(axis=0, dtype=np.float64)
    together = course - usual(course[None], run.window_cycles)[0]
    for series, every in ((run.waits, run.period), (run.exchanges, run.period), (together, 1)):
        of_windows = series[: windows * d // every]
        per_cycle[:, len(exact)] = lump(of_windows, d // every)
        exact.append(series.sum() / run.cycles)
    per_cycle /= d
    draws = means(per_cycle)
    value = np.array(exact)
    first = _Columns(run.ranks).clipped
    clipped_s = per_cycle[:, first : first + run.ranks]
    return Draws(value, draws.draws + (value - draws.value)), clipped_s


def _slow_spells(run: CycleTrace, slow_spells: list[Spell]) -> list[SlowSpell]:
    """Slow spells with what they cost, the costliest first."""
    before_s = float(run.compute.mean(dtype=np.float64)) * run.cycles
    before_s += float(run.waits.sum()) + float(run.exchanges.sum())
    priced = []
    for spell in slow_spells:
        latest, _ = _of_the_others(run, [spell.row])
        times = run.compute[spell.row].astype(np.float64)
        own = lump(times, run.period).copy()
        times[spell.first : spell.last + 1] -= spell.seconds
        calm = lump(np.maximum(times, 0), run.period)
        earlier_s = float((np.maximum(latest, own) - np.maximum(latest, calm)).sum())
        less_computing_s = float((own - calm).sum()) / run.ranks
        priced.append(
            SlowSpell(
                rank=run.first_rank + spell.row,
                node=run.node_of(spell.row),
                first=spell.first,
                last=spell.last,
                faster_before=spell.first > 0,
                faster_after=spell.last < run.cycles - 1,
                longer=spell.longer,
                share=_share(max(earlier_s - less_computing_s, 0.0), float(run.waits.sum())),
                change=1 - min(_share(earlier_s, before_s), 1.0),
            )
        )
    return sorted(priced, key=lambda spell: spell.change)


def _slowest(
    run: CycleTrace,
    d: int,
    draws: Draws,
    clipped_s: np.ndarray,
    slow_spells: list[Spell],
) -> SlowestRank:
    """The ranks that are surely slow, or else the one that computes longest.

    They are sought in the times as they are, and without long cycles and slow spells: an event of
    one rank neither hides that another one is always slow, nor makes its own rank slow. Where the
    two would name all ranks, as of two ranks one each, the times as they are decide.

    Args:
        run: that was measured.
        d: cycles of a window.
        draws: of which the first columns are compute times.
        clipped_s: mean compute times of windows without long cycles, [window, rank] in s.
        slow_spells: of all ranks.
    """
    measured = Draws(draws.value[: run.ranks], draws.draws[:, : run.ranks])
    calm = means(_without_spells(clipped_s, d, slow_spells))
    as_measured = _surely_slow(measured)
    slow_when_calm = _surely_slow(calm)
    named = as_measured | slow_when_calm
    means_s = means_of_stretches(run.compute)
    course = course_of(means_s)
    changed = _changed(means_s, np.median(means_s, axis=0))
    latest = int(measured.value.argmax())
    if changed[latest]:
        named.add(latest)
    in_spells = {spell.row for spell in slow_spells}
    changed[list(in_spells)] = True
    if not named and changed[latest]:
        named.add(latest)
    if len(named) == run.ranks:  # nobody is left whom they could be slower than
        named = as_measured or {latest}
    levels = measured if named <= as_measured | {latest} else calm
    slow = sorted(named or {latest}, key=lambda rank: -levels.value[rank])
    others = np.delete(np.arange(run.ranks), slow)

    def longer(x: np.ndarray, rows: list[int] = slow) -> np.ndarray:
        of_slow = x[..., rows].mean(axis=-1)
        of_others = np.asarray(x[..., others].mean(axis=-1))
        return quotient(of_slow, of_others, otherwise=1.0) - 1

    share = change = missing(run.doubtful or "not known", mark="not known")
    if not run.doubtful:
        share, change = _gain(run, slow, course)
    times_as_many = _times_as_many(run, slow)
    nodes = {run.node_of(rank) for rank in slow}
    return SlowestRank(
        rank=run.first_rank + slow[0],
        also=[run.first_rank + rank for rank in slow[1:]],
        node=nodes.pop() if len(nodes) == 1 else None,
        longer=levels(longer, kind="measured"),
        longer_of_each=[levels(partial(longer, rows=[row]), kind="measured") for row in slow],
        share=share,
        change=change,
        others=len(others),
        certain=bool(named),
        throughout=not bool(changed[slow].any()),
        besides_spells=not set(slow) <= in_spells - slow_when_calm,
        neurons=times_as_many.get("neurons"),
        events=times_as_many.get("events"),
    )


def _times_as_many(run: CycleTrace, slow: list[int]) -> dict[str, float]:
    """Counts of the work of slow ranks over those of the others, means of both, by count.

    Those are left out that nobody knows, as of a file of a placement that is gone, and of which the
    others have nothing.
    """
    if run.work is None:
        return {}
    try:
        counts = run.work.per_rank
    except BadInput:
        return {}
    factors = {}
    for name, of_ranks in counts.items():
        others = float(np.delete(of_ranks, slow).mean())
        if others > 0:
            factors[name] = float(of_ranks[slow].mean()) / others
    return factors


def _without_spells(times_s: np.ndarray, d: int, slow_spells: list[Spell]) -> np.ndarray:
    """Mean compute times of windows as if ranks had not had slow spells.

    Args:
        times_s: as they had them, [window, rank].
        d: cycles of a window.
        slow_spells: of all ranks.
    """
    calm_s = times_s.copy()
    for spell in slow_spells:
        longer_s = np.zeros(len(times_s) * d)
        longer_s[spell.first : spell.last + 1] = spell.seconds
        calm_s[:, spell.row] -= lump(longer_s, d) / d
    return calm_s


def _surely_slow(levels: Draws) -> set[int]:
    """The ranks that are surely slower than each other rank, or than the middle of all by more than
    these differ from each other.

    Args:
        levels: mean compute times, [rank] in s.
    """
    ranks = np.arange(len(levels.value))
    slow = _as_slow(levels.value)
    sure: set[int] = set()
    for those in (slow, slow[:1]):
        others = np.delete(ranks, those)
        gaps = levels.draws[:, those].min(axis=1) - levels.draws[:, others].max(axis=1)
        if not sure and np.quantile(gaps, (1 - LEVEL) / 2) > 0:
            sure = set(those)
    beyond = levels.value - np.median(levels.value)
    spread = SD_OF_MEDIAN_DEVIATION * float(np.median(np.abs(beyond)))
    middle = np.median(levels.draws, axis=1)
    for rank in np.flatnonzero(beyond > OUTLIER * spread).tolist():
        error = float((levels.draws[:, rank] - middle).std())
        if beyond[rank] > SURE_ERRORS * error:
            sure.add(rank)
    return sure


def _as_slow(means: np.ndarray) -> list[int]:
    """The slowest rank and those that are as slow, fewer than half of all, the slowest first.

    Ranks are as slow where they are close together, and the next faster one is far.

    Args:
        means: compute times [rank].
    """
    order = np.argsort(-means, kind="stable")
    falls = means[order[:-1]] - means[order[1:]]
    count = 1 + int(np.argmax(falls[: max((len(means) - 1) // 2, 1)]))
    apart = float(means[order[0]] - means[order[count - 1]])
    if falls[count - 1] < MIN_GAP * apart:
        count = 1
    return [int(rank) for rank in order[:count]]


def _gain(
    run: CycleTrace,
    slow: list[int],
    course: np.ndarray | None,
) -> tuple[Quantity, Quantity]:
    """Of the waiting, the share that goes, and the run time over that of the run, if slow ranks
    were as fast as the mean of the others, and interrupted as often.

    Args:
        run: that was measured.
        slow: the slow ranks.
        course: as of `course_of`.
    """
    series = [run.waits, run.exchanges, run.implied]
    series.append(lump(run.compute, run.period).mean(axis=0, dtype=np.float64))
    latest, total = _of_the_others(run, slow)
    readings = [_as_the_others(run, rank, slow, course) for rank in slow]
    for times_of_slow in zip(*readings, strict=True):
        of_slow = lump(np.stack(times_of_slow), run.period)
        computing = (total + of_slow.sum(axis=0)) / run.ranks
        implied = np.maximum(latest, of_slow.max(axis=0)) - computing
        series += [implied, computing]
    draws = _means_of_windows(run, series)

    # The last axis of draws: what was measured, then two columns for each reading.
    waits, exchanges, implied_before, computing_before = 0, 1, 2, 3
    implied_after, computing_after = slice(4, None, 2), slice(5, None, 2)

    def saved(x: np.ndarray) -> np.ndarray:
        waited = np.maximum(x[..., [waits]], SMALLEST_S)
        return np.asarray(
            np.clip((x[..., [implied_before]] - x[..., implied_after]) / waited, 0, 1)
        )

    def change(x: np.ndarray) -> np.ndarray:
        before = x[..., [waits]] + x[..., [exchanges]] + x[..., [computing_before]]
        of_waiting = x[..., implied_after] - x[..., [implied_before]]
        waiting = np.maximum(x[..., [waits]] + of_waiting, 0)
        after = x[..., computing_after] + waiting + x[..., [exchanges]]
        return np.asarray(np.maximum(after, 0) / np.maximum(before, SMALLEST_S))

    return _over_all(draws, saved), _over_all(draws, change)


def _of_the_others(run: CycleTrace, slow: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The longest compute time between meetings of all ranks that are not slow, and the sum of
    theirs, [meeting] in s.
    """
    latest = np.zeros(run.cycles // run.period)
    total = np.zeros(run.cycles // run.period)
    for rank in range(run.ranks):
        if rank not in slow:
            times = lump(run.compute[rank], run.period)
            np.maximum(latest, times, out=latest)
            total += times
    return latest, total


def _means_of_windows(run: CycleTrace, series: list[np.ndarray]) -> Draws:
    """Means per cycle of series [meeting], with draws from windows of D cycles, as of jitter."""
    d = run.jitter_cycles
    if 2 * d > run.cycles:
        d = run.period
    meetings = run.cycles // d * d // run.period
    columns = [lump(values[:meetings], d // run.period) for values in series]
    return means(np.stack(columns, axis=1) / d)


def _stretches(cycles: int) -> list[int]:
    """The numbers of cycles of the stretches of a run; none for one too short to tell a change."""
    if cycles < STRETCHES**2:
        return []
    return [len(stretch) for stretch in np.array_split(np.arange(cycles), STRETCHES)]


def means_of_stretches(compute: np.ndarray) -> np.ndarray:
    """Mean compute time in each stretch of a run, [rank, stretch] in s; no stretch of a short run.

    Args:
        compute: times in s, [rank, cycle].

    Example:
        >>> means_of_stretches(np.full((4, 1000), 1e-3)).shape
        (4, 16)
    """
    means_s: list[np.ndarray] = []
    first = 0
    for length in _stretches(compute.shape[1]):
        times = compute[:, first : first + length]
        means_s.append(times.mean(axis=1, dtype=np.float64))
        first += length
    return np.stack(means_s, axis=1) if means_s else np.empty((len(compute), 0))


def in_cycles(course: np.ndarray, cycles: int) -> np.ndarray:
    """Values of stretches [..., stretch] in each cycle of a run, [..., cycle].

    Example:
        >>> in_cycles(np.arange(16), 320)[[0, 19, 20, 319]].tolist()
        [0, 0, 1, 15]
    """
    return np.repeat(course, _stretches(cycles), axis=-1)


def course_of(means_s: np.ndarray) -> np.ndarray | None:
    """What ranks compute beyond the mean of all in each stretch of a run, [rank, stretch] in s.

    None where no rank surely became slower or faster in the course of the run.

    Args:
        means_s: as of `means_of_stretches`.

    Example:
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> course_of(means_of_stretches(times)) is None
        True
        >>> times[3, 500:] *= 1.2
        >>> beyond = course_of(means_of_stretches(times))
        >>> [round(1e6 * float(seconds)) for seconds in beyond[3, [0, -1]]]
        [0, 149]
    """
    of_all = means_s.mean(axis=0)
    if not _changed(means_s, of_all).any():
        return None
    return np.asarray((means_s - of_all).astype(np.float32))


def _changed(means_s: np.ndarray, of_all: np.ndarray) -> np.ndarray:
    """Which ranks surely became slower or faster in the course of the run, bool [rank].

    Args:
        means_s: as of `means_of_stretches`.
        of_all: of all ranks in each stretch, from which those of a rank are taken, [stretch] in s.
    """
    ranks, stretches = means_s.shape
    changed = np.zeros(ranks, dtype=bool)
    if not stretches:
        return changed
    mean_s = float(means_s.mean())
    beyond = means_s - of_all
    for split in range(2, STRETCHES - 1):
        first = beyond[:, :split]
        last = beyond[:, split:]
        change = np.abs(last.mean(axis=1) - first.mean(axis=1))
        squares = split * first.var(axis=1) + (STRETCHES - split) * last.var(axis=1)
        variance = squares / (STRETCHES - 2)
        error = np.sqrt(variance * (1 / split + 1 / (STRETCHES - split)))
        changed |= (change > SURE_CHANGE * error) & (change > MIN_CHANGE * mean_s)
    return changed


def _over_all(draws: Draws, function: Callable[[np.ndarray], np.ndarray]) -> Quantity:
    """A quantity whose interval covers all readings, the last axis of what `function` returns."""
    tail = (1 - LEVEL) / 2
    value = float(np.median(function(draws.value)))
    of_readings = np.quantile(function(draws.draws), (tail, 1 - tail), axis=0)
    low = min(float(of_readings[0].min()), value)
    high = max(float(of_readings[1].max()), value)
    return Quantity(value, low, high, kind="modelled")


def _as_the_others(
    run: CycleTrace,
    rank: int,
    slow: list[int],
    course: np.ndarray | None,
) -> Iterator[np.ndarray]:
    """Times [cycle] of a slow rank if it were as fast as the mean of the others, in several
    readings.

    Its fluctuations stay, or shrink with its work; its interruptions become as rare as those of the
    others, as surely as their counts tell. Where it became slower in the course of the run, it is
    as fast in each stretch.
    """
    counts = np.array([len(events.cycles) for events in run.interrupted])
    interrupted_s = [float(events.seconds.sum()) for events in run.interrupted]
    usual_s = (run.compute.sum(axis=1, dtype=np.float64) - interrupted_s) / run.cycles
    others_s = np.delete(usual_s, slow).mean()
    events = run.interrupted[rank]
    ordinary = without(run.compute[rank : rank + 1], [events]).astype(np.float64)
    levelled = [np.maximum(ordinary - (usual_s[rank] - others_s), 0)]
    if usual_s[rank] > 0:
        levelled.append(ordinary * (others_s / usual_s[rank]))
    if course is not None:
        beyond = course[rank] - np.delete(course, slow, axis=0).mean(axis=0)
        levelled.append(np.maximum(ordinary - in_cycles(beyond, run.cycles), 0))
    shares: tuple[float, ...] = (1.0,)
    if counts[slow].any():
        shares = _shares_kept(int(counts[rank]), np.delete(counts, slow))
    for times in levelled:
        for share in shares:
            yield put_back(times.copy(), [events.kept(share)])[0]


def _shares_kept(count: int, counts_of_others: np.ndarray) -> tuple[float, float]:
    """Which share of the interruptions of a rank remains if it has as many as the mean of others.

    Args:
        count: interruptions of the rank.
        counts_of_others: interruptions of each other one.

    Returns:
        The least and the largest that chance allows; all without interruptions.
    """
    if not count:
        return 1.0, 1.0
    total = float(counts_of_others.sum())
    ratio = total / len(counts_of_others) / count
    ratio_with_one_more = 1 / len(counts_of_others) / count  # where others have none
    error = CHANCE * (1 / count + 1 / max(total, 1.0)) ** 0.5
    lowest = ratio * (1 - error)
    highest = max(ratio, ratio_with_one_more) * (1 + error)
    return min(max(lowest, 0.0), 1.0), min(highest, 1.0)


def longest(run: CycleTrace) -> LongestEvent | None:
    """The single longest event of a run.

    None where it is not more than 20 usual cycles and a tenth of all waiting, or exchanging.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> times = np.full((4, 1000), 1e-3)
        >>> times[2, 500] = 0.05  # rank 2 loses its core
        >>> event = longest(trace(times))
        >>> event.rank, event.cycle
        (2, 500)
    """
    event = max(_events(run), key=lambda event: event.seconds)
    meeting_s = float(np.median(run.waits + run.exchanges))
    usual_of_ranks = [float(np.median(times)) for times in run.compute]
    usual_cycle_s = float(np.median(usual_of_ranks)) + meeting_s / run.period
    if event.seconds < MIN_CYCLES_OF_EVENT * usual_cycle_s or event.share < MIN_SHARE_OF_EVENT:
        return None
    return event


def _events(run: CycleTrace) -> list[LongestEvent]:
    """The longest cycle of a rank, the longest barrier and the longest exchange."""
    waited = float(run.waits.sum())
    rank, cycle, seconds = _longest_of_ranks(run)
    others_wait = (run.ranks - 1) / run.ranks
    share = _share(seconds * others_wait, waited)
    named = run.first_rank + rank
    events = [LongestEvent("computing", named, run.node_of(rank), cycle, seconds, share)]
    exchanged = float(run.exchanges.sum())
    for phase, series, total in (
        ("barrier", run.overhead, waited),
        ("exchange", run.exchanges, exchanged),
    ):
        meeting = int(np.argmax(series))
        seconds = float(series[meeting] - np.median(series))
        last_cycle = min((meeting + 1) * run.period, run.cycles) - 1
        events.append(LongestEvent(phase, None, None, last_cycle, seconds, _share(seconds, total)))
    return events


def _longest_of_ranks(run: CycleTrace) -> tuple[int, int, float]:
    """Rank and cycle of the longest computing, and the seconds beyond the usual."""
    longest_s = -np.inf
    rank_and_cycle = (0, 0)
    for rank, times in enumerate(run.compute):
        beyond = times - usual(times[None], run.window_cycles)[0]
        cycle = int(np.argmax(beyond))
        if beyond[cycle] > longest_s:
            longest_s = float(beyond[cycle])
            rank_and_cycle = (rank, cycle)
    return *rank_and_cycle, longest_s


def _share(seconds: float, total: float) -> float:
    return min(seconds / total, 1.0) if total > 0 else 0.0


def drift_share(compute: np.ndarray, d: int) -> float:
    """Share of the variance between ranks of means over D cycles that is drift, 0 to 1.

    With V(k) the variance between ranks of means over k cycles, without lasting differences: V(1) =
    jitter + drift and V(D) = jitter / D + drift.

    Args:
        compute: times in s, [rank, cycle].
        d: D, cycles.

    Example:
        >>> independent = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> drift_share(independent, 10) < 0.1
        True
    """
    ranks, cycles = compute.shape
    mean_of_rank = compute.mean(
        axis=1,
        keepdims=True,
        dtype=np.float64,
    )
    squares = squares_of_windows = 0.0
    cycles_of_block = max(CYCLES_OF_BLOCK // d, 1) * d
    for first in range(0, cycles, cycles_of_block):
        fluctuations = compute[:, first : first + cycles_of_block] - mean_of_rank
        fluctuations -= fluctuations.mean(axis=0)
        squares += float((fluctuations**2).sum())
        if fluctuations.shape[1] >= d:
            squares_of_windows += float(((lump(fluctuations, d) / d) ** 2).sum())
    windows = cycles // d
    variance = squares / (ranks * cycles)
    window_variance = squares_of_windows / (ranks * windows) if windows else 0.0
    if d == 1 or not window_variance > 0:
        return 0.0
    return float(np.clip((d - variance / window_variance) / (d - 1), 0.0, 1.0))


def efficiency(run: CycleTrace) -> dict[str, float]:
    """The efficiencies of POP (Performance Optimisation and Productivity), 0 to 1.

    Load balance: mean over maximum of the ranks' computing. Serialisation: that maximum over the
    run time on a network that takes no time, the sum of the slowest ranks' times. Transfer: that
    run time over the measured one. Their product is the parallel efficiency, mean computing over
    run time.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> factors = efficiency(trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))))
        >>> {name: round(factor, 2) for name, factor in factors.items()}
        {'load_balance': 1.0, 'serialisation': 0.99, 'transfer': 1.0, 'parallel': 0.99}
    """
    totals = run.compute.sum(axis=1, dtype=np.float64)
    slowest = lump(run.compute, run.period).max(axis=0)
    ideal = float(slowest.sum(dtype=np.float64))
    runtime = float(totals.mean() + run.waits.sum() + run.exchanges.sum())
    return {
        "load_balance": float(totals.mean() / totals.max()),
        "serialisation": float(totals.max()) / ideal,
        "transfer": ideal / runtime,
        "parallel": float(totals.mean()) / runtime,
    }
