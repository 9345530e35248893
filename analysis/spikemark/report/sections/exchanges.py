"""Exchanges on their own: what `spikemark bench --exchange` measured on the same machine."""

from spikemark.bench import exchange_bench, exchange_times, kernel_bench
from spikemark.bench.exchange_times import WINDOWS, Curve, Ratio
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Box, Figure, Section, Table
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, integer, number, percent, span
from spikemark.records.cases import View
from spikemark.report.figures import exchanges as drawing

TITLE = "Exchanges on their own"
EXPLAINED = (
    "Every exchange apart from any simulation: all ranks meet at a barrier, then exchange; the time is that "
    "of the slowest rank from start to finish. Each rank sends n bytes to itself and to each of its targets. "
    "Where an exchange costs the same for any n, one exchange of D n bytes takes 1 / D of the time of D "
    "exchanges of n bytes; that is what a schedule saves that exchanges after D cycles."
)
NO_EVIDENCE = "Measured with more ranks than cores: the times are no evidence of speed."
MARK = "*"


def section(view: View) -> Section:
    """Two figures of the most ranks that have a core each, and the fits of everything measured."""
    machine, root = view.sweep.path.name, view.sweep.path.parent.parent
    path = kernel_bench.folder(machine, root) / exchange_bench.TABLE
    if not path.is_file():
        reason = f"{TITLE}, on {machine}: run `spikemark bench --exchange`."
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
    return Section(
        "exchanges",
        TITLE,
        text=[EXPLAINED, f"MPI: {libraries}."],
        boxes=[Box("wary", NO_EVIDENCE)] if any(c.oversubscribed for c in shown) else [],
        figures=figures,
        tables=[
            ("Latency and bandwidth" + (f" ({MARK} more ranks than cores)" if crowded else ""), _fits(curves))
        ],
        missing=missing,
    )


def _shown(curves: list[Curve]) -> list[Curve]:
    """To all ranks and without skew, of the most ranks that have a core each; else of the most ranks."""
    plain = [c for c in curves if c.plain]
    plain = [c for c in plain if not c.oversubscribed] or plain
    most = max((c.ranks for c in plain), default=0)
    return [c for c in plain if c.ranks == most]


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
    known = [dict(zip(c.sizes.tolist(), c.medians_s, strict=True)) for c in curves]
    rows = [[integer(n), *(_micro(times[n]) if n in times else "missing" for times in known)] for n in sizes]
    heads = ["bytes", *(f"{c.exchange} (µs)" for c in curves)]
    table = Table(heads, rows, ["given", *["measured"] * len(curves)], words=())
    svg = drawing.times(curves, "exchanges-times", alt)
    return Figure("exchanges-times", "Time of an exchange", svg, alt, caption, table)


def _growth(curves: list[Curve]) -> Figure | str:
    ratios = {(c.exchange, d): c.ratios(d) for c in curves for d in WINDOWS}
    windows = tuple(d for d in WINDOWS if any(found for (_, w), found in ratios.items() if w == d))
    if not windows:
        words = ", ".join(map(str, WINDOWS))
        return f"One larger exchange against D small ones: no size was measured with its {words}-fold."
    ratios = {key: found for key, found in ratios.items() if found}
    alt = "One exchange of D n bytes over D exchanges of n bytes, over n. " + " ".join(
        f"{exchange}, D = {d}: {number(found[0].value)} at {found[0].bytes} bytes, "
        f"{number(found[-1].value)} at {found[-1].bytes} bytes."
        for (exchange, d), found in ratios.items()
    )
    caption = (
        f"{counted(curves[0].ranks, 'rank').capitalize()}. Time of one exchange of D n bytes over that of D "
        "exchanges of n bytes, median over the repetitions of ratios within one (measured), both without "
        "their barriers. Dotted: 1, where time grows with the size, and 1 / D, where it does not. "
        "Lines are cut at 2. After Lober et al. (2026), fig 4."
    )
    rows = [
        [
            exchange,
            str(d),
            *(cell for r in (found[0], found[len(found) // 2], found[-1]) for cell in _ratio(r)),
        ]
        for (exchange, d), found in ratios.items()
    ]
    heads = ["exchange", "D", "smallest n", "ratio (range)", "middle n", "ratio (range)"]
    heads += ["largest n", "ratio (range)"]
    table = Table(heads, rows, ["given", "given", *["given", "measured"] * 3])
    svg = drawing.growth(curves, windows, "exchanges-growth", alt)
    return Figure("exchanges-growth", "One larger exchange against D small ones", svg, alt, caption, table)


def _ratio(ratio: Ratio) -> list[str]:
    return [integer(ratio.bytes), f"{number(ratio.value)} ({span([ratio.low, ratio.high])})"]


def _fits(curves: list[Curve]) -> Table:
    """One row for each piece."""
    heads = ["exchange", "targets", "ranks", "skew below (µs)", "barrier (µs)", "bytes"]
    heads += ["latency (µs)", "slope (ns / byte)", "relative error"]
    kinds = [*["given"] * 4, "measured", "given", "modelled", "modelled", "modelled"]
    rows = []
    for c in curves:
        ranks = f"{c.ranks}{MARK if c.oversubscribed else ''}"
        first = [c.exchange, c.targets, ranks, number(c.skew_us), number(1e6 * c.barrier_s)]
        if c.fit is None:
            rows.append([*first, span(c.sizes), *["missing: fewer than 3 sizes"] * 3])
        for piece in c.fit.pieces if c.fit else []:
            rows.append([
                *first,
                f"{integer(piece.first)}–{integer(piece.last)}",
                _estimate(piece.latency_s, 1e6),
                _estimate(piece.seconds_per_byte, 1e9),
                percent(c.fit.relative_error, 1),
            ])  # fmt: skip
    return Table(heads, rows, kinds, words=(0, 1))


def _estimate(estimate: Quantity, unit: float) -> str:
    if estimate.low is None:
        return number(unit * estimate.value)
    return f"{number(unit * estimate.value)} ({span([unit * estimate.low, unit * estimate.high])})"


def _repetitions(curves: list[Curve]) -> str:
    fewest, *_, most = sorted(2 * [len(c.times_s) for c in curves])
    return counted(most, "repetition") if fewest == most else f"{fewest}–{most} repetitions"


def _micro(seconds: float) -> str:
    return number(1e6 * seconds)
