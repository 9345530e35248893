"""Sums of times over whole runs, without single cycles: NEST's stopwatches and tables of beNNch.

They hold, in s, `time_simulate`, `time_communicate_spike_data` and, of NEST built `with-mpi-sync-timer`,
`time_mpi_synchronization`, the barrier. They allow load balance and the efficiencies of POP; whatever needs
cycles refuses them.
"""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table

from .formats import BESIDE, Reader, check_all, contents, numbers_in, stated

KIND = "imported sums"
RUN, COMMUNICATED, SYNCHRONISED = "time_simulate", "time_communicate_spike_data", "time_mpi_synchronization"
OLDER = {"wall_time_sim": RUN, "wall_time_phase_communicate": COMMUNICATED}
UNTIMED = "waiting was not timed apart from the exchange; NEST does so built with-mpi-sync-timer"
Time = Annotated[float, Field(ge=0)]


class Summed(BaseModel):
    """Sums of one run in s, one for each rank, or a single mean over ranks (`of` says which).

    `run_s`: state propagation; `communicate_s`: the part of it in collective calls; `wait_s`: the part of
    that spent waiting, None where it was not timed. `model_s`: simulated time, None where nobody knows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    name: str
    of: Literal["ranks", "mean"]
    ranks: Annotated[int, Field(ge=1)] | None
    run_s: Annotated[list[Time], Field(min_length=1)]
    communicate_s: list[Time]
    wait_s: list[Time] | None = None
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


class Sums(BaseModel):
    """imported.json of sums."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)

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


def _read_stopwatches(files: list[Path], unit: str, called: dict[str, str]) -> Sums:
    """Of one number for each thread, the largest counts."""
    kernels = [contents(path, numbers_in) for path in files]
    for path, kernel in zip(files, kernels, strict=True):
        if lacks := [name for name in (RUN, COMMUNICATED) if name not in kernel]:
            raise BadInput(f"{path}: no {lacks[0]}; expected NEST built with-detailed-timers")
    check_all(files, kernels[0].get("num_processes", [None])[0])
    run, talk, wait = ([max(kernel.get(name, [0.0])) for kernel in kernels]
                       for name in (RUN, COMMUNICATED, SYNCHRONISED))  # fmt: skip
    one = {"name": files[0].parent.resolve().name, "of": "ranks", "ranks": len(files)}
    return _made(files, "nest-sums", [one | _times(run, talk, wait)])


def _times(run: list[float], talk: list[float], wait: list[float]) -> dict[str, Any]:
    return {"run_s": run, "communicate_s": talk, "wait_s": wait if any(wait) else None}


def _is_bennch(path: Path) -> bool:
    try:
        with path.open(errors="replace") as file:
            columns = set(file.readline().strip().split(",")) if path.suffix == ".csv" else set()
    except OSError:
        return False
    return {RUN, COMMUNICATED} <= columns or OLDER.keys() <= columns


def _read_bennch(files: list[Path], unit: str, called: dict[str, str]) -> Sums:
    """A line per run, with means over ranks."""
    runs = []
    for path in files:
        table = contents(path, partial(pd.read_csv, compression=None)).rename(columns=OLDER)
        for line in table.to_dict("records"):
            names = (RUN, COMMUNICATED, SYNCHRONISED, "num_nodes", "tasks_per_node", "model_time_sim")
            known = {name: line.get(name) for name in names}
            run, talk, wait, nodes, per_node, model = (
                0.0 if name not in names[:2] and pd.isna(value) else stated(path, name, value)
                for name, value in known.items()
            )
            words = [f"{nodes:g} nodes" if nodes else path.stem]
            words += [f"seed {line['rng_seed']}"] if "rng_seed" in line else []
            one = {"name": ", ".join(words), "of": "mean", "ranks": round(nodes * per_node) or None}
            runs.append(one | _times([run], [talk], [wait]) | {"model_s": model / 1e3 or None})
    return _made(files, "bennch", runs)


def _made(files: list[Path], reader: str, runs: list[dict]) -> Sums:
    try:
        return Sums(reader=reader, files=[str(path) for path in files], runs=runs)
    except ValueError as error:
        raise BadInput(f"{files[0]}: {error.errors()[0]['msg']}") from None


READERS = (
    Reader(
        "nest-sums", "NEST's stopwatches, logfile_<rank> with a `key value` per line: sums only",
        lambda path: path.name.startswith(BESIDE), _read_stopwatches,
    ),
    Reader("bennch", "tables of beNNch, .csv with a line per run: sums only", _is_bennch, _read_bennch),
)  # fmt: skip
