"""Times of the mini-app's kernels: from raw repetitions of Google Benchmark to one row per kernel and size.

Names are `KERNEL/size:N`. For the kernels of delivery the size is the list length L, the item a synapse.
"""

import re
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from spikemark.core.errors import BadInput
from spikemark.quantities.words import counted

from .kept import Kept

DELIVER = "deliver"  # delivery as in the mini-app
BOUND = "deliver_bound_prefetch"  # what no delivery can avoid, with upcoming lists fetched ahead
BOUND_PLAIN = "deliver_bound"  # the same bound without fetching ahead

#: What Google Benchmark appends to the names of benchmarks that are timed by the wall clock.
WALL_CLOCK = ("real_time", "manual_time")
NAME = re.compile(r"(?P<kernel>[\w.]+)/size:(?P<size>[1-9]\d*)(?P<options>(/[\w:.-]+)*)")


def contract():
    """The pandera contract of kernels.parquet. Times are nanoseconds per item.

    `median_ns`, `q1_ns`, `q3_ns`: over the repetitions, by `clock`: `cpu` does not count the time in which
    something else ran, `real` does. `real_median_ns`: by the wall clock in any case. `raw`: the file of the
    repetitions; only times from one file were measured interleaved and may be compared.
    """
    time = pa.Column("float64", [pa.Check.gt(0), pa.Check.lt(float("inf"))])
    return pa.DataFrameSchema(
        {
            "kernel": pa.Column("str"),
            "size": pa.Column("int64", pa.Check.ge(1)),
            "item": pa.Column("str"),
            "repetitions": pa.Column("int64", pa.Check.ge(1)),
            "clock": pa.Column("str", pa.Check.isin(["cpu", "real"])),
            **dict.fromkeys(("median_ns", "q1_ns", "q3_ns", "real_median_ns"), time),
            "raw": pa.Column("str"),
        },
        checks=pa.Check(lambda t: (t["q1_ns"] <= t["median_ns"]) & (t["median_ns"] <= t["q3_ns"])),
        coerce=True,
        strict=True,
        unique=["kernel", "size"],
    )


def repetitions(content: Any) -> tuple[pd.DataFrame, list[str]]:
    """The raw repetitions in the JSON of Google Benchmark, and what had to be dropped.

    One row per repetition: `kernel`, `size`, `item`, `clock`, `ns` and `real_ns` per item. Aggregates are
    ignored. Dropped, with one line each: benchmarks whose repetitions failed, have another kind of name, or
    give no items. Raises BadInput if `content` is not the output of Google Benchmark.
    """
    entries = content.get("benchmarks") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise BadInput("not the output of Google Benchmark: no list 'benchmarks'")
    rows, dropped = [], {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise BadInput(f"not the output of Google Benchmark: an entry is {entry!r}")
        if entry.get("run_type") == "aggregate":
            continue
        name = str(entry.get("run_name", entry.get("name")))
        try:
            rows.append(_repetition(name, entry))
        except _Dropped as reason:
            dropped.setdefault((name, str(reason)), []).append(entry)
    lines = [
        f"{name}: {counted(len(members), 'repetition')} dropped: {why}"
        for (name, why), members in dropped.items()
    ]
    return pd.DataFrame(rows, columns=["kernel", "size", "item", "clock", "ns", "real_ns"]), lines


class _Dropped(Exception):
    """A repetition cannot be used; the message says why."""


def _repetition(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    if entry.get("error_occurred") or entry.get("skipped"):
        raise _Dropped(entry.get("error_message") or entry.get("skip_message") or "failed without a reason")
    parts = NAME.fullmatch(name)
    if not parts:
        raise _Dropped("its name is not KERNEL/size:N")
    rate = entry.get("items_per_second")
    if not (isinstance(rate, int | float) and 0 < rate < float("inf")):
        raise _Dropped(f"items_per_second={rate!r}: a number above 0 is needed")
    clock = "real" if set(parts["options"].split("/")) & set(WALL_CLOCK) else "cpu"
    real, timed = (entry.get(f"{which}_time") for which in ("real", clock))
    if not all(isinstance(time, int | float) and time > 0 for time in (real, timed)):
        raise _Dropped("it took no time")
    return {
        "kernel": parts["kernel"],
        "size": int(parts["size"]),
        "item": str(entry.get("label") or "item").removeprefix("per "),
        "clock": clock,
        "ns": 1e9 / rate,  # per second whatever the time_unit, which both times share
        "real_ns": 1e9 / rate * real / timed,
    }


def aggregate(rows: pd.DataFrame, raw: str) -> pd.DataFrame:
    """One row per kernel and size, see `contract`, in the order of `rows`' kernels, then by size.

    `rows`: of `repetitions`, at least one. `raw`: the name of the file they come from.
    """
    groups = rows.groupby(["kernel", "size"], sort=False)
    table = groups.agg(
        item=("item", "first"),
        repetitions=("ns", "size"),
        clock=("clock", "first"),
        median_ns=("ns", "median"),
        q1_ns=("ns", lambda ns: ns.quantile(0.25)),
        q3_ns=("ns", lambda ns: ns.quantile(0.75)),
        real_median_ns=("real_ns", "median"),
    ).reset_index()
    return contract().validate(in_order(table.assign(raw=raw)))


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """The table sorted: delivery and its bounds first, then kernels by name; sizes ascending."""
    first = [BOUND_PLAIN, BOUND, DELIVER]
    position = table["kernel"].map(lambda k: (first.index(k) if k in first else len(first), k))
    return (
        table.assign(position=position)
        .sort_values(["position", "size"], ignore_index=True)
        .drop(columns="position")
    )


KEPT = Kept("kernels", "spikemark bench", ["kernel", "size"], contract, in_order)
read, update = KEPT.read, KEPT.update


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Delivery against its bound, by list length: `size`, `deliver_ns`, `bound_ns`, `ratio` (of medians).

    It has only the sizes at which both were measured in one interleaved run, and may be empty.
    """
    columns = ["size", "raw", "median_ns"]
    deliver, bound = (table.loc[table["kernel"] == name, columns] for name in (DELIVER, BOUND))
    both = deliver.merge(bound, on=["size", "raw"], suffixes=("_deliver", "_bound")).sort_values("size")
    both = both.rename(columns={"median_ns_deliver": "deliver_ns", "median_ns_bound": "bound_ns"})
    both["ratio"] = both["deliver_ns"] / both["bound_ns"]
    return both[["size", "deliver_ns", "bound_ns", "ratio"]].reset_index(drop=True)


def bound_ns(table: pd.DataFrame, length: float) -> float:
    """Nanoseconds per synapse of the bound for a mean list length, interpolated linearly in log(length).

    Raises BadInput if the bound was not measured, or not for lists this short or long.
    """
    bound = table[table["kernel"] == BOUND].sort_values("size")
    if not len(bound):
        raise BadInput(f"{BOUND} was not measured; run `spikemark bench`")
    sizes = bound["size"].to_numpy()
    if not sizes[0] <= length <= sizes[-1]:
        raise BadInput(f"mean list length {length:.4g}: the bound was measured for {sizes[0]} to {sizes[-1]}")
    return float(np.interp(np.log(length), np.log(sizes), bound["median_ns"]))
