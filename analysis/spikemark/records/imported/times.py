"""Imported cycle times in memory and on disk: `imported.json` and `cycles.npy` in one folder.

`cycles.npy` is float32 [rank, cycle, column] in seconds; `imported.json` names the columns, where the times
come from, and what was noticed. Every `meets_every` cycles end with a collective call of all ranks. If the
time that a rank waits there was not measured, it is derived (`derived`). What ranks spend in communication
beyond that is the exchange itself.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import replaceable, whole_folder, write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.models.statistics import lump
from spikemark.network.description import read_time
from spikemark.quantities.words import number
from spikemark.records.arrays import map_array, npy_bytes
from spikemark.records.dry_run import DryRun
from spikemark.records.run_files import CYCLES

from . import derived
from .formats import COMMUNICATE, COMPUTE, LARGEST, WAIT, Found
from .sums import KIND, Sums, refuse

ABOUT, PAGE = "imported.json", "report.html"  # the page is written by `spikemark report`
DRY_RUN = "dry-run"
BEYOND = 1.05  # waiting over the time that has to hold it, from which something is wrong
LONG = 3.0  # times the median cycle: long first cycles
SHORTEST_S, LONGEST_S = 1e-7, 10.0  # a mean cycle beyond these is in another unit than was said
FIT = 0.5  # of the meetings, at which the times of ranks have to fit together
APART = (
    "the times of the ranks do not fit together: units or cycles do not match, ranks do not meet in every"
    " cycle, or a part of the cycle is in no column"
)


def _with_compute(columns: list[str]) -> list[str]:
    if COMPUTE not in columns or len(set(columns)) < len(columns):
        raise ValueError(f"{', '.join(columns)}; expected {COMPUTE} and others, each once")
    return columns


class About(BaseModel):
    """imported.json. `cycle_ms`: simulated time of a cycle; None where it has none or nobody said.

    `meets_every`: cycles from one meeting of all ranks to the next.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)

    format_version: Literal[1] = 1
    kind: Literal["imported"] = "imported"
    files: Annotated[list[str], Field(min_length=1)]
    unit: str = "s"
    ranks: Annotated[int, Field(ge=1)]
    cycles: Annotated[int, Field(ge=1)]
    columns: Annotated[list[Literal[COMPUTE, COMMUNICATE, WAIT]], AfterValidator(_with_compute)]
    skipped: Annotated[int, Field(ge=0)] = 0
    cycle_ms: Annotated[float, Field(gt=0)] | None = None
    remarks: list[str]
    reader: str = "table"
    meets_every: Annotated[int, Field(ge=1)] = 1


@dataclass(frozen=True)
class CycleTimes:
    """Times of every rank in every cycle: float32 [rank, cycle, column] in s, columns as in `about`.

    Waiting and exchange are means over ranks at every meeting, [meeting] in s.
    """

    path: Path
    times: np.ndarray
    about: About

    def column(self, name: str, every: int = 1) -> np.ndarray | None:
        """One column, [rank, cycle] or sums over `every` cycles, in s; None where it was not measured."""
        columns = self.about.columns
        return lump(self.times[:, :, columns.index(name)], every) if name in columns else None

    @property
    def compute(self) -> np.ndarray:
        """[rank, cycle] in s."""
        return self.times[:, :, self.about.columns.index(COMPUTE)]

    @cached_property
    def _derived(self) -> derived.Derived:
        met = (self.column(name, self.about.meets_every) for name in (COMPUTE, COMMUNICATE))
        return derived.waiting(*met)

    @cached_property
    def waiting(self) -> np.ndarray:
        """Measured, or else derived."""
        wait = self.column(WAIT, self.about.meets_every)
        return self._derived.waiting if wait is None else wait.mean(axis=0, dtype=np.float64)

    @property
    def exchange(self) -> np.ndarray | None:
        """Communication beyond waiting; None where it was not timed. Negative where clocks disagree."""
        communicate = self.column(COMMUNICATE, self.about.meets_every)
        return None if communicate is None else communicate.mean(axis=0, dtype=np.float64) - self.waiting

    @property
    def doubt_s(self) -> tuple[float, float] | None:
        """How much less and more the mean waiting at a meeting may be, in s, because it was not timed.

        Zeros where it was; None where nothing limits it, since communication was not timed either.
        """
        if WAIT in self.about.columns:
            return 0.0, 0.0
        limits, middle = self._derived.limits, float(self.waiting.mean())
        return limits and (max(middle - limits[0], 0.0), max(limits[1] - middle, 0.0))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Remarks that belong to everything that is computed from these times."""
        found = list(self.about.remarks)
        if COMMUNICATE not in self.about.columns:
            found.append(
                "communication was not timed: exchanges are left out, and nothing limits the waiting"
            )
        elif WAIT not in self.about.columns:
            found.append("waiting was not timed: it is derived, and shown with its limits")
        return tuple(f"{self.path}: {text}" for text in found)


def check_possible(name: str, times: np.ndarray, where: str = "") -> None:
    """Raises BadInput, which begins with `where`, for anything but numbers from 0 to LARGEST."""
    for rank, row in enumerate(times):
        wrong = ~((row >= 0) & (row <= LARGEST))  # also true for NaN
        if wrong.any():
            cycle = int(wrong.argmax())
            raise BadInput(
                f"{where}{name}: {row[cycle]:g} s of rank {rank} in cycle {cycle}; expected a number from"
                f" 0 to {LARGEST:g}"
            )


def examine(found: Found) -> list[str]:
    """Remarks about what is odd, one line each. Raises BadInput for what is impossible."""
    for name, times in found.columns.items():
        check_possible(name, times)
    compute, communicate, wait = (found.columns.get(name) for name in (COMPUTE, COMMUNICATE, WAIT))
    if wait is not None and communicate is not None and wait.sum() > BEYOND * communicate.sum():
        raise BadInput(
            f"wait: {wait.mean():.3g} s per cycle; expected at most all communication,"
            f" {communicate.mean():.3g} s, of which it is a part"
        )
    (ranks, cycles), remarks, slowest = compute.shape, [], compute.max(axis=0)
    if ranks > cycles > 1:
        remarks.append(f"{ranks} ranks x {cycles} cycles: are rows and columns swapped?")
    if first := int((slowest <= LONG * float(np.median(slowest))).argmax()):
        remarks.append(
            f"first cycles take over {LONG:g} times as long as usual; --skip {first} leaves them out"
        )
    cycle = float(compute.mean()) + (0.0 if communicate is None else float(communicate.mean()))
    if not SHORTEST_S <= cycle <= LONGEST_S:
        remarks.append(f"a cycle takes {number(cycle)} s on average: is the unit right?")
    if ranks > 1 and cycles >= found.meets_every and not _fit(found):
        remarks.append(APART)
    return remarks


def _fit(found: Found) -> bool:
    """False where ranks would leave meetings before the last one has come."""
    met = {name: lump(x, found.meets_every) for name, x in found.columns.items()}
    compute, communicate = met.pop(COMPUTE), met.get(COMMUNICATE)
    implied = float((compute.max(axis=0) - compute.mean(axis=0)).mean())
    if any(implied > BEYOND * float(times.mean()) for times in met.values()):
        return False
    return communicate is None or derived.timeline(compute, communicate)[2].mean() >= FIT


def cycle_times(found: Found, path: Path, **about: Any) -> CycleTimes:
    """What was found as cycle times that lie nowhere yet; `about`: fields of `About`.

    Raises BadInput for impossible times.
    """
    remarks = [*found.remarks, *examine(found)]
    times = np.stack(list(found.columns.values()), axis=-1, dtype=np.float32, casting="same_kind")
    ranks, cycles, _ = times.shape
    known = {"files": [str(path)]} | about
    known["cycle_ms"] = known.get("cycle_ms") or found.cycle_ms
    made = About(
        **known, ranks=ranks, cycles=cycles, columns=list(found.columns), remarks=remarks,
        meets_every=found.meets_every,
    )  # fmt: skip
    return CycleTimes(path, times, made)


def of_dry_run(found: DryRun) -> CycleTimes:
    """Compute times of all R ranks. Raises BadInput for a schedule whose ranks meet at no barrier."""
    times = found.times().sum(axis=2, keepdims=True)
    about = About(
        files=[str(found.path)], ranks=times.shape[0], cycles=times.shape[1], columns=[COMPUTE],
        cycle_ms=read_time(found.about.description).cycle_ms, remarks=found.remarks, reader=DRY_RUN,
        meets_every=found.meets_every,
    )  # fmt: skip
    return CycleTimes(found.path, times, about)


def save(out: Path, found: Found, about: dict[str, Any]) -> CycleTimes:
    """Writes what was found as the folder `out`, and returns what was written.

    Raises BadInput for a folder that holds anything but earlier imported times, and for impossible times.
    """
    made = cycle_times(found, Path(out), **about)
    _write(Path(out), made.about, made.times)
    return load(out)


def save_sums(out: Path, sums: Sums) -> None:
    """Writes sums as the folder `out`. Raises BadInput as `save` does."""
    _write(Path(out), sums)


def _write(out: Path, about: BaseModel, times: np.ndarray | None = None) -> None:
    """A new folder, which replaces that of earlier times once it is whole."""
    replaceable(out, (ABOUT, CYCLES, PAGE), ABOUT, "imported times")
    with whole_folder(out) as folder:
        if times is not None:
            write_atomically(folder / CYCLES, npy_bytes(times))
        write_json(folder / ABOUT, about.model_dump())


def sums_in(folder: Path) -> Sums | None:
    """The imported sums in a folder; None where it holds something else. Raises BadInput for damaged ones."""
    path = Path(folder) / ABOUT
    content = read_json(path) if path.is_file() else None
    of_sums = isinstance(content, dict) and content.get("kind") == KIND
    return checked(Sums, content, path, "an import") if of_sums else None


def load(folder: Path) -> CycleTimes:
    """The imported times in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    if sums_in(path):
        raise refuse(path)
    about = checked(About, read_json(path / ABOUT), path / ABOUT, "an import")
    times = map_array(path / CYCLES, np.float32, (about.ranks, about.cycles, len(about.columns)), ABOUT)
    for at, name in enumerate(about.columns):
        check_possible(name, times[:, :, at], f"{path / CYCLES}: ")
    return CycleTimes(path, times, about)
