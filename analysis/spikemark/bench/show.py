"""Times of kernels and of exchanges as tables for people."""

import pandas as pd

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number

from . import kernels
from .exchange_times import CURVE, Curve, curves

CLOCKS = {"cpu": "CPU", "real": "wall-clock"}


def kernel_tables(times: pd.DataFrame) -> list[Table]:
    """The times of kernels (`kernels.contract`) and, if both were measured, delivery against its bound."""
    rows = [
        {
            "kernel": r.kernel,
            "item": r.item,
            "size": r.size,
            "ns": r.median_ns,
            "quartiles": (r.q1_ns, r.q3_ns),
        }
        for r in times.itertuples()
    ]
    clocks = " or ".join(CLOCKS[clock] for clock in sorted(set(times["clock"])))
    counts = " to ".join(
        str(n) for n in dict.fromkeys((times["repetitions"].min(), times["repetitions"].max()))
    )
    columns = [
        Column("kernel", "kernel"),
        Column("item", "item"),
        Column("size", "size"),
        Column("ns", "ns", "measured"),
        Column("quartiles", "quartiles (ns)", "measured"),
    ]
    title = f"{clocks} time per item, median and quartiles of {counts} repetitions"
    found = [Table(columns, rows, title)]
    ratios = kernels.ratios(times)
    if len(ratios):
        columns = [
            Column("size", "list length"),
            Column("deliver_ns", f"{kernels.DELIVER} (ns)", "measured"),
            Column("bound_ns", f"{kernels.BOUND} (ns)", "measured"),
            Column("ratio", "multiple", "measured"),
        ]
        rows = ratios.astype({"size": int}).astype(object).to_dict("records")
        found.append(Table(columns, rows, "Delivery as a multiple of its bound, ratio of medians"))
    return found


def exchange_table(times: pd.DataFrame) -> Table:
    """A line for each curve (`exchange_times.contract`): times at three sizes, and the fit."""
    columns = [
        Column("exchange", "exchange"),
        Column("targets", "targets"),
        Column("ranks", "ranks"),
        Column("skew_us", "skew (µs)"),
        Column("fit", "fit (µs, ns per byte)", "modelled"),
        Column("barrier_us", "barrier (µs)", "measured"),
        Column("smallest_us", "smallest (µs)", "measured"),
        Column("middle_us", "middle (µs)", "measured"),
        Column("largest_us", "largest (µs)", "measured"),
    ]
    counts = "/".join(str(n) for n in sorted(set(times.groupby([*CURVE, "bytes"]).size())))
    sizes = sorted(set(times["bytes"]))
    three = ", ".join(str(n) for n in dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1])))
    title = (
        f"Time of the slowest rank from start to finish, median of {counts} repetitions;"
        f" sizes are {three} bytes per pair of ranks"
    )
    return Table(columns, [_row(curve) for curve in curves(times)], title)


def _row(curve: Curve) -> dict[str, str | float]:
    smallest, middle, largest = (curve.medians_s[i] for i in (0, len(curve.sizes) // 2, -1))
    return {
        "exchange": curve.exchange,
        "targets": curve.targets,
        "ranks": f"{curve.ranks}*" if curve.oversubscribed else curve.ranks,
        "skew_us": f"{curve.skew_us:g}",
        "fit": fit_in_words(curve),
        "barrier_us": 1e6 * curve.barrier_s,
        "smallest_us": 1e6 * smallest,
        "middle_us": 1e6 * middle,
        "largest_us": 1e6 * largest,
    }


def fit_in_words(curve: Curve) -> str:
    """The pieces of a fit, such as `4: 1.20 + 0.310 n`: first size, latency in µs, slope in ns per byte."""
    if curve.fit is None:
        return "missing: fewer than 3 sizes"
    return "; ".join(
        f"{p.first}: {number(1e6 * p.latency_s.value)} + {number(1e9 * p.seconds_per_byte.value)} n"
        for p in curve.fit.pieces
    )
