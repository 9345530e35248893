"""Times of the mini-app's kernels by build/bench_kernels, a program of Google Benchmark.

Names are `KERNEL/size:N`, times are nanoseconds per item. `spikemark bench` runs the program once,
with repetitions in random order, and keeps the JSON of Google Benchmark; a calibration runs it in
rounds (kernel_rounds.py).
"""

import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pandas as pd

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed, output
from spikemark.quantities.table import Column, Table

from .bench_program import BENCH_LIMIT_S, read_program_json

#: Delivery as in the mini-app, what no delivery can avoid, and delivery in plain code, which a run
#: description chooses with `delivery: reference`.
DELIVER, BOUND, REFERENCE = "deliver", "deliver_bound_prefetch", "deliver_reference"
#: Kernels at the top of the summary, in this order.
FIRST_KERNELS = ("deliver_bound", BOUND, DELIVER, REFERENCE)
KERNEL_NAME = re.compile(r"(?P<kernel>[\w.]+)/size:(?P<size>[1-9]\d*)(?P<options>(/[\w:.-]+)*)")
#: Options that Google Benchmark appends to the names of kernels that it times by the wall clock.
WALL_CLOCK = {"real_time", "manual_time"}
#: Wall-clock over CPU time from which the machine counts as busy.
BUSY = 1.05


class KernelTime(NamedTuple):
    """A repetition of a kernel."""

    kernel: str
    size: int
    item: str  #: what the time is divided by, such as `synapse`
    ns: float  #: per item, by the clock of the kernel
    real_ns: float  #: per item, by the wall clock


def repetitions(content: Any) -> tuple[pd.DataFrame, list[str]]:
    """The repetitions in the JSON of Google Benchmark, and why others were dropped, a line each.

    The columns are the fields of KernelTime.

    Example:
        >>> result = {"name": "clock/size:1", "iterations": 10, "items_per_second": 1e9}
        >>> rows, dropped = repetitions({"benchmarks": [result]})
        >>> len(rows), dropped
        (0, ['clock/size:1: dropped: no name, no items or no time'])
    """
    times = []
    dropped = {}
    for entry in content["benchmarks"]:
        if entry.get("run_type") == "aggregate":
            continue
        name = entry.get("run_name", entry["name"])
        time = _repetition(name, entry)
        if time is None:
            reason = entry.get("error_message") or entry.get("skip_message")
            dropped[name] = f"{name}: dropped: {reason or 'no name, no items or no time'}"
        else:
            times.append(time)
    return pd.DataFrame(times, columns=list(KernelTime._fields)), list(dropped.values())


def _repetition(name: str, entry: Mapping[str, Any]) -> KernelTime | None:
    """The time in an entry of Google Benchmark; None where there is none that can be used."""
    parts = KERNEL_NAME.fullmatch(name)
    if parts is None or entry.get("error_occurred") or entry.get("skipped"):
        return None
    by_wall_clock = not WALL_CLOCK.isdisjoint(parts["options"].split("/"))
    rate, real = entry.get("items_per_second"), entry.get("real_time")
    time = real if by_wall_clock else entry.get("cpu_time")
    if not (_is_positive(rate) and _is_positive(real) and _is_positive(time)):
        return None
    ns = 1e9 / rate
    item = str(entry.get("label") or "item").removeprefix("per ")
    # Both times share a unit.
    return KernelTime(parts["kernel"], int(parts["size"]), item, ns, ns * real / time)


def _is_positive(value: object) -> TypeGuard[float]:
    """Whether a value of JSON is a finite number above 0."""
    return isinstance(value, int | float) and 0 < value < math.inf


@dataclass(frozen=True)
class KernelTimes:
    """Times of kernels that a bench measured."""

    rows: pd.DataFrame  #: repetitions of all kernels, with the columns of KernelTime
    raw: Path  #: their file
    dropped: list[str]  #: what could not be used, and why

    @property
    def summary(self) -> pd.DataFrame:
        """By kernel and size: item, repetitions, median_ns and quartiles.

        Delivery and its bounds come first.
        """
        groups = self.rows.groupby(["kernel", "size"], sort=False)
        summary = groups.agg(
            item=("item", "first"),
            repetitions=("ns", "size"),
            median_ns=("ns", "median"),
            q1_ns=("ns", lambda ns: ns.quantile(0.25)),
            q3_ns=("ns", lambda ns: ns.quantile(0.75)),
        ).reset_index()
        ranks = {kernel: rank for rank, kernel in enumerate(FIRST_KERNELS)}
        summary["rank"] = summary["kernel"].map(ranks).fillna(len(ranks))
        summary = summary.sort_values(["rank", "kernel", "size"], ignore_index=True)
        return pd.DataFrame(summary.drop(columns="rank"))

    @property
    def ratios(self) -> pd.DataFrame:
        """Delivery as a multiple of its bound, by list length; ratio of medians."""
        return self._ratios(DELIVER, BOUND)

    @property
    def reference_ratios(self) -> pd.DataFrame:
        """Plain delivery as a multiple of the tuned one, by list length; ratio of medians.

        Both work on the same lists, and their repetitions are interleaved at random.
        """
        return self._ratios(REFERENCE, DELIVER)

    def _ratios(self, kernel: str, base: str) -> pd.DataFrame:
        """Times of a kernel over those of another one; columns `size` and `ratio`."""
        medians = self.summary.set_index(["kernel", "size"])["median_ns"]
        if not {kernel, base} <= set(medians.index.get_level_values(0)):
            return pd.DataFrame(columns=["size", "ratio"])
        ratios = medians.loc[kernel] / medians.loc[base]
        return pd.DataFrame(ratios.dropna().rename("ratio").reset_index())

    @property
    def slowdown(self) -> float:
        """Wall-clock over CPU time, median: above BUSY, other programs used the machine."""
        return float((self.rows["real_ns"] / self.rows["ns"]).median())


def bench(
    out: Path,
    count: int = 5,
    pattern: str = "",
    min_time_s: float = 0.2,
) -> KernelTimes:
    """Measures kernels in random order.

    Writes `out`/kernels-TIMESTAMP.json, the repetitions as Google Benchmark has them.

    Args:
        out: the folder of the file.
        count: repetitions of each kernel.
        pattern: a regular expression that names of kernels match; empty: all.
        min_time_s: shortest time of a repetition.

    Raises BadInput for a pattern without a match and a missing program; ProgramFailed if the
    program fails or gives no time.

    Example:
        >>> bench(Path("out"), count=0)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: repetitions=0; expected a whole number from 1
    """
    if count < 1:
        raise BadInput(
            field="repetitions", value=count, expected="a whole number from 1", code="range"
        )
    if not 0 < min_time_s < math.inf:
        raise BadInput(
            field="min-time",
            value=min_time_s,
            expected="a number of seconds above 0",
            code="range",
        )
    program = str(places.program("bench_kernels"))
    if not matching(program, pattern or "."):
        kernels = sorted({name.split("/")[0] for name in matching(program, ".")})
        expected = f"a match among {', '.join(kernels)}"
        raise BadInput(
            field="filter",
            value=pattern,
            expected=expected,
        )
    with locked(out), tempfile.TemporaryDirectory(dir=out, prefix=".bench-") as workspace:
        file = Path(workspace) / "raw.json"
        command = [
            program,
            f"--benchmark_filter={pattern or '.'}",
            f"--benchmark_repetitions={count}",
            f"--benchmark_min_time={min_time_s}",
            "--benchmark_enable_random_interleaving=true",
            "--benchmark_report_aggregates_only=false",
            "--benchmark_out_format=json",
            f"--benchmark_out={file}",
        ]
        output(Launch(command), BENCH_LIMIT_S)
        rows, dropped = read_program_json(program, file, repetitions)
        raw = out / f"kernels-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
        write_atomically(raw, file.read_text())
    if rows.empty:
        reason = dropped[0] if dropped else "it is empty"
        raise ProgramFailed(f"no kernel gave a time, see {raw}: {reason}")
    return KernelTimes(rows, raw, dropped)


def matching(program: str, pattern: str) -> list[str]:
    """The names of kernels with their sizes that match.

    Example:
        >>> matching("echo", "clock")  # instead of bench_kernels: what it is started with
        ['--benchmark_list_tests=true', '--benchmark_filter=clock']
    """
    command = [program, "--benchmark_list_tests=true", f"--benchmark_filter={pattern}"]
    return output(Launch(command), BENCH_LIMIT_S).split()


def kernel_table(times: KernelTimes) -> Table:
    """A row per kernel and size.

    Example:
        >>> rows = pd.DataFrame([KernelTime("clock", 1, "cycle", 0.5, 0.5)])
        >>> (row,) = kernel_table(KernelTimes(rows, Path("raw.json"), dropped=[])).rows
        >>> row["kernel"], row["ns"]
        ('clock', 0.5)
    """
    columns = {
        Column("kernel", "kernel"): lambda row: row.kernel,
        Column("item", "item"): lambda row: row.item,
        Column("size", "size"): lambda row: row.size,
        Column("ns", "ns per item", "measured"): lambda row: row.median_ns,
        Column("quartiles", "quartiles", "measured"): lambda row: (row.q1_ns, row.q3_ns),
    }
    return Table.from_items(columns, times.summary.itertuples(), "Kernels, median over repetitions")
