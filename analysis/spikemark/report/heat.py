"""Pictures of waiting: who computed, waited and exchanged when, from the whole run to one cycle.

A heat map has ranks from top to bottom and time from left to right. However long a run is, it is
drawn in at most MAX_STRETCHES stretches and MAX_ROWS rows of ranks; each field has the longest time
in it, so that a single long cycle among millions stays in sight. A timeline has a few cycles as
bars, with the rank that the others waited for.

Cycles between two meetings count as one, a window. The waiting of a rank in a window is how much
longer the slowest rank computed, and what the barrier took beyond that on average.
"""

from dataclasses import dataclass

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import counted, integer, listed, number
from spikemark.waiting.sentences import MICRO
from spikemark.waiting.trace import CycleTrace

from . import plots

MAX_ROWS = 64  #: of a heat map
MAX_STRETCHES = 120  #: of a heat map
ZOOMED_WINDOWS = 100  #: of the heat map of single windows
MAX_BARS = 12  #: ranks of a timeline
BESIDE_CHOSEN = 2  #: windows of a timeline before and after the chosen one
LONG_FACTOR = 5  #: times the usual window, from which one is long
MAX_MARKED = 20  #: long windows that are marked
SLOW_FACTOR = 1.2  #: times the usual computing of a rank, from which a stretch is a slow spell
MIN_WINDOWS_OF_SPELL = 10  #: of a stretch, below which it may be slow by chance
SHARE_CUT = 0.02  #: of the times of one row, that may be beyond the colours of the others
WIDE_RANGE = 5  #: longest over shortest time, from which colours are logarithmic
TITLE = "Who waited, and when?"


@dataclass(frozen=True)
class Stretches:
    """A run, or a part of it, in stretches of windows; times in s."""

    edges: np.ndarray  #: first cycle of each stretch, and the end of the last one
    rows: np.ndarray  #: first rank of each row, and the number of ranks
    computing: np.ndarray  #: [row, stretch] longest of a window
    waiting: np.ndarray  #: [row, stretch] longest of a window
    exchange: np.ndarray  #: [stretch] longest
    slowest_rank: np.ndarray  #: [stretch] whose computing was longest
    waiting_rank: np.ndarray  #: [stretch] who waited longest
    slow: np.ndarray  #: [stretch] whether a rank was slow in most of its windows
    is_zoomed: bool  #: whether every stretch is a single window
    first_rank: int = 0  #: what the first rank is called


def section(run: CycleTrace) -> Section:
    """The run as a heat map, the windows around its longest one, and single windows as bars.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> times[2, 500] = 0.02
        >>> shown = section(trace(times))
        >>> [figure.id for figure in shown.figures]
        ['heat', 'heat-zoomed', 'timeline-usual', 'timeline-longest']
    """
    slowest = _slowest_of_windows(run)
    longest = int(np.argmax(slowest))
    windows = len(slowest)
    whole = stretches(run, slowest, 0, windows)
    figures = [_heat_map(whole, run, slowest, "heat", "Ranks over the whole run")]
    if not whole.is_zoomed:
        first = max(0, min(longest - ZOOMED_WINDOWS // 2, windows - ZOOMED_WINDOWS))
        zoomed = stretches(run, slowest, first, min(first + ZOOMED_WINDOWS, windows))
        title = "Single cycles around the longest one"
        figures.append(_heat_map(zoomed, run, slowest, "heat-zoomed", title))
    usual = int(np.argmin(np.abs(slowest - np.median(slowest))))
    figures.append(_timeline(run, slowest, usual, "timeline-usual", "Usual cycles"))
    title = "The longest cycle, and those around it"
    figures.append(_timeline(run, slowest, longest, "timeline-longest", title))
    return Section("picture", TITLE, [_sentence(run, slowest)], figures=figures)


def _sentence(run: CycleTrace, slowest: np.ndarray) -> str:
    """Which rank was waited for most often, and the longest window.

    `slowest`: of `_slowest_of_windows`.
    """
    counts = np.bincount(_critical_ranks(run, slowest), minlength=run.ranks)
    rank = int(np.argmax(counts))
    longest = int(np.argmax(slowest))
    share = counts[rank] / len(slowest)
    times_usual = slowest[longest] / np.median(slowest)
    return (
        f"Rank {run.first_rank + rank} was waited for most often, in"
        f" {100 * share:.0f}\u202f% of the windows (by chance:"
        f" {number(100 / run.ranks, 3)}\u202f%). The longest window, from cycle"
        f" {longest * run.period}, took {number(MICRO * slowest[longest])}\u202fµs,"
        f" {number(times_usual, 2)} times the usual."
    )


def _windows_of(run: CycleTrace, rank: int) -> np.ndarray:
    """Computing of a rank in each window, in s."""
    return np.asarray(run.compute[rank].reshape(-1, run.period).sum(axis=1, dtype=np.float64))


def _slowest_of_windows(run: CycleTrace) -> np.ndarray:
    """Computing of the slowest rank in each window, in s. Reads one rank at a time."""
    slowest = _windows_of(run, 0)
    for rank in range(1, run.ranks):
        slowest = np.maximum(slowest, _windows_of(run, rank))
    return slowest


def _critical_ranks(run: CycleTrace, slowest: np.ndarray) -> np.ndarray:
    """The rank that the others waited for in each window; the first of several."""
    critical = np.full(len(slowest), -1)
    for rank in range(run.ranks):
        is_slowest = _windows_of(run, rank) >= slowest
        critical[is_slowest & (critical < 0)] = rank
    return critical


def stretches(run: CycleTrace, slowest: np.ndarray, first: int, last: int) -> Stretches:
    """The windows from `first` to before `last`, put together so that the longest times stay.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> times = np.full((3, 10_000), 1e-3)
        >>> times[1, 4321] = 0.5
        >>> run = trace(times)
        >>> drawn = stretches(run, _slowest_of_windows(run), 0, 10_000)
        >>> drawn.computing.shape, float(drawn.computing.max()), int(drawn.slowest_rank[51])
        ((3, 120), 0.5, 1)
    """
    columns = min(MAX_STRETCHES, last - first)
    starts = np.linspace(0, last - first, columns + 1).astype(int)
    lengths = np.diff(starts)
    rows = np.linspace(0, run.ranks, min(MAX_ROWS, run.ranks) + 1).astype(int)
    shape = len(rows) - 1, columns
    computing = np.zeros(shape)
    waiting = np.zeros(shape)
    most_computing = np.full(columns, -1.0)
    most_waiting = np.full(columns, -1.0)
    slowest_rank = np.zeros(columns, int)
    waiting_rank = np.zeros(columns, int)
    slow = np.zeros(columns, bool)
    overhead = np.maximum(run.overhead[first:last], 0.0)
    row_of_rank = np.searchsorted(rows, np.arange(run.ranks), side="right") - 1
    for rank, row in enumerate(row_of_rank):
        all_windows = _windows_of(run, rank)
        own = all_windows[first:last]
        waited = slowest[first:last] - own + overhead
        longest_own = np.maximum.reduceat(own, starts[:-1])
        longest_waited = np.maximum.reduceat(waited, starts[:-1])
        computing[row] = np.maximum(computing[row], longest_own)
        waiting[row] = np.maximum(waiting[row], longest_waited)
        slowest_rank[longest_own > most_computing] = run.first_rank + rank
        waiting_rank[longest_waited > most_waiting] = run.first_rank + rank
        most_computing = np.maximum(most_computing, longest_own)
        most_waiting = np.maximum(most_waiting, longest_waited)
        is_slow = own > SLOW_FACTOR * np.median(all_windows)
        share_slow = np.add.reduceat(is_slow, starts[:-1]) / lengths
        slow |= (share_slow > 0.5) & (lengths >= MIN_WINDOWS_OF_SPELL)
    exchanged = np.maximum.reduceat(run.exchanges[first:last], starts[:-1])
    edges = run.period * (first + starts)
    return Stretches(
        edges,
        rows,
        computing,
        waiting,
        exchanged,
        slowest_rank,
        waiting_rank,
        slow,
        columns == last - first,
        run.first_rank,
    )


def _heat_map(
    drawn: Stretches, run: CycleTrace, slowest: np.ndarray, name: str, title: str
) -> Figure:
    """Computing and waiting of ranks and the exchange, with long windows and slow spells marked."""
    long = long_windows(slowest)
    marked = run.period * long[:MAX_MARKED]
    marked = marked[(marked >= drawn.edges[0]) & (marked < drawn.edges[-1])]
    panels = {"computing": drawn.computing, "waiting": drawn.waiting}
    if drawn.exchange.any():
        panels["exchange"] = drawn.exchange[None, :]
    heights = [1.5 if len(values) > 1 else 0.35 for values in panels.values()]
    with matplotlib.rc_context(plots.SETTINGS):
        canvas = Canvas(figsize=(plots.WIDTH, sum(heights) + 0.75 * len(heights) + 0.2))
        grid = canvas.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)
        for axes, (part, values) in zip(grid[:, 0], panels.items(), strict=True):
            _draw_map(axes, drawn, part, values)
            axes.set_xlabel("")
        grid[-1, 0].set_xlabel("cycle")
        _mark(grid[0, 0], drawn, marked)
        _tell(canvas, grid[-1, 0], drawn)
        svg = plots.markup(canvas, name, title)
    caption = _caption(drawn, run, len(long))
    return Figure(name, title, svg, f"{title}. {caption}", caption, plots.tabulated(_rows(drawn)))


def long_windows(slowest: np.ndarray) -> np.ndarray:
    """Windows that took more than LONG_FACTOR usual ones, the longest first.

    Example:
        >>> long_windows(np.array([1.0, 1.1, 9.0, 0.9, 20.0, 1.0]))
        array([4, 2])
    """
    long = np.flatnonzero(slowest > LONG_FACTOR * np.median(slowest))
    return np.asarray(long[np.argsort(-slowest[long], kind="stable")])


def _draw_map(axes: Axes, drawn: Stretches, part: str, values: np.ndarray) -> None:
    """One panel of a heat map; `values`: [row, stretch] in s."""
    shown = MICRO * values
    positive = shown[shown > 0]
    low = float(np.quantile(positive, 0.02)) if positive.size else 0.0
    high = _end_of_colours(shown)
    is_wide = low > 0 and high > WIDE_RANGE * low
    norm = LogNorm(low, high) if is_wide else Normalize(0, high)
    ends = drawn.rows[-1] if len(values) > 1 else 1
    image = axes.imshow(
        np.maximum(shown, low) if is_wide else shown,
        aspect="auto",
        interpolation="none",
        cmap="cividis",
        norm=norm,
        extent=(float(drawn.edges[0]), float(drawn.edges[-1]), float(ends), 0.0),
    )
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02, aspect=12 if len(values) > 1 else 3)
    bar.outline.set_visible(False)
    bar.formatter = FuncFormatter(lambda value, _: f"{value:g}")
    if len(values) == 1:
        axes.set_yticks([])
        more = "+" if high < shown.max() else ""
        bar.set_ticks([low, high], labels=[number(low, 2), f"{number(high, 2)}{more}"])
        bar.ax.minorticks_off()
    else:
        axes.set_ylabel("rank")
        ranks = int(drawn.rows[-1])
        step = max(1, -(-ranks // 4))
        places = np.arange(0, ranks, step)
        axes.set_yticks(places + 0.5, [str(drawn.first_rank + place) for place in places])
    axes.set_title(f"{part}, longest (µs)")
    axes.ticklabel_format(axis="x", useOffset=False, style="plain")


def _end_of_colours(times: np.ndarray) -> float:
    """The time from which all fields have the same colour: the longest one.

    In a panel of one row, a few times that are far longer than the others would leave these without
    colours: there, it is the time that most are below.

    Example:
        >>> _end_of_colours(np.array([[50.0, 1820.0] + [60.0] * 98]))
        60.0
        >>> _end_of_colours(np.array([[50.0, 100.0] + [60.0] * 98]))
        100.0
    """
    longest = float(times.max())
    if longest <= 0:
        return 1.0
    usual = float(np.quantile(times, 1 - SHARE_CUT, method="lower"))
    return usual if len(times) == 1 and longest > LONG_FACTOR * usual > 0 else longest


def _mark(axes: Axes, drawn: Stretches, marked: np.ndarray) -> None:
    """Long windows as triangles above the map, slow spells as lines."""
    transform = axes.get_xaxis_transform()
    if marked.size:
        spots = axes.scatter(
            marked,
            np.full(len(marked), 1.08),
            18,
            plots.COLOUR["synchronise"],
            marker="v",
            transform=transform,
            clip_on=False,
            zorder=5,
        )
        plots.told(spots, [f"a long window, from cycle {integer(int(at))}" for at in marked])
    for column in np.flatnonzero(drawn.slow):
        axes.plot(
            drawn.edges[column : column + 2],
            [1.02, 1.02],
            color=plots.COLOUR["drift"],
            linewidth=3,
            transform=transform,
            clip_on=False,
        )
    axes.set_title(axes.get_title(loc="left"), pad=17)
    axes.set_xlim(drawn.edges[0], drawn.edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _tell(canvas: Canvas, axes: Axes, drawn: Stretches) -> None:
    """Words for the pointer on each stretch, in all panels."""
    over_all_panels = blended_transform_factory(axes.transData, canvas.transFigure)
    for column in range(len(drawn.edges) - 1):
        left, right = drawn.edges[column : column + 2]
        area = Rectangle(
            (left, 0.0),
            right - left,
            1.0,
            transform=over_all_panels,
            color="#000000",
            alpha=0.004,
            linewidth=0,
            clip_on=False,
            zorder=9,
        )
        area.set_in_layout(False)
        axes.add_patch(area)
        plots.told(area, [_words(drawn, column)])


def _words(drawn: Stretches, column: int) -> str:
    """What happened in a stretch."""
    first, end = drawn.edges[column : column + 2]
    cycles = f"cycle {first}" if end - first == 1 else f"cycles {first} to {end - 1}"
    computing = number(MICRO * drawn.computing[:, column].max())
    waiting = number(MICRO * drawn.waiting[:, column].max())
    exchange = number(MICRO * drawn.exchange[column])
    return (
        f"{cycles}: rank {drawn.slowest_rank[column]} computed longest, {computing} µs; rank"
        f" {drawn.waiting_rank[column]} waited longest, {waiting} µs; exchange {exchange} µs"
    )


def _rows(drawn: Stretches) -> pd.DataFrame:
    """The numbers of a heat map, a row for each stretch."""
    return pd.DataFrame(
        {
            "cycle": drawn.edges[:-1],
            "slowest_rank": drawn.slowest_rank,
            "longest_computing_us": MICRO * drawn.computing.max(axis=0),
            "waiting_rank": drawn.waiting_rank,
            "longest_waiting_us": MICRO * drawn.waiting.max(axis=0),
            "exchange_us": MICRO * drawn.exchange,
            "slow_spell": drawn.slow,
        }
    )


def _caption(drawn: Stretches, run: CycleTrace, long: int) -> str:
    """What a field of the map is, and what is marked."""
    cycles = int(drawn.edges[1] - drawn.edges[0])
    ranks = int(drawn.rows[1] - drawn.rows[0])
    field = f"A field is {counted(ranks, 'rank')} over {counted(cycles, 'cycle')}"
    if not drawn.is_zoomed or ranks > 1:
        field += " and has the longest time in it"
    parts = [f"{field} ({run.kind})."]
    if long:
        marks = f"Triangles: {counted(long, 'window')} longer than {LONG_FACTOR} usual ones"
        parts.append(f"{marks}{f', the {MAX_MARKED} longest' if long > MAX_MARKED else ''}.")
    end_us = _end_of_colours(MICRO * drawn.exchange[None, :])
    longest_us = MICRO * float(drawn.exchange.max())
    if drawn.exchange.any() and end_us < longest_us:
        parts.append(
            f"Colours of the exchange end at {number(end_us, 2)}\u202fµs; the longest took"
            f" {number(longest_us)}\u202fµs."
        )
    spells = int(drawn.slow.sum())
    if spells:
        parts.append(f"Lines above: {counted(spells, 'stretch', 'stretches')} of slow spells.")
    return " ".join(parts)


# Single windows as bars


def _timeline(run: CycleTrace, slowest: np.ndarray, chosen: int, name: str, title: str) -> Figure:
    """The chosen window and those beside it; in each, the rank that the others waited for is
    framed.
    """
    first = max(0, min(chosen - BESIDE_CHOSEN, len(slowest) - 2 * BESIDE_CHOSEN - 1))
    windows = range(first, min(first + 2 * BESIDE_CHOSEN + 1, len(slowest)))
    own = np.stack(
        [_windows_of(run, rank)[windows.start : windows.stop] for rank in range(run.ranks)]
    )
    critical = own.argmax(axis=0)
    ranks = chosen_ranks(run.ranks, critical)
    colours = {part: plots.palette([part])[part] for part in ("computing", "waiting", "exchange")}
    rows = []
    with matplotlib.rc_context(plots.SETTINGS):
        canvas = Canvas(figsize=(plots.WIDTH, 1.1 + 0.24 * len(ranks)))
        axes = canvas.subplots()
        start = 0.0
        for column, window in enumerate(windows):
            overhead = max(float(run.overhead[window]), 0.0)
            exchange = float(run.exchanges[window])
            for place, rank in enumerate(ranks):
                computing = float(own[rank, column])
                waiting = float(slowest[window]) - computing + overhead
                parts = {"computing": computing, "waiting": waiting, "exchange": exchange}
                is_critical = rank == critical[column]
                called = run.first_rank + rank
                _bar(axes, place, start, parts, colours, is_critical, f"rank {called}")
                row = {"cycle": window * run.period, "rank": called, "critical": bool(is_critical)}
                rows.append(row | {f"{name}_us": MICRO * parts[name] for name in parts})
            start += float(slowest[window]) + overhead + exchange
        axes.set_yticks(range(len(ranks)), [str(rank) for rank in ranks])
        axes.invert_yaxis()
        axes.set(ylabel="rank", xlabel="µs since the first of these cycles began")
        axes.tick_params(axis="y", length=0)
        handles = [Patch(color=colour, label=part) for part, colour in colours.items()]
        handles.append(Patch(fill=False, edgecolor=plots.COLOUR["ink"], label="waited for"))
        canvas.legend(handles=handles, loc="outside upper left", ncols=4, handlelength=1)
        svg = plots.markup(canvas, name, title)
    cycles = f"{counted(len(windows), 'window')} from cycle {windows.start * run.period}"
    caption = f"{cycles}; framed: the rank that the others waited for ({run.kind})."
    if len(ranks) < run.ranks:
        named = listed(str(run.first_rank + rank) for rank in dict.fromkeys(critical))
        shown = f"{len(ranks)} of {run.ranks} ranks: those waited for ({named}), and some between"
        caption += f" Drawn: {shown}."
    table = plots.tabulated(pd.DataFrame(rows))
    return Figure(name, title, svg, f"{title}. {caption}", caption, table)


def chosen_ranks(ranks: int, critical: np.ndarray) -> list[int]:
    """The ranks of a timeline, at most MAX_BARS: those waited for, and others evenly between.

    Example:
        >>> chosen_ranks(1000, np.array([17]))[:3]
        [0, 17, 90]
    """
    chosen = {int(rank) for rank in critical}
    for rank in np.linspace(0, ranks - 1, min(MAX_BARS, ranks)).astype(int):
        if len(chosen) < min(MAX_BARS, ranks):
            chosen.add(int(rank))
    return sorted(chosen)


def _bar(
    axes: Axes,
    place: int,
    start: float,
    parts: dict[str, float],
    colours: dict[str, str],
    is_critical: bool,
    rank: str,
) -> None:
    """A window of a rank; `start` and `parts` in s."""
    left = start
    for part, seconds in parts.items():
        edge = plots.COLOUR["ink"] if is_critical and part == "computing" else "none"
        (bar,) = axes.barh(
            place,
            MICRO * seconds,
            0.8,
            MICRO * left,
            color=colours[part],
            edgecolor=edge,
            linewidth=1.4,
        )
        plots.told(bar, [f"{rank}: {part} {number(MICRO * seconds)} µs"])
        left += seconds
