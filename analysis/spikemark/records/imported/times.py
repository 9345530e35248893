"""Imported cycle times in memory and on disk: `imported.json` and `cycles.npy` in one folder.

`cycles.npy` is float32 [rank, cycle, column] in seconds; `imported.json` names the columns, where
the times come from, and what was noticed. Every `meets_every` cycles end with a collective call of
all ranks. If the time that a rank waits there was not measured, it is derived (`derived`). What
ranks spend in communication beyond that is the exchange itself.
"""

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import replaceable, whole_folder, write_atomically, write_json
from spikemark.core.summary import Summarised
from spikemark.models.statistics import lump
from spikemark.network import lanes
from spikemark.network.description import read_description, read_time
from spikemark.records.arrays import check_possible, map_array, read_object
from spikemark.records.dry_run import DryRun
from spikemark.records.run_files import CYCLES
from spikemark.records.schema import Count, Positive, RecordPart

from . import derived
from .columns import Columns, ReadTimes
from .durations import check_size, seems_left, seems_no_measurement, seems_reset
from .names import COMMUNICATE, COMPUTE_COLUMN, WAIT
from .other_units import (
    seem_other_units,
    seem_unmeasured,
    seem_whole_cycles,
    seems_another_unit,
)
from .sums import KIND, Sums, refuse

#: The files of the folder; the page is written by `spikemark report`.
IMPORT_FILE = "imported.json"
PAGE = "report.html"
#: The reader of times that come from a dry run.
DRY_RUN = "dry-run"
#: Waiting over the time that has to hold it, from which something is wrong.
MAX_WAIT_RATIO = 1.05
#: First cycles are long from so many times the median cycle on.
LONG_CYCLE_RATIO = 3.0
#: Different times of a rank, from which those of another rank are the same by no chance.
DISTINCT_TIMES = 10
#: Share of the meetings at which the times of ranks have to fit together.
MIN_FITTING_SHARE = 0.5
APART = (
    "the times of the ranks do not fit together: units or cycles do not match, ranks do not meet in"
    " every cycle, or a part of the cycle is in no column"
)


class ImportRecord(RecordPart):
    """imported.json: where cycle times come from, and what the columns of cycles.npy are."""

    format_version: Literal[1] = Field(
        1,
        description="version of the format",
    )
    kind: Literal["imported"] = Field(
        "imported",
        description="imported",
    )
    files: Annotated[list[str], Field(min_length=1)] = Field(description="what was read")
    unit: str = Field("s", description="of the times in the files")
    ranks: Positive = Field(description="MPI ranks")
    cycles: Positive = Field(description="cycles of each rank")
    columns: list[Literal["compute", "communicate", "wait"]] = Field(
        description="names along the last axis of cycles.npy"
    )
    skipped: Count = Field(
        0,
        description="cycles that were left out at the begin",
    )
    cycle_ms: Annotated[float, Field(gt=0)] | None = Field(
        None, description="simulated time of a cycle, ms; null where it has none or nobody said"
    )
    remarks: list[str] = Field(description="what was left out or is odd")
    reader: str = Field(
        "table",
        description="the format of the files",
    )
    meets_every: Positive = Field(
        1,
        description="cycles from one meeting of all ranks to the next",
    )
    first_rank: Literal[0, 1] = Field(
        0,
        description="number of the first rank, as in the files",
    )
    placement: str | None = Field(
        None,
        description="of the neurons, as the mini-app calls it; null where nobody said",
    )

    @field_validator("columns")
    @classmethod
    def _with_compute(cls, columns: list[str]) -> list[str]:
        if COMPUTE_COLUMN not in columns or len(set(columns)) < len(columns):
            raise ValueError(
                f"{', '.join(columns)}; expected {COMPUTE_COLUMN} and others, each once"
            )
        return columns


@dataclass(frozen=True, repr=False)
class CycleTimes(Summarised):
    """Times of every rank in every cycle, and the waiting and exchange that follow from them."""

    path: Path
    #: float32 [rank, cycle, column] in s, columns as in `about`.
    times: np.ndarray
    about: ImportRecord

    def _summary(self) -> str:
        columns = ", ".join(self.about.columns)
        return f"{self.path}, {self.about.ranks} ranks x {self.about.cycles} cycles of {columns}"

    def _further(self) -> str:
        return ".compute [rank, cycle], .waiting and .exchange [meeting] in s; sm.waiting(times)"

    def column(self, name: str, every: int = 1) -> np.ndarray | None:
        """One column, [rank, cycle] or sums over `every` cycles, in s; None if not measured.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.column("compute", every=10).shape  # windows of ten cycles
            (4, 10)
        """
        columns: list[str] = [*self.about.columns]
        if name not in columns:
            return None
        return lump(self.times[:, :, columns.index(name)], every)

    @property
    def compute(self) -> np.ndarray:
        """[rank, cycle] in s.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.compute.shape
            (4, 100)
        """
        return self.times[:, :, self.about.columns.index("compute")]

    @cached_property
    def _derived(self) -> derived.DerivedWaiting:
        compute = lump(self.compute, self.about.meets_every)
        return derived.waiting(compute, self.column(COMMUNICATE, self.about.meets_every))

    @cached_property
    def waiting(self) -> np.ndarray:
        """Mean over ranks at every meeting, [meeting] in s: measured, or else derived.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.waiting.shape  # how long ranks wait for the slowest, on average
            (100,)
        """
        wait = self.column(WAIT, self.about.meets_every)
        if wait is None:
            return self._derived.waiting
        mean: np.ndarray = wait.mean(axis=0, dtype=np.float64)
        return mean

    @property
    def exchange(self) -> np.ndarray | None:
        """Communication beyond waiting, mean over ranks at every meeting, [meeting] in s.

        None where it was not timed. Negative where clocks disagree.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.exchange is None  # nobody timed it
            True
        """
        communicate = self.column(COMMUNICATE, self.about.meets_every)
        if communicate is None:
            return None
        beyond: np.ndarray = communicate.mean(axis=0, dtype=np.float64) - self.waiting
        return beyond

    @property
    def doubt_s(self) -> tuple[float, float] | None:
        """How much less and more the mean waiting at a meeting may be, in s.

        Because it was not timed. Zeros where it was; None where nothing limits it, since
        communication was not timed either.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.doubt_s is None  # nothing limits the waiting
            True
        """
        if WAIT in self.about.columns:
            return 0.0, 0.0
        limits = self._derived.limits
        if limits is None:
            return None
        low, high = limits
        mean = float(self.waiting.mean())
        return max(mean - low, 0.0), max(high - mean, 0.0)

    @cached_property
    def doubtful(self) -> str:
        """Why nothing can be predicted from these times; empty where they are sound.

        Ranks seem to be in different units, or their times do not fit together.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> compute_s[3] *= 1000
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> times.doubtful
            'the times of rank 3 are 1000 times those of the other ranks, as if in another unit'
        """
        if self.about.reader == DRY_RUN:
            return ""
        for remark in seem_other_units(self.compute, self.about.first_rank):
            return remark
        columns = {
            str(name): self.times[:, :, place] for place, name in enumerate(self.about.columns)
        }
        return "" if _fit_together(columns, self.about.meets_every) else APART

    @property
    def cautions(self) -> tuple[str, ...]:
        """Remarks that belong to everything that is computed from these times.

        Example:
            >>> rng = np.random.default_rng(1)
            >>> compute_s = rng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycle]
            >>> times = cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy"))
            >>> len(times.cautions)
            1
        """
        remarks = list(self.about.remarks)
        if COMMUNICATE not in self.about.columns:
            remarks.append(
                "communication was not timed: exchanges are left out, and nothing limits the"
                " waiting"
            )
        elif WAIT not in self.about.columns:
            remarks.append("waiting was not timed: it is derived, and shown with its limits")
        return tuple(f"{self.path}: {remark}" for remark in remarks)


def _examine(read_times: ReadTimes) -> list[str]:
    """Remarks about what is odd, one line each. Raises BadInput for what is impossible."""
    columns = read_times.columns
    for name, times in columns.items():
        check_possible(times, name)
        check_size("cycle times", name, times)
    compute = columns[COMPUTE_COLUMN]
    _check_wait(columns)
    first_rank = read_times.first_rank
    padding = seems_no_measurement(compute, first_rank)
    remarks = [
        *_same_times(compute, first_rank),
        *seems_reset(compute, first_rank),
        *seems_left(compute, first_rank),
        *padding,
        *seem_other_units(compute, first_rank),
    ]
    if not padding:
        remarks += seem_unmeasured(compute, first_rank)
    ranks, cycles = compute.shape
    if ranks > cycles > 1:
        remarks.append(f"{ranks} ranks x {cycles} cycles: are rows and columns swapped?")
    slowest = compute.max(axis=0)
    is_long = slowest > LONG_CYCLE_RATIO * float(np.median(slowest))
    first = int((~is_long).argmax())
    if first:
        remarks.append(
            f"first cycles take over {LONG_CYCLE_RATIO:g} times as long as usual;"
            f" --skip {first} of `import` leaves them out"
        )
    of_cycles = compute.mean(axis=0, dtype=np.float64)
    if COMMUNICATE in columns:
        of_cycles += columns[COMMUNICATE].mean(axis=0, dtype=np.float64)
    remarks += seems_another_unit(float(np.median(of_cycles)))
    remarks += seem_whole_cycles(compute)
    if not _fit_together(columns, read_times.meets_every):
        remarks.append(APART)
    return remarks


def _check_wait(columns: Columns) -> None:
    """Raises BadInput for more waiting than communication, of which it is a part."""
    if WAIT not in columns or COMMUNICATE not in columns:
        return
    wait = columns[WAIT]
    communicate = columns[COMMUNICATE]
    if wait.sum() > MAX_WAIT_RATIO * communicate.sum():
        raise BadInput(
            f"wait: {wait.mean():.3g} s per cycle; expected at most all communication,"
            f" {communicate.mean():.3g} s, of which it is a part",
            field=WAIT,
            code="range",
        )


def _same_times(compute: np.ndarray, first_rank: int) -> list[str]:
    """A remark where two ranks have the same times [rank, cycle] throughout.

    As if they were read from one file.
    """
    rank_of_times: dict[bytes, int] = {}
    for rank, times in enumerate(compute, first_rank):
        digest = hashlib.sha256(times.tobytes()).digest()
        before = rank_of_times.setdefault(digest, rank)
        if before != rank and len(np.unique(times)) >= DISTINCT_TIMES:
            return [
                f"ranks {before} and {rank} have the same times in all cycles: is one there twice?"
            ]
    return []


def _fit_together(columns: Columns, meets_every: int) -> bool:
    """False where ranks would leave meetings before the last one has come."""
    ranks, cycles = columns[COMPUTE_COLUMN].shape
    if ranks == 1 or cycles < meets_every:
        return True
    at_meetings = {name: lump(times, meets_every) for name, times in columns.items()}
    compute = at_meetings.pop(COMPUTE_COLUMN)
    implied_s = float((compute.max(axis=0) - compute.mean(axis=0)).mean())
    for times in at_meetings.values():  # all waiting is in each of them
        if implied_s > MAX_WAIT_RATIO * float(times.mean()):
            return False
    if COMMUNICATE not in at_meetings:
        return True
    timeline = derived.timeline(compute, at_meetings[COMMUNICATE])
    return bool(timeline.fits.mean() >= MIN_FITTING_SHARE)


def cycle_times(read_times: ReadTimes, path: Path, **about: object) -> CycleTimes:
    """What was read as cycle times that lie nowhere yet; `about`: fields of `ImportRecord`.

    Raises BadInput for impossible times.

    Example:
        >>> compute_s = np.random.default_rng(1).normal(1e-3, 1e-5, (2, 100))  # [rank, cycle]
        >>> cycle_times(ReadTimes({"compute": compute_s}), Path("times.npy")).compute.shape
        (2, 100)
    """
    remarks = [*read_times.remarks, *_examine(read_times)]
    return _with_about(read_times, remarks, path, about)


def of_dry_run(run: DryRun) -> CycleTimes:
    """Compute times of all R ranks. Raises BadInput for a schedule without a barrier.

    Example:
        >>> from spikemark.records.dry_run import load_dry_run
        >>> of_dry_run(load_dry_run(Path("nowhere")))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/dryrun.json: not found; `spikemark dryrun` ...
    """
    read_times = ReadTimes(
        {COMPUTE_COLUMN: run.times().sum(axis=2)},
        cycle_ms=read_time(run.about.description).cycle_ms,
        meets_every=run.meets_every,
    )
    _, placement = lanes.schedule_and_placement(read_description(run.about.description), None, None)
    about = {"reader": DRY_RUN, "placement": placement}
    return _with_about(read_times, run.remarks, run.path, about)


def _with_about(
    read_times: ReadTimes,
    remarks: list[str],
    path: Path,
    about: dict[str, Any],
) -> CycleTimes:
    """Times with their imported.json; `about`: fields that are not those of what was read."""
    times = _one_array(list(read_times.columns.values()))
    fields = {
        "files": [str(path)],
        "meets_every": read_times.meets_every,
        "first_rank": read_times.first_rank,
        "unit": read_times.unit,
        **about,
        "ranks": len(times),
        "cycles": times.shape[1],
        "columns": list(read_times.columns),
        "remarks": remarks,
    }
    fields["cycle_ms"] = about.get("cycle_ms") or read_times.cycle_ms
    return CycleTimes(path, times, ImportRecord.model_validate(fields))


def _one_array(columns: list[np.ndarray]) -> np.ndarray:
    """Columns [rank, cycle] as float32 [rank, cycle, column]; one that is so already is no copy."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0], dtype=np.float32)[:, :, np.newaxis]
    return np.stack(columns, axis=-1, dtype=np.float32, casting="same_kind")


def save(out: Path, times: ReadTimes | Sums, about: dict[str, Any]) -> CycleTimes | Sums:
    """Writes what was read as the folder `out`, and returns what was written.

    The folder replaces that of earlier times once it is whole. Raises BadInput for a folder that
    holds anything but earlier imported times, and for impossible times.

    Args:
        out: the folder.
        times: what was read.
        about: fields of `ImportRecord`; not used for sums.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> compute_s = np.random.default_rng(1).normal(1e-3, 1e-5, (2, 100))  # [rank, cycle]
        >>> with TemporaryDirectory() as folder:
        ...     times = save(Path(folder) / "times", ReadTimes({"compute": compute_s}), {})
        ...     sorted(path.name for path in times.path.iterdir())
        ['cycles.npy', 'imported.json']
    """
    if isinstance(times, ReadTimes):
        new: CycleTimes | Sums = cycle_times(times, Path(out), **about)
    else:
        new = times
    replaceable(Path(out), (IMPORT_FILE, CYCLES, PAGE), IMPORT_FILE, "imported times")
    with whole_folder(Path(out)) as folder:
        if isinstance(new, CycleTimes):
            stream = io.BytesIO()
            np.save(stream, new.times)
            write_atomically(folder / CYCLES, stream.getvalue())
            write_json(folder / IMPORT_FILE, new.about.model_dump())
        else:
            write_json(folder / IMPORT_FILE, new.model_dump())
    return sums_in(out) or load_cycle_times(out)


def sums_in(folder: Path) -> Sums | None:
    """The imported sums in a folder; None where it holds something else.

    Raises BadInput for damaged ones.

    Example:
        >>> sums_in(Path("nowhere")) is None
        True
    """
    path = Path(folder) / IMPORT_FILE
    if not path.is_file():
        return None
    content = read_object(path)
    if content.get("kind") != KIND:
        return None
    return checked(Sums, content, path, "an import")


def load_cycle_times(folder: Path) -> CycleTimes:
    """The imported times in a folder. Raises BadInput naming the file and what is wrong.

    Example:
        >>> load_cycle_times(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/imported.json: not found
    """
    path = Path(folder)
    if sums_in(path):
        raise refuse(path)
    about = checked(ImportRecord, read_object(path / IMPORT_FILE), path / IMPORT_FILE, "an import")
    shape = (about.ranks, about.cycles, len(about.columns))
    times = map_array(path / CYCLES, np.float32, shape, IMPORT_FILE)
    for number_of_column, name in enumerate(about.columns):
        column = times[:, :, number_of_column]
        check_possible(column, name, path / CYCLES)
        check_size(str(path / CYCLES), name, column)
    return CycleTimes(path, times, about)
