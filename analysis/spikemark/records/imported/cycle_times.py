"""Imported cycle times in memory and on disk: `imported.json` and `cycles.npy` in one folder.

`cycles.npy` is float32 [rank, cycle, column] in seconds; `imported.json` names the columns, where the times
come from, and what was noticed. Every cycle ends with a collective call of all ranks. If the time that a rank
waits there was not measured, it is derived (`derived`). What ranks spend in communication beyond that is the
exchange itself.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import whole_folder, write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.models.statistics import lump
from spikemark.quantities.words import counted
from spikemark.records.arrays import map_array, npy_bytes
from spikemark.records.run_files import CYCLES

from . import derived
from .checks import check_possible, examine
from .derived import Derived
from .found import COMMUNICATE, COMPUTE, SPIKES, WAIT, Found
from .sums import Sums, is_sums, refuse

ABOUT = "imported.json"
PAGE = "report.html"  # written by `spikemark report`


def _with_compute(columns: list[str]) -> list[str]:
    if COMPUTE not in columns or len(set(columns)) < len(columns):
        raise ValueError(f"{', '.join(columns)}; allowed: {COMPUTE} and others, each once")
    return columns


class About(BaseModel):
    """imported.json. `cycle_ms`: simulated time of a cycle; None where it has none or nobody said.

    `meets_every`: cycles from one meeting of all ranks to the next. `missing`: ranks that the files lack.
    `times_of`: the rank whose times each rank has; empty where all have their own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    format_version: Literal[1]
    kind: Literal["imported"]
    files: Annotated[list[str], Field(min_length=1)]
    unit: str
    ranks: Annotated[int, Field(ge=1)]
    cycles: Annotated[int, Field(ge=1)]
    columns: Annotated[list[Literal[COMPUTE, COMMUNICATE, WAIT, SPIKES]], AfterValidator(_with_compute)]
    skipped: Annotated[int, Field(ge=0)]
    cycle_ms: Annotated[float, Field(gt=0)] | None
    remarks: list[str]
    reader: str = "table"
    meets_every: Annotated[int, Field(ge=1)] = 1
    missing: list[int] = []
    times_of: list[int] = []


@dataclass(frozen=True)
class CycleTimes:
    """Times of every rank in every cycle: float32 [rank, cycle, column] in s, columns as in `about`."""

    path: Path
    times: np.ndarray
    about: About

    def column(self, name: str) -> np.ndarray | None:
        """One column, [rank, cycle] in s; None where it was not measured."""
        columns = self.about.columns
        return self.times[:, :, columns.index(name)] if name in columns else None

    @property
    def delay_ratio(self) -> int:
        """Cycles from one meeting of all ranks to the next."""
        return self.about.meets_every

    @property
    def measured_cycles(self) -> int:
        """Cycles that were read."""
        return self.about.cycles

    @property
    def compute(self) -> np.ndarray:
        """[rank, cycle] in s."""
        return self.column(COMPUTE)

    def per_meeting(self, of: np.ndarray) -> np.ndarray:
        """Sums over the cycles from one meeting to the next, [..., meeting]; whole meetings only."""
        return lump(of, self.delay_ratio)

    @property
    def waiting(self) -> np.ndarray:
        """Mean over ranks at every meeting, [meeting] in s: measured, or else derived."""
        wait = self.column(WAIT)
        return self.derived.waiting if wait is None else self.per_meeting(wait.mean(axis=0, dtype=np.float64))

    @property
    def doubt_s(self) -> tuple[float, float] | None:
        """How much less and more the mean waiting at a meeting may be, in s, because it was not timed.

        Zeros where it was; None where nothing limits it, since communication was not timed either.
        """
        if self.column(WAIT) is not None:
            return 0.0, 0.0
        if self.derived.limits is None:
            return None
        low, high = self.derived.limits
        middle = float(self.waiting.mean())
        return max(middle - low, 0.0), max(high - middle, 0.0)

    @cached_property
    def derived(self) -> Derived:
        """Waiting that follows from the other times."""
        columns = (self.column(name) for name in (COMPUTE, COMMUNICATE, SPIKES))
        steps = [None if one is None else self.per_meeting(one) for one in columns]
        return derived.waiting(*steps)

    @property
    def implied(self) -> np.ndarray:
        """Mean waiting that follows from the compute times, [meeting] in s."""
        compute = self.per_meeting(self.compute)
        return compute.max(axis=0) - compute.mean(axis=0, dtype=np.float64)

    @property
    def exchange(self) -> np.ndarray | None:
        """Mean time in communication beyond waiting, [meeting] in s; None where communication was not timed.

        It may be negative in single cycles, where clocks or the end of the collective call disagree.
        """
        communicate = self.column(COMMUNICATE)
        if communicate is None:
            return None
        return self.per_meeting(communicate.mean(axis=0, dtype=np.float64)) - self.waiting

    @property
    def cautions(self) -> tuple[str, ...]:
        """Remarks that belong to everything that is computed from these times."""
        found = [f"{self.path}: {text}" for text in self.about.remarks]
        if self.column(WAIT) is None:
            found.append(
                f"{self.path}: waiting was not timed: it is derived from the other times, "
                + (
                    "and communication was not timed either, so that its limits are not known"
                    if self.doubt_s is None
                    else "and lies between the time until the last rank comes and all communication"
                )
            )
        if self.column(COMMUNICATE) is None:
            found.append(f"{self.path}: communication was not timed; exchanges are left out of run times")
        return tuple(found)


def save(out: Path, found: Found, about: dict[str, Any]) -> CycleTimes:
    """Writes what was found as the folder `out`, and returns what was written.

    Raises BadInput for a folder that holds anything but earlier imported times, and for impossible times.
    """
    remarks = [*found.remarks, *examine(found.columns, found.meets_every, found.missing)]
    times = np.stack(list(found.columns.values()), axis=-1, dtype=np.float32, casting="same_kind")
    if times.shape[1] % found.meets_every:
        rest = times.shape[1] % found.meets_every
        remarks.append(
            f"the last {counted(rest, 'cycle')} after the last meeting of all ranks are left out of budgets"
        )
    content = {
        "format_version": 1, "kind": "imported", **about,
        "ranks": times.shape[0], "cycles": times.shape[1], "columns": list(found.columns), "remarks": remarks,
        "meets_every": found.meets_every, "missing": list(found.missing),
    }  # fmt: skip
    content["cycle_ms"] = about["cycle_ms"] or found.cycle_ms
    with _place(out) as folder:
        write_atomically(folder / CYCLES, npy_bytes(times))
        write_json(folder / ABOUT, content)
    return load(out)


def save_sums(out: Path, sums: Sums) -> None:
    """Writes sums as the folder `out`. Raises BadInput as `save` does."""
    with _place(out) as folder:
        write_json(folder / ABOUT, sums.model_dump())


@contextlib.contextmanager
def _place(out: Path) -> Iterator[Path]:
    """A folder for new times, which replaces that of earlier ones once it is whole.

    Raises BadInput if `out` holds anything else.
    """
    out = Path(out)
    foreign = sorted({p.name for p in out.iterdir()} - {ABOUT, CYCLES, PAGE}) if out.is_dir() else []
    if foreign or (out.exists() and not out.is_dir()):
        what = f"contains {foreign[0]!r}" if foreign else "is not a folder"
        raise BadInput(f"--out: {out} {what}; allowed: a folder that is new, empty, or of imported times")
    with whole_folder(out) as folder:
        for name in (PAGE, ABOUT, CYCLES):  # where it cannot be replaced as a whole
            (folder / name).unlink(missing_ok=True)
        yield folder


def load(folder: Path) -> CycleTimes:
    """The imported times in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    content = read_json(path / ABOUT)
    if is_sums(content):
        raise refuse(path)
    about = checked(About, content, path / ABOUT, "an import")
    times = map_array(path / CYCLES, np.float32, (about.ranks, about.cycles, len(about.columns)), ABOUT)
    for number, name in enumerate(about.columns):
        check_possible(name, times[:, :, number], f"{path / CYCLES}: ")
    return CycleTimes(path, times, about)
