"""Sums of times over whole runs, without single cycles: NEST's stopwatches and tables of beNNch.

They hold, in s, `time_simulate`, `time_communicate_spike_data` and, of NEST built
`with-mpi-sync-timer`, `time_mpi_synchronization`, the barrier. They allow load balance and the
efficiencies of POP; whatever needs cycles refuses them.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError, model_validator

from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.schema import Positive, RecordPart, Seconds

KIND: Literal["imported sums"] = "imported sums"
#: Columns that are 0 where a file does not have them.
OPTIONAL_COLUMNS = ("wait", "nodes", "per_node", "model_ms")
WAITING_NOT_TIMED = (
    "waiting was not timed apart from the exchange; NEST does so built with-mpi-sync-timer"
)


class RunSums(RecordPart):
    """Sums of one run in s, one for each rank, or a single mean over ranks."""

    name: str = Field(description="the run")
    of: Literal["ranks", "mean"] = Field(description="what the sums are of")
    ranks: Positive | None = Field(description="MPI ranks; null where nobody knows")
    run_s: Annotated[list[Seconds], Field(min_length=1)] = Field(description="state propagation, s")
    communicate_s: list[Seconds] = Field(description="the part of it in collective calls, s")
    wait_s: list[Seconds] | None = Field(
        None, description="the part of that spent waiting, s; null where it was not timed"
    )
    model_s: Annotated[float, Field(gt=0)] | None = Field(
        None, description="simulated time, s; null where nobody knows"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        waits = self.communicate_s if self.wait_s is None else self.wait_s
        # ValueError for other numbers of ranks
        times = np.array([waits, self.communicate_s, self.run_s])
        if (np.diff(times, axis=0) < 0).any():
            expected = f"at most {max(self.run_s):g} s, the run time, and at least all waiting"
            raise BadInput(
                f"{self.name}: {max(self.communicate_s):g} s of communication; expected {expected}",
                field="communicate_s",
                code="range",
            )
        return self

    @property
    def efficiency(self) -> dict[str, Quantity]:
        """The efficiencies of POP, 0 to 1, as `waiting.ladder.efficiency` has them from cycles.

        Run time: that of the slowest rank. Communication efficiency: the most that a rank computes
        over the run time, the product of serialisation and transfer, which come apart only where
        waiting was timed.
        """
        run_s = max(self.run_s)
        compute_s = np.subtract(self.run_s, self.communicate_s)
        exchange_s = np.subtract(self.communicate_s, self.wait_s or self.communicate_s)
        ideal_s = run_s - float(np.mean(exchange_s))  # with an exchange that takes no time
        mean_s = compute_s.mean()
        largest_s = compute_s.max()
        only_means = "" if self.of == "ranks" else "the files have means over ranks"
        untimed = ""
        if not self.wait_s:
            untimed = only_means or WAITING_NOT_TIMED
        single = "" if len(compute_s) > 1 and largest_s > 0 else "there is one rank"
        return {
            "load_balance": _efficiency(mean_s, largest_s, only_means or single),
            "serialisation": _efficiency(largest_s, ideal_s, untimed or only_means),
            "transfer": _efficiency(ideal_s, run_s, untimed),
            "communication": _efficiency(largest_s, run_s, only_means),
            "parallel": _efficiency(mean_s, run_s, ""),
        }


def _efficiency(part_s: float, whole_s: float, unknown: str) -> Quantity:
    """A share of a time, at most 1; missing where there is a reason why it is unknown."""
    if unknown or not whole_s > 0:
        return missing(unknown or "the run took no time")
    return Quantity(float(min(part_s / whole_s, 1)), kind="measured")


class Sums(RecordPart):
    """imported.json of sums."""

    format_version: Literal[1] = Field(
        1,
        description="version of the format",
    )
    kind: Literal["imported sums"] = Field(KIND, description=KIND)
    reader: str = Field(description="the format of the files")
    files: Annotated[list[str], Field(min_length=1)] = Field(description="what was read")
    runs: Annotated[list[RunSums], Field(min_length=1)] = Field(description="a run each")
    remarks: list[str] = Field(
        default_factory=list,
        description="what was left out or is odd",
    )

    @property
    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        runs = []
        for run in self.runs:
            efficiency = {name: share.content() for name, share in run.efficiency.items()}
            runs.append(run.model_dump() | {"efficiency": efficiency})
        return {"kind": self.kind, "reader": self.reader, "runs": runs, "remarks": self.remarks}

    @property
    def table(self) -> Table:
        """One line per run: how long it took, and its efficiencies."""
        columns = [
            Column("run", "run"),
            Column("ranks", "ranks"),
            Column("run_s", "run time (s)", "measured"),
        ]
        for name in self.runs[0].efficiency:
            columns.append(Column(name, name.replace("_", " "), "measured"))
        rows: list[dict[str, Cell]] = []
        for run in self.runs:
            row: dict[str, Cell] = {"run": run.name, "ranks": run.ranks, "run_s": max(run.run_s)}
            row.update(run.efficiency)
            rows.append(row)
        return Table(columns, rows, "Efficiencies of POP, from sums over whole runs")


def refuse(path: Path, *more: Path, **how: object) -> BadInput:
    """Why files, or a folder, of sums do not answer a question about cycles.

    `how`: the options with which they are read.

    Example:
        >>> "spikemark waiting sums.csv" in str(refuse(Path("sums.csv")))
        True
    """
    allowed = command("waiting", path, *more, **how)
    reason = (
        "holds sums over whole runs; this needs the time of every rank in every cycle"
        f" (docs/other-simulators.md). What sums allow: {allowed}"
    )
    return BadInput(reason=reason, file=path, code="file")


def sums_of_files(
    reader: str,
    files: list[Path],
    parts: list[dict[str, np.ndarray]],
    by_line: bool,
    remarks: list[str],
) -> Sums:
    """Sums of files of one run or several.

    Args:
        reader: name of the format.
        files: paths.
        parts: the columns [line] of each file.
        by_line: whether a line is a run, else a rank of one run.
        remarks: about what was left out.

    Raises BadInput for sums that cannot be.

    Example:
        >>> names = ("cycle_time", "compute", "communicate")
        >>> values = np.array([[10.0, 10.0], [8.0, 9.0], [2.0, 1.0]])  # s, of two ranks
        >>> part = dict(zip(names, values, strict=True))
        >>> sums = sums_of_files("table", [Path("sums.csv")], [part], by_line=False, remarks=[])
        >>> sums.runs[0].ranks
        2
    """
    tables = []
    for path, part in zip(files, parts, strict=True):
        tables.append(pd.DataFrame(part).assign(file=path.stem))
    lines = pd.concat(tables, ignore_index=True)
    for name in OPTIONAL_COLUMNS:
        if name not in lines:
            lines[name] = 0.0
    lines = lines.fillna(dict.fromkeys(OPTIONAL_COLUMNS, 0.0))
    if by_line:
        runs = [_sums(lines.loc[[row]]) | _run_of_bennch(line) for row, line in lines.iterrows()]
    else:
        name = files[0].parent.resolve().name
        runs = [_sums(lines) | {"name": name, "of": "ranks", "ranks": len(lines)}]
    content = {
        "reader": reader,
        "files": [str(path) for path in files],
        "runs": runs,
        "remarks": remarks,
    }
    try:
        return Sums.model_validate(content)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise BadInput(
            reason,
            field="communicate",
            file=files[0],
        ) from None


def _sums(lines: pd.DataFrame) -> dict[str, Any]:
    """The times of a run, of all its lines."""
    wait_s = lines["wait"].tolist()
    return {
        "run_s": lines["cycle_time"].tolist(),
        "communicate_s": lines["communicate"].tolist(),
        "wait_s": wait_s if any(wait_s) else None,
    }


def _run_of_bennch(line: pd.Series) -> dict[str, Any]:
    """What else is known of a run of beNNch, whose times are means over ranks."""
    words = [f"{line['nodes']:g} nodes" if line["nodes"] else line["file"]]
    if not np.isnan(line.get("seed", np.nan)):
        words.append(f"seed {line['seed']:.15g}")
    return {
        "name": ", ".join(words),
        "of": "mean",
        "ranks": round(line["nodes"] * line["per_node"]) or None,
        "model_s": line["model_ms"] / 1e3 or None,
    }
