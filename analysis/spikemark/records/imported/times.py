"""Imported cycle times in memory and on disk: `imported.json` and `cycles.npy` in one folder.

`cycles.npy` is float32 [rank, cycle, column] in seconds; `imported.json` names the columns, where the times
come from, and what was noticed. Every `meets_every` cycles end with a collective call of all ranks. If the
time that a rank waits there was not measured, it is derived (`derived`). What ranks spend in communication
beyond that is the exchange itself.
"""

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import replaceable, whole_folder, write_atomically, write_json
from spikemark.models.statistics import lump
from spikemark.network.description import read_time
from spikemark.quantities.words import number
from spikemark.records.arrays import check_possible, map_array, read_object
from spikemark.records.dry_run import DryRun
from spikemark.records.record_fields import Count, Fields, Positive
from spikemark.records.run_files import CYCLES

from . import derived
from .formats import COMMUNICATE, COMPUTE, WAIT, Found
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


class About(Fields):
    """imported.json. `cycle_ms`: simulated time of a cycle; None where it has none or nobody said.

    `meets_every`: cycles from one meeting of all ranks to the next.
    """

    format_version: Literal[1] = 1
    kind: Literal["imported"] = "imported"
    files: Annotated[list[str], Field(min_length=1)]
    unit: str = "s"
    ranks: Positive
    cycles: Positive
    columns: Annotated[list[Literal[COMPUTE, COMMUNICATE, WAIT]], AfterValidator(_with_compute)]
    skipped: Count = 0
    cycle_ms: Annotated[float, Field(gt=0)] | None = None
    remarks: list[str]
    reader: str = "table"
    meets_every: Positive = 1


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


def examine(found: Found) -> list[str]:
    """Remarks about what is odd, one line each. Raises BadInput for what is impossible."""
    for name, times in found.columns.items():
        check_possible(times, name)
    compute, communicate, wait = (found.columns.get(name) for name in (COMPUTE, COMMUNICATE, WAIT))
    if wait is not None and communicate is not None and wait.sum() > BEYOND * communicate.sum():
        raise BadInput(
            f"wait: {wait.mean():.3g} s per cycle; expected at most all communication,"
            f" {communicate.mean():.3g} s, of which it is a part"
        )
    (ranks, cycles), slowest = compute.shape, compute.max(axis=0)
    first = int((slowest <= LONG * float(np.median(slowest))).argmax())
    cycle_s = float(compute.mean()) + (0.0 if communicate is None else float(communicate.mean()))
    odd = {
        f"{ranks} ranks x {cycles} cycles: are rows and columns swapped?": ranks > cycles > 1,
        f"first cycles take over {LONG:g} times as long as usual; --skip {first} leaves them out": first,
        f"a cycle takes {number(cycle_s)} s on average: is the unit right?":
            not SHORTEST_S <= cycle_s <= LONGEST_S,
        APART: ranks > 1 and cycles >= found.meets_every and not _fit(found),
    }  # fmt: skip
    return [text for text, is_so in odd.items() if is_so]


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
    return _made(found, [*found.remarks, *examine(found)], path, about)


def of_dry_run(run: DryRun) -> CycleTimes:
    """Compute times of all R ranks. Raises BadInput for a schedule whose ranks meet at no barrier."""
    cycle_ms = read_time(run.about.description).cycle_ms
    found = Found({COMPUTE: run.times().sum(axis=2)}, (), cycle_ms, run.meets_every)
    return _made(found, run.remarks, run.path, {"reader": DRY_RUN})


def _made(found: Found, remarks: list[str], path: Path, about: dict[str, Any]) -> CycleTimes:
    times = np.stack(list(found.columns.values()), axis=-1, dtype=np.float32, casting="same_kind")
    known = {"files": [str(path)], "meets_every": found.meets_every} | about
    known |= {"ranks": len(times), "cycles": times.shape[1], "columns": list(found.columns)}
    known["cycle_ms"] = known.get("cycle_ms") or found.cycle_ms
    return CycleTimes(path, times, About(**known, remarks=remarks))


def save(out: Path, found: Found | Sums, about: dict[str, Any]) -> CycleTimes | Sums:
    """Writes what was found as the folder `out`, and returns what was written.

    The folder replaces that of earlier times once it is whole. Raises BadInput for a folder that holds
    anything but earlier imported times, and for impossible times.
    """
    made = found if isinstance(found, Sums) else cycle_times(found, Path(out), **about)
    replaceable(Path(out), (ABOUT, CYCLES, PAGE), ABOUT, "imported times")
    with whole_folder(Path(out)) as folder:
        if isinstance(made, CycleTimes):
            stream = io.BytesIO()
            np.save(stream, made.times)
            write_atomically(folder / CYCLES, stream.getvalue())
        write_json(folder / ABOUT, (made if isinstance(made, Sums) else made.about).model_dump())
    return sums_in(out) or load(out)


def sums_in(folder: Path) -> Sums | None:
    """The imported sums in a folder; None where it holds something else. Raises BadInput for damaged ones."""
    path = Path(folder) / ABOUT
    content = read_object(path) if path.is_file() else {}
    return checked(Sums, content, path, "an import") if content.get("kind") == KIND else None


def load(folder: Path) -> CycleTimes:
    """The imported times in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    if sums_in(path):
        raise refuse(path)
    about = checked(About, read_object(path / ABOUT), path / ABOUT, "an import")
    times = map_array(path / CYCLES, np.float32, (about.ranks, about.cycles, len(about.columns)), ABOUT)
    for at, name in enumerate(about.columns):
        check_possible(times[:, :, at], name, f"{path / CYCLES}: ")
    return CycleTimes(path, times, about)
