"""Exchanges on their own: what `spikemark bench --exchange` measured on the same machine."""

import itertools
from collections.abc import Callable

import numpy as np
from matplotlib.lines import Line2D

from spikemark.bench import exchange_bench, exchange_times, kernel_bench
from spikemark.bench.exchange_times import WINDOWS, Curve, Ratio
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, number
from spikemark.records.cases import View
from spikemark.report.columns import share, without
from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, plain_ticks

TITLE = "Exchanges on their own"
EXPLAINED = (
    "What does an exchange cost without a simulation around it? All ranks meet at a barrier, then exchange; "
    "the time is that of the slowest rank from start to finish. Each rank sends n bytes to itself and to "
    "each of its targets. Where an exchange costs the same for any n, one exchange of D n bytes takes 1 / D "
    "of the time of D exchanges of n bytes. A schedule that exchanges only after D cycles saves this much."
)
NO_EVIDENCE = "Measured with more ranks than cores: the times are no evidence of speed."
MARK = "*"
COLOURS = ("deliver", "synchronise", "collocate", "exchange", "update", "other-1", "other-2", "other-3")
LINES = ("-", "--", ":")
PLACES = ("smallest", "middle", "largest")  # number of sizes whose ratio a table shows
HIGHEST = 2  # ratio at which the axis is cut
FEW = without("fewer than 3 sizes")
#: Cells of a curve and one piece of its fit; None without a fit.
FITTED = {
    Column("exchange", "exchange", "given"): lambda row: row[0].exchange,
    Column("targets", "targets", "given"): lambda row: row[0].targets,
    Column("ranks", "ranks", "given"): lambda row: (
        f"{row[0].ranks}{MARK}" if row[0].oversubscribed else row[0].ranks
    ),
    Column("nodes", "nodes", "given"): lambda row: row[0].nodes,
    Column("skew_us", "skew below (µs)", "given"): lambda row: row[0].skew_us,
    Column("barrier_us", "barrier (µs)", "measured"): lambda row: 1e6 * row[0].barrier_s,
    Column("bytes", "bytes", "given", words=integer): lambda row: (
        (row[1].first, row[1].last) if row[1] else (min(row[0].sizes), max(row[0].sizes))
    ),
    Column("latency_us", "latency (µs)", "modelled"): lambda row: (
        row[1].latency_s.times(1e6, "us") if row[1] else FEW
    ),
    Column("slope_ns", "slope (ns / byte)", "modelled"): lambda row: (
        row[1].seconds_per_byte.times(1e9, "ns") if row[1] else FEW
    ),
    share("error", "relative error", "modelled"): lambda row: row[0].fit.relative_error if row[1] else FEW,
}


def section(view: View) -> Section:
    """Shows two figures for the most ranks with a core each, and the fits of everything measured."""
    machine, root = view.sweep.path.name, view.sweep.path.parent.parent
    path = kernel_bench.folder(machine, root) / exchange_bench.TABLE
    if not path.is_file():
        reason = f"{TITLE}, on {machine}: missing; run `spikemark bench --exchange`."
        return Section("exchanges", TITLE, missing=[reason])
    try:
        curves = list(exchange_times.curves(exchange_times.read(path)))
    except BadInput as error:
        return Section("exchanges", TITLE, missing=[f"{TITLE}: {error}."])
    shown = _shown(curves)
    figures, missing = [], []
    for made in (_times(shown), _growth(shown)):
        (figures if isinstance(made, Figure) else missing).append(made)
    libraries = "; ".join(dict.fromkeys(c.mpi_library for c in curves))
    crowded = any(c.oversubscribed for c in curves)
    boxes = [Box("wary", NO_EVIDENCE)] if any(c.oversubscribed for c in shown) else []
    fits = _fits(curves, "Latency and bandwidth" + (f" ({MARK} more ranks than cores)" if crowded else ""))
    text = [EXPLAINED, f"MPI: {libraries}."]
    return Section("exchanges", TITLE, text, boxes, figures=figures, tables=[fits], missing=missing)


def _shown(curves: list[Curve]) -> list[Curve]:
    """Chooses exchanges with all ranks, without skew, on the most ranks with a core each."""
    plain = [c for c in curves if c.plain]
    plain = [c for c in plain if not c.oversubscribed] or plain
    most = max(((c.ranks, c.nodes) for c in plain), default=None)
    return [c for c in plain if (c.ranks, c.nodes) == most]


def _times(curves: list[Curve]) -> Figure | str:
    if not curves:
        return "Times over bytes: no exchange was measured with targets `all` and without skew."
    where = counted(curves[0].ranks, "rank")
    sizes = sorted({int(n) for c in curves for n in c.sizes})
    alt = f"Time of an exchange in microseconds over bytes, both logarithmic, {where}. " + " ".join(
        f"{c.exchange}: {_micro(c.medians_s[0])} at {c.sizes[0]} bytes, {_micro(c.medians_s[-1])} at "
        f"{c.sizes[-1]} bytes."
        for c in curves
    )
    caption = (
        f"{where.capitalize()}. Dots: median over {_repetitions(curves)} of the time of the slowest rank "
        "(measured). Lines: latency and bandwidth, fitted in pieces, since MPI libraries switch algorithms "
        "with the size (modelled)."
    )
    columns = {
        Column("bytes", "bytes", "given"): lambda n: n,
        **{Column(c.exchange, f"{c.exchange} (µs)", "measured"): _at(c) for c in curves},
    }
    svg = _draw_times(curves, "exchanges-times", alt)
    return Figure("exchanges-times", "Time of an exchange", svg, alt, caption, Table.of(columns, sizes))


def _at(curve: Curve) -> Callable[[int], float | Quantity]:
    """Returns the median time in µs, given a number of bytes."""
    known = dict(zip(curve.sizes.tolist(), 1e6 * curve.medians_s, strict=True))
    return lambda n: known.get(n, missing("not measured with this size"))


def _growth(curves: list[Curve]) -> Figure | str:
    ratios = {(c.exchange, d): c.ratios(d) for c in curves for d in WINDOWS}
    windows = tuple(d for d in WINDOWS if any(found for (_, w), found in ratios.items() if w == d))
    if not windows:
        words = ", ".join(map(str, WINDOWS))
        return f"One larger exchange against D small ones: for no size was its {words}-fold measured too."
    ratios = {key: found for key, found in ratios.items() if found}
    alt = "One exchange of D n bytes over D exchanges of n bytes, over n. " + " ".join(
        f"{exchange}, D = {d}: {number(found[0].value)} at {found[0].bytes} bytes, "
        f"{number(found[-1].value)} at {found[-1].bytes} bytes."
        for (exchange, d), found in ratios.items()
    )
    caption = (
        f"{counted(curves[0].ranks, 'rank').capitalize()}. Time of one exchange of D n bytes over that of D "
        "exchanges of n bytes, median of the ratios within each repetition (measured), both without their "
        "barriers. Dotted: 1, where time grows with the size, and 1 / D, where it does not. "
        "Lines are cut at 2. After Lober et al. (2026), fig 4."
    )
    columns = {
        Column("exchange", "exchange", "given"): lambda row: row[0][0],
        Column("d", "D", "given"): lambda row: row[0][1],
    }
    for which in PLACES:
        columns |= {
            Column(f"{which}_n", f"{which} n", "given"): lambda row, which=which: _place(row[1], which).bytes,
            Column(f"{which}_ratio", "ratio (range)", "measured"): lambda row, which=which: _quantity(
                _place(row[1], which)
            ),
        }
    svg = _draw_growth(curves, windows, "exchanges-growth", alt)
    title = "One larger exchange against D small ones"
    table = Table.of(columns, ratios.items())
    return Figure("exchanges-growth", title, svg, alt, caption, table)


def _place(found: list[Ratio], which: str) -> Ratio:
    """Returns the ratio of the smallest, the middle or the largest size."""
    return found[{"smallest": 0, "middle": len(found) // 2, "largest": -1}[which]]


def _quantity(r: Ratio) -> Quantity:
    return Quantity(r.value, r.low, r.high)


def _fits(curves: list[Curve], title: str) -> Table:
    """Makes one row for each piece of a fit, and one for a curve without a fit."""
    rows = [(c, piece) for c in curves for piece in (c.fit.pieces if c.fit else [None])]
    return Table.of(FITTED, rows, title)


def _repetitions(curves: list[Curve]) -> str:
    fewest, *_, most = sorted(2 * [len(c.times_s) for c in curves])
    return counted(most, "repetition") if fewest == most else f"{fewest}–{most} repetitions"


def _micro(seconds: float) -> str:
    return number(1e6 * seconds)


def _draw_times(curves: list[Curve], name: str, alt: str) -> str:
    """Draws medians as dots and the pieces of the fit as lines."""
    with drawing(height=3.3 + 0.2 * ((len(curves) + 2) // 3)) as (figure, (axes,)):
        for curve, style in zip(curves, _styles(len(curves)), strict=True):
            dots = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0, "linestyle": ""}
            axes.plot(curve.sizes, 1e6 * curve.medians_s, color=style["color"], **dots)
            tell(axes, curve.exchange, curve.sizes, 1e6 * curve.medians_s, "measured", _sizes(curve.sizes))
            for piece in curve.fit.pieces if curve.fit else []:
                ends = np.geomspace(piece.first, piece.last, 40)
                line = piece.latency_s.value + piece.seconds_per_byte.value * ends
                axes.plot(ends, 1e6 * line, linewidth=1.2, **style)
        axes.set_yscale("log")
        _bytes(axes)
        plain_ticks(axes.yaxis, subs=(1, 2, 5))
        axes.grid()
        axes.set_ylabel("time of an exchange (µs)")
        legend_above(figure, _handles(curves), columns=3)
        return markup(figure, name, alt, zoom=axes)


def _draw_growth(curves: list[Curve], windows: tuple[int, ...], name: str, alt: str) -> str:
    """Draws t(D n) / (D t(n)) over n, one panel for each D of `windows`."""
    height = 0.9 + 1.5 * len(windows) + 0.2 * ((len(curves) + 2) // 3)
    with drawing(len(windows), height, sharex=True) as (figure, panels):
        for axes, window in zip(panels, windows, strict=True):
            axes.set_title(f"D = {window}")
            for level in (1, 1 / window):
                axes.axhline(level, color=COLOUR["model"], linewidth=0.9, linestyle=(0, (2, 2)))
            for curve, style in zip(curves, _styles(len(curves)), strict=True):
                found = curve.ratios(window)
                sizes, ratios = [r.bytes for r in found], [r.value for r in found]
                tell(axes, curve.exchange, sizes, ratios, "measured", _sizes(sizes))
                axes.plot(sizes, ratios, linewidth=1.3, **style)
            axes.set_ylim(0, min(axes.get_ylim()[1], HIGHEST))
            axes.grid(axis="x")
        _bytes(panels[-1])
        panels[len(panels) // 2].set_ylabel("one exchange of D n bytes / D exchanges of n bytes")
        legend_above(figure, _handles(curves), columns=3)
        return markup(figure, name, alt, zoom=panels)


def _styles(count: int) -> list[dict]:
    looks = itertools.cycle(itertools.product(LINES, COLOURS))
    return [{"color": COLOUR[c], "linestyle": line} for line, c in itertools.islice(looks, count)]


def _handles(curves: list[Curve]) -> list[Line2D]:
    styles = _styles(len(curves))
    return [Line2D([], [], label=c.exchange, **style) for c, style in zip(curves, styles, strict=True)]


def _size(count: float) -> str:
    return f"{count:g}" if count < 1024 else f"{count / 1024:g} Ki"


def _sizes(counts) -> list[str]:
    return [_size(count) for count in counts]


def _bytes(axes) -> None:
    axes.set_xscale("log", base=2)
    plain_ticks(axes.xaxis, base=4)
    axes.xaxis.set_major_formatter(lambda x, _: _size(x))
    axes.set_xlabel("n, bytes from one rank to another")
