"""Times of exchanges on their own: from the JSON of `bench_exchange` to a table, curves and ratios.

miniapp/FORMAT.md states the JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.errors import SchemaError

from spikemark.core.errors import BadInput
from spikemark.models.latency_bandwidth import FEWEST, LatencyBandwidth

from .kept import Kept

CURVE = ["exchange", "ranks", "nodes", "targets", "skew_us"]  # shared by all times of a curve
WINDOWS = (2, 5, 10)  # D: one exchange of D-fold size against D exchanges
COLUMNS = ["case", "repetition", "rounds", "barrier_s", "exchange_s", "exchange_mean_s"]


def contract():
    """The pandera contract of exchanges.parquet: one row per repetition, times in seconds.

    `barrier_s` and `exchange_s`: median over the rounds of the slowest rank, `exchange_mean_s`: mean.
    `raw`: the file they come from; a curve comes from one, measured in shuffled order.
    """
    time = pa.Column("float64", [pa.Check.gt(0), pa.Check.lt(float("inf"))])
    count = pa.Column("int64", pa.Check.ge(1))
    return pa.DataFrameSchema(
        {
            "exchange": pa.Column("str"),
            **dict.fromkeys(("ranks", "nodes", "bytes"), count),
            "targets": pa.Column("str"),
            "partners": pa.Column("int64", pa.Check.ge(0)),
            "skew_us": pa.Column("float64", pa.Check.ge(0)),
            "repetition": pa.Column("int64", pa.Check.ge(0)),
            "rounds": count,
            **dict.fromkeys(("barrier_s", "exchange_s", "exchange_mean_s"), time),
            "oversubscribed": pa.Column("bool"),
            "mpi_library": pa.Column("str"),
            "raw": pa.Column("str"),
        },
        coerce=True,
        strict=True,
        ordered=True,
        unique=[*CURVE, "bytes", "repetition"],
    )


def repetitions(content: Any, raw: str) -> tuple[pd.DataFrame, list[str]]:
    """The table (see `contract`) of one JSON, and the exchanges that were left out, with reasons.

    `raw`: the name of the file. Raises BadInput if `content` was not written by bench_exchange.
    """
    if not isinstance(content, dict) or content.get("kind") != "exchange times":
        raise BadInput("not the output of bench_exchange: kind is not 'exchange times'")
    if content.get("format_version") != 1:
        raise BadInput(f"format_version={content.get('format_version')!r}: allowed is 1")
    try:
        cases = pd.DataFrame(
            content["cases"], columns=["exchange", "bytes", "targets", "partners", "skew_us"]
        )
        rows = pd.DataFrame(content["measurements"], columns=COLUMNS)
        if len(rows) != len(cases) * content["repetitions"]:
            raise BadInput(f"{len(rows)} measurements of {len(cases)} cases: some are missing")
        skipped = [f"{s['exchange']}: left out: {s['reason']}" for s in content["skipped"]]
        table = rows.join(cases, on="case").drop(columns="case")
        for name in ("ranks", "nodes", "oversubscribed"):
            table[name] = content[name]
        table["mpi_library"], table["raw"] = content["provenance"]["mpi_library"], raw
        return in_order(contract().validate(table[list(contract().columns)])), skipped
    except (KeyError, TypeError) as error:
        raise BadInput(f"not the output of bench_exchange: {type(error).__name__}: {error}") from None
    except SchemaError as error:
        raise BadInput(f"not the output of bench_exchange: {' '.join(str(error).split())}") from None


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """The table sorted by ranks, then by exchange."""
    keys = ["ranks", "nodes", "exchange", "targets", "skew_us", "bytes", "repetition"]
    return table.sort_values(keys, ignore_index=True)


KEPT = Kept("exchanges", "spikemark bench --exchange", CURVE, contract, in_order)
read, update = KEPT.read, KEPT.update


@dataclass(frozen=True)
class Ratio:
    """t(D n) / (D t(n)) at n = `bytes`: median over the repetitions, and their range."""

    window: int  # D
    bytes: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Times of one exchange over the number of bytes."""

    exchange: str
    ranks: int
    nodes: int
    targets: str
    skew_us: float
    oversubscribed: bool
    mpi_library: str
    sizes: np.ndarray  # [size], bytes, ascending
    times_s: np.ndarray  # [repetition, size]
    barrier_s: float  # median over everything

    @property
    def plain(self) -> bool:
        """Says whether every rank sends to all others, without skew."""
        return self.targets == "all" and self.skew_us == 0

    @property
    def medians_s(self) -> np.ndarray:
        return np.median(self.times_s, axis=0)

    @cached_property
    def fit(self) -> LatencyBandwidth | None:
        """The fitted curve; None if there are too few sizes."""
        return LatencyBandwidth.fit(self.sizes, self.times_s) if len(self.sizes) >= FEWEST else None

    def ratios(self, window: int) -> list[Ratio]:
        """One exchange of `window`-fold size against `window` exchanges, if both sizes were measured.

        It is 1 where the time grows with the size, and 1 / D where it does not depend on it (Lober et al.
        2026).
        """
        place = {int(n): i for i, n in enumerate(self.sizes)}
        found = []
        for n, i in place.items():
            if window * n in place:
                each = self.times_s[:, place[window * n]] / (window * self.times_s[:, i])
                found.append(Ratio(window, n, float(np.median(each)), float(each.min()), float(each.max())))
        return found


def curves(table: pd.DataFrame) -> Iterator[Curve]:
    """Yields the curves in the order of the table."""
    for key, rows in table.groupby(CURVE, sort=False):
        times = rows.pivot(index="repetition", columns="bytes", values="exchange_s").sort_index(axis=1)
        yield Curve(
            *key,
            oversubscribed=bool(rows["oversubscribed"].any()),
            mpi_library=rows["mpi_library"].iloc[0],
            sizes=times.columns.to_numpy(),
            times_s=times.to_numpy(),
            barrier_s=float(rows["barrier_s"].median()),
        )
