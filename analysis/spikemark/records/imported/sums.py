"""Sums of times over whole runs, without single cycles: NEST's stopwatches and tables of beNNch.

They hold, in s, `time_simulate`, `time_communicate_spike_data` and, of NEST built `with-mpi-sync-timer`,
`time_mpi_synchronization`, the barrier. They allow load balance and the efficiencies of POP; whatever needs
cycles refuses them.
"""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError, model_validator

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.records.record_fields import Fields, Positive, Seconds

KIND = "imported sums"
UNTIMED = "waiting was not timed apart from the exchange; NEST does so built with-mpi-sync-timer"


class Summed(Fields):
    """Sums of one run in s, one for each rank, or a single mean over ranks (`of` says which).

    `run_s`: state propagation; `communicate_s`: the part of it in collective calls; `wait_s`: the part of
    that spent waiting, None where it was not timed. `model_s`: simulated time, None where nobody knows.
    """

    name: str
    of: Literal["ranks", "mean"]
    ranks: Positive | None
    run_s: Annotated[list[Seconds], Field(min_length=1)]
    communicate_s: list[Seconds]
    wait_s: list[Seconds] | None = None
    model_s: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _fit(self) -> "Summed":
        waits = self.communicate_s if self.wait_s is None else self.wait_s
        times = np.array([waits, self.communicate_s, self.run_s])  # ValueError for other numbers of ranks
        if (np.diff(times, axis=0) < 0).any():
            raise ValueError(f"{self.name}: waiting, communication and run time: each within the next")
        return self

    @property
    def efficiency(self) -> dict[str, Quantity]:
        """The efficiencies of POP, 0 to 1, as `waiting.ladder.efficiency` has them from cycles.

        Run time: that of the slowest rank. Communication efficiency: the most that a rank computes over the
        run time, the product of serialisation and transfer, which come apart only where waiting was timed.
        """
        runtime, compute = max(self.run_s), np.subtract(self.run_s, self.communicate_s)
        ideal = runtime - float(np.mean(np.subtract(self.communicate_s, self.wait_s or self.communicate_s)))
        mean, most = compute.mean(), compute.max()
        means = "" if self.of == "ranks" else "the files have means over ranks"
        untimed = "" if self.wait_s else means or UNTIMED
        one = "" if len(compute) > 1 and most > 0 else "there is one rank"
        shares = {
            "load_balance": (mean, most, means or one),
            "serialisation": (most, ideal, untimed or means),
            "transfer": (ideal, runtime, untimed),
            "communication": (most, runtime, means),
            "parallel": (mean, runtime, ""),
        }
        return {
            name: missing(why or "the run took no time")
            if why or not whole > 0
            else Quantity(float(min(part / whole, 1)), kind="measured")
            for name, (part, whole, why) in shares.items()
        }


class Sums(Fields):
    """imported.json of sums."""

    format_version: Literal[1] = 1
    kind: Literal[KIND] = KIND
    reader: str
    files: Annotated[list[str], Field(min_length=1)]
    runs: Annotated[list[Summed], Field(min_length=1)]

    @property
    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        runs = [
            one.model_dump() | {"efficiency": {name: q.content() for name, q in one.efficiency.items()}}
            for one in self.runs
        ]
        return {"kind": self.kind, "reader": self.reader, "runs": runs}

    @property
    def table(self) -> Table:
        """One line per run: how long it took, and its efficiencies."""
        columns = [
            Column("run", "run"),
            Column("ranks", "ranks"),
            Column("run_s", "run time (s)", "measured"),
        ]
        columns += [Column(name, name.replace("_", " "), "measured") for name in self.runs[0].efficiency]
        rows = [
            {"run": one.name, "ranks": one.ranks, "run_s": max(one.run_s)} | one.efficiency
            for one in self.runs
        ]
        return Table(columns, rows, "Efficiencies of POP, from sums over whole runs")


def refuse(path: Path) -> BadInput:
    """Why a folder of sums does not answer a question about cycles."""
    return BadInput(
        f"{path}: holds sums over whole runs; this needs the time of every rank in every cycle"
        f" (docs/other-simulators.md). What sums allow: spikemark waiting {shlex.quote(str(path))}"
    )


def of_files(reader: str, files: list[Path], parts: list[dict[str, np.ndarray]], by_line: bool) -> Sums:
    """Sums of files with a line for each rank of one run, or `by_line` for each of several runs.

    `parts`: the columns of each file. Raises BadInput for sums that cannot be.
    """
    both = zip(files, parts, strict=True)
    lines = pd.concat([pd.DataFrame(part).assign(file=path.stem) for path, part in both], ignore_index=True)
    optional = dict.fromkeys(("wait", "nodes", "per_node", "model_ms"), 0.0)
    lines = lines.reindex(columns=[*lines, *(optional.keys() - {*lines})]).fillna(optional)
    if by_line:
        runs = [_sums(lines.loc[[at]]) | _run(line) for at, line in lines.iterrows()]
    else:
        runs = [_sums(lines) | {"name": files[0].parent.resolve().name, "of": "ranks", "ranks": len(lines)}]
    try:
        return Sums(reader=reader, files=[str(path) for path in files], runs=runs)
    except ValidationError as error:
        raise BadInput(f"{files[0]}: {error.errors()[0]['msg']}") from None


def _sums(lines: pd.DataFrame) -> dict[str, Any]:
    run, talk, wait = (lines[name].tolist() for name in ("cycle_time", "communicate", "wait"))
    return {"run_s": run, "communicate_s": talk, "wait_s": wait if any(wait) else None}


def _run(line: pd.Series) -> dict[str, Any]:
    """A run of beNNch, whose times are means over ranks."""
    words = [f"{line['nodes']:g} nodes" if line["nodes"] else line["file"]]
    words += [f"seed {line['seed']:.15g}"] if "seed" in line else []
    ranks, model_s = round(line["nodes"] * line["per_node"]), line["model_ms"] / 1e3
    return {"name": ", ".join(words), "of": "mean", "ranks": ranks or None, "model_s": model_s or None}
