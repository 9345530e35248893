"""The folder of a dry run: some ranks of a machine, each run alone by one process on one node.

dryrun.json     what was run, which ranks, what was measured, and why the rest is null
cycles.npy      float32 [row, cycle, phase] in s, one row for each sampled rank; NaN for what others cause
ranks.csv       one line for each row, with the columns of a run
work.csv        what every rank of the machine has to do in a cycle, as expected counts, one line per rank
run.json        the description, as it was given, and placement.json, the placement file that it names
ranks/NUMBER/   the record of that rank, as the mini-app wrote it
failed.log      what a rank said that failed, until the same command succeeds
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.models import resampling
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.network.named_files import located

from .arrays import map_array, npy_bytes
from .csv_table import read_csv
from .dry_rank import DryRank
from .dry_run_fields import About
from .phases import COMPUTE, HELD, PARTS, THREADS
from .record import DRY_RUN
from .run_files import CYCLES, PLACEMENT, RANKS

ABOUT, WORK, RUN, EACH, FAILED = "dryrun.json", "work.csv", "run.json", "ranks", "failed.log"
PAGE = "report.html"  # written by `spikemark report`
FILES = ABOUT, WORK, RUN, EACH, FAILED, PAGE, CYCLES, RANKS, PLACEMENT
#: Columns of work.csv, by the part of a cycle that they determine; threads wait longer the more is delivered.
WORK_OF = {
    "deliver": "synaptic_events", "update": "neurons", THREADS: "synaptic_events", "collocate": "spikes_sent",
}  # fmt: skip
ALONE = "each rank ran alone, so nobody waited for it and no message was sent"
QUIET = 0.1  # cores that other programs may keep busy; the mini-app warns beyond it
LEAST_BESIDE = 0.8  # share of the time with all neighbours below which a rank is warned of
MOST_TIMES = 200_000_000  # of ranks and cycles, of three phases of four bytes
DRAWS = 40  # bootstrap samples; their extremes are the ends of a 95 % interval


@dataclass(frozen=True)
class DryRun:
    """Times in seconds; `rows` are the sampled ranks, in ascending order.

    `cycles`: float32 [row, cycle, phase]. `table`: ranks.csv. `work`: float64 [rank, part of COMPUTE].
    """

    path: Path
    about: About
    cycles: np.ndarray
    table: pd.DataFrame
    work: np.ndarray

    @property
    def ranks(self) -> int:
        """R, the ranks of the machine."""
        return self.about.ranks

    @property
    def mixed(self) -> bool:
        """True if times of delivery and update hold the waiting of threads, as before format 2 of records."""
        return self.about.threads > 1 and THREADS not in self.about.phases

    @property
    def title(self) -> str:
        """The name of its network, for tables."""
        return f"the network of {self.path}"

    @property
    def disturbed(self) -> bool:
        """True if other programs ran beside the ranks, or may have."""
        load = self.about.foreign_load
        return load is None or load > QUIET

    @cached_property
    def timed(self) -> np.ndarray:
        """The ranks that ran, [row]."""
        return np.array([one.rank for one in self.about.sampled])

    @cached_property
    def rows(self) -> np.ndarray:
        """Times of the parts of COMPUTE, float32 [row, cycle, part]; injected waits count as update."""
        phases = self.about.phases
        parts = [[phases.index(name) for name in PARTS[part] if name in phases] for part in COMPUTE]
        found = np.stack([self.cycles[:, :, part].sum(axis=-1) for part in parts], axis=-1)
        if not np.all(found >= 0):  # also false for NaN
            raise BadInput(f"{self.path / CYCLES}: a compute time is missing or negative; allowed is >= 0")
        return found

    @cached_property
    def doubt(self) -> float | None:
        """Half of the 95 % interval of the mean compute time that comes from sampling, over that mean."""
        return resampling.doubt(self.rows.mean(axis=1, dtype=np.float64), self.timed, self.work)

    @cached_property
    def doubts(self) -> np.ndarray | None:
        """The same of each part of COMPUTE, over the mean time of that part, [part]."""
        return resampling.doubts(self.rows.mean(axis=1, dtype=np.float64), self.timed, self.work)

    @cached_property
    def slower(self) -> float:
        """How much slower than the slowest that ran a rank may be, over the mean compute time."""
        return resampling.slower(self.rows.mean(axis=1, dtype=np.float64), self.timed, self.work)

    @cached_property
    def lanes(self) -> list[lanes.Lane]:
        """The lanes in which ranks of the machine meet others."""
        description = read(self.about.description)
        schedule, placement = lanes.chosen(description, None, None)
        used = lanes.read(description, self.ranks, schedule, placement)
        return [lane for lane in used if not lane.alone]

    @property
    def window(self) -> int:
        """Cycles in the shortest window of a lane; 1 where no rank meets another."""
        return min((lane.period for lane in self.lanes), default=1)

    @property
    def meets_every(self) -> int:
        """Cycles from one meeting at a barrier to the next. Raises BadInput for a schedule with a lag."""
        if any(lane.lag for lane in self.lanes):
            raise BadInput(
                f"{self.path}: a dry run of a schedule with a lag, whose ranks meet at no barrier;"
                " allowed: a schedule without"
            )
        return self.window

    def times(
        self, seed: int | None = None, pool: Sequence[int] | None = None, cycles: int | None = None
    ) -> np.ndarray:
        """Times of all R ranks, float32 [rank, cycle, part]; those that did not run are resampled.

        `pool`: the rows to draw from, instead of all. `cycles`: only so many. Raises BadInput for more times
        than fit into memory.
        """
        rows = self.rows[:, :cycles]
        if self.ranks * rows.shape[1] > MOST_TIMES:
            raise BadInput(
                f"{self.path}: {self.ranks} ranks x {rows.shape[1]} cycles; allowed are {MOST_TIMES} compute"
                " times in all: make a shorter dry run"
            )
        return resampling.resampled(rows, self.timed, self.work, self._donors(seed, pool, rows.shape[1]))

    def means(self) -> np.ndarray:
        """Mean times of all R ranks, float64 [rank, part] in s, as `times` has them."""
        row = self._donors(None, None, self.rows.shape[1]).row
        means = self.rows.mean(axis=1, dtype=np.float64)
        return means[row] * resampling.factors(self.work, self.timed, row)

    @property
    def times_of(self) -> list[int]:
        """The rank whose times each rank has in `times`, [rank]."""
        return self.timed[self._donors(None, None, self.rows.shape[1]).row].tolist()

    def _donors(self, seed: int | None, pool: Sequence[int] | None, cycles: int) -> resampling.Donors:
        rng = np.random.default_rng(self.about.seed if seed is None else seed)
        return resampling.donors(self.timed, self.ranks, cycles, rng, pool)

    def pools(self) -> list[np.ndarray]:
        """Bootstrap samples of the rows; none where nothing is drawn, or there is only one row."""
        rows = len(self.timed)
        if rows in (1, self.ranks):
            return []
        rng = np.random.default_rng(self.about.seed)
        return [rng.integers(0, rows, size=rows) for _ in range(DRAWS)]

    @property
    def content(self) -> dict[str, Any]:
        """What other outputs say of it, for JSON."""
        about = self.about
        return {
            "folder": str(self.path), "of": self.ranks, "sampled": self.timed.tolist(),
            "threads": about.threads, "ranks_here": about.ranks_here, "host": about.host,
            "spikes": about.spikes, "measured": [*COMPUTE], "not_measured": ["waiting", "exchange"],
        }  # fmt: skip

    @property
    def warnings(self) -> list[str]:
        """Reasons why the times differ from those on a node of the machine."""
        alone = [
            one.rank
            for one in self.about.sampled
            if (1.0 if one.beside is None else one.beside) < LEAST_BESIDE
        ]
        named = ", ".join(map(str, alone))
        apart = f"neighbours of rank {named} were not at work all the time: its times may be too short"
        return [*self.about.warnings, *([apart] if alone else [])]

    @property
    def remarks(self) -> list[str]:
        """Assumptions behind everything that is computed from these times."""
        about, rows = self.about, len(self.timed)
        threads = f"{about.threads} thread{'s' * (about.threads > 1)}"
        found = [
            f"computing was measured by a dry run of {rows} of {self.ranks} ranks, {about.ranks_here} side by"
            f" side with {threads} each, on {about.host.get('name')} ({about.host.get('cpu')})",
            f"waiting and exchange were not measured: {ALONE}",
        ]
        if rows < self.ranks:
            found.append(
                f"the other {self.ranks - rows} ranks take whole rows of those that ran, turned in time"
                " and scaled by their expected synaptic events, neurons and spikes"
            )
        if self.mixed:
            found.append(f"waiting of threads was {HELD}")
        if about.spikes == "drawn":
            found.append(f"the spikes of other ranks were drawn; rates: {about.rates}")
        return [*found, *self.warnings]


def is_dry_run(folder: Path) -> bool:
    """True if a folder holds a dry run, with all of its ranks."""
    return (Path(folder) / ABOUT).is_file()


def load(folder: Path) -> DryRun:
    """The dry run in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    content = read_json(path / ABOUT, "`spikemark dryrun` writes it once all of its ranks have run")
    if isinstance(content, dict):
        content = content | {"description": located(content.get("description"), path)}
    about = checked(About, content, path / ABOUT, "a dry run")
    numbers = [one.rank for one in about.sampled]
    if numbers != sorted(set(numbers)) or numbers[-1] >= about.ranks:
        raise BadInput(f"{path / ABOUT}: sampled={numbers}; allowed: ranks below {about.ranks}, ascending")
    shape = (len(numbers), about.cycles, len(about.phases))
    cycles = map_array(path / CYCLES, np.float32, shape, ABOUT)
    table = _table(path / RANKS, ["rank"])
    if table["rank"].tolist() != numbers:
        raise BadInput(f"{path / RANKS}: rank={table['rank'].tolist()}; {ABOUT} has {numbers}")
    work = _table(path / WORK, ["rank", *WORK_OF.values()])
    if work["rank"].tolist() != list(range(about.ranks)):
        raise BadInput(f"{path / WORK}: {len(work)} lines; needed are ranks 0 to {about.ranks - 1}")
    counts = work[[*map(WORK_OF.get, COMPUTE)]].apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    if not np.all((counts >= 0) & np.isfinite(counts)):
        raise BadInput(f"{path / WORK}: a count is missing or negative; allowed is >= 0")
    return DryRun(path, about, cycles, table, counts)


def save(out: Path, about: dict[str, Any], ranks: list[DryRank], work: np.ndarray) -> DryRun:
    """Writes the folder `out` from the ranks that ran, ascending; ABOUT comes last and tells it is whole."""
    write_atomically(out / CYCLES, npy_bytes(np.stack([rank.cycles for rank in ranks])))
    write_atomically(out / RANKS, pd.DataFrame([rank.row for rank in ranks]).to_csv(index=False))
    table = pd.DataFrame({WORK_OF[part]: counts for part, counts in zip(COMPUTE, work.T, strict=True)})
    table.insert(0, "rank", np.arange(len(work)))
    write_atomically(out / WORK, table.to_csv(index=False))
    write_json(out / ABOUT, {"format_version": 1, "kind": DRY_RUN, **about})
    return load(out)


def _table(path: Path, columns: list[str]) -> pd.DataFrame:
    table = read_csv(path, dtype={"checksum": str})
    if lacking := [name for name in columns if name not in table]:
        raise BadInput(f"{path}: missing column {', '.join(lacking)}")
    return table
